// A layer for the driver that makes operations on files of the run fail, or kills the driver in the middle of one.
//
// $IO_FAULT is "OP:KIND:N:COUNT". OP: write, sync, open, truncate, rename, unlink (link counts as rename), or any.
// KIND: ENOSPC, EIO, EINTR, short (half is written), kill (kills the process after half is written). The fault affects
// COUNT operations from the N-th on (1: the first). The layer appends affected operations to the file $IO_TOLD, and at
// the end it appends the number of operations of each kind.
#include "tests/torture/layer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/types.h>

enum op { OP_WRITE, OP_SYNC, OP_OPEN, OP_TRUNCATE, OP_RENAME, OP_UNLINK, OP_COUNT };
static const char *const op_text[OP_COUNT] = {"write", "sync", "open", "truncate", "rename", "unlink"};
static const struct {
    const char *word;
    int number;
} kinds[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EINTR", EINTR}, {"short", -1}, {"kill", -2}, {"none", 0}};

static long done[OP_COUNT], all;

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char *format, ...)
{
    char text[2 * PATH_MAX];
    va_list args;
    const char *path = getenv("IO_TOLD");
    int fd = path ? BEHIND(open)(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (fd < 0) return;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0 && BEHIND(write)(fd, text, (size_t)n) != n) abort();
    close(fd);
}

__attribute__((destructor)) static void tell_counts(void)
{
    if (!layer_folder()) return;
    for (int i = 0; i < OP_COUNT; i++) tell("count %s %ld\n", op_text[i], done[i]);
}

// Returns the fault for this operation: a kind's number, or 0 for no fault. If the operation fails, errno is set.
static int suffer(enum op op, const char *file)
{
    static char wanted[16], kind[16];
    static long from = -1, count;
    if (from < 0) {
        const char *given = getenv("IO_FAULT");
        if (!given || sscanf(given, "%15[^:]:%15[^:]:%ld:%ld", wanted, kind, &from, &count) != 4) from = 0;
    }
    if (!file || !from) return 0;
    done[op]++, all++;
    long n = !strcmp(wanted, "any") ? all : !strcmp(wanted, op_text[op]) ? done[op] : 0;
    if (n < from || n >= from + count) return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].word, kind) && kinds[i].number) {
            tell("struck %s %s %ld %s\n", op_text[op], kind, n, file);
            if (kinds[i].number == -2 && op != OP_WRITE) raise(SIGKILL);
            errno = kinds[i].number > 0 ? kinds[i].number : EIO;
            return kinds[i].number;
        }
    return 0;
}

static ssize_t strike_write(int fd, const void *bytes, size_t size, off_t offset, int what)
{
    if (what > 0) return -1;
    size_t half = size > 1 ? size / 2 : size;
    ssize_t n = offset < 0 ? BEHIND(write)(fd, bytes, half) : BEHIND(pwrite)(fd, bytes, half, offset);
    if (what == -2) raise(SIGKILL);
    return n;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    char room[PATH_MAX];
    int what = suffer(OP_WRITE, layer_file(fd, room));
    return what ? strike_write(fd, bytes, size, -1, what) : BEHIND(write)(fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    char room[PATH_MAX];
    int what = suffer(OP_WRITE, layer_file(fd, room));
    return what ? strike_write(fd, bytes, size, offset, what) : BEHIND(pwrite)(fd, bytes, size, offset);
}

int fsync(int fd)
{
    char room[PATH_MAX];
    return suffer(OP_SYNC, layer_file(fd, room)) ? -1 : BEHIND(fsync)(fd);
}

int fdatasync(int fd)
{
    char room[PATH_MAX];
    return suffer(OP_SYNC, layer_file(fd, room)) ? -1 : BEHIND(fdatasync)(fd);
}

int ftruncate(int fd, off_t size)
{
    char room[PATH_MAX];
    return suffer(OP_TRUNCATE, layer_file(fd, room)) ? -1 : BEHIND(ftruncate)(fd, size);
}

static int open_file(const char *path, int flags, mode_t mode)
{
    char room[PATH_MAX];
    return suffer(OP_OPEN, layer_path(path, room)) ? -1 : BEHIND(open)(path, flags, mode);
}

#include "tests/torture/layer_names.h"

FILE *fopen(const char *path, const char *mode)
{
    char room[PATH_MAX];
    return suffer(OP_OPEN, layer_path(path, room)) ? NULL : BEHIND(fopen)(path, mode);
}

int rename(const char *from, const char *to)
{
    char room[PATH_MAX];
    return suffer(OP_RENAME, layer_path(from, room)) ? -1 : BEHIND(rename)(from, to);
}

int link(const char *from, const char *to)
{
    char room[PATH_MAX];
    return suffer(OP_RENAME, layer_path(from, room)) ? -1 : BEHIND(link)(from, to);
}

int unlink(const char *path)
{
    char room[PATH_MAX];
    return suffer(OP_UNLINK, layer_path(path, room)) ? -1 : BEHIND(unlink)(path);
}
