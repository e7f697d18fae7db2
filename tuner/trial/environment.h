// An environment: what a trial's result depends on besides its configuration. Trials of different environments are
// never compared; trials of the same one are never measured twice.
//
// The environment's key is a hash of its *settings*: a text with a line for each thing that matters, in the order of
// the names, under a first line with the version of the list. What can be in it is the table of environment.c. The text
// is made from a document of facts whose members are part of this format; where the workers' requests have members of
// the same names that is convenience, and where those change, the code that builds the document translates
// (tuner/setup/run_environment.c). A member that the table does not have is refused, so that no new member
// is taken in or left out unnoticed.
#pragma once

#include "tuner/base/hash.h"
#include "tuner/base/json.h"

enum { ENVIRONMENT_VERSION = 1 }; // of the table and the text: another version means other keys

// All strings; "" where unknown.
struct environment {
    const char *key;         // 32 hex digits: environment_key(settings)
    const char *job;         // job name
    const char *source_hash; // template and included files
    const char *compiler;    // "nvrtc 13.0"
    const char *device;      // "NVIDIA H200"
    const char *arch;        // "sm_90a"
    const char *driver;      // "580.159.04"
    const char *settings;    // everything, these included
};

// A copy whose texts live in the arena.
struct environment environment_copy(struct arena *, const struct environment *);

struct environment_setting {
    const char *name;    // "problems.#.buffers.#.rows": # is any index, * any name
    bool matters;        // otherwise it is known and left out
    const char *meaning; // one line; why, where it does not matter
};

extern const struct environment_setting environment_settings[]; // ends with a NULL name

// The settings of a document of facts, malloc'ed. NULL with a message where the table lacks one of its members.
char *environment_text(const json_t *facts, struct error *);
// How different two environments' settings are: 0 where they are the same, 1 for each line that differs, or the
// difference of the logarithms of two positive numbers.
double environment_distance(const char *one, const char *other);
void environment_key(const char *settings, char key[HASH_TEXT_SIZE]);
