// A candidate as GPU workers receive it: a cubin and, for each problem, the kernel launches and library calls that
// compute it. The driver fills and writes these structs and the worker reads them, using the same tables.
//
//     CANDIDATE = "config":"BLOCK_M=128,..","cubin":"..","problems":[{"problem":0,"stages":[STAGE, ..]}, ..]
//     STAGE = {"symbol":"gemm_simt","grid":[16,16,1],"block":[256,1,1],"cluster":[1,1,1],"shared":65536,
//         "cooperative":false,"overlap":false,"untimed":true,"args":[ARGUMENT, ..]} |
//       {"operation":"gemm","by":"cublas","buffers":{"A":"A",..},"roles":{"M":2048,..}}: a library's call |
//       {"library":"x.so","function":"f","init":"g","args":[ARGUMENT, ..],"sizes":[2048]}: a function of the user's
//     ARGUMENT = {"buffer":"A"} | {"texture":"A"} | {"surface":"A"} | {"scalar":"i32","value":2048} |
//       {"scalar":"f32","value":1.0} | {"bytes":"0a000000..","addresses":ADDRESSES}: a struct or a vector by value,
//       with the addresses in it (address_message.h) |
//       {"tensor_map":"A","sizes":[2048,2048],"strides":[8192],"box":[32,128],"swizzle":128,
//        "promotion":0,"nan":false,"tf32":false}
#pragma once

#include "tuner/protocol/address_message.h"

struct stage_argument {
    const char *buffer, *texture, *surface;  // names of buffers
    const char *bytes;                       // two hexadecimal digits per byte
    const struct address_request *addresses; // within the bytes
    size_t address_count;
    const char *scalar; // its type
    struct record_number value;
    const char *tensor_map; // a buffer's name. The lists are in CUDA's order, the contiguous dimension first
    const int64_t *sizes, *strides, *box; // elements, bytes, elements
    size_t size_count, stride_count, box_count;
    int swizzle, promotion;
    bool nan, tf32; // tf32: rounded while loading
};

struct stage_call {
    const char *symbol;
    int64_t grid[3], block[3], cluster[3]; // -1: missing; it is then 1
    int64_t shared;                        // dynamic, bytes per block
    bool cooperative;
    bool overlap; // launched with programmatic stream serialization if a kernel precedes it in the same candidate;
                  // never while it is counted
    bool untimed; // runs before a timed launch, outside the timing; such stages come first
    int64_t unit; // the unit whose cubin contains the kernel
    bool again;   // another run of the previous stage. In answers, all runs of a stage are one stage, with one number,
                  // and its counters cover all runs
    const struct stage_argument *args;
    size_t arg_count;
    const char *operation, *by;
    const struct record_named_text *buffers;
    const struct record_named_number *roles;
    size_t buffer_count, role_count;
    struct { // a function of the user's
        const char *library, *function, *init;
        const int64_t *sizes; // the problem's sizes
        size_t size_count;
    } host;
};

struct candidate_problem {
    int problem; // number in the job; -1: missing; it is then the index in the list
    bool drawn;  // one of the job's "sizes", which are numbered separately
    const struct stage_call *stages;
    size_t stage_count;
};

struct candidate {
    const char *name;   // a baseline's name
    const char *config; // sweetspot-replay looks it up
    const char *cubin;  // path
    const struct candidate_problem *problems;
    size_t problem_count;
    const json_t *written; // the problems as they were written before; used instead of `problems`
};

extern const struct record candidate_record, stage_call_record, stage_argument_record;
