// Why a candidate may be wrong: because it takes for granted that memory of which the job promises nothing holds zeros.
// It is then right when it does, and the reason says what to write in the job.
#pragma once

#include "tuner/gpu/pipeline.h"

// After a verdict of STATUS_WRONG or STATUS_NONDETERMINISTIC, before memory is checked: launches the candidate once
// more on each problem, then with zeros in scratch, then with zeros in outputs. Adds to the reason if it is right only
// with zeros. Not where launches take long. Waits.
int zeros_needed(struct workload *, struct pipeline *, struct error *reason, struct error *err);
