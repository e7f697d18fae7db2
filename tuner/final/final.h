// The final: the fastest candidates, and those that tie with them, once more against each other and the baselines, in
// rounds that are interleaved; the decision, nvcc's build of the winner, and what is stored and said of it.
//
// The final does not know the run that holds it. It adds tasks to the run's policy and gets the answers of workers.
#pragma once

#include "search/model/kernel_set.h"
#include "tuner/base/child_process.h"
#include "tuner/base/error.h"
#include "tuner/final/final_clock.h"
#include "tuner/final/final_rounds.h"
#include "tuner/final/finals.h"
#include "tuner/policy/policy.h"
#include "tuner/pool/worker_pool.h"
#include "tuner/protocol/job_message.h"
#include "tuner/setup/job_setup.h"
#include "tuner/setup/sanitize.h"
#include "tuner/setup/task.h"
#include "tuner/store/store.h"
#include "tuner/watch/display.h"
#include "tuner/watch/events.h"

// What a final, and the comparison of GPUs, work with. Borrowed from the run.
struct final_parts {
    const struct job *job;
    const struct job_answer *job_answer; // the first GPU worker's
    uint64_t seed;
    double begun;                // clock_now() at the run's beginning
    bool checks;                 // the winner under compute-sanitizer, nvcc's build of it, and its energy
    struct event_stream *events; // NULL: the summary goes to stdout
    struct worker_pool *pool;
    struct job_setup *setup;
    struct policy *policy;
    struct store *store;
    const json_t *recording; // that is replayed; NULL: none
    json_t *const *ceilings; // the run's; NULL there: not known
    struct display *display;
    struct fatal_error *failure; // ends the run
};

struct final_run {
    struct final_parts with;
    struct arena memory;         // of the answers
    struct final_answer *answer; // to the newest request; at the final's end, of all parts; NULL: there is none
    struct final_answer *before; // of the parts before, put together; NULL in the first
    struct {                     // of workers, which share the rounds (final_processes.c)
        unsigned char *of;       // by round; NULL where one process takes all. In `memory`
        size_t rounds;           // in `of`
    } processes;
    struct final_rounds rounds; // where the final is
    struct final_clock clock;
    size_t places;   // how many candidates take part; 0: not known yet
    double until;    // clock_now(); rounds beyond the planned ones end then
    bool unchecked;  // there was no time for some check
    int64_t current; // the finalist that the present kernel is; 0: it has an entry of its own, if it is there
    bool *dropped;   // by baseline of the job: it has crashed a final; NULL: none has
    int ended;       // how often its worker was ended from outside
    struct {         // the candidate that took the final's worker with it, or that compute-sanitizer refused; 0: none
        int64_t trial;
        enum trial_status status;
        struct error reason;
    } blamed;
    struct final_decision decision; // the newest; in `decided`
    struct arena decided;
    struct {                // the race of the winner's builds (final_builds.c)
        bool on;            // the winner of `decision` has a race
        char compiler[64];  // nvcc with its version
        struct error why;   // why there is no race
        struct child ahead; // compiles trial `ahead_of` during the rounds; 0: none does
        int64_t ahead_of;
    } builds;
    struct {            // a part of the final instead of rounds (final_energy.c)
        bool on;        // this part is running
        int64_t winner; // by the rounds, the only candidate that is measured; 0: all are
    } energy;
    struct {                  // the winner runs under compute-sanitizer (final_sanitize.c)
        struct sanitizer *by; // NULL: none, or not yet looked for
        bool sought;
        size_t condemned; // winners of the final that it refused
    } sanitizing;
    int deaths; // of the worker in finals, without a candidate as the cause
};

void final_close(struct final_run *);
size_t final_most(const struct final_run *); // how many candidates may take part, spares included
int final_begin(struct final_run *);         // adds the finalists' tasks; 0 none to decide between
void final_send(struct final_run *, size_t gpu);
void final_take(struct final_run *, const json_t *answer); // which the pool has checked
// The answer into the store, the summary onto stdout; who is out gets a verdict. Drops the finalists' tasks. AGAIN:
// no candidate passed, but there may be others.
enum final_outcome { FINAL_DECIDED, FINAL_AGAIN, FINAL_FAILED };
enum final_outcome final_finish(struct final_run *);
// An interrupted final: stores the rounds so far, and says who is ahead.
void final_interrupted(struct final_run *);
// What the clock has to know before a search; its deadline is set. `start`: s until a GPU worker has greeted; `worker`:
// s from then until it knows the job.
void final_expect(struct final_run *, double start, double worker);
struct final_size final_size(const struct final_run *); // of the job's final, as it is planned

// The entries of a final's document: those of the answer, and one more where the present kernel is a candidate.
struct final_entries {
    struct final_entry_document *list;
    size_t count;
};

