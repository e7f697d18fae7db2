// Kernels compiled by Triton. Next to NAME.cubin and NAME.ptx, Triton's cache has NAME.json, which describes how to
// launch the kernel (triton/backends/nvidia/compiler.py and driver.py, versions 3.3 to 3.6).
#pragma once

#include "tuner/job/job.h"

// If the binary has such metadata, the job's only stage gets the kernel's name, block and shared memory from it. Null
// pointers for the kernel's scratch memory are added after the other arguments. Without metadata, nothing is changed.
// -1 with a message if the metadata cannot be read, or if the job's launch cannot be correct.
int job_follow_triton(struct job *, const char *binary, struct error *);
