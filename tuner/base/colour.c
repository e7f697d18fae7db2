// See colour.h.
#include "tuner/base/colour.h"

#include "tuner/base/base.h"
#include <unistd.h>

static bool is_coloured(FILE *file)
{
    const char *never = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(file)) && !(never && *never) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

const char *colour_begin(FILE *file, enum colour which)
{
    static const char *const codes[] = {"\033[32m", "\033[31m", "\033[33m"};
    return is_coloured(file) ? codes[which] : "";
}

const char *colour_end(FILE *file)
{
    return is_coloured(file) ? "\033[0m" : "";
}
