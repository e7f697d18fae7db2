// See units.h.
#include "tuner/base/units.h"

static const char mark[16] = "sweetspot units";

struct units_head {
    char mark[sizeof mark];
    uint64_t count;
    struct {
        uint64_t offset, size;
    } unit[UNITS_MAX];
};

void *units_join(const void *const *images, const size_t *sizes, size_t count, size_t *size, struct error *err)
{
    struct units_head head = {.count = count};
    size_t end = round_up(sizeof head, UNITS_ALIGNMENT);
    if (count > UNITS_MAX) return error_set(err, "%zu units; at most %d are possible", count, UNITS_MAX), NULL;
    memcpy(head.mark, mark, sizeof mark);
    for (size_t i = 0; i < count; i++) {
        head.unit[i].offset = end;
        head.unit[i].size = sizes[i];
        end = round_up(end + sizes[i], UNITS_ALIGNMENT);
    }
    char *whole = memory_try(end, 1, err);
    if (!whole) return NULL;
    memcpy(whole, &head, sizeof head);
    for (size_t i = 0; i < count; i++)
        if (sizes[i]) memcpy(whole + head.unit[i].offset, images[i], sizes[i]);
    *size = end;
    return whole;
}

int units_count(const void *image, size_t size, struct error *err)
{
    struct units_head head;
    if (size < sizeof mark || memcmp(image, mark, sizeof mark) != 0) return 1;
    if (size < sizeof head) return error_set(err, "the file of units is truncated");
    memcpy(&head, image, sizeof head);
    if (!head.count || head.count > UNITS_MAX) return error_set(err, "the file of units is damaged");
    for (size_t i = 0; i < head.count; i++)
        if (head.unit[i].offset > size || head.unit[i].size > size - head.unit[i].offset)
            return error_set(err, "the file of units is damaged");
    return (int)head.count;
}

size_t units_offset(const void *image, size_t size, size_t unit, size_t *bytes)
{
    struct units_head head;
    bool one = size < sizeof mark || memcmp(image, mark, sizeof mark) != 0;
    *bytes = one && !unit ? size : 0;
    if (one) return 0;
    memcpy(&head, image, sizeof head);
    if (unit >= head.count) return 0;
    *bytes = (size_t)head.unit[unit].size;
    return (size_t)head.unit[unit].offset;
}
