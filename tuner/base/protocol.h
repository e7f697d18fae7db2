// What the driver and its workers say to each other: one JSON object a line on stdin and stdout, so that a person can
// drive a worker by hand. Every request has an "id" and an "op"; every answer repeats the id. stderr is free text for
// the log. A worker answers requests in order, and ends when its stdin ends. Times are seconds and sizes bytes.
//
// FIGURES are the known fields of a trial, a problem or a stage, under the names that the table of
// tuner/trial/trial_field.c gives them in answers; `sweetspot list fields` prints the table. An unknown figure is left
// out. Names in capitals are explained where they first appear; a bar separates alternatives.
//
// Answers to any request:
//   {"id":n,"status":"error","reason":".."}          it is invalid or cannot be met; the worker goes on
//   {"id":n,"status":"environment","reason":".."}    this machine cannot do it at all ("no CUDA driver: ..."); the GPU
//                                                    worker exits
//   {"id":n,"status":"crashed","reason":".."}        the CUDA context is lost; the GPU worker exits. The driver starts
//                                                    another and repeats "job". In answers to "count" and "final",
//                                                    "trial" names the candidate that caused it
//   {"id":n,"progress":0.25,"what":".."}             a sign of life before the answer, any number of them: the deadline
//                                                    begins anew. "what" may be missing. "trial": the one at
//                                                    work alone, null if none. The GPU worker sends one when it begins
//                                                    with a request that runs a candidate: a request is not blamed
//                                                    for a worker that ends before
//
// sweetspot-compile
//
//   {"id":1,"op":"hello"}
//   <- {"id":1,"compiler":"nvrtc 13.0"}
//
//   {"id":2,"op":"compile","arch":"sm_90a","source":"/t/gemm.cu","source_hash":"..32 hex..","include":["/t"],
//    "entries":["gemm_simt"],"options":["-lineinfo"],"defines":{"BLOCK_M":"128"},"macros":["HEADER=\"a.h\"", ..],
//    "cache":"out/cache","deadline":60.0,"memory":4294967296}
//   <- {"id":2,"status":"ok","cubin":"out/cache/ab/...cubin","cached":false,"seconds":0.23,"warnings":["C7508 ..."],
//       "entries":[{"entry":"gemm_simt","symbol":"gemm_simt",FIGURES of a stage: registers, spills, code ...}]}
//   <- {"id":2,"status":"compile_error"|"compile_timeout","reason":"gemm.cu(12): error: ..."}
//   <- {"id":2,"status":"source_changed","reason":"/t/gemm.cu"}
//     "host_headers": false offers no stand-ins for headers of the host (host_headers.h).
//     "units":[{"unit":0,"defines":{"PHASE":"1"},"entries":["scan"]}, ..] in place of "entries": each is compiled for
//     itself, with these macros besides, and the "cubin" is a file of units (tuner/base/units.h), in which they have
//     these numbers; the answer's entries have "unit", too.
//     "files": paths of files that "options" name; their contents count for the cache. May be missing.
//     "text" may stand for "source": the program itself (the worker's support kernels).
//     "source_hash" (source.h) is what the driver's trials are filed under. A source with another hash has changed
//     meanwhile, and is not compiled. "macros" are those of the job by which a header may be included, with each of
//     their values; they may be missing.
//     "memory": bytes that the compiler may take; what takes more is a "compile_error". Missing: as many as there are.
//     {"op":"hello","compiler":"nvcc"} asks for nvcc's version instead: "status":"error" where there is none.
//     "compiler":"nvcc" has nvcc build it by the header's instructions (nvcc_recipe.h), from a "source"; without it, or
//     with "nvrtc", NVRTC does. The answer then has "compiler":"nvcc 13.0.88", once the version is known.
//     With "alone":true NVRTC does not compile it before, and the entries' names are found in nvcc's cubin. "behind" is
//     a text that nvcc compiles behind the source. Of a virtual architecture ("compute_90a") the file is PTX.
//     "warnings" has at most one text: the lines of ptxas's advisories. "cubin" is there when "cache" was given. The
//     figures are those of the cubin, and of ptxas where the cubin does not have them (spills).
//
//   {"id":3,"op":"build","arch":"sm_90a","source":"/t/x.cu","options":["-I/cub"],"functions":["f"],"cache":"out/cache",
//    "deadline":60.0,"memory":4294967296,"host_headers":false}
//   <- {"id":3,"status":"ok","library":"out/cache/ab/...so","hash":"..32
//   hex..","compiler":"nvcc 13.0.88","cached":false}
//     or as of "compile". A shared library of the user's code, for the host, which must define the functions. nvcc
//     builds .cu; cc and c++ others, without "arch". "hash": of all that was built, by which the cache keeps it.
//
// sweetspot-gpu
//
//   {"id":1,"op":"hello","counters":true}
//   <- {"id":1,"status":"ok","device_count":1,
//       "device":{"name":"NVIDIA H200","arch":"sm_90a","uuid":"GPU-...","ordinal":0,"sm_count":132,"max_shared":232448,
//         "shared_per_sm":233472,"reserved_shared":1024,"registers_per_sm":65536,"max_registers":255,
//         "max_threads":1024,"threads_per_sm":2048,"blocks_per_sm":32,"warp_size":32,"l2_bytes":62914560,
//         "max_cluster":8,"clock_mhz":1980,"memory_bus_bits":..,"memory_bytes":..,"memory_free":..,
//         "driver":"580.159.04","cuda":"13.0"},
//       "libraries":{"cublas":"13.0.2"}|{"missing":"why not"},"nvml":true,
//       "counters":{"available":true,"chip":"gh100","reason":"","missing":[".."],
//         "metrics":[{"key":"icache_misses","metric":"sm__...","unit":"..","description":".."}]}}
//     Where a recording answers: "replayed":true,"recording":{"source_hash":"..32 hex.."|"","rounds":40,"when":..}: the
//     source that was measured, and of its own final how many rounds it had and when it was (0: it has none); and
//     "recorded":{"job":"sgemm","parameters":["BLOCK_M",..],"problems":["M=2048,..",..]}: whose recording it is.
//     With "counters":false CUPTI is not loaded, and the answer has no "counters": loading takes 0.9 s and makes every
//     later launch 0.5 us longer.
//
//   {"id":2,"op":"job","support":"/../support.cubin","ceilings":"/../ceilings.cubin","seed":1,
//    "problems":[{"name":"M=2048,N=2048,K=2048","tune":true,"weight":1.0,"sizes":{"M":2048,..},
//      "roles":{"M":2048,"alpha":1.0},"flops":..,"bytes":..,
//      "buffers":[{"name":"A","type":"f32","rows":2048,"cols":2048,"ld":2048,
//        "direction":"in"|"out"|"inout"|"scratch","fill":FILL}]}, ..],
//    "objective":"geomean"|"mean"|"worst"|"each","reference":REFERENCE,"verify":SETTINGS,"measure":SETTINGS,
//    "counters":[".."]|null,"baselines":[KERNEL,"cublas","cublasLt",PROGRAM]}
//     "tune":false: a problem that is only verified.
//     FILL = {"kind":"uniform"|"nonfinite"|"integer","low":-1,"high":1} | {"kind":"constant","value":1} |
//       {"kind":"npy","path":"x.npy"} | {"kind":"normal"|"zero"|"index"}
//     REFERENCE = {"kind":"operation","name":"gemm","by":"cublas"|"cpu","buffers":{"A":"A","B":"B","C":"C"}} |
//       {"kind":"kernel","cubin":"..","problems":[{"problem":0,"stages":[STAGE]}, ..]} |
//       {"kind":"library","path":"x.so","function":"f","generate":"g","verify":"v","timeout":600} |
//       {"kind":"command","command":"python3 ref.py","folder":"/j","timeout":600} |
//       {"kind":"npy","files":{"C":"c.npy"}} | {"kind":"none"}
//       "files" may also be a list with such an object for each problem. Of "function", "generate" and "verify" some
//       may be missing; "generate" may be there with any kind. "built": the library to open in place of "path", which
//       is a source then.
//     SETTINGS: one member for each line of a table in settings.c that is not marked SETTING_JOB.
//     KERNEL = {"name":"current","detail":"BLOCK=256","cubin":"..","problems":[{"problem":0,"stages":[STAGE, ..]}, ..]}
//       The job's present kernel, on all problems. It has times if it passes a trial.
//     PROGRAM = {"name":"cub","detail":"f of x.cu","timeout":120,"problems":[{"problem":0,"stages":[{"library":"x.so",
//       "function":"f","init":"g","args":[ARGUMENT, ..],"sizes":[2048]}]}, ..]}
//       A function of the user's (kernels/sweetspot_baseline.h), judged and timed in the same way. With "reason", why
//       it is not available, it is not called. If it crashes or is late, the answer is "crashed" and has "baseline",
//       its name: the driver gives it that reason and sets the next worker up without it.
//     "counters": metrics, or names of metric sets, besides "basic"; null for none.
//   <- {"id":2,"status":"ok",
//       "baselines":[{"name":"cublas","detail":"algo ...","same_result":true,"reason":"why it is not available",
//         "problems":[{"problem":0,FIGURES of a problem, VERDICT}, ..]}, ..],
//       "least":[{"problem":0,"seconds":4.5e-5|null,"why":"moving 201 MB takes at 4.4 TB/s"}, ..],
//       "metrics":["the keys that "count" will answer, in order"],"missing":[".."]}
//     "least": what any kernel needs by the device's data sheet; null: the sheet is not known. Empty where the
//     reference is no operation.
//     A baseline has its tuned problems, none when it is not available.
//     VERDICT = "status":..,"reason":..,"error":..,"error_max":..,"error_rms":..     only if "same_result"
//
//   {"id":3,"op":"trial","config":"BLOCK_M=128,..","cubin":"..","problems":[{"problem":0,"stages":[STAGE, ..]}, ..],
//    "verify":true,"best":[0.012,null]}
//     "config", here and below, is what sweetspot-replay looks up. All problems of the job, in its order. "best": for
//     each tuned problem the seconds of the best candidate so far, by which others are slow; null or missing: none.
//     STAGE =
//     {"symbol":"gemm_simt","grid":[16,16,1],"block":[256,1,1],"cluster":[1,1,1],"shared":65536,
//       "cooperative":false,"overlap":false,"args":[ARGUMENT, ..]} |
//       {"operation":"gemm","by":"cublas","buffers":{"A":"A",..},"roles":{"M":2048,..}}: a library's call
//       "unit":1: the unit of the cubin whose kernel it is; 0 where it is missing.
//       "again":true: another run of the stage before it. All runs of a stage are one in answers, which number stages
//       without them; counters are those of all runs.
//       overlap: launched with programmatic stream serialization where a kernel comes before it in the same candidate;
//       never when it is counted alone.
//     ARGUMENT = {"buffer":"A"} | {"scalar":"i32","value":2048} | {"scalar":"f32","value":1.0} |
//       {"tensor_map":"A","sizes":[2048,2048],"strides":[8192],"box":[32,128],"swizzle":128,"interleave":0,
//        "promotion":0,"nan":false,"tf32":false}
//       A tensor map's lists are in CUDA's order, the contiguous dimension first; sizes and box are elements, strides
//       bytes. Its type is the buffer's; tf32: rounded while loading.
//   <- {"id":3,"status":"ok"|"slow"|"wrong"|"out_of_bounds"|"nondeterministic"|"implausible"|"launch_error"|
//       "crashed","reason":"",
//       FIGURES of the trial,"throttled":false,"restart":true,
//       "problems":[{"problem":0,FIGURES of a problem,"worst":[i,j]|null,"bad":0,"got":..,"want":..}, ..],
//       "stages":[{"problem":0,"stage":0,FIGURES of a stage,"blocks_per_sm":1,"local_bytes":0,"registers":128}, ..],
//       "phases":{"load":..,"verify":..,"measure":..,"again":..,"unload":..}}     wall seconds of each
//     "worst" is the element with the largest error, "got" and "want" its values, "bad" how many are outside the bound;
//     only where the problem was verified. "implausible": right, but faster than the operation's least work takes at
//     the device's peaks (tuner/gpu/peaks.h), in a trial, or in a final's race. "restart": the worker ends after this
//     answer, because the candidate used the device's heap or printf buffer, which cannot be restored; otherwise
//     missing.
//
//   {"id":4,"op":"count","trials":[{"trial":17,"config":"..","cubin":"..","problems":[as above, the tuned]}, ..]}
//     A trial may be {"trial":"cublas","baseline":"cublas"}: what the library launches for a problem is one stage.
//   <- {"id":4,"status":"ok","passes":2,"busy":null,"wall":..,
//       "trials":[{"trial":17,"counters":[{"problem":0,"stage":0,"values":[..]}, ..],"reason":""}, ..]}
//     "values" are in the order of the job's "metrics", null for none. "reason": why a trial has no counters.
//
//   {"id":5,"op":"final","seed":7,"process":0,"rounds":14,"places":5,
//    "candidates":[{"trial":17,"binary":"nvrtc"|"nvcc","config":"..","cubin":"..","problems":[all]}],
//    "baselines":["cublas","cublasLt"]}
//   <- {"id":5,"status":"ok","busy":..,"wall":..,
//       "entries":[{"name":"17"|"cublas","trial":17|null,"binary":"nvrtc","status":"ok","reason":"","detail":"",
//         "error":..the worst element's error over its bound..,"cubin_hash":"..of the bytes that ran..",
//         "problems":[{"problem":0,"times":[..],"error_max":..,"error_rms":..}]}, ..]}
//     "binary": whose build the cubin is; two candidates may be builds of one trial. A baseline has none.
//     Fresh data from the seed. "process": the number of this process among those that share the final's rounds; each
//     has its own order. Candidates are proved in their order until "places" of them have passed (missing:
//     all are); the others have no entry. Random order in every round, every timed launch of a candidate judged.
//     "times" has one number a round, and the rounds of different entries correspond. "error_max" and "error_rms" are
//     errors against FP64, relative to the scale of the bound. "trial" of a baseline is null.
//
//   {"id":6,"op":"metrics","chip":"GH100"}                   needs CUPTI, but no GPU and no job
//   <- {"id":6,"status":"ok","chip":"GH100",
//       "metrics":[{"name":"sm__icc_requests","kind":"counter","unit":"..","description":".."}, ..],
//       "sets":[{"name":"basic","summary":"..","metrics":[{"key":"icache_misses","metric":"sm__....sum"}, ..]}, ..]}
//
//   {"id":7,"op":"profile","cubin":"..","problems":[{"problem":0,"stages":[STAGE, ..]}],"samples":true}
//     One problem. "samples": sample PCs too.
//   <- {"id":7,"status":"ok",
//       "stages":[{"symbol":"..","code_bytes":..,"dropped_samples":0,"totals":COLUMNS,
//         "lines":[{"directory":"..","file":"gemm_simt.cu","line":263,"self":COLUMNS,"total":COLUMNS,
//           "stalls":{"long_scoreboard":17,..}}, ..]}, ..],
//       "reasons":["what could not be counted, and why"],"phases":{"count":..,"sample":..},"wall":..}
//     COLUMNS = {"instructions":..,"threads":..,"shared_wavefronts":..,"shared_ideal":..,"global_sectors":..,
//       "global_ideal":..,"local_sectors":..,"samples":..}, those that the chip has.
//     "self": the line's own instructions, which add up to "totals"; "total": and those of the functions inlined there.
//     "stalls" are the total's samples by reason; "selected" is a warp that issued. Line 0 without a file: not in the
//     line table.
//
//   {"id":8,"op":"ceilings","pipes":["wgmma bf16","memory", ..],"lasting":true}
//   <- {"id":8,"status":"ok","wgmma_bf16_flops_per_second":6.9e14,"bytes_per_second":4.5e12,
//       "lasting":{"wgmma_bf16_flops_per_second":{"clock_mhz":1395,"first":8.1e14,"seconds":0.3}}}
//     Measured: the pipes of that name (pipe.h); without "pipes" all that have no macro there. The members are the keys
//     of that table; what the device does not have is left out. "lasting": of pipes whose power lowers the clock, the
//     rate of the last third of so many seconds, instead of the fastest launch's, which is "first" then.
//
//   {"id":9,"op":"sanitize","config":"..","cubin":"..","problems":[{"problem":0,"stages":[STAGE, ..]}]}
//     One problem, in buffers of exactly its sizes, launched twice: for compute-sanitizer, under which this worker then
//     runs (sanitize.h) and whose log has the findings.
//   <- {"id":9,"status":"ok"|"launch_error","reason":""}
#ifndef SWEETSPOT_PROTOCOL_H
#define SWEETSPOT_PROTOCOL_H

