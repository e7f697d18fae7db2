// See host_headers.h. Types and macros that libcu++ defines too are written as it writes them, so that both fit into
// one program, in any order.
#include "tuner/source/host_headers.h"

#include <string.h>

// A part of libcu++, under the name that the host's library has for it.
#define OF_LIBCUXX(name) "#pragma once\n#include <cuda/std/" name ">\nnamespace std { using namespace ::cuda::std; }\n"
// The C++ header of one of C's.
#define OF_C(name, used) "#pragma once\n#include <" name ">\nnamespace std {\n" used "}\n"

static const char limits_h[] = "#pragma once\n"
                               "#ifndef CHAR_BIT\n"
                               "#define CHAR_BIT 8\n"
                               "#define SCHAR_MIN (-128)\n"
                               "#define SCHAR_MAX 127\n"
                               "#define UCHAR_MAX 255\n"
                               "#define CHAR_MIN SCHAR_MIN\n"
                               "#define CHAR_MAX SCHAR_MAX\n"
                               "#define SHRT_MIN (-SHRT_MAX - 1)\n"
                               "#define SHRT_MAX 0x7fff\n"
                               "#define USHRT_MAX 0xffff\n"
                               "#define INT_MIN (-INT_MAX - 1)\n"
                               "#define INT_MAX 0x7fffffff\n"
                               "#define UINT_MAX 0xffffffff\n"
                               "#define LONG_MIN (-LONG_MAX - 1)\n"
                               "#define LONG_MAX LLONG_MAX\n"
                               "#define ULONG_MAX ULLONG_MAX\n"
                               "#define LLONG_MIN (-LLONG_MAX - 1)\n"
                               "#define LLONG_MAX 0x7fffffffffffffffLL\n"
                               "#define ULLONG_MAX 0xffffffffffffffffUL\n"
                               "#endif\n";

static const char stdint_h[] =
    "#pragma once\n"
    "#include <limits.h>\n"
    "using int8_t = signed char;\nusing int16_t = signed short;\nusing int32_t = signed int;\n"
    "using int64_t = signed long long;\nusing uint8_t = unsigned char;\nusing uint16_t = unsigned short;\n"
    "using uint32_t = unsigned int;\nusing uint64_t = unsigned long long;\n"
    "using int_fast8_t = int8_t;\nusing int_fast16_t = int16_t;\nusing int_fast32_t = int32_t;\n"
    "using int_fast64_t = int64_t;\nusing uint_fast8_t = uint8_t;\nusing uint_fast16_t = uint16_t;\n"
    "using uint_fast32_t = uint32_t;\nusing uint_fast64_t = uint64_t;\n"
    "using int_least8_t = int8_t;\nusing int_least16_t = int16_t;\nusing int_least32_t = int32_t;\n"
    "using int_least64_t = int64_t;\nusing uint_least8_t = uint8_t;\nusing uint_least16_t = uint16_t;\n"
    "using uint_least32_t = uint32_t;\nusing uint_least64_t = uint64_t;\n"
    "using intptr_t = int64_t;\nusing uintptr_t = uint64_t;\nusing intmax_t = int64_t;\nusing uintmax_t = uint64_t;\n"
    "#ifndef INT8_MIN\n"
    "#define INT8_MIN SCHAR_MIN\n#define INT16_MIN SHRT_MIN\n#define INT32_MIN INT_MIN\n#define INT64_MIN LLONG_MIN\n"
    "#define INT8_MAX SCHAR_MAX\n#define INT16_MAX SHRT_MAX\n#define INT32_MAX INT_MAX\n#define INT64_MAX LLONG_MAX\n"
    "#define UINT8_MAX UCHAR_MAX\n#define UINT16_MAX USHRT_MAX\n#define UINT32_MAX UINT_MAX\n"
    "#define UINT64_MAX ULLONG_MAX\n#define INTPTR_MAX INT64_MAX\n#define UINTPTR_MAX UINT64_MAX\n"
    "#define INTMAX_MAX INT64_MAX\n#define UINTMAX_MAX UINT64_MAX\n#define PTRDIFF_MAX INT64_MAX\n"
    "#define SIZE_MAX UINT64_MAX\n"
    "#define INT32_C(X) ((::int_least32_t)(X))\n#define INT64_C(X) ((::int_least64_t)(X))\n"
    "#define UINT32_C(X) ((::uint_least32_t)(X))\n#define UINT64_C(X) ((::uint_least64_t)(X))\n"
    "#endif\n";

