// Reader and writer of NumPy's .npy files, versions 1.0 to 3.0 (numpy.lib.format). Supports little-endian f2, f4, f8,
// i1, i4, u4, i8 and, by converting the numbers, bool, u1, i2, u2 and u8, in C or Fortran order. NumPy has no FP8. FP8
// elements are stored as bits, in u1 or in bytes without a type (V1, which ml_dtypes writes), or as ordinary numbers,
// which are converted.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/element.h"
#include "tuner/base/error.h"

enum { NPY_DIMENSIONS_MAX = 8 };

struct npy {
    char kind;                                           // 'f', 'i', 'u', 'b', or 'V': bytes without a type
    size_t size;                                         // bytes of an element
    size_t dimensions, shape[NPY_DIMENSIONS_MAX], count; // count: product of the shape
    bool fortran;                                        // first dimension varies fastest
    void *memory;                                        // owned
    const unsigned char *data;
};

// The caller must call npy_release, also after a failure.
int npy_read(struct npy *, const char *path, struct error *err);
// Like npy_read; also returns the size of the whole file, which is in `memory`.
int npy_read_bytes(struct npy *, const char *path, size_t *size, struct error *err);
// Writes an array of rows x cols elements, whose rows begin `ld` elements apart. A single row becomes a one-dimensional
// array. bf16, which NumPy does not have, becomes f4, and FP8 becomes bytes without a type (V1), as ml_dtypes writes
// it.
int npy_write(const char *path, enum element type, int64_t rows, int64_t cols, int64_t ld, const void *data,
              struct error *err);
// Reads only kind, size and shape. The elements are not read, but must exist.
int npy_read_head(struct npy *, const char *path, struct error *err);
void npy_release(struct npy *);
// Checks that elements of this type can hold all numbers in the file; integer types need whole numbers in their range.
// -1 with a message about the first number that does not fit.
int npy_check(const struct npy *, const char *path, enum element type, struct error *err);
// Whether the file holds the bits of elements of this type (FP8 only).
bool npy_is_bits(const struct npy *, enum element type);
// Element number i in C order: as a double, as the value that an element of `type` would hold, or as an integer; or
// stored as an element of `type`.
double npy_number(const struct npy *, size_t i);
double npy_value(const struct npy *, size_t i, enum element type);
int64_t npy_integer(const struct npy *, size_t i);
void npy_element(const struct npy *, size_t i, enum element type, void *to);
