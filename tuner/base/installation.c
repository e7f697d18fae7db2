// See installation.h.
#include "tuner/base/installation.h"

#include "tuner/base/base.h"
#include <sched.h>
#include <unistd.h>

// The folder of this program's executable, or NULL.
static char *own_folder(void)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return NULL;
    self[n] = 0;
    return text_directory(self);
}

// The path `folder`/`relative`/`name`, malloc'ed; NULL if it does not exist.
static char *existing(const char *folder, const char *relative, const char *name)
{
    autofree char *beside = text_format("%s/%s", relative, name);
    char *path = text_join_path(folder, beside);
    if (!access(path, F_OK)) return path;
    free(path);
    return NULL;
}

char *installation_program(const char *name)
{
    autofree char *folder = own_folder();
    if (!folder) return text_copy(name);
    char *path = existing(folder, "../libexec/sweetspot", name);
    return path ? path : text_join_path(folder, name); // built, not installed; if it is missing, starting it fails
}

char *installation_worker(const char *variable, const char *name)
{
    const char *given = getenv(variable);
    return given && *given ? text_copy(given) : installation_program(name);
}

char *installation_headers(void)
{
    // Paths from the folders of a worker, of the driver, and of a program that was built but not installed.
    static const char *const places[] = {"../../include/sweetspot", "../include/sweetspot", "../../kernels"};
    autofree char *folder = own_folder(), *header = NULL;
    for (size_t i = 0; folder && i < sizeof places / sizeof *places && !header; i++)
        header = existing(folder, places[i], "sweetspot_reference.h");
    return header ? text_directory(header) : NULL;
}

// The folder with `configs` and `templates`, or NULL.
static char *data_folder(void)
{
    autofree char *folder = own_folder();
    char *path = folder ? existing(folder, "../share", "sweetspot") : NULL;
    if (path || !folder) return path;
    autofree char *templates = existing(folder, "../..", "templates"); // seen from out/bin
    return templates ? text_directory(templates) : NULL;
}

char *installation_data(const char *name)
{
    autofree char *folder = data_folder();
    return folder ? existing(folder, ".", name) : NULL;
}

int64_t installation_cores(void)
{
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) return CPU_COUNT(&set);
    long cores = sysconf(_SC_NPROCESSORS_ONLN); // there are more cores than the set has room for
    return cores < 1 ? 1 : cores;
}
