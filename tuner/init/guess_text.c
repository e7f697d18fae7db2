// See guess_parts.h: words of the source, notes and constraints.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/init/guess_parts.h"

const struct cuda_token *guess_token(const struct guess *g, size_t i)
{
    return &g->file->tokens.items[i];
}

bool guess_is(const struct guess *g, size_t i, const char *text)
{
    return i < g->kernel->end && cuda_token_is(guess_token(g, i), text);
}

bool guess_is_name(const struct guess *g, size_t i)
{
    return i < g->kernel->end && guess_token(g, i)->kind == CUDA_NAME;
}

const struct guess_parameter *guess_find_parameter(const struct guess *g, const char *source)
{
    for (size_t i = 0; i < g->parameter_count; i++)
        if (g->parameters[i].source && !strcmp(g->parameters[i].source, source)) return &g->parameters[i];
    return NULL;
}

const struct guess_size *guess_find_size(const struct guess *g, const char *name)
{
    for (size_t i = 0; i < g->size_count; i++)
        if (!strcmp(g->sizes[i].name, name)) return &g->sizes[i];
    return NULL;
}

void guess_note(struct guess *g, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = text_copy("out of memory");
    va_end(args);
    for (size_t i = 0; i < g->note_count; i++) {
        if (strcmp(g->notes[i], text) != 0) continue;
        free(text);
        return;
    }
    g->notes = memory_grow(g->notes, g->note_count + 1, sizeof *g->notes);
    g->notes[g->note_count++] = text;
}

void guess_constrain(struct guess *g, char *expression)
{
    for (size_t i = 0; i < g->constraint_count; i++) {
        if (strcmp(g->constraints[i], expression) != 0) continue;
        free(expression);
        return;
    }
    g->constraints = memory_grow(g->constraints, g->constraint_count + 1, sizeof *g->constraints);
    g->constraints[g->constraint_count++] = expression;
}

void guess_append(char **text, const char *format, ...)
{
    char *more = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&more, format, args) < 0) more = text_copy("");
    va_end(args);
    char *whole = text_format("%s%s", *text ? *text : "", more);
    free(more);
    free(*text);
    *text = whole;
}

static const char *constant_of(const struct cuda_file *f, const char *name)
{
    const struct cuda_macro *macro = cuda_file_macro(f, name);
    if (macro) return macro->function ? NULL : macro->value;
    for (size_t i = 0; i < f->constant_count; i++)
        if (!strcmp(f->constants[i].name, name)) return f->constants[i].value;
    return NULL;
}

const char *guess_constant(const struct guess *g, const char *name)
{
    const char *found = constant_of(g->file, name);
    for (size_t i = 0; i < g->included_count && !found; i++) found = constant_of(&g->included[i], name);
    return found;
}

size_t guess_operand_end(const struct guess *g, size_t begin)
{
    static const char *const ends[] = {",", ";", ")", "]", "}", "&&", "||", "?", ":", "==", "!=", "<", ">", "<=", ">="};
    size_t i = begin;
    for (; i < g->kernel->end; i++) {
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
            if (guess_is(g, i, ends[e])) return i;
        if (guess_is(g, i, "(") || guess_is(g, i, "[")) i = cuda_tokens_close(&g->file->tokens, i, g->kernel->end) - 1;
    }
    return i;
}
