// What each instruction of one kernel did in one launch. Executed instructions, wavefronts and sectors come from
// CUPTI's SASS metrics, counted by code that CUPTI patches into the kernel (sass.c). CUPTI's PC sampling shows where
// warps of the unpatched kernel wait (sampling.c).
//
// A listing has one entry for each instruction of the kernel's code, in the code's order (instructions are 16 bytes on
// every architecture since Volta). The two modules fill different columns of the same listing. Neither may run while a
// range profiler's session (counters.h) is open.
#pragma once

#include "tuner/base/base.h"

enum { SASS_BYTES = 16, SASS_REASONS = 48, SASS_REASON_LENGTH = 48 };

// Ideal: what the same accesses would need if they were perfectly coalesced and had no bank conflicts.
enum sass_column {
    SASS_INSTRUCTIONS,      // executed by a warp
    SASS_THREADS,           // the same, counted for each active thread
    SASS_SHARED_WAVEFRONTS, // cycles of the shared-memory data banks
    SASS_SHARED_IDEAL,
    SASS_GLOBAL_SECTORS, // of 32 bytes, of global memory
    SASS_GLOBAL_IDEAL,
    SASS_LOCAL_SECTORS, // of local memory: spills and arrays that are indexed at run time
    SASS_SAMPLES,       // in which a warp was at this instruction
    SASS_COLUMNS
};
extern const char *const sass_column_names[SASS_COLUMNS]; // as in the protocol: "instructions", ...

struct sass_instruction {
    double value[SASS_COLUMNS];
    uint32_t samples[SASS_REASONS]; // by reason
};

struct sass_listing {
    size_t count;
    struct sass_instruction *list;
    bool known[SASS_COLUMNS]; // false: not counted (the chip lacks it), values are 0
    size_t reason_count;
    char reasons[SASS_REASONS][SASS_REASON_LENGTH]; // "long_scoreboard"; "selected" is a warp that issued
    uint64_t dropped;                               // samples lost
};

// Makes an empty listing for a kernel with this many bytes of code. Fails if memory is exhausted. The caller releases,
// even after a failure.
int sass_listing_init(struct sass_listing *, size_t code_bytes, struct error *err);
void sass_listing_release(struct sass_listing *);

enum { SASS_FAILED = -1, SASS_LAUNCH_FAILED = -2 };

// Launches the kernel and waits until it has ended. Returns 0 if this succeeded. After any other value, no further call
// is made.
typedef int sass_launch(void *user);

// Counts what the instructions of the kernel `symbol` do in one launch. `context` is the CUcontext of `device` (the
// driver's ordinal) and must be current. Takes 20 ms for a kernel of 0.4 ms (H200). Returns 0, SASS_FAILED or
// SASS_LAUNCH_FAILED. A process can use only one device.
int sass_measure(void *context, int device, const char *symbol, sass_launch *, void *user, struct sass_listing *,
                 struct error *err);

// Functions of the other module, sampling.c. Call sampling_open() before the kernel's module is loaded.
// sampling_measure() samples every 2^period cycles (`period`: 5 to 31) while `launch` runs.
int sampling_open(void *context, struct error *err);
int sampling_measure(void *context, const char *symbol, unsigned period, sass_launch *, void *user,
                     struct sass_listing *, struct error *err);
void sampling_close(void *context);
