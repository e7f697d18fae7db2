// examples/foreign: job files for other projects' kernels, whose sources fetch.sh copies. If the sources are missing,
// the tests of these jobs are skipped. The scripts are tested with a repository and a program made here.
#include <glob.h>

#include "tests/e2e.h"
#include "tests/testing.h"

#define FOREIGN "examples/foreign"

// Returns the first missing source that a job file names (malloc'ed), or NULL if all sources exist.
static char *missing_source(const char *text)
{
    for (const char *at = text; (at = strstr(at, "sources/")); at++) {
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-");
        while (length && strchr(".-/", at[length - 1])) length--;
        char *path = test_text(FOREIGN "/%.*s", (int)length, at);
        if (access(path, F_OK)) return path;
    }
    return NULL;
}

// Checks the jobs that use a project's sources.
static void check_project(const char *project)
{
    glob_t jobs;
    char *folder = e2e_folder("foreign"), *of = test_text("sources/%s/", project);
    size_t here = 0, all = 0;
    assert_int_equal(glob(FOREIGN "/*.cfg", 0, NULL, &jobs), 0);
    for (size_t i = 0; i < jobs.gl_pathc; i++) {
        char *text = test_file("%s", jobs.gl_pathv[i]);
        char *missing = missing_source(text);
        bool ours = strstr(text, of);
        all += ours;
        if (ours && !missing) {
            struct e2e_result r = e2e_run(folder, "$BIN/sweetspot check '%s' --compile 0", jobs.gl_pathv[i]);
            if (r.status || *r.err || !strstr(r.out, "no mistakes found"))
                fail_msg("check %s: %s%s", jobs.gl_pathv[i], r.out, r.err);
            here++;
        }
    }
    globfree(&jobs);
    assert_true(all);
    if (here < all) skip();
}

TEST(jobs_for_kernel_tuner_s_kernels_are_sound)
{
    check_project("kernel_tuner");
}

TEST(jobs_for_ktt_s_kernels_are_sound)
{
    check_project("KTT");
}

TEST(jobs_for_llm_c_s_kernels_are_sound)
{
    check_project("llm.c");
}

TEST(jobs_for_the_cuda_samples_are_sound)
{
    check_project("cuda-samples");
}

TEST(jobs_for_sgemm_cuda_s_kernels_are_sound)
{
    check_project("SGEMM_CUDA");
}

TEST(jobs_for_abacus_s_kernels_are_sound)
{
    check_project("abacus-develop");
}

TEST(every_job_is_described_and_has_its_author_s_configuration)
{
    glob_t jobs;
    char *readme = test_file("%s", FOREIGN "/README.md");
    assert_int_equal(glob(FOREIGN "/*.cfg", 0, NULL, &jobs), 0);
    assert_true(jobs.gl_pathc >= 14);
    for (size_t i = 0; i < jobs.gl_pathc; i++) {
        const char *path = jobs.gl_pathv[i], *name = strrchr(path, '/') + 1;
        char *text = test_file("%s", path), *row = test_text("\n| `%.*s` |", (int)(strlen(name) - 4), name);
        if (!strstr(readme, row)) fail_msg("README.md has no row '%s'", row + 1);
        if (!strstr(text, "\ncurrent = {")) fail_msg("%s has no 'current'", path);
        if (!strstr(text, "\nreference = {")) fail_msg("%s has no 'reference'", path);
        if (!strstr(text, "\nbudget = {")) fail_msg("%s has no 'budget'", path);
    }
    globfree(&jobs);
}

// A repository with two commits, and a README.md whose table names the first commit.
static const char make_repository[] =
    "cd %s && mkdir -p clones/one/src home && cp $OLDPWD/" FOREIGN "/fetch.sh home && cd clones/one && git init -q && "
    "G='git -c user.name=a -c user.email=a@b.c commit -qm x' && printf 'old' >src/a-b.cu && echo h >src/c.h && "
    "git add . && $G && OLD=$(git rev-parse HEAD) && printf 'new' >src/a-b.cu && git add . && $G && cd ../../home && "
    "printf '| `one` | https://x.example/one | `%%s` | MIT |\\n' $OLD >README.md && "
    "echo 'kernel = { template = \"sources/one/src/a-b.cu\"; }; // and sources/one/src/c.h.' >job.cfg && ";

