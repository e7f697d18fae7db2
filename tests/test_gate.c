// sweetspot gate with a scripted worker whose times depend on X (7 is the fastest), and its verdicts on recorded noise.
// GATES=10000 out/bin/test_gate simulates 10,000 gates.
#include "tests/e2e.h"
#include "tests/recorded_noise.h"

#include "tuner/base/protocol.h"
#include "tuner/explain/version_race.h"

#define JOB(more)                                                                                                     \
    "name = \"fake\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"                                            \
    "parameters = ( { name = \"X\"; values = [1, 6, 7]; }, { name = \"MODE\"; values = [ \"good\", \"final_wrong\", " \
    "\"compile_error\", \"final_crash\", \"final_noisy\" ]; } );\nproblems = ( { N = 1024; } );\n"                    \
    "launch = { grid = [\"N\"]; block = [512]; };\n"                                                                  \
    "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );\n"                    \
    "measure = { timeout = \"2s\"; final = { rounds = 10; }; };\n"                                                    \
    "reference = { kernel = \"x\"; launch = { grid = [\"N\"]; block = [512]; }; };\n" more
#define CURRENT(x, mode) "current = { X = " x "; MODE = \"" mode "\"; };\n"

#define RUN                                                                                      \
    "export SWEETSPOT_SANITIZER=none SWEETSPOT_GPU_WORKER=$BIN/fake_worker "                     \
    "SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "          \
    "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_GLOBAL=/dev/null; cd $DIR/jobs && " \
    "$BIN/sweetspot gate job.cfg %s"

// Makes a repository whose revision `old` has X=7, and a folder `slow` with X=1.
static char *make_folder(const char *name)
{
    char *folder = e2e_folder(name);
    e2e_pass(folder, "mkdir -p $DIR/jobs $DIR/slow");
    e2e_write(folder, "jobs/x.cu", "extern \"C\" __global__ void x(float *y) {} // X MODE\n");
    e2e_write(folder, "slow/x.cu", "extern \"C\" __global__ void x(float *y) {} // X MODE\n");
    e2e_write(folder, "jobs/job.cfg", JOB(CURRENT("7", "good")));
    e2e_write(folder, "slow/job.cfg", JOB(CURRENT("1", "good")));
    e2e_write(folder, "header.h", "#define FAKE_CONFIGURATION \"X=6,MODE=good\"\n");
    e2e_pass(folder, "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b "
                     "GIT_CONFIG_GLOBAL=/dev/null; cd $DIR && git init -q && git add jobs && git commit -qm old && "
                     "git tag old");
    return folder;
}

static const struct {
    const char *job, *options; // the new job; NULL: as committed
    int status;
    const char *said[2];
} cases[] = {
    {NULL, "--base old", 0, {"fake: same, at most 1% slower is allowed", "1.0000 to 1.0000  same"}},
    {JOB(CURRENT("1", "good")), "--base old", 4, {"fake: slower", "base old: X=7,MODE=good\n  now: X=1,MODE=good"}},
    {JOB(CURRENT("1", "good")), "--base old --allow 90%", 0, {"fake: same"}},
    {JOB(CURRENT("6", "final_noisy")), "--base old --allow 2%", 5, {"fake: undecided"}},
    {NULL, "--base ../header.h", 0, {"fake: faster", "base ../header.h: X=6,MODE=good"}},
    {NULL, "--base ../slow", 0, {"fake: faster", "base ../slow: X=1,MODE=good"}},
    {NULL, "--base old --format markdown", 0, {"| problem | base | now |", "| N=1024 | "}},
    {NULL, "--base old --format json", 0, {"\"format\": \"sweetspot-gate\"", "\"verdict\": \"same\""}},
    {JOB(CURRENT("7", "final_wrong")), "--base old", 1, {"the new version: wrong: scripted"}},
    {JOB(CURRENT("7", "compile_error")), "--base old", 1, {"the new version: compile_error: x.cu(3)"}},
    {JOB(CURRENT("7", "final_crash")), "--base old", 3, {"worker"}},
    {JOB("verification = { enabled = false; };\n"), "--base old", 2, {"a gate needs a reference (NOT VERIFIED"}},
    {NULL, "--base new", 2, {"--base new: there is no such file, folder or revision"}},
    {NULL, "--base -x", 2, {"--base -x: there is no such file, folder or revision"}},
    {NULL, "--base ..", 0, {"fake: same"}}, // the repository itself
    {NULL, "--base job.cfg", 2, {"--base job.cfg: it is not a header that sweetspot wrote"}},
    {NULL, "--base /", 2, {"--base /: it has no jobs/job.cfg"}},
    {NULL, "", 2, {"--base is missing"}},
    {NULL, "--base old --allow 3", 2, {"--allow must be a percentage below 100, such as 1%, not '3'"}},
    {NULL, "--base old --allow -1%", 2, {"--allow must be a percentage"}},
};

TEST(verdicts_and_exit_statuses)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = make_folder("gate");
        if (cases[i].job) e2e_write(folder, "jobs/job.cfg", cases[i].job);
        struct e2e_result r = e2e_run(folder, RUN " 2>&1", cases[i].options);
        if (r.status != cases[i].status) fail_msg("%s: status %d: %s", cases[i].options, r.status, r.out);
        for (int k = 0; k < 2; k++)
            if (cases[i].said[k]) assert_contains(r.out, cases[i].said[k]);
    }
}

