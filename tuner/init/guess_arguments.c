// See guess_parts.h: which integers are sizes, and what the buffers look like.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/vector_type.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/init/guess_parts.h"

// Integers that are no sizes, and the values that they get.
static const struct {
    const char *name, *value;
} no_sizes[] = {
    {"lda", "K"},    {"ldb", "N"},    {"ldc", "N"},        {"offset", "0"}, {"start", "0"}, {"begin", "0"},
    {"seed", "1"},   {"stride", "1"}, {"step", "1"},       {"iters", "1"},  {"iter", "1"},  {"niter", "1"},
    {"flag", "1"},   {"mode", "0"},   {"rank", "0"},       {"device", "0"}, {"id", "0"},    {"shift", "1"},
    {"radius", "1"}, {"nreps", "1"},  {"iterations", "1"}, {"incx", "1"},   {"incy", "1"},  {"axis", "0"},
};

// What sizes usually are, by name; others by how many there are.
static const struct {
    const char *name;
    int64_t value;
} usual[] = {
    {"B", 8}, {"batch", 8}, {"T", 1024}, {"C", 768}, {"NH", 12}, {"OC", 768}, {"V", 50257}, {"Vp", 50304}, {"HS", 64},
};

static bool is_bare(const struct guess *g, const char *name)
{
    for (size_t a = 0; a < g->kernel->argument_count; a++)
        if (!strcmp(g->kernel->arguments[a].name, name)) return true;
    return false;
}

static void add_size(struct guess *g, const char *name)
{
    g->sizes = memory_grow(g->sizes, g->size_count + 1, sizeof *g->sizes);
    g->sizes[g->size_count++] = (struct guess_size){.name = name};
}

static void size_values(struct guess *g)
{
    int64_t value = g->size_count < 2 ? 1 << 24 : g->size_count == 2 ? 4096 : g->size_count == 3 ? 1024 : 128;
    for (size_t i = 0; i < g->size_count; i++) {
        g->sizes[i].value = value;
        for (size_t u = 0; u < sizeof usual / sizeof *usual && g->size_count > 1; u++)
            if (!strcmp(usual[u].name, g->sizes[i].name)) g->sizes[i].value = usual[u].value;
    }
}

static void read_scalar(struct guess *g, struct guess_argument *to)
{
    const struct cuda_argument *a = to->argument;
    if (!guess_is_integer(to->type)) {
        to->role = GUESS_SCALAR;
        to->value = strcasestr(a->name, "eps") ? "1e-5" : !strcasecmp(a->name, "beta") ? "0.5" : "1.0";
        return;
    }
    to->role = GUESS_SIZE;
    for (size_t i = 0; i < sizeof no_sizes / sizeof *no_sizes; i++) {
        if (strcasecmp(no_sizes[i].name, a->name) != 0) continue;
        bool size = no_sizes[i].value[0] > '9';
        if (size && !is_bare(g, no_sizes[i].value)) continue;
        to->role = GUESS_SCALAR;
        to->value = no_sizes[i].value;
    }
    if (!strcmp(a->type, "bool")) {
        to->role = GUESS_SCALAR;
        to->value = "1";
    }
}

void guess_sizes(struct guess *g)
{
    const struct cuda_kernel *k = g->kernel;
    g->arguments = memory_new(k->argument_count, sizeof *g->arguments);
    g->argument_count = k->argument_count;
    for (size_t i = 0; i < k->argument_count; i++) {
        struct guess_argument *to = &g->arguments[i];
        int factor;
        to->argument = &k->arguments[i];
        to->role = GUESS_UNKNOWN;
        if (guess_object(to)) continue;
        to->type = guess_type(g, to->argument->type, &factor, &to->same_bits);
        const struct vector_type *vector = vector_type_find(to->argument->type);
        if (vector && !to->argument->stars && !to->argument->reference) {
            to->role = GUESS_SCALAR;
            to->type = vector->name;
            to->value = "1"; // for all lanes
        } else if (!to->type || to->argument->stars > 1 || to->argument->reference ||
                   (factor > 1 && !to->argument->stars))
            to->type = NULL;
        else if (to->argument->stars)
            to->role = GUESS_BUFFER;
        else
            read_scalar(g, to);
        if (to->role == GUESS_SIZE) add_size(g, to->argument->name);
    }
    if (!g->size_count) {
        bool plane = false; // blocks are counted in two dimensions: a matrix
        for (size_t i = k->body + 1; i + 2 < k->end; i++)
            plane |= guess_is(g, i, "blockIdx") && guess_is(g, i + 2, "y");
        if (plane) add_size(g, "M");
        add_size(g, "N");
    }
    size_values(g);
}

// Buffers -----------------------------------------------------------------------------------------

static bool assigns(const struct guess *g, size_t i, bool *also_read)
{
    static const char *const marks[] = {"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "++", "--"};
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++) {
        if (!guess_is(g, i, marks[m])) continue;
        *also_read |= m > 0;
        return true;
    }
    return false;
}

struct use {
    bool written, read, unclear;
    char *factors; // of the access with the most
    size_t factor_count;
};

// Adds the factors of a text "N K " to another, each once; "B * T" stands for itself.
static void add_factor(char **to, size_t *count, const char *factor)
{
    char *padded = text_format("|%s|", factor), *whole = text_format("|%s", *to ? *to : "");
    if (!strstr(whole, padded)) {
        guess_append(to, "%s|", factor);
        ++*count;
    }
    free(padded);
    free(whole);
}

