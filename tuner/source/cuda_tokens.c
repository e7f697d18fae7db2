// See cuda_tokens.h.
#include "tuner/source/cuda_tokens.h"

#include <ctype.h>

// The position after a line's continuations, if any begin here.
static const char *splice(const char *p)
{
    while (*p == '\\' && (p[1] == '\n' || (p[1] == '\r' && p[2] == '\n'))) p += p[1] == '\n' ? 2 : 3;
    return p;
}

// The next character of the same logical line.
static const char *next(const char *p)
{
    return splice(p + 1);
}

bool cuda_in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static const char *name_end(const char *p)
{
    while (cuda_in_name(*p)) p = next(p);
    return p;
}

static const char *number_end(const char *p)
{
    for (char before = 0;; before = *p, p = next(p)) {
        bool sign = (*p == '+' || *p == '-') && before && strchr("eEpP", before);
        if (!cuda_in_name(*p) && *p != '.' && !(*p == '\'' && cuda_in_name(*next(p))) && !sign) return p;
    }
}

static const char *quoted_end(const char *p)
{
    char quote = *p;
    for (p = next(p); *p && *p != quote && *p != '\n'; p = next(p))
        if (*p == '\\' && *next(p) && *next(p) != '\n') p = next(p);
    return *p == quote ? p + 1 : p;
}

// The end of a raw string R"mark( ... )mark" whose quote is at `quote`.
static const char *raw_end(const char *quote)
{
    size_t length = strcspn(quote + 1, "()\\ \n");
    const char *mark = quote + 1, *at = mark + length;
    if (*at != '(' || length > 16) return quoted_end(quote);
    for (; (at = strchr(at, ')')); at++)
        if (!strncmp(at + 1, mark, length) && at[1 + length] == '"') return at + length + 2;
    return mark + strlen(mark);
}

// The end of the comment that begins at p; NULL if none begins there.
static const char *comment_end(const char *p)
{
    const char *second = *p == '/' ? next(p) : p;
    if (second == p || (*second != '*' && *second != '/')) return NULL;
    if (*second == '/') {
        while (*p && *p != '\n') p = next(p);
        return p;
    }
    const char *close = strstr(second + 1, "*/");
    return close ? close + 2 : second + strlen(second);
}

static const char *mark_end(const char *p)
{
    static const char *const marks[] = {"<<=", "...", "::", "->", "==", "<=", ">=", "!=", "&&", "||", "++",
                                        "--",  "+=",  "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<", "##"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!strncmp(p, marks[i], strlen(marks[i]))) return p + strlen(marks[i]);
    return p + 1;
}

const char *cuda_sign_end(const char *p)
{
    if (*p == '#' || !strncmp(p, "%:", 2)) return p + (*p == '#' ? 1 : 2);
    return p[0] == '?' && p[1] == '?' && p[2] == '=' ? p + 3 : NULL;
}

// The end of the name at `p`, or of the raw string that it begins.
static const char *word_end(const char *p, enum cuda_token_kind *kind)
{
    const char *end = name_end(p);
    if (*end != '"' || end[-1] != 'R' || end - p > 3) return end;
    *kind = CUDA_TEXT;
    return raw_end(end);
}

// The end of a header's name with its quotes or brackets; NULL if there is none.
static const char *header_end(const char *p)
{
    char close = *p == '"' ? '"' : '>';
    if (*p != '"' && *p != '<') return NULL;
    for (p = next(p); *p && *p != '\n'; p = next(p))
        if (*p == close) return p + 1;
    return NULL;
}

struct cuda_reader cuda_reader_of(const char *text)
{
    return (struct cuda_reader){.at = text_after_mark(text), .line = 1, .fresh = true};
}

static struct cuda_token take(struct cuda_reader *r, enum cuda_token_kind kind, const char *end)
{
    struct cuda_token t = {kind, r->line, (size_t)(end - r->at), r->at};
    for (; r->at < end; r->at++) r->line += *r->at == '\n';
    return t;
}

// Moves to the beginning of the next token, which may be a comment or the end of a directive.
static void skip_blanks(struct cuda_reader *r)
{
    for (;;) {
        const char *end = splice(r->at);
        if (end == r->at && isspace((unsigned char)*end) && !(*end == '\n' && r->directive)) {
            r->fresh |= *end == '\n';
            end++;
        }
        if (end == r->at && !r->comments) end = comment_end(end);
        if (!end || end == r->at) return;
        take(r, CUDA_COMMENT, end);
    }
}

struct cuda_token cuda_next_header(struct cuda_reader *r)
{
    bool comments = r->comments;
    r->comments = false;
    skip_blanks(r);
    r->comments = comments;
    const char *end = header_end(r->at);
    return end ? take(r, CUDA_TEXT, end) : (struct cuda_token){.kind = CUDA_END, .line = r->line, .text = r->at};
}

struct cuda_token cuda_next(struct cuda_reader *r)
{
    skip_blanks(r);
    const char *p = r->at, *sign = r->fresh ? cuda_sign_end(p) : NULL, *comment = comment_end(p);
    enum cuda_token_kind kind = CUDA_NAME;
    if (comment) return take(r, CUDA_COMMENT, comment);
    if (*p == '\n' || (!*p && r->directive)) {
        r->directive = false;
        r->fresh = true;
        return take(r, CUDA_LINE_END, p + (*p == '\n'));
    }
    if (!*p) return take(r, CUDA_END, p);
    r->fresh = false;
    if (sign) {
        r->directive = true;
        return take(r, CUDA_SIGN, sign);
    }
    if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)*next(p))))
        return take(r, CUDA_NUMBER, number_end(p));
    if (cuda_in_name(*p)) {
        const char *end = word_end(p, &kind);
        return take(r, kind, end);
    }
    if (*p == '"' || *p == '\'') return take(r, CUDA_TEXT, quoted_end(p));
    return take(r, CUDA_MARK, mark_end(p));
}

