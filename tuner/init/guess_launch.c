// See guess_parts.h: grid and block. The block comes from what the source says of blockDim, of __launch_bounds__, and
// of what blockIdx is multiplied by; the grid is the sizes that indices are compared with, by what a block does of
// them.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tuner/base/text.h"
#include "tuner/init/guess_parts.h"

struct axis {
    bool block, thread; // blockIdx and threadIdx are used
    bool whole;         // blockDim is
    char *tile;         // what blockIdx is multiplied by: an expression of parameters; NULL: none, or blockDim
    bool by_block_dim;  // blockDim is that
    bool plus_thread;   // `blockIdx * tile + threadIdx`
    char *extent;       // an expression of sizes, or NULL
};

static const char *const axis_names[] = {"x", "y", "z"};

static bool uses(const struct guess *g, size_t i, const char *what, int d)
{
    return guess_is(g, i, what) && guess_is(g, i + 1, ".") && guess_is(g, i + 2, axis_names[d]);
}

static void take_tile(const struct guess *g, struct axis *a, int d, size_t begin)
{
    if (uses(g, begin, "blockDim", d)) {
        a->by_block_dim = true;
        return;
    }
    const struct cuda_token *t = guess_token(g, begin);
    if (a->tile || (t->kind != CUDA_NAME && t->kind != CUDA_NUMBER)) return;
    char *name = cuda_token_copy(t);
    if (!guess_find_size(g, name)) a->tile = guess_expression(g, begin, begin + 1, true);
    free(name);
}

// Of the product around a blockIdx at token i, which ends before `behind`.
static void read_product(const struct guess *g, struct axis *a, int d, size_t i, size_t behind)
{
    size_t after = behind;
    if (guess_is(g, behind, "*")) {
        take_tile(g, a, d, behind + 1);
        after = uses(g, behind + 1, "blockDim", d) ? behind + 4 : behind + 2;
    } else if (guess_is(g, i - 1, "*")) {
        size_t begin = i - 2;
        if (guess_is(g, begin, axis_names[d]) && guess_is(g, begin - 1, ".")) begin -= 2;
        take_tile(g, a, d, begin);
    }
    while (guess_is(g, after, ")")) after++;
    a->plus_thread |= guess_is(g, after, "+") && uses(g, after + 1, "threadIdx", d);
    a->plus_thread |= i > 4 && guess_is(g, i - 1, "+") && uses(g, i - 4, "threadIdx", d);
}

static void read_axes(const struct guess *g, const struct guess_variables *v, struct axis axes[3])
{
    for (size_t i = g->kernel->body + 2; i < g->kernel->end; i++) {
        size_t behind;
        int block = guess_block_at(g, v, i, &behind);
        for (int d = 0; d < 3; d++) {
            axes[d].block |= uses(g, i, "blockIdx", d);
            axes[d].thread |= uses(g, i, "threadIdx", d);
            axes[d].whole |= uses(g, i, "blockDim", d);
        }
        bool product = block >= 0 && (guess_is(g, behind, "*") || guess_is(g, i - 1, "*"));
        if (product) read_product(g, &axes[block], block, i, behind);
        // Cooperative groups know the block's size by themselves.
        axes[0].whole |= guess_is(g, i, "this_thread_block");
    }
    for (size_t i = 0; i < v->count; i++) {
        const struct guess_variable *variable = &v->items[i];
        if (variable->dimension < 0 || !variable->extent || axes[variable->dimension].extent) continue;
        axes[variable->dimension].extent = text_copy(variable->extent);
    }
}

// assert(X == blockDim.x): the block is X; each further X must be the same.
static char *asserted(struct guess *g, int d)
{
    char *block = NULL;
    for (size_t i = g->kernel->body + 1; i < g->kernel->end; i++) {
        if (!guess_is(g, i, "assert") || !guess_is(g, i + 1, "(")) continue;
        size_t end = cuda_tokens_close(&g->file->tokens, i + 1, g->kernel->end) - 1, equal = i + 2;
        while (equal < end && !guess_is(g, equal, "==")) equal++;
        if (equal == end) continue;
        char *value = NULL;
        if (uses(g, equal + 1, "blockDim", d) && equal + 4 == end)
            value = guess_expression(g, i + 2, equal, true);
        else if (uses(g, i + 2, "blockDim", d) && equal == i + 5)
            value = guess_expression(g, equal + 1, end, true);
        if (value && block && strcmp(block, value) != 0) guess_constrain(g, text_format("%s == %s", block, value));
        if (!block)
            block = value;
        else
            free(value);
    }
    return block;
}

