// The live file of a run, <store>.status.json, tells the command `status` what the run is doing. It is rewritten about
// every second and replaced by rename, so that it can be read at any time and from any machine that can access the
// folder. The store itself cannot be read that way, because SQLite's WAL needs memory that is shared only between
// processes of one machine.
//
// The driver removes the file when it ends. A file that a killed driver left behind is recognised: on the driver's
// machine, the process no longer exists; on another machine, the file is no longer updated.
#pragma once

#include "tuner/base/json.h"

#define LIVE_STATUS_FORMAT "sweetspot-live"
enum { LIVE_STATUS_VERSION = 2, LIVE_STATUS_SILENCE = 15 }; // s without an update after which a file is silent

enum live_state {
    LIVE_NONE,      // no file: no run is in progress, or an older program performs it
    LIVE_HERE,      // the driver runs on this machine
    LIVE_ELSEWHERE, // it runs on another machine: the file is recent
    LIVE_SILENT,    // on another machine, but the file is old: the driver was killed or suspended, or its clock differs
    LIVE_DEAD       // the driver ran on this machine and ended without removing the file
};
const char *live_state_text(enum live_state); // "here"

struct live_status {
    enum live_state state;
    double age;       // s since it was written, by this machine's clock; negative if clocks differ
    json_t *document; // NULL: none
};

char *live_status_path(const char *store_path); // malloc'ed
// live_status_host returns the name of this machine (static). live_status_machine returns a string that differs between
// machines, and between containers on one machine (malloc'ed).
const char *live_status_host(void);
char *live_status_machine(void);

// The beginning of every live document: its format, version, time, host and process, and the minimum number of seconds
// between two versions. New reference.
json_t *live_status_begin(double every);
int live_status_write(const char *path, const json_t *document, struct error *); // -1 with a message

// Reads the file next to a store. -1 with a message if it exists but cannot be used. The caller releases the result.
int live_status_read(const char *store_path, struct live_status *, struct error *);
void live_status_release(struct live_status *);
// The state that a document implies for a process on `machine` at the time `now` (Unix time).
enum live_state live_status_decide(const json_t *document, const char *machine, double now);
