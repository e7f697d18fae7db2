// Many launches of a candidate in one loaded module, as a program makes them: problem, data and memory change from
// launch to launch, and nothing is restored that the job does not promise.
//
//     draw problem, memory and data -> inputs to that address, where others lie -> dirt -> launch -> [compared]
//
// Half of the launches work on the problem's own copies, the others in the placement (placement.h): at drawn addresses,
// each of which holds all problems and all sets of data in turn, the mixed one (mixed_data.h) included. Addresses are
// drawn again for every batch. Two of five launches run during other work on the device (support.h), which mostly
// begins before them: sleeps in place of barriers, missing waits and races at borders of tiles then show. All of
// these launches are judged, all on mixed data, a drawn third of the others, and the last one of each batch.
#pragma once

#include "tuner/gpu/pipeline.h"

// At least `least` launches, then more until the time is up, but at most `most`. Both ends yield to a hard limit of
// four times the time, by which the last launch has begun.
struct soak_budget {
    unsigned least, most;
    double seconds;
};

// For a new best, before it limits other candidates; for a finalist, in the first process of a final and in the others.
extern const struct soak_budget soak_of_best, soak_of_finalist, soak_of_process;

// After a verified pass, whose times say how many launches fit. STATUS_OK, or what the first judged launch that was not
// right calls for, with the reason. Waits; *status is set when 0 is returned. Where memory is short, the rest is left
// out, with a note on stderr. CUDA_CRASHED, CUDA_REFUSED: a launch failed, with the launches in the message.
int soak_run(struct workload *, struct pipeline *, const struct soak_budget *, enum trial_status *status,
             struct error *reason, struct error *err);
