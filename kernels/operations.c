// The table of operations, and look-ups in it. See operation.h.
#include "kernels/operation.h"

#include <string.h>

extern const struct operation operation_gemm, operation_sum;

const struct operation *const operations[] = {
    &operation_gemm,
    &operation_sum,
    NULL,
};

// Levenshtein distance of two short names; names longer than the table count as far away.
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t row[LONGEST + 1], n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            corner = row[j];
            row[j] = best;
        }
    }
    return row[m];
}

const struct operation *operation_find(const char *name, const char **nearest)
{
    size_t least = strlen(name) / 2 + 1; // further than half its letters is no likeness
    if (nearest) *nearest = NULL;
    for (int i = 0; operations[i]; i++) {
        if (!strcmp(name, operations[i]->name)) return operations[i];
        size_t d = distance(name, operations[i]->name);
        if (nearest && d <= least) {
            least = d;
            *nearest = operations[i]->name;
        }
    }
    return NULL;
}

int operation_role(const struct operation *operation, const char *name)
{
    for (int i = 0; operation->roles[i].name; i++)
        if (!strcmp(name, operation->roles[i].name)) return i;
    return -1;
}

const struct operation_baseline *operation_baseline(const struct operation *operation, const char *name)
{
    for (int i = 0; operation->baselines[i].name; i++)
        if (!strcmp(name, operation->baselines[i].name)) return &operation->baselines[i];
    return NULL;
}
