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

bool output_is_foreign(const char *path)
{
    static const char *const ours[] = {"{\"format\":\"sweetspot-",
                                       "{\n\"format\":\"sweetspot-",
                                       "sweetspot-kernel ",
                                       "<!DOCTYPE html>",
                                       "\x1f\x8b",
                                       "\177ELF",
                                       NULL};
    char begin[32] = "";
    FILE *file = output_is_stream(path) ? NULL : fopen(path, "rbe");
    bool foreign = file && fread(begin, 1, sizeof begin - 1, file) > 0;
    for (int i = 0; ours[i]; i++) foreign &= strncmp(begin, ours[i], strlen(ours[i])) != 0;
    if (file) fclose(file);
    return foreign;
}

int output_make_folders(const char *path, struct error *err)
{
    autofree char *folder = text_copy(path);
    int result = 0;
    for (char *slash = strchr(folder + 1, '/'); slash && !result; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(folder, 0777) && errno != EEXIST)
            result = error_set(err, "cannot create the folder '%s': %s", folder, strerror(errno));
        *slash = '/';
    }
    return result;
}

static int cannot_write(const char *path, struct error *err)
{
    return error_set(err, "cannot write '%s': %s", path, strerror(errno));
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
    if (output_is_stdout(path)) return write(stdout, user, err); // its errors are reported when the program ends
    bool stream = output_is_stream(path);
    autofree char *real = stream ? NULL : realpath(path, NULL),
                  *target = text_copy(real ? real : path); // a symbolic link is kept
    autofree char *temporary = stream ? NULL : text_format("%s.new-%ld", target, (long)getpid());
    int fd = open(stream ? path : temporary, O_WRONLY | O_CLOEXEC | (stream ? 0 : O_CREAT | O_TRUNC), 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    int result = file ? write(file, user, err) : cannot_write(path, err);
    if (!result && (ferror(file) || fflush(file))) result = cannot_write(path, err);
    if (!result && !stream && fsync(fd)) result = cannot_write(path, err); // otherwise a power failure leaves it empty
    if (file ? fclose(file) : fd >= 0 ? close(fd) : 0) result = result ? result : cannot_write(path, err);
    if (!result && !stream && rename(temporary, target)) result = cannot_write(path, err);
    if (result && !stream) unlink(temporary);
    return result;
}

bool output_stdout_closed(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}
