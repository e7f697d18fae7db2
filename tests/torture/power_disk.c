// See power_disk.h. Files are identified by numbers, because their names change.
#include "tests/torture/power_disk.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/torture/files.h"
#include "tests/torture/power_cut.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"

enum { SECTOR = 512, FILES_MAX = 256, NAMES_MAX = 256 };

struct operation {
    enum power_op op;
    char *path, *other; // other: for rename and link
    uint64_t offset, size;
    const unsigned char *bytes;
};

struct power_disk {
    unsigned char *journal;
    struct operation *operations;
    size_t count;
};

struct content {
    unsigned char *bytes;
    size_t size, room;
};

// The names in a folder, with the file to which each name refers.
struct names {
    struct {
        const char *name; // NULL: free
        int file;
    } all[NAMES_MAX];
    int files; // number of files so far
};

static char *part(const unsigned char *bytes, size_t size)
{
    char *text = memory_new(size + 1, 1);
    memcpy(text, bytes, size);
    return text;
}

struct power_disk *power_disk_read(const char *path)
{
    size_t size, at = 0;
    unsigned char *journal = (unsigned char *)text_read_file(path, &size);
    if (!journal) return NULL;
    struct power_disk *disk = memory_new(1, sizeof *disk);
    disk->journal = journal;
    while (at + sizeof(struct power_record) <= size) {
        struct power_record record;
        memcpy(&record, journal + at, sizeof record);
        at += sizeof record;
        if (record.path > size - at || record.size > size - at - record.path) break;
        if (!(disk->count & (disk->count + 1)))
            disk->operations = memory_grow(disk->operations, 2 * disk->count + 2, sizeof *disk->operations);
        bool two = record.op == POWER_RENAME || record.op == POWER_LINK;
        disk->operations[disk->count++] = (struct operation){(enum power_op)record.op,
                                                             part(journal + at, record.path),
                                                             two ? part(journal + at + record.path, record.size) : NULL,
                                                             record.offset,
                                                             record.size,
                                                             journal + at + record.path};
        at += record.path + record.size;
    }
    return disk;
}

void power_disk_free(struct power_disk *disk)
{
    if (!disk) return;
    for (size_t i = 0; i < disk->count; i++) free(disk->operations[i].path), free(disk->operations[i].other);
    free(disk->operations);
    free(disk->journal);
    free(disk);
}

size_t power_disk_operations(const struct power_disk *disk)
{
    return disk->count;
}

size_t power_disk_synced(const struct power_disk *disk, const char *file, size_t operations)
{
    for (size_t i = operations; i > 0; i--)
        if (disk->operations[i - 1].op == POWER_SYNC && !strcmp(disk->operations[i - 1].path, file)) return i;
    return 0;
}

static int find_name(const struct names *names, const char *name)
{
    for (int i = 0; i < NAMES_MAX; i++)
        if (names->all[i].name && !strcmp(names->all[i].name, name)) return i;
    return -1;
}

static void set_name(struct names *names, const char *name, int file)
{
    int i = find_name(names, name);
    for (int k = 0; i < 0 && k < NAMES_MAX; k++)
        if (!names->all[k].name) i = k;
    if (i < 0) abort();
    names->all[i].name = name;
    names->all[i].file = file;
}

static bool of_names(enum power_op op)
{
    return op == POWER_CREATE || op == POWER_RENAME || op == POWER_LINK || op == POWER_UNLINK;
}

// Applies an operation on names.
static void change_names(struct names *names, const struct operation *o)
{
    int i = find_name(names, o->path);
    if (o->op == POWER_CREATE) set_name(names, o->path, names->files++);
    if (i < 0 || o->op == POWER_CREATE) return;
    int file = names->all[i].file;
    if (o->op == POWER_RENAME || o->op == POWER_UNLINK) names->all[i].name = NULL;
    if (o->op == POWER_RENAME || o->op == POWER_LINK) set_name(names, o->other, file);
}

