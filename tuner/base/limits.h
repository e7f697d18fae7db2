// Limits of jobs and runs. A job file that exceeds them is refused, with the file and the line. The GPU worker
// allocates its arrays for these limits.
#pragma once

enum {
    JOB_MAX_PROBLEMS = 64, // tuned and verified
    JOB_SAMPLES = 12,      // problems sampled from a range
    JOB_SAMPLES_HELD = 3,  // with objective each, one in this many is held back
    JOB_MAX_STAGES = 8,
    JOB_MAX_LAUNCHES = 1024,  // in all stages for one problem, including repetitions
    JOB_MAX_LOOPS = 4,        // of a stage
    JOB_MAX_EDITS = 100,      // of sources
    JOB_MAX_SWAPS = 8,        // pairs of buffers that a stage exchanges
    JOB_MAX_ARGUMENTS = 64,   // of a stage
    JOB_MAX_TENSOR_MAPS = 8,  // of a stage
    JOB_MAX_BUFFERS = 32,     // of all stages
    JOB_MAX_BUFFER_NAME = 63, // characters
    JOB_MAX_BASELINES = 8,    // user programs
    FINAL_CANDIDATES_MAX = 100,
    FINAL_ROUNDS_MAX = 10000,
    FINAL_LEAST = 5,          // rounds per process, even if little time is left
    FINAL_PROCESSES_MAX = 16, // processes of the GPU worker, one after another, in one final
    FINAL_ENERGY_SECONDS = 4, // to measure the energy of one entry on one problem
    ENDED_MOST = 4,           // how often a worker may be ended from outside before its request counts as the cause
};

// How much the time of a kernel that is timed in a graph varies from graph to graph, in seconds. On an H100, a kernel
// took 1.75 us in a search and 2.10 us in the final, and two copies of it in the search were over 10% slower than the
// kernel itself.
#define GRAPH_SPREAD 0.5e-6
