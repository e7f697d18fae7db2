// The problems of a "job" request: their buffers with shapes, contents, and the parts that are compared.
//
//     {"name":"M=2048,N=2048,K=2048","tune":true,"weight":1.0,"sizes":{"M":2048,..},"roles":{"M":2048,"alpha":1.0},
//      "flops":..,"bytes":..,"buffers":[{"name":"A","type":"f32","rows":2048,"cols":2048,"ld":2048,
//        "direction":"in"|"out"|"inout"|"scratch","fill":FILL}]}
//     with the fill "addresses", also "addresses":ADDRESSES (address_message.h)
//     FILL = {"kind":"uniform"|"nonfinite"|"zeros"|"integer"|"sorted","low":-1,"high":1} |
//       {"kind":"constant","value":1} | {"kind":"npy","path":"x.npy"} | {"kind":"offsets","total":5000} |
//       {"kind":"normal"|"zero"|"index"|"permutation"|"addresses"}
//
// Facts about the problems are part of an environment's key (tuner/trial/environment.h): if their form changed, stored
// trials would belong to a different environment.
#pragma once

#include "tuner/base/buffer_kind.h"
#include "tuner/base/image.h"
#include "tuner/protocol/address_message.h"

struct fill_request {
    enum fill_kind kind;
    double low, high, value, total;
    const char *path;
};

// The part of a buffer that is compared. For each dimension: the number of indices, the first index that is compared,
// and the number of indices that are compared.
struct compare_request {
    const int64_t *sizes, *first, *count;
    size_t rank, first_count, count_count;
};

struct image_request {
    enum image_memory memory;
    enum image_filter filter;
    enum image_read read;
    int channels;
    bool normalized, surface;
    const int64_t *size; // texels, the contiguous dimension first
    const enum image_address *address;
    size_t rank, address_count;
};

// Whether kernels access a buffer as a module variable with the buffer's name, and whether the variable may be missing.
enum symbol_use { SYMBOL_NONE, SYMBOL_REQUIRED, SYMBOL_OPTIONAL };

struct buffer_request {
    const char *name, *type; // a word of kernels/element.h
    int64_t rows, cols, ld;  // ld: 0 for cols
    enum direction direction;
    const struct fill_request *fill, *other; // NULL: no fill is given; `other`: for the second set of data
    const struct address_request *addresses; // for the fill "addresses": all elements
    size_t address_count;
    bool restore; // an input that launches may change
    enum symbol_use symbol;
    const struct compare_request *compare; // NULL: all elements
    const struct image_request *image;     // NULL: none
};

struct problem_request {
    const char *name;
    bool tune;     // false: it is only verified
    double weight; // in the objective
    const struct record_named_integer *sizes;
    const struct record_named_number *roles; // sizes and scalars for the operation, or for a user's program
    size_t size_count, role_count;
    int64_t flops, bytes;
    const struct buffer_request *buffers;
    size_t buffer_count;
};
extern const struct record problem_request_record;
// {"values":{..}}: only the roles, for a user's program.
extern const struct record problem_values_record;

// The number for a name, or `fallback` if the list does not contain the name.
double named_number(const struct record_named_number *list, size_t count, const char *name, double fallback);
