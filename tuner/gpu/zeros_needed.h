// One cause of wrong results: a candidate takes for granted that memory holds zeros although the job promises nothing
// about it. If so, its results are correct when the memory does hold zeros, and the reason says what to write in the
// job.
#pragma once

#include "tuner/gpu/pipeline.h"

// After a verdict of STATUS_WRONG or STATUS_NONDETERMINISTIC, before memory is checked: launches the candidate once
// more on each problem, then with zeros in scratch, then with zeros in outputs. If the results are correct only with
// zeros, appends this to the reason. Does nothing if launches take long. Waits.
int zeros_needed(struct workload *, struct pipeline *, struct error *reason, struct error *err);
