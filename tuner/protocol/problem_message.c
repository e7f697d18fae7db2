// See problem_message.h.
#include "tuner/protocol/problem_message.h"

#include <string.h>

#define MEMBER(member) RECORD_MEMBER(struct fill_request, member)
static const struct record_field fill_fields[] = {
    {"kind", RECORD_WORDS(struct fill_request, kind, fill_text), .flags = RECORD_ALWAYS},
    {"low", MEMBER(low)},
    {"high", MEMBER(high)},
    {"value", MEMBER(value)},
    {"total", MEMBER(total)},
    {"path", MEMBER(path)},
    {0}};
#undef MEMBER
static const struct record fill_record = {"a fill", sizeof(struct fill_request), fill_fields, NULL};

#define VALUES(member, number) RECORD_VALUES(struct compare_request, member, number)
static const struct record_field compare_fields[] = {
    {"sizes", VALUES(sizes, rank)}, {"first", VALUES(first, first_count)}, {"count", VALUES(count, count_count)}, {0}};
#undef VALUES
static const struct record compare_record = {"the part that is compared", sizeof(struct compare_request),
                                             compare_fields, NULL};

#define MEMBER(member) RECORD_MEMBER(struct image_request, member)
#define WORDS(member, words) RECORD_WORDS(struct image_request, member, words)
static const struct record_field image_fields[] = {
    {"memory", WORDS(memory, image_memory_text), .flags = RECORD_ALWAYS},
    {"size", RECORD_VALUES(struct image_request, size, rank)},
    {"channels", MEMBER(channels), .fallback = 1, .flags = RECORD_ALWAYS},
    {"surface", MEMBER(surface), .flags = RECORD_ALWAYS},
    {"filter", WORDS(filter, image_filter_text), .flags = RECORD_ALWAYS},
    {"address", WORDS(address, image_address_text), .shape = RECORD_LIST,
     .count = offsetof(struct image_request, address_count)},
    {"normalized", MEMBER(normalized), .flags = RECORD_ALWAYS},
    {"read", WORDS(read, image_read_text), .flags = RECORD_ALWAYS},
    {0}};
#undef MEMBER
#undef WORDS
static const struct record image_record = {"an image", sizeof(struct image_request), image_fields, NULL};

static const char *const symbol_text[] = {"", "required", "optional", NULL};

#define MEMBER(member) RECORD_MEMBER(struct buffer_request, member)
static const struct record_field buffer_fields[] = {
    {"name", MEMBER(name), .flags = RECORD_REQUIRED},
    {"type", MEMBER(type), .flags = RECORD_REQUIRED},
    {"rows", MEMBER(rows), .fallback = 1, .flags = RECORD_ALWAYS},
    {"cols", MEMBER(cols)},
    {"ld", MEMBER(ld)},
    {"direction", RECORD_WORDS(struct buffer_request, direction, direction_text), .flags = RECORD_ALWAYS},
    {"fill", RECORD_RECORD(struct buffer_request, fill, fill_record)},
    {"other", RECORD_RECORD(struct buffer_request, other, fill_record)},
    {"restore", MEMBER(restore)},
    {"symbol", RECORD_WORDS(struct buffer_request, symbol, symbol_text)},
    {"compare", RECORD_RECORD(struct buffer_request, compare, compare_record)},
    {"image", RECORD_RECORD(struct buffer_request, image, image_record)},
    {0}};
#undef MEMBER
static const struct record buffer_record = {"a buffer", sizeof(struct buffer_request), buffer_fields, NULL};

#define MEMBER(member) RECORD_MEMBER(struct problem_request, member)
static const struct record_field problem_fields[] = {
    {"name", MEMBER(name), .flags = RECORD_REQUIRED},
    {"tune", MEMBER(tune), .fallback = 1, .flags = RECORD_ALWAYS},
    {"weight", MEMBER(weight)},
    {"sizes", RECORD_PAIRS(struct problem_request, sizes, size_count), .flags = RECORD_ALWAYS},
    {"roles", RECORD_PAIRS(struct problem_request, roles, role_count), .flags = RECORD_ALWAYS},
    {"flops", MEMBER(flops), .flags = RECORD_ALWAYS},
    {"bytes", MEMBER(bytes), .flags = RECORD_ALWAYS},
    {"buffers", RECORD_RECORDS(struct problem_request, buffers, buffer_count, buffer_record), .flags = RECORD_ALWAYS},
    {0}};
#undef MEMBER
const struct record problem_request_record = {"a problem", sizeof(struct problem_request), problem_fields, NULL};

static const struct record_field values_fields[] = {
    {"values", RECORD_PAIRS(struct problem_request, roles, role_count), .flags = RECORD_ALWAYS}, {0}};
const struct record problem_values_record = {"the values", sizeof(struct problem_request), values_fields, NULL};

double named_number(const struct record_named_number *list, size_t count, const char *name, double fallback)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].name, name)) return list[i].value.real;
    return fallback;
}
