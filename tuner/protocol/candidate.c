// See candidate.h.
#include "tuner/protocol/candidate.h"

#include <stdint.h>

#define MEMBER(member) RECORD_MEMBER(struct stage_argument, member)
static const struct record_field argument_fields[] = {
    {"buffer", MEMBER(buffer)},
    {"texture", MEMBER(texture)},
    {"surface", MEMBER(surface)},
    {"bytes", MEMBER(bytes)},
    {"scalar", MEMBER(scalar)},
    {"value", MEMBER(value)},
    {"tensor_map", MEMBER(tensor_map)},
    {"sizes", RECORD_VALUES(struct stage_argument, sizes, size_count), .high = (double)INT64_MAX},
    {"strides", RECORD_VALUES(struct stage_argument, strides, stride_count), .high = (double)INT64_MAX},
    {"box", RECORD_VALUES(struct stage_argument, box, box_count), .high = UINT32_MAX},
    {"swizzle", MEMBER(swizzle)},
    {"promotion", MEMBER(promotion)},
    {"nan", MEMBER(nan)},
    {"tf32", MEMBER(tf32)},
    {0}};
#undef MEMBER
static const struct record argument_record = {"an argument", sizeof(struct stage_argument), argument_fields, NULL};

#define MEMBER(member) RECORD_MEMBER(struct stage_call, member)
static const struct record_field stage_fields[] = {
    {"symbol", MEMBER(symbol)},
    {"grid", RECORD_PLACES(struct stage_call, grid), .fallback = -1},
    {"block", RECORD_PLACES(struct stage_call, block), .fallback = -1},
    {"cluster", RECORD_PLACES(struct stage_call, cluster), .fallback = -1},
    {"shared", MEMBER(shared), .flags = RECORD_ALWAYS},
    {"cooperative", MEMBER(cooperative), .flags = RECORD_ALWAYS},
    {"overlap", MEMBER(overlap), .flags = RECORD_ALWAYS},
    {"unit", MEMBER(unit)},
    {"again", MEMBER(again)},
    {"args", RECORD_RECORDS(struct stage_call, args, arg_count, argument_record)},
    {"operation", MEMBER(operation)},
    {"by", MEMBER(by)},
    {"buffers", RECORD_PAIRS(struct stage_call, buffers, buffer_count)},
    {"roles", RECORD_PAIRS(struct stage_call, roles, role_count)},
    {"library", MEMBER(library)},
    {"function", MEMBER(function)},
    {"init", MEMBER(init)},
    {"sizes", RECORD_VALUES(struct stage_call, sizes, size_count)},
    {0}};
#undef MEMBER
const struct record stage_call_record = {"a stage", sizeof(struct stage_call), stage_fields, NULL};

static const struct record_field problem_fields[] = {
    {"problem", RECORD_MEMBER(struct candidate_problem, problem), .fallback = -1},
    {"drawn", RECORD_MEMBER(struct candidate_problem, drawn)},
    {"stages", RECORD_RECORDS(struct candidate_problem, stages, stage_count, stage_call_record),
     .flags = RECORD_ALWAYS},
    {0}};
static const struct record problem_record = {"a problem", sizeof(struct candidate_problem), problem_fields, NULL};

static const struct record_field candidate_fields[] = {
    {"name", RECORD_MEMBER(struct candidate, name)},
    {"config", RECORD_MEMBER(struct candidate, config)},
    {"cubin", RECORD_MEMBER(struct candidate, cubin)},
    {"problems", RECORD_RECORDS(struct candidate, problems, problem_count, problem_record)},
    {"problems", RECORD_MEMBER(struct candidate, written)},
    {0}};
const struct record candidate_record = {"a candidate", sizeof(struct candidate), candidate_fields, NULL};

void stage_call_clear(struct stage_call *s)
{
    record_clear(&stage_call_record, s);
}

void stage_argument_clear(struct stage_argument *a)
{
    record_clear(&argument_record, a);
}
