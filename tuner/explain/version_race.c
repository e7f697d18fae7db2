// See version_race.h.
#include "tuner/explain/version_race.h"

#include <math.h>

#include "tuner/base/entropy.h"
#include "tuner/base/stats.h"

const char *const version_verdicts[] = {"faster", "same", "undecided", "slower", NULL};

enum { PROCESSES_LEAST = 3, PROCESSES_MOST = 6 };
enum { OLD = 1, NEW }; // the trials' numbers
enum { GRACE = 60 };   // s to add to a trial's time limit for each progress message, as in a run's final
static const double confidence = 0.99;
static const double unequal = 1.002; // with three processes, the interval of a kernel's ratio to itself may exclude 1

enum version_verdict version_decide(const double *old, const double *new, const unsigned char *process, size_t count,
                                    double allow, struct interval *ratio)
{
    const double least = 1 / (1 + allow);
    // The seed is constant, so that the same times give the same interval.
    stats_paired_ratio(old, new, process, count, confidence, 1, ratio);
    if (ratio->low > unequal) return VERSION_FASTER;
    if (ratio->low >= least) return VERSION_SAME;
    return ratio->high < fmin(least, 1 / unequal) ? VERSION_SLOWER : VERSION_UNDECIDED;
}

// Whether a version passed verification. If not, the race records why.
static bool has_passed(struct version_race *race, const struct final_answer *answer, int64_t trial)
{
    const struct final_entry_answer *entry = NULL;
    for (size_t i = 0; i < answer->entry_count; i++)
        if (answer->entries[i].trial == trial) entry = &answer->entries[i];
    if (entry && entry->status == STATUS_OK) return true;
    race->failed = trial == NEW ? "the new version" : "the base";
    error_set(&race->reason, "%s%s%s", entry ? status_name(entry->status) : "it has no times", entry ? ": " : "",
              entry ? entry->reason : "");
    return false;
}

static void take_pairs(struct version_race *race, size_t problem, const struct final_answer *answer)
{
    struct version_problem *p = &race->problems[problem];
    const struct final_times *times[2] = {NULL};
    for (size_t i = 0; i < answer->entry_count; i++)
        if (answer->entries[i].trial)
            times[answer->entries[i].trial == NEW] = final_entry_times(&answer->entries[i], problem);
    if (!times[0] || !times[1]) return;
    size_t rounds = times[0]->time_count < times[1]->time_count ? times[0]->time_count : times[1]->time_count;
    p->old = memory_grow(p->old, p->count + rounds, sizeof *p->old);
    p->new = memory_grow(p->new, p->count + rounds, sizeof *p->new);
    p->process = memory_grow(p->process, p->count + rounds, sizeof *p->process);
    for (size_t i = 0; i < rounds; i++) {
        if (!(times[0]->times[i] > 0) || !(times[1]->times[i] > 0)) continue;
        p->old[p->count] = times[0]->times[i];
        p->new[p->count] = times[1]->times[i];
        p->process[p->count++] = (unsigned char)race->processes;
    }
}

// Takes the rounds of one process. Returns -1 with a message on failure.
static int run_process(struct version_race *race, struct single_run *single, const struct final_candidate *both,
                       int64_t seed, struct error *err)
{
    autorelease(arena_release) struct arena memory = {0};
    const struct job *job = single->job;
    struct final_answer answer;
    const struct final_request request = {.seed = seed,
                                          .process = (int64_t)race->processes,
                                          .rounds = job->measure.final_rounds,
                                          .places = -1,
                                          .candidates = both,
                                          .candidate_count = 2};
    if (race->processes && pool_set_up_again(&single->pool, err)) return -1;
    autojson json_t *message = single_run_ask(single, request_write("final", &final_request_record, &request),
                                              job->measure.timeout + GRACE, NULL, err);
    if (!message || record_read(&final_answer_record, message, &answer, &memory, err)) return -1;
    if (status_find(answer.head.status) != STATUS_OK) return error_set(err, "%s", answer.head.reason);
    if (!has_passed(race, &answer, OLD) || !has_passed(race, &answer, NEW)) return 0;
    for (size_t p = 0; p < job->tuned_count; p++) take_pairs(race, p, &answer);
    race->processes++;
    return 0;
}

static void decide(struct version_race *race, const struct job *job, double allow)
{
    race->verdict = VERSION_FASTER;
    for (size_t i = 0; i < job->tuned_count; i++) {
        struct version_problem *p = &race->problems[i];
        p->verdict = version_decide(p->old, p->new, p->process, p->count, allow, &p->ratio);
        if (p->verdict > race->verdict) race->verdict = p->verdict;
    }
}

int version_race_run(struct version_race *race, struct single_run *single, const struct single_run_candidate *old,
                     const struct single_run_candidate *new, double allow, struct error *err)
{
    const struct final_candidate both[] = {{.trial = OLD, .candidate = single_run_described(old)},
                                           {.trial = NEW, .candidate = single_run_described(new)}};
    int64_t seed = (int64_t)(entropy_draw() >> 2);
    *race = (struct version_race){.verdict = VERSION_UNDECIDED};
    while (race->processes < PROCESSES_MOST) {
        single_run_say(single, "racing both versions");
        if (run_process(race, single, both, seed, err)) return -1;
        if (race->failed) return 0;
        decide(race, single->job, allow);
        if (race->processes >= PROCESSES_LEAST && race->verdict != VERSION_UNDECIDED) return 0;
    }
    return 0;
}

void version_race_release(struct version_race *race)
{
    for (size_t i = 0; i < JOB_MAX_PROBLEMS; i++) {
        free(race->problems[i].old);
        free(race->problems[i].new);
        free(race->problems[i].process);
    }
    *race = (struct version_race){.verdict = VERSION_UNDECIDED};
}
