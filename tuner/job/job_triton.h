// Kernels that Triton compiled. Beside NAME.cubin and NAME.ptx in its cache lies NAME.json, which says how they are
// launched (triton/backends/nvidia/compiler.py and driver.py, versions 3.3 to 3.6).
#pragma once

#include "tuner/job/job.h"

// If such metadata lies beside the binary: the job's only stage gets the kernel's name, block and shared memory from
// it, and null pointers for the kernel's scratch memory behind the other arguments. Without metadata nothing changes.
// -1 with a message: the metadata cannot be read, or a launch by the job cannot be right.
int job_follow_triton(struct job *, const char *binary, struct error *);
