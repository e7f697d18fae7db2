// See cache.h.
#include "tuner/compile/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/output_file.h"
#include "tuner/base/text.h"

char *cache_path(const char *folder, const char *key, const char *suffix)
{
    return text_format("%s/%.2s/%s%s", folder, key, key, suffix);
}

json_t *cache_find(const char *folder, const char *key)
{
    char *cubin = cache_path(folder, key, ".cubin"), *figures = cache_path(folder, key, ".json");
    json_t *found = access(cubin, R_OK) ? NULL : json_load_file(figures, 0, NULL);
    free(cubin);
    free(figures);
    return found;
}

static int write_renamed(const char *path, const void *data, size_t size, struct error *err)
{
    char *temporary = text_format("%s.%ld", path, (long)getpid());
    int result = -1, fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) {
        error_set(err, "cannot write '%s': %s", temporary, strerror(errno));
        goto out;
    }
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, (const char *)data + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            error_set(err, "cannot write '%s': %s", temporary, strerror(errno));
            close(fd);
            unlink(temporary);
            goto out;
        }
        done += (size_t)n;
    }
    if (close(fd) || rename(temporary, path)) {
        error_set(err, "cannot write '%s': %s", path, strerror(errno));
        unlink(temporary);
        goto out;
    }
    result = 0;
out:
    free(temporary);
    return result;
}

int cache_add(const char *folder, const char *key, const void *cubin, size_t size, const json_t *figures,
              struct error *err)
{
    char *cubin_path = cache_path(folder, key, ".cubin"), *figures_path = cache_path(folder, key, ".json");
    char *text = json_dumps(figures, JSON_COMPACT);
    int result = -1;
    if (!text)
        error_set(err, "out of host memory");
    else if (!output_make_folders(cubin_path, err) && !write_renamed(cubin_path, cubin, size, err))
        result = write_renamed(figures_path, text, strlen(text), err);
    free(cubin_path);
    free(figures_path);
    free(text);
    return result;
}
