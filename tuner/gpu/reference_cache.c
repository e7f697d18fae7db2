// See reference_cache.h.
#include "tuner/gpu/reference_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/base.h"
#include "tuner/base/hash.h"
#include "tuner/base/input_file.h"

// Reading more than this takes as long as computing it.
static const size_t most_bytes = (size_t)128 << 20;
static const char magic[16] = "sweetspot-ref-2";

static bool is_buffer(const struct operation_role *role)
{
    return role->kind == ROLE_INPUT || role->kind == ROLE_OUTPUT;
}

static const struct device_buffer *buffer_of(const struct device_problem *p, int role)
{
    for (size_t i = 0; i < p->buffers.count; i++)
        if (p->buffers.list[i].view.device == p->operation.operand[role].device) return &p->buffers.list[i];
    return NULL;
}

static size_t elements(const struct device_problem *p, int role)
{
    return (size_t)(p->operation.operand[role].rows * p->operation.operand[role].cols);
}

bool reference_cache_path(const struct workload *w, const struct device_problem *p, char path[REFERENCE_CACHE_PATH_MAX])
{
    const char *folder = w->reference.cache;
    const struct operation_role *role = w->operation->roles;
    struct stat program;
    char digest[HASH_TEXT_SIZE];
    size_t bytes = 0;
    if (!*folder || stat("/proc/self/exe", &program)) return false;
    struct hash *h = hash_new();
    hash_text(h, w->operation->name);
    hash_bytes(h, &program.st_mtim, sizeof program.st_mtim);
    hash_bytes(h, &program.st_size, sizeof program.st_size);
    hash_bytes(h, p->operation.value, sizeof p->operation.value);
    for (int i = 0; role[i].name; i++) {
        if (!is_buffer(&role[i])) continue;
        const struct operand *o = &p->operation.operand[i];
        const struct device_buffer *b = buffer_of(p, i);
        const int64_t shape[] = {o->type, o->rows, o->cols, o->ld};
        hash_bytes(h, shape, sizeof shape);
        if (role[i].kind == ROLE_INPUT && b) hash_bytes(h, &b->content, sizeof b->content);
        if (role[i].kind == ROLE_OUTPUT) bytes += elements(p, i) * 12;
        if (!b || (role[i].kind == ROLE_OUTPUT && b->direction == DIRECTION_INOUT)) bytes = SIZE_MAX / 2;
    }
    hash_finish(h, digest);
    return bytes <= most_bytes &&
           snprintf(path, REFERENCE_CACHE_PATH_MAX, "%s/reference-%s", folder, digest) < REFERENCE_CACHE_PATH_MAX;
}

// Both ways through a file: the same arrays in the same order, and their hash.
struct stream {
    FILE *file;
    struct hash *hash;
    bool write;
};

static bool move(struct stream *s, void *data, size_t size, size_t count)
{
    // One way for as long as the file is open.
    // cppcheck-suppress IOWithoutPositioning
    if ((s->write ? fwrite(data, size, count, s->file) : fread(data, size, count, s->file)) != count) return false;
    hash_bytes(s->hash, data, size * count);
    return true;
}

static bool move_all(struct stream *s, const struct workload *w, const struct device_problem *p,
                     struct operation_expected *expected)
{
    const struct operation_role *role = w->operation->roles;
    for (int i = 0; role[i].name; i++) {
        struct operation_expected *e = &expected[i];
        size_t n = elements(p, i);
        if (role[i].kind != ROLE_OUTPUT) continue;
        if (!move(s, &e->per_scale, sizeof e->per_scale, 1) || !move(s, &e->per_value, sizeof e->per_value, 1) ||
            !move(s, &e->floor, sizeof e->floor, 1))
            return false;
        if (e->host_exact && !move(s, e->host_exact, 8, n)) return false;
        if (e->host_expected && (!move(s, e->host_expected, 8, n) || !move(s, e->host_scale, sizeof(float), n)))
            return false;
    }
    return true;
}

// All that goes through a file, in its order.
typedef bool contents(struct stream *, const void *of);

static bool read_file(const char *path, contents *all, const void *of)
{
    char seen[sizeof magic], kept[HASH_TEXT_SIZE] = "", digest[HASH_TEXT_SIZE];
    int fd = input_file_open(path, NULL);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
    if (fd >= 0 && !file) close(fd);
    if (!file) return false;
    struct stream s = {.file = file, .hash = hash_new()};
    bool good = fread(seen, sizeof seen, 1, file) == 1 && !memcmp(seen, magic, sizeof magic) && all(&s, of) &&
                fread(kept, sizeof kept, 1, file) == 1 && fgetc(file) == EOF;
    hash_finish(s.hash, digest);
    fclose(file);
    return good && !memcmp(kept, digest, sizeof kept);
}

static void write_file(const char *path, contents *all, const void *of)
{
    char temporary[REFERENCE_CACHE_PATH_MAX + 32], digest[HASH_TEXT_SIZE];
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "wb");
    if (!file) return;
    struct stream s = {.file = file, .hash = hash_new(), .write = true};
    bool good = fwrite(magic, sizeof magic, 1, file) == 1 && all(&s, of);
    hash_finish(s.hash, digest);
    good = good && fwrite(digest, sizeof digest, 1, file) == 1;
    good &= fclose(file) == 0;
    if (!good || rename(temporary, path)) unlink(temporary);
}

// Expected values of an operation.
struct expectation {
    const struct workload *w;
    const struct device_problem *p;
    struct operation_expected *expected;
};

static bool move_expectation(struct stream *s, const void *of)
{
    const struct expectation *e = of;
    return move_all(s, e->w, e->p, e->expected);
}

bool reference_cache_read(const char *path, const struct workload *w, const struct device_problem *p,
                          struct operation_expected *expected)
{
    return read_file(path, move_expectation, &(struct expectation){w, p, expected});
}

void reference_cache_write(const char *path, const struct workload *w, const struct device_problem *p,
                           const struct operation_expected *expected)
{
    struct operation_expected copy[OPERATION_ROLES_MAX];
    memcpy(copy, expected, sizeof copy);
    write_file(path, move_expectation, &(struct expectation){w, p, copy});
}

struct kept_arrays {
    void *const *data;
    const size_t *bytes;
    size_t count;
};

static bool move_arrays(struct stream *s, const void *of)
{
    const struct kept_arrays *a = of;
    bool good = true;
    for (size_t i = 0; i < a->count && good; i++)
        if (a->data[i]) good = move(s, a->data[i], 1, a->bytes[i]);
    return good;
}

bool reference_cache_read_arrays(const char *path, void *const *data, const size_t *bytes, size_t count)
{
    return read_file(path, move_arrays, &(struct kept_arrays){data, bytes, count});
}

void reference_cache_write_arrays(const char *path, void *const *data, const size_t *bytes, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) total += data[i] ? bytes[i] : 0;
    if (total <= most_bytes) write_file(path, move_arrays, &(struct kept_arrays){data, bytes, count});
}
