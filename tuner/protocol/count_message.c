// See count_message.h.
#include "tuner/protocol/count_message.h"

#include "tuner/base/limits.h"
#include "tuner/trial/trial_field.h"

static const struct record_field candidate_fields[] = {
    {"trial", RECORD_MEMBER(struct counted_candidate, trial)},
    {"baseline", RECORD_MEMBER(struct counted_candidate, baseline)},
    {"candidate", RECORD_IN_PLACE(struct counted_candidate, candidate, candidate_record)},
    {0}};
static const struct record counted_record = {"a trial", sizeof(struct counted_candidate), candidate_fields, NULL};

static const struct record_field request_fields[] = {
    {"trials", RECORD_RECORDS(struct count_request, trials, trial_count, counted_record), .flags = RECORD_ALWAYS}, {0}};
const struct record count_request_record = {"the request", sizeof(struct count_request), request_fields, NULL};

#define COUNTERS(member) RECORD_MEMBER(struct stage_counters, member)
static const struct record_field counters_fields[] = {
    {"problem", COUNTERS(problem), .high = JOB_MAX_PROBLEMS - 1, .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {"stage", COUNTERS(stage), .high = JOB_MAX_STAGES - 1, .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {"values", RECORD_VALUES(struct stage_counters, values, value_count), .flags = RECORD_HOLES},
    {0}};
static const struct record counters_record = {"a stage", sizeof(struct stage_counters), counters_fields, NULL};

static const struct record_field counted_fields[] = {
    {"trial", RECORD_MEMBER(struct counted_trial, trial)},
    {"counters", RECORD_RECORDS(struct counted_trial, counters, counter_count, counters_record)},
    {"reason", RECORD_MEMBER(struct counted_trial, reason)},
    {0}};
static const struct record counted_trial_record = {"a trial", sizeof(struct counted_trial), counted_fields, NULL};

static const struct record_field answer_fields[] = {
    {"head", RECORD_IN_PLACE(struct count_answer, head, answer_head_record)},
    {"passes", RECORD_MEMBER(struct count_answer, passes), .high = 1e6},
    {"wall", RECORD_MEMBER(struct count_answer, wall), .high = TRIAL_LONGEST_TIME},
    {"trials", RECORD_RECORDS(struct count_answer, trials, trial_count, counted_trial_record)},
    {0}};
const struct record count_answer_record = {"the answer", sizeof(struct count_answer), answer_fields, NULL};