// A base whose job has a different buffer, or does not compile.
TEST(a_base_that_cannot_be_raced_is_named)
{
    char *folder = make_folder("gate_base");
    e2e_pass(folder, "sed -i 's/\"y\"/\"z\"/' $DIR/slow/job.cfg");
    struct e2e_result r = e2e_run(folder, RUN " 2>&1", "--base ../slow");
    assert_int_equal(r.status, 2);
    assert_contains(r.out, "the base's job has different buffers or problems");
    e2e_write(folder, "slow/job.cfg", JOB(CURRENT("1", "compile_error")));
    r = e2e_run(folder, RUN " 2>&1", "--base ../slow");
    assert_int_equal(r.status, 1);
    assert_contains(r.out, "the base: compile_error: x.cu(3)");
    e2e_pass(folder, "rm -rf $DIR/.git");
    r = e2e_run(folder, RUN " 2>&1", "--base HEAD~1");
    assert_int_equal(r.status, 2);
}

TEST(the_store_keeps_verdicts_and_the_next_gate_says_what_changed)
{
    char *folder = make_folder("gate_store");
    e2e_pass(folder, "export SWEETSPOT_SANITIZER=none SWEETSPOT_NVCC=none SWEETSPOT_GPU_WORKER=$BIN/fake_worker "
                     "SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker; cd $DIR/jobs && $BIN/sweetspot tune job.cfg --store "
                     "t.db -q -n 2 --no-counters");
    struct e2e_result r = e2e_passed(e2e_run(folder, RUN, "--base old --store t.db"));
    if (strstr(r.out, "since the gate") || strstr(r.out, "the gate of")) fail_msg("%s", r.out);
    r = e2e_passed(e2e_run(folder, "export FAKE_DRIVER=9.9.9; " RUN, "--base ../header.h --store t.db"));
    assert_contains(r.out, "the driver has changed since the gate of 20", ": 9.9.9 instead of 1.2.3",
                    ", against old: same", "since the final of 20", "--store t.db --refresh\n");
    r = e2e_passed(e2e_run(folder, "cd $DIR/jobs && $BIN/sweetspot status job.cfg --store t.db"));
    assert_contains(r.out, "\ngates          2, the last on 20", " against ../header.h: ");
    r = e2e_passed(e2e_run(folder, "cd $DIR/jobs && $BIN/sweetspot report job.cfg --store t.db -f json"));
    assert_contains(r.out, "\"gates\":[{", "\"driver\":\"9.9.9\"", "\"base\":\"old\"");
}

// Takes both versions' times in one process from blocks of a recording. The new version's times are multiplied by
// `factor`.
static size_t take_rounds(const struct recorded_noise *n, double factor, unsigned char process, size_t count,
                          double *old, double *new, unsigned char *processes, uint64_t *seed)
{
    static const double process_differs = 0.001;
    const double ours = 1 + process_differs * gaussian(seed), theirs = 1 + process_differs * gaussian(seed);
    for (size_t r = 0; r < RECORDED_ROUNDS; r += BLOCK) {
        size_t from = (size_t)(uniform(seed) * RECORDED_ROUNDS), a = (size_t)(uniform(seed) * (double)n->series),
               b = (size_t)(uniform(seed) * (double)n->series);
        for (size_t k = 0; k < BLOCK; k++, count++) {
            old[count] = theirs * n->relative[a][(from + k) % RECORDED_ROUNDS];
            new[count] = ours *factor * n->relative[b][(from + k) % RECORDED_ROUNDS];
            processes[count] = process;
        }
    }
    return count;
}

// Proceeds like version_race_run().
static enum version_verdict simulate_gate(const struct recorded_noise *n, double factor, double allow, uint64_t *seed)
{
    enum { LEAST = 3, MOST = 6 };
    double old[MOST * RECORDED_ROUNDS], new[MOST * RECORDED_ROUNDS];
    unsigned char process[MOST * RECORDED_ROUNDS];
    enum version_verdict verdict = VERSION_UNDECIDED;
    size_t count = 0;
    for (unsigned char p = 0; p < MOST && (p < LEAST || verdict == VERSION_UNDECIDED); p++) {
        struct interval ratio;
        count = take_rounds(n, factor, p, count, old, new, process, seed);
        if (p + 1 >= LEAST) verdict = version_decide(old, new, process, count, allow, &ratio);
    }
    return verdict;
}

// With --allow 0% a gate of one kernel is mostly undecided, but it is not slower either.
TEST(on_recorded_noise_a_gate_rarely_fires_and_finds_3_percent)
{
    static const struct {
        double factor, allow;
    } versions[] = {{1, 0.01}, {1.03, 0.01}, {1, 0}, {1.03, 0}};
    const char *wanted = getenv("GATES");
    const int gates = wanted ? atoi(wanted) : 240;
    uint64_t seed = 7;
    for (size_t i = 0; i < RECORDINGS; i++) read_noise(&recorded[i]);
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
        const double factor = versions[v].factor, allow = versions[v].allow;
        int count[4] = {0};
        for (int g = 0; g < gates; g++) count[simulate_gate(&recorded[g % RECORDINGS], factor, allow, &seed)]++;
        print_message("%d gates, %s, %g%% allowed: %d faster, %d same, %d undecided, %d slower\n", gates,
                      factor > 1 ? "3% planted" : "one kernel", 100 * allow, count[VERSION_FASTER], count[VERSION_SAME],
                      count[VERSION_UNDECIDED], count[VERSION_SLOWER]);
        if (factor > 1)
            assert_true(count[VERSION_SLOWER] >= 0.99 * gates);
        else
            assert_true(count[VERSION_SLOWER] + (allow > 0 ? count[VERSION_UNDECIDED] : 0) <= 0.01 * gates);
    }
}

TEST_MAIN(NULL, NULL)
