// Rewrites settings of earlier versions to their current form before libconfig reads the text. So the reader needs to
// know only one form of each setting, and `check --rewrite` can print a job with its comments.
//
// The text is split into pieces, one for each setting and each element of a list. A rule is chosen by a setting's path
// and replaces parts of that setting's piece. A text that is not well-formed is not edited, because libconfig refuses
// it with a better message.
#include <ctype.h>

#include "tuner/job/job_parts.h"

struct old_piece {
    const char *path;         // "arguments[].restore", at every depth of nesting; "": a number or string in a list
    size_t parent;            // the group or list around it
    size_t name, name_end;    // equal: an element of a list
    size_t value, end, after; // `after`: the end of the value's separator, or `end`
    char sign;                // the value's first character
};

struct old_text {
    const char *text;
    struct arena memory;
    size_t count, edit_count;
    struct old_piece *pieces; // the first piece is the whole text
    struct edit {
        size_t from, to;
        const char *replace;
    } * edits;
};

static size_t token_end(const char *text, size_t at)
{
    size_t end = at + 1;
    if (text[at] == '"') {
        while (text[end] && text[end] != '"') end += text[end] == '\\' && text[end + 1] ? 2 : 1;
        return text[end] ? end + 1 : end;
    }
    if (strchr("({[)}];,=:", text[at])) return end;
    while (text[end] && !isspace((unsigned char)text[end]) && !strchr("({[)}];,=:\"#/", text[end])) end++;
    return end;
}

// The beginning of the next token, after blanks, comments and includes.
static size_t skip(const char *text, size_t at)
{
    for (;;) {
        at += strspn(text + at, " \t\r\n\f\v");
        const char *end = !strncmp(text + at, "/*", 2) ? strstr(text + at, "*/") : NULL;
        if (end)
            at = (size_t)(end - text) + 2;
        else if (text[at] == '#' || !strncmp(text + at, "//", 2) || !strncmp(text + at, "@include", 8))
            at += strcspn(text + at, "\n");
        else
            return at;
    }
}

static const char *path_of(struct old_text *t, const struct old_piece *p)
{
    static const char *const own[] = {"arguments", "members", NULL};
    const char *around = t->pieces[p->parent].path;
    if (p->name == p->name_end) return strchr("({[", p->sign) ? arena_format(&t->memory, "%s[]", around) : "";
    const char *name = arena_format(&t->memory, "%.*s", (int)(p->name_end - p->name), t->text + p->name);
    bool root = !*around || word_find(own, name) >= 0;
    return root ? name : arena_format(&t->memory, "%s.%s", around, name);
}

// False if the text is not well-formed.
static bool split(struct old_text *t)
{
    struct old_piece next = {0};
    size_t open = 0, last = 0; // the innermost group or list; the previous piece, until its separator
    memory_add(t->pieces, t->count) = (struct old_piece){.path = "", .sign = '{'};
    for (size_t at = skip(t->text, 0), end; t->text[at]; at = skip(t->text, end)) {
        char sign = t->text[at];
        end = token_end(t->text, at);
        if (strchr(")}]", sign)) {
            if (!open) return false;
            last = open;
            t->pieces[open].end = t->pieces[open].after = end;
            open = t->pieces[open].parent;
        } else if (strchr(";,", sign)) {
            t->pieces[last].after = last ? end : 0;
            last = 0;
        } else if (sign == '"' && last && !next.name_end && t->pieces[last].sign == '"') {
            t->pieces[last].end = t->pieces[last].after = end; // a string in several parts
        } else if (t->pieces[open].sign == '{' && !next.name_end) {
            next.name = at;
            next.name_end = end;
        } else if (!strchr("=:", sign)) {
            next = (struct old_piece){NULL, open, next.name, next.name_end, at, end, end, sign};
            next.path = path_of(t, &next);
            memory_add(t->pieces, t->count) = next;
            last = t->count - 1;
            if (strchr("({[", sign)) {
                open = last;
                last = 0;
            }
            next = (struct old_piece){0};
        }
    }
    return !open;
}

static void edit(struct old_text *t, size_t from, size_t to, const char *replace)
{
    memory_add(t->edits, t->edit_count) = (struct edit){from, to, replace};
}

// A member of a group, or NULL.
static const struct old_piece *member(const struct old_text *t, const struct old_piece *group, const char *name)
{
    for (const struct old_piece *p = group + 1; p < t->pieces + t->count && p->value < group->end; p++)
        if (t->pieces + p->parent == group && p->name_end - p->name == strlen(name) &&
            !strncmp(t->text + p->name, name, strlen(name)))
            return p;
    return NULL;
}

// The value as it is written in an expression; `missing` if `p` is NULL.
static const char *content(struct old_text *t, const struct old_piece *p, const char *missing)
{
    size_t quote = p && p->sign == '"';
    return p ? arena_format(&t->memory, "%.*s", (int)(p->end - p->value - 2 * quote), t->text + p->value + quote)
             : missing;
}

