// {"id":5,"op":"final","seed":7,"process":0,"part":0,"rounds":14,"seconds":2.5,"places":5,
//  "candidates":[{"trial":17,"binary":"nvrtc"|"nvcc",CANDIDATE}],"baselines":["cublas","cublasLt"]}
// <- {"id":5,"status":"ok","entries":[
//       {"name":"17"|"cublas","trial":17|0,"binary":"nvrtc","status":"ok","reason":"","detail":"",
//       "error":..,"launches_judged":..,"sizes_verified":..,"cubin_hash":"..",
//       "problems":[{"problem":0,"times":[..],"error_max":..,"error_rms":..}]}, ..]}
//
// Fresh data from the seed. Candidates are proved in their order until "places" of them have passed (missing: all are);
// the others have no entry. Random order in every round, every timed launch of a candidate judged.
//
// The rounds of a process come in parts. A part that is not the first lists the candidates and baselines that still
// race: they are proved already, and the answer is about this part's rounds. A part ends when "seconds" have passed
// since its request (missing: no limit), but not before FINAL_LEAST rounds; so it may have fewer than were asked for.
//
// With "energy" the part has no rounds: its answer has the energy of each entry instead of times,
// {"problem":0,"energy":{"joules":[value,low,high],"watts":..,"clock_mhz":..,"share":..,"power_limited":true}}, or the
// "reason" why it has none. A measurement that may not end within "seconds" is not begun.
#pragma once

#include "tuner/base/stats.h"
#include "tuner/protocol/candidate.h"
#include "tuner/protocol/message.h"
#include "tuner/trial/trial.h"

struct final_candidate {
    int64_t trial;
    const char *binary; // whose build the cubin is, PROTOCOL_NVRTC where it is missing; two may be builds of one trial
    struct candidate candidate;
};

struct final_request {
    int64_t seed;
    int64_t process; // its number among those that share the final's rounds; each has its own order
    int64_t part;    // of the process, from 0
    int64_t rounds;
    double seconds; // 0: no limit
    bool energy;    // instead of rounds
    int64_t places; // -1: as many as there are candidates
    const struct final_candidate *candidates;
    const char *const *baselines;
    size_t candidate_count, baseline_count;
};

#define ENERGY_NO_TIME "no time is left" // a reason

// The energy of one execution, by the rule of tuner/gpu/energy.h.
struct energy_figures {
    struct interval joules; // the interval is what parts of the measurement give, not a confidence interval
    double watts;           // mean power of the board while the work was repeated, its preparation included
    double clock_mhz;       // of the SMs, mean; NaN: unknown
    double share;           // of the energy of a repetition that preparing it takes, which is not in `joules`
    bool power_limited;     // the clock was lowered to keep the power limit
    const char *reason;     // why there are no joules
};

struct final_times {
    int problem;
    const double *times; // s, one a round; the rounds of different entries correspond. NaN: there is none
    size_t time_count;
    double error_max, error_rms;         // against FP64, relative to the scale of the bound
    const struct energy_figures *energy; // NULL: it was not asked for
};

struct final_entry_answer {
    const char *name;
    int64_t trial;      // 0: a baseline
    const char *binary; // "": a baseline's
    enum trial_status status;
    const char *reason, *detail;
    double error;            // the worst element's over its bound
    int64_t launches_judged; // whose results were compared, in all processes
    int64_t sizes_verified;  // drawn ones
    const char *cubin_hash;  // of the bytes that ran
    struct final_times *problems;
    size_t problem_count;
    bool left; // for the driver: it has lost and is not in later parts
};

struct final_answer {
    struct answer_head head;
    struct final_entry_answer *entries;
    size_t entry_count;
};

extern const struct record final_request_record, final_entry_record, final_answer_record, energy_record;

// Whether it lists a baseline by its name or, where that is NULL, a candidate by its trial and build.
bool final_request_has(const struct final_request *, int64_t trial, const char *binary, const char *baseline);
// An entry's times on a problem; NULL: it has none.
struct final_times *final_entry_times(const struct final_entry_answer *, size_t problem);
// The times of a problem as a list, null where there is none. New reference.
json_t *final_times_json(const struct final_times *);
