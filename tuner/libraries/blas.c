// See blas.h. cuBLAS is column-major: the row-major C = A*B is computed as its transpose, C' = B'*A'.
#include "tuner/libraries/blas.h"

#include <assert.h>
#include <cublasLt.h>
#include <cublas_v2.h>

#include "tuner/libraries/library.h"

// clang-format off
#define CUBLAS_FUNCTIONS(X) \
    X(cublasCreate) X(cublasDestroy) X(cublasSetStream) X(cublasSetWorkspace) X(cublasGetProperty) \
    X(cublasSetPointerMode) X(cublasSetMathMode) X(cublasGemmEx_64) X(cublasGemmStridedBatchedEx_64) \
    X(cublasSgemv_64) X(cublasDgemv_64) \
    X(cublasAsumEx_64) X(cublasNrm2Ex_64) X(cublasDotEx_64) X(cublasIsamax_64) X(cublasIdamax_64) \
    X(cublasSgeam_64) X(cublasDgeam_64) \
    X(cublasGetStatusString)
#define LT_FUNCTIONS(X) \
    X(cublasLtCreate) X(cublasLtDestroy) X(cublasLtMatmul) X(cublasLtMatmulAlgoGetHeuristic) \
    X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy) X(cublasLtMatmulDescSetAttribute) \
    X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy) X(cublasLtMatrixLayoutSetAttribute) \
    X(cublasLtMatmulPreferenceCreate) \
    X(cublasLtMatmulPreferenceDestroy) X(cublasLtMatmulPreferenceSetAttribute) X(cublasLtMatmulAlgoConfigGetAttribute)
// clang-format on

// Found by load().
static struct {
    CUBLAS_FUNCTIONS(LIBRARY_MEMBER)
} lib;
static struct {
    LT_FUNCTIONS(LIBRARY_MEMBER)
} lt;

enum { WORKSPACE = 64 << 20 };

struct blas {
    struct cuda *cuda;
    cublasHandle_t handle;
    cublasLtHandle_t lt;
    uint64_t workspace;
    char version[32];
};

struct blas_plan {
    cublasLtMatmulDesc_t description;
    cublasLtMatrixLayout_t a, b, c; // in cuBLAS's order: a is the layout of our B
    cublasLtMatmulAlgo_t algorithm;
};

// 0 if a call succeeded, otherwise -1 with cuBLAS's message.
static int check(struct error *err, cublasStatus_t status, const char *what)
{
    return status ? error_set(err, "%s: %s", what, lib.cublasGetStatusString(status)) : 0;
}

// Opens the newest installed version of a library. cuBLAS finds cublasLt among the global symbols.
static void *open_newest(const char *stem, struct error *err)
{
    struct error why = {""}, last;
    for (int major = 13; major >= 12; major--) {
        char name[32];
        snprintf(name, sizeof name, "%s.so.%d", stem, major);
        void *library = library_open(name, true, true, *why.message ? &last : &why);
        if (library) return library;
    }
    error_set(err,
              "%s.so.13 and .12 cannot be opened (%s); install the CUDA toolkit's cuBLAS, set CUDA_HOME, or set by = "
              "\"cpu\" in the job's reference",
              stem, why.message);
    return NULL;
}

static int load(struct error *err)
{
    static const struct library_symbol symbols[] = {CUBLAS_FUNCTIONS(LIBRARY_SYMBOL)},
                                       lt_symbols[] = {LT_FUNCTIONS(LIBRARY_SYMBOL)};
    static bool loaded;
    struct error why;
    if (loaded) return 0;
    void *second = open_newest("libcublasLt", err), *first = second ? open_newest("libcublas", err) : NULL;
    if (!first) return -1;
    if (library_find(first, symbols, sizeof symbols / sizeof *symbols, &lib, &why) ||
        library_find(second, lt_symbols, sizeof lt_symbols / sizeof *lt_symbols, &lt, &why))
        return error_set(err, "this cuBLAS is too old: it has no %s; install that of CUDA 12 or newer", why.message);
    loaded = true;
    return 0;
}

