/* Computes C = A*B through sweetspot_runtime.c, with the kernel of tests/test_gpu_header.c's FP32 job, and compares the
 * result with the CPU's. The kernel is loaded while a graph is captured, in a second context, and from a folder. Also
 * tests refusals. The arguments are the folder and a cubin for sm_80, which the newer GPU cannot load. */
#define SWEETSPOT_DECLARATIONS
#include "sweetspot_runtime.c"

#include "gpu.h"

SWEETSPOT_KERNELS(sgemm);

enum { M = 512, N = 384, K = 256 };

static float a[M * K], b[K * N], expected[M * N];
static const long long sizes[3] = {M, N, K}, too_large[3] = {1 << 20, N, K};
static char notices[4096], misses[256];

static void notice(void *user, const char *text)
{
    (void)user;
    snprintf(notices + strlen(notices), sizeof notices - strlen(notices), "%s\n", text);
}

static void miss(void *user, const char *text)
{
    (void)user;
    snprintf(misses + strlen(misses), sizeof misses - strlen(misses), "%s;", text);
}

static const struct sweetspot_callbacks callbacks = {0, notice, miss, 0};

static void make_buffers(CUdeviceptr buffers[3])
{
    buffers[0] = upload(a, sizeof a);
    buffers[1] = upload(b, sizeof b);
    buffers[2] = upload(0, sizeof expected);
}

/* Compares, and overwrites the result. */
static void check(CUdeviceptr result)
{
    int i;
    float *c = (float *)download(result, sizeof expected);
    for (i = 0; i < M * N; i++) EXPECT(c[i] == expected[i]);
    free(c);
    MUST(cuMemsetD8(result, 255, sizeof expected));
}

static void check_capture(struct sweetspot *set, const CUdeviceptr *buffers)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    float *c;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(sweetspot_launch(set, stream, sizes, buffers));
    MUST(cuStreamEndCapture(stream, &graph));
    c = (float *)download(buffers[2], sizeof expected);
    EXPECT(c[0] != c[0]); /* nothing has been launched */
    free(c);
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    check(buffers[2]);
}

static void check_refusals(struct sweetspot *set, const CUdeviceptr *buffers)
{
    CUdeviceptr other[3];
    memcpy(other, buffers, sizeof other);
    EXPECT(sweetspot_launch(set, 0, too_large, buffers) == SWEETSPOT_SIZES);
    EXPECT(!strcmp(misses, "M=1048576,N=384,K=256;"));
    other[0] += 4;
    EXPECT(sweetspot_launch(set, 0, sizes, other) == SWEETSPOT_MISALIGNED);
    other[0] = (CUdeviceptr)(size_t)a / 64 * 64;
    EXPECT(sweetspot_launch(set, 0, sizes, other) == SWEETSPOT_OTHER_DEVICE); /* host memory */
    other[0] = 0;
    EXPECT(sweetspot_launch(set, 0, sizes, other) == SWEETSPOT_NO_POINTER);
}

static void check_context(struct sweetspot *set)
{
    CUcontext context, last;
    CUdeviceptr buffers[3];
    CUdevice device;
    MUST(cuCtxGetDevice(&device));
#if CUDA_VERSION >= 13000
    MUST(cuCtxCreate(&context, 0, 0, device));
#else
    MUST(cuCtxCreate(&context, 0, device));
#endif
    make_buffers(buffers);
    MUST(sweetspot_launch(set, 0, sizes, buffers));
    check(buffers[2]);
    MUST(cuCtxPopCurrent(&last));
    MUST(cuCtxDestroy(context));
}

/* PTX of a later version, and a cubin for another architecture. */
static void check_images(const char *cubin, const CUdeviceptr *buffers)
{
    static const char ptx[] = ".version 99.0\n.target sm_50\n.address_size 64\n";
    static unsigned char image[1 << 16];
    struct sweetspot_embedded one[2] = {{0, 0}, {0, 0}};
    FILE *file = fopen(cubin, "rb");
    int i;
    EXPECT(file && fread(image, 1, sizeof image, file) > 4);
    fclose(file);
    for (i = 0; i < 2; i++) {
        struct sweetspot *set = sweetspot_new(&callbacks);
        *notices = 0;
        one[0].text = sgemm_embedded[0].text;
        one[0].image = i ? image : (const unsigned char *)ptx;
        EXPECT(!sweetspot_add(set, one));
        EXPECT(sweetspot_launch(set, 0, sizes, buffers) == (i ? SWEETSPOT_NO_BINARY : SWEETSPOT_OLD_DRIVER));
        EXPECT(strstr(notices, "sgemm cannot be loaded: "));
        sweetspot_free(set);
    }
}

int main(int argc, char **argv)
{
    struct sweetspot *set, *other;
    CUdeviceptr buffers[3];
    int i;
    for (i = 0; i < M * K; i++) a[i] = (float)small_number();
    for (i = 0; i < K * N; i++) b[i] = (float)small_number();
    add_product(M, N, K, a, b, expected);
    begin();
    EXPECT(argc == 3);
    make_buffers(buffers);
    set = sweetspot_new(&callbacks);
    EXPECT(!sweetspot_add(set, sgemm_embedded));
    check_capture(set, buffers);
    MUST(sweetspot_launch(set, 0, sizes, buffers));
    check(buffers[2]);
    EXPECT(!strstr(notices, "GPU") && !strstr(notices, "driver")); /* it was tuned here, just now */
    check_refusals(set, buffers);
    check_context(set);
    check_context(set);
    other = sweetspot_new(&callbacks);
    EXPECT(!sweetspot_add_folder(other, argv[1], "sgemm"));
    MUST(sweetspot_launch(other, 0, sizes, buffers));
    check(buffers[2]);
    sweetspot_free(other);
    check_images(argv[2], buffers);
    MUST(sweetspot_launch(set, 0, sizes, buffers));
    check(buffers[2]);
    sweetspot_free(set);
    printf("right\n");
    return 0;
}
