// See cuda_tokens.h.
#include "tuner/init/cuda_tokens.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

struct tokenizer {
    const char *at;
    int line;
    size_t room;
    struct cuda_tokens *out;
};

static bool is_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_part(char c)
{
    return is_start(c) || isdigit((unsigned char)c);
}

static void add(struct tokenizer *s, enum cuda_token_kind kind, const char *end)
{
    struct cuda_tokens *t = s->out;
    if (t->count == s->room) {
        s->room = s->room ? 2 * s->room : 256;
        t->items = memory_grow(t->items, s->room, sizeof *t->items);
    }
    t->items[t->count++] = (struct cuda_token){kind, s->line, (size_t)(end - s->at), s->at};
    for (; s->at < end; s->at++) s->line += *s->at == '\n';
}

static void skip(struct tokenizer *s, size_t bytes)
{
    for (; bytes && *s->at; bytes--) s->line += *s->at++ == '\n';
}

static const char *quoted_end(const char *at)
{
    char quote = *at++;
    for (; *at && *at != quote && *at != '\n'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at == quote ? at + 1 : at;
}

// R"mark( ... )mark"; at the quote.
static const char *raw_end(const char *quote)
{
    size_t length = strcspn(quote + 1, "(\n");
    const char *mark = quote + 1, *at = mark + length;
    if (*at != '(' || length > 16) return quoted_end(quote);
    for (; (at = strchr(at, ')')); at++)
        if (!strncmp(at + 1, mark, length) && at[1 + length] == '"') return at + length + 2;
    return mark + strlen(mark);
}

static const char *directive_end(const char *at)
{
    while (*at && *at != '\n') {
        bool block = at[0] == '/' && at[1] == '*';
        const char *close = block ? strstr(at + 2, "*/") : NULL;
        if (close)
            at = close + 2;
        else if (*at == '\\' && at[1])
            at += at[1] == '\r' && at[2] == '\n' ? 3 : 2;
        else
            at++;
    }
    return at;
}

// The word of a directive: "if" of "#  if 0".
static size_t directive_word(const char *at, const char **word)
{
    size_t length = 0;
    at++;
    at += strspn(at, " \t");
    while (is_part(at[length])) length++;
    *word = at;
    return length;
}

static bool word_is(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && !memcmp(word, text, length);
}

// Whether a directive begins a part that is left out.
static bool is_if_zero(const char *at)
{
    const char *word;
    size_t length = directive_word(at, &word);
    if (!word_is(word, length, "if")) return false;
    word += length;
    word += strspn(word, " \t");
    return *word == '0' && !is_part(word[1]);
}

// Behind `#if 0`: to the #else, #elif or #endif of it.
static void skip_left_out(struct tokenizer *s)
{
    int depth = 1;
    while (*s->at) {
        const char *line = s->at + strspn(s->at, " \t");
        if (*line == '#') {
            const char *word;
            size_t length = directive_word(line, &word);
            if (length >= 2 && !memcmp(word, "if", 2)) depth++;
            if (depth == 1 && (word_is(word, length, "else") || word_is(word, length, "elif"))) depth--;
            if (word_is(word, length, "endif")) depth--;
            if (!depth) return;
        }
        skip(s, strcspn(s->at, "\n") + 1);
    }
}

static size_t mark_length(const char *at)
{
    static const char *const marks[] = {"<<=", "...", "::", "->", "==", "<=", ">=", "!=", "&&", "||", "++",
                                        "--",  "+=",  "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!strncmp(at, marks[i], strlen(marks[i]))) return strlen(marks[i]);
    return 1;
}

void cuda_tokens_init(struct cuda_tokens *t, const char *source)
{
    *t = (struct cuda_tokens){0};
    struct tokenizer scanner = {source, 1, 0, t}, *s = &scanner;
    bool line_begins = true;
    while (*s->at) {
        const char *at = s->at;
        if (isspace((unsigned char)*at) || *at == '\\') {
            line_begins |= *at == '\n';
            skip(s, 1);
            continue;
        }
        if (at[0] == '/' && at[1] == '/') {
            skip(s, (size_t)(directive_end(at) - at));
            continue;
        }
        if (at[0] == '/' && at[1] == '*') {
            const char *close = strstr(at + 2, "*/");
            skip(s, close ? (size_t)(close + 2 - at) : strlen(at));
            continue;
        }
        if (*at == '#' && line_begins) {
            bool left_out = is_if_zero(at);
            add(s, CUDA_DIRECTIVE, directive_end(at));
            if (left_out && *s->at) {
                skip(s, 1);
                skip_left_out(s);
            }
            continue;
        }
        line_begins = false;
        if (is_start(*at)) {
            while (is_part(*at)) at++;
            if (*at == '"' && at[-1] == 'R')
                add(s, CUDA_TEXT, raw_end(at));
            else
                add(s, CUDA_NAME, at);
        } else if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
            while (is_part(*at) || *at == '.' || (*at == '\'' && is_part(at[1])) ||
                   ((*at == '+' || *at == '-') && strchr("eEpP", at[-1])))
                at++;
            add(s, CUDA_NUMBER, at);
        } else if (*at == '"' || *at == '\'') {
            add(s, CUDA_TEXT, quoted_end(at));
        } else {
            add(s, CUDA_MARK, at + mark_length(at));
        }
    }
}

void cuda_tokens_release(struct cuda_tokens *t)
{
    free(t->items);
    *t = (struct cuda_tokens){0};
}

bool cuda_token_is(const struct cuda_token *t, const char *text)
{
    return word_is(t->text, t->length, text);
}

char *cuda_token_copy(const struct cuda_token *t)
{
    return cuda_token_text(t, t + 1);
}

char *cuda_token_text(const struct cuda_token *first, const struct cuda_token *end)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    for (const struct cuda_token *t = first; t < end; t++) {
        if (t > first && t[-1].text + t[-1].length != t->text) fputc(' ', f);
        fwrite(t->text, 1, t->length, f);
    }
    fclose(f);
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