// The step of `for (int j = 0; j < TILE; j += ROWS)`, as in a transpose whose threads do several rows.
static char *loop_step(struct guess *g)
{
    for (size_t i = g->kernel->body + 1; i < g->kernel->end; i++) {
        if (!guess_is(g, i, "+=") || !guess_is_name(g, i + 1) || !guess_is(g, i + 2, ")")) continue;
        char *name = cuda_token_copy(guess_token(g, i + 1));
        bool size = guess_find_size(g, name) != NULL;
        free(name);
        if (size) continue;
        size_t open = i;
        while (open > g->kernel->body && !guess_is(g, open, "for")) open--;
        bool of_rows = false; // the loop's variable is added to threadIdx.y or what is made of it
        for (size_t t = i; t < g->kernel->end && !of_rows; t++)
            of_rows = guess_is(g, t, "+") && cuda_token_is(guess_token(g, t + 1), "j") && guess_is(g, i - 1, "j");
        if (!of_rows || !guess_is(g, open, "for")) continue;
        char *step = guess_expression(g, i + 1, i + 2, true), *whole = NULL;
        for (size_t t = open; t < i && !whole; t++)
            if (guess_is(g, t, "<")) whole = guess_expression(g, t + 1, guess_operand_end(g, t + 1), true);
        if (step && whole) guess_constrain(g, text_format("%s %% %s == 0", whole, step));
        free(whole);
        if (step) return step;
    }
    return NULL;
}

static const char *parameter_ending(const struct guess *g, const char *ending)
{
    for (size_t i = 0; i < g->parameter_count; i++) {
        const char *source = g->parameters[i].source;
        if (source && !strcasecmp(source, ending)) return g->parameters[i].name;
    }
    return NULL;
}

static const char *threads_parameter(const struct guess *g)
{
    for (size_t i = 0; i < g->parameter_count; i++) {
        const char *source = g->parameters[i].source;
        if (source &&
            (strcasestr(source, "threads") || strcasestr(source, "block_size") || strcasestr(source, "blockSize")) &&
            !strcasestr(source, "per_thread"))
            return g->parameters[i].name;
    }
    return NULL;
}

// `threadIdx.x / X` or `threadIdx.x % X`, with X what blockIdx is multiplied by: a square of X by X threads in a row.
static char *square(const struct guess *g, const struct axis *a)
{
    for (size_t i = g->kernel->body + 1; i < g->kernel->end; i++) {
        if (!uses(g, i, "threadIdx", 0) || (!guess_is(g, i + 3, "/") && !guess_is(g, i + 3, "%"))) continue;
        char *side = guess_is_name(g, i + 4) ? guess_expression(g, i + 4, i + 5, true) : NULL, *text = NULL;
        if (side && a->tile && !strcmp(side, a->tile) && !a->plus_thread) text = text_format("%s * %s", side, side);
        free(side);
        if (text) return text;
    }
    return NULL;
}

// The block of a kernel whose threads are counted in one dimension, without blockDim.
static char *block_in_a_row(const struct guess *g, const struct axis *a)
{
    const char *bm = parameter_ending(g, "BM"), *bn = parameter_ending(g, "BN"), *tm = parameter_ending(g, "TM"),
               *tn = parameter_ending(g, "TN"), *threads = threads_parameter(g);
    if (bm && bn && tm && tn) return text_format("%s * %s / (%s * %s)", bm, bn, tm, tn);
    if (bm && bn && tm) return text_format("%s * %s / %s", bm, bn, tm);
    char *of_square = square(g, a);
    if (of_square) return of_square;
    if (threads) return text_copy(threads);
    return a->tile ? text_copy(a->tile) : NULL;
}

