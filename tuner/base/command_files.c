// See command_files.h.
#include "tuner/base/command_files.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>

#include "tuner/base/base.h"
#include "tuner/base/input_file.h"

static const char separators[] = " \t\n'\"|&;<>()$`=";

static void add_file(struct hash *h, const char *path)
{
    struct stat st;
    size_t size;
    if (stat(path, &st) || !S_ISREG(st.st_mode)) return;
    void *bytes = input_file_read(path, 0, &size, NULL);
    hash_text(h, path);
    if (bytes) hash_bytes(h, bytes, size);
    free(bytes);
}

// The part of a name from its last dot on; "" where there is none.
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
