// The symbol table of expressions (declared in expr.h): names with slots, and string values with ids.
#include "search/space/expr.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/hash_index.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"

struct symbol {
    enum expr_type type;
    bool hidden, used;
};

struct symbols {
    struct string_pool names, texts;
    struct symbol *of_name; // by the name's number
    size_t room;
};

struct symbols *symbols_new(void)
{
    return memory_new(1, sizeof(struct symbols));
}

void symbols_free(struct symbols *s)
{
    if (!s) return;
    string_pool_release(&s->names);
    string_pool_release(&s->texts);
    free(s->of_name);
    free(s);
}

// Returns whether the name consists of identifiers separated by single dots.
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
    if (string_pool_find(&s->names, name) >= 0) return error_set(err, "the name '%s' is already taken", name);
    size_t slot = string_pool_put(&s->names, name, strlen(name));
    s->of_name = memory_room(s->of_name, &s->room, slot + 1, sizeof *s->of_name);
    s->of_name[slot] = (struct symbol){.type = type};
    return (int)slot;
}

int symbols_find(const struct symbols *s, const char *name)
{
    int slot = (int)string_pool_find(&s->names, name);
    return slot >= 0 && s->of_name[slot].hidden ? -1 : slot;
}

void symbols_use(struct symbols *s, int slot)
{
    s->of_name[slot].used = true;
}

bool symbols_used(const struct symbols *s, int slot)
{
    return s->of_name[slot].used;
}

void symbols_hide(struct symbols *s, int slot)
{
    s->of_name[slot].hidden = true;
}

int symbols_show(struct symbols *s, const char *name)
{
    int slot = (int)string_pool_find(&s->names, name);
    if (slot < 0 || !s->of_name[slot].hidden) return -1;
    s->of_name[slot].hidden = false;
    return slot;
}

size_t symbols_count(const struct symbols *s)
{
    return s->names.count;
}

const char *symbols_name(const struct symbols *s, int slot)
{
    assert(slot >= 0 && (size_t)slot < s->names.count);
    return s->names.texts[slot];
}

enum expr_type symbols_type(const struct symbols *s, int slot)
{
    assert(slot >= 0 && (size_t)slot < s->names.count);
    return s->of_name[slot].type;
}

const char *symbols_nearest(const struct symbols *s, const char *name)
{
    const char *nearest = NULL;
    size_t least = strlen(name) / 3 + 1;
    for (size_t i = 0; i < s->names.count; i++) {
        size_t distance = s->of_name[i].hidden ? least : text_distance(name, s->names.texts[i]);
        if (distance < least) {
            least = distance;
            nearest = s->names.texts[i];
        }
    }
    return nearest;
}

int64_t symbols_intern(struct symbols *s, const char *text)
{
    return (int64_t)string_pool_put(&s->texts, text, strlen(text));
}

const char *symbols_text(const struct symbols *s, int64_t id)
{
    return id >= 0 && (uint64_t)id < s->texts.count ? s->texts.texts[id] : NULL;
}
