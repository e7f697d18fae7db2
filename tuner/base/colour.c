// See colour.h.
#include "tuner/base/colour.h"

#include <unistd.h>

#include "tuner/base/base.h"
#include "tuner/base/output_file.h"

static const char *const codes[] = {"\033[32m", "\033[31m", "\033[33m", "\033[0m"};
enum { COLOUR_NONE = COLOUR_DOUBT + 1, COLOUR_CODES };

static struct guarded {
    FILE *stream; // NULL: not guarded
    int fd;
} guarded[] = {{NULL, STDOUT_FILENO}, {NULL, STDERR_FILENO}};

int terminal_of(FILE *file)
{
    for (size_t i = 0; i < sizeof guarded / sizeof *guarded; i++)
        if (guarded[i].stream == file) return guarded[i].fd;
    int fd = fileno(file);
    return fd >= 0 && isatty(fd) ? fd : -1;
}

static bool is_coloured(FILE *file)
{
    const char *never = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return terminal_of(file) >= 0 && !(never && *never) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

// The length of a colour's code at the beginning of the text, or 0.
static size_t code_length(const char *text)
{
    for (int i = 0; i < COLOUR_CODES; i++)
        if (!strncmp(text, codes[i], strlen(codes[i]))) return strlen(codes[i]);
    return 0;
}

static ssize_t write_guarded(void *user, const char *bytes, size_t size)
{
    const struct guarded *to = user;
    const bool coloured = is_coloured(to->stream);
    autofree char *text = memory_new(size + 1, 1), *out = memory_new(size + 1, 1);
    size_t used = 0;
    memcpy(text, bytes, size);
    for (size_t i = 0, length; i < size; i += length) {
        size_t control = text_control(text + i), code = coloured ? code_length(text + i) : 0;
        bool shown = code || !control || text[i] == '\n' || text[i] == '\t';
        length = code ? code : control ? control : 1;
        if (shown)
            memcpy(out + used, text + i, length);
        else
            out[used] = '?';
        used += shown ? length : 1;
    }
    return output_all(to->fd, out, used) ? 0 : (ssize_t)size;
}

void terminal_guard(void)
{
    FILE **const streams[] = {&stdout, &stderr};
    for (size_t i = 0; i < sizeof guarded / sizeof *guarded; i++) {
        if (!isatty(guarded[i].fd)) continue;
        guarded[i].stream = fopencookie(&guarded[i], "w", (cookie_io_functions_t){.write = write_guarded});
        if (!guarded[i].stream) error_abort("out of memory");
        setvbuf(guarded[i].stream, NULL, guarded[i].fd == STDERR_FILENO ? _IONBF : _IOLBF, BUFSIZ);
        *streams[i] = guarded[i].stream;
    }
}

void terminal_clear_line(FILE *file)
{
    static const char code[] = "\r\033[K";
    fflush(file);
    output_all(terminal_of(file), code, sizeof code - 1);
}

const char *colour_begin(FILE *file, enum colour which)
{
    return is_coloured(file) ? codes[which] : "";
}

const char *colour_end(FILE *file)
{
    return is_coloured(file) ? codes[COLOUR_NONE] : "";
}
