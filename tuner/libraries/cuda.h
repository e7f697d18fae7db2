// The CUDA driver: device, context, memory, modules, launches, events, graphs (images: cuda_image.h). It opens libcuda
// at run time. So the worker also starts on a machine without a driver, and can say what is missing.
//
// There is one context (the device's primary one, which cuBLAS and CUPTI share) and one stream. A device address is a
// uint64_t. Functions without a `struct cuda` need neither the stream nor the device: they act on the current context.
//
// There are four kinds of failure, which differ in what must happen next: CUDA_FAILED (our fault or the machine's),
// CUDA_MEMORY (ask for less), CUDA_REFUSED (this kernel cannot be launched like that; the context is fine) and
// CUDA_CRASHED (a kernel destroyed the context, so every later call fails and the process must be replaced).
#pragma once

#include "kernels/element.h"
#include "tuner/base/base.h"

enum { CUDA_FAILED = -1, CUDA_MEMORY = -2, CUDA_REFUSED = -3, CUDA_CRASHED = -4 };
// Sets the message; takes the same arguments as error_set().
#define cuda_refuse(...) (error_set(__VA_ARGS__), CUDA_REFUSED)

struct cuda;
struct cuda_module;
struct cuda_kernel; // lives as long as its module
struct cuda_event;
struct cuda_graph;

struct cuda_info {
    char name[128], arch[16], uuid[48], cuda[16]; // "NVIDIA H200", "sm_90a", "GPU-...", "13.0"
    int ordinal, device_count;
    int sm_count, registers_per_sm, max_threads, threads_per_sm, blocks_per_sm, warp_size, l2_bytes, max_cluster,
        clock_mhz, memory_clock_mhz, memory_bus_bits;
    struct {
        int most, per_sm, reserved; // bytes: largest size for a block, size per multiprocessor, reserved in each block
    } shared;
    uint64_t memory_bytes;
};

// Opens a device by ordinal ("0") or UUID ("GPU-..."). Fails with the reason and how to fix it. The caller closes.
int cuda_open(struct cuda **out, const char *device, struct error *err);
// Finds the device and its name without creating a context, so that the device stays untouched. All other members of
// *info stay unknown.
int cuda_identify(const char *device, struct cuda_info *info, struct error *err);
void cuda_close(struct cuda *); // NULL is fine
const struct cuda_info *cuda_info(const struct cuda *);
// For cuBLAS and CUPTI: the CUstream and the CUcontext.
void *cuda_stream(const struct cuda *);
void *cuda_context(const struct cuda *);

int cuda_alloc(size_t bytes, uint64_t *pointer, struct error *err);
void cuda_free(uint64_t pointer); // 0 is fine; waits for the device
size_t cuda_memory_left(void);
// Page-locked host memory, so that copies to it are asynchronous.
int cuda_host_alloc(size_t bytes, void **pointer, struct error *err);
void cuda_host_free(void *pointer);

// All of these are enqueued. cuda_upload() of pageable memory may block until the source has been read.
int cuda_upload(struct cuda *, uint64_t to, const void *from, size_t bytes, struct error *err);
int cuda_download(struct cuda *, void *to, uint64_t from, size_t bytes, struct error *err);
int cuda_copy(struct cuda *, uint64_t to, uint64_t from, size_t bytes, struct error *err);
int cuda_zero(struct cuda *, uint64_t to, size_t bytes, struct error *err);
// Waits for everything enqueued; CUDA_CRASHED with CUDA's message if a kernel failed.
int cuda_sync(struct cuda *, struct error *err);
// Copies and waits.
static inline int cuda_store(struct cuda *c, uint64_t to, const void *from, size_t bytes, struct error *err)
{
    int failed = cuda_upload(c, to, from, bytes, err);
    return failed ? failed : cuda_sync(c, err);
}
static inline int cuda_fetch(struct cuda *c, void *to, uint64_t from, size_t bytes, struct error *err)
{
    int failed = cuda_download(c, to, from, bytes, err);
    return failed ? failed : cuda_sync(c, err);
}

// Compiles PTX for the device. *cubin is malloc'ed.
int cuda_link(const char *ptx, char **cubin, size_t *size, struct error *err);
// Loads a cubin from memory. CUDA_REFUSED if it cannot be loaded on this device.
int cuda_module_load(const void *image, struct cuda_module **out, struct error *err);
void cuda_module_unload(struct cuda_module *); // NULL is fine
int cuda_module_kernel(struct cuda_module *, const char *symbol, struct cuda_kernel **out, struct error *err);

// Finds a variable of the module by its symbol's name. CUDA_REFUSED if the driver does not know it.
int cuda_module_global(struct cuda_module *, const char *symbol, uint64_t *address, size_t *bytes, struct error *err);

struct cuda_kernel_info {
    int registers, local_bytes, static_shared, max_threads;
};
int cuda_kernel_info(const struct cuda_kernel *, struct cuda_kernel_info *, struct error *err);

