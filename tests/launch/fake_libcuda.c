// A libcuda.so.1 for programs in C and Python that test launching without a GPU. There are two devices, and every
// thread has its own contexts. Each launch and each fill appends a line to $FAKE_LOG. $FAKE_ARGUMENTS lists the sizes
// of each kernel's arguments, "symbol:8,4;". An address belongs to device (address >> 40) - 1, or to no GPU if there is
// no device with this number. $FAKE_DEVICE: the devices' name; $FAKE_SMS: their multiprocessors; $FAKE_VERSION: the
// driver's version.
#include <cuda.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread CUcontext stack[8];
static __thread int depth;
static __thread CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int fake_loads, fake_functions, fake_capturing, fake_allowed, fake_wide, fake_inits, fake_generation,
    fake_launches; // read by the tests

char fake_launched[64]; // the symbol of the last launch

static const char *setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value ? value : otherwise;
}

// Contexts of device d have handles from 0x1000 * (d + 1) on. The first one is the primary context.
static int device_of(CUcontext context)
{
    return (int)((size_t)context / 0x1000) - 1;
}

static CUcontext current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

// Loading is refused while a graph is captured, except in threads that relax their capture mode.
static CUresult loading(void)
{
    return fake_capturing && mode != CU_STREAM_CAPTURE_MODE_RELAXED ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                                                    : CUDA_SUCCESS;
}

CUresult CUDAAPI cuInit(unsigned flags)
{
    (void)flags;
    fake_inits++;
    return getenv("FAKE_NO_DEVICE") ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}
