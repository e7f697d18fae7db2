// Addresses within data: in the bytes of a struct, or in a buffer.
//
//     ADDRESSES = [{"to":"A","place":16,"at":4096,"step":256,"count":8}, ..]
//
// At byte `place` there are `count` consecutive addresses. The first is the address of byte `at` of buffer A, and each
// further address is `step` bytes higher. Without "to", all are null.
#pragma once

#include "tuner/base/record.h"

struct address_request {
    const char *to;
    int64_t place, at, step, count;
};
extern const struct record address_record;