// The rules. Each rule adds edits for a piece whose path is one of the rule's paths. It returns false if the piece is
// not changed.

static bool rename_to(struct old_text *t, const struct old_piece *p, const char *name)
{
    edit(t, p->name, p->name_end, name);
    return true;
}

// Replaces a group by its members.
static bool unwrap(struct old_text *t, const struct old_piece *group, const char *name)
{
    size_t begin = group->value + 1, end = group->end - 1;
    if (!member(t, group, name)) return false;
    const char *blanks = t->text[group->after] == '\n' ? " \n" : " ";
    begin += strspn(t->text + begin, blanks);
    while (end > begin && strchr(blanks, t->text[end - 1])) end--;
    edit(t, group->name, begin, "");
    edit(t, end, group->after, "");
    return true;
}

static void drop(struct old_text *t, const struct old_piece *p)
{
    edit(t, p->name, p->after + strspn(t->text + p->after, " "), "");
}

static bool restore(struct old_text *t, const struct old_piece *p, const char *name)
{
    const struct old_piece *direction = member(t, &t->pieces[p->parent], name);
    bool on = tolower((unsigned char)p->sign) == 't';
    if (on && strcmp(content(t, direction, "in"), "in") != 0) return false; // earlier versions refused this
    if (on && direction) drop(t, direction);
    if (!on) drop(t, p);
    if (on) edit(t, p->name, p->end, "direction = \"restored\"");
    return true;
}

static bool count_to_shape(struct old_text *t, const struct old_piece *p, const char *name)
{
    rename_to(t, p, name);
    edit(t, p->value, p->end, arena_format(&t->memory, "[%s]", content(t, p, "")));
    return true;
}

static const struct old_piece *element(const struct old_text *t, const struct old_piece *list, size_t number)
{
    for (const struct old_piece *p = list; p && p < t->pieces + t->count && p->value < list->end; p++)
        if (p != list && t->pieces + p->parent == list && !number--) return p;
    return NULL;
}

static bool compare(struct old_text *t, const struct old_piece *p, const char *name)
{
    const struct old_piece *first = member(t, p, "first"), *count = member(t, p, "count"),
                           *shape = member(t, &t->pieces[p->parent], "shape");
    const char *list = "";
    size_t rank = 0;
    (void)name;
    if (p->sign != '{' || (!first && !count) || element(t, p, first && count ? 2 : 1)) return false;
    for (; element(t, shape, rank); rank++) {
        const char *from = content(t, element(t, first, rank), first ? NULL : "0"),
                   *size = content(t, element(t, shape, rank), NULL),
                   *length = content(t, element(t, count, rank),
                                     count ? NULL : arena_format(&t->memory, "(%s) - (%s)", size, from ? from : ""));
        if (!from || !length) return false;
        list = arena_format(&t->memory, "%s%s\"%s\", \"%s\"", list, rank ? ", " : "", from, length);
    }
    if (element(t, first, rank) || element(t, count, rank)) return false;
    edit(t, p->value, p->end, arena_format(&t->memory, "[%s]", list));
    return true;
}

static bool loop(struct old_text *t, const struct old_piece *p, const char *name)
{
    static const char *const parts[] = {"name", "from", "while", "next"};
    const char *found[4];
    (void)name;
    for (int i = 0; i < 4; i++) found[i] = p->sign == '{' ? content(t, member(t, p, parts[i]), NULL) : NULL;
    if (!found[0] || !found[1] || !found[2] || !found[3] || element(t, p, 4)) return false;
    edit(t, p->value, p->end,
         arena_format(&t->memory, "\"%s = %s; %s; %s = %s\"", found[0], found[1], found[2], found[0], found[3]));
    return true;
}

// Renames the setting `p` of an argument to `buffer`, and puts the settings that are members of the group `name` today
// into such a group. The group starts at the first of them. Members that directly follow stay in place, and the others
// are moved to the group's end.
static bool enclose(struct old_text *t, const struct old_piece *p, const char *name)
{
    static const char *const forms[] = {"buffer", "scalar", "tensor_map", "tma", "texture", "surface"};
    const struct old_piece *argument = &t->pieces[p->parent], *first = NULL, *last = NULL, *before = NULL;
    const char *moved = "";
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct old_piece *other = member(t, argument, forms[i]);
        if (p->sign == '{' || (other && other != p)) return false; // the group itself, or a mistake
    }
    autofree const char **members =
        job_setting_names(strcmp(name, "tma") ? "arguments[].texture" : "arguments[].tma", NULL);
    for (const struct old_piece *q = argument; ++q < t->pieces + t->count && q->value < argument->end;) {
        autofree char *own = text_format("%.*s", (int)(q->name_end - q->name), t->text + q->name);
        if (t->pieces + q->parent != argument) continue;
        if (word_find(members, own) >= 0 && (!first || last == before)) {
            first = first ? first : q;
            last = q;
        } else if (word_find(members, own) >= 0) {
            moved = arena_format(&t->memory, "%s %.*s;", moved, (int)(q->end - q->name), t->text + q->name);
            drop(t, q);
        }
        before = q;
    }
    if (first) edit(t, first->name, first->name, arena_format(&t->memory, "%s = { ", name));
    if (!last) moved = arena_format(&t->memory, " %s = {", name);
    last = last ? last : p;
    edit(t, last->after, last->after, arena_format(&t->memory, "%s%s };", last->after > last->end ? "" : ";", moved));
    return rename_to(t, p, "buffer");
}