static void range_factors(const struct guess *g, const struct guess_variables *v, size_t begin, size_t end, char **to,
                          size_t *count)
{
    for (size_t i = begin; i < end; i++) {
        if (!guess_is_name(g, i) || (i > begin && guess_is(g, i - 1, "."))) continue;
        char *word = cuda_token_copy(guess_token(g, i));
        const struct guess_variable *variable = guess_find_variable(v, guess_token(g, i));
        if (guess_find_size(g, word))
            add_factor(to, count, word);
        else if (variable && variable->extent)
            add_factor(to, count, variable->extent);
        free(word);
    }
}

// Of an access at [begin, end) through `pointer`, which may be NULL, or more than another one's.
static void take_factors(const struct guess *g, const struct guess_variables *v, const struct guess_variable *pointer,
                         size_t begin, size_t end, struct use *use)
{
    char *factors = NULL;
    size_t count = 0;
    for (size_t i = 0; pointer && i < pointer->move_count; i++)
        range_factors(g, v, pointer->moves[i].begin, pointer->moves[i].end, &factors, &count);
    range_factors(g, v, begin, end, &factors, &count);
    if (count <= use->factor_count) {
        free(factors);
        return;
    }
    free(use->factors);
    use->factors = factors;
    use->factor_count = count;
}

static void look_at(const struct guess *g, const struct guess_variables *v, size_t a, size_t i, struct use *use)
{
    const struct guess_variable *variable = guess_find_variable(v, guess_token(g, i));
    bool direct = cuda_token_is(guess_token(g, i), g->arguments[a].argument->name);
    if (!direct && (!variable || variable->pointer != (int)a)) return;
    bool address = guess_is(g, i - 1, "&") && !guess_is_name(g, i - 2);
    if (guess_is(g, i + 1, "[")) {
        size_t close = cuda_tokens_close(&g->file->tokens, i + 1, g->kernel->end), after = close;
        while (guess_is(g, after, ".") && guess_is_name(g, after + 1)) after += 2; // a member of a vector
        take_factors(g, v, variable, i + 2, close - 1, use);
        if (address)
            use->unclear = true;
        else if (assigns(g, after, &use->read) || guess_is(g, i - 1, "++"))
            use->written = true;
        else
            use->read = true;
    } else if (guess_is(g, i - 1, "*") && direct && assigns(g, i + 1, &use->read)) {
        use->written = true;
    } else if (!guess_is(g, i + 1, "=") && !guess_is(g, i + 1, "+=") && !guess_is(g, i - 1, "=")) {
        use->unclear = true; // handed on
        if (guess_is(g, i + 1, "+")) take_factors(g, v, variable, i + 2, guess_operand_end(g, i + 2), use);
    }
}

// A, B and C of a matrix product.
static const char *product_shape(const struct guess *g, size_t a)
{
    static const struct {
        const char *name, *shape;
    } shapes[] = {{"A", "\"M\", \"K\""}, {"B", "\"K\", \"N\""}, {"C", "\"M\", \"N\""}};
    if (!guess_find_size(g, "M") || !guess_find_size(g, "N") || !guess_find_size(g, "K")) return NULL;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!strcasecmp(shapes[i].name, g->arguments[a].argument->name)) return shapes[i].shape;
    return NULL;
}

static void shape_of(struct guess *g, size_t a, const struct use *use)
{
    struct guess_argument *to = &g->arguments[a];
    const char *product = product_shape(g, a);
    int factor;
    bool same_bits;
    guess_type(g, to->argument->type, &factor, &same_bits);
    if (product) {
        to->shape = text_copy(product);
    } else if (use->factors) {
        for (const char *at = use->factors; *at;) {
            size_t length = strcspn(at, "|");
            guess_append(&to->shape, "%s\"%.*s\"", to->shape ? ", " : "", (int)length, at);
            at += length + (at[length] == '|');
        }
    } else {
        for (size_t i = 0; i < g->size_count; i++)
            guess_append(&to->shape, "%s\"%s\"", to->shape ? ", " : "", g->sizes[i].name);
    }
    if (factor > 1) guess_append(&to->shape, ", \"%d\"", factor);
}

void guess_buffers(struct guess *g, const struct guess_variables *v)
{
    bool out = false;
    struct guess_argument *last = NULL;
    for (size_t a = 0; a < g->argument_count; a++) {
        struct guess_argument *to = &g->arguments[a];
        struct use use = {0};
        if (to->role != GUESS_BUFFER) continue;
        for (size_t i = g->kernel->body + 1; i < g->kernel->end; i++)
            if (guess_is_name(g, i)) look_at(g, v, a, i, &use);
        shape_of(g, a, &use);
        free(use.factors);
        if (to->argument->constant)
            to->direction = "in";
        else if (use.unclear)
            to->direction = "inout";
        else
            to->direction = use.written ? (use.read ? "inout" : "out") : "in";
        out |= strcmp(to->direction, "in") != 0;
        if (!to->argument->constant) last = to;
    }
    if (out || guess_places_written(g)) return;
    if (last)
        last->direction = "inout";
    else
        guess_note(g, "fill in: a buffer that the kernel writes: none of its arguments looks like one");
}
