// See host_fill.h.
#include "kernels/host_fill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

bool fill_has_source(enum fill_kind kind)
{
    return kind == FILL_COPY || kind == FILL_TRANSPOSED || kind == FILL_NOISE;
}

bool fill_is_on_host(enum fill_kind kind)
{
    return fill_has_source(kind) || kind == FILL_SORTED || kind == FILL_PERMUTATION || kind == FILL_OFFSETS;
}

// The greatest whole number up to which a type holds all.
static double greatest_whole(enum element type)
{
    return element_is_float(type) ? 1 / element_roundoff(type) : (double)element_greatest(type);
}

static int check_source(const struct host_fill *f, const struct operand *to, struct error *err)
{
    const struct operand *of = f->of;
    const char *word = fill_words[f->kind];
    bool floats = element_is_float(to->type) && element_is_float(of->type);
    if (f->kind == FILL_NOISE && !floats)
        return error_set(err, "fill \"noise\" needs floating-point types, not %s of %s", element_name(to->type),
                         element_name(of->type));
    if (to->type != of->type && !floats)
        return error_set(err, "fill \"%s\" cannot turn %s into %s: it needs the same type, or two floating-point types",
                         word, element_name(of->type), element_name(to->type));
    if (f->kind == FILL_TRANSPOSED && (to->rows != of->cols || to->cols != of->rows))
        return error_set(err, "fill \"%s\" of %lld x %lld elements gives %lld x %lld, not %lld x %lld", word,
                         (long long)of->rows, (long long)of->cols, (long long)of->cols, (long long)of->rows,
                         (long long)to->rows, (long long)to->cols);
    long long given = of->rows * of->cols, wanted = to->rows * to->cols;
    if (wanted != given)
        return error_set(err, "fill \"%s\" needs as many elements as there are: %lld, not %lld", word, given, wanted);
    return 0;
}

int host_fill_check(const struct host_fill *f, const struct operand *to, struct error *err)
{
    int64_t n = to->rows * to->cols;
    double most = greatest_whole(to->type);
    if (fill_has_source(f->kind)) return check_source(f, to, err);
    if (f->kind == FILL_PERMUTATION && (double)(n - 1) > most)
        return error_set(err, "fill \"permutation\" has numbers up to %lld, but %s holds them only up to %.0f",
                         (long long)(n - 1), element_name(to->type), most);
    if (f->kind != FILL_OFFSETS) return 0;
    if (element_is_float(to->type)) return error_set(err, "fill \"offsets\" needs an integer type");
    if (n < 2) return error_set(err, "fill \"offsets\" needs at least 2 elements: one more than there are rows");
    if (!(f->high >= 0 && f->high <= most))
        return error_set(err, "fill \"offsets\" cannot end in %.0f: %s holds 0 to %.0f", f->high,
                         element_name(to->type), most);
    return 0;
}

// splitmix64, as in kernels/support.cu.
static uint64_t draw(uint64_t seed, uint64_t i)
{
    uint64_t x = seed + (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static double unit(uint64_t random)
{
    return (double)(random >> 11) * 0x1p-53;
}

// The i-th distance between neighbours, before all are scaled to their sum.
static double spacing(enum fill_kind kind, uint64_t seed, int64_t i)
{
    uint64_t random = draw(seed, (uint64_t)i);
    if (kind == FILL_SORTED) return -log(1 - unit(random));
    return random % 8 ? (double)(1 + (random >> 32) % 256) : 0;
}

static char *element_at(const struct operand *o, int64_t i)
{
    return (char *)o->host + (size_t)i * element_size(o->type);
}

// Both kinds are sums of spacings over their total, which the first pass computes.
static void ascending(const struct host_fill *f, struct operand *to, uint64_t seed)
{
    bool whole = !element_is_float(to->type), offsets = f->kind == FILL_OFFSETS;
    int64_t n = to->rows * to->cols, count = offsets ? n - 1 : n + 1;
    double total = 0, sum = 0, low = offsets ? 0 : f->low, range = f->high - low + (whole && !offsets ? 1 : 0);
    for (int64_t i = 0; i < count; i++) total += spacing(f->kind, seed, i);
    for (int64_t i = 0; i < n; i++) {
        if (!offsets) sum += spacing(f->kind, seed, i);
        double x = low + range * (total > 0 ? sum / total : 0);
        if (whole) x = floor(x);
        if (x > f->high || (offsets && i == n - 1)) x = f->high;
        element_store(to->type, x, element_at(to, i));
        if (offsets && i + 1 < n) sum += spacing(f->kind, seed, i);
    }
}

static int permutation(struct operand *to, uint64_t seed, struct error *err)
{
    int64_t n = to->rows * to->cols;
    int64_t *order = memory_try((size_t)n, sizeof *order, err);
    if (!order) return -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t j = (int64_t)(draw(seed, (uint64_t)i) % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    for (int64_t i = 0; i < n; i++) element_store(to->type, (double)order[i], element_at(to, i));
    free(order);
    return 0;
}

static void from_source(const struct host_fill *f, struct operand *to, uint64_t seed)
{
    const struct operand *of = f->of;
    size_t size = element_size(to->type);
    for (int64_t r = 0, i = 0; r < to->rows; r++)
        for (int64_t c = 0; c < to->cols; c++, i++) {
            int64_t row = f->kind == FILL_TRANSPOSED ? c : i / of->cols,
                    col = f->kind == FILL_TRANSPOSED ? r : i % of->cols;
            const char *from = element_at(of, row * of->ld + col);
            if (f->kind == FILL_NOISE)
                element_store(to->type,
                              element_load(of->type, from) + f->high * (2 * unit(draw(seed, (uint64_t)i)) - 1),
                              element_at(to, i));
            else if (to->type == of->type)
                memcpy(element_at(to, i), from, size);
            else
                element_store(to->type, element_load(of->type, from), element_at(to, i));
        }
}

int host_fill_compute(const struct host_fill *f, struct operand *to, uint64_t seed, struct error *err)
{
    if (f->kind == FILL_PERMUTATION) return permutation(to, seed, err);
    if (fill_has_source(f->kind))
        from_source(f, to, seed);
    else
        ascending(f, to, seed);
    return 0;
}
