// Several GPUs in one run: the reference that each GPU measures from time to time, the rule that decides whether a GPU
// differs from the others, and the fate of the trials of a GPU that differs.
#include <math.h>

#include "tests/e2e.h"
#include "tests/opened_store.h"
#include "tests/scripted.h"
#include "tests/testing.h"

#include "search/space/random.h"
#include "tuner/base/protocol.h"
#include "tuner/policy/policy.h"
#include "tuner/run/gpu_times.h"
#include "tuner/store/store.h"

enum { MOST = 8 };

// A time near `base`. The standard deviation is 0.1%, as for repeated times on one GPU.
static struct interval noisy(struct random *random, double base)
{
    double t = base * (1 + 1e-3 * (2 * random_unit(random) - 1) * 1.7);
    return (struct interval){t, 0.999 * t, 1.001 * t};
}

// Measures on all GPUs, and once more on those GPUs for which the rule requires a repetition. GPU i takes factors[i]
// times as long. Returns a bit mask of the GPUs that are found to differ.
static unsigned found(const double *factors, size_t count, double tie, uint64_t seed)
{
    struct gpu_times times = {0};
    struct random random = {0};
    random_seed(&random, seed);
    unsigned out = 0;
    gpu_times_grow(&times, count);
    for (int turn = 0; turn < 12; turn++) {
        for (size_t i = 0; i < count; i++)
            if (!times.gpus[i].out) gpu_times_add(&times, i, noisy(&random, factors[i] * 1e-3));
        for (size_t i = 0; i < count; i++) {
            double ratio, limit;
            if (gpu_times_decide(&times, i, tie, &ratio, &limit) != GPU_DIFFERS) continue;
            assert_true(fabs(log(ratio)) > log(limit));
            assert_true(fabs(ratio / factors[i] - 1) < 0.01);
            times.gpus[i].out = true;
            out |= 1u << i;
        }
    }
    gpu_times_release(&times);
    return out;
}

TEST(a_gpu_that_takes_longer_or_less_than_the_others_is_found_and_no_other)
{
    static const struct {
        size_t count;
        double factors[MOST], tie;
        unsigned out;
    } cases[] = {
        {1, {1}, 0.01, 0},
        {2, {1, 1}, 0.01, 0},
        {2, {1, 1.06}, 0.01, 2},
        {2, {1, 0.94}, 0.01, 2},
        {3, {1, 1, 1.06}, 0.01, 4},
        {3, {1.06, 1, 1}, 0.01, 1}, // also the first GPU, if there are others to compare with
        {8, {1, 1, 1, 0.95, 1, 1, 1.05, 1}, 0.01, 8 + 64},
        {8, {1, 1.005, 1, 0.996, 1.004, 1, 1.005, 1}, 0.01, 0}, // within `tie`
        {4, {1, 1, 1.03, 1}, 0.05, 0},                          // a tie set by the user
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 1; seed <= 40; seed++) {
            unsigned out = found(cases[i].factors, cases[i].count, cases[i].tie, seed);
            if (out != cases[i].out) fail_msg("case %zu, seed %d: %x instead of %x", i, (int)seed, out, cases[i].out);
        }
}

// One slow measurement, as on a GPU that another process used for a moment.
TEST(one_odd_time_sets_no_gpu_aside)
{
    struct gpu_times times = {0};
    double ratio, limit;
    gpu_times_grow(&times, 3);
    for (size_t i = 0; i < 3; i++) gpu_times_add(&times, i, (struct interval){1, 0.999, 1.001});
    for (size_t i = 0; i < 3; i++) assert_int_equal(gpu_times_decide(&times, i, 0.01, &ratio, &limit), GPU_ALIKE);
    assert_int_equal(gpu_times_decide(&times, 0, 0.01, &ratio, &limit), GPU_OPEN); // already decided
    gpu_times_add(&times, 1, (struct interval){1.2, 1.19, 1.21});
    assert_int_equal(gpu_times_decide(&times, 1, 0.01, &ratio, &limit), GPU_AGAIN);
    gpu_times_add(&times, 1, (struct interval){1, 0.999, 1.001});
    assert_int_equal(gpu_times_decide(&times, 1, 0.01, &ratio, &limit), GPU_ALIKE);
    gpu_times_add(&times, 1, (struct interval){1.2, 0.9, 1.4}); // its interval is too wide
    assert_int_equal(gpu_times_decide(&times, 1, 0.01, &ratio, &limit), GPU_ALIKE);
    gpu_times_release(&times);
}

// The policy -----------------------------------------------------------------------------------------------------

