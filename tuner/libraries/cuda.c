// See cuda.h.
#include "tuner/libraries/cuda.h"

#include <assert.h>

#include "tuner/libraries/cuda_driver.h"

struct cuda_driver driver;

// A toolkit's cubins need a driver of at least the same major version.
enum { OLDEST_DRIVER = CUDA_VERSION / 1000 * 1000 };

// The kind of a failed call. CUDA_REFUSED: the driver refuses the launch or the module. CUDA_CRASHED: a kernel or the
// hardware has destroyed the context.
static int result_kind(CUresult r)
{
    switch (r) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        return CUDA_MEMORY;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_SHARED_OBJECT_INIT_FAILED:
        return CUDA_REFUSED;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_UNKNOWN:
        return CUDA_CRASHED;
    default:
        return CUDA_FAILED;
    }
}

int cuda_check(struct error *err, CUresult r, const char *what)
{
    const char *name = NULL, *text = NULL;
    if (!r) return 0;
    driver.cuGetErrorName(r, &name);
    driver.cuGetErrorString(r, &text);
    error_set(err, "%s: %s (%s)", what, text ? text : "unknown error", name ? name : "?");
    return result_kind(r);
}

static int load_driver(struct error *err)
{
    static const struct library_symbol symbols[] = {CUDA_FUNCTIONS(LIBRARY_SYMBOL_OR_OLDER)};
    struct error why;
    void *library = library_open("libcuda.so.1", false, false, &why);
    if (!library)
        return error_set(err, "no CUDA driver (libcuda.so.1): %s; install NVIDIA's driver for CUDA %d or newer",
                         why.message, CUDA_VERSION / 1000);
    if (library_find(library, symbols, sizeof symbols / sizeof *symbols, &driver, &why))
        return error_set(err, "the CUDA driver is too old: it has no %s; install the driver for CUDA %d or newer",
                         why.message, CUDA_VERSION / 1000);
    return 0;
}

int cuda_attribute(const struct cuda *c, CUdevice_attribute which)
{
    int value = 0;
    driver.cuDeviceGetAttribute(&value, which, c->device);
    return value;
}

static void uuid_text(const CUuuid *uuid, char out[48])
{
    const unsigned char *b = (const unsigned char *)uuid->bytes;
    snprintf(out, 48, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
             b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static int find_device(struct cuda *c, const char *wanted, struct error *err)
{
    int count = 0;
    CUresult r = driver.cuDeviceGetCount(&count);
    if (r) return cuda_check(err, r, "cannot count the devices");
    if (count == 0) return error_set(err, "no CUDA device is visible; look at nvidia-smi and CUDA_VISIBLE_DEVICES");
    char *end;
    long ordinal = wanted ? strtol(wanted, &end, 10) : 0;
    bool by_number = !wanted || (*wanted && !*end);
    for (int i = 0; i < count; i++) {
        CUuuid uuid;
        if (driver.cuDeviceGet(&c->device, i) || driver.cuDeviceGetUuid(&uuid, c->device)) continue;
        uuid_text(&uuid, c->info.uuid);
        if (by_number ? ordinal == i : !strcmp(wanted, c->info.uuid)) {
            c->info.ordinal = i;
            c->info.device_count = count;
            return 0;
        }
    }
    return error_set(err, "no CUDA device %s: there are %d, numbered from 0; `sweetspot doctor` lists them", wanted,
                     count);
}

static void describe(struct cuda *c)
{
    struct cuda_info *i = &c->info;
    int version = 0, major, minor;
    size_t free = 0, total = 0;
    driver.cuDeviceGetName(i->name, sizeof i->name, c->device);
    driver.cuDriverGetVersion(&version);
    snprintf(i->cuda, sizeof i->cuda, "%d.%d", version / 1000, version % 1000 / 10);
    major = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    minor = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    // From 9.0 on, the chip's own instructions (wgmma) need the architecture-specific target.
    snprintf(i->arch, sizeof i->arch, "sm_%d%d%s", major, minor, major >= 9 ? "a" : "");
    i->sm_count = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    i->shared.most = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    i->shared.per_sm = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    i->shared.reserved = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    i->registers_per_sm = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    i->max_threads = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    i->threads_per_sm = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    i->blocks_per_sm = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    i->warp_size = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    i->l2_bytes = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    i->max_cluster = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) ? 8 : 1; // the portable size
    i->clock_mhz = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;
    i->memory_clock_mhz = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) / 1000;
    i->memory_bus_bits = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    driver.cuMemGetInfo(&free, &total);
    i->memory_bytes = total;
}

