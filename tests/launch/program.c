/* Launches the kernels of tests/test_embed.c's header through a fake driver, or, if RUNTIME is defined, through the
 * runtime API. Every wrong result has its own exit status. C99 and C++. */
#ifdef RUNTIME
#define MINI_GEMM_RUNTIME_API
#include "fake_runtime.h"
#define POINTER(type, address) ((type *)(size_t)(address))
#else
#define MINI_GEMM_DRIVER_API
#include "fake_driver.h"
#define POINTER(type, address) ((CUdeviceptr)(address))
#endif

#include "include/mini_best.h"

static int calls;

static int multiply(void *user, const char *stage, mini_gemm_stream stream)
{
    (void)stream;
    calls++;
    if (fake_launches != 1 || strcmp(stage, "multiply")) return 1; /* not in its place among the launches */
    return *(int *)user;
}

static struct mini_gemm_kernels k;

static int launch(long long m, long long n, unsigned long long x, unsigned long long y, mini_gemm_library_call *call,
                  int fails)
{
    fake_launches = fake_encodes = calls = 0;
    return mini_gemm_launch(&k, (mini_gemm_stream)(size_t)0x77, m, n, POINTER(float, x), POINTER(float, y),
                            POINTER(unsigned, 0x3000), POINTER(void, 0x4000), call, &fails);
}

static int check_first(void)
{
    const CUlaunchConfig *c = &fake_launch[0].config;
    unsigned long long map[8];
    float f;
    double d;
    int i;
    if (c->gridDimX != 1056 || c->gridDimY != 2048 || c->gridDimZ != 1) return 1;
    if (c->blockDimX != 64 || c->sharedMemBytes != 64 * 4 * 64 + 100000 || c->hStream != (CUstream)(size_t)0x77)
        return 2;
    if (c->numAttrs != 2 || fake_launch[0].attributes[0].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) return 3;
    if (fake_launch[0].attributes[0].value.clusterDim.x != 2) return 4;
    if (fake_launch[0].attributes[1].id != CU_LAUNCH_ATTRIBUTE_COOPERATIVE) return 5;
    memcpy(map, fake_launch[0].map, sizeof map);
    if (map[0] != 0x1000 || map[1] != 4096 || map[2] != 4096 || map[3] != 4 * 4096) return 6;
    if (map[4] != 32 || map[5] != CU_TENSOR_MAP_SWIZZLE_128B || map[6] != CU_TENSOR_MAP_DATA_TYPE_FLOAT32) return 7;
    if (fake_launch[0].arguments[1] != 0x2000 || (signed char)fake_launch[0].arguments[2] != -3) return 8;
    i = (int)fake_launch[0].arguments[3];
    if (i != 4096 * 64 || (unsigned)fake_launch[0].arguments[4] != 3000000000u) return 9;
    if ((long long)fake_launch[0].arguments[5] != 4096LL * 4096 * 4096) return 10;
    memcpy(&f, &fake_launch[0].arguments[6], sizeof f);
    memcpy(&d, &fake_launch[0].arguments[7], sizeof d);
    if (f != 1.5f || d != 0.1) return 11;
    if ((unsigned short)fake_launch[0].arguments[8] != 0x3e00 || (unsigned short)fake_launch[0].arguments[9] != 0x3fc0)
        return 12;
    if (fake_launch[0].arguments[10] != 0x3000 || strcmp(fake_launch[0].symbol, "_Z4miniIfLi64EEvv")) return 13;
    return 0;
}

/* struct { signed char small; float scale[2]; long long many; short2 at; }, and a float4. */
static int check_structs(void)
{
    const unsigned char *params = fake_launch[1].bytes[3], *v = fake_launch[1].bytes[4];
    float scale[2], lanes[4];
    long long many;
    short at[2];
    memcpy(scale, params + 4, sizeof scale);
    memcpy(&many, params + 16, sizeof many);
    memcpy(at, params + 24, sizeof at);
    memcpy(lanes, v, sizeof lanes);
    if (params[0] != 0xfe || params[1] || params[12] || params[28]) return 33;
    if (scale[0] != 0.5f || scale[1] != 0.5f || many != 4096LL * 4096 || at[0] != 3 || at[1] != 64) return 34;
    if (lanes[0] != 1.5f || lanes[1] != 2.5f || lanes[2] != 3.5f || lanes[3] != 4096) return 35;
    return 0;
}

/* Whether the status is the expected one and neither a launch nor a call was made. */
static int refuses(int expected, int status)
{
    return status == expected && !fake_launches && !calls;
}

