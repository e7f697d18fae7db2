// Common parts of all messages: the "op" of a request, and the status and reason of an answer. Each message has its own
// file here, with its structs, the tables that write, read and check them, and their meaning.
#pragma once

#include "tuner/base/record.h"

// `status` is the name of a trial status, or one of the words in protocol.h.
struct answer_head {
    const char *status;
    const char *reason;   // why it is not "ok"
    bool restart;         // the worker ends after this answer
    int64_t trial;        // the candidate that caused a lost context; 0: none
    const char *baseline; // the baseline that caused a lost context
};
extern const struct record answer_head_record;

// A progress message before the answer: an activity, the fraction of it that is done, and the trial in progress (0 if
// there is none or more than one).
struct progress_message {
    double share;
    const char *what;
    int64_t trial;
};
extern const struct record progress_record;

// {"op": op, ..members}. New reference.
json_t *request_write(const char *op, const struct record *, const void *request);
// An answer with a status other than "ok". Bytes of the reason that are not UTF-8 are replaced. New reference.
json_t *answer_refuse(const char *status, const char *reason);
// Whether the answer says "ok".
bool answer_is_ok(const struct answer_head *);

// For the pool, which forwards messages as JSON and reads only these parts of them.
void message_set_id(json_t *, int64_t id);
int64_t message_id(const json_t *);       // -1: no id
bool message_is_progress(const json_t *); // a progress message, not an answer
int answer_status(const json_t *);        // -1: not a trial's status
const char *answer_reason(const json_t *, const char *otherwise);

// Refuses a list that contains the same problem twice. Each element has `size` bytes and begins with the problem's
// number, an int below JOB_MAX_PROBLEMS.
int answer_check_problems(const void *list, size_t size, size_t count, struct error *);

// Checks that a worker that answers "hello" uses this version of the protocol. If not, returns -1 with a message.
// Returns 0 for a refusal too, because a refusal has its own reason.
int greeting_check(const json_t *answer, struct error *err);