static int checks_until(struct policy *p, double *now, double end, double took, size_t gpus)
{
    int checks = 0;
    while (*now < end) {
        struct policy_action a = policy_next(p, *now);
        while (a.kind == POLICY_CHECK) {
            checks++;
            assert_true(a.worker < gpus);
            policy_clock(p, *now + took);
            assert_int_equal(policy_gpu_answered(p, a.worker).kind, REQUEST_CHECK);
            a = policy_next(p, *now);
        }
        assert_int_equal(a.kind, POLICY_PROPOSE);
        *now += 0.5;
    }
    return checks;
}

TEST(the_reference_is_measured_when_a_gpu_joins_and_seldom_after)
{
    struct policy p;
    double now = 0;
    policy_init(&p, &(struct policy_settings){.compilers = 1, .gpus = 3});
    policy_begin(&p, 0);
    policy_gpu_ready(&p, 0);
    assert_int_equal(checks_until(&p, &now, 10, 0.1, 3), 0); // there is no reference yet
    policy_use_reference(&p, true);
    assert_int_equal(checks_until(&p, &now, 20, 0.1, 3), 0); // no other GPU to compare with
    policy_gpu_ready(&p, 1);
    assert_int_equal(checks_until(&p, &now, 60, 0.1, 3), 2);
    policy_gpu_ready(&p, 2);
    assert_int_equal(checks_until(&p, &now, 70, 0.1, 3), 1);
    assert_int_equal(checks_until(&p, &now, 200, 0.1, 3), 3 * 2); // one a minute
    policy_check_again(&p, 1);
    assert_int_equal(checks_until(&p, &now, 201, 10, 3), 1);
    int many = checks_until(&p, &now, 201 + 5000, 10, 3); // a check takes 10 s: at most a fiftieth of the time
    if (many < 3 * 8 || many > 3 * 11) fail_msg("%d checks", many);
    policy_gpu_lost(&p, 2, true);
    policy_check_device(&p, 2);
    policy_gpu_ready(&p, 2);
    assert_int_equal(checks_until(&p, &now, now + 1, 0.1, 3), 1); // another device joins
    policy_release(&p);
}

TEST(a_lost_check_blames_nobody_and_is_made_again)
{
    struct policy p;
    policy_init(&p, &(struct policy_settings){.compilers = 1, .gpus = 2});
    policy_begin(&p, 0);
    policy_gpu_ready(&p, 0);
    policy_gpu_ready(&p, 1);
    policy_use_reference(&p, true);
    assert_int_equal(policy_next(&p, 0).kind, POLICY_CHECK);
    struct policy_request lost = policy_gpu_lost(&p, 0, false);
    assert_int_equal(lost.kind, REQUEST_CHECK);
    assert_int_equal(lost.task_count, 0);
    policy_gpu_ready(&p, 0);
    struct policy_action a = policy_next(&p, 1);
    assert_true(a.kind == POLICY_CHECK && a.worker == 0);
    policy_release(&p);
}

// Whole runs ------------------------------------------------------------------------------------------------------

enum { XS = 8, CONFIGURATIONS = XS * 16 };

#define TUNE                                                       \
    "export FAKE_LOG=$at/measured FAKE_DELAY=10000 " SCRIPTED "\n" \
    "$BIN/sweetspot tune $at/job.cfg --store $at/job.db -q --workers 1 "

static char *job_folder(const char *name, int ys)
{
    char *folder = e2e_folder(name);
    SCRIPTED_JOB(folder,
                 .parameters = test_text("{ name = \"X\"; range = [1, %d]; }, { name = \"Y\"; range = [1, %d]; }, "
                                         "{ name = \"MODE\"; values = [\"good\"]; }",
                                         XS, ys),
                 .more = "measure = { timeout = \"60s\"; final = { candidates = 60; rounds = 10; processes = 1; }; };\n"
                         "strategy = \"exhaustive\";",
                 .source = "extern \"C\" __global__ void x(float *y) { y[blockIdx.x] = X + Y; }\n");
    return folder;
}

struct tally {
    int ok, marked, others;
    double longest; // time of a ranked trial, relative to its time on a usual GPU
};

static int count(void *user, const struct trial *trial)
{
    struct tally *t = user;
    const char *x = strstr(trial->config, "X=");
    double usual = 1e-3 * (1 + 0.01 * (atoi(x + 2) - 7) * (atoi(x + 2) - 7));
    if (trial->status == STATUS_OK) {
        t->ok++;
        t->longest = fmax(t->longest, trial->objective / usual);
    } else if (trial->status == STATUS_SLOW && strstr(trial->reason, "measured on gpu 2 (")) {
        t->marked++;
        assert_true(fabs(trial->objective / usual - 1.06) < 1e-6); // times are not corrected
    } else {
        t->others++;
    }
    return 0;
}

static struct tally tally(const char *folder)
{
    struct store *store = opened_store("%s/job.db", folder);
    struct tally t = {0};
    struct error err;
    assert_int_equal(store_each(store, false, 0, STORE_WHOLE, count, &t, &err), 0);
    store_close(store);
    return t;
}

