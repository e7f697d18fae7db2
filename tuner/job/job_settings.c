// See job_settings.h.
#include "tuner/job/job_settings.h"

#include <ctype.h>

#include "tuner/base/settings.h"

static const char *const kind_names[] = {
    [KIND_STRING] = "string",
    [KIND_WORD] = "word",
    [KIND_BOOL] = "true or false",
    [KIND_INTEGER] = "integer",
    [KIND_NUMBER] = "number",
    [KIND_DURATION] = "time",
    [KIND_EXPRESSION] = "expression",
    [KIND_STRINGS] = "list of strings",
    [KIND_INTEGERS] = "list of integers",
    [KIND_VALUES] = "list of integers, decimals or strings",
    [KIND_EXPRESSIONS] = "list of expressions",
    [KIND_GROUP] = "group",
    [KIND_GROUPS] = "list of groups",
};

// Groups whose settings are, at least in part, in a table of tuner/base/settings.c.
static const struct {
    const char *group;
    const struct setting *table;
} shared[] = {{"verification", verify_table}, {"measure", measure_table}, {"measure.final", final_table}};

static struct job_setting *all;
static size_t count;

static char *shared_default(const struct setting *s)
{
    switch (s->kind) {
    case SETTING_BOOL:
        return text_copy(s->fallback != 0 ? "true" : "false");
    case SETTING_CHOICE:
        return text_copy(s->words[s->fallback == 0]);
    case SETTING_DURATION:
        if (s->fallback >= 1) return text_format("%gs", s->fallback);
        return text_copy(s->fallback > 0 ? text_show_duration(s->fallback, TEXT_ROOM) : "0");
    case SETTING_INTEGER:
    case SETTING_NUMBER:
        break;
    }
    return text_copy(text_show_number(s->fallback, TEXT_ROOM));
}

static struct job_setting shared_setting(const char *group, const struct setting *s)
{
    static const enum job_setting_kind kinds[] = {[SETTING_BOOL] = KIND_BOOL,
                                                  [SETTING_CHOICE] = KIND_WORD,
                                                  [SETTING_INTEGER] = KIND_INTEGER,
                                                  [SETTING_NUMBER] = KIND_NUMBER,
                                                  [SETTING_DURATION] = KIND_DURATION};
    return (struct job_setting){.path = text_format("%s.%s", group, s->name),
                                .kind = kinds[s->kind],
                                .fallback = shared_default(s),
                                .low = s->low,
                                .high = s->high,
                                .words = s->words,
                                .meaning = s->meaning};
}

const struct job_setting *job_settings(size_t *size)
{
    for (const struct job_setting *s = job_setting_table; !all || s->path; s++) {
        if (count && s == job_setting_table) break; // made by an earlier call
        memory_add(all, count) = *s;
        for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
            for (const struct setting *t = shared[i].table; !strcmp(shared[i].group, s->path) && t->name; t++)
                if (t->location != SETTING_FIXED) memory_add(all, count) = shared_setting(shared[i].group, t);
    }
    *size = count;
    return all;
}

const struct job_setting *job_setting_find(const char *path)
{
    size_t size;
    const struct job_setting *settings = job_settings(&size);
    for (size_t i = 0; i < size; i++)
        if (!strcmp(settings[i].path, path)) return &settings[i];
    return NULL;
}

const char *job_setting_name(const struct job_setting *s)
{
    const char *dot = strrchr(s->path, '.');
    return dot ? dot + 1 : s->path;
}

bool job_setting_is_open(const struct job_setting *s)
{
    return isupper((unsigned char)*job_setting_name(s));
}

// Whether a form is one of `forms`, which are words separated by blanks (NULL: every form). A form may consist of two
// parts, as in "reference.kernel"; a word may be the whole form or either part.
static bool is_of_form(const char *forms, const char *form)
{
    const char *last = form ? strrchr(form, '.') : NULL;
    for (const char *at = forms; form && at && *at; at += strcspn(at, " "), at += *at == ' ') {
        size_t length = strcspn(at, " ");
        bool whole = strlen(form) == length && !strncmp(at, form, length),
             first = last && (size_t)(last - form) == length && !strncmp(at, form, length),
             second = last && strlen(last + 1) == length && !strncmp(at, last + 1, length);
        if (whole || first || second) return true;
    }
    return !forms || !form;
}

static bool is_member(const struct job_setting *s, const char *group, const char *form)
{
    size_t length = strlen(group);
    const char *name = job_setting_name(s);
    bool inside = length ? name == s->path + length + 1 && !strncmp(s->path, group, length) : name == s->path;
    return inside && !job_setting_is_open(s) && is_of_form(s->forms, form);
}

const char **job_setting_names(const char *group, const char *form)
{
    size_t size, found = 0;
    const struct job_setting *settings = job_settings(&size);
    const char **names = memory_new(size + 1, sizeof *names);
    for (size_t i = 0; i < size; i++)
        if (is_member(&settings[i], group, form)) names[found++] = job_setting_name(&settings[i]);
    return names;
}

bool job_setting_has(const char *group, const char *form, const char *name)
{
    size_t size;
    const struct job_setting *settings = job_settings(&size);
    for (size_t i = 0; i < size; i++)
        if (is_member(&settings[i], group, form) && !strcmp(job_setting_name(&settings[i]), name)) return true;
    return false;
}

char *job_setting_place(const char *name)
{
    size_t size;
    const struct job_setting *settings = job_settings(&size), *found = NULL;
    for (size_t i = 0; i < size; i++) {
        if (strcmp(job_setting_name(&settings[i]), name) != 0 || !strncmp(settings[i].path, "IMPL", 4)) continue;
        if (!strcmp(settings[i].path, name)) return text_copy("it belongs outside of groups");
        if (found) return NULL;
        found = &settings[i];
    }
    if (!found) return NULL;
    autorelease(text_release) struct text place = {0};
    for (const char *at = found->path; at < job_setting_name(found) - 1; at++)
        if (*at != '[' && *at != ']') text_add(&place, "%c", *at);
    return text_format("it belongs in '%s'", place.text);
}

char *job_setting_type(const struct job_setting *s)
{
    return text_format("%s%s%s", kind_names[s->kind], s->also ? ", or " : "", s->also ? s->also : "");
}

char *job_setting_default(const struct job_setting *s)
{
    if (!s->fallback) return text_copy(s->unset);
    bool bare =
        s->kind != KIND_STRING && s->kind != KIND_WORD && (s->kind != KIND_DURATION || !strcmp(s->fallback, "0"));
    return text_format(bare ? "%s" : "\"%s\"", s->fallback);
}

char *job_setting_range(const struct job_setting *s)
{
    bool number = s->kind == KIND_INTEGER || s->kind == KIND_NUMBER;
    if (s->kind == KIND_WORD) {
        autofree char *words = text_join(s->words, "\", \"");
        return text_format("\"%s\"", words);
    }
    if (s->kind == KIND_DURATION) return text_copy("0 and more");
    if (!number || (!s->low && !s->high)) return text_copy("");
    const char *low = text_show_number(s->low, TEXT_ROOM);
    if (isinf(s->high)) return text_format("%s and more", low);
    return text_format("%s to %s", low, text_show_number(s->high, TEXT_ROOM));
}
