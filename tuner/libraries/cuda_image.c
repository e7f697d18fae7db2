// See cuda_image.h.
#include "tuner/libraries/cuda_image.h"

#include "tuner/libraries/cuda_driver.h"

void cuda_image_limits(struct cuda *c, struct image_limits *limits)
{
    size_t linear = 0;
#define LIMIT(name) cuda_attribute(c, CU_DEVICE_ATTRIBUTE_MAXIMUM_##name)
    *limits = (struct image_limits){
        .array = {{LIMIT(TEXTURE1D_WIDTH)},
                  {LIMIT(TEXTURE2D_WIDTH), LIMIT(TEXTURE2D_HEIGHT)},
                  {LIMIT(TEXTURE3D_WIDTH), LIMIT(TEXTURE3D_HEIGHT), LIMIT(TEXTURE3D_DEPTH)}},
        .surface = {{LIMIT(SURFACE1D_WIDTH)},
                    {LIMIT(SURFACE2D_WIDTH), LIMIT(SURFACE2D_HEIGHT)},
                    {LIMIT(SURFACE3D_WIDTH), LIMIT(SURFACE3D_HEIGHT), LIMIT(SURFACE3D_DEPTH)}},
        .linear = image_limits_known.linear,
        .pitch_size = {LIMIT(TEXTURE2D_LINEAR_WIDTH), LIMIT(TEXTURE2D_LINEAR_HEIGHT)},
        .pitch = LIMIT(TEXTURE2D_LINEAR_PITCH),
        .pitch_alignment = cuda_attribute(c, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT),
    };
#undef LIMIT
    if (!driver.cuDeviceGetTexture1DLinearMaxWidth(&linear, CU_AD_FORMAT_FLOAT, 1, c->device) && linear)
        limits->linear = (int64_t)linear;
    if (limits->pitch_alignment < 1) limits->pitch_alignment = image_limits_known.pitch_alignment;
}

static CUarray_format format_of(enum element type)
{
    static const CUarray_format formats[ELEMENT_COUNT] = {
        [ELEMENT_F32] = CU_AD_FORMAT_FLOAT,        [ELEMENT_F16] = CU_AD_FORMAT_HALF,
        [ELEMENT_I8] = CU_AD_FORMAT_SIGNED_INT8,   [ELEMENT_U8] = CU_AD_FORMAT_UNSIGNED_INT8,
        [ELEMENT_I16] = CU_AD_FORMAT_SIGNED_INT16, [ELEMENT_U16] = CU_AD_FORMAT_UNSIGNED_INT16,
        [ELEMENT_I32] = CU_AD_FORMAT_SIGNED_INT32, [ELEMENT_U32] = CU_AD_FORMAT_UNSIGNED_INT32,
    };
    return formats[type]; // 0, which is not a format, for all other types
}

int cuda_array_create(const struct image_layout *image, enum element type, struct cuda_array **out, struct error *err)
{
    CUarray array = NULL;
    CUDA_ARRAY3D_DESCRIPTOR about = {.Width = (size_t)image->size[0],
                                     .Height = image->rank > 1 ? (size_t)image->size[1] : 0,
                                     .Depth = image->rank > 2 ? (size_t)image->size[2] : 0,
                                     .Format = format_of(type),
                                     .NumChannels = (unsigned)image->channels,
                                     .Flags = image->surface ? CUDA_ARRAY3D_SURFACE_LDST : 0};
    CUresult r = driver.cuArray3DCreate(&array, &about);
    *out = (struct cuda_array *)array;
    return cuda_check(err, r, "cannot allocate an array for a texture or a surface");
}

void cuda_array_destroy(struct cuda_array *array)
{
    if (array) driver.cuArrayDestroy((CUarray)array);
}

