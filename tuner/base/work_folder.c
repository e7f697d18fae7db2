// See work_folder.h.
#include "tuner/base/work_folder.h"

#include "tuner/base/base.h"
#include <errno.h>
#include <ftw.h>

int work_folder_make(const char *what, char path[PATH_MAX], struct error *err)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/sweetspot-%s-XXXXXX", temporary && *temporary ? temporary : "/tmp", what);
    return mkdtemp(path) ? 0 : error_set(err, "cannot create a folder '%s': %s", path, strerror(errno));
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    remove(path);
    return 0;
}

void work_folder_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
