// See job_message.h.
#include "tuner/protocol/job_message.h"

#include "tuner/base/limits.h"
#include "tuner/trial/trial_field.h"

#define MEMBER(member) RECORD_MEMBER(struct implementation_request, member)
#define PAIRS(member, count) RECORD_PAIRS(struct implementation_request, member, count)
static const struct record_field request_fields[] = {
    {"kind", RECORD_WORDS(struct implementation_request, kind, implementation_words), .flags = RECORD_ALWAYS},
    {"candidate", RECORD_IN_PLACE(struct implementation_request, candidate, candidate_record)},
    {"by", MEMBER(by)},
    {"buffers", PAIRS(buffers, buffer_count)},
    {"path", MEMBER(path)},
    {"function", MEMBER(function)},
    {"generate", MEMBER(generate)},
    {"verify", MEMBER(verify)},
    {"built", MEMBER(built)},
    {"hash", MEMBER(hash)},
    {"command", MEMBER(command)},
    {"folder", MEMBER(folder)},
    {"timeout", MEMBER(timeout)},
    {"cache", MEMBER(cache)},
    {"files", PAIRS(files, file_count)},
    {"detail", MEMBER(detail)},
    {"reason", MEMBER(reason)},
    {0}};
#undef MEMBER
#undef PAIRS
const struct record implementation_request_record = {"an implementation", sizeof(struct implementation_request),
                                                     request_fields, NULL};

static const struct record *job_record(void)
{
    return &job_request_record;
}

#define MEMBER(member) RECORD_MEMBER(struct job_request, member)
#define RECORDS(member, count, record) RECORD_RECORDS(struct job_request, member, count, record)
static const struct record_field job_fields[] = {
    {"support", MEMBER(support)},
    {"ceilings", MEMBER(ceilings)},
    {"seed", MEMBER(seed), .fallback = 1, .flags = RECORD_ALWAYS},
    {"problems", RECORDS(problems, problem_count, problem_request_record), .flags = RECORD_REQUIRED},
    {"objective", RECORD_WORDS(struct job_request, objective, objective_text), .flags = RECORD_ALWAYS},
    {"reference", RECORD_RECORD(struct job_request, reference, implementation_request_record),
     .flags = RECORD_REQUIRED},
    {"verify", MEMBER(verify)},
    {"measure", MEMBER(measure)},
    {"counters", RECORD_VALUES(struct job_request, counters, counter_count)},
    {"baselines", RECORDS(baselines, baseline_count, implementation_request_record), .flags = RECORD_ALWAYS},
    {"drawn", MEMBER(drawn)},
    {"sizes", .kind = RECORD_OBJECT, .made = job_record, .offset = offsetof(struct job_request, sizes)},
    {0}};
#undef MEMBER
#undef RECORDS
const struct record job_request_record = {"the job", sizeof(struct job_request), job_fields, NULL};

static int check_baseline(const void *record, struct error *err)
{
    const struct baseline_answer *b = record;
    return answer_check_problems(b->problems, sizeof *b->problems, b->problem_count, err);
}

#define MEMBER(member) RECORD_MEMBER(struct baseline_answer, member)
static const struct record_field baseline_fields[] = {
    {"name", MEMBER(name), .flags = RECORD_ALWAYS},
    {"problems", RECORD_RECORDS(struct baseline_answer, problems, problem_count, problem_answer_record),
     .flags = RECORD_ALWAYS},
    {"detail", MEMBER(detail), .flags = RECORD_ALWAYS},
    {"reason", MEMBER(reason), .flags = RECORD_ALWAYS},
    {"same_result", MEMBER(same_result), .flags = RECORD_ALWAYS},
    {0}};
#undef MEMBER
const struct record baseline_answer_record = {"a baseline", sizeof(struct baseline_answer), baseline_fields,
                                              check_baseline};

static const struct record_field least_fields[] = {
    {"problem", RECORD_MEMBER(struct least_time, problem), .high = JOB_MAX_PROBLEMS - 1, .flags = RECORD_ALWAYS},
    {"seconds", RECORD_MEMBER(struct least_time, seconds), .high = TRIAL_LONGEST_TIME},
    {"why", RECORD_MEMBER(struct least_time, why)},
    {0}};
static const struct record least_record = {"the least time", sizeof(struct least_time), least_fields, NULL};

static const struct record_field answer_fields[] = {
    {"head", RECORD_IN_PLACE(struct job_answer, head, answer_head_record)},
    {"baselines", RECORD_RECORDS(struct job_answer, baselines, baseline_count, baseline_answer_record)},
    {"least", RECORD_RECORDS(struct job_answer, least, least_count, least_record)},
    {"energy", RECORD_MEMBER(struct job_answer, energy)},
    {"metrics", RECORD_VALUES(struct job_answer, metrics, metric_count)},
    {"missing", RECORD_VALUES(struct job_answer, missing, missing_count)},
    {0}};
const struct record job_answer_record = {"the answer", sizeof(struct job_answer), answer_fields, NULL};