int blas_probe(char version[32], struct error *err)
{
    int major = 0, minor = 0, patch = 0;
    if (load(err)) return -1;
    lib.cublasGetProperty(MAJOR_VERSION, &major);
    lib.cublasGetProperty(MINOR_VERSION, &minor);
    lib.cublasGetProperty(PATCH_LEVEL, &patch);
    snprintf(version, 32, "%d.%d.%d", major, minor, patch);
    return 0;
}

int blas_open(struct blas **out, struct cuda *cuda, struct error *err)
{
    *out = NULL;
    // The environment must not turn FP32 products into TF32 ones, or fp64 references into emulated ones.
    unsetenv("NVIDIA_TF32_OVERRIDE");
    unsetenv("CUBLAS_EMULATE_SINGLE_PRECISION");
    unsetenv("CUBLAS_EMULATE_DOUBLE_PRECISION");
    unsetenv("CUBLAS_EMULATION_STRATEGY");
    struct blas *b = memory_try(1, sizeof *b, err);
    if (!b) return -1;
    b->cuda = cuda;
    cublasStatus_t s;
    if (blas_probe(b->version, err) || cuda_alloc(WORKSPACE, &b->workspace, err)) goto out;
    if ((s = lib.cublasCreate(&b->handle)) || (s = lt.cublasLtCreate(&b->lt)) ||
        (s = lib.cublasSetStream(b->handle, cuda_stream(cuda))) ||
        (s = lib.cublasSetWorkspace(b->handle, (void *)b->workspace, WORKSPACE)) ||
        (s = lib.cublasSetMathMode(b->handle,
                                   CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION))) {
        check(err, s, "cannot start cuBLAS");
        goto out;
    }
    *out = b;
    return 0;
out:
    blas_close(b);
    return -1;
}

void blas_close(struct blas *b)
{
    if (!b) return;
    if (b->lt) lt.cublasLtDestroy(b->lt);
    if (b->handle) lib.cublasDestroy(b->handle);
    cuda_free(b->workspace);
    free(b);
}

// One of our products as cuBLAS sees it.
struct kind {
    cudaDataType_t in, out, scale;
    cublasComputeType_t compute;
    union {
        double f64;
        float f32;
        int32_t i32;
    } alpha, beta;
};

static int data_type(enum element type, cudaDataType_t *out)
{
    static const struct {
        bool known;
        cudaDataType_t type;
    } types[ELEMENT_COUNT] = {
        [ELEMENT_F64] = {true, CUDA_R_64F},   [ELEMENT_F32] = {true, CUDA_R_32F}, [ELEMENT_F16] = {true, CUDA_R_16F},
        [ELEMENT_BF16] = {true, CUDA_R_16BF}, [ELEMENT_I8] = {true, CUDA_R_8I},   [ELEMENT_I32] = {true, CUDA_R_32I},
    };
    *out = types[type].type;
    return types[type].known ? 0 : -1;
}

static int describe(const struct device_gemm *g, struct kind *k, struct error *err)
{
    if (g->a.type != g->b.type || data_type(g->a.type, &k->in) || data_type(g->c.type, &k->out))
        return error_set(err, "cuBLAS cannot multiply %s by %s into %s", element_name(g->a.type),
                         element_name(g->b.type), element_name(g->c.type));
    if (g->a.type == ELEMENT_F64) {
        k->scale = CUDA_R_64F;
        k->compute = CUBLAS_COMPUTE_64F;
        k->alpha.f64 = g->alpha;
        k->beta.f64 = g->beta;
    } else if (g->a.type == ELEMENT_I8) {
        k->scale = CUDA_R_32I;
        k->compute = CUBLAS_COMPUTE_32I;
        k->alpha.i32 = (int32_t)g->alpha;
        k->beta.i32 = (int32_t)g->beta;
    } else {
        k->scale = CUDA_R_32F;
        k->compute = g->a.type == ELEMENT_F32 && g->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
        k->alpha.f32 = (float)g->alpha;
        k->beta.f32 = (float)g->beta;
    }
    return 0;
}

