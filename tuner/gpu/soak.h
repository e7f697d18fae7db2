// Many launches of a candidate in one loaded module, as a program would make them: problem, data and memory change from
// launch to launch, and only what the job promises is restored.
//
//     draw problem, memory and data -> inputs to that address, over older ones -> garbage -> launch -> [compared]
//
// A third of the launches work on the problem's own copies, the others in the placement (placement.h). Its random
// addresses hold all problems and all sets of data in turn, including the mixed ones (mixed_data.h): half of the
// launches there are followed by one that differs only in the mixed piece. New addresses are drawn for every batch. Two
// in five launches run during other work on the device (support.h), which usually begins before the launch. This
// exposes sleeps in place of barriers, missing waits and races at tile boundaries. All of these launches are judged, as
// are all launches on mixed data, the last one of each batch, and a random third of the others.
#pragma once

#include "tuner/gpu/pipeline.h"

// A soak makes at least `least` launches, then more until `seconds` have passed, but at most `most`. No launch begins
// after four times `seconds`, even if fewer than `least` have been made.
struct soak_budget {
    unsigned least, most;
    double seconds;
};

// The budget for a new best (which is soaked before it limits other candidates), the budget for a finalist in the first
// process of a final, and the budget for a finalist in the other processes.
extern const struct soak_budget soak_of_best, soak_of_finalist, soak_of_process;

// Called after a verified pass, whose times tell how many launches fit. Waits. If 0 is returned, *status is STATUS_OK
// or, with a reason, the status of the first judged launch that failed verification. If memory runs out, the remaining
// launches are left out, with a note on stderr. CUDA_CRASHED, CUDA_REFUSED: a launch failed; the message says which
// launches it may have been.
int soak_run(struct workload *, struct pipeline *, const struct soak_budget *, enum trial_status *status,
             struct error *reason, struct error *err);
