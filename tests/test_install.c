// The result of `make install` is moved to another folder as a whole. Programs find each other and their files, a job's
// results are found from any folder, and a CMake project builds with a header. The tests run outside the project, so
// that none of its files are found by chance.
#include "tests/e2e.h"
#include "tests/testing.h"

#include "tuner/base/hash.h"
#include "tuner/base/installation.h"
#include "tuner/cli/commands.h"
#include "tuner/source/source.h"

static char folder[] = "/tmp/sweetspot-install-XXXXXX", *project, *prefix;

// The programs are already built, and the settings of the calling make are not wanted here.
static struct e2e_result make(const char *target)
{
    return e2e_run(folder,
                   "umask 077; env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -o all %s BIN=\"$BIN\" PREFIX=/opt/spot "
                   "DESTDIR=$DIR CHARTS=$DIR/charts",
                   target);
}

static void setup(void)
{
    assert_non_null(mkdtemp(folder));
    project = getcwd(NULL, 0);
    prefix = text_format("%s/opt/spot", folder);
    // A stand-in for the report page's libraries.
    e2e_run(folder, "mkdir $DIR/charts && cd $DIR/charts && echo 'charts()' >libraries.js && echo licence >LICENSES");
    e2e_passed(make("install"));
}

static void teardown(void)
{
    e2e_run("/tmp", "rm -rf %s", folder);
    free(project);
    free(prefix);
}

