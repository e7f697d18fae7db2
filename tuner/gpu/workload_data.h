// The data that all requests after "job" work with: the problems with their memory and expected results, and the
// settings. This header has only data: workload.c sets it up, and modules in lower layers, such as reference.c,
// pipeline.c and verify.c, use it.
#pragma once

#include "kernels/operation.h"
#include "tuner/base/hash.h"
#include "tuner/base/limits.h"
#include "tuner/base/settings.h"
#include "tuner/gpu/buffers.h"
#include "tuner/gpu/device_operations.h"
#include "tuner/gpu/library_call.h"
#include "tuner/gpu/measure.h"
#include "tuner/gpu/peaks.h"
#include "tuner/gpu/support.h"
#include "tuner/protocol/job_message.h"
#include "tuner/trial/objective.h"

enum { WORKLOAD_PROBLEMS_MAX = JOB_MAX_PROBLEMS };

// A user function's verdict on a launch.
struct host_verdict {
    bool wrong;
    struct error why;
};

// The data kept for calls of a user function that judges outputs: the inputs of one set of data, and the function's
// latest verdicts. Verdicts are looked up by a hash of the outputs, keyed with the workload's key.
enum { HOST_VERDICTS_KNOWN = 16 };
struct host_known {
    char hash[HASH_TEXT_SIZE];
    struct host_verdict verdict;
};
struct host_verifier {
    struct library_call call;
    size_t known_count; // how many there have been; the last HOST_VERDICTS_KNOWN are kept
    struct host_known known[HOST_VERDICTS_KNOWN];
};

// The results and checksums of one set of data. Arrays are indexed by buffer, and used only for outputs. Expected
// values and copies of outputs are masked with the workload's key, so that a candidate that finds them cannot use them.
struct data_set {
    struct bound bound[BUFFERS_MAX];
    struct part part[BUFFERS_MAX];     // of outputs that are compared in part
    int64_t compared[BUFFERS_MAX];     // elements that are compared
    uint64_t previous[BUFFERS_MAX];    // dense copy of the first run's output; 0: not kept
    uint64_t checksum[BUFFERS_MAX][2]; // under the workload's current key: of the expected values, of the scales
    uint64_t results;                  // the allocation that holds these
    uint64_t seed;                     // from which the set was filled
    uint64_t key;                      // for the contents of memory before the candidate's first run
    bool stored;                       // `previous` comes from this candidate
    bool too_large;                    // with values other than the job's, expected values exceed the outputs' types
    struct host_verifier judge;
};

// Sets of data. 0 and 1 are filled from different seeds and are in a problem's memory. Set SET_MIXED + b is put
// together for a launch. It equals set b, except that a piece of one buffer comes from the other set. The lowest bit of
// its number is b.
enum { SET_MIXED = 2, SETS_MAX = 4 };
struct mixed_data {
    unsigned known; // how many of the two mixed sets have expected values
    struct {
        size_t buffer, offset, bytes;
    } piece[SETS_MAX - SET_MIXED];
};

struct device_problem {
    struct workload *workload;
    int number;       // its number in requests
    const char *name; // this and the next are borrowed from the request
    const struct problem_request *request;
    bool tune;                    // timed; otherwise only verified
    double weight;                // in the objective
    struct early_stop early_stop; // what was learned from first launches
    struct buffers buffers;
    struct data_set set[SETS_MAX], *filled; // `filled`: the set whose references are being computed
    struct mixed_data mixed;
    bool said_part[BUFFERS_MAX];          // stderr says that an output is compared in part
    bool said_floor[BUFFERS_MAX];         // stderr says that the error allowed everywhere is large
    unsigned char sampled[MEASURE_BATCH]; // by slot: the set of the timed launch
    bool ran[2];                          // by set, in this pass
    struct operation_problem operation;   // if the reference is an operation
    bool unbounded;                       // the estimate of its least work is wrong: no time is refused
};

// The buffer for a role of the operation, or NULL if there is none.
static inline const struct device_buffer *device_problem_buffer(const struct device_problem *p, int role)
{
    for (size_t i = 0; i < p->buffers.count; i++)
        if (p->buffers.list[i].view.device == p->operation.operand[role].device) return &p->buffers.list[i];
    return NULL;
}

// The source of the device's peaks. UNAVAILABLE: they could not be measured.
enum peaks_known { PEAKS_UNKNOWN, PEAKS_OF_SHEET, PEAKS_MEASURED, PEAKS_UNAVAILABLE };

struct placement;

struct workload_settings {
    struct measure_settings measure;
    struct verify_settings verify;
    enum objective objective;
    uint64_t seed; // of the current data
};

// Findings about a candidate's results. The first two are page-locked.
struct workload_judged {
    struct verify_finding (*findings)[BUFFERS_MAX]; // of this pass, two sets per problem
    struct verify_finding (*samples)[BUFFERS_MAX];  // on timed launches, MEASURE_BATCH of them
    struct host_verdict *verdicts;                  // of this pass, by a user function; NULL without one
    struct host_verdict *sample_verdicts;           // of timed launches, by the same function
    int64_t launches;                               // compared since the trial, or the worker, began
    bool compare_bits;                              // only one candidate runs: its runs must have the same bits
};

// Checksums of everything that candidates must not change (integrity.c).
struct workload_checksums {
    uint64_t key;         // a secret of this process
    uint64_t sums, *host; // on the device and, page-locked, on the host
    size_t room;
};

struct workload {
    struct machine *machine;
    struct cuda *cuda; // the machine's
    struct support *support;
    struct ceilings *ceilings;
    struct measure *measure;
    struct placement *placement; // NULL: none
    struct workload *sizes;      // the same job on drawn sizes (sizes.h); NULL: none
    bool drawn;                  // this is such a workload
    struct workload_settings settings;
    size_t problem_count, tuned_count;
    struct device_problem *problems;
    struct {
        size_t count;
        struct cuda_event **list; // two for each problem, and one more
    } events;
    struct workload_judged judged;
    struct workload_checksums checksums;
    uint64_t mask_key; // a secret of this process
    struct implementation_request reference;
    const struct operation *operation; // NULL: the reference is of another kind
    struct {
        struct device_operations operations; // what the operation, and baselines, may call
        struct device_operations_context context;
    } device;
    struct {
        struct peaks figures;
        enum peaks_known known;
    } peaks; // plausibility.c's
};
