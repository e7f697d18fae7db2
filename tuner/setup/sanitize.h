// A second opinion: runs a candidate under the tools of NVIDIA's compute-sanitizer. Each tool has its own GPU worker,
// without counters, because CUPTI and the tool cannot be in one process:
//
//     compute-sanitizer --tool memcheck --log-file LOG .. sweetspot-gpu --device 0
//
// The worker is set up with one small problem and answers one request, "sanitize" (protocol.h); the findings are in the
// log (sanitizer_log.h). The tools of a candidate run at the same time, because nothing is timed. A tool that misses
// the deadline is killed with its process group and not restarted.
//
// The result is a document:
//
//   {"version":"2025.3.1.0","problem":"n=1000","tools":[
//     {"tool":"memcheck","advice":false,"status":STATUS,"errors":0,"warnings":0,"elsewhere":0,"unprinted":0,
//      "first":"Invalid __global__ read of size 4 bytes, at ..","reason":"why it failed","seconds":1.2}, ..],
//    "note":"why no tool ran"}
//
// STATUS = "clean" | "warnings" | "errors" | "failed" | "skipped". A verdict is never changed by warnings, by tools
// that fail, or by errors of a tool that is only advisory (racecheck misjudges asynchronous copies).
#pragma once

#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/job/job.h"

#define SANITIZED_DOCUMENT "sanitized" // the kind of this document of a trial in the store

struct sanitizer;

// Looks for compute-sanitizer at $SWEETSPOT_SANITIZER ("none": do without, silently), on the PATH, in $CUDA_HOME/bin,
// and next to nvcc. `gpu_program` and `device` are the worker's. Returns NULL with the reason if compute-sanitizer is
// not found or does not run. The reason is empty if the user wants none.
struct sanitizer *sanitizer_open(const char *gpu_program, const char *device, struct error *why);
void sanitizer_close(struct sanitizer *); // NULL is fine
const char *sanitizer_version(const struct sanitizer *);

// Starts the tools on a compiled candidate and the smallest of the job's problems for which the candidate has stages.
// Several candidates may be in flight. `request`: the set-up of GPU workers (job_setup_for_gpu); `problems`: the
// candidate's problems as in a "trial" request; they must live until sanitizer_end. A tool that is only advisory is
// skipped on a large problem unless `thorough`. A tool is killed after `most` seconds or twice the job's `timeout`,
// whichever is shorter.
struct sanitizing;
struct sanitizing *sanitizer_begin(struct sanitizer *, const struct job *, const json_t *request, const char *config,
                                   const char *cubin, const json_t *problems, bool thorough, double most);
// Waits for the tools, frees the argument, and returns the document. New reference.
json_t *sanitizer_end(struct sanitizing *);

// The verdict of a document on a candidate: STATUS_OK, or another status with the tool and its first error as reason.
enum trial_status sanitizer_verdict(const json_t *document, struct error *reason);

// A document in words: "compute-sanitizer 2025.3.1.0 on N=1000: memcheck, initcheck, synccheck clean; racecheck
// (warning): 1 error, 2 warnings". malloc'ed; NULL if there is no document.
char *sanitized_text(const json_t *document);
// One tool's result: "clean", "1 error, 2 warnings: Race reported ..", "failed: why". malloc'ed.
char *sanitized_tool_text(const json_t *tool);
// The tool's name, with " (warning)" if it found something that does not change the verdict. malloc'ed.
char *sanitized_tool_name(const json_t *tool);
