// The document of a final in the store. Its kind is "final", "open_final" for a final that is not decided, or "builds"
// for the race of the winner's builds (tuner/store/builds.h).
//
// A stored final is read, checked, and turned into medians, intervals and paired ratios.
//
// The winner is compared with every baseline of the same final, round by round. Rounds in which either of the two has
// no time are left out. Where several processes took the rounds, a figure is the median of the processes' medians, and
// intervals come from drawing processes, then rounds (tuner/base/stats.h). A ratio is the baseline's time over the
// winner's, so above 1 the winner is faster. Intervals are 95%.
#pragma once

#include "tuner/base/json.h"
#include "tuner/base/stats.h"
#include "tuner/job/job.h"
#include "tuner/protocol/final_message.h"

// The document -------------------------------------------------------------------------------------------------------

// Facts about a kernel that the header's selector needs. If they are unknown, at_once is 0.
struct final_selector {
    const char *stage; // its heaviest launch
    int64_t at_once;   // the blocks of that launch that the device can hold
};

// The decision from the rounds.
struct final_decision {
    int64_t rounds, winner; // a trial
    const int64_t *ties;    // trials that are tied with the winner
    // With objective each, `kernels` are the chosen trials. For each problem, `dispatch` has the index of its trial in
    // `kernels`, and `regret` how much slower this trial is than the fastest one. `selector` has the facts that select
    // each kernel.
    const int64_t *kernels, *dispatch;
    const double *regret;
    const struct final_selector *selector;
    const char *certainty; // "fastest", "tied", "undecided"; "": several kernels, or an older version
    double within;         // another candidate may be faster by at most this share; 0: none
    const char *minimize;  // "energy", "energy*time": the basis of the decision and of `certainty`; "": time
    const char *warning;   // something else seems to have used the device
    const char *reason;    // for an open final: why it was not the last
    size_t tie_count, kernel_count, dispatch_count, regret_count, selector_count;
};

struct final_entry_document {
    struct final_entry_answer answer;
    const double *process_medians; // medians of the objective, s; NULL where one process took all rounds
    size_t process_count;
    bool by_process; // its time depends on the process that runs it
    int64_t same_as; // for the current kernel: the candidate whose rounds these are; 0: it has its own
};

struct final_document {
    double when; // Unix time
    int64_t seed;
    struct final_decision decision;
    const int *process; // the process that ran each round; NULL where one ran all
    size_t process_rounds;
    const json_t *gpu; // the GPU of the final
    bool replayed;
    const json_t *recording;
    const struct final_entry_document *entries;
    size_t entry_count;
    // For a comparison of builds.
    const char *nvcc, *verdict; // the compiler; "slower" ..
    struct interval ratio;      // of nvcc's time to NVRTC's
};

extern const struct record final_decision_record, final_document_record;

// A final that was read ----------------------------------------------------------------------------------------------

struct final_problem {                   // figures of one entry, in the order of the job's tuned problems
    struct interval time;                // s, median
    struct interval ratio;               // for a baseline: its time over the winner's
    double error_max, error_rms;         // against fp64, relative to the bound's scale; NaN where unknown
    const struct energy_figures *energy; // NULL: not measured; lives as long as the final
    size_t rounds;                       // number of rounds with a time
};

struct final_entry {
    const char *name; // "17", "cublas"
    int64_t trial;    // 0: a baseline
    bool ok;
    const char *reason; // why not ok
    const char *detail; // for a baseline: which one it is
    double error;       // the worst element's error over its bound; NaN: unknown
    int64_t launches_judged, sizes_verified;
    struct final_problem *problems;
    struct interval ratio;         // for a baseline: geometric mean over the problems
    bool by_process;               // its time depends on the process that runs it
    size_t process_count;          // 0 where one process ran all rounds
    const double *process_medians; // medians of the objective, s
};

struct final {
    double when; // Unix time
    int64_t rounds, winner;
    bool replayed;
    size_t problem_count, entry_count, tie_count;
    struct final_entry *entries;
    const int64_t *ties; // trials that are tied with the winner
    size_t kernel_count; // objective each: number of trials chosen, the first is `winner`; otherwise 0
    const int64_t *kernels;
    const int64_t *dispatch; // by problem: index into kernels
    const double *regret;    // by problem: relative to the fastest in the final
    size_t process_rounds;   // length of `process`
    unsigned char *process;  // the process that ran each round; empty where one ran all
    struct final_document document;
    struct arena memory; // of the document
};

// Reads a "final" document of a job with that many tuned problems. Returns -1 with a message if the document is
// malformed or the winner has no entry. Release with final_release, even after a failure.
int final_read(struct final *, const json_t *document, size_t problem_count, struct error *);
// Fills in the candidates' ratios as well (`ratio` and the problems' ratios): a candidate's time over the winner's.
void final_compare_candidates(struct final *);
void final_release(struct final *);
const struct final_entry *final_winner(const struct final *); // never NULL after final_read
// The entry chosen for a problem: the winner, or with objective each the problem's kernel. Never NULL after final_read.
const struct final_entry *final_choice(const struct final *, size_t problem);
// The facts that select a kernel; NULL: unknown.
const struct final_selector *final_selector(const struct final *, size_t kernel);
// Returns the median of the rounds that have a time, with its interval. *used gets the number of these rounds.
// `process` is the process of each round; NULL: one process ran all.
struct interval final_median(const struct final_times *, const unsigned char *process, uint64_t seed, size_t *used);
// The baseline with the smallest ratio to the entry chosen for a problem; NULL if no baseline has a ratio.
const struct final_entry *final_fastest_baseline(const struct final *, size_t problem);

// The errors of the entry chosen for a problem, divided by the errors of a baseline. A ratio is 1 if both errors are 0,
// and NaN if one is unknown.
struct final_error_ratios {
    double max, rms; // of the largest errors, and of the root mean squares
};
struct final_error_ratios final_error_ratios(const struct final *, const struct final_entry *baseline, size_t problem);

// "2.810 ms"; "-" for NaN. Writes into `out` and returns it.
const char *show_time(double seconds, char *out, size_t size);
// "0.964 [0.961, 0.967]"; "" for NaN.
const char *show_ratio(const struct interval *, char *out, size_t size);
// A whole time with its interval in one unit: "2.810 ms [2.801, 2.822]"; "" for NaN.
const char *show_interval(const struct interval *, char *out, size_t size);
// "1.153 J at 690 W and 1755 MHz", with the subtracted share and the power limit, or why it was not measured.
const char *show_energy(const struct energy_figures *, char *out, size_t size);
// "1204 launches judged; a fault rarer than 3/1204 is not excluded": by the rule of three, with 95% confidence. "" if
// the launches were not counted.
const char *show_remaining_risk(int64_t launches_judged, char *out, size_t size);
// "2026-11-21 02:10", local time.
const char *show_moment(double when, char *out, size_t size);