// The rows of one product's operand, and the distance in elements to the next product's operand.
static int64_t rows(const struct device_gemm *g, const struct operand *o)
{
    return g->batch > 1 ? o->rows / g->batch : o->rows;
}

static int64_t stride(const struct device_gemm *g, const struct operand *o)
{
    return rows(g, o) * o->ld;
}

int blas_gemm(struct blas *b, const struct device_gemm *g, struct error *err)
{
    struct kind k;
    if (describe(g, &k, err)) return -1;
    cublasOperation_t first = g->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                      second = g->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const void *y = (const void *)g->b.device, *x = (const void *)g->a.device;
    void *c = (void *)g->c.device;
    cublasStatus_t s;
    if (g->batch > 1)
        s = lib.cublasGemmStridedBatchedEx_64(b->handle, first, second, g->n, g->m, g->k, &k.alpha, y, k.in, g->b.ld,
                                              stride(g, &g->b), x, k.in, g->a.ld, stride(g, &g->a), &k.beta, c, k.out,
                                              g->c.ld, stride(g, &g->c), g->batch, k.compute, CUBLAS_GEMM_DEFAULT);
    else
        s = lib.cublasGemmEx_64(b->handle, first, second, g->n, g->m, g->k, &k.alpha, y, k.in, g->b.ld, x, k.in,
                                g->a.ld, &k.beta, c, k.out, g->c.ld, k.compute, CUBLAS_GEMM_DEFAULT);
    return check(err, s, g->batch > 1 ? "cublasGemmStridedBatchedEx" : "cublasGemmEx");
}

int blas_gemv(struct blas *b, const struct device_gemm *g, struct error *err)
{
    // cuBLAS sees the transpose of the row-major A.
    cublasOperation_t how = g->transpose_a ? CUBLAS_OP_N : CUBLAS_OP_T;
    const void *a = (const void *)g->a.device, *x = (const void *)g->b.device;
    void *y = (void *)g->c.device;
    struct kind k;
    cublasStatus_t s;
    if (describe(g, &k, err)) return -1;
    if (g->a.type == ELEMENT_F64)
        s = lib.cublasDgemv_64(b->handle, how, g->a.cols, g->a.rows, &k.alpha.f64, a, g->a.ld, x, 1, &k.beta.f64, y, 1);
    else if (g->a.type == ELEMENT_F32)
        s = lib.cublasSgemv_64(b->handle, how, g->a.cols, g->a.rows, &k.alpha.f32, a, g->a.ld, x, 1, &k.beta.f32, y, 1);
    else
        return error_set(err, "cuBLAS has no gemv for %s", element_name(g->a.type));
    return check(err, s, "cublasSgemv or cublasDgemv");
}

static int run(struct blas *b, const struct device_gemm *g, const struct kind *k, const struct blas_plan *p,
               const cublasLtMatmulAlgo_t *algorithm, struct error *err)
{
    cublasStatus_t s =
        lt.cublasLtMatmul(b->lt, p->description, &k->alpha, (const void *)g->b.device, p->a, (const void *)g->a.device,
                          p->b, &k->beta, (const void *)g->c.device, p->c, (void *)g->c.device, p->c, algorithm,
                          (void *)b->workspace, WORKSPACE, cuda_stream(b->cuda));
    return check(err, s, "cublasLtMatmul");
}

// The median of three timed runs after a warm-up run; if a run takes longer than 50 ms, only one is timed.
static int time_algorithm(struct blas *b, const struct device_gemm *g, const struct kind *k, const struct blas_plan *p,
                          const cublasLtMatmulAlgo_t *algorithm, struct cuda_event *event[2], double *seconds,
                          struct error *err)
{
    double best[3];
    int failed;
    if ((failed = run(b, g, k, p, algorithm, err)) || (failed = cuda_sync(b->cuda, err))) return failed;
    for (int i = 0; i < 3; i++) {
        if ((failed = cuda_event_record(b->cuda, event[0], err)) || (failed = run(b, g, k, p, algorithm, err)) ||
            (failed = cuda_event_record(b->cuda, event[1], err)) || (failed = cuda_sync(b->cuda, err)) ||
            (failed = cuda_event_seconds(event[0], event[1], &best[i], err)))
            return failed;
        if (best[i] > 0.05) {
            *seconds = best[i];
            return 0;
        }
    }
    double high = best[0] > best[1] ? best[0] : best[1], low = best[0] + best[1] - high;
    *seconds = best[2] > high ? high : best[2] < low ? low : best[2];
    return 0;
}

