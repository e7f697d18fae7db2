// See files.h.
#include "tests/torture/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ftw.h>

#include "tuner/base/text.h"

static void give_up(const char *what, const char *path)
{
    fprintf(stderr, "torture: cannot %s '%s': %s\n", what, path, strerror(errno));
    _exit(3);
}

void file_make_folder(const char *path)
{
    if (!mkdir(path, 0777) || errno == EEXIST) return;
    autofree char *above = text_directory(path);
    if (errno == ENOENT && strcmp(above, path)) {
        file_make_folder(above);
        if (!mkdir(path, 0777) || errno == EEXIST) return;
    }
    give_up("create the folder", path);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info, (void)kind, (void)at;
    return remove(path);
}

void file_remove_folder(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void file_write_bytes(const char *folder, const char *name, const void *bytes, size_t size)
{
    autofree char *path = text_format("%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) give_up("write", path);
}

void file_write(const char *folder, const char *name, const char *text)
{
    file_write_bytes(folder, name, text, strlen(text));
}

char *file_read(const char *folder, const char *name)
{
    autofree char *path = text_format("%s/%s", folder, name);
    return text_read_file(path, NULL);
}

void file_copy(const char *folder, const char *name, const char *to)
{
    size_t size;
    autofree char *path = text_format("%s/%s", folder, name), *bytes = text_read_file(path, &size);
    if (bytes) file_write_bytes(to, name, bytes, size);
}
