// See text_edit.h.
#include "tuner/base/text_edit.h"

static const struct record_field fields[] = {
    {"file", RECORD_MEMBER(struct text_edit, file), .flags = RECORD_REQUIRED},
    {"find", RECORD_MEMBER(struct text_edit, find), .flags = RECORD_REQUIRED},
    {"replace", RECORD_MEMBER(struct text_edit, replace), .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {"count", RECORD_MEMBER(struct text_edit, count), .low = 1, .high = INT32_MAX, .flags = RECORD_REQUIRED},
    {0}};
const struct record text_edit_record = {"an edit", sizeof(struct text_edit), fields, NULL};

int text_edit_apply(const struct text_edit *e, char **text, struct error *err)
{
    struct text out = {0};
    const char *from = *text;
    int64_t count = 0;
    for (const char *at; *e->find && (at = strstr(from, e->find)); from = at + strlen(e->find), count++)
        text_add(&out, "%.*s%s", (int)(at - from), from, e->replace);
    text_add(&out, "%s", from);
    if (count != e->count) {
        int line = (int)smaller_of(strcspn(e->find, "\n"), 80);
        const char *more = e->find[line] ? ".." : "";
        free(out.text);
        if (!count) return error_set(err, "'%.*s'%s is not in '%s'", line, e->find, more, e->file);
        return error_set(err, "'%.*s'%s occurs %" PRId64 " times in '%s'; 'count' is %" PRId64, line, e->find, more,
                         count, e->file, e->count);
    }
    free(*text);
    *text = out.text;
    return 0;
}
