// The final: measures the fastest candidates, and those that tie with them, once more against each other and the
// baselines, in interleaved rounds. It decides the winner, races nvcc's build of it, and stores and reports the result.
//
// The final does not know the run that it belongs to. It adds tasks to the run's policy and receives the workers'
// answers.
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

// The parts of the run that a final and the comparison of GPUs use. All are borrowed from the run.
struct final_parts {
    const struct job *job;
    const struct job_answer *job_answer; // the first GPU worker's
    uint64_t seed;
    double begun;                // clock_now() at the run's beginning
    bool checks;                 // run compute-sanitizer, race nvcc's build of the winner, measure energy
    struct event_stream *events; // NULL: the summary goes to stdout
    struct worker_pool *pool;
    struct job_setup *setup;
    struct policy *policy;
    struct store *store;
    const json_t *recording; // the recording that is replayed; NULL: none
    json_t *const *ceilings; // the run's; points to NULL: not known
    struct display *display;
    struct fatal_error *failure; // ends the run
};

struct final_run {
    struct final_parts with;
    struct arena memory;         // of the answers
    struct final_answer *answer; // answer to the newest request; at the final's end, all answers combined; NULL: none
    struct final_answer *before; // the earlier parts' answers, combined; NULL in the first part
    struct {                     // the worker processes that share the rounds (final_processes.c)
        unsigned char *of;       // each round's process; NULL where one process takes all. In `memory`
        size_t rounds;           // length of `of`
    } processes;
    struct final_rounds rounds; // the final's progress
    struct final_clock clock;
    size_t places;   // how many candidates take part; 0: not known yet
    double until;    // clock_now() time at which rounds beyond the planned ones end
    bool unchecked;  // there was no time for some check
    int64_t current; // the finalist that is the current kernel; 0: none, so that kernel's entry, if any, is its own
    bool *dropped;   // for each baseline of the job: whether it has crashed a final; NULL: none has
    int ended;       // how often its worker was killed from outside
    struct {         // the candidate that crashed the final's worker, or that compute-sanitizer refused; 0: none
        int64_t trial;
        enum trial_status status;
        struct error reason;
    } blamed;
    struct final_decision decision; // the newest one; its memory is `decided`
    struct arena decided;
    struct {                // the race of the winner's builds (final_builds.c)
        bool on;            // the winner of `decision` has a race
        char compiler[64];  // nvcc with its version
        struct error why;   // why there is no race
        struct child ahead; // nvcc, which compiles trial `ahead_of` during the rounds; 0: none
        int64_t ahead_of;
    } builds;
    struct {            // the part of the final without rounds (final_energy.c)
        bool on;        // this part is running
        int64_t winner; // the winner according to the rounds, the only candidate to measure; 0: measure all
    } energy;
    struct {                  // the winner runs under compute-sanitizer (final_sanitize.c)
        struct sanitizer *by; // NULL: there is none, or it was not looked for yet
        bool sought;
        size_t condemned; // number of the final's winners that it refused
    } sanitizing;
    int deaths; // deaths of the worker in finals for which no candidate was to blame
};

void final_close(struct final_run *);
size_t final_most(const struct final_run *); // the most candidates that may take part, spares included
int final_begin(struct final_run *);         // adds the finalists' tasks; 0: none to choose from
void final_send(struct final_run *, size_t gpu);
void final_take(struct final_run *, const json_t *answer); // the pool has checked it
// Stores the answer and prints the summary to stdout. Sets the verdict of candidates that failed. Drops the finalists'
// tasks. FINAL_AGAIN: no candidate passed, but there may be others.
enum final_outcome { FINAL_DECIDED, FINAL_AGAIN, FINAL_FAILED };
enum final_outcome final_finish(struct final_run *);
// For an interrupted final: stores the rounds so far, and reports which candidate is ahead.
void final_interrupted(struct final_run *);
// Gives the clock its estimates before a search. The clock's deadline must already be set. `start`: s until a GPU
// worker has greeted; `worker`: s from then until it knows the job.
void final_expect(struct final_run *, double start, double worker);
struct final_size final_size(const struct final_run *); // the planned size of the job's final

// The entries of a final's document: the answer's entries, and one more if the current kernel is a candidate.
struct final_entries {
    struct final_entry_document *list;
    size_t count;
};

