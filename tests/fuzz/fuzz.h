// Shared by the harnesses: the input as a file, a folder to work in, and a check that works in every build.
//
// A harness is one function that libFuzzer calls with bytes, again and again in one process. It must free what it
// allocates, and must not depend on earlier calls. Its promise is stated at the top of its file.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Ends the harness with a finding when a promise is broken.
#define FUZZ_CHECK(condition, ...)                                                          \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: promise broken: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                                   \
            fputc('\n', stderr);                                                            \
            abort();                                                                        \
        }                                                                                   \
    } while (0)

// A file in memory with these bytes. The path is the same at every call, and remains valid until the process ends.
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size) abort();
    return path;
}

// The bytes as a string, up to the first NUL. The caller frees.
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    return strndup((const char *)data, size);
}

// A folder below $TMPDIR, created by the first call. The caller of the harness removes $TMPDIR.
static inline const char *fuzz_folder(void)
{
    static char folder[512];
    const char *temporary = getenv("TMPDIR");
    if (!*folder) {
        snprintf(folder, sizeof folder, "%s/sweetspot-fuzz-XXXXXX", temporary && *temporary ? temporary : "/tmp");
        if (!mkdtemp(folder)) abort();
    }
    return folder;
}
