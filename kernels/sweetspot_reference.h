/*
 * The interface of a reference in a shared library:   reference = { library = "mine.so"; function = "my_reference"; };
 *
 * The tuner calls the function on the CPU, once for each problem and set of data. Every input of the job is passed in
 * its own type and layout. Every output is passed as a dense array (ld == cols) of doubles (type "f64"), or of 64-bit
 * integers (type "i64") if the buffer holds integers, so that the reference can be more exact than the kernel; the
 * function fills it in. An output that the kernel also reads (inout) holds its initial contents on entry. FP8 inputs
 * are bytes. C99 and C++; this header needs no other one.
 *
 * The library may also make the inputs (`generate`) and judge the outputs (`verify`). Every call of a function runs in
 * a separate process, so nothing that the library keeps in memory survives until the next call.
 */
#ifndef SWEETSPOT_REFERENCE_FUNCTION_H
#define SWEETSPOT_REFERENCE_FUNCTION_H

#ifdef __cplusplus
extern "C" {
#endif

struct sweetspot_array {
    const char *name;         /* the buffer's name in the job file */
    const char *type;         /* "f32", "f64", "f16", "bf16", "e4m3", "e5m2", "i8", "u8", "i16", ... "u64" */
    int output;               /* 1: to be filled in */
    long long rows, cols, ld; /* row-major: element (i, j) is at i*ld + j */
    void *data;
};

struct sweetspot_value {
    const char *name; /* a size, a scalar, a member of a struct or vector by value: "M", "alpha", "p.width", "v.x" */
    double value;
};

/* Returns 0, or anything else if it failed. */
typedef int sweetspot_reference(int arrays, const struct sweetspot_array *array, int values,
                                const struct sweetspot_value *value);

/*
 * Makes inputs from a seed. Every buffer that a kernel reads (in, inout) is passed with output == 1, in its own type
 * and layout, filled as the job says; elements that the function does not write keep these values. It must not write
 * between cols and ld of a row. The same seed must give the same bytes. Returns 0, or anything else if it failed.
 */
typedef int sweetspot_generate(int arrays, const struct sweetspot_array *array, int values,
                               const struct sweetspot_value *value, unsigned long long seed);

/*
 * Judges the results of one launch. Inputs are passed as for a reference, and outputs as the kernel left them, in their
 * own type and layout, with output == 1. An inout buffer is passed twice, first with its contents before the launch.
 * Returns 0 if everything is correct; otherwise anything else, with the reason in `message`, which has `room` bytes.
 */
typedef int sweetspot_verify(int arrays, const struct sweetspot_array *array, int values,
                             const struct sweetspot_value *value, char *message, int room);

#ifdef __cplusplus
}
#endif

#endif