// The attributes that distinguish algorithms, with the sizes that cublasLt expects.
static const struct {
    cublasLtMatmulAlgoConfigAttributes_t which;
    size_t size;
} attributes[] = {
    {CUBLASLT_ALGO_CONFIG_ID, 4},
    {CUBLASLT_ALGO_CONFIG_TILE_ID, 4},
    {CUBLASLT_ALGO_CONFIG_STAGES_ID, 4},
    {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4},
    {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2},
    {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2},
    {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4},
    {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4},
    {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4},
};
enum { ID, TILE, STAGES, SPLIT_K, CLUSTER, INNER_SHAPE, SWIZZLE, CUSTOM, REDUCTION, ATTRIBUTES };
static_assert(sizeof attributes / sizeof *attributes == ATTRIBUTES, "one for each");

static void describe_algorithm(const cublasLtMatmulAlgo_t *algorithm, uint32_t to[ATTRIBUTES])
{
    for (int i = 0; i < ATTRIBUTES; i++) {
        size_t written;
        to[i] = 0; // an attribute of two bytes fills the lower half
        lt.cublasLtMatmulAlgoConfigGetAttribute(algorithm, attributes[i].which, &to[i], attributes[i].size, &written);
    }
}

// "tile 128x256" for the usual tiles; cublasLt's number for other tiles.
#define TILE_NAME(shape) [CUBLASLT_MATMUL_TILE_##shape] = #shape
static const char *const tiles[] = {TILE_NAME(16x16),   TILE_NAME(16x32),   TILE_NAME(32x16),   TILE_NAME(32x32),
                                    TILE_NAME(32x64),   TILE_NAME(64x32),   TILE_NAME(32x128),  TILE_NAME(64x64),
                                    TILE_NAME(128x32),  TILE_NAME(64x128),  TILE_NAME(128x64),  TILE_NAME(64x256),
                                    TILE_NAME(128x128), TILE_NAME(256x64),  TILE_NAME(64x512),  TILE_NAME(128x256),
                                    TILE_NAME(256x128), TILE_NAME(512x64),  TILE_NAME(64x96),   TILE_NAME(96x64),
                                    TILE_NAME(96x128),  TILE_NAME(128x160), TILE_NAME(160x128), TILE_NAME(192x128),
                                    TILE_NAME(128x192), TILE_NAME(128x96),  TILE_NAME(32x256),  TILE_NAME(256x32)};
#define CLUSTER_NAME(shape) [CUBLASLT_CLUSTER_SHAPE_##shape] = #shape
static const char *const clusters[] = {[CUBLASLT_CLUSTER_SHAPE_AUTO] = "auto",
                                       CLUSTER_NAME(1x1x1),
                                       CLUSTER_NAME(2x1x1),
                                       CLUSTER_NAME(4x1x1),
                                       CLUSTER_NAME(1x2x1),
                                       CLUSTER_NAME(2x2x1),
                                       CLUSTER_NAME(4x2x1),
                                       CLUSTER_NAME(1x4x1),
                                       CLUSTER_NAME(2x4x1),
                                       CLUSTER_NAME(4x4x1),
                                       CLUSTER_NAME(8x1x1),
                                       CLUSTER_NAME(1x8x1),
                                       CLUSTER_NAME(16x1x1)};
enum { SHAPE_NAME = 24 };

static void name_shape(char to[SHAPE_NAME], const char *const *names, size_t count, uint32_t number)
{
    bool known = number < count && names[number];
    if (known)
        snprintf(to, SHAPE_NAME, "%s", names[number]);
    else
        snprintf(to, SHAPE_NAME, "number %u", number);
}

