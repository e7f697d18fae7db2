// A job's fallback is the configuration for devices without results. Invalid ones are refused. A run measures the
// fallback first and in full, and the header includes it.
#include "tests/scripted.h"
#include "tests/testing.h"

#define WORKERS "export SWEETSPOT_NVCC=none; export " SCRIPTED ";"

static char *write_job(const char *fallback, const char *more)
{
    char *folder = e2e_folder("fallback");
    SCRIPTED_JOB(folder, .name = "some", .problems = "{ N = 1024; }, { N = 4096; }", .shared = "X * N * 2",
                 .source = "MODE U R\n",
                 .more = test_text("constraints = ( \"X < 7 || MODE == \\\"good\\\"\" );\n%s\n"
                                   "measure = { final = { candidates = 2; rounds = 20; }; };\n%s",
                                   fallback, more),
                 .parameters =
                     "{ name = \"X\"; values = [1, 6, 7]; }, { name = \"MODE\"; values = [\"good\", \"wrong\", "
                     "\"slow\"]; },\n  { name = \"U\"; unroll = [0, 4]; }, { name = \"R\"; values = [5, 15]; }");
    return folder;
}

TEST(a_mistaken_fallback_is_refused_with_file_and_line)
{
    static const struct {
        const char *fallback, *message; // NULL: valid
    } cases[] = {
        {"fallback = { X = 1; MODE = \"good\"; U = 4; R = 5; };", NULL},
        {"fallback = { X = 1; MODE = \"good\"; U = 4; };", "job.cfg:7: 'fallback' lacks parameter 'R'\n"},
        {"fallback = { };", "job.cfg:7: 'fallback' lacks parameter 'X'\n"},
        {"fallback = 3;", "job.cfg:7: "},
        {"fallback = { X = 1; MODDE = \"good\"; U = 4; R = 5; };",
         "job.cfg:7: unknown setting 'MODDE' in 'fallback'; did you mean 'MODE'?\n"},
        {"fallback = {\n X = 2; MODE = \"good\"; U = 4; R = 5; };",
         "job.cfg:8: parameter 'X' has no such value (it has: 1, 6, 7)\n"},
        {"fallback = { X = \"one\"; MODE = \"good\"; U = 4; R = 5; };", "'X' has no such value"},
        {"fallback = { X = 1.5; MODE = \"good\"; U = 4; R = 5; };", "'X' has no such value"},
        {"fallback = { X = 1; MODE = 0; U = 4; R = 5; };", "'MODE' has no such value (it has: good, wrong, slow)\n"},
        {"fallback = { X = 1; MODE = \"good\"; U = 4; R = 10; };", "'R' has no such value (it has: 5, 15)\n"},
        {"fallback = { X = 7; MODE = \"wrong\"; U = 4; R = 15; };",
         "job.cfg:7: 'fallback' violates the constraint \"X < 7 || MODE == \"good\"\"\n"},
        {"\nfallback = { X = 7; MODE = \"good\"; U = 4; R = 15; };",
         "job.cfg:8: 'fallback' needs 57344 bytes of shared memory in stage 'x' on problem N=4096; to run "
         "on every device it may use at most 49152\n"},
        {"fallback = { X = 6; MODE = \"good\"; U = 0; R = 15; };", NULL}, // uses all 48 KB
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = write_job(cases[i].fallback, "");
        struct e2e_result r = e2e_in(folder, "$BIN/sweetspot check job.cfg --compile 0");
        if (r.status != (cases[i].message ? 2 : 0)) fail_msg("%s: %s", cases[i].fallback, r.err);
        if (cases[i].message) assert_contains(r.err, cases[i].message);
    }
}

#define GOOD "fallback = { X = 1; MODE = \"good\"; U = 4; R = 15; };"

TEST(it_is_proposed_first_whatever_the_strategy)
{
    static const char *const strategies[] = {"random", "default", "exhaustive"};
    for (size_t i = 0; i < 3; i++) {
        char *folder = write_job(GOOD, "");
        struct e2e_result r = e2e_passed(e2e_in(
            folder,
            WORKERS
            " FAKE_LOG=log $BIN/sweetspot tune job.cfg --store job.db -q -j 1 -n 3 --strategy %s 2>&1 && head -n 1 log "
            "&& FAKE_LOG=log $BIN/sweetspot tune job.cfg --store job.db -q -n 6 && grep -c X=1,MODE=good,U=4,R=15 log",
            strategies[i]));
        assert_contains(r.out, "\nX=1,MODE=good,U=4,R=15\n");
        if (strcmp(r.out + strlen(r.out) - 3, "\n1\n") != 0) fail_msg("measured more than once: %s", r.out);
    }
}

