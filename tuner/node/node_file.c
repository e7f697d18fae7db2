// See node_file.h.
#include "tuner/node/node_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tuner/base/input_file.h"
#include "tuner/base/output_file.h"

enum { IN_MEMORY = 1 << 20 }; // bytes; a smaller file is copied when sent, so that it needs no descriptor

char *node_file_name(const char *path, const char hash[HASH_TEXT_SIZE])
{
    const char *dot = strrchr(text_file_name(path), '.');
    return text_format("files/%.2s/%s%s", hash, hash, dot ? dot : "");
}

int node_file_hash_open(int fd, char hash[HASH_TEXT_SIZE], int64_t *size, struct error *err)
{
    enum { BYTES = 1 << 18 };
    autofree char *bytes = memory_new(BYTES, 1);
    struct hash *h = hash_new();
    ssize_t n;
    *size = 0;
    while ((n = pread(fd, bytes, BYTES, *size)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0) continue;
        hash_bytes(h, bytes, (size_t)n);
        *size += n;
    }
    hash_finish(h, hash);
    if (n < 0) error_set(err, "cannot read: %s", strerror(errno));
    return n < 0 ? -1 : 0;
}

int node_file_hash(const char *path, char hash[HASH_TEXT_SIZE], int64_t *size, struct error *err)
{
    int fd = input_file_open(path, err);
    if (fd < 0) return -1;
    int failed = node_file_hash_open(fd, hash, size, err);
    close(fd);
    return failed ? error_prefix(err, "'%s'", path) : 0;
}

// Reads the bytes of a small file. Returns NULL if the file has become shorter.
static char *read_small(int fd, size_t size)
{
    char *bytes = memory_new(size + 1, 1);
    size_t done = 0;
    for (ssize_t n = 1; done < size && n; done += n > 0 ? (size_t)n : 0) {
        n = pread(fd, bytes + done, size - done, (off_t)done);
        if (n < 0 && errno != EINTR) break;
    }
    if (done == size) return bytes;
    free(bytes);
    return NULL;
}

int node_file_send(struct frame_writer *w, int fd, const struct node_file *file, struct error *err)
{
    size_t size = (size_t)file->size;
    autofree char *bytes = size < IN_MEMORY ? read_small(fd, size) : NULL;
    if (size < IN_MEMORY) close(fd);
    if (size < IN_MEMORY && !bytes)
        return error_set(err, "'%s' changed while it was sent", file->path ? file->path : file->name);
    node_message_put(w, FRAME_FILE, 0, file);
    if (bytes)
        frame_put_data(w, bytes, size);
    else
        frame_put_descriptor(w, fd, size);
    return 0;
}

int node_arrival_begin(struct node_arrival *a, const char *path, const char *hash, int64_t size, struct error *err)
{
    node_arrival_drop(a);
    if (size < 0 || strlen(hash) != HASH_TEXT_SIZE - 1 || hash[strspn(hash, "0123456789abcdef")])
        return error_set(err, "a file without size or hash arrived");
    if (output_make_folders(path, err)) return -1;
    *a = (struct node_arrival){
        .path = text_copy(path), .temporary = text_format("%s.%ld", path, (long)getpid()), .left = size};
    memcpy(a->hash, hash, sizeof a->hash);
    a->fd = open(a->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    a->sum = hash_new();
    if (a->fd >= 0) return 0;
    error_set(err, "cannot write '%s': %s", a->temporary, strerror(errno));
    node_arrival_drop(a);
    return -1;
}

int node_arrival_take(struct node_arrival *a, const void *data, size_t size, struct error *err)
{
    if (!a->path || (int64_t)size > a->left) return error_set(err, "bytes that belong to no file arrived");
    hash_bytes(a->sum, data, size);
    a->left -= (int64_t)size;
    if (!output_all(a->fd, data, size)) return 0;
    error_set(err, "cannot write '%s': %s", a->path, strerror(errno));
    node_arrival_drop(a);
    return -1;
}

int node_arrival_end(struct node_arrival *a, struct error *err)
{
    char hash[HASH_TEXT_SIZE];
    if (a->left) return 0;
    hash_finish(a->sum, hash);
    a->sum = NULL;
    int result = 1;
    if (strcmp(hash, a->hash))
        result = error_set(err, "'%s' was changed on its way", a->path);
    else if (rename(a->temporary, a->path))
        result = error_set(err, "cannot write '%s': %s", a->path, strerror(errno));
    if (result > 0) { // it has its final name, so there is no file to remove
        free(a->temporary);
        a->temporary = NULL;
    }
    node_arrival_drop(a);
    return result;
}

void node_arrival_drop(struct node_arrival *a)
{
    char ignored[HASH_TEXT_SIZE];
    if (!a->path) return;
    if (a->fd >= 0) close(a->fd);
    if (a->temporary) unlink(a->temporary);
    if (a->sum) hash_finish(a->sum, ignored);
    free(a->path);
    free(a->temporary);
    *a = (struct node_arrival){.fd = -1};
}