static const char float_h[] = "#pragma once\n"
                              "#ifndef FLT_MAX\n"
                              "#define FLT_RADIX 2\n"
                              "#define FLT_MANT_DIG 24\n"
                              "#define FLT_DIG 6\n"
                              "#define FLT_MAX 3.40282346638528859811704183484516925e+38F\n"
                              "#define FLT_MIN 1.17549435082228750796873653722224568e-38F\n"
                              "#define FLT_TRUE_MIN 1.40129846432481707092372958328991613e-45F\n"
                              "#define FLT_EPSILON 1.19209289550781250000000000000000000e-7F\n"
                              "#define FLT_MAX_EXP 128\n"
                              "#define FLT_MIN_EXP (-125)\n"
                              "#define DBL_MANT_DIG 53\n"
                              "#define DBL_DIG 15\n"
                              "#define DBL_MAX 1.79769313486231570814527423731704357e+308\n"
                              "#define DBL_MIN 2.22507385850720138309023271733240406e-308\n"
                              "#define DBL_TRUE_MIN 4.94065645841246544176568792868221372e-324\n"
                              "#define DBL_EPSILON 2.22044604925031308084726333618164062e-16\n"
                              "#define DBL_MAX_EXP 1024\n"
                              "#define DBL_MIN_EXP (-1021)\n"
                              "#endif\n";

// The functions are NVRTC's own.
static const char math_h[] = "#pragma once\n"
                             "#ifndef INFINITY\n"
                             "#define INFINITY (__builtin_bit_cast(float, 0x7f800000))\n"
                             "#endif\n"
                             "#ifndef NAN\n"
                             "#define NAN (__builtin_bit_cast(float, 0x7fffffff))\n"
                             "#endif\n"
                             "#ifndef HUGE_VAL\n"
                             "#define HUGE_VAL (__builtin_bit_cast(double, 0x7ff0000000000000))\n"
                             "#define HUGE_VALF (__builtin_bit_cast(float, 0x7f800000))\n"
                             "#endif\n"
                             "#ifndef M_PI\n"
                             "#define M_E 2.7182818284590452354\n"
                             "#define M_LOG2E 1.4426950408889634074\n"
                             "#define M_LOG10E 0.43429448190325182765\n"
                             "#define M_LN2 0.69314718055994530942\n"
                             "#define M_LN10 2.30258509299404568402\n"
                             "#define M_PI 3.14159265358979323846\n"
                             "#define M_PI_2 1.57079632679489661923\n"
                             "#define M_PI_4 0.78539816339744830962\n"
                             "#define M_1_PI 0.31830988618379067154\n"
                             "#define M_2_PI 0.63661977236758134308\n"
                             "#define M_2_SQRTPI 1.12837916709551257390\n"
                             "#define M_SQRT2 1.41421356237309504880\n"
                             "#define M_SQRT1_2 0.70710678118654752440\n"
                             "#endif\n";

static const char algorithm[] =
    "#pragma once\n"
    "namespace std {\n"
    "template <class T> __host__ __device__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }\n"
    "template <class T> __host__ __device__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }\n"
    "template <class T>\n"
    "__host__ __device__ constexpr const T &clamp(const T &x, const T &low, const T &high)\n"
    "{ return x < low ? low : high < x ? high : x; }\n"
    "template <class T> __host__ __device__ constexpr void swap(T &a, T &b) { T c = a; a = b; b = c; }\n"
    "}\n";

#define USING_INTEGERS                                                                                        \
    "using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t;\n" \
    "using ::uint32_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;\n"
