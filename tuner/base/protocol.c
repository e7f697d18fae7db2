// See protocol.h.
#include "tuner/base/protocol.h"

#include <string.h>

static const char *const names[STATUS_COUNT] = {
    "ok",    "slow",          "pruned",           "compile_error", "compile_timeout", "launch_error",
    "wrong", "out_of_bounds", "nondeterministic", "crashed",       "timeout",         "implausible",
};

const char *status_name(enum trial_status status)
{
    return (unsigned)status < STATUS_COUNT ? names[status] : "?";
}

int status_find(const char *name)
{
    for (int i = 0; name && i < STATUS_COUNT; i++)
        if (!strcmp(name, names[i])) return i;
    return -1;
}
