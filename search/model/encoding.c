// See encoding.h.
#include "search/model/encoding.h"

#include <math.h>
#include <stdbool.h>

// The number for a parameter's value: the value itself, or its rank if it is a real or an unroll factor.
static double number_of(const struct parameter *p, size_t i)
{
    return p->kind == PARAMETER_INT ? (double)p->values[i] : (double)i;
}

// How well a size is aligned. Half of the score is how often it is divisible by two, the other half whether it is a
// power of two.
static double alignment(int64_t value)
{
    if (value == 0) return 0;
    int n = __builtin_ctzll((unsigned long long)value);
    bool power = value > 0 && (value & (value - 1)) == 0;
    return 0.5 * (n > 6 ? 1 : n / 6.0) + 0.5 * power;
}

static size_t ordinal_coordinates(const struct parameter *p)
{
    if (p->count == 1) return 0;
    if (p->kind == PARAMETER_STRING) return p->count == 2 ? 1 : 0;
    if (p->kind != PARAMETER_INT) return 1;
    // A second coordinate if some large value is not a power of two.
    bool mixed = false;
    for (size_t i = 0; i < p->count; i++) mixed |= p->values[i] > 16 && (p->values[i] & (p->values[i] - 1)) != 0;
    return mixed ? 2 : 1;
}

static void fill(const struct parameter *p, size_t width, float *table)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < p->count; i++) {
        low = fmin(low, number_of(p, i));
        high = fmax(high, number_of(p, i));
    }
    for (size_t i = 0; i < p->count; i++) {
        double value = number_of(p, i), rank = 0;
        for (size_t j = 0; j < p->count; j++) rank += number_of(p, j) < value;
        rank /= (double)(p->count - 1);
        double shift = low >= 1 ? 0 : 1 - low;
        double logarithm = log((value + shift) / (low + shift)) / log((high + shift) / (low + shift));
        table[i * width] = (float)(0.5 * rank + 0.5 * logarithm);
        if (width > 1) table[i * width + 1] = (float)alignment(p->values[i]);
    }
}

void encoding_init(struct encoding *f, const struct space *space)
{
    *f = (struct encoding){.parameter_count = space_parameter_count(space)};
    f->first = arena_new(&f->memory, (f->parameter_count + 1) * sizeof *f->first);
    f->nominal = arena_new(&f->memory, f->parameter_count * sizeof *f->nominal);
    f->table = arena_new(&f->memory, f->parameter_count * sizeof *f->table);
    for (size_t i = 0; i < f->parameter_count; i++) {
        const struct parameter *p = space_parameter(space, i);
        size_t width = ordinal_coordinates(p);
        f->first[i] = f->ordinal;
        f->table[i] = arena_new(&f->memory, p->count * width * sizeof **f->table);
        if (width) fill(p, width, f->table[i]);
        f->ordinal += width;
    }
    f->first[f->parameter_count] = f->count = f->ordinal;
    for (size_t i = 0; i < f->parameter_count; i++)
        f->nominal[i] = space_parameter(space, i)->count > 2 ? f->count++ : SIZE_MAX;
}

void encoding_release(struct encoding *f)
{
    arena_release(&f->memory);
}

void encoding_of(const struct encoding *f, const uint16_t *config, float *out)
{
    for (size_t i = 0; i < f->parameter_count; i++) {
        size_t width = f->first[i + 1] - f->first[i];
        const float *from = f->table[i] + config[i] * width;
        for (size_t k = 0; k < width; k++) out[f->first[i] + k] = from[k];
        if (f->nominal[i] != SIZE_MAX) out[f->nominal[i]] = (float)config[i];
    }
}