int main(void)
{
    static const int first[] = {128, 8, 1, 4, 4, 8, 4, 8, 2, 2, 8, 0}, second[] = {8, 4, 8, 32, 16, 0};
    int status;
    memcpy(fake_sizes[0], first, sizeof first);
    memcpy(fake_sizes[1], second, sizeof second);

    fake_name = "NVIDIA A100";
    fake_major = 8;
    if (mini_gemm_load(&k) != MINI_GEMM_NO_BINARY || fake_loads ||
        !refuses(MINI_GEMM_NO_BINARY, launch(4096, 4096, 0x1000, 0x2000, multiply, 0)))
        return 20;
    fake_name = "NVIDIA H100";
    fake_major = 9;
    fake_multiprocessors = 114;
    if (mini_gemm_load(&k) != MINI_GEMM_NO_BINARY || fake_loads) return 21; /* fewer multiprocessors */
    fake_multiprocessors = 132;
    if (mini_gemm_load(&k) != MINI_GEMM_OK || strcmp(mini_gemm_loaded(&k), "NVIDIA H200")) return 22;
    mini_gemm_unload(&k);
    fake_name = "NVIDIA H200";
    fake_version = 12080;
    if (mini_gemm_load(&k) != MINI_GEMM_OLD_DRIVER) return 23;
    fake_version = 13000;
    fake_refusal = CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (mini_gemm_load(&k) != MINI_GEMM_NO_BINARY) return 24;
    fake_refusal = CUDA_ERROR_OUT_OF_MEMORY;
    if (mini_gemm_load(&k) != MINI_GEMM_CUDA_ERROR + (int)CUDA_ERROR_OUT_OF_MEMORY) return 25;
    fake_refusal = CUDA_SUCCESS;
    fake_symbol_count = 0;
    status = mini_gemm_load(&k);
    if (status) return 26;
    if (fake_loads != 2 || fake_unloads != 1 || fake_allowed != 64 * 4 * 64 + 100000 || fake_wide) return 27;

    if (launch(4096, 4096, 0x1000, 0x2000, multiply, 0) || fake_launches != 2 || calls != 1) return 28;
    status = check_first();
    if (status) return status;
    if (fake_launch[1].config.gridDimX != 64 || fake_launch[1].arguments[0] != 0x2000) return 30;
    if ((int)fake_launch[1].arguments[1] != 4096 || strcmp(fake_launch[1].symbol, "second")) return 31;
    if (fake_launch[1].config.numAttrs) return 32; /* no overlap with a library's stage */
    status = check_structs();
    if (status) return status;

    if (!refuses(MINI_GEMM_SIZES, launch(4100, 4096, 0x1000, 0x2000, multiply, 0))) return 40; /* beyond the largest */
    if (!refuses(MINI_GEMM_SIZES, launch(1001, 4096, 0x1000, 0x2000, multiply, 0))) return 41; /* 1001 % 8 is 1 */
    if (!refuses(MINI_GEMM_SIZES, launch(-8, 4096, 0x1000, 0x2000, multiply, 0))) return 42;
    if (!refuses(MINI_GEMM_MISALIGNED, launch(4096, 4096, 0x1008, 0x2000, multiply, 0))) return 43;
    if (!refuses(MINI_GEMM_MISALIGNED, launch(4096, 4096, 0x1000, 0x2004, multiply, 0))) return 44;
    if (!refuses(MINI_GEMM_NO_POINTER, launch(4096, 4096, 0x1000, 0, multiply, 0))) return 45;
    if (!refuses(MINI_GEMM_NO_CALLBACK, launch(4096, 4096, 0x1000, 0x2000, 0, 0))) return 46;
    if (!refuses(MINI_GEMM_MISALIGNED, launch(4096, 77, 0x1000, 0x2000, multiply, 0)))
        return 47; /* rows of 308 bytes */
    fake_device = 1;
    if (!refuses(MINI_GEMM_OTHER_DEVICE, launch(4096, 4096, 0x1000, 0x2000, multiply, 0))) return 48;
    fake_device = 0;
    if (launch(4096, 4096, 0x1000, 0x2000, multiply, 5) != MINI_GEMM_LIBRARY_FAILED || fake_launches != 1) return 49;
    if (!strcmp(mini_gemm_status_text(MINI_GEMM_SIZES), mini_gemm_status_text(MINI_GEMM_CUDA_ERROR + 2))) return 50;
    mini_gemm_unload(&k);
    if (!refuses(MINI_GEMM_NO_BINARY, launch(4096, 4096, 0x1000, 0x2000, multiply, 0)) || fake_unloads != 2) return 51;
    if (!mini_gemm_supported(1000, 77) || mini_gemm_supported(996, 77) || mini_gemm_bytes_x(4096, 4096) != 1LL << 26)
        return 52;
    return 0;
}