bool cuda_token_is(const struct cuda_token *t, const char *text)
{
    const char *p = t->text, *end = p + t->length;
    for (; p < end && *p == *text; p = next(p)) text++;
    return p >= end && !*text;
}

bool cuda_text_has(const char *text, const char *word)
{
    struct cuda_reader r = cuda_reader_of(text);
    for (struct cuda_token t = cuda_next(&r); t.kind != CUDA_END; t = cuda_next(&r))
        if (t.kind == CUDA_NAME && cuda_token_is(&t, word)) return true;
    return false;
}

bool cuda_token_in(const struct cuda_token *t, const char *const *words)
{
    while (*words && !cuda_token_is(t, *words)) words++;
    return *words != NULL;
}

// Copies without continuations, and returns the end of the copy.
static char *copy(char *to, const char *begin, const char *end)
{
    for (begin = splice(begin); begin < end; begin = next(begin)) *to++ = *begin;
    return to;
}

char *cuda_token_copy(struct arena *memory, const struct cuda_token *t)
{
    char *text = arena_new(memory, t->length + 1);
    copy(text, t->text, t->text + t->length);
    return text;
}

// Lists ---------------------------------------------------------------------------------------------------------------

static void add(struct cuda_tokens *t, struct cuda_token new)
{
    if (!(t->count & (t->count - 1))) t->items = memory_grow(t->items, t->count ? 2 * t->count : 1, sizeof *t->items);
    t->items[t->count++] = new;
}

// The end token is stored after the list, uncounted, so that every token has a successor to look at.
static void end_list(struct cuda_tokens *t, struct cuda_token end)
{
    end.kind = CUDA_END;
    add(t, end);
    t->count--;
}

// Reads a directive, whose # has been read, as one token. Returns whether it is `#if 0`.
static bool read_directive(struct cuda_reader *r, struct cuda_token *sign)
{
    struct cuda_token word = cuda_next(r), t = word, number = {0};
    for (size_t i = 0; t.kind != CUDA_LINE_END; i++, t = cuda_next(r))
        if (i == 1) number = t;
    sign->length = (size_t)(t.text - sign->text);
    return cuda_token_is(&word, "if") && number.kind == CUDA_NUMBER && cuda_token_is(&number, "0");
}

// After `#if 0`: skips to its #else, #elif or #endif, whose # is the next token.
static void skip_left_out(struct cuda_reader *r)
{
    for (int depth = 1;;) {
        struct cuda_reader before = *r;
        struct cuda_token t = cuda_next(r), word;
        if (t.kind == CUDA_END) return;
        if (t.kind != CUDA_SIGN) continue;
        word = cuda_next(r);
        depth += word.length >= 2 && !memcmp(word.text, "if", 2);
        depth -= cuda_token_is(&word, "endif");
        if (!depth || (depth == 1 && (cuda_token_is(&word, "else") || cuda_token_is(&word, "elif")))) {
            *r = before;
            return;
        }
    }
}

void cuda_tokens_init(struct cuda_tokens *t, const char *source)
{
    *t = (struct cuda_tokens){0};
    struct cuda_reader reader = cuda_reader_of(source);
    for (;;) {
        struct cuda_token token = cuda_next(&reader);
        if (token.kind == CUDA_END) return end_list(t, token);
        bool left_out = token.kind == CUDA_SIGN && read_directive(&reader, &token);
        if (token.kind == CUDA_SIGN) token.kind = CUDA_DIRECTIVE;
        add(t, token);
        if (left_out) skip_left_out(&reader);
    }
}

void cuda_tokens_line(struct cuda_tokens *t, const struct cuda_token *directive)
{
    struct cuda_reader reader = {.at = directive->text, .line = directive->line, .fresh = true};
    *t = (struct cuda_tokens){0};
    cuda_next(&reader); // the #
    struct cuda_token one = cuda_next(&reader);
    for (; one.kind != CUDA_LINE_END; one = cuda_next(&reader)) add(t, one);
    end_list(t, one);
}

void cuda_tokens_release(struct cuda_tokens *t)
{
    free(t->items);
    *t = (struct cuda_tokens){0};
}

char *cuda_token_text(struct arena *memory, const struct cuda_token *first, const struct cuda_token *end)
{
    size_t room = 1;
    for (const struct cuda_token *t = first; t < end; t++) room += t->length + 1;
    char *text = arena_new(memory, room), *to = text;
    for (const struct cuda_token *t = first; t < end; t++) {
        if (t > first && t[-1].text + t[-1].length != t->text) *to++ = ' ';
        to = copy(to, t->text, t->text + t->length);
    }
    return text;
}

size_t cuda_tokens_close(const struct cuda_tokens *t, size_t open, size_t end)
{
    int depth = 0;
    for (size_t i = open; i < end; i++) {
        if (t->items[i].kind != CUDA_MARK || t->items[i].length != 1) continue;
        char c = *t->items[i].text;
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (!depth) return i + 1;
    }
    return end;
}
