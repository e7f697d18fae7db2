// Host headers that NVRTC lacks: stand-ins are compiled instead, can be switched off, and are part of the source's
// hash. The toolkit's and the user's own headers take precedence.
#include "tests/e2e.h"
#include "tests/testing.h"

#include "tuner/source/host_headers.h"
#include "tuner/source/source.h"

#define ALL_SIZES                                                                                          \
    "static_assert(sizeof(int8_t) == 1 && sizeof(uint16_t) == 2 && sizeof(int32_t) == 4, \"\");\n"         \
    "static_assert(sizeof(int64_t) == 8 && sizeof(uintptr_t) == 8 && sizeof(uint_fast64_t) == 8, \"\");\n" \
    "static_assert((int8_t)-1 < 0 && (uint8_t)-1 > 0 && (uint64_t)-1 > 0 && (int64_t)-1 < 0, \"\");\n"     \
    "static_assert(INT64_MAX == 9223372036854775807LL && UINT32_MAX == 4294967295u && SIZE_MAX > 0, \"\");\n"
#define ALL_LIMITS                                                                                   \
    "static_assert(INT_MAX == 2147483647 && INT_MIN < -INT_MAX && UINT_MAX == 4294967295u, \"\");\n" \
    "static_assert(CHAR_BIT == 8 && LLONG_MAX == 9223372036854775807LL && USHRT_MAX == 65535, \"\");\n"
#define ALL_REALS "static_assert(FLT_MAX > 3.4e38f && FLT_MIN > 0 && FLT_EPSILON < 1.2e-7f && DBL_MAX > 1e308, \"\");\n"

// The body of a kernel with the argument `int *p`, after some lines of includes and declarations.
static const struct {
    const char *before, *body;
    const char *refused; // the compiler's message; NULL: it compiles
    bool without;        // stand-ins are switched off
} cases[] = {
    {"#include <stdint.h>\n" ALL_SIZES, "uint8_t x = (uint8_t)*p; *p = x + (int)INT64_C(3);", NULL, false},
    {"#include <cstdint>\n" ALL_SIZES, "std::uint32_t x = 1; *p = (int)x;", NULL, false},
    {"#include <limits.h>\n" ALL_LIMITS, "*p = INT_MAX;", NULL, false},
    {"#include <climits>\n" ALL_LIMITS, "*p = INT_MAX;", NULL, false},
    {"#include <float.h>\n" ALL_REALS, "*p = FLT_MAX > *p;", NULL, false},
    {"#include <cfloat>\n" ALL_REALS, "*p = DBL_MAX > *p;", NULL, false},
    {"#include <math.h>\n", "constexpr float f = INFINITY; *p = isinf(f) + isnan(NAN) + (int)(sqrtf(2.f) * M_PI);",
     NULL, false},
    {"#include <cmath>\n", "*p = (int)(std::sqrt(2.f) + std::fabs(-1.0) + std::pow(2.f, 3.f) + std::isnan(1.f));", NULL,
     false},
    {"#include <assert.h>\n", "assert(*p > 0);", NULL, false},
    {"#include <cassert>\n", "assert(*p > 0 && \"positive\");", NULL, false},
    {"#include <stdio.h>\n", "printf(\"%d\\n\", *p);", NULL, false},
    {"#include <cstdio>\n", "std::printf(\"%d\\n\", *p);", NULL, false},
    {"#include <stdlib.h>\n", "int *q = (int *)malloc(4); free(q); *p = abs(-1) + EXIT_FAILURE;", NULL, false},
    {"#include <cstdlib>\n", "*p = std::abs(-1);", NULL, false},
    {"#include <string.h>\n", "memcpy(p, p + 1, 4); memset(p, 0, 4);", NULL, false},
    {"#include <cstring>\n", "std::memcpy(p, p + 1, 4);", NULL, false},
    {"#include <stddef.h>\nstruct s { char c; double d; };\nstatic_assert(sizeof(size_t) == 8, \"\");\n",
     "*p = (int)offsetof(s, d);", NULL, false},
    {"#include <cstddef>\n", "std::size_t n = 1; *p = (int)n; std::nullptr_t z = nullptr;", NULL, false},
    {"#include <stdbool.h>\n", "bool b = true; *p = b;", NULL, false},
    {"#include <inttypes.h>\n", "printf(\"%\" PRIu64 \"\\n\", (uint64_t)*p);", NULL, false},
    {"#include <cinttypes>\n", "int64_t x = 1; *p = (int)x;", NULL, false},
    {"#include <sys/types.h>\n", "uint a = 1; ushort b = 2; ulong c = 3; *p = (int)(a + b + c);", NULL, false},
    {"#include <algorithm>\n", "*p = std::min(*p, 2) + std::max(*p, 3) + std::clamp(*p, 0, 1); std::swap(p[0], p[1]);",
     NULL, false},
    {"#include <time.h>\n#include <ctime>\n", "*p = (int)clock();", NULL, false},
    {"#include <limits>\n", "*p = std::numeric_limits<int>::max();", NULL, false},
    {"#include <cuda_runtime.h>\n#include <device_launch_parameters.h>\n#include <stdint.h>\n",
     "uint8_t x = 1; *p = x;", NULL, false},
    {"#include <cuda.h>\n", "static_assert(sizeof(CUtensorMap) == 128, \"\"); *p = CUDA_VERSION;", NULL, false},
    {"#include <cudaTypedefs.h>\n#include <stdint.h>\n#include <cuda/barrier>\n",
     "uint32_t x = CUDA_VERSION; *p = (int)x;", NULL, false},
    // The toolkit's headers find each other. Their definitions agree with ours, whichever are included first.
    {"#include <stdint.h>\n#include <limits.h>\n#include <cuda/std/cstdint>\n#include <cuda/std/climits>\n"
     "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <mma.h>\n" ALL_SIZES ALL_LIMITS,
     "*p = 1;", NULL, false},
    {"#include <cooperative_groups.h>\n#include <cuda/std/cstdint>\n#include <cuda/std/climits>\n#include <cstdint>\n"
     "#include <climits>\n" ALL_SIZES ALL_LIMITS,
     "*p = (int)cooperative_groups::this_thread_block().size();", NULL, false},
    // Names that nvcc predefines.
    {"", "uint a = 1; uint32_t b = 2; int64_t c = 3; *p = (int)(a + b + c);", NULL, false},
    {"", "*p = (INFINITY > 1.f) + (*p < INT_MAX) + (FLT_MAX > 1.f) + (int)M_PI + isnan(NAN);", NULL, false},
    {"typedef unsigned long uint64_t;\n#define INFINITY 5\nusing uint = unsigned char;\n",
     "uint a = 1; uint64_t b = INFINITY; *p = (int)(a + b);", NULL, false},
    {"// uint is a word of a comment\nstruct not_uint {};\n", "*p = 1;", NULL, false},
    {"#if !__has_include(<stdint.h>) || __has_include(<vector>)\n#error which\n#endif\n", "*p = 1;", NULL, false},
    // Without the stand-ins.
    {"#include <stdint.h>\n", "*p = 1;", "cannot open source file \\\"stdint.h\\\"", true},
    {"", "uint a = 1; *p = (int)a;", "identifier \\\"uint\\\" is undefined", true},
    {"#include <vector>\n", "*p = 1;", "cannot open source file \\\"vector\\\"", false},
    {"#include \"LICENSE\"\n", "*p = 1;", "cannot open source file \\\"LICENSE\\\"",
     false},                                                      // in the compiler's own folder
    {"#include \"own/float.h\"\n", "*p = FLT_MAX;", NULL, false}, // the user's own
};
enum { CASES = sizeof cases / sizeof *cases };

