// What the driver and its workers say to each other: one JSON object a line on stdin and stdout, so that a person can
//   drive
// a worker by hand. Every request has an "id" and an "op"; every answer repeats the id. stderr is free text for the
//   log.
// A worker answers requests in order, and ends when its stdin ends. Times are seconds, sizes bytes, everywhere.
// The figures of a trial in an answer, here those that are typical, are the fields of tuner/trial/trial_field.c; what
// is unknown is left out.
//
// sweetspot-compile
//   {"id":1,"op":"hello"}
//   <- {"id":1,"compiler":"nvrtc 13.0"}
//   {"id":2,"op":"compile","arch":"sm_90a","source":"/t/gemm.cu","source_hash":"..32 hex..","include":["/t"],
//    "entries":["gemm_simt"],"options":["-lineinfo"],"defines":{"BLOCK_M":"128"},"cache":"out/cache","deadline":60.0}
//   <- {"id":2,"status":"ok","cubin":"out/cache/ab/...cubin","cached":false,"seconds":0.23,"warnings":["C7508 ..."],
//       "entries":[{"entry":"gemm_simt","symbol":"gemm_simt","registers":128,"spill_loads":0,"spill_stores":0,
//         "shared":0,
//                   "stack":0,"code_bytes":9216}]}
//   <- {"id":2,"status":"compile_error"|"compile_timeout","reason":"gemm.cu(12): error: ..."}
//   "source_hash" (source.h) is what the driver's trials are filed under: a source that has changed meanwhile is
//     answered
//   {"id":2,"status":"source_changed"}. "text" may stand for "source": the program itself (the worker's support
//     kernels).
//
// sweetspot-gpu
//   {"id":1,"op":"hello"}                  with "counters":false CUPTI is not loaded (0.9 s; it makes every later
//     launch 0.5 us longer)
//   <- {"id":1,"status":"ok","device":{"name":"NVIDIA H200","arch":"sm_90a","uuid":"GPU-...","sm_count":132,
//     "max_shared":232448,
//        "shared_per_sm":233472,"reserved_shared":1024,"registers_per_sm":65536,"max_registers":255,"max_threads":1024,
//        "threads_per_sm":2048,"blocks_per_sm":32,"warp_size":32,"l2_bytes":62914560,"memory_bytes":...,
//        "memory_free":...,
//        "max_cluster":8,"clock_mhz":1980,"memory_bus_bits":...,"driver":"580.159.04","cuda":"13.0"},
//       "libraries":{"cublas":"13.0.2"} or {"missing":"why not"},"nvml":true,
//       "counters":{"available":true,"chip":"gh100","reason":"","metrics":[{"key":"icache_misses","metric":"sm__...",
//       "unit":"..."}],
//                   "missing":["..."]}}
//   <- {"id":1,"status":"environment","reason":"no CUDA driver: ..."}          what keeps this machine from working
//     at all
//   {"id":2,"op":"job","support":"/…/support.cubin","seed":1,
//    "problems":[{"name":"M=2048,N=2048,K=2048","tune":true,"roles":{"M":2048,"alpha":1.0},"flops":..,"bytes":..,
//       "buffers":[{"name":"A","type":"f32","rows":2048,"cols":2048,"ld":2048,"direction":"in"|"out"|"inout"|"scratch",
//                   "fill":{"kind":"uniform","low":-1,"high":1}|{"kind":"normal"}|{"kind":"integer","low":0,
//                     "high":9}|{"kind":"zero"}|
//                   {"kind":"constant","value":1}|{"kind":"index"}|{"kind":"nonfinite","low":-1,
//                   "high":1}|{"kind":"npy","path":"x.npy"}}]}, {... "tune":false: only verified}],
//    "reference":{"kind":"operation","name":"gemm","by":"cublas"|"cpu","buffers":{"A":"A","B":"B","C":"C"}} |
//                {"kind":"kernel","cubin":"...","problems":[{"stages":[STAGE..]}..]} |
//                {"kind":"library","path":"x.so","function":"f"} | {"kind":"none"} |
//                {"kind":"npy","files":{"C":"c.npy"} or a list with such an object for each problem},
//    "verify":{"enabled":true,"tolerance":1.0,"absolute":0,"relative":0,"deterministic":true,"guard_bytes":4096},
//    "measure":{"cache":"cold"|"warm","warmup":2,"min_samples":5,"max_samples":50,"precision":0.01,"max_time":0.2,
//      "graph_below":2e-5,"rest":0,"each":false,
//               "slow_factor":3.0},
//    "counters":[metrics or metric sets besides "basic"] | null for none,"baselines":["cublas","cublasLt"]}
//   <- {"id":2,"status":"ok","baselines":[{"name":"cublas","problems":[TIMES per tuned problem, with "problem" and,
//     if "same_result",
//       "status","reason","error","error_max","error_rms"],"detail":"algo ...","same_result":true,"reason":why it is
//         not available}],"metrics":["the keys
//       that "count" will answer, in order"],"missing":["..."]}
//   <- {"id":2,"status":"error","reason":"buffer A of problem ... needs 160 GiB, the device has 139"}
//   {"id":3,"op":"trial","cubin":"...","cutoff":[per tuned problem: seconds beyond which it is slow; null = none],
//    "problems":[{"problem":0,"stages":[STAGE..]}, ...],"verify":true}         all problems of the job, in the job's
//      order
//     STAGE = {"symbol":"gemm_simt","grid":[16,16,1],"block":[256,1,1],"cluster":[1,1,1],"shared":65536,
//       "cooperative":false,"overlap":false,
//              "args":[{"buffer":"A"},{"scalar":"i32","value":2048},{"scalar":"f32","value":1.0},
//                      {"tensor_map":"A","sizes":[2048,2048],"strides":[8192],"box":[32,128],"swizzle":128,
//                        "interleave":0,"promotion":0,"nan":false,"tf32":false}]}
//     A tensor map's lists are in CUDA's order, the contiguous dimension first; sizes and box are elements, strides
//       bytes. Its type is the buffer's; tf32: rounded while loading.
//     overlap: launched with programmatic stream serialization where a kernel comes before it in the same candidate;
//       never when it is counted alone.
//   <- {"id":3,"status":"ok"|"slow"|"wrong"|"out_of_bounds"|"nondeterministic"|"launch_error"|"crashed","reason":"",
//       "problems":[{"problem":0,"time":..,"low":..,"high":..,"samples":[..at most 10 of them..],"count":25,
//         "error":..worst error over bound..,
//                    "worst":[i,j],"bad":0,"got":..,"want":..}, ...],
//       "stages":[{"problem":0,"stage":0,"occupancy":0.25,"local_bytes":0,"blocks_per_sm":1,"registers":128}],
//       "phases":{"load":..,"verify":..,"measure":..,"again":..,"unload":..}: wall seconds of each,
//       "busy":..seconds in which the GPU executed our kernels..,"wall":..,"clock_mhz":1980,"temperature":40,
//       "throttled":false}
//     TIMES = {"time":median,"low":..,"high":..,"samples":[..],"count":n}       (low, high: 95% interval of the median)
//     After "crashed" (sticky error) the worker says so and exits; the driver starts another and repeats "job".
//   {"id":4,"op":"count","trials":[{"trial":17,"cubin":"..","problems":[..as above, tuned ones only..]}, ..]}
//     A trial may be {"trial":"cublas","baseline":"cublas"}: what the library launches for a problem is one stage.
//   <- {"id":4,"status":"ok","passes":2,"trials":[{"trial":17,"counters":[{"problem":0,"stage":0,"values":[..in the
//     order of "metrics"; null = none..]}],"reason":""},..],
//       "busy":null,"wall":..}         after "crashed", "trial" says whose fault it was; the same in "final"
//   {"id":4,"op":"metrics","chip":"GH100"}                   needs CUPTI, but no GPU and no job
//   <- {"id":4,"status":"ok","chip":"GH100","metrics":[{"name":"sm__icc_requests","kind":"counter","unit":"..",
//     "description":".."},..],
//       "sets":[{"name":"basic","summary":"..","metrics":[{"key":"icache_misses","metric":"sm__....sum"},..]},..]}
//   {"id":4,"op":"profile","cubin":"..","problems":[{"problem":0,"stages":[STAGE..]}],"samples":true}      one
//     problem; "samples": sample PCs too
//   <- {"id":4,"status":"ok","stages":[{"symbol":"..","code_bytes":..,"dropped_samples":0,"totals":COLUMNS,
//        "lines":[{"directory":"..","file":"gemm_simt.cu","line":263,"self":COLUMNS,"total":COLUMNS,
//          "stalls":{"long_scoreboard":17,..}},..]},..],
//       "reasons":["what could not be counted, and why"],"phases":{"count":..,"sample":..},"wall":..}
//     COLUMNS = {"instructions":..,"threads":..,"shared_wavefronts":..,"shared_ideal":..,"global_sectors":..,
//       "global_ideal":..,"local_sectors":..,
//     "samples":..}, those that the chip has. "self": the line's own instructions, which sum up to "totals"; "total":
//       and those of the functions
//     inlined there. "stalls" are the total's samples by reason; "selected" is a warp that issued. The line 0 of no
//       file: unknown to the line table.
//   {"id":4,"op":"ceilings"}
//   <- {"id":4,"status":"ok","flops_per_second":6.6e13,"bytes_per_second":4.5e12,"fp64_flops_per_second":..,
//     "copy_bytes_per_second":..,
//       "l2_bytes_per_second":..,"shared_bytes_per_second":..,"tensor_bf16_flops_per_second":..,
//         "tensor_tf32_flops_per_second":..,
//       "tensor_fp64_flops_per_second":..}      measured: FP32 multiply-adds, reading memory, FP64 multiply-adds,
//       copying (read and written bytes),
//       reading the L2, reading shared memory; the tensor pipe by mma.sync, from sm_80 on (wgmma reaches more on
//       sm_90a)
//   {"id":5,"op":"final","seed":7,"rounds":40,"candidates":[{"trial":17,"cubin":..,"problems":[..all..]}],
//     "baselines":["cublas","cublasLt"]}
//   <- {"id":5,"progress":0.25} any number of these, also before other answers ("what" may say of what): the deadline
//     begins anew. Then
//   <- {"id":5,"status":"ok","entries":[{"name":"17"|"cublas"|..,"trial":17,"status":"ok","reason":"","detail":"",
//     "error":..worst error over bound..,
//        "problems":[{"problem":0,"times":[one a round, rounds aligned between entries],"error_max":..,
//          "error_rms":..against fp64, relative to
//        the bound's scale..}]}],"busy":..,"wall":..}
//     Fresh data from the seed; every entry verified on it; random order in every round. "trial" of a baseline is null.
//   <- {"id":n,"status":"error","reason":".."}     to any request that makes no sense, or cannot be met; the worker
//     stays
#ifndef SWEETSPOT_PROTOCOL_H
#define SWEETSPOT_PROTOCOL_H

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
    STATUS_COUNT
};

// The word that stands for a status in the store, the protocol and in reports.
const char *status_name(enum trial_status status);
// The status of a word, or -1.
int status_find(const char *name);

// What answers say besides the status of a trial: "ok" (status_name(STATUS_OK)) to any request that was met, and
#define PROTOCOL_ERROR "error"                   // the request makes no sense, or cannot be met
#define PROTOCOL_SOURCE_CHANGED "source_changed" // it is not the source that the request names
#define PROTOCOL_ENVIRONMENT "environment"       // this worker cannot work at all, and exits with EXIT_ENVIRONMENT

// Exit statuses of every program here.
enum {
    EXIT_DONE = 0,        // done
    EXIT_NOTHING = 1,     // done, but nothing valid found or a check failed
    EXIT_USAGE = 2,       // command line or job file
    EXIT_ENVIRONMENT = 3, // no GPU, no permission, too old, not writable
};

#endif
