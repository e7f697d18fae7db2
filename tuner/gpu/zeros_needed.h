// Detects one cause of wrong results: a candidate relies on zeros in memory for which the job promises nothing. In this
// case its results are correct if that memory does hold zeros, and the reason says what to write in the job.
#pragma once

#include "tuner/gpu/pipeline.h"

// Launches the candidate once more on each problem, then with zeros in scratch, then with zeros in outputs. If the
// results are correct only with zeros, appends this to the reason. Called after a verdict of STATUS_WRONG or
// STATUS_NONDETERMINISTIC, and before memory is checked. Does nothing if launches take a long time. Waits.
int zeros_needed(struct workload *, struct pipeline *, struct error *reason, struct error *err);
