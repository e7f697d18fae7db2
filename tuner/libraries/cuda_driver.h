// Private to the modules of tuner/libraries that call the CUDA driver (cuda.c, cuda_image.c, cuda_mapping.c,
// cuda_beside.c): the driver's functions, and what these modules share. This is the only file that includes <cuda.h>.
#pragma once

#include <cuda.h>

#include "tuner/libraries/cuda.h"
#include "tuner/libraries/library.h"

// Drivers older than the header may have a function under an older name; only cuEventElapsedTime needs this.
// clang-format off
#define CUDA_FUNCTIONS(X) \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) X(cuDeviceGetCount) X(cuDeviceGet) \
    X(cuDeviceGetName) X(cuDeviceGetUuid) X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxRetain) \
    X(cuDevicePrimaryCtxRelease) X(cuDevicePrimaryCtxSetFlags) X(cuCtxSetCurrent) X(cuMemGetInfo) X(cuMemAlloc) \
    X(cuMemFree) X(cuMemHostAlloc) X(cuMemFreeHost) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) \
    X(cuMemsetD8Async) X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) \
    X(cuStreamWaitEvent) X(cuLinkCreate) X(cuLinkAddData) X(cuLinkComplete) X(cuLinkDestroy) \
    X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuModuleGetGlobal) \
    X(cuFuncGetAttribute) X(cuFuncSetAttribute) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuLaunchKernelEx) X(cuEventCreate) X(cuEventDestroy) \
    X(cuEventRecord) X(cuEventQuery) X(cuEventElapsedTime) X(cuStreamBeginCapture) X(cuStreamEndCapture) \
    X(cuGraphInstantiate) X(cuGraphLaunch) X(cuGraphDestroy) X(cuGraphExecDestroy) X(cuTensorMapEncodeTiled) \
    X(cuTensorMapReplaceAddress) X(cuArray3DCreate) X(cuArrayDestroy) X(cuMemcpy3DAsync) X(cuTexObjectCreate) \
    X(cuTexObjectDestroy) X(cuSurfObjectCreate) X(cuSurfObjectDestroy) X(cuDeviceGetTexture1DLinearMaxWidth) \
    X(cuMemGetAllocationGranularity) X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemCreate) X(cuMemRelease) \
    X(cuMemMap) X(cuMemUnmap) X(cuMemSetAccess)
// clang-format on

extern struct cuda_driver {
    CUDA_FUNCTIONS(LIBRARY_MEMBER)
} driver; // cuda_open fills it

struct cuda {
    CUdevice device;
    CUcontext context;
    CUstream stream;
    struct cuda_info info;
};

// Returns 0 if a call succeeded, otherwise the kind of failure, with CUDA's message.
int cuda_check(struct error *err, CUresult, const char *what);
int cuda_attribute(const struct cuda *, CUdevice_attribute);
