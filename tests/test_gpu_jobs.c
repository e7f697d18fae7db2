// Tests that need a GPU: random candidates of the jobs whose templates have the most code paths, at sizes that no tile
// divides.
#include "tests/gpu.h"

#include "tests/opened_store.h"

static const struct {
    const char *job, *sizes;
} jobs[] = {
    {"smith_waterman", "s/COUNT = 216268; LENGTH_A = 64; LENGTH_B = 64/COUNT = 1002; LENGTH_A = 150; LENGTH_B = 90/; "
                       "s/COUNT = 432536; LENGTH_A = 64; LENGTH_B = 64/COUNT = 63; LENGTH_A = 64; LENGTH_B = 300/; "
                       "s/COUNT = 648804; LENGTH_A = 64; LENGTH_B = 64/COUNT = 5; LENGTH_A = 1; LENGTH_B = 40/; "
                       "s/COUNT = 865072; LENGTH_A = 64; LENGTH_B = 64/COUNT = 2000; LENGTH_A = 65; LENGTH_B = 33/"},
    {"stencil_25", "s/HEIGHT = 16384; WIDTH = 16384/HEIGHT = 333; WIDTH = 516/"},
    {"stencil_5", "s/HEIGHT = 16384; WIDTH = 16384/HEIGHT = 333; WIDTH = 514/"},
    {"prefix_sum", "s/N = 134217728/N = 5000012/"},
    {"average_matvec", "s/N = 1024; M = 1024; L = 1024/N = 1001; M = 41; L = 515/"},
    {"average_matvec_own", "s/N = 1024; M = 1024; L = 1024/N = 1000; M = 41; L = 516/"},
    {"average_matvec_own", "s/N = 1024; M = 1024; L = 1024/N = 1001; M = 41; L = 515/"},
    {"transpose",
     "s/ROWS = 16384; COLS = 16384/ROWS = 1028; COLS = 2052/; s/ROWS = 16383; COLS = 16383/ROWS = 1027; COLS = 2051/"},
};

static int count_bad(void *user, const struct trial *t)
{
    static const enum trial_status bad[] = {STATUS_WRONG,      STATUS_OUT_OF_BOUNDS, STATUS_CRASHED,
                                            STATUS_TIMEOUT,    STATUS_LAUNCH_ERROR,  STATUS_NONDETERMINISTIC,
                                            STATUS_IMPLAUSIBLE};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (t->status != bad[i]) continue;
        print_message("%s: %s: %.400s\n", t->config, status_name(t->status), t->reason);
        ++*(int *)user;
    }
    return 0;
}

GPU_TEST(random_candidates_are_right_at_odd_sizes)
{
    char *folder = e2e_folder("odd");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct e2e_result r =
            e2e_run(folder,
                    "awk '/^@include/ { gsub(/\"/, \"\", $2); while ((getline line < (\"configs/\" $2)) > 0) print "
                    "line; next } 1' configs/%s.cfg | sed 's|\"\\.\\./templates|\"'$PWD'/templates|; "
                    "s|cub.cu|'$PWD'/configs/&|; %s' >$DIR/job.cfg "
                    "&& $BIN/sweetspot tune $DIR/job.cfg --store $DIR/%s.db --cache $CACHE -q --no-counters --no-final "
                    "--strategy "
                    "random -n 150",
                    jobs[i].job, jobs[i].sizes, jobs[i].job);
        if (r.status) fail_msg("%s: status %d: %.3000s", jobs[i].job, r.status, r.err);
        struct store *store = opened_store("%s/%s.db", folder, jobs[i].job);
        struct error err;
        int bad = 0;
        assert_int_equal(store_each(store, false, 0, 0, count_bad, &bad, &err), 0);
        store_close(store);
        if (bad) fail_msg("%s: %d candidates", jobs[i].job, bad);
    }
}

TEST_MAIN(share_cache, NULL)