static void guess_block(struct guess *g, struct axis axes[3])
{
    int threads = 0;
    for (int d = 0; d < 3; d++)
        if (axes[d].thread || axes[d].whole) threads = d + 1;
    char *step = threads > 1 && !axes[1].by_block_dim ? loop_step(g) : NULL;
    for (int d = 0; d < threads; d++) {
        const struct axis *a = &axes[d];
        char **to = &g->launch.block[d];
        *to = asserted(g, d);
        if (*to) continue;
        if (d == 0 && threads == 1 && g->kernel->bounds) {
            struct cuda_tokens words;
            cuda_tokens_init(&words, g->kernel->bounds);
            char *name = words.count == 1 ? cuda_token_copy(words.items) : text_copy("");
            const struct guess_parameter *p = guess_find_parameter(g, name);
            const struct cuda_macro *m = cuda_file_macro(g->file, name);
            if (p) *to = text_copy(p->name);
            if (!p && words.count == 1 && words.items->kind == CUDA_NUMBER) *to = text_copy(name);
            if (!p && m && strspn(m->value, "0123456789") == strlen(m->value)) *to = text_copy(m->value);
            free(name);
            cuda_tokens_release(&words);
            if (*to) continue;
        }
        if (d == 1 && step)
            *to = text_copy(step);
        else if (a->tile && !a->by_block_dim && threads > 1)
            *to = text_copy(a->tile);
        else if (threads == 1 && !a->by_block_dim)
            *to = block_in_a_row(g, a);
        if (*to) continue;
        if (threads == 1)
            *to = text_copy(guess_launch_parameter(g, "BLOCK", "[32, 64, 128, 256, 512, 1024]", 256));
        else
            *to = text_copy(guess_launch_parameter(g,
                                                   d == 0   ? "BLOCK_X"
                                                   : d == 1 ? "BLOCK_Y"
                                                            : "BLOCK_Z",
                                                   d == 0 ? "[8, 16, 32, 64]" : "[1, 2, 4, 8, 16]", d == 2 ? 1 : 16));
    }
    if (!threads) g->launch.block[0] = text_copy("1");
    free(step);
}

// The usual numbers of threads are too many for a parameter that is both sides of the block.
static void limit_square(struct guess *g)
{
    const char *x = g->launch.block[0], *y = g->launch.block[1];
    for (size_t i = 0; x && y && !strcmp(x, y) && i < g->parameter_count; i++) {
        struct guess_parameter *p = &g->parameters[i];
        if (strcmp(p->name, x) != 0 || p->first <= 32) continue;
        free(p->values);
        p->values = text_copy("[8, 16, 32]");
        p->first = 8;
    }
}

// The size that a dimension goes over where no comparison says so: by name, else in turn.
static const char *size_of_axis(const struct guess *g, int d, int dimensions)
{
    static const char *const names[3][10] = {
        {"width", "w", "cols", "columns", "ncols", "nx", "N", "n", NULL},
        {"height", "h", "rows", "nrows", "ny", "M", "m", NULL},
        {"depth", "nz", "batch", "B", "K", "k", NULL},
    };
    for (size_t n = 0; dimensions > 1 && names[d][n]; n++)
        if (guess_find_size(g, names[d][n])) return names[d][n];
    // In a row-major matrix the sizes are named from the slowest to the fastest.
    if (!g->size_count) return "1";
    size_t last = g->size_count - 1;
    return g->sizes[dimensions == 1 ? 0 : (size_t)d > last ? 0 : last - (size_t)d].name;
}