// Starts the driver and finds the device.
static int start(struct cuda *c, const char *device, struct error *err)
{
    if (load_driver(err)) return -1;
    CUresult r = driver.cuInit(0);
    if (r == CUDA_ERROR_NO_DEVICE)
        return error_set(err, "no CUDA device is visible; look at nvidia-smi and CUDA_VISIBLE_DEVICES");
    if (cuda_check(err, r, "cannot start the CUDA driver")) return error_prefix(err, "look at nvidia-smi and dmesg");
    int version = 0;
    driver.cuDriverGetVersion(&version);
    if (version < OLDEST_DRIVER)
        return error_set(
            err, "the driver supports CUDA %d.%d, but this program was built with CUDA %d: install a newer driver",
            version / 1000, version % 1000 / 10, CUDA_VERSION / 1000);
    return find_device(c, device, err);
}

int cuda_identify(const char *device, struct cuda_info *info, struct error *err)
{
    struct cuda c = {0};
    if (start(&c, device, err)) return -1;
    driver.cuDeviceGetName(c.info.name, sizeof c.info.name, c.device);
    *info = c.info;
    return 0;
}

int cuda_open(struct cuda **out, const char *device, struct error *err)
{
    *out = NULL;
    struct cuda *c = memory_try(1, sizeof *c, err);
    if (!c) return -1;
    CUresult r;
    if (start(c, device, err)) goto out;
    // Spinning occupies a CPU core while a kernel runs, but saves tens of microseconds at each of a trial's few waits.
    driver.cuDevicePrimaryCtxSetFlags(c->device, CU_CTX_SCHED_SPIN);
    if (cuda_check(err, driver.cuDevicePrimaryCtxRetain(&c->context, c->device), "cannot create a context")) goto out;
    if ((r = driver.cuCtxSetCurrent(c->context)) || (r = driver.cuStreamCreate(&c->stream, CU_STREAM_NON_BLOCKING))) {
        cuda_check(err, r, "cannot create a stream");
        goto out;
    }
    describe(c);
    *out = c;
    return 0;
out:
    cuda_close(c);
    return -1;
}

void cuda_close(struct cuda *c)
{
    if (!c) return;
    if (c->stream) driver.cuStreamDestroy(c->stream);
    if (c->context) driver.cuDevicePrimaryCtxRelease(c->device);
    free(c);
}

const struct cuda_info *cuda_info(const struct cuda *c)
{
    return &c->info;
}

void *cuda_stream(const struct cuda *c)
{
    return c->stream;
}

void *cuda_context(const struct cuda *c)
{
    return c->context;
}

size_t cuda_memory_left(void)
{
    size_t left = 0, total = 0;
    driver.cuMemGetInfo(&left, &total);
    return left;
}

int cuda_alloc(size_t bytes, uint64_t *pointer, struct error *err)
{
    CUdeviceptr p = 0;
    CUresult r = driver.cuMemAlloc(&p, bytes ? bytes : 1);
    *pointer = p;
    if (r == CUDA_ERROR_OUT_OF_MEMORY) {
        size_t left = 0, total = 0;
        driver.cuMemGetInfo(&left, &total);
        error_set(err, "cannot allocate %.2f GiB on the device: %.2f of its %.2f GiB are free", (double)bytes / 0x1p30,
                  (double)left / 0x1p30, (double)total / 0x1p30);
        return CUDA_MEMORY;
    }
    return cuda_check(err, r, "cannot allocate device memory");
}

void cuda_free(uint64_t pointer)
{
    if (pointer) driver.cuMemFree(pointer);
}

int cuda_host_alloc(size_t bytes, void **pointer, struct error *err)
{
    return cuda_check(err, driver.cuMemHostAlloc(pointer, bytes, 0), "cannot allocate page-locked memory");
}

void cuda_host_free(void *pointer)
{
    if (pointer) driver.cuMemFreeHost(pointer);
}

int cuda_upload(struct cuda *c, uint64_t to, const void *from, size_t bytes, struct error *err)
{
    return cuda_check(err, driver.cuMemcpyHtoDAsync(to, from, bytes, c->stream), "cannot copy to the device");
}

