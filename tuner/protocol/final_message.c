// See final_message.h.
#include "tuner/protocol/final_message.h"

#include "tuner/base/limits.h"
#include "tuner/trial/trial_field.h"

static const struct record_field candidate_fields[] = {
    {"trial", RECORD_MEMBER(struct final_candidate, trial)},
    {"binary", RECORD_MEMBER(struct final_candidate, binary)},
    {"candidate", RECORD_IN_PLACE(struct final_candidate, candidate, candidate_record)},
    {0}};
static const struct record build_record = {"a candidate", sizeof(struct final_candidate), candidate_fields, NULL};

#define REQUEST(member) RECORD_MEMBER(struct final_request, member)
static const struct record_field request_fields[] = {
    {"seed", REQUEST(seed), .fallback = 1, .flags = RECORD_ALWAYS},
    {"process", REQUEST(process), .flags = RECORD_ALWAYS},
    {"part", REQUEST(part)},
    {"seconds", REQUEST(seconds)},
    {"energy", REQUEST(energy)},
    {"rounds", REQUEST(rounds), .low = 1, .high = FINAL_ROUNDS_MAX, .fallback = 40, .flags = RECORD_ALWAYS},
    {"places", REQUEST(places), .fallback = -1},
    {"candidates", RECORD_RECORDS(struct final_request, candidates, candidate_count, build_record),
     .flags = RECORD_ALWAYS},
    {"baselines", RECORD_VALUES(struct final_request, baselines, baseline_count), .flags = RECORD_ALWAYS},
    {0}};
const struct record final_request_record = {"a final", sizeof(struct final_request), request_fields, NULL};

#define ENERGY(member) RECORD_MEMBER(struct energy_figures, member)
static const struct record_field energy_fields[] = {
    {"joules", RECORD_INTERVAL(struct energy_figures, joules), .high = 1e9},
    {"watts", ENERGY(watts), .high = 1e6},
    {"clock_mhz", ENERGY(clock_mhz), .high = 1e6},
    {"share", ENERGY(share), .high = 1},
    {"power_limited", ENERGY(power_limited)},
    {"reason", ENERGY(reason)},
    {0}};
const struct record energy_record = {"an energy", sizeof(struct energy_figures), energy_fields, NULL};

#define TIMES(member) RECORD_MEMBER(struct final_times, member)
static const struct record_field times_fields[] = {
    {"problem", TIMES(problem), .high = JOB_MAX_PROBLEMS - 1, .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {"times", RECORD_VALUES(struct final_times, times, time_count), .low = TRIAL_SHORTEST_TIME,
     .high = TRIAL_LONGEST_TIME, .flags = RECORD_HOLES},
    {"error_max", TIMES(error_max), .high = 1e300},
    {"error_rms", TIMES(error_rms), .high = 1e300},
    {"energy", RECORD_RECORD(struct final_times, energy, energy_record)},
    {0}};
static const struct record times_record = {"a problem", sizeof(struct final_times), times_fields, NULL};

static int check_entry(const void *record, struct error *err)
{
    const struct final_entry_answer *e = record;
    if (answer_check_problems(e->problems, sizeof *e->problems, e->problem_count, err)) return -1;
    if (e->trial && e->status == STATUS_OK && !e->problem_count)
        return error_set(err, "a candidate passed the final without times");
    return 0;
}

#define ANSWER(member) RECORD_MEMBER(struct final_entry_answer, member)
static const struct record_field entry_fields[] = {
    {"name", ANSWER(name), .flags = RECORD_REQUIRED},
    {"trial", ANSWER(trial), .flags = RECORD_ALWAYS},
    {"status", RECORD_WORDS(struct final_entry_answer, status, status_names), .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {"reason", ANSWER(reason)},
    {"detail", ANSWER(detail)},
    {"error", ANSWER(error), .high = 1e300},
    {"launches_judged", ANSWER(launches_judged)},
    {"sizes_verified", ANSWER(sizes_verified)},
    {"binary", ANSWER(binary)},
    {"cubin_hash", ANSWER(cubin_hash)},
    {"problems", RECORD_RECORDS(struct final_entry_answer, problems, problem_count, times_record),
     .flags = RECORD_ALWAYS},
    {0}};
const struct record final_entry_record = {"an entry of the final", sizeof(struct final_entry_answer), entry_fields,
                                          check_entry};

static int check_answer(const void *record, struct error *err)
{
    const struct final_answer *a = record;
    for (size_t i = 0; i < a->entry_count; i++)
        for (size_t k = 0; k < i && a->entries[i].trial; k++)
            if (a->entries[i].trial == a->entries[k].trial && !strcmp(a->entries[i].binary, a->entries[k].binary))
                return error_set(err, "a candidate has two entries in the final");
    return 0;
}

static const struct record_field answer_fields[] = {
    {"head", RECORD_IN_PLACE(struct final_answer, head, answer_head_record)},
    {"entries", RECORD_RECORDS(struct final_answer, entries, entry_count, final_entry_record)},
    {0}};
const struct record final_answer_record = {"the answer", sizeof(struct final_answer), answer_fields, check_answer};

bool final_request_has(const struct final_request *request, int64_t trial, const char *binary, const char *baseline)
{
    for (size_t i = 0; i < request->baseline_count && baseline; i++)
        if (!strcmp(request->baselines[i], baseline)) return true;
    for (size_t i = 0; i < request->candidate_count && !baseline; i++) {
        const struct final_candidate *c = &request->candidates[i];
        if (c->trial == trial && !strcmp(*c->binary ? c->binary : PROTOCOL_NVRTC, binary)) return true;
    }
    return false;
}

struct final_times *final_entry_times(const struct final_entry_answer *e, size_t problem)
{
    for (size_t i = 0; i < e->problem_count; i++)
        if (e->problems[i].problem == (int)problem) return &e->problems[i];
    return NULL;
}

json_t *final_times_json(const struct final_times *t)
{
    return record_get(&times_fields[1], t);
}
