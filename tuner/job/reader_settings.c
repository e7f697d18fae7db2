// See reader.h: reads settings according to the rows of the table of job settings.
#include <assert.h>

#include "tuner/job/job_parts.h"

static void refuse_member(struct reader *r, const struct node *group, const struct node *member, const char *what,
                          const char *path, const char *const *known)
{
    static const char begin[] = "it is '";
    const char *name = node_name(member), *removed = path ? setting_removed(path, name) : NULL,
               *ours = setting_foreign(name), *nearest = text_nearest(name, known);
    autofree char *place = path ? job_setting_place(name) : NULL;
    if (removed)
        reader_mistake(r, member, "setting '%s' in %s was removed: %s", name, what, removed);
    else if (ours)
        reader_mistake(r, member, "unknown setting '%s' in %s: %s", name, what, ours);
    else if (nearest)
        reader_mistake(r, member, "unknown setting '%s' in %s; did you mean '%s'?", name, what, nearest);
    else
        reader_mistake(r, member, "unknown setting '%s' in %s%s%s", name, what, place ? ": " : "", place ? place : "");
    const char *hint = ours && !strncmp(ours, begin, strlen(begin)) ? ours + strlen(begin) : NULL;
    autofree char *meant = hint      ? text_format("%.*s", (int)strcspn(hint, "'"), hint)
                           : nearest ? text_copy(nearest)
                                     : NULL;
    if (meant && !node_member(group, meant)) reader_explains(r, group, meant);
}

static void check_members(struct reader *r, const struct node *group, const char *what, const char *path,
                          const char *const *known)
{
    for (size_t i = 0; i < node_count(group); i++) {
        const struct node *member = node_at(group, i);
        if (word_find(known, node_name(member)) < 0) refuse_member(r, group, member, what, path, known);
    }
}

void reader_check_members(struct reader *r, const struct node *group, const char *what, const char *const *known)
{
    check_members(r, group, what, NULL, known);
}

bool reader_suggest(struct reader *r, const struct node *group, const char *what, const char *const *known)
{
    bool any = false;
    for (size_t i = 0; i < node_count(group); i++) {
        const struct node *member = node_at(group, i);
        if (!text_nearest(node_name(member), known)) continue;
        refuse_member(r, group, member, what, NULL, known);
        any = true;
    }
    return any;
}

void reader_check_group(struct reader *r, const struct node *group, const char *what, const char *path,
                        const char *form)
{
    autofree const char **known = job_setting_names(path, form);
    assert(*known);
    if (group) check_members(r, group, what, path, known);
}

// Reads a duration from a string, or a number of seconds.
static bool read_duration(const struct node *n, double *seconds)
{
    *seconds = node_is_number(n) ? node_real(n) : -1;
    return *seconds >= 0 || (node_is_string(n) && !text_duration(node_string(n), seconds));
}

static bool is_duration(const struct node *n)
{
    double seconds;
    return read_duration(n, &seconds);
}

// Descriptions of the values that each kind allows. Kinds that are not listed here are lists.
static const struct {
    const char *text;
    bool (*fits)(const struct node *);
} kinds[] = {
    [KIND_STRING] = {"a string", node_is_string},
    [KIND_BOOL] = {"true or false", node_is_bool},
    [KIND_INTEGER] = {"an integer", node_is_integer},
    [KIND_NUMBER] = {"a number", node_is_number},
    [KIND_DURATION] = {"a time such as \"8h\", \"90s\" or \"20us\", or a number of seconds", is_duration},
    [KIND_GROUP] = {"a group { ... }", node_is_group},
    [KIND_GROUPS] = {NULL, NULL},
};

// The group's member that a row describes; NULL if there is none, or after a mistake.
static const struct node *find_member(struct reader *r, const struct node *group, const char *path,
                                      const struct job_setting **row)
{
    const struct job_setting *s = *row = job_setting_find(path);
    assert(s);
    const struct node *n = node_member(group, job_setting_name(s));
    bool list = !kinds[s->kind].fits;
    if (!n || s->kind == KIND_WORD || (list ? node_is_sequence(n) : kinds[s->kind].fits(n))) return n;
    autofree char *name = node_full_name(n);
    reader_mistake(r, n, "'%s' must be %s", name, list ? "a list ( ... ) or an array [ ... ]" : kinds[s->kind].text);
    reader_explains(r, group, node_name(n));
    return NULL;
}