int cuda_download(struct cuda *c, void *to, uint64_t from, size_t bytes, struct error *err)
{
    return cuda_check(err, driver.cuMemcpyDtoHAsync(to, from, bytes, c->stream), "cannot copy from the device");
}

int cuda_copy(struct cuda *c, uint64_t to, uint64_t from, size_t bytes, struct error *err)
{
    return cuda_check(err, driver.cuMemcpyDtoDAsync(to, from, bytes, c->stream), "cannot copy on the device");
}

int cuda_zero(struct cuda *c, uint64_t to, size_t bytes, struct error *err)
{
    return cuda_check(err, driver.cuMemsetD8Async(to, 0, bytes, c->stream), "cannot fill memory");
}

int cuda_sync(struct cuda *c, struct error *err)
{
    // An error that is reported here comes from work that ran.
    return cuda_check(err, driver.cuStreamSynchronize(c->stream), "the GPU reports") ? CUDA_CRASHED : 0;
}

int cuda_link(const char *ptx, char **cubin, size_t *size, struct error *err)
{
    CUlinkState link = NULL;
    void *made = NULL;
    CUresult r = driver.cuLinkCreate(0, NULL, NULL, &link);
    if (!r)
        r = driver.cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)ptx, strlen(ptx) + 1, "PTX", 0, NULL, NULL);
    if (!r) r = driver.cuLinkComplete(link, &made, size);
    int failed = cuda_check(err, r, "cannot compile the PTX");
    *cubin = failed || !made ? NULL : memory_try(*size, 1, err);
    if (*cubin) memcpy(*cubin, made, *size);
    if (link) driver.cuLinkDestroy(link); // the cubin belongs to the link
    return failed ? failed : *cubin ? 0 : -1;
}

int cuda_module_load(const void *image, struct cuda_module **out, struct error *err)
{
    CUmodule module = NULL;
    CUresult r = driver.cuModuleLoadData(&module, image);
    *out = (struct cuda_module *)module;
    return cuda_check(err, r, "cannot load the module");
}

void cuda_module_unload(struct cuda_module *module)
{
    if (module) driver.cuModuleUnload((CUmodule)module);
}

int cuda_module_kernel(struct cuda_module *module, const char *symbol, struct cuda_kernel **out, struct error *err)
{
    CUfunction function = NULL;
    CUresult r = driver.cuModuleGetFunction(&function, (CUmodule)module, symbol);
    *out = (struct cuda_kernel *)function;
    int failed = cuda_check(err, r, "no such kernel in the module");
    if (failed) error_prefix(err, "%s", symbol);
    return failed;
}

int cuda_module_global(struct cuda_module *module, const char *symbol, uint64_t *address, size_t *bytes,
                       struct error *err)
{
    CUdeviceptr pointer = 0;
    CUresult r = driver.cuModuleGetGlobal(&pointer, bytes, (CUmodule)module, symbol);
    *address = pointer;
    if (!cuda_check(err, r, "cannot find the variable")) return 0;
    error_prefix(err, "%s", symbol);
    return CUDA_REFUSED;
}

int cuda_kernel_info(const struct cuda_kernel *kernel, struct cuda_kernel_info *info, struct error *err)
{
    CUfunction f = (CUfunction)kernel;
    CUresult r;
    if (!(r = driver.cuFuncGetAttribute(&info->registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f)) &&
        !(r = driver.cuFuncGetAttribute(&info->local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f)) &&
        !(r = driver.cuFuncGetAttribute(&info->static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f)))
        r = driver.cuFuncGetAttribute(&info->max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
    return cuda_check(err, r, "cannot read the kernel's attributes");
}

static unsigned volume(const unsigned size[3])
{
    return size[0] * size[1] * size[2];
}

int cuda_kernel_allow(struct cuda *c, struct cuda_kernel *kernel, const struct cuda_geometry *g, struct error *err)
{
    struct cuda_kernel_info info;
    int result = cuda_kernel_info(kernel, &info, err);
    if (result) return result;
    const struct cuda_info *device = &c->info;
    if (g->shared > (unsigned)device->shared.most || (int)g->shared + info.static_shared > device->shared.most)
        return cuda_refuse(err,
                           "needs %lld bytes of shared memory (%d of them static), but the device allows %d per block",
                           (long long)g->shared + info.static_shared, info.static_shared, device->shared.most);
    if (volume(g->block) > (unsigned)info.max_threads)
        return cuda_refuse(
            err, "%u threads per block; with %d registers per thread, or its launch bounds, the kernel allows %d",
            volume(g->block), info.registers, info.max_threads);
    CUfunction f = (CUfunction)kernel;
    CUresult r = CUDA_SUCCESS;
    int allowed = 0; // what an earlier geometry of the same kernel needed; never lowered
    driver.cuFuncGetAttribute(&allowed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f);
    if ((int)g->shared > allowed)
        r = driver.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)g->shared);
    if (!r && volume(g->cluster) > 8)
        r = driver.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    return cuda_check(err, r, "cannot set the kernel's attributes");
}

