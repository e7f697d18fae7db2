// See image.h.
#include "tuner/base/image.h"

const char *const image_memory_text[] = {"array", "linear", "pitch", NULL},
                  *const image_filter_text[] = {"point", "linear", NULL},
                  *const image_address_text[] = {"clamp", "wrap", "mirror", "border", NULL},
                  *const image_read_text[] = {"element", "normalized", NULL};

const struct image_limits image_limits_known = {
    .array = {{131072}, {131072, 65536}, {16384, 16384, 16384}},
    .surface = {{32768}, {131072, 65536}, {16384, 16384, 16384}},
    .linear = 1 << 28,
    .pitch_size = {131072, 65000},
    .pitch = 2097120,
    .pitch_alignment = 32,
};

int image_check(const struct image_layout *image, const struct image_limits *limits, struct error *err)
{
    static const char *const names[] = {"width", "height", "depth"};
    const int64_t *most = image->memory == IMAGE_LINEAR  ? &limits->linear
                          : image->memory == IMAGE_PITCH ? limits->pitch_size
                          : image->surface               ? limits->surface[image->rank - 1]
                                                         : limits->array[image->rank - 1];
    for (int i = 0; i < image->rank && i < IMAGE_DIMENSIONS; i++)
        if (image->size[i] < 1 || image->size[i] > most[i])
            return error_set(err,
                             "its %s is %" PRId64 "; the device accepts 1 to %" PRId64 " for a %s of %d dimension%s",
                             names[i], image->size[i], most[i],
                             image->memory != IMAGE_ARRAY ? "texture over the buffer's own memory"
                             : image->surface             ? "surface"
                                                          : "texture",
                             image->rank, image->rank > 1 ? "s" : "");
    if (image->memory == IMAGE_PITCH && (image->pitch % limits->pitch_alignment || image->pitch > limits->pitch))
        return error_set(err,
                         "its rows are %" PRId64 " bytes apart; a texture with memory \"pitch\" needs a multiple of "
                         "%" PRId64 " bytes up to %" PRId64 ": set 'ld', or use memory \"array\"",
                         image->pitch, limits->pitch_alignment, limits->pitch);
    return 0;
}
