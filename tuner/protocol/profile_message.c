// See profile_message.h.
#include "tuner/protocol/profile_message.h"

static const struct record_field request_fields[] = {
    {"candidate", RECORD_IN_PLACE(struct profile_request, candidate, candidate_record)},
    {"samples", RECORD_MEMBER(struct profile_request, samples), .fallback = 1, .flags = RECORD_ALWAYS},
    {0}};
const struct record profile_request_record = {"a profile", sizeof(struct profile_request), request_fields, NULL};

#define LINE(member) RECORD_MEMBER(struct profile_line, member)
static const struct record_field line_fields[] = {
    {"directory", LINE(directory), .flags = RECORD_ALWAYS},
    {"file", LINE(file), .flags = RECORD_ALWAYS},
    {"line", LINE(line), .high = INT32_MAX, .flags = RECORD_ALWAYS},
    {"self", RECORD_PAIRS(struct profile_line, self, self_count), .flags = RECORD_ALWAYS},
    {"total", RECORD_PAIRS(struct profile_line, total, total_count), .flags = RECORD_ALWAYS},
    {"stalls", RECORD_PAIRS(struct profile_line, stalls, stall_count), .flags = RECORD_ALWAYS},
    {0}};
static const struct record line_record = {"a line", sizeof(struct profile_line), line_fields, NULL};

#define STAGE(member) RECORD_MEMBER(struct profile_stage, member)
static const struct record_field stage_fields[] = {
    {"symbol", STAGE(symbol), .flags = RECORD_ALWAYS},
    {"code_bytes", STAGE(code_bytes), .flags = RECORD_ALWAYS},
    {"dropped_samples", STAGE(dropped_samples), .flags = RECORD_ALWAYS},
    {"totals", RECORD_PAIRS(struct profile_stage, totals, total_count), .flags = RECORD_ALWAYS},
    {"lines", RECORD_RECORDS(struct profile_stage, lines, line_count, line_record), .flags = RECORD_ALWAYS},
    {0}};
const struct record profile_stage_record = {"a stage", sizeof(struct profile_stage), stage_fields, NULL};

static const struct record_field answer_fields[] = {
    {"head", RECORD_IN_PLACE(struct profile_answer, head, answer_head_record)},
    {"stages", RECORD_RECORDS(struct profile_answer, stages, stage_count, profile_stage_record)},
    {"reasons", RECORD_VALUES(struct profile_answer, reasons, reason_count)},
    {0}};
const struct record profile_answer_record = {"the answer", sizeof(struct profile_answer), answer_fields, NULL};
