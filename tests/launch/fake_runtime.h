// The runtime API's functions that a header's launch functions call, implemented with the driver's (fake_driver.h).
#pragma once

#include <cuda_runtime_api.h>

#include "fake_driver.h"

cudaError_t CUDARTAPI cudaGetDevice(int *device)
{
    *device = fake_device;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGetDeviceProperties(struct cudaDeviceProp *about, int device)
{
    (void)device;
    memset(about, 0, sizeof *about);
    memcpy(about->name, fake_name, strlen(fake_name));
    about->major = fake_major;
    about->minor = fake_minor;
    about->multiProcessorCount = fake_multiprocessors;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaDriverGetVersion(int *version)
{
    return (cudaError_t)cuDriverGetVersion(version);
}
cudaError_t CUDARTAPI cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device)
{
    return (cudaError_t)cuDeviceGetAttribute(value, (CUdevice_attribute)which, device);
}
cudaError_t CUDARTAPI cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *a, void **b,
                                          unsigned c, enum cudaLibraryOption *d, void **e, unsigned f)
{
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
    return (cudaError_t)cuLibraryLoadData((CUlibrary *)library, code, 0, 0, 0, 0, 0, 0);
}
cudaError_t CUDARTAPI cudaLibraryUnload(cudaLibrary_t library)
{
    return (cudaError_t)cuLibraryUnload((CUlibrary)library);
}
cudaError_t CUDARTAPI cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    return (cudaError_t)cuLibraryGetKernel((CUkernel *)kernel, (CUlibrary)library, name);
}
cudaError_t CUDARTAPI cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute which, int value,
                                                      int device)
{
    return (cudaError_t)cuKernelSetAttribute((CUfunction_attribute)which, value, (CUkernel)kernel, device);
}
cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(const char *symbol, void **found, unsigned version,
                                                       unsigned long long flags,
                                                       enum cudaDriverEntryPointQueryResult *how)
{
    CUresult(CUDAAPI * encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                               const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                               CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) =
        cuTensorMapEncodeTiled;
    (void)flags;
    if (version < 12000 || strcmp(symbol, "cuTensorMapEncodeTiled")) return cudaErrorInvalidValue;
    memcpy(found, &encode, sizeof encode);
    *how = cudaDriverEntryPointSuccess;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t *from, const void *kernel, void **arguments)
{
    CUlaunchConfig config;
    CUlaunchAttribute attributes[3];
    unsigned i;
    memset(&config, 0, sizeof config);
    config.gridDimX = from->gridDim.x;
    config.gridDimY = from->gridDim.y;
    config.gridDimZ = from->gridDim.z;
    config.blockDimX = from->blockDim.x;
    config.blockDimY = from->blockDim.y;
    config.blockDimZ = from->blockDim.z;
    config.sharedMemBytes = (unsigned)from->dynamicSmemBytes;
    config.hStream = (CUstream)from->stream;
    config.attrs = attributes;
    config.numAttrs = from->numAttrs;
    for (i = 0; i < from->numAttrs; i++) {
        attributes[i].id = (CUlaunchAttributeID)from->attrs[i].id;
        memcpy(&attributes[i].value, &from->attrs[i].val, sizeof attributes[i].value);
    }
    return (cudaError_t)cuLaunchKernelEx(&config, (CUfunction)(size_t)kernel, arguments, 0);
}
