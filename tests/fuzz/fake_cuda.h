// A fake device, whose memory is host memory, for fuzz_gpu_requests.c. Implements the functions of
// tuner/libraries/cuda.h without the driver. Kernels have names and are launched, but do nothing: outputs stay as they
// were filled, findings stay empty, and every launch takes a millisecond. AddressSanitizer detects if the worker itself
// reads or writes outside of an allocation.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/libraries/cuda_image.h"
#include "tuner/libraries/library.h"

// The fake device ignores most of the driver's arguments.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
// NOLINTBEGIN(misc-unused-parameters)

// The number of bytes that a job may allocate, the number that one call may allocate, and the number of kernels that
// are distinguished by name.
#ifdef FAKE_CUDA_EMULATES // a program that runs whole jobs and has its own clocks
enum { FAKE_MEMORY = 1 << 30, FAKE_ALLOCATION = 512 << 20, FAKE_KERNELS = 400 };
#else
enum { FAKE_MEMORY = 256 << 10, FAKE_ALLOCATION = 32 << 20, FAKE_KERNELS = 32 };
#endif

struct cuda {
    int opened;
};
static struct cuda fake_device;

#ifndef FAKE_CUDA_WITH_LIBRARIES // programs that load the user's libraries can also load others
// cuBLAS, CUPTI and NVML do not exist here.
void *library_open(const char *name, bool toolkit, bool global, struct error *err)
{
    error_set(err, "%s is not there", name);
    return NULL;
}

int library_find(void *library, const struct library_symbol *symbols, size_t count, void *table, struct error *err)
{
    return error_set(err, "there are no libraries");
}
#endif

int cuda_open(struct cuda **out, const char *device, struct error *err)
{
    *out = &fake_device;
    return 0;
}

void cuda_close(struct cuda *c)
{
}

const struct cuda_info *cuda_info(const struct cuda *c)
{
    static const struct cuda_info info = {.name = "Fake",
                                          .arch = "sm_90a",
                                          .uuid = "GPU-0",
                                          .cuda = "13.0",
                                          .device_count = 1,
                                          .sm_count = 4,
                                          .shared = {232448, 233472, 1024},
                                          .registers_per_sm = 65536,
                                          .max_threads = 1024,
                                          .threads_per_sm = 2048,
                                          .blocks_per_sm = 32,
                                          .warp_size = 32,
                                          .l2_bytes = 64 << 10,
                                          .max_cluster = 8,
                                          .clock_mhz = 1980,
                                          .memory_clock_mhz = 3000,
                                          .memory_bus_bits = 6144,
                                          .memory_bytes = FAKE_MEMORY};
    return &info;
}

int cuda_identify(const char *device, struct cuda_info *info, struct error *err)
{
    *info = *cuda_info(NULL);
    return 0;
}

void *cuda_stream(const struct cuda *c)
{
    return NULL;
}

void *cuda_context(const struct cuda *c)
{
    return NULL;
}

int cuda_host_alloc(size_t bytes, void **pointer, struct error *err)
{
    *pointer = bytes <= FAKE_ALLOCATION ? calloc(1, bytes ? bytes : 1) : NULL;
    if (*pointer) return 0;
    error_set(err, "out of memory: %zu bytes", bytes);
    return CUDA_MEMORY;
}

int cuda_alloc(size_t bytes, uint64_t *pointer, struct error *err)
{
    void *memory;
    int failed = cuda_host_alloc(bytes, &memory, err);
    *pointer = (uint64_t)(uintptr_t)memory;
    return failed;
}

void cuda_host_free(void *pointer)
{
    free(pointer);
}

void cuda_free(uint64_t pointer)
{
    free((void *)(uintptr_t)pointer);
}

static size_t fake_memory_left = FAKE_MEMORY;
size_t cuda_memory_left(void)
{
    return fake_memory_left;
}

int cuda_mapping_open(struct cuda_mapping *r, struct cuda *c, const size_t *bytes, const uint64_t *apart, size_t count,
                      struct error *err)
{
    *r = (struct cuda_mapping){.count = count};
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        failed = cuda_alloc(bytes[i], &r->address[i], err);
        r->bytes[i] = failed ? 0 : bytes[i];
    }
    return failed;
}

void cuda_mapping_close(struct cuda_mapping *r)
{
    for (size_t i = 0; i < r->count; i++) cuda_free(r->address[i]);
    *r = (struct cuda_mapping){0};
}

int cuda_upload(struct cuda *c, uint64_t to, const void *from, size_t bytes, struct error *err)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

int cuda_download(struct cuda *c, void *to, uint64_t from, size_t bytes, struct error *err)
{
    return cuda_upload(c, (uint64_t)(uintptr_t)to, (const void *)(uintptr_t)from, bytes, err);
}

