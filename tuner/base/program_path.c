// See program_path.h.
#include "tuner/base/program_path.h"

#include "tuner/base/base.h"
#include <unistd.h>

char *program_in_folder(const char *folder, size_t length, const char *name)
{
    char *path = text_format("%.*s/%s", (int)length, folder, name);
    if (length && !access(path, X_OK)) return path;
    free(path);
    return NULL;
}

char *program_on_path(const char *name)
{
    char *found = NULL;
    for (const char *at = getenv("PATH"); at && *at && !found; at += strspn(at, ":")) {
        size_t length = strcspn(at, ":");
        found = program_in_folder(at, length, name);
        at += length;
    }
    return found;
}

char *program_of_toolkit(const char *home, const char *name)
{
    char *folder = text_join_path(home, "bin"), *found = program_in_folder(folder, strlen(folder), name);
    free(folder);
    return found;
}