const char *reader_string(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s;
    const struct node *n = find_member(r, group, path, &s);
    return n ? node_string(n) : s->fallback;
}

int64_t reader_integer(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s;
    const struct node *n = find_member(r, group, path, &s);
    int64_t fallback = s->fallback ? strtoll(s->fallback, NULL, 10) : 0, value = n ? node_integer(n) : fallback,
            low = (int64_t)s->low, high = isinf(s->high) ? INT64_MAX : (int64_t)s->high;
    if (!n || (value >= low && value <= high)) return value;
    autofree char *name = node_full_name(n);
    if (isinf(s->high))
        reader_mistake(r, n, "'%s' is %" PRId64 ", but must be at least %" PRId64, name, value, low);
    else
        reader_mistake(r, n, "'%s' is %" PRId64 ", but must be between %" PRId64 " and %" PRId64, name, value, low,
                       high);
    return fallback;
}

double reader_number(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s;
    const struct node *n = find_member(r, group, path, &s);
    double fallback = s->fallback ? strtod(s->fallback, NULL) : 0, value = n ? node_real(n) : fallback;
    if (!n || (value >= s->low && value <= s->high)) return value;
    autofree char *name = node_full_name(n);
    reader_mistake(r, n, "'%s' is %g, but must be between %g and %g", name, value, s->low, s->high);
    return fallback;
}

bool reader_bool(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s;
    const struct node *n = find_member(r, group, path, &s);
    return n ? node_bool(n) : !strcmp(s->fallback, "true");
}

double reader_duration(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s;
    const struct node *n = find_member(r, group, path, &s);
    double seconds = 0;
    if (!n || !read_duration(n, &seconds)) text_duration(s->fallback, &seconds);
    return seconds;
}

int reader_word(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s;
    const struct node *n = find_member(r, group, path, &s);
    const char *word = n && node_is_string(n) ? node_string(n) : NULL;
    int fallback = s->fallback ? word_find(s->words, s->fallback) : 0, found = n ? word_find(s->words, word) : fallback;
    if (found >= 0) return found;
    autofree char *list = text_join(s->words, "\", \""), *name = node_full_name(n);
    const char *nearest = word ? setting_foreign_word(word) : NULL;
    if (word && word_find(s->words, nearest) < 0) nearest = text_nearest(word, s->words);
    reader_mistake(r, n, "'%s' must be one of \"%s\"%s%s%s", name, list, nearest ? "; did you mean \"" : "",
                   nearest ? nearest : "", nearest ? "\"?" : "");
    reader_explains(r, group, node_name(n));
    return fallback;
}

bool reader_is_group(struct reader *r, const struct node *n, const char *must)
{
    if (!node_is_group(n)) reader_mistake(r, n, "%s", must);
    return node_is_group(n);
}

const struct node *reader_member(struct reader *r, const struct node *group, const char *path)
{
    const struct job_setting *s;
    return find_member(r, group, path, &s);
}

struct expr *reader_expression(struct reader *r, const struct node *n, struct job *job)
{
    struct error err;
    struct expr *expression = NULL;
    if (!n) return NULL;
    if (node_is_string(n)) {
        expression = job_parse(job, node_string(n), &err);
    } else if (node_is_integer(n)) {
        autofree char *text = text_format("%" PRId64, node_integer(n));
        expression = job_parse(job, text, &err);
    } else {
        const char *name = node_name(n) ? node_name(n) : node_name(node_parent(n));
        error_set(&err, "'%s' must be an expression: a string or an integer", name ? name : "value");
    }
    if (!expression) reader_mistake(r, n, "%s", err.message);
    return expression;
}

void load_strings(struct reader *r, struct job *job, const struct node *group, const char *path, const char *directory,
                  bool (*check)(struct reader *, const struct node *, const char *), char ***list, size_t *count)
{
    const struct node *sequence = reader_member(r, group, path);
    for (size_t i = 0; sequence && i < node_count(sequence); i++) {
        const struct node *n = node_at(sequence, i);
        if (!node_is_string(n)) {
            reader_mistake(r, n, "'%s' must hold strings", node_name(sequence));
            continue;
        }
        if (check && !check(r, n, node_string(n))) continue;
        *list = job_room(job, *list, *count, sizeof **list);
        (*list)[(*count)++] =
            directory ? job_keep(job, text_join_path(directory, node_string(n))) : job_copy(job, node_string(n));
    }
}
