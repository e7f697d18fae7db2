// See library.h.
#include "tuner/libraries/library.h"

#include <assert.h>
#include <dlfcn.h>
#include <limits.h>

static_assert(sizeof(void *) == sizeof(void (*)(void)), "dlsym returns functions as pointers to data");

void *library_open(const char *name, bool toolkit, bool global, struct error *err)
{
    int flags = RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL);
    void *library = dlopen(name, flags);
    const char *words = library ? NULL : dlerror();
    error_set(err, "%s", words ? words : ""); // more helpful than the message for the last folder
    const char *roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    const char *folders[] = {"lib64", "extras/CUPTI/lib64", "lib"};
    enum { FOLDERS = sizeof folders / sizeof *folders, PLACES = FOLDERS * sizeof roots / sizeof *roots };
    for (size_t i = 0; toolkit && i < PLACES && !library; i++) {
        char path[PATH_MAX];
        const char *root = roots[i / FOLDERS];
        if (!root || snprintf(path, sizeof path, "%s/%s/%s", root, folders[i % FOLDERS], name) >= PATH_MAX) continue;
        library = dlopen(path, flags);
    }
    return library;
}

static void *find(void *library, const struct library_symbol *symbol)
{
    void *found = dlsym(library, symbol->name);
    return found || !symbol->older ? found : dlsym(library, symbol->older);
}

int library_find(void *library, const struct library_symbol *symbols, size_t count, void *table, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!find(library, &symbols[i])) return error_set(err, "%s", symbols[i].name);
    for (size_t i = 0; i < count; i++) {
        void *found = find(library, &symbols[i]);
        memcpy((char *)table + i * sizeof found, &found, sizeof found);
    }
    return 0;
}
