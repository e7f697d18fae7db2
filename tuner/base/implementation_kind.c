// See implementation_kind.h.
#include "tuner/base/implementation_kind.h"

#include <stddef.h>

const char *const implementation_words[] = {"none",    "configuration", "kernel", "binary", "operation",
                                            "library", "command",       "npy",    NULL};
