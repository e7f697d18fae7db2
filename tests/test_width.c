// Many candidates at once: the search with 64 outstanding proposals, and a driver with 64 workers (timed_worker.c),
// some of which die.
#include "tests/e2e.h"
#include "tests/opened_store.h"
#include "tests/sanitized.h"

#include "search/strategies/strategy.h"
#include "tuner/base/protocol.h"
#include "tuner/recorded/recorded.h"
#include "tuner/store/store.h"

enum { SEEDS = SANITIZED ? 1 : 2, EVALUATIONS = SANITIZED ? 100 : 400, JUDGED = !SANITIZED };

// The share of the optimum that the search reaches. *trace: a hash of the sequence of proposals.
static double search(const struct recorded *r, uint64_t seed, size_t outstanding, uint64_t *trace)
{
    struct strategy *s =
        strategy_new(strategy_choose("default", NULL), r->space, &(struct strategy_options){.seed = seed});
    size_t width = r->parameter_count, waiting = 0;
    autofree uint16_t *configs = memory_new(outstanding * width, sizeof *configs);
    double best = INFINITY;
    *trace = 14695981039346656037u;
    for (int reported = 0; reported < EVALUATIONS; reported++) {
        for (; waiting < outstanding; waiting++) assert_true(strategy_ask(s, configs + waiting * width));
        for (size_t i = 0; i < width; i++) *trace = (*trace ^ configs[i]) * 1099511628211u;
        struct observation o = recorded_observation(r, (size_t)recorded_find(r, configs));
        strategy_tell(s, &o);
        if (o.outcome == OUTCOME_OK) best = fmin(best, o.objective);
        memmove(configs, configs + width, --waiting * width * sizeof *configs);
    }
    strategy_free(s);
    return r->trials[r->best].objective / best;
}

TEST(with_64_outstanding_the_best_of_400_is_as_good_as_one_at_a_time)
{
    struct error err;
    struct recorded *r = recorded_read("tests/spaces/sgemm_2048_h200.json.gz", &err);
    double wide = 0, narrow = 0;
    uint64_t one, again;
    if (!r) fail_msg("%s", err.message);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        wide += search(r, seed, 64, &one) / SEEDS;
        narrow += search(r, seed, 1, &again) / SEEDS;
    }
    search(r, SEEDS, 64, &again);
    recorded_free(r);
    assert_true(one == again);
    if (!JUDGED) return;
    if (wide < narrow - 0.01) fail_msg("%.4f of the optimum, one at a time %.4f", wide, narrow);
    assert_true(wide > 0.985);
}

// Reports the results of the first `count` waiting configurations. Returns how many are left.
static size_t tell_first(struct strategy *s, const struct recorded *r, uint16_t *configs, size_t waiting, size_t count)
{
    size_t width = r->parameter_count;
    for (size_t i = 0; i < count; i++) {
        struct observation o = recorded_observation(r, (size_t)recorded_find(r, configs + i * width));
        strategy_tell(s, &o);
    }
    memmove(configs, configs + count * width, (waiting - count) * width * sizeof *configs);
    return waiting - count;
}

// Ranks the last ten waiting configurations.
static void rank_last(struct strategy *s, const struct recorded *r, uint16_t *configs, size_t waiting,
                      double *acquisition)
{
    const uint16_t *ranked[10];
    for (size_t i = 0; i < 10; i++) ranked[i] = configs + (waiting - 10 + i) * r->parameter_count;
    strategy_rank(s, ranked, 10, acquisition);
}

TEST(a_ranking_learns_at_once_with_few_outstanding_and_after_two_batches_with_many)
{
    struct error err;
    struct recorded *r = recorded_read("tests/spaces/sgemm_2048_h200.json.gz", &err);
    if (!r) fail_msg("%s", err.message);
    // With 64 outstanding proposals, a batch is 8 results.
    static const struct {
        size_t outstanding, reported;
        bool learns;
    } cases[] = {{16, 2, true}, {64, 4, false}, {64, 17, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strategy *s =
            strategy_new(strategy_choose("default", NULL), r->space, &(struct strategy_options){.seed = 7});
        size_t width = r->parameter_count, waiting = 0;
        autofree uint16_t *configs = memory_new(cases[i].outstanding * width, sizeof *configs);
        double before[10], after[10];
        for (int reported = 0; reported < 100; reported++) {
            for (; waiting < cases[i].outstanding; waiting++) assert_true(strategy_ask(s, configs + waiting * width));
            waiting = tell_first(s, r, configs, waiting, 1);
        }
        rank_last(s, r, configs, waiting, before);
        waiting = tell_first(s, r, configs, waiting, cases[i].reported);
        rank_last(s, r, configs, waiting, after);
        bool learnt = false;
        for (size_t k = 0; k < sizeof before / sizeof *before; k++) learnt = learnt || before[k] != after[k];
        if (learnt != cases[i].learns)
            fail_msg("%zu outstanding, %zu results: it %s", cases[i].outstanding, cases[i].reported,
                     cases[i].learns ? "does not learn" : "learns");
        strategy_free(s);
    }
    recorded_free(r);
}

struct seen {
    int count, faults;
};

static int see(void *user, const struct trial *trial)
{
    struct seen *s = user;
    s->count++;
    // Configurations that fail in the landscape are launch errors. A candidate whose worker died twice has crashed.
    if (trial->status != STATUS_OK && trial->status != STATUS_LAUNCH_ERROR && trial->status != STATUS_CRASHED)
        fail_msg("%s: %s", status_name(trial->status), trial->reason);
    s->faults += trial->status == STATUS_CRASHED;
    return 0;
}

// The store has one row per configuration. As many rows as evaluations mean that no configuration was measured twice.
TEST(among_64_workers_of_which_some_die_no_candidate_is_lost_or_measured_twice)
{
    char *folder = e2e_folder("width"), *path = test_text("%s/job.db", folder);
    struct e2e_result r =
        e2e_pass(folder,
                 "export SWEETSPOT_GPU_WORKER=$BIN/timed_worker SWEETSPOT_COMPILE_WORKER=$BIN/timed_worker "
                 "TIMED_TRIAL=0.1 TIMED_FAULTS=0.03\n"
                 "$BIN/sweetspot tune configs/sgemm.cfg --store %s --cache $DIR/cache --device $(seq -s, 0 "
                 "63) --workers 2 --evaluations 600 --no-counters --no-final --no-stores -q; status=$?\n"
                 "grep -c 'killed by signal 9' $DIR/job.log; exit $status",
                 path);
    if (atoi(r.out) < 3) fail_msg("hardly any worker died: %s", r.out);
    struct store *store = opened_store(path);
    struct seen seen = {0};
    struct error err;
    assert_int_equal(store_each(store, false, 0, STORE_WHOLE, see, &seen, &err), 0);
    store_close(store);
    assert_int_equal(seen.count, 600);
    assert_true(seen.faults < 20);
}

TEST_MAIN(NULL, NULL)
