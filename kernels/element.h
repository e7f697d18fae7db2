// The types of an array's elements and of a kernel's scalar arguments: the fourteen that a job file may name. Shared by
// the driver (sizes, spelling) and the GPU worker (arguments, verification); independent of CUDA and of the search.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum element {
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_E4M3, // 8 bits: sign, 4 of exponent, 3 of mantissa; no infinity, largest number 448
    ELEMENT_E5M2,
    ELEMENT_I8, // this and all following: integers
    ELEMENT_U8,
    ELEMENT_I16,
    ELEMENT_U16,
    ELEMENT_I32,
    ELEMENT_U32,
    ELEMENT_I64,
    ELEMENT_U64,
    ELEMENT_COUNT
};

// The names, indexed by type and NULL-terminated.
extern const char *const element_text[];
// "f32", "f64", ...; never NULL for a valid element.
const char *element_name(enum element type);
// The element type with this name, or -1.
int element_find(const char *name);
// Bytes of one element.
size_t element_size(enum element type);
bool element_is_float(enum element type);
// The smallest and the largest value of an integer type, limited to the range of int64_t.
int64_t element_least(enum element type);
int64_t element_greatest(enum element type);
// Unit roundoff (half the distance from 1 to the next number): 2^-24, 2^-53, 2^-11, 2^-8, 2^-4 and 2^-3 in the order
// above; 0 for integers.
double element_roundoff(enum element type);

// The largest finite number of a floating-point type.
double element_largest(enum element type);
// Whether numbers that are too large for a floating-point type are stored as its largest number, as in CUDA's
// conversions to FP8.
bool element_saturates(enum element type);

// Writes `value`, rounded to nearest even (floats) or truncated (integers), as one element to `to`. For integer types,
// values out of range become the nearest number in range, and NaN becomes 0.
void element_store(enum element type, double value, void *to);
// Reads one element. 64-bit values beyond 2^53 lose bits; use element_load_integer for those. That function returns the
// 64 bits of a u64, so values from 2^63 on are negative.
double element_load(enum element type, const void *from);
int64_t element_load_integer(enum element type, const void *from);
