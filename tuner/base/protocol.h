// The protocol between the driver and its workers: one JSON object per line on stdin and stdout, so that a worker can
// be used by hand. Every request has an "id" and an "op"; every answer repeats the id. stderr is free text for the log.
// A worker answers requests in order, and ends when its stdin ends. Times are in seconds and sizes in bytes.
//
// Messages are structs with one table each (tuner/base/record.h), in the files of tuner/protocol, which explain them:
// candidate.h (what a GPU receives), trial_message.h, count_message.h, final_message.h, profile_message.h (also
// "sanitize"), job_message.h, problem_message.h, compile_message.h. Members whose value is unknown, "", 0 or false are
// usually left out. The value of a member that is missing or null is unknown. The other messages are described here.
//
// FIGURES are the known fields of a trial, a problem or a stage, under the names that the table in
// tuner/trial/trial_field.c gives them for answers. `sweetspot list fields` prints this table. An unknown figure is
// left out. Names in capitals are explained where they first appear; a bar separates alternatives.
//
// Answers to any request:
//   {"id":n,"status":"error","reason":".."}          it is invalid or cannot be fulfilled; the worker continues
//   {"id":n,"status":"environment","reason":".."}    this machine cannot do it at all ("no CUDA driver: ..."); the GPU
//                                                    worker exits
//   {"id":n,"status":"crashed","reason":".."}        the CUDA context is lost; the GPU worker exits. The driver starts
//                                                    another and repeats "job". In answers to "count" and "final",
//                                                    "trial" names the candidate that caused it
//   {"id":n,"progress":0.25,"what":".."}             a progress message; any number of them may precede the answer,
//                                                    and each restarts the deadline. "what" may be missing. "trial"
//                                                    is the trial in progress if there is only one. The GPU worker
//                                                    sends one when it starts a request that runs a candidate; if a
//                                                    worker ends before that, the request is not blamed
//
// sweetspot-compile
//
//   {"id":1,"op":"hello"}
//   <- {"id":1,"protocol":1,"compiler":"nvrtc 13.0"}
//     "protocol": PROTOCOL_VERSION, for a GPU worker as well. A worker with another version is refused.
//
//   {"id":2,"op":"compile","arch":"sm_90a","source":"/t/gemm.cu","source_hash":"..32 hex..","include":["/t"],
//    "entries":["gemm_simt"],"options":["-lineinfo"],"defines":{"BLOCK_M":"128"},
//    "cache":"out/cache","deadline":60.0,"memory":4294967296}
//   <- compile_message.h
//     All other members: struct compile_request. {"op":"hello","compiler":"nvcc"} asks for nvcc's version instead; the
//     status is "error" if there is no nvcc.
//
//   {"id":3,"op":"build","arch":"sm_90a","source":"/t/x.cu","options":["-I/cub"],"functions":["f"],"cache":"out/cache",
//    "deadline":60.0,"memory":4294967296,"host_headers":false}
//   <- compile_message.h
//     Builds a shared library for the host from the user's code, which must define the functions. nvcc builds .cu
//     files; cc and c++ build the others, without "arch".
//
// sweetspot-gpu
//
//   {"id":1,"op":"hello","counters":true}
//   <- {"id":1,"status":"ok","protocol":1,"device_count":1,
//       "device":{"name":"NVIDIA H200","arch":"sm_90a","uuid":"GPU-...","ordinal":0,"sm_count":132,"max_shared":232448,
//         "shared_per_sm":233472,"reserved_shared":1024,"registers_per_sm":65536,"max_registers":255,
//         "max_threads":1024,"threads_per_sm":2048,"blocks_per_sm":32,"warp_size":32,"l2_bytes":62914560,
//         "max_cluster":8,"clock_mhz":1980,"memory_bus_bits":..,"memory_bytes":..,"memory_free":..,
//         "driver":"580.159.04","cuda":"13.0"},
//       "libraries":{"cublas":"13.0.2"}|{"missing":"why not"},"nvml":true,
//       "counters":{"available":true,"chip":"gh100","reason":"","missing":[".."],
//         "metrics":[{"key":"icache_misses","metric":"sm__...","unit":"..","description":".."}]}}
//     A recording also answers "replayed":true,"recording":{"source_hash":"..32 hex.."|"","rounds":40,"when":..}. These
//     are the source that was measured, and the number of rounds and the time of the recording's own final (0: none).
//     "recorded":{"job":"sgemm","parameters":["BLOCK_M",..],"problems":["M=2048,..",..]} is what was recorded. With
//     "counters":false CUPTI is not loaded, since loading takes 0.9 s and makes every later launch 0.5 us longer. The
//     answer then has no "counters".
//
//   {"id":1,"op":"identify"}                    does nothing on the device, where another process may be timing
//   <- {"id":1,"status":"ok","device":{"name":"NVIDIA H200","driver":"580.159.04"}}
//
//   {"id":2,"op":"job", ..}
//   <- job_message.h
//
//   {"id":6,"op":"metrics","chip":"GH100"}                   needs CUPTI, but no GPU and no job
//   <- {"id":6,"status":"ok","chip":"GH100",
//       "metrics":[{"name":"sm__icc_requests","kind":"counter","unit":"..","description":".."}, ..],
//       "sets":[{"name":"basic","summary":"..","metrics":[{"key":"icache_misses","metric":"sm__....sum"}, ..]}, ..]}
//
//   {"id":8,"op":"ceilings","pipes":["wgmma bf16","memory", ..],"lasting":true}
//   <- {"id":8,"status":"ok","wgmma_bf16_flops_per_second":6.9e14,"bytes_per_second":4.5e12,
//       "lasting":{"wgmma_bf16_flops_per_second":{"clock_mhz":1395,"first":8.1e14,"seconds":0.3}}}
//     Measures the units with these names (execution_unit.h); without "pipes", all units that have no macro there. The
//     members of the answer are the keys of that table; units that the device does not have are left out. "lasting":
//     for units whose power consumption lowers the clock, the rate over the last third of "seconds" replaces the rate
//     of the fastest launch, which is then "first".
#pragma once

