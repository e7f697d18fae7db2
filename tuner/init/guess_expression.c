// See guess_parts.h: expressions of the source as a job file writes them.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/text.h"
#include "tuner/init/guess_parts.h"

enum { MOST_DEPTH = 8 }; // of constants that are made of constants

static bool expression(const struct guess *g, const struct cuda_token *first, const struct cuda_token *end,
                       bool parameters, int depth, FILE *out);

static bool expression_of_text(const struct guess *g, const char *text, bool parameters, int depth, FILE *out)
{
    struct cuda_tokens t;
    cuda_tokens_init(&t, text);
    if (t.count > 1) fputc('(', out);
    bool good = t.count && expression(g, t.items, t.items + t.count, parameters, depth, out);
    if (t.count > 1) fputc(')', out);
    cuda_tokens_release(&t);
    return good;
}

// The value of a constant that the body declares: const int X = value;
static bool local_constant(const struct guess *g, const char *name, bool parameters, int depth, FILE *out)
{
    for (size_t i = g->kernel->body + 2; i < g->kernel->end; i++) {
        if (!guess_is(g, i, "=") || !guess_is(g, i - 1, name)) continue;
        bool constant = false;
        for (size_t b = i - 1; b > g->kernel->body && !guess_is(g, b, ";") && !guess_is(g, b, "{"); b--)
            constant |= guess_is(g, b, "const") || guess_is(g, b, "constexpr");
        if (!constant) return false;
        fputc('(', out);
        bool good =
            expression(g, guess_token(g, i + 1), guess_token(g, guess_operand_end(g, i + 1)), parameters, depth, out);
        fputc(')', out);
        return good;
    }
    return false;
}

static bool name_expression(const struct guess *g, const struct cuda_token *t, bool parameters, int depth, FILE *out)
{
    char *name = cuda_token_copy(t);
    const struct guess_parameter *parameter = guess_find_parameter(g, name);
    const char *constant = guess_constant(g, name);
    bool good = false;
    if (parameter) {
        good = parameters;
        fputs(parameter->name, out);
    } else if (guess_find_size(g, name)) {
        good = true;
        fputs(name, out);
    } else if (depth < MOST_DEPTH) {
        good = constant ? expression_of_text(g, constant, parameters, depth + 1, out)
                        : local_constant(g, name, parameters, depth + 1, out);
    }
    free(name);
    return good;
}

static bool expression(const struct guess *g, const struct cuda_token *first, const struct cuda_token *end,
                       bool parameters, int depth, FILE *out)
{
    static const char *const marks[] = {"+", "-", "*", "/", "%", "(", ")", "<<", "?", ":"};
    for (const struct cuda_token *t = first; t < end; t++) {
        bool mark = false;
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) mark |= cuda_token_is(t, marks[i]);
        if (t->kind == CUDA_NUMBER) {
            size_t digits = t->length;
            bool hexadecimal = digits > 1 && tolower((unsigned char)t->text[1]) == 'x';
            while (digits && strchr("uUlL", t->text[digits - 1])) digits--;
            for (size_t i = hexadecimal ? 2 : 0; i < digits; i++)
                if (!isxdigit((unsigned char)t->text[i]) || (!hexadecimal && isalpha((unsigned char)t->text[i])))
                    return false;
            fprintf(out, "%.*s", (int)digits, t->text);
        } else if (cuda_token_is(t, "sizeof") && t + 1 < end && cuda_token_is(t + 1, "(")) {
            const struct cuda_token *close = t + 2;
            while (close < end && !cuda_token_is(close, ")")) close++;
            char *type = cuda_token_text(t + 2, close);
            size_t size = guess_type_size(g, type);
            free(type);
            if (!size || close == end) return false;
            fprintf(out, "%zu", size);
            t = close;
        } else if (t->kind == CUDA_NAME) {
            if (!name_expression(g, t, parameters, depth, out)) return false;
        } else if (mark) {
            const char *blank = t > first && !strchr("()", *t->text) ? " " : "";
            fprintf(out, "%s%.*s%s", blank, (int)t->length, t->text, blank);
        } else {
            return false;
        }
    }
    return first < end;
}

char *guess_expression(const struct guess *g, size_t begin, size_t end, bool parameters)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool good = begin < end && expression(g, guess_token(g, begin), guess_token(g, end), parameters, 0, out);
    fclose(out);
    if (good) return text;
    free(text);
    return NULL;
}