int cuda_array_copy(struct cuda *c, struct cuda_array *array, const struct image_layout *image, enum element type,
                    uint64_t linear, bool write, struct error *err)
{
    CUDA_MEMCPY3D copy = {.WidthInBytes = (size_t)image->size[0] * (size_t)image->channels * element_size(type),
                          .Height = (size_t)image->size[1],
                          .Depth = (size_t)image->size[2]};
    if (write) {
        copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = linear;
        copy.srcPitch = (size_t)image->pitch;
        copy.srcHeight = copy.Height;
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = (CUarray)array;
    } else {
        copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.srcArray = (CUarray)array;
        copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = linear;
        copy.dstPitch = (size_t)image->pitch;
        copy.dstHeight = copy.Height;
    }
    return cuda_check(err, driver.cuMemcpy3DAsync(&copy, c->stream), "cannot copy an array");
}

static CUDA_RESOURCE_DESC resource_of(const struct image_layout *image, enum element type, struct cuda_array *array,
                                      uint64_t address)
{
    CUDA_RESOURCE_DESC r = {0};
    if (image->memory == IMAGE_ARRAY) {
        r.resType = CU_RESOURCE_TYPE_ARRAY;
        r.res.array.hArray = (CUarray)array;
    } else if (image->memory == IMAGE_LINEAR) {
        r.resType = CU_RESOURCE_TYPE_LINEAR;
        r.res.linear.devPtr = address;
        r.res.linear.format = format_of(type);
        r.res.linear.numChannels = (unsigned)image->channels;
        r.res.linear.sizeInBytes = (size_t)image->size[0] * (size_t)image->channels * element_size(type);
    } else {
        r.resType = CU_RESOURCE_TYPE_PITCH2D;
        r.res.pitch2D.devPtr = address;
        r.res.pitch2D.format = format_of(type);
        r.res.pitch2D.numChannels = (unsigned)image->channels;
        r.res.pitch2D.width = (size_t)image->size[0];
        r.res.pitch2D.height = (size_t)image->size[1];
        r.res.pitch2D.pitchInBytes = (size_t)image->pitch;
    }
    return r;
}

int cuda_texture_create(const struct image_layout *image, enum element type, struct cuda_array *array, uint64_t address,
                        uint64_t *object, struct error *err)
{
    static const CUaddress_mode modes[] = {[IMAGE_CLAMP] = CU_TR_ADDRESS_MODE_CLAMP,
                                           [IMAGE_WRAP] = CU_TR_ADDRESS_MODE_WRAP,
                                           [IMAGE_MIRROR] = CU_TR_ADDRESS_MODE_MIRROR,
                                           [IMAGE_BORDER] = CU_TR_ADDRESS_MODE_BORDER};
    const CUDA_RESOURCE_DESC resource = resource_of(image, type, array, address);
    CUDA_TEXTURE_DESC texture = {.filterMode = image->filter == IMAGE_INTERPOLATED ? CU_TR_FILTER_MODE_LINEAR
                                                                                   : CU_TR_FILTER_MODE_POINT};
    CUtexObject made = 0;
    for (int i = 0; i < IMAGE_DIMENSIONS; i++) texture.addressMode[i] = modes[image->address[i]];
    if (!element_is_float(type) && image->read == IMAGE_ELEMENT) texture.flags |= CU_TRSF_READ_AS_INTEGER;
    if (image->normalized) texture.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    CUresult r = driver.cuTexObjectCreate(&made, &resource, &texture, NULL);
    *object = made;
    return cuda_check(err, r, "the driver refuses the texture");
}

void cuda_texture_destroy(uint64_t object)
{
    if (object) driver.cuTexObjectDestroy(object);
}

int cuda_surface_create(struct cuda_array *array, uint64_t *object, struct error *err)
{
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = (CUarray)array};
    CUsurfObject made = 0;
    CUresult r = driver.cuSurfObjectCreate(&made, &resource);
    *object = made;
    return cuda_check(err, r, "the driver refuses the surface");
}

void cuda_surface_destroy(uint64_t object)
{
    if (object) driver.cuSurfObjectDestroy(object);
}
