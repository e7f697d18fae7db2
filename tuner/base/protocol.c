// See protocol.h.
#include "tuner/base/protocol.h"

#include "tuner/base/buffer_kind.h"

const char *const status_names[STATUS_COUNT + 1] = {
    "ok",    "slow",          "pruned",           "compile_error", "compile_timeout", "launch_error",
    "wrong", "out_of_bounds", "nondeterministic", "crashed",       "timeout",         "implausible",
};

const char *status_name(enum trial_status status)
{
    return (unsigned)status < STATUS_COUNT ? status_names[status] : "?";
}

int status_find(const char *name)
{
    return word_find(status_names, name);
}
