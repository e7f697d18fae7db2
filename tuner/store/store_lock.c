// The lock of a tuning run has two parts, which the system releases when the process dies. One part locks the file
// <store>.lock, for tuners in other containers and on other machines that share the folder. The other part is a socket
// in the abstract namespace, named after the identity of the store's file. The socket needs no file that could be
// removed, and does not depend on the path by which the store was opened.
//
// We do not lock the store's own file, because closing a second descriptor of it would drop the locks that SQLite
// holds.
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tuner/store/store_internal.h"

enum { ATTEMPTS = 10 };

static const char *lock_path(struct store *store)
{
    if (!store->lock_path) {
        autofree char *real = realpath(store->path, NULL);
        store->lock_path = text_format("%s.lock", real ? real : store->path);
    }
    return store->lock_path;
}

// The socket's address and its length, which is 0 if the file cannot be examined.
static socklen_t identity(const struct store *store, struct sockaddr_un *address)
{
    struct stat file;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (stat(store->path, &file)) return 0;
    // The first byte is still 0, which means abstract.
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "sweetspot-store-%ju-%ju",
                          (uintmax_t)file.st_dev, (uintmax_t)file.st_ino);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

// The process that listens at the address; 0: none.
static long listener(const struct sockaddr_un *address, socklen_t length)
{
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    if (s >= 0 && !connect(s, (const struct sockaddr *)address, length))
        getsockopt(s, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    if (s >= 0) close(s);
    return (long)peer.pid;
}

static int held_by(const struct store *store, long pid, struct error *err)
{
    if (pid > 0) return error_set(err, "the store '%s' is being tuned by process %ld", store->path, pid);
    return error_set(err, "the store '%s' is being tuned by another process", store->path);
}

// Binds the name. On systems without such sockets, the lock file must suffice.
static int lock_name(struct store *store, struct error *err)
{
    struct sockaddr_un address;
    socklen_t length = identity(store, &address);
    int s = length ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (s < 0) return 0;
    if (!bind(s, (const struct sockaddr *)&address, length) && !listen(s, 1)) {
        store->lock_name = s;
        return 0;
    }
    bool taken = errno == EADDRINUSE;
    close(s);
    return taken ? held_by(store, listener(&address, length), err) : 0;
}

static bool same_file(int fd, const char *path)
{
    struct stat ours, named;
    return !fstat(fd, &ours) && !stat(path, &named) && ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

// Whether this is the error of a file system without locks: NFS without a lock daemon, Lustre without the mount option
// flock.
static bool lacks_locks(int error)
{
    return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

static int store_without_locks(const struct store *store, struct error *err)
{
    return error_set(err, "the file system of the store '%s' has no locks: give --store FILE on a local disk",
                     store->path);
}

// Returns 1 if the file was removed between opening and locking.
static int lock_open_file(struct store *store, int fd, struct error *err)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) { // the holder may end between two calls
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        if (!fcntl(fd, F_SETLK, &whole)) {
            if (!same_file(fd, store->lock_path)) return 1;
            if (ftruncate(fd, 0) || dprintf(fd, "%ld\n", (long)getpid()) < 0) {
            } // the id is only for people who read the file
            return 0;
        }
        if (lacks_locks(errno)) return store_without_locks(store, err);
        if (errno != EACCES && errno != EAGAIN)
            return error_set(err, "cannot lock '%s': %s", store->lock_path, strerror(errno));
        if (fcntl(fd, F_GETLK, &whole) || whole.l_type == F_UNLCK) continue;
        return held_by(store, whole.l_pid, err); // 0: the process is in another container or on another machine
    }
    return held_by(store, 0, err);
}

static int lock_file(struct store *store, struct error *err)
{
    const char *path = lock_path(store);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) return error_set(err, "cannot open '%s': %s", path, strerror(errno));
        int status = lock_open_file(store, fd, err);
        if (!status) {
            if (store->lock >= 0) close(store->lock);
            store->lock = fd;
            return 0;
        }
        close(fd);
        if (status < 0) return -1;
    }
    return error_set(err, "cannot lock '%s': it is removed repeatedly", path);
}

int store_busy(struct store *store, struct error *err)
{
    struct flock any = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int fd = store->lock >= 0 ? store->lock : open(lock_path(store), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    bool lacks = fd >= 0 && fcntl(fd, F_GETLK, &any) && lacks_locks(errno);
    if (fd >= 0 && fd != store->lock) close(fd);
    if (lacks) return store_without_locks(store, err);
    return error_set(err, "the store '%s' has been locked by another program for %d s", store->path,
                     STORE_BUSY_MS / 1000);
}

int store_lock(struct store *store, struct error *err)
{
    if (store->lock >= 0) return 0;
    if (!lock_name(store, err) && !lock_file(store, err)) return 0;
    store_unlock(store);
    return -1;
}

int store_keep_lock(struct store *store, struct error *err)
{
    if (store->lock < 0 || same_file(store->lock, store->lock_path)) return 0;
    return lock_file(store, err) ? error_prefix(err, "'%s' was removed", store->lock_path) : 0;
}

void store_unlock(struct store *store)
{
    if (store->lock >= 0) close(store->lock);
    if (store->lock_name >= 0) close(store->lock_name);
    store->lock = store->lock_name = -1;
}

long store_holder(struct store *store)
{
    // Do not open the file while we hold its lock: closing any descriptor of it would drop the lock (POSIX).
    if (store->lock >= 0) return (long)getpid();
    struct sockaddr_un address;
    socklen_t length = identity(store, &address);
    long pid = length ? listener(&address, length) : 0;
    if (pid > 0) return pid;
    int fd = open(lock_path(store), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    pid = !fcntl(fd, F_GETLK, &whole) && whole.l_type != F_UNLCK ? (long)whole.l_pid : 0;
    close(fd);
    return pid;
}
