// See work_folder.h.
#include "tuner/base/work_folder.h"

#include "tuner/base/base.h"
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

int work_folder_make(const char *what, char path[PATH_MAX], struct error *err)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/sweetspot-%s-XXXXXX", temporary && *temporary ? temporary : "/tmp", what);
    return mkdtemp(path) ? 0 : error_set(err, "cannot create a folder '%s': %s", path, strerror(errno));
}

void work_folder_remove(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *file; dir && (file = readdir(dir));) {
        char inside[PATH_MAX];
        struct stat st;
        if (!strcmp(file->d_name, ".") || !strcmp(file->d_name, "..")) continue;
        if (snprintf(inside, sizeof inside, "%s/%s", path, file->d_name) >= PATH_MAX || lstat(inside, &st)) continue;
        if (S_ISDIR(st.st_mode))
            work_folder_remove(inside);
        else
            unlink(inside);
    }
    if (dir) closedir(dir);
    rmdir(path);
}