// The fallback is not a candidate for the final. Because it needs a complete result, it is never stopped early for
// being slow.
TEST(it_is_measured_in_full_however_slow)
{
    char *folder = write_job("", "strategy = \"exhaustive\";");
    struct e2e_result r = e2e_passed(
        e2e_in(folder, WORKERS " export FAKE_LOG=log FAKE_LOG_BEST=1; $BIN/sweetspot tune job.cfg --store job.db -q -n "
                               "2 -j 1 2>&1 && echo '" GOOD
                               "' >>job.cfg && sed -i s/exhaustive/random/ job.cfg && rm log && $BIN/sweetspot tune "
                               "job.cfg --store job.db -q -n 10 -j 1 2>&1 && grep -A 1 X= log"));
    const char *log = strstr(r.out, "\nX=");
    assert_non_null(log);
    assert_non_null(strstr(log, "[0.00")); // other slow candidates are stopped early
    const char *own = strstr(log, "X=1,MODE=good,U=4,R=15\n");
    if (own) assert_contains(own, "R=15\n[null,null]\n");
    assert_non_null(own);
}

static const char program[] =
    "#include \"some_best.h\"\n"
    "static int same(const char *a, const char *b) { for (; *a && *a == *b; a++, b++) { } return *a == *b; }\n"
    "int main(void)\n{\n"
    "    if (SOME_FALLBACK != (SOME_SECTION == 1) || !same(SOME_DEVICE_NAME, SOME_FALLBACK ? \"FALLBACK\" : \"Fake "
    "GPU\")) return 1;\n"
    "    if (some_section_of(\"Fake GPU\", 90) != 0 || some_section_of(\"Another\", 90) != 0) return 2;\n"
    "    if (some_section_of(\"Another\", 75) != 1 || some_section_of(\"\", 0) != 1) return 3;\n"
    "    if (some_shared_bytes(1024) != 2048u * SOME_X || some_geometry_on(1, 1024).shared_bytes != 2048) return 4;\n"
    "    if (SOME_COMPUTE != (SOME_FALLBACK ? 0 : 90)) return 5;\n"
    "    return SOME_FALLBACK ? SOME_X == 1 && SOME_U == 4 ? 10 : 6 : 20;\n}\n";

TEST(unknown_devices_get_it_from_the_header)
{
    static const struct {
        const char *device, *status;
    } cases[] = {{"", "status 20\n"},
                 {"-DSOME_DEVICE=FAKE_GPU", "status 20\n"},
                 {"-DSOME_DEVICE=FALLBACK", "status 10\n"},
                 {"-DSOME_DEVICE=NVIDIA_T4", "status 10\n"}};
    char *folder = write_job(GOOD, "strategy = \"exhaustive\";");
    e2e_write(folder, "program.c", program);
    struct e2e_result r =
        e2e_passed(e2e_in(folder, WORKERS " $BIN/sweetspot tune job.cfg --store job.db -q && $BIN/sweetspot header "
                                          "job.cfg --store job.db -o some_best.h"));
    assert_null(strstr(r.err, "devices")); // the fallback is not a device
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int cpp = 0; cpp < 2; cpp++) {
            r = e2e_in(folder,
                       "%s -pedantic -Wall -Wextra -Wshadow -Wconversion -Wundef -Werror %s program.c -o program && { "
                       "./program; echo status $?; }",
                       cpp ? "g++ -std=c++11 -x c++" : "gcc -std=c99", cases[i].device);
            if (strcmp(r.out, cases[i].status)) fail_msg("%s: %s%s", cases[i].device, r.out, r.err);
        }
    char *path = test_text("%s/some_best.h", folder), *text = test_owned(text_read_file(path, NULL));
    assert_contains(text,
                    " * any other device: X=1,MODE=good,U=4,R=15\n *   the job's fallback, not tuned; verified on Fake "
                    "GPU, at most 49152 bytes of shared memory (SOME_DEVICE=FALLBACK)\n",
                    "#define SOME_OPTIONS_NVCC \"-std=c++17\"\n",
                    "#define SOME_OPTIONS_NVCC \"-gencode=arch=compute_90a,code=sm_90a -std=c++17\"\n");
    // Writing the header again replaces the fallback's section.
    e2e_passed(e2e_in(folder, "cp some_best.h before && $BIN/sweetspot header job.cfg --store job.db -o some_best.h && "
                              "cmp before some_best.h"));
    // If the job has no fallback, an unknown device is an error.
    r = e2e_ended(1,
                  e2e_in(folder,
                         "sed -i '/^fallback/d' job.cfg && $BIN/sweetspot header job.cfg --store job.db -o some_best.h "
                         "&& gcc -fsyntax-only -DSOME_DEVICE=NVIDIA_T4 some_best.h 2>&1"));
    assert_contains(r.out, "SOME_DEVICE must be one of: FAKE_GPU");
}

