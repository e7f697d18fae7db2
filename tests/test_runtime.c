// sweetspot_runtime.c, which chooses among kernels at run time. Launches go to a fake driver (tests/launch), so that no
// GPU is needed. tests/test_python.c checks that these launches equal the header's. tests/launch/runtime.c, compiled as
// C99, C++ and CUDA, checks choices, refusals and messages.
#include "tests/finished_header.h"
#include "tests/loaded_job.h"
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
static const char *const compilers[] = {("gcc -std=c99" STRICT DRIVER), ("g++ -std=c++11 -x c++" STRICT DRIVER),
                                        ("g++ -std=c++20 -x c++" STRICT DRIVER), ("clang -std=c99" STRICT DRIVER),
                                        ("nvcc -std=c++17 -x cu -Werror all-warnings -Xcompiler -Wall,-Wextra" DRIVER)};

// Builds tests/launch/runtime.c with the fake driver as a library, and runs it. Returns the program's exit status, or
// -1 if there is no such compiler.
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
                       "getenv")); // programs may have more rights than their users
}

TEST_WITH(only_files_of_the_user_that_match_their_hash_are_loaded, setup, teardown)
{
    static const struct {
        const char *prepare, *says; // prepare: shell, in the folder with kernels/mini.sweetspot
    } cases[] = {
        {":", "0 refused: done mini\n"},
        {"cat kernels/mini.sweetspot kernels/mini.sweetspot >k && mv k kernels/two.sweetspot; : >kernels/x.cubin",
         "0 refused: done mini\n"},
        {"chmod g+w kernels/mini.sweetspot",
         "mini.sweetspot is refused: others may write to it\n1 refused: no binary for this device \n"},
        {"chmod o+w kernels", "kernels is refused: others may write to it\n1 refused: no binary for this device \n"},
        {"mv kernels real && ln -s real kernels", "kernels is refused: Not a directory\n1 refused: no binary"},
        {"mv kernels real && ln -s real kernels && export FOLDER=kernels//",
         "kernels// is refused: Not a directory\n1 refused: no binary"},
        {"export FOLDER=kernels/", "0 refused: done mini\n"},
        {"mv kernels/mini.sweetspot . && ln -s ../mini.sweetspot kernels",
         "mini.sweetspot is refused: Too many levels of symbolic links\n1 refused: no binary"},
        {"mkfifo kernels/pipe.sweetspot", "pipe.sweetspot is refused: not a regular file\n1 refused: done mini\n"},
        {"sed -i 's/^stage 0/stage 1/' kernels/mini.sweetspot",
         "mini.sweetspot is refused: it does not match its hash, or it is not a file of kernels\n1 refused: no binary"},
        {"sed -i 's/ELFxyz/ELFxyy/' kernels/mini.sweetspot",
         "mini.sweetspot is refused: it does not match its hash, or it is not a file of kernels\n1 refused: no binary"},
        {"truncate -s -1 kernels/mini.sweetspot",
         "mini.sweetspot is refused: it does not match its hash, or it is not a file of kernels\n1 refused: no binary"},
        {"sed -i 's/^sweetspot-kernel 1/sweetspot-kernel 2/' kernels/mini.sweetspot",
         "mini.sweetspot is refused: it does not match its hash, or it is not a file of kernels\n1 refused: no binary"},
        {"chown 12345 kernels/mini.sweetspot",
         "mini.sweetspot is refused: it belongs to another user\n1 refused: no binary"},
        {"chown 12345 kernels", "kernels is refused: it belongs to another user\n1 refused: no binary"},
        {"export NAME=other", "0 refused: no binary for this device \n"},
    };
    if (build_and_run(compilers[0])) fail_msg("the program cannot be built");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!strncmp(cases[i].prepare, "chown", 5) && geteuid()) continue;
        assert_int_equal(system(test_text("cd %s && umask 022 && rm -rf kernels real mini.sweetspot", job.folder)), 0);
        finished_says(&job, 0, "header JOB --store STORE -o %s/kernels/mini.sweetspot", job.folder);
        char *said = test_text("%s/said", job.folder);
        int status = system(test_text("cd %s && chmod go-w kernels kernels/* && %s && LD_LIBRARY_PATH=. ./program "
                                      "${FOLDER:-kernels} ${NAME:-mini-gemm} 2>&1 | grep -v 'changed since' >said",
                                      job.folder, cases[i].prepare));
        assert_int_equal(status, 0);
        char *text = test_owned(text_read_file(said, NULL));
        if (strncmp(text, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("%s: %s instead of %s", cases[i].prepare, text, cases[i].says);
    }
}

