// Functions that are also in the headers that sweetspot writes: the functions of expressions, and the selector among
// several kernels with its wave model.
//
// Their source code, in fn_arithmetic.h and fn_selector.h, is valid C99, C++ and CUDA, and has no #include. Here they
// are included as functions whose names begin with fn_. tuner/base/embedded.c contains the text of these files, and
// tuner/header/header_text.c writes it into a header with the macros filled in. In a header, FN(name) is <job>_fn_name,
// so that headers of several jobs can be included together. The driver and a header therefore cannot disagree about
// which kernel to select. Neither file calls functions defined elsewhere.
#pragma once

#include <stdint.h>

#define FN(name) fn_##name
#define FN_FUNCTION static inline
#define FN_INTEGER int64_t // for arrays of sizes; in headers it is long long

#include "search/space/fn_arithmetic.h"
#include "search/space/fn_selector.h"

#undef FN
#undef FN_FUNCTION
#undef FN_INTEGER
