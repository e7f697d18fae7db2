// See reference_cache.h.
#include "tuner/gpu/reference_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/hash.h"
#include "tuner/base/input_file.h"

// Reading a larger file takes as long as computing the values.
static const size_t most_bytes = (size_t)128 << 20;
static const char magic[16] = "sweetspot-ref-2";

static bool is_buffer(const struct operation_role *role)
{
    return role->kind == ROLE_INPUT || role->kind == ROLE_OUTPUT;
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
        const struct device_buffer *b = device_problem_buffer(p, i);
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

// A file being read or written. Reading and writing process the same arrays in the same order, and hash them. NULL
// arrays are skipped.
struct stream {
    FILE *file;
    struct hash *hash;
    bool write;
};

static bool move(struct stream *s, void *const *data, const size_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!data[i] || !bytes[i]) continue;
        // The direction does not change while the file is open.
        // cppcheck-suppress IOWithoutPositioning
        if ((s->write ? fwrite(data[i], bytes[i], 1, s->file) : fread(data[i], bytes[i], 1, s->file)) != 1)
            return false;
        hash_bytes(s->hash, data[i], bytes[i]);
    }
    return true;
}

bool reference_cache_read_arrays(const char *path, void *const *data, const size_t *bytes, size_t count)
{
    char seen[sizeof magic], kept[HASH_TEXT_SIZE] = "", digest[HASH_TEXT_SIZE];
    int fd = input_file_open(path, NULL);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
    if (fd >= 0 && !file) close(fd);
    if (!file) return false;
    struct stream s = {.file = file, .hash = hash_new()};
    bool good = fread(seen, sizeof seen, 1, file) == 1 && !memcmp(seen, magic, sizeof magic) &&
                move(&s, data, bytes, count) && fread(kept, sizeof kept, 1, file) == 1 && fgetc(file) == EOF;
    hash_finish(s.hash, digest);
    fclose(file);
    return good && !memcmp(kept, digest, sizeof kept);
}

void reference_cache_write_arrays(const char *path, void *const *data, const size_t *bytes, size_t count)
{
    char temporary[REFERENCE_CACHE_PATH_MAX + 32], digest[HASH_TEXT_SIZE];
    size_t total = 0;
    for (size_t i = 0; i < count; i++) total += data[i] ? bytes[i] : 0;
    if (total > most_bytes) return;
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "wb");
    if (!file) return;
    struct stream s = {.file = file, .hash = hash_new(), .write = true};
    bool good = fwrite(magic, sizeof magic, 1, file) == 1 && move(&s, data, bytes, count);
    hash_finish(s.hash, digest);
    good = good && fwrite(digest, sizeof digest, 1, file) == 1;
    good &= fclose(file) == 0;
    if (!good || rename(temporary, path)) unlink(temporary);
}

// Lists everything that is kept of expected values.
enum { PARTS = 6, PARTS_MAX = PARTS * OPERATION_ROLES_MAX };
static size_t list_parts(const struct workload *w, const struct device_problem *p, struct operation_expected *expected,
                         void *data[PARTS_MAX], size_t bytes[PARTS_MAX])
{
    const struct operation_role *role = w->operation->roles;
    size_t count = 0;
    for (int i = 0; role[i].name; i++) {
        struct operation_expected *e = &expected[i];
        const size_t n = elements(p, i), size = sizeof(double);
        void *const parts[PARTS] = {&e->per_scale, &e->per_value,    &e->floor,
                                    e->host_exact, e->host_expected, e->host_scale};
        const size_t sizes[PARTS] = {size, size, size, 8 * n, 8 * n, sizeof(float) * n};
        for (int k = 0; k < PARTS && role[i].kind == ROLE_OUTPUT; k++, count++)
            data[count] = parts[k], bytes[count] = sizes[k];
    }
    return count;
}

bool reference_cache_read(const char *path, const struct workload *w, const struct device_problem *p,
                          struct operation_expected *expected)
{
    void *data[PARTS_MAX];
    size_t bytes[PARTS_MAX], count = list_parts(w, p, expected, data, bytes);
    return reference_cache_read_arrays(path, data, bytes, count);
}

void reference_cache_write(const char *path, const struct workload *w, const struct device_problem *p,
                           struct operation_expected *expected)
{
    void *data[PARTS_MAX];
    size_t bytes[PARTS_MAX], count = list_parts(w, p, expected, data, bytes);
    reference_cache_write_arrays(path, data, bytes, count);
}
