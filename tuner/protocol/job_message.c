// See job_message.h.
#include "tuner/protocol/job_message.h"

static const struct record_field request_fields[] = {
    {"candidate", RECORD_IN_PLACE(struct baseline_request, candidate, candidate_record)},
    {"detail", RECORD_MEMBER(struct baseline_request, detail)},
    {"reason", RECORD_MEMBER(struct baseline_request, reason)},
    {"timeout", RECORD_MEMBER(struct baseline_request, timeout)},
    {0}};
const struct record baseline_request_record = {"a baseline", sizeof(struct baseline_request), request_fields, NULL};

static int check_answer(const void *record, struct error *err)
{
    const struct baseline_answer *b = record;
    return problem_answers_check(b->problems, b->problem_count, err);
}

#define MEMBER(member) RECORD_MEMBER(struct baseline_answer, member)
static const struct record_field answer_fields[] = {
    {"name", MEMBER(name), .flags = RECORD_ALWAYS},
    {"problems", RECORD_RECORDS(struct baseline_answer, problems, problem_count, problem_answer_record),
     .flags = RECORD_ALWAYS},
    {"detail", MEMBER(detail), .flags = RECORD_ALWAYS},
    {"reason", MEMBER(reason), .flags = RECORD_ALWAYS},
    {"same_result", MEMBER(same_result), .flags = RECORD_ALWAYS},
    {0}};
#undef MEMBER
const struct record baseline_answer_record = {"a baseline", sizeof(struct baseline_answer), answer_fields,
                                              check_answer};