static void guess_grid(struct guess *g, struct axis axes[3])
{
    int dimensions = 0;
    for (int d = 0; d < 3; d++)
        if (axes[d].block) dimensions = d + 1;
    for (int d = 0; d < dimensions; d++) {
        struct axis *a = &axes[d];
        const char *extent = a->extent ? a->extent : size_of_axis(g, d, dimensions);
        const char *tile = a->by_block_dim ? g->launch.block[d] : a->tile ? a->tile : NULL;
        // A thread for each element, where there is no product to be seen.
        if (!tile && dimensions == 1 && axes[0].whole && !g->kernel->template_count && axes[0].plus_thread)
            tile = g->launch.block[0];
        g->launch.grid[d] = tile ? text_format("ceil_div(%s, %s)", extent, tile) : text_copy(extent);
        if (a->extent) continue;
        guess_note(g, "guess: the grid's %s goes over %s", axis_names[d], extent);
        if (g->size_count) a->extent = text_copy(extent);
    }
    if (!dimensions) g->launch.grid[0] = text_copy("1");
}

// Bytes of the arrays that a block shares; extern ones are the launch's.
static void guess_shared(struct guess *g)
{
    char *total = NULL;
    bool known = true, of_parameters = false;
    for (size_t i = g->kernel->body + 1; i < g->kernel->end; i++) {
        if (!guess_is(g, i, "__shared__")) continue;
        bool dynamic = guess_is(g, i - 1, "extern");
        size_t bracket = i + 1;
        while (bracket < g->kernel->end && !guess_is(g, bracket, "[") && !guess_is(g, bracket, ";")) bracket++;
        size_t type = i + 1;
        if (guess_is(g, type, "__align__") || guess_is(g, type, "alignas"))
            type = cuda_tokens_close(&g->file->tokens, type + 1, bracket);
        char *words =
            type + 1 < bracket ? cuda_token_text(guess_token(g, type), guess_token(g, bracket - 1)) : text_copy("");
        size_t bytes = guess_type_size(g, words);
        free(words);
        if (dynamic) {
            char *block = NULL;
            for (int d = 0; d < 3; d++)
                if (g->launch.block[d]) guess_append(&block, "%s%s", block ? " * " : "", g->launch.block[d]);
            free(g->launch.shared);
            g->launch.shared = text_format("%zu * %s", bytes ? bytes : 4, block);
            guess_note(g, "guess: the dynamic shared memory is an element for each thread");
            free(block);
            continue;
        }
        if (!guess_is(g, bracket, "[")) continue;
        char *array = NULL;
        while (guess_is(g, bracket, "[")) {
            size_t close = cuda_tokens_close(&g->file->tokens, bracket, g->kernel->end);
            char *size = guess_expression(g, bracket + 1, close - 1, true);
            known &= size != NULL;
            for (size_t p = 0; p < g->parameter_count && size; p++)
                of_parameters |= strstr(size, g->parameters[p].name) != 0;
            guess_append(&array, " * (%s)", size ? size : "");
            free(size);
            bracket = close;
        }
        guess_append(&total, "%s%zu%s", total ? " + " : "", bytes, array);
        known &= bytes > 0;
        free(array);
    }
    if (total && known && of_parameters) guess_constrain(g, text_format("%s <= 49152", total));
    free(total);
}

void guess_launch(struct guess *g, struct guess_variables *v)
{
    struct axis axes[3] = {0};
    read_axes(g, v, axes);
    guess_block(g, axes);
    limit_square(g);
    guess_grid(g, axes);
    for (size_t i = 0; i < v->count; i++) {
        struct guess_variable *variable = &v->items[i];
        if (variable->dimension >= 0 && !variable->extent && axes[variable->dimension].extent)
            variable->extent = text_copy(axes[variable->dimension].extent);
    }
    guess_shared(g);
    char *threads = NULL;
    for (int d = 0; d < 3; d++)
        if (g->launch.block[d]) guess_append(&threads, "%s%s", threads ? " * " : "", g->launch.block[d]);
    bool constant = !threads || strspn(threads, "0123456789 *") == strlen(threads);
    if (!constant) {
        bool quotient = strchr(threads, '/') != NULL;
        guess_constrain(g, quotient ? text_format("%s >= 32 && %s <= device.max_threads", threads, threads)
                                    : text_format("%s <= device.max_threads", threads));
    }
    free(threads);
    for (int d = 0; d < 3; d++) {
        free(axes[d].tile);
        free(axes[d].extent);
    }
}
