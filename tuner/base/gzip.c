// See gzip.h.
#include "tuner/base/gzip.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "tuner/base/input_file.h"
#include "tuner/base/output_file.h"

// A recording of a million trials unpacks to 0.3 GB, which is ten times its packed size.
static const size_t most_bytes = (size_t)2 << 30, trusted_bytes = (size_t)64 << 20;
enum { RATIO_MOST = 100 };

static const char *reason(gzFile file, int saved)
{
    int code = Z_OK;
    const char *text = gzerror(file, &code);
    if (code == Z_BUF_ERROR) return "the file is truncated";
    if (code == Z_ERRNO || code == Z_OK || !text || !*text) return strerror(saved);
    return text;
}

char *gzip_read_file(const char *path, size_t *size, struct error *err)
{
    int fd = input_file_open(path, err);
    if (fd < 0) return NULL;
    gzFile file = gzdopen(fd, "rb");
    if (!file) {
        error_set(err, "cannot open '%s': %s", path, strerror(errno ? errno : ENOMEM));
        close(fd);
        return NULL;
    }
    struct stat about;
    double ratio_limit = fstat(fd, &about) ? 0 : (double)about.st_size * RATIO_MOST;
    gzbuffer(file, 1 << 18);
    size_t used = 0, room = 0;
    char *data = NULL;
    for (;;) {
        if (room - used < 1 << 18) {
            room = room ? 2 * room : 1 << 20;
            char *larger = memory_try_grow(data, room, 1, err);
            if (!larger) {
                error_prefix(err, "cannot read '%s'", path);
                break;
            }
            data = larger;
        }
        errno = 0;
        int n = gzread(file, data + used, (unsigned)(room - used - 1 < 1 << 30 ? room - used - 1 : 1 << 30));
        int saved = errno, code = Z_OK;
        if (n > 0) used += (size_t)n;
        // A truncated gzip file reads as data followed by Z_BUF_ERROR.
        if (n == 0) gzerror(file, &code);
        bool bomb = used > trusted_bytes && (double)used > ratio_limit;
        if (n < 0 || code == Z_BUF_ERROR || bomb || used > most_bytes) {
            error_set(err, "cannot read '%s': %s", path,
                      bomb                ? "it unpacks to more than 100 times its size"
                      : used > most_bytes ? "too large"
                                          : reason(file, saved));
            break;
        }
        if (n > 0) continue;
        gzclose(file);
        data[used] = 0;
        if (size) *size = used;
        return data;
    }
    free(data);
    gzclose(file);
    return NULL;
}

struct packed {
    const char *path, *data;
    size_t size;
    bool packed;
};

static int pack(FILE *to, void *user, struct error *err)
{
    const struct packed *p = user;
    if (!p->packed) {
        fwrite(p->data, 1, p->size, to); // the caller sees the stream's errors
        return 0;
    }
    int copy = dup(fileno(to)), result = 0;
    gzFile file = copy < 0 ? NULL : gzdopen(copy, "wb6");
    if (!file && copy >= 0) close(copy);
    if (!file) return error_set(err, "cannot write '%s': %s", p->path, strerror(errno ? errno : ENOMEM));
    for (size_t done = 0; done < p->size && !result;) {
        unsigned n = p->size - done < 1 << 30 ? (unsigned)(p->size - done) : 1 << 30;
        if (gzwrite(file, p->data + done, n) != (int)n)
            result = error_set(err, "cannot write '%s': %s", p->path, reason(file, errno));
        done += n;
    }
    if (gzclose(file) != Z_OK && !result) result = error_set(err, "cannot write '%s': %s", p->path, strerror(errno));
    return result;
}

int gzip_write_file(const char *path, const char *data, size_t size, struct error *err)
{
    return output_file_write(path, pack, &(struct packed){path, data, size, text_before(path, ".gz")}, err);
}
