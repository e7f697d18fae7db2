// See trial_message.h.
#include "tuner/protocol/trial_message.h"

#include "tuner/base/limits.h"
#include "tuner/trial/trial_field.h"

static const struct record_field request_fields[] = {
    {"candidate", RECORD_IN_PLACE(struct trial_request, candidate, candidate_record)},
    {"verify", RECORD_MEMBER(struct trial_request, verify), .fallback = 1, .flags = RECORD_ALWAYS},
    {"best", RECORD_VALUES(struct trial_request, best, best_count), .flags = RECORD_HOLES},
    {0}};
const struct record trial_request_record = {"a trial", sizeof(struct trial_request), request_fields, NULL};

#define ANSWER(member) RECORD_MEMBER(struct problem_answer, member)
static const struct record_field problem_fields[] = {
    {"problem", ANSWER(problem), .high = JOB_MAX_PROBLEMS - 1, .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {"figures", RECORD_INCLUDE(struct problem_answer, figures, problem_figures)},
    {"worst", RECORD_VALUES(struct problem_answer, worst, worst_count)},
    {"bad", ANSWER(bad), .fallback = -1},
    {"got", ANSWER(got)},
    {"want", ANSWER(want)},
    {"status", ANSWER(status)},
    {"reason", ANSWER(reason)},
    {"error_max", ANSWER(error_max), .high = 1e300},
    {"error_rms", ANSWER(error_rms), .high = 1e300},
    {0}};
const struct record problem_answer_record = {"a problem", sizeof(struct problem_answer), problem_fields, NULL};

#define STAGE_ANSWER(member) RECORD_MEMBER(struct stage_answer, member)
static const struct record_field stage_fields[] = {
    {"problem", STAGE_ANSWER(problem), .high = JOB_MAX_PROBLEMS - 1, .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {"stage", STAGE_ANSWER(stage), .high = JOB_MAX_STAGES - 1, .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {"figures", RECORD_INCLUDE(struct stage_answer, figures, stage_figures)},
    {0}};
static const struct record stage_record = {"a stage", sizeof(struct stage_answer), stage_fields, NULL};

const struct problem_answer *trial_answer_problem(const struct trial_answer *answer, int problem)
{
    for (size_t i = 0; answer && i < answer->problem_count; i++)
        if (answer->problems[i].problem == problem) return &answer->problems[i];
    return NULL;
}

static int check_answer(const void *record, struct error *err)
{
    const struct trial_answer *a = record;
    return answer_check_problems(a->problems, sizeof *a->problems, a->problem_count, err);
}

static const struct record_field answer_fields[] = {
    {"head", RECORD_IN_PLACE(struct trial_answer, head, answer_head_record)},
    {"figures", RECORD_INCLUDE(struct trial_answer, figures, trial_figures)},
    {"problems", RECORD_RECORDS(struct trial_answer, problems, problem_count, problem_answer_record)},
    {"stages", RECORD_RECORDS(struct trial_answer, stages, stage_count, stage_record)},
    {0}};
const struct record trial_answer_record = {"the answer", sizeof(struct trial_answer), answer_fields, check_answer};
