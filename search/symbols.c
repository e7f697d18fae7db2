// The symbol table of expressions (declared in expr.h): names with slots, and the texts of string values with ids.
#include "search/expr.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

struct symbol {
    char *name;
    enum expr_type type;
};

// Both tables are searched linearly: a job has a few dozen names and texts.
struct symbols {
    struct symbol *names;
    size_t name_count, name_room;
    char **texts;
    size_t text_count, text_room;
};

static void *grow(void *array, size_t *room, size_t count, size_t size)
{
    if (count < *room) return array;
    *room = *room ? 2 * *room : 16;
    return memory_grow(array, *room, size);
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memory_grow(NULL, size, 1);
    memcpy(copy, text, size);
    return copy;
}

struct symbols *symbols_new(void)
{
    struct symbols *s = memory_new(1, sizeof *s);
    return s;
}

void symbols_free(struct symbols *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->name_count; i++) free(s->names[i].name);
    for (size_t i = 0; i < s->text_count; i++) free(s->texts[i]);
    free(s->names);
    free(s->texts);
    free(s);
}

// Identifiers joined by single dots.
static bool is_name(const char *name)
{
    bool start = true;
    for (const char *p = name; *p; p++) {
        unsigned char ch = (unsigned char)*p;
        if (start ? !(isalpha(ch) || ch == '_') : !(isalnum(ch) || ch == '_' || ch == '.')) return false;
        start = ch == '.';
    }
    return !start;
}

int symbols_add(struct symbols *s, const char *name, enum expr_type type, struct error *err)
{
    if (!is_name(name))
        return error_set(err, "'%s' is not a name: use letters, digits and '_', and do not begin with a digit", name);
    if (symbols_find(s, name) >= 0) return error_set(err, "the name '%s' is already taken", name);
    s->names = grow(s->names, &s->name_room, s->name_count, sizeof *s->names);
    s->names[s->name_count] = (struct symbol){copy_text(name), type};
    return (int)s->name_count++;
}

int symbols_find(const struct symbols *s, const char *name)
{
    for (size_t i = 0; i < s->name_count; i++)
        if (strcmp(s->names[i].name, name) == 0) return (int)i;
    return -1;
}

size_t symbols_count(const struct symbols *s)
{
    return s->name_count;
}

const char *symbols_name(const struct symbols *s, int slot)
{
    assert(slot >= 0 && (size_t)slot < s->name_count);
    return s->names[slot].name;
}

enum expr_type symbols_type(const struct symbols *s, int slot)
{
    assert(slot >= 0 && (size_t)slot < s->name_count);
    return s->names[slot].type;
}

// Levenshtein distance without regard to case, with one row of the table; texts past 63 bytes count as far away.
static size_t edit_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    size_t row[64];
    if (n > 63 || m > 63) return 64;
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];
            bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            size_t best = diagonal + (same ? 0 : 1);
            if (above + 1 < best) best = above + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[m];
}

const char *symbols_nearest(const struct symbols *s, const char *name)
{
    const char *nearest = NULL;
    size_t least = strlen(name) / 3 + 1;
    for (size_t i = 0; i < s->name_count; i++) {
        size_t distance = edit_distance(name, s->names[i].name);
        if (distance < least) {
            least = distance;
            nearest = s->names[i].name;
        }
    }
    return nearest;
}

int64_t symbols_intern(struct symbols *s, const char *text)
{
    for (size_t i = 0; i < s->text_count; i++)
        if (strcmp(s->texts[i], text) == 0) return (int64_t)i;
    s->texts = grow(s->texts, &s->text_room, s->text_count, sizeof *s->texts);
    s->texts[s->text_count] = copy_text(text);
    return (int64_t)s->text_count++;
}

const char *symbols_text(const struct symbols *s, int64_t id)
{
    return id >= 0 && (uint64_t)id < s->text_count ? s->texts[id] : NULL;
}
