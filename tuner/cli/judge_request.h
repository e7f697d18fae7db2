// A request of `judge -` and `judge --serve`: the options of one judgement as a JSON object. docs/running.md describes
// it. Requests come from programs, and may be hostile.
#pragma once

#include "tuner/base/json.h"

enum { JUDGE_SECONDS_MOST = 600 };

struct judge_value {
    const char *name;
    const json_t *value;
};

// Borrows from the message.
struct judge_request {
    const json_t *id;                         // NULL: none
    const char *job, *implementation, *entry; // "": not given. Paths are absolute, without links
    const char *source;                       // the source code of an implementation; "": none
    const struct judge_value *set;
    size_t set_count;
    bool sanitize, counters;
    double time; // s, limit for the verdict
};

// Reads a request. Unknown members are mistakes, and so are paths that lead outside the current folder, by links or
// otherwise. -1 with a message; even then, `id` is set if the request has an id.
int judge_request_read(const json_t *message, struct judge_request *, struct arena *, struct error *);
