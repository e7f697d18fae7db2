// Makes a recorded space (tuner/recorded/recorded.h) from a job's trials. `sweetspot export` writes it, for replaying
// searches without a GPU and for other programs.
#pragma once

#include "tuner/job/job.h"
#include "tuner/recorded/recorded.h"
#include "tuner/store/store.h"

// Exports all trials of the store's current environment, in the order in which they finished. `device`: the "device"
// document, or NULL. The job's space must be built. Trials that are not in this space are left out, and *elsewhere is
// set to their number. On failure, returns NULL with a message; otherwise free the result with recorded_free.
struct recorded *export_recorded(const struct job *, struct store *, const struct environment *, const json_t *device,
                                 size_t *elsewhere, struct error *);
