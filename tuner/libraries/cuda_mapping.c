// See cuda.h.
#include "tuner/libraries/cuda_driver.h"

static CUmemAllocationProp properties(const struct cuda *c)
{
    CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.location.id = c->device;
    return p;
}

static int map(struct cuda_mapping *r, const struct cuda *c, size_t i, size_t bytes, struct error *err)
{
    CUmemAllocationProp p = properties(c);
    CUmemAccessDesc access = {.location = p.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    int failed = cuda_check(err, driver.cuMemCreate(&memory, bytes, &p, 0), "cannot allocate device memory");
    if (failed) return failed;
    failed = cuda_check(err, driver.cuMemMap(r->address[i], bytes, 0, memory, 0), "cannot map device memory");
    driver.cuMemRelease(memory); // the memory lives as long as it is mapped
    if (failed) return failed;
    r->bytes[i] = bytes;
    return cuda_check(err, driver.cuMemSetAccess(r->address[i], bytes, &access, 1), "cannot map device memory");
}

int cuda_mapping_open(struct cuda_mapping *r, struct cuda *c, const size_t *bytes, const uint64_t *apart, size_t count,
                      struct error *err)
{
    CUmemAllocationProp p = properties(c);
    size_t unit = 0, size[CUDA_MAPPING_PIECES_MAX];
    uint64_t offset[CUDA_MAPPING_PIECES_MAX];
    *r = (struct cuda_mapping){.count = count};
    if (!cuda_attribute(c, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
        return cuda_refuse(err, "the device cannot map memory at chosen addresses");
    int failed =
        cuda_check(err, driver.cuMemGetAllocationGranularity(&unit, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM), "mapping");
    if (failed) return failed;
    for (size_t i = 0; i < count; i++) {
        offset[i] = round_up(r->reserved_bytes + apart[i], unit);
        size[i] = round_up(bytes[i] ? bytes[i] : 1, unit);
        r->reserved_bytes = offset[i] + size[i];
    }
    CUdeviceptr at = 0;
    failed = cuda_check(err, driver.cuMemAddressReserve(&at, r->reserved_bytes, 0, 0, 0), "cannot reserve addresses");
    if (failed) return failed;
    r->reserved = at;
    for (size_t i = 0; i < count; i++) r->address[i] = at + offset[i];
    for (size_t i = 0; i < count && !failed; i++) failed = map(r, c, i, size[i], err);
    return failed;
}

void cuda_mapping_close(struct cuda_mapping *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->bytes[i]) driver.cuMemUnmap(r->address[i], r->bytes[i]);
    if (r->reserved) driver.cuMemAddressFree(r->reserved, r->reserved_bytes);
    *r = (struct cuda_mapping){0};
}
