// See host_headers.h. The texts are the files of the folder host. Types and macros that libcu++ defines too are written
// there as it writes them, so that both fit into one program, in any order.
#include "tuner/source/host_headers.h"

#include <string.h>

#include "tuner/base/embedded.h"

// clang-format off
#define HEADERS(X) \
    X("limits.h", limits_h, "limits.h") X("climits", climits, "climits") X("stdint.h", stdint_h, "stdint.h") \
    X("cstdint", cstdint, "cstdint") X("inttypes.h", inttypes_h, "inttypes.h") \
    X("cinttypes", cinttypes, "cinttypes") X("float.h", float_h, "float.h") X("cfloat", cfloat, "cfloat") \
    X("math.h", math_h, "math.h") X("cmath", cmath, "cmath") X("assert.h", assert_h, "assert.h") \
    X("cassert", cassert, "cassert") X("stdio.h", stdio_h, "stdio.h") X("cstdio", cstdio, "cstdio") \
    X("stdlib.h", stdlib_h, "stdlib.h") X("cstdlib", cstdlib, "cstdlib") X("string.h", string_h, "string.h") \
    X("cstring", cstring, "cstring") X("stddef.h", stddef_h, "stddef.h") X("cstddef", cstddef, "cstddef") \
    X("stdbool.h", stdbool_h, "stdbool.h") X("time.h", time_h, "time.h") X("ctime", ctime, "ctime") \
    X("sys/types.h", sys_types_h, "sys_types.h") X("algorithm", algorithm, "algorithm") \
    X("type_traits", type_traits, "type_traits") X("limits", limits, "limits") X("utility", utility, "utility") \
    X("tuple", tuple, "tuple") X("array", array, "array") X("functional", functional, "functional") \
    X("iterator", iterator, "iterator") X("numeric", numeric, "numeric") X("bit", bit, "bit") \
    X("initializer_list", initializer_list, "initializer_list")

#define EMBED_HEADER(name, id, file) EMBED_FILE(host_##id, "tuner/source/host/" file)
HEADERS(EMBED_HEADER)
#define ROW(name, id, file) {name, sweetspot_host_##id},
const struct host_header host_headers[] = {HEADERS(ROW){NULL, NULL}};

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
