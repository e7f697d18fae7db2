// See device_image.h.
#include "tuner/gpu/device_image.h"

#include "tuner/base/buffer_kind.h"

static int read_word(const json_t *from, const char *key, const char *const *words, int *out, struct error *err)
{
    const char *word = json_get_string(from, key, words[0]);
    *out = word_find(words, word);
    return *out < 0 ? error_set(err, "an image's %s cannot be '%s'", key, word) : 0;
}

int device_image_read(struct device_image *image, const json_t *from, int64_t rows, int64_t cols, int64_t pitch,
                      struct error *err)
{
    struct image_layout *a = &image->about;
    const json_t *sizes = json_object_get(from, "size"), *address = json_object_get(from, "address");
    int memory, filter, reading, mode;
    *image = (struct device_image){.about = {.rank = (int)json_array_size(sizes), .pitch = pitch}};
    int64_t channels = json_get_integer(from, "channels", 1);
    if (read_word(from, "memory", image_memory_text, &memory, err) ||
        read_word(from, "filter", image_filter_text, &filter, err) ||
        read_word(from, "read", image_read_text, &reading, err))
        return -1;
    a->memory = (enum image_memory)memory;
    a->filter = (enum image_filter)filter;
    a->read = (enum image_read)reading;
    a->normalized = json_get_bool(from, "normalized", false);
    a->surface = json_get_bool(from, "surface", false);
    if (a->rank < 1 || a->rank > IMAGE_DIMENSIONS || json_array_size(sizes) > IMAGE_DIMENSIONS)
        return error_set(err, "an image has 1 to %d dimensions", IMAGE_DIMENSIONS);
    if (channels != 1 && channels != 2 && channels != 4) return error_set(err, "an image has 1, 2 or 4 channels");
    if ((a->memory == IMAGE_LINEAR && a->rank != 1) || (a->memory == IMAGE_PITCH && a->rank != 2))
        return error_set(err, "memory \"%s\" is not for %d dimensions", image_memory_text[memory], a->rank);
    if (a->surface && a->memory != IMAGE_ARRAY) return error_set(err, "a surface needs memory \"array\"");
    a->channels = (int)channels;
    for (int i = 0; i < IMAGE_DIMENSIONS; i++) {
        const json_t *size = json_array_get(sizes, (size_t)i), *word = json_array_get(address, (size_t)i);
        a->size[i] = i >= a->rank ? 1 : json_is_integer(size) ? json_integer_value(size) : 0;
        mode = json_is_string(word) ? word_find(image_address_text, json_string_value(word)) : 0;
        if (mode < 0) return error_set(err, "an image's address cannot be '%s'", json_string_value(word));
        a->address[i] = (enum image_address)mode;
    }
    int64_t above;
    bool fits = a->size[0] > 0 && a->size[1] > 0 && a->size[2] > 0 &&
                !__builtin_mul_overflow(a->size[1], a->size[2], &above) && above == rows && cols % channels == 0 &&
                a->size[0] == cols / channels;
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
