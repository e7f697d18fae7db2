// Calls to functions in a user's library: references, generators and verifiers. Each call runs in its own process,
// another instance of this program (`sweetspot-gpu --call`), so a function that crashes, never returns or writes out of
// bounds harms only its own result. The arrays are in one in-memory file that both processes map. Arrays that the
// function may write are shared. Of all other arrays, the function sees private copies.
//
//     | answer | array 0 | array 1 | ...         each begins on a page of its own
#pragma once

#include "kernels/sweetspot_reference.h"
#include "tuner/base/limits.h"
#include "tuner/protocol/job_message.h"

enum { LIBRARY_ARRAYS_MAX = 2 * JOB_MAX_BUFFERS };

enum library_kind { LIBRARY_REFERENCE, LIBRARY_GENERATE, LIBRARY_VERIFY };

struct library_array {
    struct sweetspot_array about; // data: in this process
    size_t offset, bytes;
    bool written; // by the function; we read it back
};

// The result that the called process leaves at the beginning of the file.
struct library_answer {
    int called;       // 1: the function is running; 2: it has returned
    int returned;     // what it returned
    struct error why; // a verifier's message, or why there was no call
};

struct library_call {
    int file; // 0: not open
    unsigned char *memory;
    size_t size, count;
    struct library_array list[LIBRARY_ARRAYS_MAX];
};

// Adds an array; call this before library_call_open(), which allocates the data, filled with zeros. The strings in
// `about` are borrowed.
void library_call_add(struct library_call *, const struct sweetspot_array *about, size_t bytes, bool written);
// Allocates the memory. The caller must release it, even after a failure; a zeroed call may be released.
int library_call_open(struct library_call *, struct error *err);
void library_call_release(struct library_call *);

// Calls `function` in the library of `reference` with the problem's sizes and scalars, within the reference's time
// limit. Returns 0 if the function returned; *answer is then its result. Returns -1, with a message that names the
// function, if it cannot be called, crashed, ended the process or exceeded its time.
int library_call_run(struct library_call *, const struct implementation_request *reference, enum library_kind kind,
                     const char *function, const struct problem_request *problem, uint64_t seed,
                     struct library_answer *answer, struct error *err);

// Runs in the child process: makes the call that `text` describes, with the arrays in the shared file PROGRAM_FILE.
// Returns the exit status.
int library_call_serve(const char *text);
