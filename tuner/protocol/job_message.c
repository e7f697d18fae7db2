// See job_message.h.
#include "tuner/protocol/job_message.h"

#include "tuner/base/limits.h"
#include "tuner/trial/trial_field.h"

#define IMPLEMENTATION(member) RECORD_MEMBER(struct implementation_request, member)
#define PAIRS(member, count) RECORD_PAIRS(struct implementation_request, member, count)
static const struct record_field request_fields[] = {
    {"kind", RECORD_WORDS(struct implementation_request, kind, implementation_words), .flags = RECORD_ALWAYS},
    {"candidate", RECORD_IN_PLACE(struct implementation_request, candidate, candidate_record)},
    {"by", IMPLEMENTATION(by)},
    {"buffers", PAIRS(buffers, buffer_count)},
    {"path", IMPLEMENTATION(library.path)},
    {"function", IMPLEMENTATION(library.function)},
    {"generate", IMPLEMENTATION(library.generate)},
    {"verify", IMPLEMENTATION(library.verify)},
    {"built", IMPLEMENTATION(library.built)},
    {"hash", IMPLEMENTATION(hash)},
    {"command", IMPLEMENTATION(command)},
    {"folder", IMPLEMENTATION(folder)},
    {"timeout", IMPLEMENTATION(timeout)},
    {"cache", IMPLEMENTATION(cache)},
    {"files", PAIRS(files, file_count)},
    {"detail", IMPLEMENTATION(detail)},
    {"reason", IMPLEMENTATION(reason)},
    {"ways", RECORD_VALUES(struct implementation_request, ways, way_count)},
    {0}};
const struct record implementation_request_record = {"an implementation", sizeof(struct implementation_request),
                                                     request_fields, NULL};

static const struct record *job_record(void)
{
    return &job_request_record;
}

#define JOB(member) RECORD_MEMBER(struct job_request, member)
#define JOB_RECORDS(member, count, record) RECORD_RECORDS(struct job_request, member, count, record)
static const struct record_field job_fields[] = {
    {"support", JOB(support)},
    {"ceilings", JOB(ceilings)},
    {"seed", JOB(seed), .fallback = 1, .flags = RECORD_ALWAYS},
    {"problems", JOB_RECORDS(problems, problem_count, problem_request_record), .flags = RECORD_REQUIRED},
    {"objective", RECORD_WORDS(struct job_request, objective, objective_text), .flags = RECORD_ALWAYS},
    {"reference", RECORD_RECORD(struct job_request, reference, implementation_request_record),
     .flags = RECORD_REQUIRED},
    {"verify", JOB(verify)},
    {"measure", JOB(measure)},
    {"counters", RECORD_VALUES(struct job_request, counters, counter_count)},
    {"baselines", JOB_RECORDS(baselines, baseline_count, implementation_request_record), .flags = RECORD_ALWAYS},
    {"drawn", JOB(drawn)},
    {"sizes", .kind = RECORD_OBJECT, .made = job_record, .offset = offsetof(struct job_request, sizes)},
    {0}};
const struct record job_request_record = {"the job", sizeof(struct job_request), job_fields, NULL};

static int check_baseline(const void *record, struct error *err)
{
    const struct baseline_answer *b = record;
    return answer_check_problems(b->problems, sizeof *b->problems, b->problem_count, err);
}

#define BASELINE(member) RECORD_MEMBER(struct baseline_answer, member)
static const struct record_field baseline_fields[] = {
    {"name", BASELINE(name), .flags = RECORD_ALWAYS},
    {"problems", RECORD_RECORDS(struct baseline_answer, problems, problem_count, problem_answer_record),
     .flags = RECORD_ALWAYS},
    {"detail", BASELINE(detail), .flags = RECORD_ALWAYS},
    {"reason", BASELINE(reason), .flags = RECORD_ALWAYS},
    {"same_result", BASELINE(same_result), .flags = RECORD_ALWAYS},
    {"ways", RECORD_VALUES(struct baseline_answer, ways, way_count)},
    {0}};
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
