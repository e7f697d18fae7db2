// See problem_message.h.
#include "tuner/protocol/problem_message.h"

#define FILL(member) RECORD_MEMBER(struct fill_request, member)
static const struct record_field fill_fields[] = {
    {"kind", RECORD_WORDS(struct fill_request, kind, fill_text), .flags = RECORD_ALWAYS},
    {"low", FILL(low)},
    {"high", FILL(high)},
    {"value", FILL(value)},
    {"total", FILL(total)},
    {"path", FILL(path)},
    {0}};
static const struct record fill_record = {"a fill", sizeof(struct fill_request), fill_fields, NULL};

#define COMPARED(member, number) RECORD_VALUES(struct compare_request, member, number)
static const struct record_field compare_fields[] = {{"sizes", COMPARED(sizes, rank)},
                                                     {"first", COMPARED(first, first_count)},
                                                     {"count", COMPARED(count, count_count)},
                                                     {0}};
static const struct record compare_record = {"the part that is compared", sizeof(struct compare_request),
                                             compare_fields, NULL};

#define IMAGE(member) RECORD_MEMBER(struct image_request, member)
#define IMAGE_WORD(member, words) RECORD_WORDS(struct image_request, member, words)
static const struct record_field image_fields[] = {
    {"memory", IMAGE_WORD(memory, image_memory_text), .flags = RECORD_ALWAYS},
    {"size", RECORD_VALUES(struct image_request, size, rank)},
    {"channels", IMAGE(channels), .fallback = 1, .flags = RECORD_ALWAYS},
    {"surface", IMAGE(surface), .flags = RECORD_ALWAYS},
    {"filter", IMAGE_WORD(filter, image_filter_text), .flags = RECORD_ALWAYS},
    {"address", IMAGE_WORD(address, image_address_text), .shape = RECORD_LIST,
     .count = offsetof(struct image_request, address_count)},
    {"normalized", IMAGE(normalized), .flags = RECORD_ALWAYS},
    {"read", IMAGE_WORD(read, image_read_text), .flags = RECORD_ALWAYS},
    {0}};
static const struct record image_record = {"an image", sizeof(struct image_request), image_fields, NULL};

static const char *const symbol_text[] = {"", "required", "optional", NULL};

#define BUFFER(member) RECORD_MEMBER(struct buffer_request, member)
static const struct record_field buffer_fields[] = {
    {"name", BUFFER(name), .flags = RECORD_REQUIRED},
    {"type", BUFFER(type), .flags = RECORD_REQUIRED},
    {"rows", BUFFER(rows), .fallback = 1, .flags = RECORD_ALWAYS},
    {"cols", BUFFER(cols)},
    {"ld", BUFFER(ld)},
    {"direction", RECORD_WORDS(struct buffer_request, direction, direction_text), .flags = RECORD_ALWAYS},
    {"fill", RECORD_RECORD(struct buffer_request, fill, fill_record)},
    {"other", RECORD_RECORD(struct buffer_request, other, fill_record)},
    {"addresses", RECORD_RECORDS(struct buffer_request, addresses, address_count, address_record)},
    {"restore", BUFFER(restore)},
    {"symbol", RECORD_WORDS(struct buffer_request, symbol, symbol_text)},
    {"compare", RECORD_RECORD(struct buffer_request, compare, compare_record)},
    {"image", RECORD_RECORD(struct buffer_request, image, image_record)},
    {0}};
static const struct record buffer_record = {"a buffer", sizeof(struct buffer_request), buffer_fields, NULL};

#define PROBLEM(member) RECORD_MEMBER(struct problem_request, member)
static const struct record_field problem_fields[] = {
    {"name", PROBLEM(name), .flags = RECORD_REQUIRED},
    {"tune", PROBLEM(tune), .fallback = 1, .flags = RECORD_ALWAYS},
    {"weight", PROBLEM(weight)},
    {"sizes", RECORD_PAIRS(struct problem_request, sizes, size_count), .flags = RECORD_ALWAYS},
    {"roles", RECORD_PAIRS(struct problem_request, roles, role_count), .flags = RECORD_ALWAYS},
    {"flops", PROBLEM(flops), .flags = RECORD_ALWAYS},
    {"bytes", PROBLEM(bytes), .flags = RECORD_ALWAYS},
    {"buffers", RECORD_RECORDS(struct problem_request, buffers, buffer_count, buffer_record), .flags = RECORD_ALWAYS},
    {0}};
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
