// Reader and writer of NumPy's .npy files, versions 1.0 to 3.0 (numpy.lib.format): little-endian f2, f4, f8, i1, i4,
// u4, i8 and, as numbers that convert, bool, u1, i2, u2, u8; C or Fortran order. NumPy has no FP8: its elements are the
// bits in u1 or in bytes without a type (V1, which is what ml_dtypes writes), or numbers that convert.
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

// The caller releases, also after a failure.
int npy_read(struct npy *, const char *path, struct error *err);
// The same, with the size of the whole file, which lies in `memory`.
int npy_read_bytes(struct npy *, const char *path, size_t *size, struct error *err);
// Writes an array of rows x cols elements, of one dimension where there is one row, `ld` elements from row to row.
// bf16, which NumPy does not have, becomes f4, and FP8 bytes without a type (V1), as ml_dtypes writes them.
int npy_write(const char *path, enum element type, int64_t rows, int64_t cols, int64_t ld, const void *data,
              struct error *err);
// Only kind, size and shape. The elements are not read, but must be there.
int npy_read_head(struct npy *, const char *path, struct error *err);
void npy_release(struct npy *);
// Whether elements of this type can hold all that is in the file: of integers, whole numbers in their range. -1 with
// the first that is not.
int npy_check(const struct npy *, const char *path, enum element type, struct error *err);
// Whether the file has the bits of such elements, FP8.
bool npy_is_bits(const struct npy *, enum element type);
// Element number i in C order as double, as what one of ours would hold, as integer, or stored as one of ours.
double npy_number(const struct npy *, size_t i);
double npy_value(const struct npy *, size_t i, enum element type);
int64_t npy_integer(const struct npy *, size_t i);
void npy_element(const struct npy *, size_t i, enum element type, void *to);
