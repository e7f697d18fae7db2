// {"id":5,"op":"final","seed":7,"process":0,"part":0,"rounds":14,"seconds":2.5,"places":5,
//  "candidates":[{"trial":17,"binary":"nvrtc"|"nvcc",CANDIDATE}],"baselines":["cublas","cublasLt"]}
// <- {"id":5,"status":"ok","entries":[
//       {"name":"17"|"cublas","trial":17|0,"binary":"nvrtc","status":"ok","reason":"","detail":"",
//       "error":..,"launches_judged":..,"sizes_verified":..,"cubin_hash":"..",
//       "problems":[{"problem":0,"times":[..],"error_max":..,"error_rms":..}]}, ..]}
//
// New data is generated from the seed. Candidates are verified in the given order until "places" of them have passed
// (missing: all are verified); the remaining candidates have no entry. Every round runs in a random order, and every
// timed launch of a candidate is verified.
//
// The rounds of a process come in parts. The second and later parts name only the candidates and baselines that are
// still in the race. These have been verified already, and the answer covers only the rounds of this part. A part ends
// "seconds" after its request (missing: no limit), but not before FINAL_LEAST rounds are complete, so it may run fewer
// rounds than requested.
//
// With "energy" the part runs no rounds: instead of times, the answer gives the energy of each entry,
// {"problem":0,"energy":{"joules":[value,low,high],"watts":..,"clock_mhz":..,"share":..,"power_limited":true}}, or the
// "reason" why there is none. A measurement that might not end within "seconds" is not started.
#pragma once

#include "tuner/base/stats.h"
#include "tuner/protocol/candidate.h"
#include "tuner/protocol/message.h"
#include "tuner/trial/trial.h"

struct final_candidate {
    int64_t trial;
    const char *binary; // the compiler that built the cubin (missing: PROTOCOL_NVRTC); a trial may have two builds
    struct candidate candidate;
};

struct final_request {
    int64_t seed;
    int64_t process; // number among the processes that share the final's rounds; each uses a different random order
    int64_t part;    // index of the part within the process
    int64_t rounds;
    double seconds; // 0: no limit
    bool energy;    // measure energy instead of rounds
    int64_t places; // -1: as many as there are candidates
    const struct final_candidate *candidates;
    const char *const *baselines;
    size_t candidate_count, baseline_count;
};

#define ENERGY_NO_TIME "no time is left" // a possible `reason`

// The energy of one execution, computed as described in tuner/gpu/energy.h.
struct energy_figures {
    struct interval joules; // the interval is computed from parts of the measurement, not a confidence interval
    double watts;           // mean power of the board while the work was repeated, including its preparation
    double clock_mhz;       // mean SM clock; NaN: unknown
    double share;           // fraction of a repetition's energy used by its preparation; not part of `joules`
    bool power_limited;     // the clock was lowered to keep the power limit
    const char *reason;     // why the energy was not measured
};

struct final_times {
    int problem;
    const double *times; // s, indexed by round, so that entries can be paired. NaN: no time
    size_t time_count;
    double error_max, error_rms;         // compared with FP64, relative to the scale of the bound
    const struct energy_figures *energy; // NULL: it was not requested
};

struct final_entry_answer {
    const char *name;
    int64_t trial;      // 0: a baseline
    const char *binary; // "" for a baseline
    enum trial_status status;
    const char *reason, *detail;
    double error;            // the error of the worst element, divided by its bound
    int64_t launches_judged; // launches whose results were compared, in all processes
    int64_t sizes_verified;  // number of drawn sizes
    const char *cubin_hash;  // of the bytes that ran
    struct final_times *problems;
    size_t problem_count;
    bool left; // used only by the driver: it lost and is not in later parts
};

struct final_answer {
    struct answer_head head;
    struct final_entry_answer *entries;
    size_t entry_count;
};

extern const struct record final_request_record, final_entry_record, final_answer_record, energy_record;

// Whether a request lists the baseline with this name or, if the name is NULL, the candidate with this trial and build.
bool final_request_has(const struct final_request *, int64_t trial, const char *binary, const char *baseline);
// An entry's times for a problem, or NULL if there are none.
struct final_times *final_entry_times(const struct final_entry_answer *, size_t problem);
// The times of a problem as a list, with null for a missing time. New reference.
json_t *final_times_json(const struct final_times *);