// final_entries.c: parts that the comparison of builds has too. A contender has the objective of each round of an
// entry. An entrant of the final has its resources, too.
struct contender final_contender(const struct final_run *, const struct final_entry_answer *, bool candidate);
struct contender final_entrant(struct final_run *, const struct final_entry_answer *); // zeroed: it has failed
void final_contenders_free(struct contender *, size_t count);                  // with their objectives, and the list
uint64_t final_seed(const struct final_run *);                                 // other data than the search's
void final_put(struct final_run *, const char *kind, struct final_document *); // with what all of them have
struct final_entry_answer *final_find_entry(const struct final_answer *, int64_t trial, const char *compiler,
                                            const char *name); // NULL: there is none
bool final_passed(const struct final_entry_answer *);
void final_phase(struct final_run *, const char *what); // shows what begins now, with the time that is left
// final_entries.c: the tasks of the candidates, with their trials.
struct task *final_add(struct final_run *, const uint16_t *config, int64_t trial);
struct task *final_find(const struct final_run *, int64_t trial); // NULL: it is not in the final
void final_drop(struct final_run *);
void final_condemn(struct final_run *, int64_t trial, enum trial_status, const char *reason); // a verdict
// final_builds.c: after a decided final, the race of the winner's builds. Whether it can be held; its tasks are
// then finalists. What its compilers answered, and that one of them failed, after which nothing is raced. At the end
// FINAL_AGAIN: NVRTC's build of a winner has failed, so that another final must decide.
bool builds_begin(struct final_run *);
void builds_hurry(struct final_run *); // gives compilers up for which there is no time
void builds_compiled(struct final_run *, const json_t *answer);
void builds_failed(struct final_run *, const struct task *, const char *reason);
bool builds_over(const struct final_run *);
enum final_outcome builds_finish(struct final_run *);
// final_ahead.c: whether nvcc's build of the winner is wanted. nvcc may begin with this trial, which is likely to win;
// the end of what it has begun.
bool builds_wanted(const struct final_run *);
void builds_ahead(struct final_run *, int64_t trial);
void builds_end_ahead(struct final_run *);
// final_sanitize.c: those that won the final under compute-sanitizer, before they are called winners. One that does not
// pass gets a verdict; returns how many do not. What was found is a document of the trial (sanitize.h).
size_t final_sanitize(struct final_run *, const int64_t *trials, size_t count);
bool final_sanitizes(const struct final_run *); // whether it is wanted
// final_errors.c: refuses candidates whose error is too large relative to a library.
void final_refuse_errors(struct final_run *);
// final_processes.c: the parts of its rounds and the processes that share them. After an answer, whether there is
// another part to come, which is then on its way, or the answer is now that of all of them.
bool final_continues(struct final_run *);
void final_reset(struct final_run *); // before another final
// Sets the time limits of a request, its last members to be filled; the first part of a final that has little time is
// made smaller.
void final_limit(struct final_run *, struct final_request *);
void final_move(struct final_run *);   // its GPU was lost with its node
void final_resume(struct final_run *); // its worker was ended from outside: another one continues
bool final_stands(const struct final_run *, const struct task *);
// final_energy.c: after the last round, the energy of the winner and the baselines or, where energy decides, of all
// candidates.
bool final_wants_energy(const struct final_run *);
bool final_energy_begin(struct final_run *); // false: it is not wanted, or no time is left
bool final_energy_take(struct final_run *);  // false: the final has failed
void final_energy_tell(const struct final_run *, const struct final_entries *, const struct contender *, size_t winner);
// final_binaries.c: keeps the cubins of candidates that passed the final in the store, with what it takes to launch
// them. After the final's document is stored, before its tasks are dropped.
void final_keep_binaries(struct final_run *, const struct final_entries *);
// final_entries.c: the current kernel, a baseline. Whether it is one of the final's candidates and needs no entry of
// its own; the first of the request's candidates are sure to be proved. And its entry then, which there is room for.
bool final_has_current(struct final_run *, const struct final_request *);
void final_add_current(struct final_run *, struct final_entries *);
// final_each.c: what differs for objective "each". The decision from the entries; false when no set of candidates
// serves every problem.
int final_begin_each(struct final_run *);
bool final_decide_each(struct final_run *, const struct final_entries *);

// final_events.c.
struct final_compared { // a baseline's time over the winner's
    const char *name;
    struct interval ratio;
    size_t rounds;
};
void final_event_winner(const struct final_run *, const struct trial *, double time, const struct final_compared *,
                        size_t count);
void final_event_kernels(const struct final_run *, const struct kernel_set *, const int64_t *trials);
void final_event_outcome(const struct final_run *, enum final_outcome, const char *reason);
