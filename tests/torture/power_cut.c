// A layer for the driver that keeps a journal of every operation on files of the run ($POWER_JOURNAL). power_disk.c
// uses it to reconstruct the disk that a power failure at any moment would leave.
#include "tests/torture/power_cut.h"
#include "tests/torture/layer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

static void note(enum power_op op, const char *path, uint64_t offset, const void *bytes, size_t size)
{
    static int journal = -2;
    int kept = errno;
    if (!path) return;
    if (journal == -2) {
        const char *name = getenv("POWER_JOURNAL");
        journal = name ? BEHIND(open)(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    }
    struct power_record record = {(uint32_t)op, (uint32_t)strlen(path), offset, size};
    struct iovec parts[] = {{&record, sizeof record}, {(void *)path, record.path}, {(void *)bytes, size}};
    ssize_t whole = (ssize_t)(sizeof record + record.path + size);
    if (journal >= 0 && writev(journal, parts, 3) != whole) abort();
    errno = kept;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    char room[PATH_MAX];
    ssize_t n = BEHIND(write)(fd, bytes, size);
    const char *path = n > 0 ? layer_file(fd, room) : NULL;
    if (path) note(POWER_WRITE, path, (uint64_t)(lseek(fd, 0, SEEK_CUR) - n), bytes, (size_t)n);
    return n;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    char room[PATH_MAX];
    ssize_t n = BEHIND(pwrite)(fd, bytes, size, offset);
    if (n > 0) note(POWER_WRITE, layer_file(fd, room), (uint64_t)offset, bytes, (size_t)n);
    return n;
}

int fsync(int fd)
{
    char room[PATH_MAX];
    int status = BEHIND(fsync)(fd);
    if (!status) note(POWER_SYNC, layer_file(fd, room), 0, NULL, 0);
    return status;
}

int fdatasync(int fd)
{
    char room[PATH_MAX];
    int status = BEHIND(fdatasync)(fd);
    if (!status) note(POWER_SYNC, layer_file(fd, room), 0, NULL, 0);
    return status;
}

int ftruncate(int fd, off_t size)
{
    char room[PATH_MAX];
    int status = BEHIND(ftruncate)(fd, size);
    if (!status) note(POWER_TRUNCATE, layer_file(fd, room), (uint64_t)size, NULL, 0);
    return status;
}

static int open_file(const char *path, int flags, mode_t mode)
{
    char room[PATH_MAX];
    const char *inside = layer_path(path, room);
    bool is_new = inside && flags & O_CREAT && access(path, F_OK);
    int fd = BEHIND(open)(path, flags, mode);
    if (fd >= 0 && is_new) note(POWER_CREATE, inside, 0, NULL, 0);
    if (fd >= 0 && !is_new && inside && flags & O_TRUNC) note(POWER_TRUNCATE, inside, 0, NULL, 0);
    return fd;
}

#include "tests/torture/layer_names.h"

static void note_two(enum power_op op, const char *from, const char *to)
{
    char room[PATH_MAX], other[PATH_MAX];
    const char *a = layer_path(from, room), *b = layer_path(to, other);
    if (a && b) note(op, a, 0, b, strlen(b));
}

int rename(const char *from, const char *to)
{
    int status = BEHIND(rename)(from, to);
    if (!status) note_two(POWER_RENAME, from, to);
    return status;
}

int link(const char *from, const char *to)
{
    int status = BEHIND(link)(from, to);
    if (!status) note_two(POWER_LINK, from, to);
    return status;
}

int unlink(const char *path)
{
    char room[PATH_MAX];
    int status = BEHIND(unlink)(path);
    if (!status) note(POWER_UNLINK, layer_path(path, room), 0, NULL, 0);
    return status;
}
