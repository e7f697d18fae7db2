// See reader.h: settings by the rows of the table of job settings.
#include <assert.h>

#include "tuner/base/base.h"
#include "tuner/job/job_parts.h"
#include "tuner/job/setting_hints.h"

static void refuse_member(struct reader *r, const struct node *member, const char *what, const char *path,
                          const char *const *known)
{
    const char *name = node_name(member), *removed = path ? setting_removed(path, name) : NULL,
               *ours = setting_foreign(name), *nearest = text_nearest(name, known);
    if (removed)
        reader_mistake(r, member, "setting '%s' in %s was removed: %s", name, what, removed);
    else if (ours)
        reader_mistake(r, member, "unknown setting '%s' in %s: %s", name, what, ours);
    else if (nearest)
        reader_mistake(r, member, "unknown setting '%s' in %s; did you mean '%s'?", name, what, nearest);
    else
        reader_mistake(r, member, "unknown setting '%s' in %s", name, what);
}

static void check_members(struct reader *r, const struct node *group, const char *what, const char *path,
                          const char *const *known)
{
    for (size_t i = 0; i < node_count(group); i++) {
        const struct node *member = node_at(group, i);
        size_t k = 0;
        while (known[k] && strcmp(known[k], node_name(member))) k++;
        if (!known[k]) refuse_member(r, member, what, path, known);
    }
}

void reader_check_members(struct reader *r, const struct node *group, const char *what, const char *const *known)
{
    check_members(r, group, what, NULL, known);
}

void reader_check_group(struct reader *r, const struct node *group, const char *what, const char *path,
                        const char *form)
{
    const char **known = job_setting_names(path, form);
    assert(*known);
    if (group) check_members(r, group, what, path, known);
    free(known);
}

// The row of a setting, which must be of this kind.
static const struct job_setting *row(const char *path, enum job_setting_kind kind)
{
    const struct job_setting *s = job_setting_find(path);
    assert(s && s->kind == kind);
    return s;
}

static const struct node *member_of(const struct node *group, const struct job_setting *s)
{
    return node_member(group, job_setting_name(s));
}

const char *reader_string(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s = row(path, KIND_STRING);
    const struct node *n = member_of(group, s);
    if (!n) return s->fallback;
    if (node_is_string(n)) return node_string(n);
    reader_mistake(r, n, "'%s' must be a string", node_name(n));
    return s->fallback;
}

int64_t reader_integer(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s = row(path, KIND_INTEGER);
    const struct node *n = member_of(group, s);
    int64_t fallback = s->fallback ? strtoll(s->fallback, NULL, 10) : 0, low = (int64_t)s->low,
            high = isinf(s->high) ? INT64_MAX : (int64_t)s->high;
    if (!n) return fallback;
    if (!node_is_integer(n)) {
        reader_mistake(r, n, "'%s' must be an integer", node_name(n));
        return fallback;
    }
    int64_t value = node_integer(n);
    if (value >= low && value <= high) return value;
    if (isinf(s->high))
        reader_mistake(r, n, "'%s' is %" PRId64 ", but must be at least %" PRId64, node_name(n), value, low);
    else
        reader_mistake(r, n, "'%s' is %" PRId64 ", but must be between %" PRId64 " and %" PRId64, node_name(n), value,
                       low, high);
    return fallback;
}

double reader_number(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s = row(path, KIND_NUMBER);
    const struct node *n = member_of(group, s);
    double fallback = s->fallback ? strtod(s->fallback, NULL) : 0;
    if (!n) return fallback;
    if (!node_is_number(n)) {
        reader_mistake(r, n, "'%s' must be a number", node_name(n));
        return fallback;
    }
    double value = node_real(n);
    if (value >= s->low && value <= s->high) return value;
    reader_mistake(r, n, "'%s' is %g, but must be between %g and %g", node_name(n), value, s->low, s->high);
    return fallback;
}

bool reader_bool(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s = row(path, KIND_BOOL);
    const struct node *n = member_of(group, s);
    bool fallback = !strcmp(s->fallback, "true");
    if (!n) return fallback;
    if (node_is_bool(n)) return node_bool(n);
    reader_mistake(r, n, "'%s' must be true or false", node_name(n));
    return fallback;
}

double reader_duration(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s = row(path, KIND_DURATION);
    const struct node *n = member_of(group, s);
    double seconds, fallback = 0;
    text_duration(s->fallback, &fallback);
    if (!n) return fallback;
    if (node_is_number(n) && node_real(n) >= 0) return node_real(n);
    if (node_is_string(n) && !text_duration(node_string(n), &seconds)) return seconds;
    reader_mistake(r, n, "'%s' must be a time such as \"8h\", \"90s\" or \"20us\", or a number of seconds",
                   node_name(n));
    return fallback;
}

int reader_word(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s = row(path, KIND_WORD);
    const struct node *n = member_of(group, s);
    int fallback = 0;
    for (int i = 0; s->fallback && s->words[i]; i++)
        if (!strcmp(s->words[i], s->fallback)) fallback = i;
    if (!n) return fallback;
    for (int i = 0; s->words[i]; i++)
        if (node_is_string(n) && !strcmp(node_string(n), s->words[i])) return i;
    char *list = text_join(s->words, "\", \"");
    const char *nearest = node_is_string(n) ? setting_foreign_word(node_string(n)) : NULL;
    bool known = false;
    for (int i = 0; nearest && s->words[i]; i++) known |= !strcmp(nearest, s->words[i]);
    if (node_is_string(n) && !known) nearest = text_nearest(node_string(n), s->words);
    reader_mistake(r, n, "'%s' must be one of \"%s\"%s%s%s", node_name(n), list, nearest ? "; did you mean \"" : "",
                   nearest ? nearest : "", nearest ? "\"?" : "");
    free(list);
    return fallback;
}

const struct node *reader_group(struct reader *r, const struct node *group, const char *path)
{
    const struct node *n = member_of(group, row(path, KIND_GROUP));
    if (!n || node_is_group(n)) return n;
    reader_mistake(r, n, "'%s' must be a group { ... }", node_name(n));
    return NULL;
}

const struct node *reader_sequence(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s = job_setting_find(path);
    assert(s && (s->kind == KIND_STRINGS || s->kind == KIND_INTEGERS || s->kind == KIND_VALUES ||
                 s->kind == KIND_EXPRESSIONS || s->kind == KIND_GROUPS));
    const struct node *n = member_of(group, s);
    if (!n || node_is_sequence(n)) return n;
    reader_mistake(r, n, "'%s' must be a list ( ... ) or an array [ ... ]", node_name(n));
    return NULL;
}

struct expr *reader_expression(struct reader *r, const struct node *n, struct job *job)
{
    struct error err;
    struct expr *expression = NULL;
    if (!n) return NULL;
    if (node_is_string(n)) {
        expression = job_parse(job, node_string(n), &err);
    } else if (node_is_integer(n)) {
        char text[32];
        snprintf(text, sizeof text, "%" PRId64, node_integer(n));
        expression = job_parse(job, text, &err);
    } else {
        error_set(&err, "an expression must be a string or an integer");
    }
    if (!expression) reader_mistake(r, n, "%s", err.message);
    return expression;
}