#define USING_MATH                                                                                                   \
    "using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::hypot; using ::exp; using ::exp2; using "        \
    "::expm1;\n"                                                                                                     \
    "using ::log; using ::log2; using ::log10; using ::log1p; using ::pow; using ::sin; using ::cos; using ::tan;\n" \
    "using ::asin; using ::acos; using ::atan; using ::atan2; using ::sinh; using ::cosh; using ::tanh;\n"           \
    "using ::asinh; using ::acosh; using ::atanh; using ::erf; using ::erfc; using ::tgamma; using ::lgamma;\n"      \
    "using ::floor; using ::ceil; using ::trunc; using ::round; using ::rint; using ::nearbyint; using ::lround;\n"  \
    "using ::lrint; using ::fmod; using ::remainder; using ::fma; using ::fmin; using ::fmax; using ::fdim;\n"       \
    "using ::copysign; using ::nextafter; using ::ldexp; using ::frexp; using ::modf; using ::scalbn; using "        \
    "::ilogb;\n"                                                                                                     \
    "using ::logb; using ::isnan; using ::isinf; using ::isfinite; using ::signbit;\n"

// clang-format off
const struct host_header host_headers[] = {
    {"limits.h", limits_h},
    {"climits", OF_C("limits.h", "")},
    {"stdint.h", stdint_h},
    {"cstdint", OF_C("stdint.h", USING_INTEGERS)},
    {"inttypes.h", "#pragma once\n#include <stdint.h>\n"
                   "#define PRId32 \"d\"\n#define PRIu32 \"u\"\n#define PRIx32 \"x\"\n"
                   "#define PRId64 \"lld\"\n#define PRIu64 \"llu\"\n#define PRIx64 \"llx\"\n"},
    {"cinttypes", OF_C("inttypes.h", "")},
    {"float.h", float_h},
    {"cfloat", OF_C("float.h", "")},
    {"math.h", math_h},
    {"cmath", OF_C("math.h", USING_MATH)},
    {"assert.h", "#pragma once\n"}, // NVRTC has assert
    {"cassert", "#pragma once\n"},
    {"stdio.h", "#pragma once\n"}, // and printf
    {"cstdio", OF_C("stdio.h", "using ::printf;\n")},
    {"stdlib.h", "#pragma once\n#define EXIT_SUCCESS 0\n#define EXIT_FAILURE 1\n"},
    {"cstdlib", OF_C("stdlib.h", "using ::size_t; using ::malloc; using ::free; using ::abs;\n")},
    {"string.h", "#pragma once\n"},
    {"cstring", OF_C("string.h", "using ::size_t; using ::memcpy; using ::memset;\n")},
    {"stddef.h", "#pragma once\n#ifndef offsetof\n"
                 "#define offsetof(type, member) ((::size_t)((char *)&((type *)0)->member - (char *)0))\n"
                 "#endif\n"},
    {"cstddef", OF_C("stddef.h", "using ::size_t; using ::ptrdiff_t; using nullptr_t = decltype(nullptr);\n")},
    {"stdbool.h", "#pragma once\n"},
    {"time.h", "#pragma once\n"}, // and clock
    {"ctime", OF_C("time.h", "using ::clock;\n")},
    {"sys/types.h", "#pragma once\nusing uint = unsigned int;\nusing ushort = unsigned short;\n"
                    "using ulong = unsigned long;\n"},
    {"algorithm", algorithm},
    {"type_traits", OF_LIBCUXX("type_traits")},
    {"limits", OF_LIBCUXX("limits")},
    {"utility", OF_LIBCUXX("utility")},
    {"tuple", OF_LIBCUXX("tuple")},
    {"array", OF_LIBCUXX("array")},
    {"functional", OF_LIBCUXX("functional")},
    {"iterator", OF_LIBCUXX("iterator")},
    {"numeric", OF_LIBCUXX("numeric")},
    {"bit", OF_LIBCUXX("bit")},
    {"initializer_list", "#pragma once\n"}, // NVRTC has it
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
// clang-format on

const struct host_header *host_header_find(const char *name)
{
    for (const struct host_header *h = host_headers; h->name; h++)
        if (!strcmp(h->name, name)) return h;
    return NULL;
}