int cuda_kernel_occupancy(struct cuda_kernel *kernel, const struct cuda_geometry *g, int *blocks, struct error *err)
{
    return cuda_check(err,
                      driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (CUfunction)kernel,
                                                                         (int)volume(g->block), g->shared),
                      "cannot compute the occupancy");
}

int cuda_launch(struct cuda *c, struct cuda_kernel *kernel, const struct cuda_geometry *g, void **args,
                struct error *err)
{
    CUlaunchAttribute attributes[3];
    unsigned count = 0;
    if (volume(g->cluster) > 1) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attributes[count].value.clusterDim.x = g->cluster[0];
        attributes[count].value.clusterDim.y = g->cluster[1];
        attributes[count++].value.clusterDim.z = g->cluster[2];
    }
    if (g->cooperative) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attributes[count++].value.cooperative = 1;
    }
    if (g->overlap) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attributes[count++].value.programmaticStreamSerializationAllowed = 1;
    }
    CUlaunchConfig config = {
        .gridDimX = g->grid[0],
        .gridDimY = g->grid[1],
        .gridDimZ = g->grid[2],
        .blockDimX = g->block[0],
        .blockDimY = g->block[1],
        .blockDimZ = g->block[2],
        .sharedMemBytes = g->shared,
        .hStream = c->stream,
        .attrs = attributes,
        .numAttrs = count,
    };
    int failed = cuda_check(err, driver.cuLaunchKernelEx(&config, (CUfunction)kernel, args, NULL), "cannot launch");
    if (!failed) return 0;
    error_prefix(err, "grid %ux%ux%u, block %ux%ux%u, cluster %ux%ux%u, %u bytes of shared memory", g->grid[0],
                 g->grid[1], g->grid[2], g->block[0], g->block[1], g->block[2], g->cluster[0], g->cluster[1],
                 g->cluster[2], g->shared);
    return failed;
}

static_assert(sizeof(CUtensorMap) == sizeof(struct cuda_tensor_map), "a tensor map is 128 bytes");