int cuda_copy(struct cuda *c, uint64_t to, uint64_t from, size_t bytes, struct error *err)
{
    return cuda_upload(c, to, (const void *)(uintptr_t)from, bytes, err);
}

int cuda_zero(struct cuda *c, uint64_t to, size_t bytes, struct error *err)
{
    memset((void *)(uintptr_t)to, 0, bytes);
    return 0;
}

int cuda_sync(struct cuda *c, struct error *err)
{
    return 0;
}

// A handle can be any value except NULL. Every loaded module has its own.
enum { FAKE_MODULES = 16 };
static char fake_handle, fake_module[FAKE_MODULES];
static int fake_module_count;

int cuda_link(const char *ptx, char **cubin, size_t *size, struct error *err)
{
    *size = strlen(ptx);
    *cubin = NULL;
    return error_set(err, "PTX cannot be compiled here");
}

// Every module has the same variables. Those of the second loaded module are called "NAME of 1".
enum { FAKE_VARIABLES = 8, FAKE_VARIABLE = 64 };
static struct {
    char name[64];
    uint64_t words[512];
} fake_variables[FAKE_VARIABLES];

static void *fake_variable(const char *name)
{
    size_t i = 0;
    while (i + 1 < FAKE_VARIABLES && *fake_variables[i].name && strcmp(fake_variables[i].name, name) != 0) i++;
    snprintf(fake_variables[i].name, sizeof fake_variables[i].name, "%s", name);
    return fake_variables[i].words;
}

// After `fake_loads` loads of modules, one load fails with the error `fake_load_fails`. If this is 0, results depend
// only on the image.
static int fake_load_fails, fake_loads;
int cuda_module_load(const void *image, struct cuda_module **out, struct error *err)
{
    if (fake_load_fails && fake_loads-- == 0) return error_set(err, "no memory for a module"), fake_load_fails;
    *out = (struct cuda_module *)&fake_module[fake_module_count % FAKE_MODULES];
    fake_module_count++;
#ifdef FAKE_CUDA_EMULATES
    memset(fake_variables, 0, sizeof fake_variables);
#endif
    if (!memcmp(image,
                "\x7f"
                "ELF",
                4))
        return 0;
    error_set(err, "no cubin");
    return CUDA_REFUSED;
}

void cuda_module_unload(struct cuda_module *module)
{
    fake_module_count -= module != NULL;
}

// Up to FAKE_KERNELS kernels are distinguished by name; all further kernels count as one. Kernels whose name begins
// with an underscore are missing.
static char fake_kernels[FAKE_KERNELS][64];
int cuda_module_kernel(struct cuda_module *module, const char *symbol, struct cuda_kernel **out, struct error *err)
{
    size_t i = 0;
    while (i + 1 < FAKE_KERNELS && *fake_kernels[i] && strncmp(fake_kernels[i], symbol, 63) != 0) i++;
    snprintf(fake_kernels[i], sizeof fake_kernels[i], "%s", symbol);
    *out = (struct cuda_kernel *)fake_kernels[i];
    return *symbol == '_' || !*symbol ? error_set(err, "no kernel '%s'", symbol) : 0;
}

int cuda_module_global(struct cuda_module *module, const char *symbol, uint64_t *address, size_t *bytes,
                       struct error *err)
{
    char name[64];
#ifdef FAKE_CUDA_EMULATES // candidates do not know their module; only one is loaded at a time
    snprintf(name, sizeof name, "%s", symbol);
#else
    const long number = (const char *)module - fake_module;
    snprintf(name, sizeof name, number ? "%s of %ld" : "%s", symbol, number);
#endif
    *address = (uint64_t)(uintptr_t)fake_variable(name);
    *bytes = FAKE_VARIABLE;
    return 0;
}

int cuda_kernel_info(const struct cuda_kernel *kernel, struct cuda_kernel_info *info, struct error *err)
{
    *info = (struct cuda_kernel_info){.registers = 32, .max_threads = 1024};
    return 0;
}

int cuda_kernel_allow(struct cuda *c, struct cuda_kernel *kernel, const struct cuda_geometry *g, struct error *err)
{
    if (g->shared <= 232448) return 0;
    error_set(err, "%u bytes of shared memory", g->shared);
    return CUDA_REFUSED;
}

int cuda_kernel_occupancy(struct cuda_kernel *kernel, const struct cuda_geometry *g, int *blocks, struct error *err)
{
    *blocks = 2;
    return 0;
}

