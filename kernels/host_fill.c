// See host_fill.h.
#include "kernels/host_fill.h"

#include <math.h>
#include <stdlib.h>

#include "tuner/base/memory.h"

bool fill_is_on_host(enum fill_kind kind)
{
    return kind == FILL_SORTED || kind == FILL_PERMUTATION || kind == FILL_OFFSETS;
}

// The largest n such that the type can represent every integer from 0 to n.
static double greatest_whole(enum element type)
{
    return element_is_float(type) ? 1 / element_roundoff(type) : (double)element_greatest(type);
}

int host_fill_check(const struct host_fill *f, const struct operand *to, struct error *err)
{
    int64_t n = to->rows * to->cols;
    double most = greatest_whole(to->type);
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

// The i-th distance between neighbours, before all distances are divided by their sum.
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

// Both kinds are sums of spacings, divided by their total, which the first pass computes.
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

int host_fill_compute(const struct host_fill *f, struct operand *to, uint64_t seed, struct error *err)
{
    if (f->kind == FILL_PERMUTATION) return permutation(to, seed, err);
    ascending(f, to, seed);
    return 0;
}
