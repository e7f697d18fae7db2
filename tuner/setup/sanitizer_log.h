// Reads the log of a compute-sanitizer tool (--log-file, --demangle no, --show-backtrace device) for reports on a
// candidate. Lines begin with "=========". A report is a headline and the indented lines below it:
//
//     ========= Invalid __global__ read of size 4 bytes
//     =========     at sum+0x120 in sum.cu:12
//     =========     by thread (31,0,0) in block (7,0,0)
//     =========     Access at 0x7f1e000fa0 is out of bounds
//     =========     Device Frame: sum+0x90 in sum.cu:30
//
// A report belongs to the candidate if its lines name one of the candidate's kernels. Reports on API calls, and on
// kernels of libraries or of the worker itself, are counted separately. Racecheck's headlines state whether they are
// errors or warnings.
//
// "Divergent thread(s) in block" is a warning: synccheck expects all warps of a block at the same instruction, while
// PTX lets warps meet at a barrier from different instructions, as producers and consumers with named barriers do.
#pragma once

#include "tuner/base/base.h"

enum { SANITIZER_TEXT = 320 };

struct sanitizer_log {
    bool ended;                       // the log has the tool's summary
    int64_t errors, warnings;         // reports on the candidate
    int64_t elsewhere;                // reports on anything else
    int64_t unprinted;                // reports that the tool left out of the log; their subject is unknown
    bool out_of_bounds;               // the first error is an access out of bounds
    char first_error[SANITIZER_TEXT]; // "Invalid __global__ read of size 4 bytes, at sum in sum.cu:12, by thread ..."
    char first_warning[SANITIZER_TEXT];
    char trouble[SANITIZER_TEXT]; // why the tool itself failed, in its own words; ""
};

// Reads a log; `symbols` are the candidate's kernels.
void sanitizer_log_read(const char *text, const char *const *symbols, size_t symbol_count, struct sanitizer_log *);
