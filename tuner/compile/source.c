// See source.h.
#include "tuner/compile/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"

struct closure {
    struct hash *hash;
    char *const *include;
    size_t include_count;
    size_t count;
    char **paths; // visited, in the order of their first mention
};

static int visit(struct closure *c, const char *path, char **keep, struct error *err);

// The file that `name` means when included from `from`, malloc'ed; NULL when it is not one of our files.
static char *resolve(const struct closure *c, const char *from, const char *name)
{
    char *folder = text_directory(from), *path = text_join_path(folder, name);
    free(folder);
    for (size_t i = 0; access(path, R_OK); i++) {
        free(path);
        if (i == c->include_count) return NULL;
        path = text_join_path(c->include[i], name);
    }
    return path;
}

static int visit_includes(struct closure *c, const char *path, const char *text, struct error *err)
{
    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        const char *p = line + strspn(line, " \t");
        if (*p != '#') continue;
        p += 1 + strspn(p + 1, " \t");
        if (strncmp(p, "include", 7)) continue;
        p += 7 + strspn(p + 7, " \t");
        if (*p != '"' && *p != '<') continue;
        size_t length = strcspn(p + 1, *p == '"' ? "\"\n" : ">\n");
        char *name = text_format("%.*s", (int)length, p + 1), *found = resolve(c, path, name);
        int result = found ? visit(c, found, NULL, err) : 0;
        free(found);
        free(name);
        if (result) return result;
    }
    return 0;
}

static int visit(struct closure *c, const char *path, char **keep, struct error *err)
{
    for (size_t i = 0; i < c->count; i++)
        if (!strcmp(c->paths[i], path)) return 0;
    size_t size;
    char *text = text_read_file(path, &size);
    if (!text) return error_set(err, "cannot read '%s': %s", path, strerror(errno));
    c->paths = memory_grow(c->paths, c->count + 1, sizeof *c->paths);
    c->paths[c->count++] = text_copy(path);
    hash_bytes(c->hash, &size, sizeof size);
    hash_bytes(c->hash, text, size);
    int result = visit_includes(c, path, text, err);
    if (keep)
        *keep = text;
    else
        free(text);
    return result;
}

int source_hash(const char *path, char *const *include, size_t include_count, char hash[HASH_TEXT_SIZE], char **text,
                struct error *err)
{
    struct closure c = {.hash = hash_new(), .include = include, .include_count = include_count};
    char *kept = NULL;
    int result = visit(&c, path, &kept, err);
    hash_finish(c.hash, hash);
    for (size_t i = 0; i < c.count; i++) free(c.paths[i]);
    free(c.paths);
    if (text && !result)
        *text = kept;
    else
        free(kept);
    return result;
}
