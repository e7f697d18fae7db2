// A shared library for the GPU tests and test_programs.c. It has references for a job's `reference = { library;
// function; }`. It also has functions that make inputs and judge outputs, and functions that fail in various ways.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/sweetspot_baseline.h"
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

// Expects results that no kernel computes, so candidates must be found wrong.
int axpy_wrong_reference(int arrays, const struct sweetspot_array *array, int values,
                         const struct sweetspot_value *value);
int axpy_wrong_reference(int arrays, const struct sweetspot_array *array, int values,
                         const struct sweetspot_value *value)
{
    return axpy(arrays, array, values, value, 1e-3);
}

// x: small integers that depend on the seed.
sweetspot_generate make_x;
int make_x(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value,
           unsigned long long seed)
{
    const struct sweetspot_array *x = find(arrays, array, "x");
    (void)values;
    (void)value;
    if (!x || !x->output) return 1;
    for (int64_t r = 0; r < x->rows; r++)
        for (int64_t i = 0; i < x->cols; i++)
            ((float *)x->data)[r * x->ld + i] = (float)((seed >> (i % 8)) % 100 + (unsigned)i % 7 + 1);
    return 0;
}

// Makes different values in every process.
sweetspot_generate make_other;
int make_other(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value,
               unsigned long long seed)
{
    return make_x(arrays, array, values, value, seed + (unsigned long long)getpid());
}

// Writes past the columns of a row.
sweetspot_generate make_wide;
int make_wide(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value,
              unsigned long long seed)
{
    const struct sweetspot_array *x = find(arrays, array, "x");
    make_x(arrays, array, values, value, seed);
    ((float *)x->data)[x->cols] = 1;
    return 0;
}

// Returns 0 if y is exactly a*x, otherwise 1 with the first wrong index in *place.
static int scaled(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value,
                  int64_t *place)
{
    const struct sweetspot_array *x = find(arrays, array, "x"), *y = find(arrays, array, "y");
    double a = 0;
    for (int i = 0; i < values; i++)
        if (!strcmp(value[i].name, "a")) a = value[i].value;
    for (*place = 0; *place < x->cols; ++*place)
        if (((const float *)y->data)[*place] != (float)a * ((const float *)x->data)[*place]) return 1;
    return 0;
}

sweetspot_verify judge;
int judge(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value,
          char *message, int room)
{
    int64_t place;
    int wrong = scaled(arrays, array, values, value, &place);
    if (wrong) snprintf(message, (size_t)room, "y[%lld] is not a*x", (long long)place);
    // The arrays are copies, so writing to them must do no harm.
    for (int i = 0; i < arrays; i++) memset(array[i].data, 0, 4);
    return wrong;
}

sweetspot_verify judge_silently;
int judge_silently(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value,
                   char *message, int room)
{
    (void)message;
    (void)room;
    int64_t place;
    return scaled(arrays, array, values, value, &place);
}

// Counts its calls in the file that $CALLS names.
sweetspot_verify judge_and_count;
int judge_and_count(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value,
                    char *message, int room)
{
    const char *path = getenv("CALLS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) fputs("x", file), fclose(file);
    return judge(arrays, array, values, value, message, room);
}

// y = a*x. Fails unless x comes from make_x, so that the expected values are not zeros.
sweetspot_reference scale_reference;
int scale_reference(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value)
{
    const struct sweetspot_array *x = find(arrays, array, "x"), *y = find(arrays, array, "y");
    double a = 0;
    for (int i = 0; i < values; i++)
        if (!strcmp(value[i].name, "a")) a = value[i].value;
    for (int64_t i = 0; i < x->cols; i++) {
        if (!(((const float *)x->data)[i] >= 1)) return 1; // not made by make_x
        ((double *)y->data)[i] = a * ((const float *)x->data)[i];
    }
    return 0;
}

sweetspot_verify crash, leave, hang;
int crash(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value,
          char *message, int room)
{
    (void)arrays, (void)array, (void)values, (void)value, (void)message, (void)room;
    printf("about to crash\n");
    fflush(stdout);
    raise(SIGSEGV);
    return 0;
}

int leave(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value,
          char *message, int room)
{
    (void)arrays, (void)array, (void)values, (void)value, (void)message, (void)room;
    exit(3);
}

int hang(int arrays, const struct sweetspot_array *array, int values, const struct sweetspot_value *value,
         char *message, int room)
{
    (void)arrays, (void)array, (void)values, (void)value, (void)message, (void)room;
    for (;;) pause();
}

// Baselines on a fake device, whose memory is host memory. Their arguments are N, a, x, y.
static long long begun;
sweetspot_baseline scale_begin, scale, scale_wrongly, scale_refuse, scale_crash, scale_hang;
sweetspot_baseline scale_placed_begin, scale_placed;

int scale_begin(void *stream, void **arguments, const long long *sizes)
{
    (void)stream;
    (void)arguments;
    begun = sizes[0];
    return 0;
}

static int multiply(void **arguments, const long long *sizes, float more)
{
    float a = *(const float *)arguments[1], *x = *(float **)arguments[2], *y = *(float **)arguments[3];
    if (*(const int *)arguments[0] != sizes[0]) return 1;
    for (long long i = 0; i < sizes[0]; i++) y[i] = a * x[i] + more;
    return 0;
}

int scale(void *stream, void **arguments, const long long *sizes)
{
    return stream && begun != sizes[0] ? 2 : multiply(arguments, sizes, 0);
}

int scale_wrongly(void *stream, void **arguments, const long long *sizes)
{
    (void)stream;
    return multiply(arguments, sizes, 1);
}

int scale_refuse(void *stream, void **arguments, const long long *sizes)
{
    (void)stream;
    (void)arguments;
    (void)sizes;
    return 7;
}

int scale_crash(void *stream, void **arguments, const long long *sizes)
{
    (void)stream;
    (void)arguments;
    (void)sizes;
    raise(SIGSEGV);
    return 0;
}

int scale_hang(void *stream, void **arguments, const long long *sizes)
{
    (void)stream;
    (void)arguments;
    (void)sizes;
    for (;;) pause();
}

// A baseline with a struct and a texture, whose object is the address of its texels.
struct size_and_factor {
    int n;
    float a;
};

int scale_placed_begin(void *stream, void **arguments, const long long *sizes)
{
    (void)stream;
    begun = ((const struct size_and_factor *)arguments[0])->n;
    return begun != sizes[0] || !*(const float **)arguments[1] || !*(float **)arguments[2];
}

int scale_placed(void *stream, void **arguments, const long long *sizes)
{
    const struct size_and_factor *by = arguments[0];
    const float *texels = *(const float **)arguments[1];
    float *y = *(float **)arguments[2];
    (void)stream;
    if (begun != sizes[0]) return 3;
    for (int i = 0; i < by->n; i++) y[i] = by->a * texels[i];
    return 0;
}