// Raised when messages change in a way that workers from another build do not understand.
enum { PROTOCOL_VERSION = 2 };

// The language standard of every candidate, which both the compile worker and users of a header use.
#define PROTOCOL_CXX_STANDARD "c++17"

enum trial_status {
    STATUS_OK,
    STATUS_SLOW,
    STATUS_PRUNED,
    STATUS_COMPILE_ERROR,
    STATUS_COMPILE_TIMEOUT,
    STATUS_LAUNCH_ERROR,
    STATUS_WRONG,
    STATUS_OUT_OF_BOUNDS,
    STATUS_NONDETERMINISTIC,
    STATUS_CRASHED,
    STATUS_TIMEOUT,
    STATUS_IMPLAUSIBLE,
    STATUS_COUNT
};

// The word for a status in the store, the protocol and reports.
const char *status_name(enum trial_status status);
// The words of all statuses, in the order of the enum, followed by NULL.
extern const char *const status_names[STATUS_COUNT + 1];
// The status whose word is `name`, or -1.
int status_find(const char *name);

// An answer's status is "ok" (status_name(STATUS_OK)) if the request was fulfilled, a trial's status, or one of these:
#define PROTOCOL_ERROR "error"                   // the request is invalid, or cannot be fulfilled
#define PROTOCOL_SOURCE_CHANGED "source_changed" // the source is not the one that the request names
#define PROTOCOL_ENVIRONMENT "environment" // the machine lacks what is needed; a GPU worker exits with EXIT_ENVIRONMENT

// Names of the compilers, and of the builds that they make.
#define PROTOCOL_NVRTC "nvrtc"
#define PROTOCOL_NVCC "nvcc"

// Exit statuses of every program here; the man page lists them for users.
enum {
    EXIT_DONE = 0,        // done
    EXIT_NOTHING = 1,     // done, but nothing valid found or a check failed
    EXIT_USAGE = 2,       // command line or job file
    EXIT_ENVIRONMENT = 3, // no GPU, no permission, too old, not writable
    EXIT_GATE = 4,        // a result is below the limit (compare --fail-below), or a new version is slower (gate)
    EXIT_UNDECIDED = 5,   // gate: it is unclear whether it is slower
    EXIT_SIGNAL = 128,    // plus the signal's number, as in shells: 130 after Ctrl-C, if work was left unfinished
};
