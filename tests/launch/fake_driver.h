// Fake versions of the driver API functions that a header's launch functions call. With them, launches can be tested
// without a GPU. The fakes record their calls. The test program includes this file once.
#pragma once

#include <cuda.h>
#include <string.h>

static const char *fake_name = "NVIDIA H200";
static int fake_major = 9, fake_minor = 0, fake_multiprocessors = 132, fake_version = 13000, fake_device;
static CUresult fake_refusal = CUDA_SUCCESS; // the error of loading
static int fake_loads, fake_unloads, fake_allowed, fake_wide, fake_launches, fake_encodes;
static struct {
    CUlaunchConfig config;
    CUlaunchAttribute attributes[3];
    unsigned long long arguments[16]; // the first 8 bytes of each argument that `fake_sizes` lists
    unsigned char map[128];           // the first argument, if it is a tensor map
    unsigned char bytes[16][32];      // arguments with more than 8 bytes
    const char *symbol;
} fake_launch[64];
static int fake_sizes[64][16]; // bytes of each launch's arguments, ended by 0; 128: a tensor map
static const char *fake_symbols[4];
static int fake_symbol_count;

CUresult CUDAAPI cuCtxGetDevice(CUdevice *device)
{
    *device = fake_device;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetName(char *name, int size, CUdevice device)
{
    (void)device;
    memset(name, 0, (size_t)size);
    memcpy(name, fake_name, strlen(fake_name));
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
    (void)device;
    *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? fake_major
             : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? fake_minor
             : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? fake_multiprocessors
                                                                     : 232448;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDriverGetVersion(int *version)
{
    *version = fake_version;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *a, void **b, unsigned c,
                                   CUlibraryOption *d, void **e, unsigned f)
{
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
    if (fake_refusal) return fake_refusal;
    fake_loads++;
    *library = (CUlibrary)(size_t)code;
    return memcmp(code, "\177ELF", 4) ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}
CUresult CUDAAPI cuLibraryUnload(CUlibrary library)
{
    (void)library;
    fake_unloads++;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    (void)library;
    fake_symbols[fake_symbol_count % 4] = name;
    *kernel = (CUkernel)(size_t)&fake_symbols[fake_symbol_count++ % 4];
    return CUDA_SUCCESS;
}
static const char *fake_global; // the last variable requested
CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name)
{
    (void)library;
    fake_global = name;
    *address = 0x1000 + strlen(name);
    *bytes = 4 * strlen(name);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel, CUdevice device)
{
    (void)kernel, (void)device;
    if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) fake_allowed = value;
    if (which == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) fake_wide = value;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction kernel, void **arguments, void **extra)
{
    int i, stage = fake_launches++;
    (void)extra;
    fake_launch[stage].config = *config;
    memcpy(fake_launch[stage].attributes, config->attrs, config->numAttrs * sizeof *config->attrs);
    fake_launch[stage].symbol = *(const char **)(void *)kernel;
    for (i = 0; fake_sizes[stage][i]; i++) {
        int size = fake_sizes[stage][i];
        if (size == 128 && i == 0) memcpy(fake_launch[stage].map, arguments[i], 128);
        if (size > 8 && size <= 32) memcpy(fake_launch[stage].bytes[i], arguments[i], (size_t)size);
        memcpy(&fake_launch[stage].arguments[i], arguments[i], size < 8 ? (size_t)size : 8);
    }
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                        const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box,
                                        const cuuint32_t *each, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                        CUtensorMapFloatOOBfill fill)
{
    unsigned long long note[8];
    (void)each, (void)interleave, (void)promotion, (void)fill;
    if ((size_t)map % 64) return CUDA_ERROR_INVALID_VALUE; // as the driver does
    fake_encodes++;
    note[0] = (unsigned long long)(size_t)address;
    note[1] = size[0];
    note[2] = size[1];
    note[3] = stride[0];
    note[4] = box[0];
    note[5] = (unsigned long long)swizzle;
    note[6] = (unsigned long long)type;
    note[7] = rank;
    memset(map, 0, sizeof *map);
    memcpy(map, note, sizeof note);
    return CUDA_SUCCESS;
}
