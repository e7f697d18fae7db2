// The symbol table of expressions (declared in expr.h): names with slots, and the texts of string values with ids.
#include "search/space/expr.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

struct symbol {
    char *name;
    enum expr_type type;
    bool hidden;
};

// Numbers of names or texts by hash, open addressing.
struct lookup {
    size_t *slots; // number + 1; 0: free
    size_t size;   // a power of two, at most half full
};

struct symbols {
    struct symbol *names;
    size_t name_count, name_room;
    struct lookup by_name;
    char **texts;
    size_t text_count, text_room;
    struct lookup by_text;
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

static const char *name_at(const struct symbols *s, size_t i)
{
    return s->names[i].name;
}

static const char *text_at(const struct symbols *s, size_t i)
{
    return s->texts[i];
}

// Where a word is, or would be put.
static size_t *find_slot(const struct lookup *l, const struct symbols *s,
                         const char *(*word_at)(const struct symbols *, size_t), const char *word)
{
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (const char *c = word; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    size_t at = (size_t)(hash ^ hash >> 32) & (l->size - 1);
    while (l->slots[at] && strcmp(word_at(s, l->slots[at] - 1), word) != 0) at = (at + 1) & (l->size - 1);
    return &l->slots[at];
}

// Enters the word with the number `count`; the ones before are entered.
static void enter(struct lookup *l, const struct symbols *s, const char *(*word_at)(const struct symbols *, size_t),
                  size_t count)
{
    size_t first = count;
    if (2 * count >= l->size) {
        free(l->slots);
        l->size = l->size ? 4 * l->size : 64;
        l->slots = memory_new(l->size, sizeof *l->slots);
        first = 0;
    }
    for (size_t i = first; i <= count; i++) *find_slot(l, s, word_at, word_at(s, i)) = i + 1;
}

// The word's number, or -1.
static int64_t look_up(const struct lookup *l, const struct symbols *s,
                       const char *(*word_at)(const struct symbols *, size_t), const char *word)
{
    return l->size ? (int64_t)*find_slot(l, s, word_at, word) - 1 : -1;
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
    free(s->by_name.slots);
    free(s->by_text.slots);
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
    if (look_up(&s->by_name, s, name_at, name) >= 0) return error_set(err, "the name '%s' is already taken", name);
    s->names = grow(s->names, &s->name_room, s->name_count, sizeof *s->names);
    s->names[s->name_count] = (struct symbol){copy_text(name), type, false};
    enter(&s->by_name, s, name_at, s->name_count);
    return (int)s->name_count++;
}

int symbols_find(const struct symbols *s, const char *name)
{
    int slot = (int)look_up(&s->by_name, s, name_at, name);
    return slot >= 0 && s->names[slot].hidden ? -1 : slot;
}

void symbols_hide(struct symbols *s, int slot)
{
    s->names[slot].hidden = true;
}

int symbols_show(struct symbols *s, const char *name)
{
    int slot = (int)look_up(&s->by_name, s, name_at, name);
    if (slot < 0 || !s->names[slot].hidden) return -1;
    s->names[slot].hidden = false;
    return slot;
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
        size_t distance = s->names[i].hidden ? least : edit_distance(name, s->names[i].name);
        if (distance < least) {
            least = distance;
            nearest = s->names[i].name;
        }
    }
    return nearest;
}

int64_t symbols_intern(struct symbols *s, const char *text)
{
    int64_t known = look_up(&s->by_text, s, text_at, text);
    if (known >= 0) return known;
    s->texts = grow(s->texts, &s->text_room, s->text_count, sizeof *s->texts);
    s->texts[s->text_count] = copy_text(text);
    enter(&s->by_text, s, text_at, s->text_count);
    return (int64_t)s->text_count++;
}

const char *symbols_text(const struct symbols *s, int64_t id)
{
    return id >= 0 && (uint64_t)id < s->text_count ? s->texts[id] : NULL;
}
