// A job's trials as a recorded space (tuner/recorded/recorded.h): what `sweetspot export` writes, for replaying
// searches without a GPU and for other programs.
#ifndef SWEETSPOT_EXPORT_H
#define SWEETSPOT_EXPORT_H

#include "tuner/base/json.h"
#include "tuner/job/job.h"
#include "tuner/recorded/recorded.h"
#include "tuner/store/store.h"

// The trials that an export leaves out.
struct export_left_out {
    size_t elsewhere; // not in the job's space
};

// All trials of the store's current environment, in the order in which they finished. `device`: the "device" document,
// or NULL. The job's space must be built. NULL with a message; otherwise free with
// recorded_free.
struct recorded *export_recorded(const struct job *, struct store *, const struct environment *, const json_t *device,
                                 struct export_left_out *, struct error *);

#endif
