// See guess_parts.h: which variables of a kernel's body come from the block's and the thread's index, what they are
// compared with, and which pointers stand for an argument.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/init/guess_parts.h"

static int dimension_of(const struct guess *g, size_t i, const char *which)
{
    static const char *const names[] = {"x", "y", "z"};
    if (!guess_is(g, i, which) || !guess_is(g, i + 1, ".")) return -1;
    for (int d = 0; d < 3; d++)
        if (guess_is(g, i + 2, names[d])) return d;
    return -1;
}

struct guess_variable *guess_find_variable(const struct guess_variables *v, const struct cuda_token *t)
{
    for (size_t i = v->count; i--;)
        if (t->kind == CUDA_NAME && cuda_token_is(t, v->items[i].name)) return &v->items[i];
    return NULL;
}

int guess_block_at(const struct guess *g, const struct guess_variables *v, size_t i, size_t *behind)
{
    int d = dimension_of(g, i, "blockIdx");
    *behind = i + 3;
    if (d >= 0 || !guess_is_name(g, i)) return d;
    const struct guess_variable *variable = guess_find_variable(v, guess_token(g, i));
    *behind = i + 1;
    return variable && !variable->thread && variable->pointer < 0 ? variable->dimension : -1;
}

static int argument_at(const struct guess *g, size_t i)
{
    for (size_t a = 0; a < g->argument_count && guess_is_name(g, i); a++)
        if (g->arguments[a].argument->stars && cuda_token_is(guess_token(g, i), g->arguments[a].argument->name))
            return (int)a;
    return -1;
}

static void add_move(struct guess_variable *v, size_t begin, size_t end)
{
    v->moves = memory_grow(v->moves, v->move_count + 1, sizeof *v->moves);
    v->moves[v->move_count++] = (struct cuda_range){begin, end};
}

static void add_moves_of(struct guess_variable *to, const struct guess_variable *from)
{
    for (size_t i = 0; from && i < from->move_count; i++) add_move(to, from->moves[i].begin, from->moves[i].end);
}

// `NAME = expression` at the = of token i, or NAME += expression for a pointer.
static void read_assignment(struct guess_variables *v, struct guess *g, size_t i)
{
    struct guess_variable new = {.dimension = -1, .pointer = -1};
    size_t end = guess_operand_end(g, i + 1);
    bool declared = i >= 2 && (guess_is_name(g, i - 2) || guess_is(g, i - 2, "*") || guess_is(g, i - 2, ","));
    int moved = argument_at(g, i - 1);
    struct guess_variable *old = guess_find_variable(v, guess_token(g, i - 1));
    if (guess_is(g, i, "+=")) {
        int pointer = moved >= 0 ? moved : old ? old->pointer : -1;
        if (pointer < 0) return;
        new.pointer = pointer;
        add_moves_of(&new, old);
        add_move(&new, i + 1, end);
        new.name = cuda_token_copy(guess_token(g, i - 1));
    } else {
        int factors = 0;
        for (size_t t = i + 1; t < end; t++) {
            int d = dimension_of(g, t, "blockIdx");
            const struct guess_variable *other = guess_is_name(g, t) ? guess_find_variable(v, guess_token(g, t)) : NULL;
            if (d < 0 && other && other->pointer < 0) {
                d = other->dimension;
                new.thread |= other->thread;
            }
            if (d >= 0 && new.dimension < 0) new.dimension = d;
            new.thread |= dimension_of(g, t, "threadIdx") >= 0;
            factors += guess_is(g, t, "*") || guess_is(g, t, "+");
            int pointer = argument_at(g, t);
            if (pointer < 0 && other) pointer = other->pointer;
            bool element = guess_is(g, t + 1, "[") && !(t && guess_is(g, t - 1, "&"));
            if (pointer >= 0 && !element && new.pointer < 0) {
                new.pointer = pointer;
                add_moves_of(&new, other);
            }
        }
        if (new.pointer >= 0) {
            add_move(&new, i + 1, end);
            new.dimension = -1;
            new.thread = false;
        } else if (new.dimension < 0 && !new.thread) {
            if (!declared || old) return;
        } else if (factors && !new.thread) {
            new.thread = true; // no plain copy of an index
        }
        new.name = cuda_token_copy(guess_token(g, i - 1));
    }
    v->items = memory_grow(v->items, v->count + 1, sizeof new);
    v->items[v->count++] = new;
}

// `v < E`, `v >= E`, `v + 3 < E`, and E > v: the first operand's variable ends at E.
static void read_comparison(struct guess_variables *v, struct guess *g, size_t i)
{
    static const char *const below[] = {"<", ">=", "<="};
    bool compares = false;
    for (size_t b = 0; b < sizeof below / sizeof *below; b++) compares |= guess_is(g, i, below[b]);
    if (!compares || !i || !guess_is_name(g, i - 1)) return;
    struct guess_variable *variable = guess_find_variable(v, guess_token(g, i - 1));
    if ((!variable || variable->dimension < 0) && guess_is(g, i - 2, "+") && guess_is_name(g, i - 3))
        variable = guess_find_variable(v, guess_token(g, i - 3));
    if (!variable || variable->extent || variable->pointer >= 0) return;
    char *extent = guess_expression(g, i + 1, guess_operand_end(g, i + 1), false);
    if (!extent) return;
    char *minus = strstr(extent, " - "); // `x < nx - 1` spares an edge of nx
    if (minus && strspn(minus + 3, "0123456789") == strlen(minus + 3)) *minus = 0;
    if (strspn(extent, "0123456789") == strlen(extent))
        free(extent); // an edge, and no size
    else
        variable->extent = extent;
}

void guess_variables_init(struct guess_variables *v, struct guess *g)
{
    *v = (struct guess_variables){0};
    for (size_t i = g->kernel->body + 1; i < g->kernel->end; i++) {
        if ((guess_is(g, i, "=") || guess_is(g, i, "+=")) && guess_is_name(g, i - 1)) read_assignment(v, g, i);
        read_comparison(v, g, i);
    }
}

void guess_variables_release(struct guess_variables *v)
{
    for (size_t i = 0; i < v->count; i++) {
        free(v->items[i].name);
        free(v->items[i].extent);
        free(v->items[i].moves);
    }
    free(v->items);
    *v = (struct guess_variables){0};
}
