// See cuda_directives.h.
#include "tuner/init/cuda_directives.h"

#include <ctype.h>

#include "tuner/base/base.h"

// The name after a directive's word; NULL if the word is another one. *rest: the text after the name.
static char *directive_name(const struct cuda_token *t, const char *wanted, const char **rest)
{
    const char *at = t->text + 1, *end = t->text + t->length;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    size_t length = strlen(wanted);
    if ((size_t)(end - at) <= length || memcmp(at, wanted, length) || (at[length] != ' ' && at[length] != '\t'))
        return NULL;
    for (at += length; at < end && (*at == ' ' || *at == '\t');) at++;
    const char *name = at;
    while (at < end && (isalnum((unsigned char)*at) || *at == '_')) at++;
    if (at == name) return NULL;
    *rest = at;
    return text_format("%.*s", (int)(at - name), name);
}

// A macro's value without comments and outer blanks.
static char *value_text(const char *at, const char *end)
{
    char *copy = text_format("%.*s", (int)(end - at), at);
    struct cuda_tokens tokens;
    cuda_tokens_init(&tokens, copy);
    char *value = cuda_token_text(tokens.items, tokens.items + tokens.count);
    cuda_tokens_release(&tokens);
    free(copy);
    return value;
}

// Names of `#pragma unroll X` and `#if X == 1`, but those of `defined(X)`, whose absence means something.
static void read_line_names(struct cuda_file *f, const struct cuda_token *t)
{
    const char *rest;
    char *word = directive_name(t, "pragma", &rest);
    bool unroll = word && !strcmp(word, "unroll");
    free(word);
    const char *at = t->text + 1 + strspn(t->text + 1, " \t");
    if (!unroll && strncmp(at, "if ", 3) != 0 && strncmp(at, "elif ", 5) != 0) return;
    char *line = unroll ? text_format("%.*s", (int)(t->text + t->length - rest), rest)
                        : text_format("%.*s", (int)(t->text + t->length - at), at);
    struct cuda_tokens words;
    cuda_tokens_init(&words, line);
    for (size_t i = unroll ? 0 : 1; i < words.count; i++) {
        const struct cuda_token *w = &words.items[i];
        if (cuda_token_is(w, "defined")) break;
        if (w->kind != CUDA_NAME) continue;
        bool last = i + 1 == words.count, number = i + 2 < words.count && w[2].kind == CUDA_NUMBER;
        memory_add(f->line_names, f->line_name_count) = (struct cuda_line_name){
            .name = cuda_token_copy(w),
            .value = number && cuda_token_is(&w[1], "==") ? cuda_token_copy(&w[2]) : NULL,
            .unroll = unroll,
            .ordered = !last && (*w[1].text == '<' || *w[1].text == '>'),
            .line = t->line,
        };
    }
    cuda_tokens_release(&words);
    free(line);
}

// Preprocessor lines would be in the way of declarations.
static void drop_directives(struct cuda_file *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->tokens.count; i++)
        if (f->tokens.items[i].kind != CUDA_DIRECTIVE) f->tokens.items[kept++] = f->tokens.items[i];
    f->tokens.count = kept;
}

void cuda_directives_read(struct cuda_file *f)
{
    const struct cuda_token *before = NULL;
    for (size_t i = 0; i < f->tokens.count; i++) {
        const struct cuda_token *t = &f->tokens.items[i];
        if (t->kind != CUDA_DIRECTIVE) continue;
        read_line_names(f, t);
        const char *rest, *unused;
        char *name = directive_name(t, "define", &rest),
             *guard = before ? directive_name(before, "ifndef", &unused) : 0;
        if (name) {
            memory_add(f->macros, f->macro_count) = (struct cuda_macro){
                .name = name,
                .value = value_text(rest, t->text + t->length),
                .guarded = guard && !strcmp(guard, name),
                .function = rest < t->text + t->length && *rest == '(',
                .line = t->line,
            };
        }
        free(guard);
        before = t;
    }
    drop_directives(f);
}
