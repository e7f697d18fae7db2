// A shared library with references, as a job's `reference = { library; function; }` names them: for the GPU tests.
#include <stdint.h>
#include <string.h>

#include "kernels/sweetspot_reference.h"

static const struct sweetspot_array *find(int arrays, const struct sweetspot_array *array, const char *name)
{
    for (int i = 0; i < arrays; i++)
        if (!strcmp(array[i].name, name)) return &array[i];
    return 0;
}

static int axpy(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value,
                double off)
{
    const struct sweetspot_array *x = find(arrays, array, "x"), *y = find(arrays, array, "y");
    double a = 0;
    for (int i = 0; i < values; i++)
        if (!strcmp(value[i].name, "a")) a = value[i].value;
    if (!x || !y || a == 0) return 1;
    for (int64_t i = 0; i < x->cols; i++) ((double *)y->data)[i] += a * ((const float *)x->data)[i] + off;
    return 0;
}

int axpy_reference(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value);
int axpy_reference(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value)
{
    return axpy(arrays, array, values, value, 0);
}

// Expects what no kernel computes: candidates must be found wrong.
int axpy_wrong_reference(int arrays, const struct sweetspot_array *array, int values,
                         const struct sweetspot_value *value);
int axpy_wrong_reference(int arrays, const struct sweetspot_array *array, int values,
                         const struct sweetspot_value *value)
{
    return axpy(arrays, array, values, value, 1e-3);
}