static void set_size(struct content *c, size_t size)
{
    if (size > c->room) {
        c->room = 2 * size;
        c->bytes = memory_grow(c->bytes, c->room, 1);
    }
    if (size > c->size) memset(c->bytes + c->size, 0, size - c->size);
    c->size = size;
}

static void write_part(struct content *c, uint64_t offset, const unsigned char *bytes, size_t size)
{
    if (offset + size > c->size) set_size(c, (size_t)(offset + size));
    memcpy(c->bytes + offset, bytes, size);
}

static void apply(struct content *c, const struct operation *o)
{
    if (o->op == POWER_TRUNCATE) set_size(c, (size_t)o->offset);
    if (o->op == POWER_WRITE) write_part(c, o->offset, o->bytes, (size_t)o->size);
}

static void apply_sectors(struct content *c, const struct operation *o, struct random *random)
{
    for (uint64_t at = 0; at < o->size;) {
        uint64_t size = SECTOR - (o->offset + at) % SECTOR;
        if (size > o->size - at) size = o->size - at;
        if (random_next(random) & 1) write_part(c, o->offset + at, o->bytes + at, (size_t)size);
        at += size;
    }
}

// The file of each operation, by the names at that time; -1: a file from before the journal began.
static int *files_of(const struct power_disk *disk, size_t operations)
{
    int *files = memory_new(operations, sizeof *files);
    autofree struct names *names = memory_new(1, sizeof *names);
    for (size_t i = 0; i < operations; i++) {
        int name = find_name(names, disk->operations[i].path);
        files[i] = name < 0 ? -1 : names->all[name].file;
        if (of_names(disk->operations[i].op)) change_names(names, &disk->operations[i]);
    }
    return files;
}

void power_disk_write(const struct power_disk *disk, size_t operations, enum loss loss, struct random *random,
                      const char *folder)
{
    autofree int *files = files_of(disk, operations);
    size_t last_sync = 0, synced[FILES_MAX] = {0}, tail[FILES_MAX];
    struct content contents[FILES_MAX] = {0};
    for (size_t i = 0; i < operations; i++)
        if (disk->operations[i].op == POWER_SYNC) {
            last_sync = i + 1;
            if (files[i] >= FILES_MAX) abort();
            if (files[i] >= 0) synced[files[i]] = i + 1;
        }
    for (int f = 0; f < FILES_MAX; f++) tail[f] = synced[f] + (size_t)random_below(random, operations - synced[f] + 1);
    for (size_t i = 0; i < operations; i++) {
        const struct operation *o = &disk->operations[i];
        if (files[i] < 0 || (o->op != POWER_WRITE && o->op != POWER_TRUNCATE)) continue;
        if (files[i] >= FILES_MAX) abort();
        struct content *c = &contents[files[i]];
        if (loss == LOSE_NOTHING || i < synced[files[i]] || (loss == LOSE_LATEST && i < tail[files[i]]))
            apply(c, o);
        else if (loss == LOSE_WRITES && random_next(random) & 1)
            apply(c, o);
        else if (o->op == POWER_WRITE && (loss == LOSE_SECTORS || (loss == LOSE_LATEST && i == tail[files[i]])))
            apply_sectors(c, o, random);
        else if (o->op == POWER_TRUNCATE && loss == LOSE_SECTORS && random_next(random) & 1)
            apply(c, o);
    }
    size_t named = loss == LOSE_NOTHING ? operations
                   : loss == LOSE_ALL   ? last_sync
                                        : last_sync + (size_t)random_below(random, operations - last_sync + 1);
    autofree struct names *names = memory_new(1, sizeof *names);
    for (size_t i = 0; i < named; i++)
        if (of_names(disk->operations[i].op)) change_names(names, &disk->operations[i]);
    for (int i = 0; i < NAMES_MAX; i++) {
        const char *name = names->all[i].name;
        if (!name || strchr(name, '/')) continue;
        const struct content *c = &contents[names->all[i].file];
        file_write_bytes(folder, name, c->bytes ? (const char *)c->bytes : "", c->size);
    }
    for (int f = 0; f < FILES_MAX; f++) free(contents[f].bytes);
}