// What every candidate is compiled as, by the compile worker and by users of a header.
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

// The word that stands for a status in the store, the protocol and in reports.
const char *status_name(enum trial_status status);
// The status of a word, or -1.
int status_find(const char *name);

// What answers say besides the status of a trial: "ok" (status_name(STATUS_OK)) where the request was met, and
#define PROTOCOL_ERROR "error"                   // the request is invalid, or cannot be met
#define PROTOCOL_SOURCE_CHANGED "source_changed" // the source is not the one that the request names
#define PROTOCOL_ENVIRONMENT "environment"       // this worker cannot work at all, and exits with EXIT_ENVIRONMENT

// Compilers, and the builds that they make.
#define PROTOCOL_NVRTC "nvrtc"
#define PROTOCOL_NVCC "nvcc"

// Exit statuses of every program here; the man page has them for users.
enum {
    EXIT_DONE = 0,        // done
    EXIT_NOTHING = 1,     // done, but nothing valid found or a check failed
    EXIT_USAGE = 2,       // command line or job file
    EXIT_ENVIRONMENT = 3, // no GPU, no permission, too old, not writable
    EXIT_GATE = 4,        // a result is below the limit (compare --fail-below)
    EXIT_SIGNAL = 128,    // plus the signal's number, as in shells: 130 after Ctrl-C, when work was left undone
};

#endif
