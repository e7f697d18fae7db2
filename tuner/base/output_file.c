// See output_file.h.
#include "tuner/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_is_stdout(const char *path)
{
    struct stat file, out;
    if (!strcmp(path, "-")) return true;
    return !strncmp(path, "/dev/", 5) && !stat(path, &file) && !fstat(STDOUT_FILENO, &out) &&
           file.st_dev == out.st_dev && file.st_ino == out.st_ino && !S_ISCHR(file.st_mode);
}

bool output_is_stream(const char *path)
{
    struct stat file;
    if (output_is_stdout(path)) return true;
    return !stat(path, &file) && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode);
}

int output_make_folders(const char *path, struct error *err)
{
    char *folder = text_copy(path);
    int result = 0;
    for (char *slash = strchr(folder + 1, '/'); slash && !result; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(folder, 0777) && errno != EEXIST)
            result = error_set(err, "cannot create the folder '%s': %s", folder, strerror(errno));
        *slash = '/';
    }
    free(folder);
    return result;
}

static int cannot_write(const char *path, struct error *err)
{
    return error_set(err, "cannot write '%s': %s", path, strerror(errno));
}

struct output_file {
    char *path, *temporary; // temporary: NULL where the file itself is written
    int fd;                 // -1 for standard output, which is written through `stdout`
};

// -1 with a message. Otherwise write to a copy of `fd` (dup), or to stdout, and end with close_output.
static int open_output(struct output_file *o, const char *path, struct error *err)
{
    *o = (struct output_file){.fd = -1};
    if (output_is_stdout(path)) return 0;
    if (output_is_stream(path)) {
        o->fd = open(path, O_WRONLY | O_CLOEXEC);
        if (o->fd < 0) return cannot_write(path, err);
        o->path = text_copy(path);
        return 0;
    }
    // A link is kept; its target is written.
    char *real = realpath(path, NULL);
    o->path = text_copy(real ? real : path);
    free(real);
    o->temporary = text_format("%s.new-%ld", o->path, (long)getpid());
    o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (o->fd >= 0) return 0;
    cannot_write(path, err);
    free(o->path);
    free(o->temporary);
    return -1;
}

// `good`: the file takes its name, after fsync; otherwise it is removed. -1 with a message when that fails.
static int close_output(struct output_file *o, bool good, struct error *err)
{
    int result = 0;
    if (o->fd < 0) return 0;
    if (o->temporary && good && fsync(o->fd)) result = cannot_write(o->path, err); // or a power failure leaves it empty
    if (close(o->fd) && !result && good) result = cannot_write(o->path, err);
    if (o->temporary && good && !result && rename(o->temporary, o->path)) result = cannot_write(o->path, err);
    if (o->temporary && (!good || result)) unlink(o->temporary);
    free(o->path);
    free(o->temporary);
    return result;
}

int output_all(int fd, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, (const char *)bytes + done, size - done);
        if (n <= 0 && (n == 0 || errno != EINTR)) return -1;
        if (n > 0) done += (size_t)n;
    }
    return 0;
}

int output_file_write(const char *path, output_writer *write, void *user, struct error *err)
{
    struct output_file out;
    if (open_output(&out, path, err)) return -1;
    if (out.fd < 0) return write(stdout, user, err); // its errors are reported when the program ends
    int copy = dup(out.fd), result = -1;
    FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
    if (file) {
        result = write(file, user, err);
        if (!result && (ferror(file) || fflush(file))) result = cannot_write(path, err);
        if (fclose(file) && !result) result = cannot_write(path, err);
    } else {
        cannot_write(path, err);
        if (copy >= 0) close(copy);
    }
    struct error why = {""};
    if (close_output(&out, !result, &why) && !result) result = error_set(err, "%s", why.message);
    return result;
}

bool output_stdout_closed(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}
