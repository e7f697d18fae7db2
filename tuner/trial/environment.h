// An environment: everything that a trial's result depends on besides its configuration. Trials of different
// environments are never compared; in the same environment, no trial is measured twice.
//
// The environment's key is a hash of its *settings*. The settings are a string. Its first line has the version of the
// table of settings. The other lines have one fact each, sorted by name; facts that do not matter are left out. The
// table in environment.c lists all possible lines. The string is made from a document of facts, and the names of its
// members are part of this format. Members of the workers' requests have the same names only for convenience; if names
// in the requests change, the code that builds the document (tuner/setup/run_environment.c) translates them. A member
// that is not in the table is refused, so that no new member is included or left out unnoticed.
#pragma once

#include "tuner/base/hash.h"
#include "tuner/base/json.h"

enum { ENVIRONMENT_VERSION = 1 }; // of the table and the text; a new version changes all keys

// All are strings; "" if unknown.
struct environment {
    const char *key;         // 32 hex digits: environment_key(settings)
    const char *job;         // job name
    const char *source_hash; // template and included files
    const char *compiler;    // "nvrtc 13.0"
    const char *device;      // "NVIDIA H200"
    const char *arch;        // "sm_90a"
    const char *driver;      // "580.159.04"
    const char *settings;    // everything, including the members above
};

// A copy whose strings live in the arena.
struct environment environment_copy(struct arena *, const struct environment *);

struct environment_setting {
    const char *name;    // "problems.#.buffers.#.rows": # is any index, * any name, ** any name with dots
    bool matters;        // false: known, but not part of the settings
    const char *meaning; // one line; if the setting does not matter, the reason
};

extern const struct environment_setting environment_settings[]; // ends with a NULL name

// The settings from a document of facts, malloc'ed. NULL with a message if the table lacks a member of the document.
char *environment_text(const json_t *facts, struct error *);
// How different two environments' settings are: the sum over the lines that differ. A line counts 1, or the difference
// of the logarithms if both values are positive numbers. 0 if the settings are the same.
double environment_distance(const char *one, const char *other);
void environment_key(const char *settings, char key[HASH_TEXT_SIZE]);
