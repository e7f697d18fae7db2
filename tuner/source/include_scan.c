// See include_scan.h.
#include "tuner/source/include_scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

// Behind a line's continuation, if one begins here.
static const char *splice(const char *p)
{
    while (*p == '\\' && (p[1] == '\n' || (p[1] == '\r' && p[2] == '\n'))) p += p[1] == '\n' ? 2 : 3;
    return p;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

// Behind blanks, comments and continuations: where the line goes on, or its end.
static const char *skip(const char *p)
{
    for (;;) {
        p = splice(p);
        if (blank(*p)) {
            p++;
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            p = end ? end + 2 : p + strlen(p);
        } else if (p[0] == '/' && p[1] == '/') {
            while (*p && *p != '\n') p = splice(p + 1);
        } else {
            return p;
        }
    }
}

// Behind this word, or NULL when another stands here.
static const char *match(const char *p, const char *word)
{
    for (p = splice(p); *word; word++, p = splice(p + 1))
        if (*p != *word) return NULL;
    return p;
}

// From `p` to before `end` without continuations. malloc'ed.
static char *take(const char *p, const char *end)
{
    char *text = memory_new((size_t)(end - p) + 1, 1), *out = text;
    for (p = splice(p); p < end; p = splice(p + 1)) *out++ = *p;
    return text;
}

static const char *word_end(const char *p)
{
    for (p = splice(p); in_word(*p); p = splice(p + 1)) {
    }
    return p;
}

// Behind a header's name with its quotes or brackets; NULL when there is none.
static const char *header_end(const char *p)
{
    char close = *p == '"' ? '"' : '>';
    if (*p != '"' && *p != '<') return NULL;
    for (p = splice(p + 1); *p && *p != '\n'; p = splice(p + 1))
        if (*p == close) return p + 1;
    return NULL;
}

bool mention_is_header(const char *text)
{
    const char *end = header_end(text);
    return end && !*end;
}

bool mention_is_identifier(const char *text)
{
    return *text && !isdigit((unsigned char)*text) && !*word_end(text);
}

static struct mention *add(struct mentions *m, struct mention new)
{
    if (!(m->count & (m->count - 1))) m->list = memory_grow(m->list, m->count ? 2 * m->count : 1, sizeof *m->list);
    m->list[m->count] = new;
    return &m->list[m->count++];
}

// What follows "include" or "__has_include(" at `p`; `word` is where that begins.
static void add_name(struct mentions *m, const char *text, const char *word, const char *p, enum mention_kind kind,
                     bool real)
{
    const char *after = match(p, "_next"), *operand = after ? after : p;
    if (in_word(*operand)) return; // another word
    struct mention new = {.kind = kind, .real = real, .next = after != NULL, .word = (size_t)(word - text)};
    p = skip(operand);
    if (kind == MENTION_ASKED) {
        if (*p != '(') return;
        p = skip(p + 1);
    }
    const char *end = header_end(p);
    new.operand = (size_t)(p - text);
    if (end) {
        new.name = take(p, end);
        new.end = (size_t)(end - text);
    } else {
        char closing = *skip(end = word_end(p));
        bool alone = closing == (kind == MENTION_ASKED ? ')' : '\n') || !closing;
        new.computed = true;
        new.name = take(p, alone ? end : p);
        new.end = (size_t)(operand - text);
    }
    add(m, new);
}

static void add_define(struct mentions *m, const char *text, const char *p, bool real)
{
    const char *name = skip(p), *end = word_end(name), *value = skip(end), *stop = value;
    if (name == p || name == end) return;
    struct mention new = {.kind = MENTION_DEFINE, .real = real, .name = take(name, end)};
    new.operand = new.end = new.word = (size_t)(name - text);
    if (*end != '(') {
        // A header's name may have what looks like a comment.
        const char *header = header_end(value);
        for (const char *at = header ? header : value; *at && *at != '\n';) {
            const char *next = skip(at);
            if (next == at) next = splice(at + 1), stop = next;
            at = next;
        }
        new.value = take(value, header && stop < header ? header : stop);
    }
    add(m, new);
}

// Where a directive's sign ends, or NULL.
static const char *sign(const char *p)
{
    return *p == '#'              ? p + 1
           : !strncmp(p, "%:", 2) ? p + 2
           : !strncmp(p,
                      "?"
                      "?=",
                      3)
               ? p + 3
               : NULL;
}

static void look(struct mentions *m, const char *text, const char *p, bool code, bool fresh)
{
    const char *directive = sign(p), *word = directive ? skip(directive) : p, *after;
    if (directive && (after = match(word, "include")))
        add_name(m, text, word, after, MENTION_INCLUDE, code && fresh);
    else if (directive && (after = match(word, "define")))
        add_define(m, text, after, code && fresh);
    else if (*p == '_' && (p == text || !in_word(p[-1])) && (after = match(p, "__has_include")))
        add_name(m, text, p, after, MENTION_ASKED, code);
}

// Whether the quote at `p` begins a raw string, and where that ends.
static const char *raw_end(const char *text, const char *p)
{
    char close[20] = ")";
    const char *before = p;
    while (before > text && in_word(before[-1])) before--;
    size_t prefix = (size_t)(p - before), length = strcspn(p + 1, "()\\ \n");
    if (!prefix || p[-1] != 'R' || prefix > 3 || p[1 + length] != '(' || length > 16) return NULL;
    memcpy(close + 1, p + 1, length);
    memcpy(close + 1 + length, "\"", 2);
    const char *end = strstr(p + 1, close);
    return end ? end + strlen(close) : p + strlen(p);
}

// Whether the quote at `p` stands within a number: 1'000.
static bool separates(const char *text, const char *p)
{
    const char *before = p;
    while (before > text && (in_word(before[-1]) || before[-1] == '\'')) before--;
    return before < p && isdigit((unsigned char)*before) && in_word(p[1]);
}

void mentions_find(struct mentions *m, const char *text)
{
    char within = 0;           // what ends what we are in: '"', '\'', a comment's '/' or '*', '\n'; 0: the program
    bool fresh = true;         // nothing but blanks and comments since the line began
    const char *raw = NULL;    // where a raw string ends
    *m = (struct mentions){0}; // grows by doubling
    for (const char *p = splice(text); *p; p = splice(p + 1)) {
        if (raw && p >= raw) raw = NULL;
        look(m, text, p, !within && !raw, fresh);
        if (raw) continue;
        if (within == '*') {
            if (p[0] == '*' && p[1] == '/') within = 0, p++;
        } else if (*p == '\n') {
            within = 0;
            fresh = true;
        } else if (within) {
            if (*p == within)
                within = 0;
            else if (*p == '\\' && within != '/' && p[1] && p[1] != '\n')
                p++;
        } else if (p[0] == '/' && (p[1] == '*' || p[1] == '/')) {
            within = p[1] == '*' ? '*' : '\n';
            p++;
        } else if (!blank(*p)) {
            fresh = false;
            if (*p == '"' && !(raw = raw_end(text, p))) within = '"';
            if (*p == '\'' && !separates(text, p)) within = '\'';
        }
    }
}

void mentions_release(struct mentions *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->list[i].name);
        free(m->list[i].value);
    }
    free(m->list);
    *m = (struct mentions){0};
}
