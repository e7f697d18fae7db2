// {"id":7,"op":"profile",CANDIDATE of one problem,"samples":true}
// <- {"id":7,"status":"ok",
//     "stages":[{"symbol":"..","code_bytes":..,"dropped_samples":0,"totals":COLUMNS,
//       "lines":[{"directory":"..","file":"gemm_simt.cu","line":263,"self":COLUMNS,"total":COLUMNS,
//         "stalls":{"long_scoreboard":17,..}}, ..]}, ..],
//     "reasons":["what could not be counted, and why"]}
//     COLUMNS = {"instructions":..,"threads":..,"shared_wavefronts":..,"shared_ideal":..,"global_sectors":..,
//       "global_ideal":..,"local_sectors":..,"samples":..}, only columns that exist on the chip.
//
// {"id":9,"op":"sanitize",CANDIDATE of one problem}
// <- {"id":9,"status":"ok"|"launch_error","reason":""}
//     Launches the candidate twice, in buffers of exactly the sizes that it needs, for compute-sanitizer. The worker
//     then runs under that tool (sanitize.h), whose log contains the findings.
#pragma once

#include "tuner/protocol/candidate.h"
#include "tuner/protocol/message.h"

struct profile_request {
    struct candidate candidate;
    bool samples; // also sample PCs
};

struct profile_line {
    const char *directory, *file; // "" and line 0: the code is not in the line table
    int line;
    const struct record_named_real *self;      // the line's own instructions, which add up to the stage's totals
    const struct record_named_real *total;     // including functions that are inlined there
    const struct record_named_integer *stalls; // the samples in `total`, by reason; "selected": the warp issued
    size_t self_count, total_count, stall_count;
};

struct profile_stage {
    const char *symbol;
    int64_t code_bytes, dropped_samples;
    const struct record_named_real *totals;
    const struct profile_line *lines;
    size_t total_count, line_count;
};

struct profile_answer {
    struct answer_head head;
    const struct profile_stage *stages;
    const char *const *reasons;
    size_t stage_count, reason_count;
};

extern const struct record profile_request_record, profile_answer_record, profile_stage_record;