// The function that a launch calls, or NULL if it calls none. The function reads the arguments' values, as the driver
// would, because only the kernel knows their number.
static void (*fake_kernel)(void **args);
static const char *fake_launched; // the name of the kernel
static struct cuda_geometry fake_geometry;
// After `launches` launches of `kernel`, the next launch fails for lack of memory. NULL: memory never runs out.
static struct {
    const char *kernel;
    int launches;
} fake_memory_for;
int cuda_launch(struct cuda *c, struct cuda_kernel *kernel, const struct cuda_geometry *g, void **args,
                struct error *err)
{
    fake_launched = (const char *)kernel;
    fake_geometry = *g;
    if (fake_memory_for.kernel && !strcmp(fake_launched, fake_memory_for.kernel) && fake_memory_for.launches-- == 0) {
        error_set(err, "no memory for a launch");
        return CUDA_MEMORY;
    }
    if (fake_kernel) fake_kernel(args);
    if (g->grid[0] && g->block[0]) return 0;
    error_set(err, "an empty grid");
    return CUDA_REFUSED;
}

int cuda_tensor_map_encode(const struct cuda_tensor *t, uint64_t address, struct cuda_tensor_map *out,
                           struct error *err)
{
    memset(out, t->rank, sizeof *out);
    if (t->size[0]) return 0;
    error_set(err, "an empty tensor");
    return CUDA_REFUSED;
}

int cuda_tensor_map_move(struct cuda_tensor_map *map, uint64_t address, struct error *err)
{
    return 0;
}

#ifndef FAKE_CUDA_EMULATES
int cuda_event_create(struct cuda_event **out, struct error *err)
{
    *out = (struct cuda_event *)&fake_handle;
    return 0;
}

void cuda_event_destroy(struct cuda_event *event)
{
}

int cuda_event_record(struct cuda *c, struct cuda_event *event, struct error *err)
{
    return 0;
}

int cuda_event_happened(struct cuda_event *event, bool *happened, struct error *err)
{
    *happened = true;
    return 0;
}

static double fake_seconds = 1e-3; // between any two events
int cuda_event_seconds(struct cuda_event *from, struct cuda_event *to, double *seconds, struct error *err)
{
    *seconds = fake_seconds;
    return 0;
}
#endif

int cuda_capture_begin(struct cuda *c, struct error *err)
{
    return 0;
}

int cuda_capture_end(struct cuda *c, struct cuda_graph **out, struct error *err)
{
    *out = (struct cuda_graph *)&fake_handle;
    return 0;
}

int cuda_graph_launch(struct cuda *c, struct cuda_graph *graph, struct error *err)
{
    return 0;
}

void cuda_graph_free(struct cuda_graph *graph)
{
}

// Arrays are dense memory. A texture or surface object is the address of its array or of its buffer's memory.
struct cuda_array {
    size_t bytes;
    unsigned char data[];
};

void cuda_image_limits(struct cuda *c, struct image_limits *limits)
{
    *limits = image_limits_known;
}

int cuda_array_create(const struct image_layout *image, enum element type, struct cuda_array **out, struct error *err)
{
    size_t bytes = (size_t)(image->size[0] * image->size[1] * image->size[2] * image->channels) * element_size(type);
    void *memory = NULL;
    int failed = cuda_host_alloc(sizeof **out + bytes, &memory, err);
    *out = memory;
    if (*out) (*out)->bytes = bytes;
    return failed;
}

void cuda_array_destroy(struct cuda_array *array)
{
    free(array);
}

int cuda_array_copy(struct cuda *c, struct cuda_array *array, const struct image_layout *image, enum element type,
                    uint64_t linear, bool write, struct error *err)
{
    size_t row = (size_t)(image->size[0] * image->channels) * element_size(type);
    for (size_t i = 0; i < (size_t)(image->size[1] * image->size[2]); i++) {
        unsigned char *there = (unsigned char *)(uintptr_t)linear + i * (size_t)image->pitch;
        memcpy(write ? array->data + i * row : there, write ? there : array->data + i * row, row);
    }
    return 0;
}

int cuda_texture_create(const struct image_layout *image, enum element type, struct cuda_array *array, uint64_t address,
                        uint64_t *object, struct error *err)
{
    *object = array ? (uint64_t)(uintptr_t)array->data : address;
    return 0;
}

void cuda_texture_destroy(uint64_t object)
{
}

int cuda_surface_create(struct cuda_array *array, uint64_t *object, struct error *err)
{
    *object = (uint64_t)(uintptr_t)array->data;
    return 0;
}

void cuda_surface_destroy(uint64_t object)
{
}

// The second stream is the same as the first.
int cuda_beside_open(struct cuda_beside **out, struct cuda *c, struct error *err)
{
    *out = (struct cuda_beside *)c;
    return 0;
}

void cuda_beside_close(struct cuda_beside *b)
{
}

int cuda_beside_launch(struct cuda_beside *b, struct cuda_kernel *kernel, const struct cuda_geometry *g, void **args,
                       struct error *err)
{
    return cuda_launch((struct cuda *)b, kernel, g, args, err);
}

int cuda_beside_join(struct cuda_beside *b, struct error *err)
{
    return 0;
}

// NOLINTEND(misc-unused-parameters)
#pragma GCC diagnostic pop
