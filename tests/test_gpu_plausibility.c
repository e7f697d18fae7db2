// Tests that need a GPU: compares the times of real jobs with the lower bounds that their operations state. Every ratio
// must be above 1, or correct kernels would be refused. The closer a ratio is to 1, the more such a check can detect.
#include "tests/gpu.h"

#include "tuner/base/protocol.h"
#include "tuner/store/store.h"

static const struct {
    const char *job, *options;
    double near; // maximum of the sample's fastest time divided by the least time; 0: not checked
} jobs[] = {
    {"sum", "--no-checks", 3},        {"asum", "--no-final", 3},
    {"dot", "--no-final", 3},         {"row_sums", "--no-final", 3},
    {"transpose", "--no-checks", 3},  {"softmax", "--no-final", 4},
    {"prefix_sum", "--no-final", 4},  {"gemv", "--no-final", 3},
    {"iamax", "--no-final", 3},       {"transpose_in_place", "--no-final", 4},
    {"sgemm_2048", "--no-checks", 0}, {"sgemm_3xtf32", "--no-final", 0},
    {"tf32gemm", "--no-final", 0},    {"bgemm_1024", "--no-checks", 0},
    {"bgemm", "--no-final", 0},       {"hgemm_nn", "--no-final", 0},
    {"dgemm", "--no-final", 0},       {"bgemm_beta", "--no-final", 0},
};
enum { SAMPLE = 16 };

struct least_times {
    size_t count;
    char name[64][128];
    double seconds[64], best[64];
    int bad;
};

// Lines of the log: "...  problem M=8,N=8 takes at least 45.6us: moving ..."
static void read_least(struct least_times *all, const char *log)
{
    for (const char *at = log; (at = strstr(at, "  problem ")) && all->count < 64; at++) {
        char unit[8];
        if (sscanf(at, "  problem %127s takes at least %lf%7[a-z]", all->name[all->count], &all->seconds[all->count],
                   unit) != 3)
            continue;
        all->seconds[all->count] *= !strcmp(unit, "us") ? 1e-6 : !strcmp(unit, "ms") ? 1e-3 : 1;
        all->best[all->count++] = INFINITY;
    }
}

static int look(void *user, const struct trial *t)
{
    struct least_times *all = user;
    if (t->status == STATUS_IMPLAUSIBLE) {
        print_message("  implausible: %s (%s)\n", t->reason, t->config);
        all->bad++;
    }
    for (size_t p = 0; p < t->problem_count && t->status == STATUS_OK; p++)
        for (size_t i = 0; i < all->count; i++)
            if (!strcmp(all->name[i], t->problems[p].name) && t->problems[p].time < all->best[i])
                all->best[i] = t->problems[p].time;
    return 0;
}

GPU_TEST(no_right_candidate_of_any_job_is_faster_than_its_least_time)
{
    char *folder = e2e_folder("plausibility");
    int bad = 0;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        autofree struct least_times *all = memory_new(1, sizeof *all);
        struct e2e_result r =
            e2e_run(folder,
                    "mkdir -p $DIR/%s && $BIN/sweetspot tune configs/%s.cfg --store $DIR/%s/s.db --cache $CACHE -q "
                    "--no-counters --strategy random -n %d %s && cat $DIR/%s/*.log",
                    jobs[i].job, jobs[i].job, jobs[i].job, SAMPLE, jobs[i].options, jobs[i].job);
        if (r.status) fail_msg("%s: status %d: %.3000s", jobs[i].job, r.status, r.err);
        read_least(all, r.out);
        if (strstr(r.out, "times are not checked against the device's peaks")) {
            print_message("%s: %s\n", jobs[i].job, strstr(r.out, "times are not checked against the device's peaks"));
            bad++;
        }
        char *path = test_text("%s/%s/s.db", folder, jobs[i].job);
        struct store *store;
        struct environment e;
        struct error err;
        if (store_open(&store, path, false, &err)) fail_msg("%s", err.message);
        assert_int_equal(store_last_environment(store, &e, &err), 0);
        assert_int_equal(store_use_environment(store, &e, &err), 0);
        assert_true(store_each(store, false, 0, STORE_WHOLE, look, all, &err) >= 0);
        store_close(store);
        bad += all->bad + !all->count;
        if (!all->count) print_message("%s: no least time is in the log\n", jobs[i].job);
        for (size_t k = 0; k < all->count; k++) {
            double ratio = all->best[k] / all->seconds[k];
            print_message("%-20s %-40s %10.2f us at least, fastest %10.2f us, ratio %.2f\n", jobs[i].job, all->name[k],
                          1e6 * all->seconds[k], 1e6 * all->best[k], ratio);
            bad += !(ratio > 1) || (jobs[i].near > 0 && ratio > jobs[i].near);
        }
    }
    assert_int_equal(bad, 0);
}

TEST_MAIN(share_cache, NULL)
