// What all messages have in common: a request has an "op" and its own members, an answer a status and a reason. Each
// message has a file of its own here, with its structs, the tables that write, read and check them, and what they mean.
#pragma once

#include "tuner/base/record.h"

// A status is a trial's word, or one of protocol.h.
struct answer_head {
    const char *status;
    const char *reason;   // why it is not "ok"
    bool restart;         // the worker ends after this answer
    int64_t trial;        // the candidate that is to blame for a lost context; 0: none
    const char *baseline; // the baseline that is to blame
};
extern const struct record answer_head_record;

// A progress message before the answer: how much is done of what, and the only trial that is at work (0: none, or
// several).
struct progress_message {
    double share;
    const char *what;
    int64_t trial;
};
extern const struct record progress_record;

// {"op": op, ..members}. New reference.
json_t *request_write(const char *op, const struct record *, const void *request);
// The answer that is not "ok"; bytes of the reason that are not UTF-8 are replaced. New reference.
json_t *answer_refuse(const char *status, const char *reason);
// Whether the answer says "ok".
bool answer_is_ok(const struct answer_head *);

// What the pool reads of messages that it passes on as JSON.
void message_set_id(json_t *, int64_t id);
int64_t message_id(const json_t *);       // -1: there is none
bool message_is_progress(const json_t *); // a progress message, no answer
int answer_status(const json_t *);        // -1: none of a trial's statuses
const char *answer_reason(const json_t *, const char *otherwise);

// Refuses a list with a problem that is there twice. The elements, of so many bytes, begin with its number, an int
// below JOB_MAX_PROBLEMS.
int answer_check_problems(const void *list, size_t size, size_t count, struct error *);

// Whether a worker that answers "hello" speaks this protocol. 0 for refusals too, which give another reason; else -1
// with a message.
int greeting_check(const json_t *answer, struct error *err);