TEST(kernels_with_headers_of_the_host_compile)
{
    char *folder = e2e_folder("host_headers");
    autorelease(text_release) struct text requests = {0};
    struct e2e_result r = e2e_in(folder, "mkdir own && echo '#define FLT_MAX 3' >own/float.h && pwd");
    r.out[strcspn(r.out, "\n")] = 0;
    for (size_t i = 0; i < CASES; i++) {
        char *name = test_text("%zu.cu", i),
             *text = test_text("%sextern \"C\" __global__ void k(int *p)\n{\n%s\n}\n", cases[i].before, cases[i].body);
        e2e_write(folder, name, text);
        text_add(&requests,
                 "{\"id\":%zu,\"op\":\"compile\",\"arch\":\"sm_90a\",\"source\":\"%s/"
                 "%s\",\"include\":[],\"entries\":[\"k\"],\"options\":[],\"defines\":{}%s}\n",
                 i, r.out, name, cases[i].without ? ",\"host_headers\":false" : "");
    }
    e2e_write(folder, "requests", requests.text);
    r = e2e_run(folder, "$BIN/sweetspot-compile <$DIR/requests");
    char *rest, *line = strtok_r(r.out, "\n", &rest);
    for (size_t i = 0; i < CASES; i++, line = strtok_r(NULL, "\n", &rest)) {
        if (!line) fail_msg("no answer to case %zu: %s", i, r.err);
        bool good = strstr(line, "\"status\":\"ok\"") != NULL,
             as_wanted = cases[i].refused ? strstr(line, cases[i].refused) != NULL : good;
        if (!as_wanted) fail_msg("%s%s\n%s", cases[i].before, cases[i].body, line);
    }
}

static void hash_of(const char *path, bool offered, char hash[HASH_TEXT_SIZE])
{
    struct error err;
    if (source_hash(&(struct source_request){.path = path, .host_headers = offered}, hash, &err))
        fail_msg("%s", err.message);
}

TEST(stand_ins_count_in_the_hash_where_they_are_used)
{
    static const struct {
        const char *text;
        bool used;
    } sources[] = {
        {"#include <stdint.h>\n", true}, {"__device__ uint x;\n", true},         {"__device__ int x;\n", false},
        {"#include <vector>\n", false},  {"#define uint int\nuint x;\n", false},
    };
    char *folder = e2e_folder("host_hash"), *path = test_text("%s/x.cu", folder);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char with[HASH_TEXT_SIZE], without[HASH_TEXT_SIZE];
        e2e_write(folder, "x.cu", sources[i].text);
        hash_of(path, true, with);
        hash_of(path, false, without);
        if (!strcmp(with, without) == sources[i].used) fail_msg("%s", sources[i].text);
    }
}

TEST(words_lead_to_stand_ins_that_have_them)
{
    for (const struct host_word *w = host_words; w->word; w++) {
        const struct host_header *h = host_header_find(w->header);
        if (!h || !strstr(h->text, w->word)) fail_msg("%s", w->word);
    }
    assert_null(host_header_find("vector"));
}

TEST_MAIN(NULL, NULL)
