// See answer_check.h.
#include "tuner/pool/answer_check.h"

#include "tuner/base/protocol.h"
#include "tuner/protocol/compile_message.h"
#include "tuner/protocol/count_message.h"
#include "tuner/protocol/final_message.h"
#include "tuner/protocol/job_message.h"
#include "tuner/protocol/trial_message.h"

// The things that a request or an answer names: trials, in either of two lists, and a compiler's entries.
struct named_trial {
    int64_t trial;
    const char *binary;
};

struct named_things {
    const char *op;
    int64_t trial;   // the only trial being measured, or the one that caused a failure
    double progress; // a progress message
    const struct named_trial *candidates, *trials, *entries;
    size_t candidate_count, trial_count, entry_count;
};

static const struct record_field trial_fields[] = {
    {"trial", RECORD_MEMBER(struct named_trial, trial)}, {"binary", RECORD_MEMBER(struct named_trial, binary)}, {0}};
static const struct record trial_record = {"a trial", sizeof(struct named_trial), trial_fields, NULL};

static const struct record_field head_fields[] = {
    {"op", RECORD_MEMBER(struct named_things, op)},
    {"trial", RECORD_MEMBER(struct named_things, trial)},
    {"progress", RECORD_MEMBER(struct named_things, progress), .high = 1e9},
    {"candidates", RECORD_RECORDS(struct named_things, candidates, candidate_count, trial_record)},
    {"trials", RECORD_RECORDS(struct named_things, trials, trial_count, trial_record)},
    {0}};
static const struct record head_record = {"the message", sizeof(struct named_things), head_fields, NULL};

// A final's entries are trials; a compiler's are not.
static const struct record_field final_fields[] = {
    {"entries", RECORD_RECORDS(struct named_things, entries, entry_count, trial_record)}, {0}};
static const struct record final_record = {"the answer", sizeof(struct named_things), final_fields, NULL};

static bool is_given(const struct named_trial *list, size_t count, const struct named_trial *reported)
{
    for (size_t i = 0; i < count; i++) {
        const char *binary = *list[i].binary ? list[i].binary : PROTOCOL_NVRTC;
        if (list[i].trial == reported->trial && (!*reported->binary || !strcmp(reported->binary, binary))) return true;
    }
    return false;
}

static int check_reported(const struct named_things *request, const struct named_trial *reported, size_t count,
                          struct error *why)
{
    for (size_t i = 0; i < count; i++)
        if (reported[i].trial && !is_given(request->candidates, request->candidate_count, &reported[i]) &&
            !is_given(request->trials, request->trial_count, &reported[i]))
            return error_set(why, "it reports on trial %" PRId64 ", which it was not given", reported[i].trial);
    return 0;
}

// Checks that an answer names only trials of the request. Returns -1 if the answer names another trial, or if the
// trials' numbers cannot be read.
static int check_names(const struct named_things *request, const json_t *answer, struct named_things *reported,
                       struct arena *memory, struct error *why)
{
    struct named_things final;
    if (record_read(&head_record, answer, reported, memory, why)) return -1;
    if (!request->candidates && !request->trials) return 0;
    return check_reported(request, &(struct named_trial){reported->trial, ""}, 1, why) ||
                   check_reported(request, reported->trials, reported->trial_count, why) ||
                   record_read(&final_record, answer, &final, memory, why) ||
                   check_reported(request, final.entries, final.entry_count, why)
               ? -1
               : 0;
}

// Checks that the answer has every entry that was requested.
static int check_compiled(const json_t *request, const void *record, struct arena *memory, struct error *why)
{
    const struct compile_answer *answer = record;
    struct compile_request asked;
    if (!answer_is_ok(&answer->head)) return 0;
    if (record_read(&compile_request_record, request, &asked, memory, why)) return -1;
    for (size_t i = 0; i < asked.entry_count; i++) {
        size_t k = 0;
        while (k < answer->entry_count && strcmp(answer->entries[k].entry, asked.entries[i]) != 0) k++;
        if (k == answer->entry_count) return error_set(why, "the entry '%.200s' is missing", asked.entries[i]);
    }
    return 0;
}

// Checks the numbers of ceilings, at any depth.
static int check_rates(const json_t *rates, struct error *why)
{
    json_object_each((json_t *)(uintptr_t)rates, key, value) {
        double number = json_number_value(value);
        if (json_is_object(value) ? check_rates(value, why) : json_is_number(value) && !(number >= 0 && number <= 1e30))
            return json_is_object(value) ? -1 : error_set(why, "'%s' is %g, outside 0 to 1e+30", key, number);
    }
    return 0;
}

static const struct {
    const char *op;
    const struct record *answer;
    int (*check)(const json_t *request, const void *answer, struct arena *, struct error *); // NULL: no further check
} checks[] = {{"compile", &compile_answer_record, check_compiled},
              {"job", &job_answer_record, NULL},
              {"trial", &trial_answer_record, NULL},
              {"count", &count_answer_record, NULL},
              {"final", &final_answer_record, NULL}};

static int check(const json_t *request, const struct named_things *asked, const json_t *answer, struct arena *memory,
                 struct error *why)
{
    struct named_things reported;
    if (check_names(asked, answer, &reported, memory, why)) return -1;
    if (!isnan(reported.progress)) return 0;
    if (!strcmp(asked->op, "ceilings")) return check_rates(answer, why);
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (strcmp(checks[i].op, asked->op) != 0) continue;
        void *record = arena_new(memory, checks[i].answer->size);
        if (record_read(checks[i].answer, answer, record, memory, why)) return -1;
        return checks[i].check ? checks[i].check(request, record, memory, why) : 0;
    }
    return 0;
}

bool answer_is_foreign(const json_t *request, const json_t *answer)
{
    struct named_things asked, reported;
    autorelease(arena_release) struct arena memory = {NULL};
    return !record_read(&head_record, request, &asked, &memory, NULL) &&
           check_names(&asked, answer, &reported, &memory, NULL);
}

int answer_check(const json_t *request, const json_t *answer, struct error *why)
{
    struct named_things asked;
    autorelease(arena_release) struct arena memory = {NULL};
    if (!request) return 0; // a greeting
    int failed = record_read(&head_record, request, &asked, &memory, why);
    if (!failed) failed = check(request, &asked, answer, &memory, why);
    return failed ? error_prefix(why, "the worker sends invalid messages: its answer to '%s'", asked.op) : 0;
}