TEST(sources_are_copied_unchanged_from_the_commit_of_the_table)
{
    static const struct {
        const char *command;
        int status;
        const char *out, *err;
    } cases[] = {
        {"sh fetch.sh ../clones && cat sources/one/src/a-b.cu sources/one/src/c.h", 0, "oldh\n", NULL},
        {"mv ../clones/one ../clones/two; ONE=../clones/two sh fetch.sh && cat sources/one/src/a-b.cu", 0, "old", NULL},
        {"mv ../clones/one ../clones/one.git; mkdir ../clones/one; mv ../clones/one.git/.git ../clones/one; "
         "sh fetch.sh ../clones && cat sources/one/src/a-b.cu",
         0, "old", NULL}, // a clone without a work tree
        {"sh fetch.sh /nowhere", 1, NULL, "one: no clone in '/nowhere/one': git clone https://x.example/one\n"},
        {"sed -i s/a-b/none/ job.cfg; sh fetch.sh ../clones; test ! -e sources/one/src/none.cu.part && exit 1", 1, NULL,
         "one: cannot read src/none.cu of commit "},
        {"sh fetch.sh --help", 2, NULL, "examples/foreign/fetch.sh CLONES"},
    };
    if (system("command -v git >/dev/null 2>&1")) skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = e2e_folder("fetch"), *make = test_text(make_repository, folder);
        struct e2e_result r = e2e_run(folder, "%s %s", make, cases[i].command);
        if (r.status != cases[i].status) fail_msg("%s: status %d, %s%s", cases[i].command, r.status, r.out, r.err);
        if (cases[i].out) assert_contains(r.out, cases[i].out);
        if (cases[i].err) assert_contains(r.err, cases[i].err);
    }
}

// A program that answers as sweetspot does after tuning: job a has become faster, job b failed, and job c has no winner
// and a wrong current kernel.
static const char program[] =
    "#!/bin/sh\n"
    "job=$(basename $2 .cfg)\n"
    "echo \"$@\" >>calls\n"
    "case $1.$job in\n"
    "tune.b) echo 'no device'; exit 3;;\n"
    "compare.a) echo '{\"problems\":[{\"entries\":["
    "{\"name\":\"candidate\",\"winner\":false,\"ok\":true,\"time\":[0.003,0,0],\"ratio\":[null,null,null]},"
    "{\"name\":\"candidate\",\"winner\":true,\"ok\":true,\"time\":[0.0002,0,0],\"ratio\":[null,null,null]},"
    "{\"name\":\"current\",\"winner\":false,\"ok\":true,\"time\":[0.0005,0,0],\"ratio\":[2.5,2.25,2.75]}]}]}';;\n"
    "compare.c) echo '{\"problems\":[{\"entries\":[{\"name\":\"current\",\"winner\":false,\"ok\":false,"
    "\"reason\":\"wrong\",\"time\":[null,null,null],\"ratio\":[null,null,null]}]}]}';;\n"
    "compare.*) echo 'no final' >&2; exit 1;;\n"
    "status.a) echo '{\"trials\":{\"ok\":40,\"wrong\":2,\"slow\":3},\"trials_total\":45}';;\n"
    "status.c) echo '{\"trials\":{\"wrong\":5}}';;\n"
    "esac\n";

TEST(the_table_has_a_row_for_every_job_whose_sources_are_there)
{
    char *folder = e2e_folder("tune_all");
    e2e_write(folder, "sweetspot", program);
    struct e2e_result r =
        e2e_run(folder, "cp " FOREIGN "/tune_all.sh $DIR && cd $DIR && chmod +x sweetspot && touch a.cfg b.cfg c.cfg "
                        "&& echo '\"sources/x/y.cu\"' >d.cfg && TIME=3s BIN=$PWD sh tune_all.sh logs");
    assert_int_equal(r.status, 1);
    assert_contains(r.err, "d: left out, sources/x/y.cu is not there: run fetch.sh\n",
                    "b: tune ended with 3, see logs/b.log\n");
    assert_contains(r.out,
                    "a                                  500.00       200.00  2.500 [2.250, 2.750]   ok             45 ",
                    "s  2 wrong\n",
                    "b                                       -            -  -                      no winner       0 ",
                    "s  author: wrong  5 wrong\n");
    assert_null(strstr(r.out, "\nd "));
    r = e2e_passed(e2e_in(folder, "BIN=$PWD sh tune_all.sh logs a && cat calls logs/b.log logs/table.txt"));
    assert_contains(r.out, "/a.cfg --time 3s --store logs/a.db --cache logs/cache --quiet --no-counters --no-checks\n",
                    "/a.cfg --store logs/a.db --cache", "no device");
}

TEST_MAIN(NULL, NULL)