// The runtime writes missed sizes to a file, which `tune` reads.
TEST_WITH(sizes_that_were_missed_are_tuned_next, setup, teardown)
{
    if (build_and_run(compilers[0])) fail_msg("the program cannot be built");
    finished_says(&job, 0, "header JOB --store STORE -o %s/k/mini.sweetspot", job.folder);
    assert_int_equal(system(test_text("cd %s && chmod go-w k k/* && for i in 1 2; do LD_LIBRARY_PATH=. ./program k "
                                      "mini-gemm >said 2>&1 || exit; done",
                                      job.folder)),
                     0);
    char *missed = test_text("%s/k/missed", job.folder);
    assert_string_equal(test_owned(text_read_file(missed, NULL)), "M=4096,N=64\nM=512,N=64\n");
    // Status 3: no GPU worker can start here.
    char *err = finished_says(&job, 3, "tune JOB --store STORE --shapes %s", missed).err;
    assert_contains(err, test_text("the job for these sizes is %s/mini_shapes.cfg\n", job.folder));
    struct job *shapes = loaded_job(test_text("%s/mini_shapes.cfg", job.folder));
    assert_string_equal(shapes->name, "mini-gemm_shapes");
    assert_int_equal(shapes->tuned_count, 2);
    assert_string_equal(shapes->problems[0].name, "M=4096,N=64");
    assert_string_equal(shapes->problems[1].name, "M=512,N=64");
}

TEST(a_job_is_tuned_for_the_sizes_of_a_file)
{
    char *folder = e2e_folder("shapes");
    SCRIPTED_JOB(folder, .parameters = "{ name = \"X\"; values = [6, 7]; }",
                 .more = "budget = { time = \"1e9s\"; evaluations = 2; }; measure = { timeout = \"60s\"; };");
    e2e_write(folder, "missed", "# of May\nN=512\n\n N=640 # often\nN=512\n");
    for (int again = 0; again < 2; again++) {
        struct e2e_result r = scripted_tune(folder, "", "--shapes missed");
        if (r.status) fail_msg("status %d: %s%s", r.status, r.out, r.err);
    }
    struct e2e_result r = e2e_passed(e2e_in(folder, "$BIN/sweetspot export job_shapes.cfg --store job.db"));
    assert_contains(r.out, "N=512", "N=640");
    assert_null(strstr(r.out, "1024"));
}

TEST(mistakes_in_a_file_of_sizes_have_their_line)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"N=512\nM=5\n", "missed:2: the job has no size 'M'"},
        {"N=0\n", "missed:1: the size 'N' must be a positive integer, not '0'"},
        {"N=5x\n", "missed:1: the size 'N' must be a positive integer, not '5x'"},
        {"N=99999999999999999999\n", "must be a positive integer, not '99999999999999999999'"},
        {"512\n", "missed:1: '512' is not NAME=NUMBER"},
        {"N=1,N=2\n", "missed:1: the size 'N' has two values"},
        {",\n", "missed:1: the size 'N' is missing"},
        {"# nothing\n", "'missed' has no sizes; it needs lines such as N=1024"},
    };
    char *folder = e2e_folder("shapes_wrong");
    SCRIPTED_JOB(folder, .parameters = "{ name = \"X\"; values = [6, 7]; }");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        e2e_write(folder, "missed", cases[i].text);
        struct e2e_result r = scripted_tune(folder, "", "--shapes missed");
        assert_int_equal(r.status, 2);
        assert_contains(r.err, cases[i].message);
    }
    e2e_pass(folder, "test ! -e $DIR/job_shapes.cfg && seq 70 | sed 's/^/N=/' >$DIR/missed");
    assert_contains(scripted_tune(folder, "", "--shapes missed").err, "missed:65: more than 64 problems");
    assert_contains(scripted_tune(folder, "", "--shapes none").err, "cannot read 'none'");
    assert_contains(scripted_tune(folder, "", "--shapes missed job.cfg").err, "--shapes works with one job file only");
    e2e_write(folder, "job_shapes.cfg", "name = \"mine\";\n");
    e2e_write(folder, "missed", "N=5\n");
    assert_contains(scripted_tune(folder, "", "--shapes missed").err,
                    "'job_shapes.cfg' was not written by --shapes and is not replaced");
}

TEST_MAIN(NULL, NULL)