static const struct spelling_rule {
    const char *paths; // separated by blanks
    bool (*apply)(struct old_text *, const struct old_piece *, const char *name);
    const char *name, *note;
} rules[] = {
    {"search", unwrap, "strategy", "'search = { strategy = ...; }' is written 'strategy = ...' now"},
    {"counters", unwrap, "metrics", "'counters = { metrics = ...; }' is written 'metrics = ...' now"},
    {"arguments[].restore constants[].restore", restore, "direction",
     "'restore = true' is written 'direction = \"restored\"' now"},
    {"arguments[].fill.total constants[].fill.total", rename_to, "high", "'total' in 'fill' is called 'high' now"},
    {"arguments[].compare constants[].compare", compare, NULL,
     "'compare' is a list with first index and count for each dimension now, such as [0, \"N\"]"},
    {"members[].name", rename_to, "scalar", "the 'name' of a member is called 'scalar' now"},
    {"members[].count", count_to_shape, "shape", "the 'count' of a member, n, is written 'shape = [n]' now"},
    {"constants[].value", rename_to, "fill", "the 'value' of a constant is called 'fill' now"},
    {"reference.entry current.entry baselines[].entry", rename_to, "kernel",
     "the 'entry' of another kernel is called 'kernel' now, as in 'reference'"},
    {"arguments[].tensor_map", enclose, "tma",
     "a tensor map, 'tensor_map = \"A\"; box = ...', is written 'buffer = \"A\"; tma = { box = ...; }' now"},
    {"arguments[].texture", enclose, "texture",
     "a texture, 'texture = \"A\"; filter = ...', is written 'buffer = \"A\"; texture = { filter = ...; }' now"},
    {"arguments[].surface", enclose, "surface",
     "a surface, 'surface = \"A\"', is written 'buffer = \"A\"; surface = { }' now"},
    {"stages[].repeat stages[].repeat[]", loop, NULL,
     "'repeat' is written as in C now: \"STEP = 1; STEP < N; STEP = 2*STEP\""},
};
enum { RULES = sizeof rules / sizeof *rules };

static bool is_for(const struct spelling_rule *rule, const char *path)
{
    size_t length = strlen(path);
    for (const char *at = rule->paths; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && !strncmp(at, path, length)) return true;
    return false;
}

static int count_lines(const char *text, size_t length)
{
    int lines = 0;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    return lines;
}

static int by_place(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from ? 1 : -1) : (x->to > y->to) - (x->to < y->to);
}

// With `keep_lines`, line breaks that an edit removes are added at the end of its line, so that other lines keep their
// numbers.
static char *apply_edits(struct old_text *t, bool keep_lines)
{
    struct text out = {0};
    size_t at = 0;
    int lost = 0;
    if (t->edit_count) qsort(t->edits, t->edit_count, sizeof *t->edits, by_place);
    for (size_t i = 0; i <= t->edit_count; i++) {
        const struct edit *e = i < t->edit_count ? &t->edits[i] : NULL;
        size_t to = e ? e->from : strlen(t->text), line = at + strcspn(t->text + at, "\n");
        if (e && e->from < at) continue; // inside the previous edit
        if (lost > 0 && line < to) {
            text_add(&out, "%.*s", (int)(line - at), t->text + at);
            for (; lost > 0; lost--) text_add(&out, "\n");
            at = line;
        }
        text_add(&out, "%.*s%s", (int)(to - at), t->text + at, e ? e->replace : "");
        if (e && keep_lines)
            lost += count_lines(t->text + e->from, e->to - e->from) - count_lines(e->replace, strlen(e->replace));
        at = e ? e->to : to;
    }
    return out.text;
}

char *old_spellings_rewrite(const char *text, bool keep_lines, struct mistakes *notes)
{
    struct old_text t = {.text = text};
    bool noted[RULES] = {0};
    for (size_t i = 1, good = split(&t); good && i < t.count; i++)
        for (size_t k = 0; k < RULES; k++) {
            const struct old_piece *p = &t.pieces[i];
            if (!is_for(&rules[k], p->path) || !rules[k].apply(&t, p, rules[k].name) || noted[k]) continue;
            noted[k] = true;
            memory_add(notes->list, notes->count) =
                (struct mistake){.line = 1 + count_lines(text, p->value), .text = text_copy(rules[k].note)};
        }
    char *today = apply_edits(&t, keep_lines);
    arena_release(&t.memory);
    free(t.pieces);
    free(t.edits);
    return today;
}
