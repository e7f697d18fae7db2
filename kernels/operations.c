// The table of operations, and look-ups in it. See operation.h.
#include "kernels/operation.h"

#include <string.h>

#include "tuner/base/text.h"

// All operations, one per line, in the order in which they are listed.
// clang-format off
#define OPERATIONS(x) \
    x(gemm) \
    x(gemv) \
    x(sum) \
    x(asum) \
    x(nrm2) \
    x(dot) \
    x(iamax) \
    x(row_sums) \
    x(column_sums) \
    x(softmax) \
    x(layer_norm) \
    x(rms_norm) \
    x(prefix_sum) \
    x(transpose) \
    x(transpose_in_place) \
    x(clear) \
    x(smith_waterman)
// clang-format on

#define DECLARE(name) extern const struct operation operation_##name;
OPERATIONS(DECLARE)

#define ENTRY(name) &operation_##name,
const struct operation *const operations[] = {OPERATIONS(ENTRY) NULL};

const char *const value_domain_text[] = {"scaled", "zero", "negative", "shifted", "full", "subnormal", NULL};

const char *const *operation_names(void)
{
    static const char *names[sizeof operations / sizeof *operations];
    for (size_t i = 0; operations[i]; i++) names[i] = operations[i]->name;
    return names;
}

const struct operation *operation_find(const char *name, const char **nearest)
{
    for (size_t i = 0; operations[i]; i++)
        if (!strcmp(name, operations[i]->name)) return operations[i];
    if (nearest) *nearest = text_nearest(name, operation_names());
    return NULL;
}

int operation_role(const struct operation *operation, const char *name)
{
    for (int i = 0; operation->roles[i].name; i++)
        if (!strcmp(name, operation->roles[i].name)) return i;
    return -1;
}

int operation_class(const struct operation *operation, const char *word)
{
    for (int i = 0; operation->classes && operation->classes[i]; i++)
        if (!strcmp(operation->classes[i], word)) return i;
    return -1;
}

const struct operation_baseline *operation_baseline(const struct operation *operation, const char *name)
{
    for (int i = 0; operation->baselines && operation->baselines[i].name; i++)
        if (!strcmp(name, operation->baselines[i].name)) return &operation->baselines[i];
    return NULL;
}
