// See device_image.h.
#include "tuner/gpu/device_image.h"

int device_image_read(struct device_image *image, const struct image_request *from, const struct operand *v,
                      struct error *err)
{
    struct image_layout *a = &image->about;
    if (from->rank < 1 || from->rank > IMAGE_DIMENSIONS)
        return error_set(err, "an image has 1 to %d dimensions", IMAGE_DIMENSIONS);
    *image = (struct device_image){.about = {.memory = from->memory,
                                             .rank = (int)from->rank,
                                             .channels = from->channels,
                                             .pitch = v->ld * (int64_t)element_size(v->type),
                                             .surface = from->surface,
                                             .filter = from->filter,
                                             .normalized = from->normalized,
                                             .read = from->read}};
    if (a->channels != 1 && a->channels != 2 && a->channels != 4)
        return error_set(err, "an image has 1, 2 or 4 channels");
    if ((a->memory == IMAGE_LINEAR && a->rank != 1) || (a->memory == IMAGE_PITCH && a->rank != 2))
        return error_set(err, "memory \"%s\" is not for %d dimensions", image_memory_text[a->memory], a->rank);
    if (a->surface && a->memory != IMAGE_ARRAY) return error_set(err, "a surface needs memory \"array\"");
    for (size_t i = 0; i < IMAGE_DIMENSIONS; i++) {
        a->size[i] = i < from->rank ? from->size[i] : 1;
        if (i < from->address_count) a->address[i] = from->address[i];
    }
    int64_t above;
    bool fits = a->size[0] > 0 && a->size[1] > 0 && a->size[2] > 0 &&
                !__builtin_mul_overflow(a->size[1], a->size[2], &above) && above == v->rows &&
                v->cols % a->channels == 0 && a->size[0] == v->cols / a->channels;
    return fits ? 0 : error_set(err, "an image whose sizes are not the buffer's");
}

size_t device_image_bytes(const struct device_image *image, enum element type)
{
    const int64_t *size = image->about.size;
    if (image->about.memory != IMAGE_ARRAY) return 0;
    return (size_t)size[0] * (size_t)size[1] * (size_t)size[2] * (size_t)image->about.channels * element_size(type);
}

int device_image_open(struct device_image *image, struct cuda *cuda, enum element type, struct error *err)
{
    struct image_limits limits;
    int failed;
    cuda_image_limits(cuda, &limits);
    if (image_check(&image->about, &limits, err)) return -1;
    if (image->about.memory != IMAGE_ARRAY) return 0;
    if ((failed = cuda_array_create(&image->about, type, &image->array, err)) ||
        (failed = cuda_texture_create(&image->about, type, image->array, 0, &image->texture, err)))
        return failed;
    return image->about.surface ? cuda_surface_create(image->array, &image->surface, err) : 0;
}

void device_image_release(struct device_image *image)
{
    cuda_texture_destroy(image->texture);
    cuda_surface_destroy(image->surface);
    cuda_array_destroy(image->array);
    *image = (struct device_image){0};
}
