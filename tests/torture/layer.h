// Shared by the layers between the driver and the C library (LD_PRELOAD): recognises calls that concern a file of the
// run, and finds the functions that the layers replace. The workers inherit the layers but are not affected.
#pragma once

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEHIND(name) ((__typeof__(&name))layer_behind(#name))

static inline void *layer_behind(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

// $TORTURE_FOLDER, absolute; NULL: this process is not affected.
static inline const char *layer_folder(void)
{
    static const char *folder;
    static bool asked;
    if (!asked) {
        asked = true;
        folder = strcmp(program_invocation_short_name, "sweetspot") ? NULL : getenv("TORTURE_FOLDER");
    }
    return folder;
}

// Returns the path relative to the folder, or NULL if the path lies elsewhere. `room` holds the returned string.
static inline const char *layer_path(const char *path, char room[PATH_MAX])
{
    const char *folder = layer_folder();
    if (!folder || !path) return NULL;
    if (path[0] != '/' && !getcwd(room, PATH_MAX)) return NULL;
    size_t used = path[0] == '/' ? 0 : strlen(room);
    if (snprintf(room + used, PATH_MAX - used, "%s%s", used ? "/" : "", path) >= (int)(PATH_MAX - used)) return NULL;
    size_t length = strlen(folder);
    if (strncmp(room, folder, length) || (room[length] != '/' && room[length])) return NULL;
    return room[length] ? room + length + 1 : ".";
}

// Like layer_path, for a descriptor; uses the present name of its file.
static inline const char *layer_file(int fd, char room[PATH_MAX])
{
    char link[64], target[PATH_MAX];
    if (!layer_folder()) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, target, sizeof target - 1);
    if (n <= 0 || target[0] != '/') return NULL;
    target[n] = 0;
    return layer_path(target, room);
}
