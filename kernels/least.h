// The minimum work of a kernel (struct operation_least): facts about inputs that follow from their fills, and formulas
// that operations share.
#pragma once

#include "kernels/operation.h"
#include "tuner/base/buffer_kind.h"

// Derives facts about the elements from their fill.
struct operand_data operand_data_of(enum element type, enum fill_kind fill, double low, double high);

// Bytes of an operand's elements, without padding.
double operand_bytes(const struct operand *);
// Whether both are the same buffer, which a job may use in two roles. Such a buffer need be read only once.
bool operand_is_same(const struct operand *, const struct operand *);

// All of x is read and all of y is written. If x may hold infinities or NaN, perhaps none of it need be read, since
// one such element may decide the result.
void least_of_pass(const struct operand *x, const struct operand *y, struct operation_least *least);

// A matrix product whose error bound is per_scale*|A||B| + per_value*|C|.
//
// Bytes: an element of A matters unless its whole row of B is zero, and vice versa; the old C matters if beta is not 0.
// With alpha = 0, or with data that are not known to be finite, neither A nor B need be read.
//
// Flops: 2*M*N*K, minus the terms that are zero (half of this if A and B are the same buffer, since A*A' is symmetric),
// times (7/8)^2: two levels of Strassen's algorithm (Numer. Math. 13, 1969). More levels save less than their additions
// cost at sizes that fit into a GPU's memory.
//
// Bits: rounding factors to t bits changes a product by 2^-t/2 or so in the root mean square, and thus a sum of K
// products by at least 2^-t*S/(2*sqrt(K)), where S = |A||B|. Among many elements, at least one has an error above this
// value, so a kernel passes only if 2^-t <= 2*sqrt(K)*allowed/S. We allow three times that, and assume |C| <=
// 4*S/sqrt(K) for random data. For FP32 and K = 2048 this gives 9 bits, so neither TF32 nor FP16 is excluded: data
// within FP16's range can be multiplied in FP16. With an old C, whose size is unknown, or if the data has few
// significant bits, 1 bit may be enough.
void least_of_product(const struct device_gemm *, double per_scale, double per_value, struct operation_least *least);
