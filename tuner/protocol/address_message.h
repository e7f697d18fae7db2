// Addresses within data: in the bytes of a struct, or in a buffer.
//
//     ADDRESSES = [{"to":"A","place":16,"at":4096,"step":256,"count":8}, ..]
//
// From byte `place` on there are `count` addresses: that of byte `at` of buffer A, and further ones `step` bytes apart.
// Without "to" they are null.
#pragma once

#include "tuner/base/record.h"

struct address_request {
    const char *to;
    int64_t place, at, step, count;
};
extern const struct record address_record;
