// See version.h. The driver links no CUDA library: workers say what they load.
#include "tuner/cli/version.h"

#include "tuner/base/base.h"
#include "tuner/base/installation.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/store/store.h"

// From the Makefile; "" where unknown.
#ifndef SWEETSPOT_COMMIT
#define SWEETSPOT_COMMIT ""
#endif
#ifndef SWEETSPOT_CUDA
#define SWEETSPOT_CUDA ""
#endif

static void print_known(const char *what, const char *text)
{
    printf("%-9s %s\n", what, *text ? text : "unknown");
}

// Prints the lines of `<worker> --version`, or one that says that it was not found.
static void print_worker(const char *name, const char *library)
{
    char *path = installation_program(name), *call = text_command((const char *[]){path, "--version", NULL}),
         *quiet = text_format("%s 2>/dev/null", call), line[256];
    FILE *out = popen(quiet, "re");
    bool said = false;
    while (out && fgets(line, sizeof line, out)) {
        said = true;
        fputs(line, stdout);
    }
    if (out) pclose(out);
    if (!said) printf("%-9s not found\n", library);
    free(quiet);
    free(call);
    free(path);
}

int version_print(void)
{
    printf("sweetspot " SWEETSPOT_VERSION "\n");
    printf("%-9s %s\n", "commit", *SWEETSPOT_COMMIT ? SWEETSPOT_COMMIT : "none: not built from a git checkout");
    print_known("CUDA", SWEETSPOT_CUDA);
    fflush(stdout);
    print_worker("sweetspot-compile", "NVRTC");
    print_worker("sweetspot-gpu", "cuBLAS");
    print_known("SQLite", store_library_version());
    return EXIT_DONE;
}
