// How a scripted worker (fake_worker.c) reads a request: the configuration's MODE and X, the time computed from X, and
// the lines that are written to the file $FAKE_LOG.
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/json.h"

static inline bool mode_is(const json_t *object, const char *mode)
{
    const char *config = json_get_string(object, "config", ""), *found = strstr(config, "MODE=");
    size_t length = strlen(mode);
    return found && !strncmp(found + 5, mode, length) && (found[5 + length] == ',' || !found[5 + length]);
}

static inline int x_of(const json_t *object)
{
    const char *found = strstr(json_get_string(object, "config", ""), "X=");
    return found ? atoi(found + 2) : 0;
}

static const char *own_device; // the value of --device

// $FAKE_SLOW is "DEVICE FACTOR [TRIALS]": after TRIALS trials (default 0), everything takes FACTOR times as long on
// that GPU.
static inline double slowness(void)
{
    static int asked;
    char device[32];
    double factor = 1;
    int after = 0;
    const char *how = getenv("FAKE_SLOW");
    if (!how || !own_device || sscanf(how, "%31s %lf %d", device, &factor, &after) < 2) return 1;
    return !strcmp(device, own_device) && asked++ >= after ? factor : 1;
}

static inline double time_of(const json_t *object)
{
    int x = x_of(object);
    if (getenv("FAKE_TIME")) return atof(getenv("FAKE_TIME"));
    return 1e-3 * (1 + 0.01 * (x - 7) * (x - 7)) * slowness(); // best: X=7
}

// If $FAKE_OTHER_WAY is set, a larger X is always better on problem 1.
static inline double time_on(const json_t *object, size_t problem)
{
    return problem == 1 && getenv("FAKE_OTHER_WAY") ? 1e-3 * (2 - 0.1 * x_of(object)) : time_of(object);
}

static inline void note_text(const char *text)
{
    const char *path = getenv("FAKE_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s\n", text);
    fclose(file);
}

static inline void note(const json_t *object)
{
    note_text(json_get_string(object, "config", ""));
}

// If $FAKE_LOG_SEEDS is set, logs the seed of the data of a job or a final.
static inline void note_seed(const json_t *request)
{
    char text[64];
    if (!getenv("FAKE_LOG_SEEDS")) return;
    snprintf(text, sizeof text, "%s seed %lld", json_get_string(request, "op", ""),
             (long long)json_get_integer(request, "seed", -1));
    note_text(text);
}
