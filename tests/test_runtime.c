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

#define DRIVER_FILE " -DSWEETSPOT_DRIVER_FILE='\"%2$s/version\"'"
static const char *const compilers[] = {
    "gcc -std=c99" STRICT DRIVER_FILE, "g++ -std=c++11 -x c++" STRICT DRIVER_FILE, "clang -std=c99" STRICT DRIVER_FILE,
    "nvcc -std=c++17 -x cu -Werror all-warnings -Xcompiler -Wall,-Wextra" DRIVER_FILE};

// Builds the program with this compiler, and the fake driver as a library. -1: there is no such compiler.
static int program(const char *compiler, const char *run, const char *arguments)
{
    char *fake = test_text("gcc -shared -fPIC -isystem " TEST_CUDA_HOME
                           "/include tests/launch/fake_libcuda.c -o %1$s/libcuda.so.1 -lpthread",
                           job.folder),
         *libraries = test_text("-L%1$s -l:libcuda.so.1 -lpthread", job.folder),
         *source = test_text("tests/launch/runtime.c %s/include/sweetspot_runtime.c", job.folder);
    assert_int_equal(system(fake), 0);
    autofree char *whole = text_format("%1$s"
                                       "",
                                       test_text(compiler, "", job.folder));
    char *start = test_text("%s LD_LIBRARY_PATH=%s ", run, job.folder);
    (void)arguments;
    return finished_program(&job, whole, source, libraries, start);
}

TEST_WITH(the_nearest_kernel_of_the_device_is_launched_and_what_is_missing_is_said, setup, teardown)
{
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        int status = program(compilers[i], "", "");
        if (status > 0) fail_msg("%s: the program's status is %d", compilers[i], status);
    }
}

TEST_MAIN(NULL, NULL)