// final_entries.c: functions that the comparison of builds uses too. A contender holds an entry's objective for each
// round. An entrant of the final also holds the candidate's resources.
struct contender final_contender(const struct final_run *, const struct final_entry_answer *, bool candidate);
struct contender final_entrant(struct final_run *, const struct final_entry_answer *); // zeroed if it has failed
void final_contenders_free(struct contender *, size_t count);                  // frees their objectives and the list
uint64_t final_seed(const struct final_run *);                                 // for data other than the search's
void final_put(struct final_run *, const char *kind, struct final_document *); // sets the common members
struct final_entry_answer *final_find_entry(const struct final_answer *, int64_t trial, const char *compiler,
                                            const char *name); // NULL: there is none
bool final_passed(const struct final_entry_answer *);
void final_phase(struct final_run *, const char *what); // shows what begins now, and the time left
// final_entries.c: the tasks of the candidates, with their trials.
struct task *final_add(struct final_run *, const uint16_t *config, int64_t trial);
struct task *final_find(const struct final_run *, int64_t trial); // NULL: it is not in the final
void final_drop(struct final_run *);
void final_condemn(struct final_run *, int64_t trial, enum trial_status, const char *reason); // sets a verdict
// final_builds.c: the race of the winner's builds, after a decided final. builds_begin returns whether the race can
// begin; the race's tasks are then finalists. builds_compiled takes a compiler's answer. builds_failed cancels the
// race. builds_finish returns FINAL_AGAIN if NVRTC's build of a winner has failed, so that another final must decide.
bool builds_begin(struct final_run *);
void builds_hurry(struct final_run *); // gives up on compilers for which there is no time
void builds_compiled(struct final_run *, const json_t *answer);
void builds_failed(struct final_run *, const struct task *, const char *reason);
bool builds_over(const struct final_run *);
enum final_outcome builds_finish(struct final_run *);
// final_ahead.c: whether nvcc's build of the winner is wanted. builds_ahead starts nvcc's build of this trial, which is
// likely to win; builds_end_ahead waits for that build or stops it.
bool builds_wanted(const struct final_run *);
void builds_ahead(struct final_run *, int64_t trial);
void builds_end_ahead(struct final_run *);
// final_sanitize.c: runs the final's best candidates under compute-sanitizer before they are called winners. Sets the
// verdict of candidates that do not pass, and returns their number. The findings become a document of the trial
// (sanitize.h).
size_t final_sanitize(struct final_run *, const int64_t *trials, size_t count);
bool final_sanitizes(const struct final_run *); // whether it is wanted
// final_errors.c: refuses candidates whose error is too large relative to a library.
void final_refuse_errors(struct final_run *);
// final_processes.c: the parts of a final's rounds and the processes that share them. Called after an answer: returns
// true if another part follows (it has then been prepared), or false if the answer now combines all parts.
bool final_continues(struct final_run *);
void final_reset(struct final_run *); // before another final
// Sets the time limits of a request, whose other members must already be filled in. If time is short, makes the first
// part of the final smaller.
void final_limit(struct final_run *, struct final_request *);
void final_move(struct final_run *);   // the final's GPU was lost with its node
void final_resume(struct final_run *); // the final's worker was killed from outside; another one continues
bool final_stands(const struct final_run *, const struct task *);
// final_energy.c: measures energy after the last round, for the winner and the baselines or, where energy decides, for
// all candidates.
bool final_wants_energy(const struct final_run *);
bool final_energy_begin(struct final_run *); // false: it is not wanted, or no time is left
bool final_energy_take(struct final_run *);  // false: the final has failed
void final_energy_tell(const struct final_run *, const struct final_entries *, const struct contender *, size_t winner);
// final_binaries.c: keeps the cubins of candidates that passed the final in the store, with the data needed to launch
// them. Call after the final's document is stored and before its tasks are dropped.
void final_keep_binaries(struct final_run *, const struct final_entries *);
// final_entries.c: the current kernel, which is a baseline. final_has_current returns whether the current kernel is one
// of the final's candidates and is therefore not measured as a baseline. It considers only the first `places`
// candidates of the request, which are sure to be verified. If the kernel is one of them, final_add_current adds its
// second entry, for which there must be room.
bool final_has_current(struct final_run *, const struct final_request *);
void final_add_current(struct final_run *, struct final_entries *);
// final_each.c: the steps that differ for objective "each". final_decide_each decides from the entries; returns false
// if no set of candidates serves every problem.
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
