// sweetspot_runtime.c, which chooses among kernels at run time. Launches go to a fake driver (tests/launch), so that no
// GPU is needed. That they are the header's is checked by tests/test_python.c; what is chosen, refused and said, by
// tests/launch/runtime.c, compiled as C99, C++ and CUDA.
#include "tests/finished_header.h"
#include "tests/scripted.h"
#include "tests/testing.h"

static struct finished job;

static const char cubin[] = "\177ELFxyz";

static void setup(void)
{
    finished_make(&job);
    finished_decided(&job);
    finished_binary(&job, cubin, sizeof cubin, "{\"mini\":\"mini\"}");
    finished_embed(&job);
    finished_write(test_text("%s/version", job.folder), "590.44\n");
}

static void teardown(void)
{
    finished_remove(&job);
}

#define DRIVER " -DSWEETSPOT_DRIVER_FILE='\"%s/version\"'"
static const char *const compilers[] = {"gcc -std=c99" STRICT DRIVER, "g++ -std=c++11 -x c++" STRICT DRIVER,
                                        "clang -std=c99" STRICT DRIVER,
                                        "nvcc -std=c++17 -x cu -Werror all-warnings -Xcompiler -Wall,-Wextra" DRIVER};

// Builds tests/launch/runtime.c with the fake driver as a library, and runs it. Returns what it returns; -1: there is
// no such compiler.
static int build_and_run(const char *compiler)
{
    char *fake = test_text("gcc -shared -fPIC -isystem " TEST_CUDA_HOME
                           "/include tests/launch/fake_libcuda.c -o %s/libcuda.so.1 -lpthread",
                           job.folder),
         *source = test_text("tests/launch/runtime.c %s/include/sweetspot_runtime.c", job.folder);
    assert_int_equal(system(fake), 0);
    return finished_program(&job, test_text(compiler, job.folder), source,
                            test_text("-L%s -l:libcuda.so.1 -lpthread", job.folder),
                            test_text("LD_LIBRARY_PATH=%s ", job.folder));
}

TEST_WITH(the_nearest_kernel_of_the_device_is_launched_and_what_is_missing_is_said, setup, teardown)
{
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        int status = build_and_run(compilers[i]);
        if (status > 0) fail_msg("%s: the program's status is %d", compilers[i], status);
    }
    assert_null(strstr(test_owned(text_read_file(test_text("%s/include/sweetspot_runtime.c", job.folder), NULL)),
                       "getenv")); // also in a program with more rights than its user
}

TEST_WITH(only_files_of_the_user_that_match_their_hash_are_loaded, setup, teardown)
{
    static const struct {
        const char *prepare, *says; // shell, in the folder with kernels/mini.sweetspot
    } cases[] = {
        {":", "0 refused: done mini\n"},
        {"cat kernels/mini.sweetspot kernels/mini.sweetspot >k && mv k kernels/two.sweetspot; : >kernels/x.cubin",
         "0 refused: done mini\n"},
        {"chmod g+w kernels/mini.sweetspot",
         "mini.sweetspot is refused: others may write to it\n1 refused: no binary for this device \n"},
        {"chmod o+w kernels", "kernels is refused: others may write to it\n1 refused: no binary for this device \n"},
        {"mv kernels real && ln -s real kernels", "kernels is refused: Not a directory\n1 refused: no binary"},
        {"mv kernels/mini.sweetspot . && ln -s ../mini.sweetspot kernels",
         "mini.sweetspot is refused: Too many levels of symbolic links\n1 refused: no binary"},
        {"mkfifo kernels/pipe.sweetspot", "pipe.sweetspot is refused: not a regular file\n1 refused: done mini\n"},
        {"sed -i 's/^stage 0/stage 1/' kernels/mini.sweetspot",
         "mini.sweetspot is refused: it does not match its hash, or is no file of kernels\n1 refused: no binary"},
        {"sed -i 's/ELFxyz/ELFxyy/' kernels/mini.sweetspot",
         "mini.sweetspot is refused: it does not match its hash, or is no file of kernels\n1 refused: no binary"},
        {"truncate -s -1 kernels/mini.sweetspot",
         "mini.sweetspot is refused: it does not match its hash, or is no file of kernels\n1 refused: no binary"},
        {"sed -i 's/^sweetspot-kernel 1/sweetspot-kernel 2/' kernels/mini.sweetspot",
         "mini.sweetspot is refused: it does not match its hash, or is no file of kernels\n1 refused: no binary"},
        {"chown 12345 kernels/mini.sweetspot",
         "mini.sweetspot is refused: it belongs to another user\n1 refused: no binary"},
        {"chown 12345 kernels", "kernels is refused: it belongs to another user\n1 refused: no binary"},
        {"export NAME=other", "0 refused: no binary for this device \n"},
    };
    if (build_and_run(compilers[0])) fail_msg("the program cannot be built");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!strncmp(cases[i].prepare, "chown", 5) && geteuid()) continue;
        assert_int_equal(system(test_text("cd %s && umask 022 && rm -rf kernels real mini.sweetspot", job.folder)), 0);
        finished_says(&job, 0, "header JOB --store STORE --cubin %s/kernels/mini.sweetspot", job.folder);
        char *said = test_text("%s/said", job.folder);
        int status = system(test_text("cd %s && chmod go-w kernels kernels/* && %s && LD_LIBRARY_PATH=. ./program "
                                      "kernels ${NAME:-mini-gemm} 2>&1 | grep -v 'changed since' >said",
                                      job.folder, cases[i].prepare));
        assert_int_equal(status, 0);
        char *text = test_owned(text_read_file(said, NULL));
        if (strncmp(text, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("%s: %s instead of %s", cases[i].prepare, text, cases[i].says);
    }
}

TEST_MAIN(NULL, NULL)