// Runs a command in a subfolder of the test's folder; $S is the installed program.
#define INSTALLED(name, format, ...)                                                                                   \
    e2e_run(folder, "mkdir -p %s/%s && cd %s/%s && S=%s/bin/sweetspot && " format, folder, name, folder, name, prefix, \
            ##__VA_ARGS__)

static void expect_done(struct e2e_result *r)
{
    if (r->status) fail_msg("status %d: %s%s", r->status, r->out, r->err);
}

TEST(everything_is_where_others_look_for_it)
{
    static const char *const files[] = {"bin/sweetspot",
                                        "libexec/sweetspot/sweetspot-gpu",
                                        "libexec/sweetspot/sweetspot-compile",
                                        "libexec/sweetspot/sweetspot-replay",
                                        "libexec/sweetspot/sweetspot-node",
                                        "include/sweetspot/sweetspot_reference.h",
                                        "include/sweetspot/sweetspot_baseline.h",
                                        "share/sweetspot/templates/gemm_simt.cu",
                                        "share/sweetspot/templates/gemm_simt/ring.cuh",
                                        "share/sweetspot/templates/device/ptx.cuh",
                                        "share/sweetspot/configs/sgemm.inc",
                                        "share/sweetspot/configs/suite/fp32_129.cfg",
                                        "share/man/man1/sweetspot.1",
                                        "share/man/man1/sweetspot-tune.1",
                                        "share/doc/sweetspot/docs/header.md",
                                        "share/doc/sweetspot/examples/driver_embedded.c",
                                        "share/bash-completion/completions/sweetspot",
                                        "share/zsh/site-functions/_sweetspot",
                                        "share/fish/vendor_completions.d/sweetspot.fish",
                                        "share/sweetspot/report/libraries.js",
                                        "share/sweetspot/report/LICENSES",
                                        "share/doc/sweetspot/docs/json.md",
                                        "share/pkgconfig/sweetspot.pc",
                                        "share/cmake/sweetspot/sweetspotConfig.cmake"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct e2e_result r = e2e_run(folder, "test -s %s/%s", prefix, files[i]);
        if (r.status) fail_msg("%s is not there, or empty", files[i]);
    }
    e2e_pass(folder,
             "cd %s/share; ! grep -r '@[A-Z]*@' pkgconfig cmake; grep -x 'prefix=/opt/spot' pkgconfig/sweetspot.pc "
             "&& ../bin/sweetspot completion bash | cmp - bash-completion/completions/sweetspot && ../bin/sweetspot "
             "completion fish | cmp - fish/vendor_completions.d/sweetspot.fish",
             prefix);
}

TEST(man_finds_the_page_of_a_command)
{
    struct e2e_result r = e2e_run(
        folder, "command -v man >/dev/null || exit 77; man -M %s/share/man -P cat sweetspot-tune | tr -s ' \n' ' '",
        prefix);
    if (r.status == 77 || strstr(r.out, "has been minimized")) skip(); // in a container, `man` may show no pages
    assert_contains(r.out, "SWEETSPOT-TUNE(1)", "how long the command may take");
    expect_done(&r);
}

// The tarball has a commit's sources, which are complete and do not need git.
TEST(the_tarball_has_what_the_commit_has)
{
    struct e2e_result r =
        e2e_run(folder, "git rev-parse HEAD >/dev/null 2>&1 || exit 77; tar=$(make dist) && tar xzf "
                        "$tar -C $DIR && git ls-tree -r --name-only HEAD | sort >$DIR/committed && (cd "
                        "$DIR/sweetspot-*/ && find . -type f -o -type l | sed 's|^\\./||' | sort | "
                        "cmp - ../committed && make -n out/bin/sweetspot >/dev/null); s=$?; rm -rf "
                        "$DIR/sweetspot-*/; exit $s");
    if (r.status == 77) skip();
    expect_done(&r);
}

// Installation ran with a umask that excludes other users.
TEST(everybody_can_read_it)
{
    struct e2e_result r = e2e_run(folder, "find $DIR/opt ! -perm -004; find $DIR/opt -type d ! -perm -005");
    assert_string_equal(r.out, "");
    expect_done(&r);
}

TEST(the_documents_find_each_other)
{
    struct e2e_result r =
        e2e_run(folder,
                "cd %s/share/doc/sweetspot; for file in *.md docs/*.md; do grep -o ']([^)]*)' $file | grep -v '://' | "
                "sed 's/^](//; s/[#)].*//' | while read -r to; do echo $file; test -e $(dirname $file)/$to || echo "
                "$file: $to >&2; done; done",
                prefix);
    assert_contains(r.out, "README.md\n");
    assert_string_equal(r.err, "");
}

TEST(pkg_config_knows_it)
{
    struct e2e_result r =
        e2e_run(folder,
                "command -v pkg-config >/dev/null || exit 77; export PKG_CONFIG_PATH=%s/share/pkgconfig; pkg-config "
                "--modversion sweetspot; pkg-config --variable=templatesdir sweetspot; %s/bin/sweetspot --version",
                prefix, prefix);
    if (r.status == 77) skip();
    char version[32] = "";
    const char *printed = strstr(r.out, "\nsweetspot ");
    assert_non_null(printed);
    sscanf(printed, "\nsweetspot %31s", version);
    assert_int_equal(strncmp(r.out, version, strlen(version)), 0);
    assert_contains(r.out, "\n/opt/spot/share/sweetspot/templates\n");
}

TEST(every_file_names_the_version_of_the_program)
{
    const char *version = SWEETSPOT_VERSION, *date = SWEETSPOT_DATE;
    char *minor = test_text("%.*s", (int)(strrchr(version, '.') - version), version);
    const struct {
        const char *path, *text;
    } places[] = {
        {"CITATION.cff", test_text("\nversion: \"%s\"\ndate-released: \"%s\"\n", version, date)},
        {"README.md", test_text("\n**Version** %s,", version)},
        {"CHANGELOG.md", test_text("\n## %s (%s)\n", version, date)},
        {"SECURITY.md", test_text("\n| %s | yes |\n", minor)},
        {"examples/cmake/CMakeLists.txt", test_text("find_package(sweetspot %s ", minor)},
        {"tuner/node/node_message.h", test_text("{\"version\":\"%s\"", version)},
        {"opt/spot/share/pkgconfig/sweetspot.pc", test_text("\nVersion: %s\n", version)},
        {"opt/spot/share/man/man1/sweetspot-tune.1", test_text("\"%s\" \"sweetspot %s\"", date, version)},
        {"opt/spot/share/cmake/sweetspot/sweetspotConfigVersion.cmake", test_text("VERSION \"%s\"", version)},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bool installed = !strncmp(places[i].path, "opt/", 4);
        char *text = test_file("%s/%s", installed ? folder : project, places[i].path);
        if (!strstr(text, places[i].text)) fail_msg("%s does not have: %s", places[i].path, places[i].text);
    }
}

TEST(cmake_accepts_this_version_for_older_ones_of_the_same_major_version)
{
    struct e2e_result r = e2e_run(
        folder,
        "command -v cmake >/dev/null || exit 77; cd %s/share/cmake/sweetspot && for v in 1.0 1.0.0 0.9 1.999 2.0; "
        "do { echo \"set(PACKAGE_FIND_VERSION $v)\"; echo \"set(PACKAGE_FIND_VERSION_MAJOR ${v%%%%.*})\"; "
        "cat sweetspotConfigVersion.cmake; echo 'message(\"${PACKAGE_VERSION_COMPATIBLE}\")'; } >$DIR/try.cmake; "
        "cmake -P $DIR/try.cmake 2>&1; done",
        prefix);
    if (r.status == 77) skip();
    assert_string_equal(r.out, "TRUE\nTRUE\nFALSE\nFALSE\nFALSE\n");
}

TEST(installed_programs_find_each_other_and_the_jobs)
{
    struct e2e_result r =
        INSTALLED("work",
                  "$S check configs/sgemm_2048.cfg && $S list space configs/suite/fp32_129.cfg && $S tune "
                  "configs/sgemm_2048.cfg --device replay:%s/tests/spaces/sgemm_2048_h200.json.gz -n "
                  "20 -q && ls out/sgemm_2048.db && $S header configs/sgemm_2048.cfg",
                  project);
    assert_contains(r.out, "no mistakes found", "out/include/sgemm_2048_best.h");
    expect_done(&r);
    r = INSTALLED("work", "$S report && cat report.html");
    assert_contains(r.out, "\ncharts()\n");
    expect_done(&r);
    r = INSTALLED("work",
                  "sed 's|../templates/||' %s/share/sweetspot/configs/example.cfg >mine.cfg; $S "
                  "check mine.cfg; $S check configs/nosuch.cfg",
                  prefix);
    assert_contains(r.out, "mine.cfg: job 'example'");
    assert_int_equal(r.status, 2);
    assert_contains(r.err, "configs/nosuch.cfg: cannot read");
    r = e2e_ended(2, INSTALLED("work", "sed -i 's|axpy.cu|nosuch.cu|' mine.cfg; $S check mine.cfg"));
    assert_contains(r.err, "cannot read template 'nosuch.cu'");
}

TEST(a_jobs_results_are_found_from_any_folder)
{
    struct e2e_result r =
        INSTALLED("p",
                  "mkdir -p jobs deep/er out && cp %s/tests/golden/job.cfg %s/tests/golden/kernel.cu jobs && "
                  "$S tune jobs/job.cfg --device replay:%s/tests/golden/space.json -q && ls out/golden.db",
                  project, project, project);
    expect_done(&r);
    static const struct {
        const char *from, *job;
    } cases[] = {{"p/deep/er", "../../jobs/job.cfg"}, {"p/jobs", "job.cfg"}, {"other", "../p/jobs/job.cfg"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r = INSTALLED(cases[i].from, "$S status %s && $S compare %s && $S header %s && test ! -e out", cases[i].job,
                      cases[i].job, cases[i].job);
        assert_contains(r.out, test_text("%s/p/out/include/golden_best.h\n", folder));
        expect_done(&r);
    }
    // A job's first run from another folder also stores its results in the job's project. The current folder's `out` is
    // used only if the project's `out` has no store for the job.
    r = INSTALLED("other",
                  "rm ../p/out/golden.db* && $S tune ../p/jobs/job.cfg --device replay:%s/tests/golden/space.json -q "
                  "&& test ! -e out && mkdir out && cp ../p/out/golden.db out && $S status ../p/jobs/job.cfg && rm "
                  "../p/out/golden.db* && $S status ../p/jobs/job.cfg | grep 'store  *out/golden.db'",
                  project);
    expect_done(&r);
    assert_contains(r.err, "/p/out/golden.db, not out/golden.db, which has results too: choose with --store");
    // A repository without `out` is a project as well.
    r = INSTALLED("q/deep", "mkdir ../.git ../jobs && cp ../../p/jobs/* ../jobs && $S status ../jobs/job.cfg");
    assert_contains(r.err, "/q/out/golden.db'");
    // An installed job's results are not stored among the installed files.
    r = INSTALLED("elsewhere",
                  "$S status %s/share/sweetspot/configs/sgemm.cfg; test ! -e %s/share/sweetspot/configs/out", prefix,
                  prefix);
    assert_contains(r.err, "no store 'out/sgemm.db'");
    // A source tree is a project, although its programs find their files in it.
    r = e2e_in(folder, "$BIN/sweetspot status %s/configs/suite/fp32_129.cfg", project);
    assert_contains(r.err, test_text("no store '%s/out/fp32_129.db'", project));
}

// Tunes the demo's job on its recording, as if it had been recorded with the installed template.
static void tune_for_cmake(void)
{
    struct error err;
    char hash[HASH_TEXT_SIZE], *template = test_text("%s/share/sweetspot/templates/gemm_simt.cu", prefix);
    assert_int_equal(source_hash(&(struct source_request){.path = template}, hash, &err), 0);
    struct e2e_result r = INSTALLED("cmake",
                                    "gzip -dc %s/tests/spaces/sgemm_2048_h200.json.gz | sed "
                                    "'s/\"source_hash\":\"[0-9a-f]*\"/\"source_hash\":\"%s\"/' >space.json && $S tune "
                                    "configs/sgemm_2048.cfg --device replay:space.json -n 20 -q --store results.db",
                                    project, hash);
    expect_done(&r);
}

TEST(a_cmake_project_builds_with_the_header_until_the_template_changes)
{
    struct e2e_result r = e2e_run(folder, "command -v cmake >/dev/null || exit 77");
    bool absent = r.status == 77;
    if (absent) skip();
    tune_for_cmake();
    r = INSTALLED("cmake",
                  "cmake -S %s/examples/cmake -B build -DCMAKE_PREFIX_PATH=%s -DSTORE=$PWD/results.db && cmake "
                  "--build build && build/geometry 2048 2048 2048",
                  project, prefix);
    assert_contains(r.out, "gemm_simt.cu on NVIDIA H200, source ", "bytes of shared memory");
    expect_done(&r);
    r = INSTALLED("cmake", "cmake --build build");
    assert_null(strstr(r.out, "Building C object")); // nothing has changed
    expect_done(&r);
    r = INSTALLED("cmake", "echo '// changed' >>%s/share/sweetspot/templates/gemm_simt/ring.cuh; cmake --build build",
                  prefix);
    assert_int_not_equal(r.status, 0);
    assert_contains(r.err, "the template is not the one");
    r = INSTALLED("cmake", "cmake -S %s/examples/cmake -B build -DALLOW_STALE=ON >/dev/null && cmake --build build",
                  project);
    assert_contains(r.err, "the template is not the one");
    assert_contains(r.out, "Building C object"); // recompiled, because the template differs
    expect_done(&r);
}

TEST(uninstall_leaves_nothing)
{
    struct e2e_result r = make("uninstall");
    expect_done(&r);
    r = e2e_run(folder, "find %s ! -type d", prefix);
    assert_string_equal(r.out, "");
}

TEST_MAIN(setup, teardown)
