// See host_headers.h. Longer stand-ins are files in the folder host. Types and macros that libcu++ also defines are
// written as in libcu++, so that one program can include both, in any order.
#include "tuner/source/host_headers.h"

#include <string.h>

#include "tuner/base/embedded.h"

// clang-format off
#define HEADERS(X) \
    X("limits.h", limits_h, "limits.h") X("stdint.h", stdint_h, "stdint.h") X("inttypes.h", inttypes_h, "inttypes.h") \
    X("float.h", float_h, "float.h") X("math.h", math_h, "math.h") X("cmath", cmath, "cmath") \
    X("stdlib.h", stdlib_h, "stdlib.h") X("stddef.h", stddef_h, "stddef.h") \
    X("sys/types.h", sys_types_h, "sys_types.h") X("algorithm", algorithm, "algorithm")

#define EMBED_HEADER(name, id, file) EMBED_FILE(host_##id, "tuner/source/host/" file)
HEADERS(EMBED_HEADER)
#define ROW(name, id, file) {name, sweetspot_host_##id},
#define EMPTY(name) {name, "#pragma once\n"}
// A C++ header that takes its names from a C header, or from libcu++.
#define OF_C(name, header, names) {name, "#pragma once\n#include <" header ">\nnamespace std {\n" names "}\n"}
#define OF_CUDA(name) \
    {name, "#pragma once\n#include <cuda/std/" name ">\nnamespace std { using namespace ::cuda::std; }\n"}
const struct host_header host_headers[] = {
    HEADERS(ROW)
    EMPTY("assert.h"), EMPTY("cassert"), EMPTY("stdio.h"), EMPTY("string.h"), EMPTY("stdbool.h"), EMPTY("time.h"),
    EMPTY("initializer_list"),
    OF_C("climits", "limits.h", ""), OF_C("cinttypes", "inttypes.h", ""), OF_C("cfloat", "float.h", ""),
    OF_C("cstdint", "stdint.h",
         "using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t;\n"
         "using ::uint32_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t; using ::intmax_t; "
         "using ::uintmax_t;\n"),
    OF_C("cstdio", "stdio.h", "using ::printf;\n"), OF_C("ctime", "time.h", "using ::clock;\n"),
    OF_C("cstdlib", "stdlib.h", "using ::size_t; using ::malloc; using ::free; using ::abs;\n"),
    OF_C("cstring", "string.h", "using ::size_t; using ::memcpy; using ::memset;\n"),
    OF_C("cstddef", "stddef.h", "using ::size_t; using ::ptrdiff_t; using nullptr_t = decltype(nullptr);\n"),
    OF_CUDA("type_traits"), OF_CUDA("limits"), OF_CUDA("utility"), OF_CUDA("tuple"), OF_CUDA("array"),
    OF_CUDA("functional"), OF_CUDA("iterator"), OF_CUDA("numeric"), OF_CUDA("bit"),
    {NULL, NULL},
};

const struct host_word host_words[] = {
    {"uint", "sys/types.h"}, {"ushort", "sys/types.h"}, {"ulong", "sys/types.h"},
    {"int8_t", "stdint.h"}, {"int16_t", "stdint.h"}, {"int32_t", "stdint.h"}, {"int64_t", "stdint.h"},
    {"uint8_t", "stdint.h"}, {"uint16_t", "stdint.h"}, {"uint32_t", "stdint.h"}, {"uint64_t", "stdint.h"},
    {"uintptr_t", "stdint.h"}, {"intptr_t", "stdint.h"},
    {"INFINITY", "math.h"}, {"NAN", "math.h"}, {"HUGE_VALF", "math.h"}, {"M_PI", "math.h"},
    {"INT_MAX", "limits.h"}, {"INT_MIN", "limits.h"}, {"UINT_MAX", "limits.h"}, {"LLONG_MAX", "limits.h"},
    {"ULLONG_MAX", "limits.h"}, {"CHAR_BIT", "limits.h"},
    {"FLT_MAX", "float.h"}, {"FLT_MIN", "float.h"}, {"FLT_EPSILON", "float.h"}, {"DBL_MAX", "float.h"},
    {"offsetof", "stddef.h"},
    {NULL, NULL},
};

const struct host_word host_includes[] = {
    {"cuda.h", "stdlib.h"}, {"cuda.h", "stdint.h"},
    {"cudaTypedefs.h", "stdlib.h"}, {"cudaTypedefs.h", "stdint.h"},
    {NULL, NULL},
};
// clang-format on

const struct host_header *host_header_find(const char *name)
{
    for (const struct host_header *h = host_headers; h->name; h++)
        if (!strcmp(h->name, name)) return h;
    return NULL;
}
