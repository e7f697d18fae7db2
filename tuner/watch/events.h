// Events for programs that follow a run: JSON lines on a stream, documented in docs/json.md. If the reader closes the
// stream, the run continues.
#pragma once

#include "tuner/base/json.h"

#define EVENTS_FORMAT "sweetspot-events"
enum { EVENTS_VERSION = 1 };

struct event_stream {
    FILE *file;  // not closed here
    bool broken; // a line could not be written, so no more are written
};

// Writes {"event": kind, "when": Unix time, "job": job, <members>}; without "job" if it is NULL. Takes the reference to
// `members` (may be NULL). With a NULL stream, nothing is written. If a line cannot be written, this is reported once
// on stderr.
void event_write(struct event_stream *, const char *kind, const char *job, json_t *members);