TEST(one_that_is_not_right_is_left_out_and_that_is_said)
{
    static const struct {
        const char *fallback, *before, *reason;
    } cases[] = {
        {"fallback = { X = 1; MODE = \"wrong\"; U = 4; R = 15; };", "", "it failed: wrong: scripted"},
        {"fallback = { X = 1; MODE = \"good\"; U = 4; R = 5; };",
         "$BIN/sweetspot tune job.cfg --store job.db -q -n 3 && sed -i 's/R = 5; }/R = 15; }/' job.cfg && ",
         "it has not been measured yet; sweetspot tune measures it"},
        // The scripted compiler gives the second entry static shared memory.
        {"fallback = { X = 6; MODE = \"good\"; U = 4; R = 15; };",
         "sed -i 's/entry = \"x\"/entry = \"second\"/' job.cfg && ",
         "stage 'second' takes 90112 bytes of shared memory, more than 49152"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = write_job(cases[i].fallback, "strategy = \"exhaustive\";");
        struct e2e_result r = e2e_in(folder,
                                     WORKERS " %s if [ ! -e job.db ]; then $BIN/sweetspot tune job.cfg --store job.db "
                                             "-q; fi && $BIN/sweetspot header job.cfg --store job.db -o some_best.h",
                                     cases[i].before);
        if (r.status) fail_msg("%s: %s", cases[i].reason, r.err);
        assert_contains(r.err, "sweetspot: the header has no fallback for other devices: X=", cases[i].reason);
        char *path = test_text("%s/some_best.h", folder), *text = test_owned(text_read_file(path, NULL));
        assert_contains(text, " * any other device: NONE, the job's fallback is left out: X=", cases[i].reason,
                        "#error \"SOME_DEVICE must be one of: FAKE_GPU\"");
        assert_null(strstr(text, "DEVICE_FALLBACK"));
    }
}

// The fallback has its own section with one kernel. The device's sections have several kernels.
TEST(a_header_of_several_kernels_has_it_too)
{
    static const char chooses[] = "#include \"some_best.h\"\n"
                                  "int main(void) { return some_select(1024) < 0 ? 99 : SOME_KERNELS * 10 + "
                                  "SOME_FALLBACK; }\n";
    char *folder = write_job("fallback = { X = 6; MODE = \"good\"; U = 4; R = 15; };",
                             "strategy = \"exhaustive\"; objective = \"each\";");
    e2e_write(folder, "program.c", chooses);
    struct e2e_result r = e2e_passed(e2e_in(
        folder, WORKERS
        " FAKE_OTHER_WAY=1 $BIN/sweetspot tune job.cfg --store job.db -q 2>&1 && $BIN/sweetspot header job.cfg --store "
        "job.db -o some_best.h 2>&1 && for device in FAKE_GPU NVIDIA_T4; do gcc -std=c99 -Wall -Wextra -Werror "
        "-DSOME_DEVICE=$device program.c -o program && { ./program; echo $device $?; } || exit 1; done"));
    assert_contains(r.out, "NVIDIA_T4 11\n", "FAKE_GPU ");
    assert_null(strstr(r.out, "FAKE_GPU 99"));
}

TEST_MAIN(NULL, NULL)