TEST(a_gpu_that_is_slower_is_set_aside_by_name_and_nothing_of_it_is_ranked)
{
    char *folder = job_folder("gpus_slow", CONFIGURATIONS / XS);
    struct e2e_result r =
        e2e_pass(folder, "at=$PWD/$DIR; export FAKE_SLOW='2 1.06'\n" TUNE "--device 0,1,2 --no-checks\n"
                         "$BIN/sweetspot status $at/job.cfg --store $at/job.db");
    assert_contains(r.err, "gpu 2 is disabled: gpu 2 (GPU-fake-2, ",
                    "takes 1.060 times as long as the others for trial ");
    assert_contains(r.out, "disabled       gpu 2 (GPU-fake-2, ");
    struct tally t = tally(folder);
    assert_int_equal(t.ok + t.marked, CONFIGURATIONS);
    if (!t.marked) assert_contains(r.out, "0 of its 0 valid trials"); // it was ready so late that it only had checks
    assert_true(t.longest < 1.0001);
    assert_null(strstr(r.err, "gpu 0 is disabled"));
    assert_null(strstr(r.err, "gpu 1 is disabled"));
}

// GPU 2 becomes slow after a dozen measurements. The results that it measured before its last good check remain valid
// and keep its name. Each GPU measures long enough for the last check, which is due after 20 times the duration of the
// first check.
TEST(a_gpu_that_becomes_slower_is_found_by_the_check_at_the_end)
{
    char *folder = job_folder("gpus_drift", 128);
    struct e2e_result r =
        e2e_pass(folder, "at=$PWD/$DIR; export FAKE_SLOW='2 1.06 12'\n" TUNE "--device 0,1,2 --no-checks --no-final");
    assert_contains(r.err, "gpu 2 is disabled: ");
}

// Two workers on one GPU would slow each other down equally, so no comparison would notice.
TEST(a_gpu_that_is_named_twice_is_refused)
{
    char *folder = job_folder("gpus_twice", CONFIGURATIONS / XS);
    struct e2e_result r =
        e2e_ended(2, e2e_run(folder, "at=$PWD/$DIR; export FAKE_UUID=GPU-one\n" TUNE "--device 0,2 --no-checks"));
    assert_contains(r.err, "--device 0,2 names one GPU twice: gpu 0 and gpu 2 are both GPU-one");
}

// Each worker needs three pipes. The program raises the soft limit on open files up to the hard limit.
TEST(more_workers_than_files_are_usually_allowed_can_be_used)
{
    char *folder = job_folder("gpus_files", CONFIGURATIONS / XS);
    e2e_pass(folder, "at=$PWD/$DIR; ulimit -Sn 40\n" TUNE "--device 0,1,2,3,4,5,6,7,8,9,10,11 --no-checks --no-final");
    assert_int_equal(tally(folder).ok, CONFIGURATIONS);
    struct e2e_result r = e2e_run(folder, "at=$PWD/$DIR; ulimit -n 40\n" TUNE
                                          "--device 0,1,2,3,4,5,6,7,8,9,10,11 --no-checks --no-final -n 500");
    assert_int_not_equal(r.status, 0);
    assert_contains(r.err, "cannot create a pipe: Too many open files; `ulimit -n` shows how many are allowed");
}

TEST(gpus_that_are_alike_are_left_alone_and_the_run_says_what_it_used)
{
    char *folder = job_folder("gpus_alike", CONFIGURATIONS / XS);
    struct e2e_result r = e2e_pass(folder, "at=$PWD/$DIR\n" TUNE "--device 0,3 --no-checks\n"
                                           "$BIN/sweetspot status $at/job.cfg --store $at/job.db --format json");
    assert_null(strstr(r.err, "disabled"));
    const char *json = strchr(r.out, '{');
    json_t *document = test_json(json_parse(json ? json : r.out, NULL));
    if (!document && strchr(r.out, '[')) document = test_json(json_parse(strchr(r.out, '['), NULL));
    const json_t *run = json_array_get(json_object_get(document, "runs"), 0), *gpus = json_object_get(run, "gpus");
    assert_string_equal(json_get_string(run, "device", ""), "0,3");
    assert_int_equal(json_array_size(gpus), 2);
    assert_string_equal(json_get_string(json_array_get(gpus, 1), "name", ""), "gpu 3");
    assert_string_equal(json_get_string(json_array_get(gpus, 1), "uuid", ""), "GPU-fake-3");
    assert_true(json_get_integer(json_array_get(gpus, 1), "checks", 0) >= 1);
    assert_true(fabs(json_get_number(json_array_get(gpus, 1), "ratio", 0) - 1) < 1e-9);
}

TEST_MAIN(NULL, NULL)