CUresult CUDAAPI cuGetErrorName(CUresult error, const char **text)
{
    *text = error == CUDA_ERROR_NO_DEVICE                    ? "CUDA_ERROR_NO_DEVICE"
            : error == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ? "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
            : error == CUDA_ERROR_INVALID_CONTEXT            ? "CUDA_ERROR_INVALID_CONTEXT"
                                                             : NULL;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult CUDAAPI cuCtxGetCurrent(CUcontext *context)
{
    *context = current();
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxPushCurrent(CUcontext context)
{
    stack[depth++] = context;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxPopCurrent(CUcontext *context)
{
    if (!depth) return CUDA_ERROR_INVALID_CONTEXT;
    *context = stack[--depth];
    return CUDA_SUCCESS;
}
// No two contexts have the same number, even if their handles are the same.
CUresult CUDAAPI cuCtxGetId(CUcontext context, unsigned long long *id)
{
    *id = (unsigned long long)(size_t)context + ((unsigned long long)fake_generation << 32);
    return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult CUDAAPI cuCtxGetDevice(CUdevice *device)
{
    *device = device_of(current());
    return current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    *context = (CUcontext)(size_t)(0x1000 * (device + 1));
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetName(char *name, int size, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)size, "%s", setting("FAKE_DEVICE", "NVIDIA H200"));
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
    (void)device;
    *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
             : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
             : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? atoi(setting("FAKE_SMS", "132"))
                                                                     : 232448;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDriverGetVersion(int *version)
{
    *version = atoi(setting("FAKE_VERSION", "13000"));
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *other)
{
    const CUstreamCaptureMode before = mode;
    mode = *other;
    *other = before;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuPointerGetAttribute(void *value, CUpointer_attribute which, CUdeviceptr address)
{
    const int device = (int)(address >> 40) - 1;
    if (which != CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL || device < 0 || device > 1) return CUDA_ERROR_INVALID_VALUE;
    *(int *)value = device;
    sched_yield(); // another thread then overwrites the value if both threads share it
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *a, void **b, unsigned c,
                                   CUlibraryOption *d, void **e, unsigned f)
{
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
    if (loading()) return loading();
    pthread_mutex_lock(&lock);
    fake_loads++;
    pthread_mutex_unlock(&lock);
    *library = (CUlibrary)(size_t)((const unsigned char *)code)[4]; // the first byte after the magic
    if (!strncmp((const char *)code, ".version ", 9))               // PTX of the driver's version, or a newer one
        return ((const char *)code)[9] == '9' ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION : CUDA_SUCCESS;
    if (((const char *)code)[4] == '?') return CUDA_ERROR_NO_BINARY_FOR_GPU; // a cubin for another architecture
    return memcmp(code, "\177ELF", 4) ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}
CUresult CUDAAPI cuLibraryUnload(CUlibrary library)
{
    (void)library;
    return CUDA_SUCCESS;
}
struct kernel {
    unsigned library;
    char symbol[64];
};
CUresult CUDAAPI cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name)
{
    struct kernel *kernel = malloc(sizeof *kernel);
    if (!kernel) return CUDA_ERROR_OUT_OF_MEMORY;
    kernel->library = (unsigned)(size_t)library;
    snprintf(kernel->symbol, sizeof kernel->symbol, "%s", name);
    *out = (CUkernel)kernel;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name)
{
    (void)address, (void)bytes, (void)library, (void)name;
    return CUDA_ERROR_NOT_FOUND;
}
CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel, CUdevice device)
{
    (void)kernel, (void)device;
    if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) fake_allowed = value;
    if (which == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) fake_wide = value;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    if (loading()) return loading();
    if (!current()) return CUDA_ERROR_INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    fake_functions++;
    pthread_mutex_unlock(&lock);
    *function = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

static void log_line(const char *text)
{
    FILE *file = fopen(setting("FAKE_LOG", "/dev/null"), "a");
    if (!file) abort();
    fprintf(file, "%s\n", text);
    fclose(file);
}

// The sizes of the kernel's arguments, as a string.
static const char *sizes_of(const char *symbol)
{
    const char *at = setting("FAKE_ARGUMENTS", "");
    for (; at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL)
        if (!strncmp(at, symbol, strlen(symbol)) && at[strlen(symbol)] == ':') return at + strlen(symbol) + 1;
    return "";
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **arguments, void **extra)
{
    static __thread char text[65536];
    const struct kernel *kernel = (const struct kernel *)function;
    char *sizes = (char *)sizes_of(kernel->symbol);
    size_t n;
    (void)extra;
    if (!current()) return CUDA_ERROR_INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    fake_launches++;
    memcpy(fake_launched, kernel->symbol, sizeof fake_launched);
    pthread_mutex_unlock(&lock);
    n = (size_t)sprintf(text, "context %zx stream %zx library %u %s grid %u %u %u block %u %u %u shared %u",
                        (size_t)current(), (size_t)c->hStream, kernel->library, kernel->symbol, c->gridDimX,
                        c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes);
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttribute *a = &c->attrs[i];
        const unsigned *value = (const unsigned *)&a->value;
        const int cluster = a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        n += (size_t)sprintf(text + n, " attribute %d = %u", (int)a->id, value[0]);
        if (cluster) n += (size_t)sprintf(text + n, " %u %u", value[1], value[2]);
    }
    for (int i = 0; *sizes && *sizes != ';'; i++) {
        long size = strtol(sizes, &sizes, 10);
        if (*sizes == ',') sizes++;
        n += (size_t)sprintf(text + n, " [");
        for (long k = 0; k < size; k++) n += (size_t)sprintf(text + n, "%02x", ((unsigned char *)arguments[i])[k]);
        n += (size_t)sprintf(text + n, "]");
    }
    log_line(text);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t size, CUstream stream)
{
    char text[128];
    sprintf(text, "fill %llx with %u, %zu bytes, stream %zx", address, value, size, (size_t)stream);
    log_line(text);
    return CUDA_SUCCESS;
}
// Writes the arguments into the map.
CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                        const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box,
                                        const cuuint32_t *each, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                        CUtensorMapFloatOOBfill fill)
{
    unsigned hash = 2166136261u;
    if ((size_t)map % 64) return CUDA_ERROR_INVALID_VALUE; // as the driver does
    for (unsigned i = 0; i < rank && i < 5; i++) {
        const cuuint64_t numbers[] = {size[i], box[i], each[i], i + 1 < rank ? stride[i] : 0};
        for (int k = 0; k < 4; k++) hash = (hash ^ (unsigned)numbers[k]) * 16777619u;
    }
    const unsigned words[32] = {(unsigned)type,
                                rank,
                                (unsigned)(size_t)address,
                                (unsigned)((size_t)address >> 32),
                                hash,
                                (unsigned)interleave,
                                (unsigned)swizzle,
                                (unsigned)promotion,
                                (unsigned)fill};
    memcpy(map, words, 128);
    return CUDA_SUCCESS;
}
