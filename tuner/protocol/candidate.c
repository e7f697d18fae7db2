// See candidate.h.
#include "tuner/protocol/candidate.h"

#define ARGUMENT(member) RECORD_MEMBER(struct stage_argument, member)
static const struct record_field argument_fields[] = {
    {"buffer", ARGUMENT(buffer)},
    {"texture", ARGUMENT(texture)},
    {"surface", ARGUMENT(surface)},
    {"bytes", ARGUMENT(bytes)},
    {"addresses", RECORD_RECORDS(struct stage_argument, addresses, address_count, address_record)},
    {"scalar", ARGUMENT(scalar)},
    {"value", ARGUMENT(value)},
    {"tensor_map", ARGUMENT(tensor_map)},
    {"sizes", RECORD_VALUES(struct stage_argument, sizes, size_count), .high = (double)INT64_MAX},
    {"strides", RECORD_VALUES(struct stage_argument, strides, stride_count), .high = (double)INT64_MAX},
    {"box", RECORD_VALUES(struct stage_argument, box, box_count), .high = UINT32_MAX},
    {"swizzle", ARGUMENT(swizzle)},
    {"promotion", ARGUMENT(promotion)},
    {"nan", ARGUMENT(nan)},
    {"tf32", ARGUMENT(tf32)},
    {0}};
const struct record stage_argument_record = {"an argument", sizeof(struct stage_argument), argument_fields, NULL};

#define CALL(member) RECORD_MEMBER(struct stage_call, member)
static const struct record_field stage_fields[] = {
    {"symbol", CALL(symbol)},
    {"grid", RECORD_PLACES(struct stage_call, grid), .fallback = -1},
    {"block", RECORD_PLACES(struct stage_call, block), .fallback = -1},
    {"cluster", RECORD_PLACES(struct stage_call, cluster), .fallback = -1},
    {"shared", CALL(shared), .flags = RECORD_ALWAYS},
    {"cooperative", CALL(cooperative), .flags = RECORD_ALWAYS},
    {"overlap", CALL(overlap), .flags = RECORD_ALWAYS},
    {"untimed", CALL(untimed)},
    {"unit", CALL(unit)},
    {"again", CALL(again)},
    {"args", RECORD_RECORDS(struct stage_call, args, arg_count, stage_argument_record)},
    {"operation", CALL(operation)},
    {"by", CALL(by)},
    {"buffers", RECORD_PAIRS(struct stage_call, buffers, buffer_count)},
    {"roles", RECORD_PAIRS(struct stage_call, roles, role_count)},
    {"library", CALL(host.library)},
    {"function", CALL(host.function)},
    {"init", CALL(host.init)},
    {"sizes", RECORD_VALUES(struct stage_call, host.sizes, host.size_count)},
    {0}};
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