int cuda_tensor_map_encode(const struct cuda_tensor *t, uint64_t address, struct cuda_tensor_map *out,
                           struct error *err)
{
    static const CUtensorMapDataType types[] = {
        [ELEMENT_F32] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32, [ELEMENT_F64] = CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        [ELEMENT_F16] = CU_TENSOR_MAP_DATA_TYPE_FLOAT16, [ELEMENT_BF16] = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        [ELEMENT_I8] = CU_TENSOR_MAP_DATA_TYPE_UINT8,    [ELEMENT_I32] = CU_TENSOR_MAP_DATA_TYPE_INT32,
        [ELEMENT_U8] = CU_TENSOR_MAP_DATA_TYPE_UINT8,    [ELEMENT_I16] = CU_TENSOR_MAP_DATA_TYPE_UINT16,
        [ELEMENT_U16] = CU_TENSOR_MAP_DATA_TYPE_UINT16,  [ELEMENT_U64] = CU_TENSOR_MAP_DATA_TYPE_UINT64,
        [ELEMENT_U32] = CU_TENSOR_MAP_DATA_TYPE_UINT32,  [ELEMENT_I64] = CU_TENSOR_MAP_DATA_TYPE_INT64,
        [ELEMENT_E4M3] = CU_TENSOR_MAP_DATA_TYPE_UINT8,  [ELEMENT_E5M2] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
    };
    const CUtensorMapSwizzle swizzle = t->swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                       : t->swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                       : t->swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                          : CU_TENSOR_MAP_SWIZZLE_NONE;
    const CUtensorMapL2promotion promotion = t->promotion == 256   ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
                                             : t->promotion == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
                                             : t->promotion == 64  ? CU_TENSOR_MAP_L2_PROMOTION_L2_64B
                                                                   : CU_TENSOR_MAP_L2_PROMOTION_NONE;
    cuuint64_t size[CUDA_TENSOR_RANK], stride[CUDA_TENSOR_RANK] = {0};
    cuuint32_t box[CUDA_TENSOR_RANK], every[CUDA_TENSOR_RANK] = {1, 1, 1, 1, 1};
    CUtensorMap map;
    for (int i = 0; i < t->rank; i++) {
        size[i] = t->size[i];
        stride[i] = t->stride[i];
        box[i] = t->box[i];
    }
    CUresult r = driver.cuTensorMapEncodeTiled(
        &map, t->tf32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : types[t->type], (cuuint32_t)t->rank, (void *)address, size,
        stride, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion,
        t->nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    memcpy(out, &map, sizeof map);
    int failed = cuda_check(err, r, "the driver refuses the tensor map");
    if (!failed) return 0;
    error_prefix(err, "%d dimensions of %s, innermost %llu, box %u by %u, stride %llu bytes, swizzle %d, address %#llx",
                 t->rank, element_name(t->type), (unsigned long long)t->size[0], t->box[0], t->rank > 1 ? t->box[1] : 1,
                 (unsigned long long)(t->rank > 1 ? t->stride[0] : 0), t->swizzle, (unsigned long long)address);
    return failed;
}

int cuda_tensor_map_move(struct cuda_tensor_map *map, uint64_t address, struct error *err)
{
    return cuda_check(err, driver.cuTensorMapReplaceAddress((CUtensorMap *)map, (void *)address),
                      "cannot move a tensor map");
}

int cuda_event_create(struct cuda_event **out, struct error *err)
{
    CUevent event = NULL;
    CUresult r = driver.cuEventCreate(&event, CU_EVENT_DEFAULT);
    *out = (struct cuda_event *)event;
    return cuda_check(err, r, "cannot create an event");
}

void cuda_event_destroy(struct cuda_event *event)
{
    if (event) driver.cuEventDestroy((CUevent)event);
}

int cuda_event_record(struct cuda *c, struct cuda_event *event, struct error *err)
{
    return cuda_check(err, driver.cuEventRecord((CUevent)event, c->stream), "cannot record an event");
}

int cuda_event_happened(struct cuda_event *event, bool *happened, struct error *err)
{
    CUresult r = driver.cuEventQuery((CUevent)event);
    *happened = r == CUDA_SUCCESS;
    return r == CUDA_ERROR_NOT_READY ? 0 : cuda_check(err, r, "cannot query an event");
}

int cuda_event_seconds(struct cuda_event *from, struct cuda_event *to, double *seconds, struct error *err)
{
    float milliseconds = 0;
    CUresult r = driver.cuEventElapsedTime(&milliseconds, (CUevent)from, (CUevent)to);
    *seconds = (double)milliseconds * 1e-3;
    return cuda_check(err, r, "cannot read the time between two events");
}

int cuda_capture_begin(struct cuda *c, struct error *err)
{
    return cuda_check(err, driver.cuStreamBeginCapture(c->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                      "cannot capture a graph");
}

int cuda_capture_end(struct cuda *c, struct cuda_graph **out, struct error *err)
{
    CUgraph graph = NULL;
    CUgraphExec executable = NULL;
    CUresult r = driver.cuStreamEndCapture(c->stream, &graph);
    if (!r) r = driver.cuGraphInstantiate(&executable, graph, 0);
    if (graph) driver.cuGraphDestroy(graph);
    *out = (struct cuda_graph *)executable;
    return cuda_check(err, r, "cannot make a graph");
}

int cuda_graph_launch(struct cuda *c, struct cuda_graph *graph, struct error *err)
{
    return cuda_check(err, driver.cuGraphLaunch((CUgraphExec)graph, c->stream), "cannot launch a graph");
}

void cuda_graph_free(struct cuda_graph *graph)
{
    if (graph) driver.cuGraphExecDestroy((CUgraphExec)graph);
}
