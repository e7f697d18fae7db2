// See input_file.h.
#include "tuner/base/input_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(int fd, int why, struct error *err, const char *format, const char *path)
{
    if (fd >= 0) close(fd);
    error_set(err, format, path, strerror(why));
    errno = why;
    return -1;
}

// With O_NONBLOCK, a pipe without a writer is opened at once, and can then be recognised as a pipe.
enum { HOW = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY };

static int regular(int fd, const char *path, struct error *err)
{
    struct stat info;
    if (fd < 0 || fstat(fd, &info)) return fail(fd, errno, err, "cannot read '%s': %s", path);
    if (S_ISDIR(info.st_mode)) return fail(fd, EISDIR, err, "cannot read '%s': %s", path);
    if (!S_ISREG(info.st_mode)) return fail(fd, EINVAL, err, "'%s' is not a regular file", path);
    return fd;
}

int input_file_open(const char *path, struct error *err)
{
    return regular(open(path, HOW), path, err);
}

bool input_file_is_below(const char *folder, const char *path)
{
    size_t length = strlen(folder);
    return !strncmp(path, folder, length) && path[length] == '/';
}

// Opens the parts of the path one after another, since O_NOFOLLOW applies only to the last part.
int input_file_open_below(const char *folder, const char *path, struct error *err)
{
    if (!input_file_is_below(folder, path)) return fail(-1, EXDEV, err, "cannot read '%s': %s", path);
    char part[NAME_MAX + 1];
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (const char *at = path + strlen(folder); fd >= 0 && *at;) {
        at += strspn(at, "/");
        size_t length = strcspn(at, "/");
        bool last = !at[length], good = length && length < sizeof part;
        snprintf(part, sizeof part, "%.*s", (int)(good ? length : 0), at);
        int next = !good || !strcmp(part, "..") ? (errno = EXDEV, -1)
                   : last                       ? openat(fd, part, HOW | O_NOFOLLOW)
                                                : openat(fd, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int why = errno;
        close(fd);
        errno = why;
        fd = next;
        at += length;
    }
    return regular(fd, path, err);
}

// Reads to the end of the file without relying on its size, which is 0 for files in /proc.
static int read_all(int fd, char **text, size_t most, size_t *used)
{
    size_t room = 1 << 16;
    *used = 0;
    *text = NULL;
    for (;;) {
        char *grown = memory_try_grow(*text, room, 1, NULL);
        if (!grown) return ENOMEM;
        *text = grown;
        ssize_t n = 1;
        while (*used < room - 1 && (n = read(fd, *text + *used, room - 1 - *used)) != 0) {
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return errno;
            *used += (size_t)n;
        }
        if (*used > most) return EFBIG;
        if (!n) return 0;
        if (room > SIZE_MAX / 2) return ENOMEM;
        room *= 2;
    }
}

bool input_file_is_same(const char *a, const char *b)
{
    struct stat first, second;
    return !stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

char *input_file_read(const char *path, size_t most, size_t *size, struct error *err)
{
    char *text;
    size_t used;
    int fd = input_file_open(path, err);
    if (fd < 0) return NULL;
    int failed = read_all(fd, &text, most ? most : SIZE_MAX, &used);
    if (failed) {
        free(text);
        fail(fd, failed, err, "cannot read '%s': %s", path);
        return NULL;
    }
    close(fd);
    text[used] = 0;
    if (size) *size = used;
    return text;
}

static const char separators[] = " \t\n'\"|&;<>()$`=";

static void add_file(struct hash *h, const char *path)
{
    struct stat st;
    size_t size;
    if (stat(path, &st) || !S_ISREG(st.st_mode)) return;
    autofree void *bytes = input_file_read(path, 0, &size, NULL);
    hash_text(h, path);
    if (bytes) hash_bytes(h, bytes, size);
}

// The part of a name from its last dot on; "" if there is none.
static const char *ending(const char *name)
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
    return dot ? dot : "";
}

static void add_with_neighbours(struct hash *h, const char *path)
{
    char folder[PATH_MAX];
    struct stat st;
    struct dirent **list;
    const char *slash = strrchr(path, '/');
    if (!slash || stat(path, &st) || !S_ISREG(st.st_mode)) return;
    add_file(h, path);
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    int count = *ending(path) ? scandir(folder, &list, NULL, alphasort) : -1;
    for (int i = 0; i < count; i++) {
        char beside[PATH_MAX];
        if (!strcmp(ending(list[i]->d_name), ending(path)) &&
            snprintf(beside, sizeof beside, "%s/%s", folder, list[i]->d_name) < (int)sizeof beside)
            add_file(h, beside);
        free(list[i]);
    }
    if (count >= 0) free(list);
}

void command_files_hash(const char *command, const char *folder, char hash[HASH_TEXT_SIZE])
{
    struct hash *h = hash_new();
    hash_text(h, command);
    for (const char *at = command; *at; at += strspn(at, separators)) {
        char path[PATH_MAX];
        int length = (int)strcspn(at, separators);
        const char *root = *at == '/' ? "" : folder;
        if (length && snprintf(path, sizeof path, "%s%s%.*s", root, *root ? "/" : "", length, at) < (int)sizeof path)
            add_with_neighbours(h, path);
        at += length;
    }
    hash_finish(h, hash);
}