struct cuda_geometry {
    unsigned grid[3], block[3], cluster[3]; // cluster 1,1,1: none
    unsigned shared;                        // dynamic, bytes
    bool cooperative;
    bool overlap; // may begin before the stream's previous kernel has ended; it waits itself (griddepcontrol.wait)
};

// Allows the kernel to be launched with this shared memory and cluster. CUDA_REFUSED if this exceeds a limit of the
// device, which the message names. Call this once for a kernel, with its largest geometry, before launches.
int cuda_kernel_allow(struct cuda *, struct cuda_kernel *, const struct cuda_geometry *, struct error *err);
// Blocks of this geometry that fit on one multiprocessor.
int cuda_kernel_occupancy(struct cuda_kernel *, const struct cuda_geometry *, int *blocks, struct error *err);
// Enqueues; `args` as for cuLaunchKernel.
int cuda_launch(struct cuda *, struct cuda_kernel *, const struct cuda_geometry *, void **args, struct error *err);

// A CUtensorMap: 128 bytes that TMA reads, passed to kernels by value. cuLaunchKernel copies it from an address that
// must be a multiple of 64.
enum { CUDA_TENSOR_RANK = 5 };
struct cuda_tensor_map {
    _Alignas(64) unsigned char bytes[128];
};
struct cuda_tensor {
    int rank; // 1 to CUDA_TENSOR_RANK
    enum element type;
    uint64_t size[CUDA_TENSOR_RANK];   // elements, the contiguous dimension first
    uint64_t stride[CUDA_TENSOR_RANK]; // bytes, of dimension i + 1
    uint32_t box[CUDA_TENSOR_RANK];    // elements
    int swizzle, promotion;            // bytes; 0: none
    bool nan;
    bool tf32; // of f32: rounded to TF32 by loads
};
// CUDA_REFUSED if the driver does not accept it (or has no TMA), with the values in the message.
int cuda_tensor_map_encode(const struct cuda_tensor *, uint64_t address, struct cuda_tensor_map *out,
                           struct error *err);
// Makes a map point to other memory.
int cuda_tensor_map_move(struct cuda_tensor_map *, uint64_t address, struct error *err);

int cuda_event_create(struct cuda_event **out, struct error *err);
void cuda_event_destroy(struct cuda_event *);
int cuda_event_record(struct cuda *, struct cuda_event *, struct error *err);
// Whether the event has happened, without waiting.
int cuda_event_happened(struct cuda_event *, bool *happened, struct error *err);
// Seconds between two events that have both happened.
int cuda_event_seconds(struct cuda_event *from, struct cuda_event *to, double *seconds, struct error *err);

// Work enqueued between the two calls becomes a graph instead of being executed.
int cuda_capture_begin(struct cuda *, struct error *err);
int cuda_capture_end(struct cuda *, struct cuda_graph **out, struct error *err); // *out NULL on failure
int cuda_graph_launch(struct cuda *, struct cuda_graph *, struct error *err);
void cuda_graph_free(struct cuda_graph *); // NULL is fine

// ---- cuda_mapping.c ------------------------------------------------------------------------------------------------
//
// Memory whose pieces are at chosen distances, which separate allocations could not guarantee. Each piece is mapped
// separately into a reserved range of addresses, and nothing is mapped between the pieces.
enum { CUDA_MAPPING_PIECES_MAX = 4 };

struct cuda_mapping {
    uint64_t reserved, reserved_bytes; // the reservation
    size_t count;
    uint64_t address[CUDA_MAPPING_PIECES_MAX];
    size_t bytes[CUDA_MAPPING_PIECES_MAX]; // that are mapped; 0: none yet
};

// Maps each piece at the given distance, or a little more, from the end of the previous one (the first piece: from the
// reservation's beginning). CUDA_REFUSED if the device cannot map memory, CUDA_MEMORY if there is no room. The caller
// closes, even after a failure.
int cuda_mapping_open(struct cuda_mapping *, struct cuda *, const size_t *bytes, const uint64_t *apart, size_t count,
                      struct error *err);
void cuda_mapping_close(struct cuda_mapping *); // once nothing uses it

// ---- cuda_beside.c -------------------------------------------------------------------------------------------------
//
// A second stream, for kernels that run at the same time as the work on the context's stream.
struct cuda_beside;

// The caller closes.
int cuda_beside_open(struct cuda_beside **out, struct cuda *, struct error *err);
void cuda_beside_close(struct cuda_beside *); // NULL is fine
// Enqueues a kernel that begins when everything enqueued so far has ended. It runs at the same time as the work that is
// enqueued afterwards.
int cuda_beside_launch(struct cuda_beside *, struct cuda_kernel *, const struct cuda_geometry *, void **args,
                       struct error *err);
// Makes later work on the context's stream wait for the last of these kernels.
int cuda_beside_join(struct cuda_beside *, struct error *err);
