// The live file of a run, <store>.status.json: what the run does, for `status` while it lasts. It is written again
// every second or so and takes its name by rename, so that it can be read at any time and from any machine that sees
// the folder. The store itself cannot: SQLite's WAL needs memory that only processes of one machine share.
//
// The driver removes the file at its end. One that a killed driver left behind is recognised: on the driver's own
// machine there is no such process any more; on another machine the file falls silent.
#pragma once

#include "tuner/base/json.h"

#define LIVE_STATUS_FORMAT "sweetspot-live"
enum { LIVE_STATUS_VERSION = 2, LIVE_STATUS_SILENCE = 15 }; // s without a new version: silent

enum live_state {
    LIVE_NONE,      // no file: no run lasts, or one of an older program
    LIVE_HERE,      // its driver runs on this machine
    LIVE_ELSEWHERE, // on another one, by a fresh file
    LIVE_SILENT,    // on another one, but nothing has been heard from it: killed, suspended, or its clock differs
    LIVE_DEAD       // its driver ran on this machine and has ended without removing the file
};
const char *live_state_text(enum live_state); // "here"

struct live_status {
    enum live_state state;
    double age;       // s since it was written, by this machine's clock; may be negative where clocks differ
    json_t *document; // NULL: none
};

char *live_status_path(const char *store_path); // malloc'ed
// The name of this machine; static. What tells machines, and containers on them, apart; malloc'ed.
const char *live_status_host(void);
char *live_status_machine(void);

// What every live document begins with: format, version, when, where and by which process it was written, and how many
// seconds lie between two versions at least. New reference.
json_t *live_status_begin(double every);
int live_status_write(const char *path, const json_t *document, struct error *); // -1 with a message

// Reads the file next to a store. -1 with a message where it is there and cannot be used. The caller releases.
int live_status_read(const char *store_path, struct live_status *, struct error *);
void live_status_release(struct live_status *);
// What a document means to a process on `machine` at the time `now` (Unix time).
enum live_state live_status_decide(const json_t *document, const char *machine, double now);