static void name_algorithm(const uint32_t has[ATTRIBUTES], int number, char detail[OPERATION_DETAIL_MAX])
{
    char tile[SHAPE_NAME], cluster[SHAPE_NAME], split[SHAPE_NAME];
    snprintf(split, sizeof split, "%d", (int)has[SPLIT_K]);
    name_shape(tile, tiles, sizeof tiles / sizeof *tiles, has[TILE]);
    name_shape(cluster, clusters, sizeof clusters / sizeof *clusters, has[CLUSTER]);
    snprintf(detail, OPERATION_DETAIL_MAX, "heuristic %d: algorithm %u, tile %s, stages %u, cluster %s, split-K %s",
             number, has[ID], tile, has[STAGES], cluster, has[SPLIT_K] == UINT32_MAX ? "auto" : split);
}

// Asks cublasLt for its first algorithms for the plan's product.
static int ask(struct blas *b, const struct blas_plan *p, int wanted, cublasLtMatmulHeuristicResult_t *found,
               int *count, struct error *err)
{
    cublasLtMatmulPreference_t preference = NULL;
    size_t workspace = WORKSPACE;
    uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE; // reduction in place would use the type of C
    cublasStatus_t s;
    *count = 0;
    if (!(s = lt.cublasLtMatmulPreferenceCreate(&preference)) &&
        !(s = lt.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                                      sizeof workspace)) &&
        !(s = lt.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                      &reductions, sizeof reductions)))
        s = lt.cublasLtMatmulAlgoGetHeuristic(b->lt, p->description, p->a, p->b, p->c, p->c, preference, wanted, found,
                                              count);
    if (preference) lt.cublasLtMatmulPreferenceDestroy(preference);
    return check(err, s, "cublasLt's heuristics");
}

static int choose(struct blas *b, const struct device_gemm *g, const struct kind *k, struct blas_plan *p,
                  struct error *err)
{
    enum { TRIED = 8 };
    cublasLtMatmulHeuristicResult_t found[TRIED];
    struct cuda_event *event[2] = {NULL, NULL};
    int count, best = -1, failed = -1;
    double least = 0;
    if (ask(b, p, TRIED, found, &count, err)) return -1;
    if (cuda_event_create(&event[0], err) || cuda_event_create(&event[1], err)) goto out;
    for (int i = 0; i < count; i++) {
        double seconds;
        if (found[i].state) continue;
        failed = time_algorithm(b, g, k, p, &found[i].algo, event, &seconds, err);
        if (failed == CUDA_CRASHED) goto out;
        if (!failed && (best < 0 || seconds < least)) {
            best = i;
            least = seconds;
        }
    }
    failed = best < 0 ? error_set(err, "none of cublasLt's %d algorithms runs", count) : 0;
    if (!failed) p->algorithm = found[best].algo;
out:
    cuda_event_destroy(event[0]);
    cuda_event_destroy(event[1]);
    return failed;
}

// Writes an algorithm as text: the version of cublasLt, then the structure's words, which other versions would read
// differently. cublasLt.h allows the structure to be stored.
static void write_way(const struct blas *b, const cublasLtMatmulAlgo_t *algorithm, char to[OPERATION_WAY_MAX])
{
    int length = snprintf(to, OPERATION_WAY_MAX, "%s", b->version);
    for (size_t i = 0; i < sizeof algorithm->data / sizeof *algorithm->data; i++)
        length += snprintf(to + length, OPERATION_WAY_MAX - (size_t)length, " %" PRIx64, algorithm->data[i]);
}

static int read_way(const struct blas *b, const char *way, cublasLtMatmulAlgo_t *algorithm, struct error *err)
{
    char again[OPERATION_WAY_MAX], *end = strchr(way, ' ');
    for (size_t i = 0; end && i < sizeof algorithm->data / sizeof *algorithm->data; i++)
        algorithm->data[i] = strtoull(end, &end, 16);
    write_way(b, algorithm, again);
    return strcmp(again, way) ? error_set(err, "'%s' is not an algorithm of cublasLt %s", way, b->version) : 0;
}

