// See least.h.
#include "kernels/least.h"

#include <math.h>

// The share of integers, drawn uniformly from a range, that are not zero; with a margin for chance.
static double nonzero_of_range(double low, double high)
{
    double values = high - low + 1;
    if (low > 0 || high < 0) return 1;
    return values > 1 ? fmax(0, 1 - 2 / values) : 0;
}

// Whether the numbers are far from the limits of every type, so that neither they nor their products overflow or
// vanish.
static bool moderate(double low, double high)
{
    double size = fmax(fabs(low), fabs(high));
    return size > 1e-3 && size < 1e4;
}

struct operand_data operand_data_of(enum element type, enum fill_kind fill, double low, double high)
{
    const struct operand_data unknown = {0, !element_is_float(type), false};
    bool floats = element_is_float(type);
    switch (fill) {
    case FILL_UNIFORM:
        if (!moderate(low, high) || !(low < high)) return unknown;
        if (floats) return (struct operand_data){1, true, true};
        return (struct operand_data){fmax(0, nonzero_of_range(low, high) - 2 / (high - low)), true, false};
    case FILL_NORMAL:
        return floats ? (struct operand_data){1, true, true} : unknown;
    case FILL_SORTED:
        if (floats) return moderate(low, high) && low < high ? (struct operand_data){1, true, true} : unknown;
        // fall through
    case FILL_INTEGER:
        return moderate(low, high) ? (struct operand_data){nonzero_of_range(low, high), true, false} : unknown;
    case FILL_CONSTANT: // all elements have the value `low`
        return moderate(low, low) ? (struct operand_data){1, true, false} : unknown;
    case FILL_ZERO:
        return (struct operand_data){0, true, false};
    case FILL_INDEX: // large indices become infinite in f16, and the largest number in FP8
        return floats && element_size(type) < 4 && type != ELEMENT_BF16 ? unknown
                                                                        : (struct operand_data){0.5, true, false};
    case FILL_PERMUTATION:
        return (struct operand_data){0.5, true, false};
    case FILL_NONFINITE:
    case FILL_ZEROS:
    case FILL_NPY:
    case FILL_OFFSETS:
    case FILL_ADDRESSES:
        break;
    }
    return unknown;
}

double operand_bytes(const struct operand *o)
{
    return (double)o->rows * (double)o->cols * (double)element_size(o->type);
}

bool operand_is_same(const struct operand *a, const struct operand *b)
{
    return a->device && a->device == b->device;
}

void least_of_pass(const struct operand *x, const struct operand *y, struct operation_least *least)
{
    least->read = x->data.finite ? operand_bytes(x) : 0;
    least->written = operand_bytes(y);
    least->flops = 0;
    least->bits = 1;
}

static int significant_bits(enum element type)
{
    double roundoff = element_roundoff(type);
    return roundoff > 0 ? (int)-log2(roundoff) : 7; // for i8, without the sign
}

// The share of vectors of n elements that are not all zero.
static double some_nonzero(double nonzero, int64_t n)
{
    return 1 - pow(1 - nonzero, (double)n);
}

void least_of_product(const struct device_gemm *g, double per_scale, double per_value, struct operation_least *least)
{
    const struct operand_data *a = &g->a.data, *b = &g->b.data;
    double k = (double)g->k;
    bool needed = g->alpha != 0 && a->finite && b->finite;
    *least = (struct operation_least){.written = operand_bytes(&g->c), .bits = 1};
    if (needed) {
        double of_a = operand_bytes(&g->a) * some_nonzero(b->nonzero, g->n),
               of_b = operand_bytes(&g->b) * some_nonzero(a->nonzero, g->m);
        bool same = operand_is_same(&g->a, &g->b);
        least->read = same ? fmin(of_a, of_b) : of_a + of_b;
        least->flops = 2.0 * (double)g->batch * (double)g->m * (double)g->n * k * a->nonzero * b->nonzero * 49 / 64;
        if (same) least->flops /= 2;
    }
    if (g->beta != 0 && needed && g->c.data.finite) least->read += operand_bytes(&g->c);
    if (!a->full || !b->full || g->beta != 0) return;
    // alpha scales both S and |C|.
    double room = 6 * (per_scale * sqrt(k) + 4 * per_value);
    int most = significant_bits(g->a.type), bits = room > 0 ? (int)floor(-log2(room)) : most;
    least->bits = bits < 1 ? 1 : bits > most ? most : bits;
}
