// See error.h.
#include "tuner/base/error.h"

#include "tuner/base/base.h"

int error_set(struct error *err, const char *format, ...)
{
    if (!err) return -1;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
    if (!err) return -1;
    char old[ERROR_MESSAGE_MAX];
    memcpy(old, err->message, sizeof old);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    if (n < 0) n = 0;
    size_t room = (size_t)n < sizeof err->message ? sizeof err->message - (size_t)n : 1;
    snprintf(err->message + sizeof err->message - room, room, ": %.*s", (int)room, old);
    return -1;
}

void error_abort(const char *message)
{
    fprintf(stderr, "sweetspot: %s\n", message);
    abort();
}

void fatal_error_set(struct fatal_error *f, int exit_status, const struct error *why)
{
    if (f->set) return;
    *f = (struct fatal_error){true, exit_status, *why};
}
