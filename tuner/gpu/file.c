// See file.h.
#include "tuner/gpu/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int file_read(const char *path, char **data, size_t *size, struct error *err)
{
    *data = NULL;
    if (size) *size = 0;
    FILE *f = fopen(path, "rb");
    if (!f) return error_set(err, "cannot open '%s': %s", path, strerror(errno));
    long end = -1;
    if (fseek(f, 0, SEEK_END) == 0) end = ftell(f);
    rewind(f);
    size_t bytes = end < 0 ? 0 : (size_t)end;
    *data = malloc(bytes + 1);
    bool good = *data && end >= 0 && fread(*data, 1, bytes, f) == bytes;
    fclose(f);
    if (!good) {
        free(*data);
        *data = NULL;
        return error_set(err, "cannot read '%s'", path);
    }
    (*data)[bytes] = '\0';
    if (size) *size = bytes;
    return 0;
}
