// The table of operations, and look-ups in it. See operation.h.
#include "kernels/operation.h"

#include <string.h>

#include "tuner/base/text.h"

extern const struct operation operation_gemm, operation_gemv, operation_sum, operation_asum, operation_nrm2,
    operation_dot, operation_iamax, operation_row_sums, operation_column_sums, operation_softmax, operation_prefix_sum,
    operation_transpose, operation_transpose_in_place, operation_smith_waterman;

const struct operation *const operations[] = {
    &operation_gemm,
    &operation_gemv,
    &operation_sum,
    &operation_asum,
    &operation_nrm2,
    &operation_dot,
    &operation_iamax,
    &operation_row_sums,
    &operation_column_sums,
    &operation_softmax,
    &operation_prefix_sum,
    &operation_transpose,
    &operation_transpose_in_place,
    &operation_smith_waterman,
    NULL,
};

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
    for (int i = 0; operation->baselines[i].name; i++)
        if (!strcmp(name, operation->baselines[i].name)) return &operation->baselines[i];
    return NULL;
}