// Makes the layout of one product's operand, with the number of products in the batch.
static cublasStatus_t describe_operand(const struct device_gemm *g, const struct operand *o, cudaDataType_t type,
                                       cublasLtMatrixLayout_t *to)
{
    int32_t batch = (int32_t)g->batch;
    int64_t step = stride(g, o);
    cublasStatus_t s = lt.cublasLtMatrixLayoutCreate(to, type, (uint64_t)o->cols, (uint64_t)rows(g, o), o->ld);
    if (s || g->batch <= 1) return s;
    s = lt.cublasLtMatrixLayoutSetAttribute(*to, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
    return s ? s
             : lt.cublasLtMatrixLayoutSetAttribute(*to, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step,
                                                   sizeof step);
}

static int open_plan(const struct device_gemm *g, struct kind *k, struct blas_plan **out, struct error *err)
{
    *out = NULL;
    if (describe(g, k, err)) return -1;
    if (g->batch > INT32_MAX) return error_set(err, "cublasLt takes at most 2147483647 products at once");
    struct blas_plan *p = *out = memory_try(1, sizeof *p, err);
    if (!p) return -1;
    cublasOperation_t first = g->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                      second = g->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasStatus_t s;
    if ((s = lt.cublasLtMatmulDescCreate(&p->description, k->compute, k->scale)) ||
        (s = lt.cublasLtMatmulDescSetAttribute(p->description, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first)) ||
        (s = lt.cublasLtMatmulDescSetAttribute(p->description, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second)) ||
        (s = describe_operand(g, &g->b, k->in, &p->a)) || (s = describe_operand(g, &g->a, k->in, &p->b)) ||
        (s = describe_operand(g, &g->c, k->out, &p->c)))
        return check(err, s, "cublasLt");
    return 0;
}

int blas_list_gemm(struct blas *b, const struct device_gemm *g, struct operation_way ways[OPERATION_WAYS_MAX],
                   size_t *count, struct error *err)
{
    cublasLtMatmulHeuristicResult_t found[OPERATION_WAYS_MAX];
    uint32_t has[OPERATION_WAYS_MAX][ATTRIBUTES];
    struct kind k;
    struct blas_plan *p;
    int all = 0, failed = open_plan(g, &k, &p, err);
    if (!failed) failed = ask(b, p, OPERATION_WAYS_MAX, found, &all, err);
    blas_plan_free(p);
    *count = 0;
    for (int i = 0; i < all && !failed; i++) {
        size_t same = 0;
        describe_algorithm(&found[i].algo, has[*count]);
        while (memcmp(has[same], has[*count], sizeof *has) != 0) same++;
        if (found[i].state || same < *count) continue;
        write_way(b, &found[i].algo, ways[*count].text);
        name_algorithm(has[*count], i + 1, ways[*count].detail);
        ++*count;
    }
    return failed;
}

int blas_plan_gemm(struct blas *b, const struct device_gemm *g, const char *way, struct blas_plan **out,
                   struct error *err)
{
    struct kind k;
    int failed = open_plan(g, &k, out, err);
    if (!failed) failed = way ? read_way(b, way, &(*out)->algorithm, err) : choose(b, g, &k, *out, err);
    if (!failed) return 0;
    blas_plan_free(*out);
    *out = NULL;
    return failed;
}

int blas_run_plan(struct blas *b, const struct device_gemm *g, const struct blas_plan *p, struct error *err)
{
    struct kind k;
    if (describe(g, &k, err)) return -1;
    return run(b, g, &k, p, &p->algorithm, err);
}

void blas_plan_free(struct blas_plan *p)
{
    if (!p) return;
    if (p->a) lt.cublasLtMatrixLayoutDestroy(p->a);
    if (p->b) lt.cublasLtMatrixLayoutDestroy(p->b);
    if (p->c) lt.cublasLtMatrixLayoutDestroy(p->c);
    if (p->description) lt.cublasLtMatmulDescDestroy(p->description);
    free(p);
}

// The vector routines, for any type. Results are written on the device, so that nothing waits.
static const char *const vector_names[] = {[VECTOR_ASUM] = "cublasAsumEx",
                                           [VECTOR_NRM2] = "cublasNrm2Ex",
                                           [VECTOR_DOT] = "cublasDotEx",
                                           [VECTOR_IAMAX] = "cublasI?amax"};

// Checks whether a routine accepts an operand, and finds cuBLAS's constant for its type.
static int vector_type(const struct operand *x, const struct operand *result, const char *what, cudaDataType_t *type,
                       struct error *err)
{
    if (x->ld != x->cols && x->rows > 1) return error_set(err, "%s needs dense data", what);
    if (!element_is_float(x->type) || data_type(x->type, type))
        return error_set(err, "%s does not support %s into %s", what, element_name(x->type),
                         element_name(result->type));
    return 0;
}

int blas_vector(struct blas *b, enum vector_routine which, const struct operand *x, const struct operand *y,
                const struct operand *result, struct error *err)
{
    const void *from = (const void *)x->device;
    const char *what = vector_names[which];
    void *to = (void *)result->device;
    int64_t n = x->rows * x->cols;
    cudaDataType_t in, other = CUDA_R_32F, out = CUDA_R_32F, compute = x->type == ELEMENT_F64 ? CUDA_R_64F : CUDA_R_32F;
    if (vector_type(x, result, what, &in, err) || (y && vector_type(y, result, what, &other, err))) return -1;
    bool fits = which == VECTOR_IAMAX
                    ? result->type == ELEMENT_I64 && (x->type == ELEMENT_F32 || x->type == ELEMENT_F64)
                    : !data_type(result->type, &out);
    if (!fits)
        return error_set(err, "%s does not support %s into %s", what, element_name(x->type),
                         element_name(result->type));
    cublasStatus_t s = lib.cublasSetPointerMode(b->handle, CUBLAS_POINTER_MODE_DEVICE);
    if (s) return check(err, s, what);
    if (which == VECTOR_ASUM)
        s = lib.cublasAsumEx_64(b->handle, n, from, in, 1, to, out, compute);
    else if (which == VECTOR_NRM2)
        s = lib.cublasNrm2Ex_64(b->handle, n, from, in, 1, to, out, compute);
    else if (y)
        s = lib.cublasDotEx_64(b->handle, n, from, in, 1, (const void *)y->device, other, 1, to, out, compute);
    else if (x->type == ELEMENT_F64)
        s = lib.cublasIdamax_64(b->handle, n, from, 1, to);
    else
        s = lib.cublasIsamax_64(b->handle, n, from, 1, to);
    lib.cublasSetPointerMode(b->handle, CUBLAS_POINTER_MODE_HOST);
    return check(err, s, what);
}

int blas_transpose(struct blas *b, const struct operand *from, const struct operand *to, struct error *err)
{
    const float one = 1, zero = 0;
    const double one_wide = 1, zero_wide = 0;
    cublasStatus_t s;
    if (from->type != to->type || (from->type != ELEMENT_F32 && from->type != ELEMENT_F64))
        return error_set(err, "cublas?geam needs f32 or f64");
    // Column-major, `from` is cols x rows; the result, column-major, is rows x cols with the leading dimension of `to`.
    if (from->type == ELEMENT_F32)
        s = lib.cublasSgeam_64(b->handle, CUBLAS_OP_T, CUBLAS_OP_N, from->rows, from->cols, &one,
                               (const float *)from->device, from->ld, &zero, (const float *)to->device, to->ld,
                               (float *)to->device, to->ld);
    else
        s = lib.cublasDgeam_64(b->handle, CUBLAS_OP_T, CUBLAS_OP_N, from->rows, from->cols, &one_wide,
                               (const double *)from->device, from->ld, &zero_wide, (const double *)to->device, to->ld,
                               (double *)to->device, to->ld);
    return check(err, s, "cublas?geam");
}
