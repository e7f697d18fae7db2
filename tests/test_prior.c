// Priors: the knowledge that is taken from another space, the weight of this knowledge, and searches with good and
// misleading priors.
#include "tests/random_normal.h"
#include "tests/scripted.h"
#include "tests/testing.h"

#include "search/model/prior.h"
#include "search/space/random.h"
#include "search/strategies/strategy.h"
#include "tuner/recorded/transfer.h"
#include "tuner/run/search.h"

static struct error err; // from the last call that failed

static const char recorded_path[] = "tests/spaces/sgemm_2048_h200.json.gz";

static struct recorded *recording;

static void setup(void)
{
    recording = recorded_read(recorded_path, &err);
    if (!recording) fail_msg("%s", err.message);
}

static void teardown(void)
{
    recorded_free(recording);
}

// A recorded time as another device might measure it: every parameter value, and every pair of values, changes the time
// by its own factor.
static double elsewhere(const struct recorded *r, size_t trial, uint64_t seed, double spread)
{
    double change = 0;
    const uint16_t *config = r->configs + trial * r->parameter_count;
    for (size_t a = 0; a < r->parameter_count; a++)
        for (size_t b = 0; b <= a; b++) {
            struct random rng;
            random_seed(&rng, (((seed * 64 + a) * 64 + b) * 64 + config[a]) * 64 + config[b]);
            change += spread * random_normal(&rng);
        }
    return r->trials[trial].objective * exp(change);
}

enum misleading { ANOTHER_DEVICE, SHUFFLED, TURNED_ROUND };

static struct prior *make_prior(const struct recorded *r, enum misleading how, uint64_t seed)
{
    struct transfer t;
    struct random rng;
    transfer_init(&t, r->space);
    random_seed(&rng, seed);
    for (size_t i = 0; i < r->trial_count; i++) {
        size_t from = how == SHUFFLED ? random_below(&rng, r->trial_count) : i;
        double time = elsewhere(r, from, seed, 0.012);
        char *text = test_owned(space_text(r->space, r->configs + i * r->parameter_count));
        transfer_add(&t, text, r->trials[from].status, how == TURNED_ROUND ? 1e-6 / time : time);
    }
    struct prior *prior = transfer_prior(&t, &err);
    transfer_release(&t);
    return prior;
}

// The best result after this many evaluations, as a share of the optimum, averaged over seeds.
static double quality(const struct recorded *r, const struct prior *const *priors, size_t count, int evaluations)
{
    enum { SEEDS = 6 };
    double sum = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        double best = INFINITY;
        uint16_t config[SPACE_MAX_PARAMETERS];
        struct strategy *s =
            strategy_new(strategy_choose("default", NULL), r->space,
                         &(struct strategy_options){.seed = seed, .prior_count = count, .priors = priors});
        for (int i = 0; i < evaluations && strategy_ask(s, config); i++) {
            struct observation o = recorded_observation(r, (size_t)recorded_find(r, config));
            if (o.outcome == OUTCOME_OK) best = fmin(best, o.objective);
            strategy_tell(s, &o);
        }
        sum += r->trials[r->best].objective / best / SEEDS;
        strategy_free(s);
    }
    return sum;
}

TEST(two_priors_of_other_devices_lead_near_the_optimum_in_fifteen_evaluations)
{
    const struct recorded *r = recording;
    struct prior *priors[2] = {make_prior(r, ANOTHER_DEVICE, 1), make_prior(r, ANOTHER_DEVICE, 2)};
    assert_non_null(priors[0]);
    assert_non_null(priors[1]);
    double with = quality(r, (const struct prior *const *)priors, 2, 15), without = quality(r, NULL, 0, 15);
    if (with < 0.985 || with < without + 0.01) fail_msg("%.3f of the optimum with priors, %.3f without", with, without);
    prior_free(priors[0]);
    prior_free(priors[1]);
}

TEST(a_prior_whose_best_are_the_worst_does_little_harm)
{
    const struct recorded *r = recording;
    const struct prior *prior = make_prior(r, TURNED_ROUND, 1);
    assert_non_null(prior);
    double with = quality(r, &prior, 1, 50), without = quality(r, NULL, 0, 50);
    if (with < without - 0.02) fail_msg("%.3f of the optimum with it, %.3f without", with, without);
    prior_free((struct prior *)(uintptr_t)prior);
}

TEST(results_that_are_chance_are_no_prior)
{
    const struct recorded *r = recording;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        assert_null(make_prior(r, SHUFFLED, seed));
        assert_contains(err.message, "more than chance would explain");
    }
}

TEST(a_prior_expects_what_was_measured_and_lists_the_best)
{
    const struct recorded *r = recording;
    struct transfer t;
    transfer_init(&t, r->space);
    transfer_add_recorded(&t, r);
    struct prior *prior = transfer_prior(&t, &err);
    if (!prior) fail_msg("%s", err.message);
    uint16_t config[SPACE_MAX_PARAMETERS];
    double best = r->trials[r->best].objective, last = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0, n = 0;
    for (size_t rank = 0; prior_best(prior, rank, config); rank++) {
        assert_true(prior_slowdown(prior, config) >= last);
        last = prior_slowdown(prior, config);
        n++;
    }
    assert_true(n == 64);
    n = 0;
    for (size_t i = 0; i < r->trial_count; i++) {
        if (r->trials[i].status != STATUS_OK) continue;
        double a = prior_slowdown(prior, r->configs + i * r->parameter_count),
               b = slowdown_of(r->trials[i].objective, best);
        n++, x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
    }
    double correlation = (xy - x * y / n) / sqrt((xx - x * x / n) * (yy - y * y / n));
    if (correlation < 0.95) fail_msg("correlation %.3f", correlation);
    assert_true(prior_informativeness(prior) > 0.9);
    prior_free(prior);
    transfer_release(&t);
}

// A space with a number, a word, and a parameter that other spaces do not have.
static struct space *small_space(struct symbols *symbols)
{
    struct space *space = space_new(symbols);
    int64_t words[] = {symbols_intern(symbols, "shuffle"), symbols_intern(symbols, "shared")};
    assert_int_equal(space_add_parameter(space, "B", PARAMETER_INT, (const int64_t[]){16, 32, 64, 128}, 4, &err), 0);
    assert_int_equal(space_add_parameter(space, "R", PARAMETER_STRING, words, 2, &err), 0);
    assert_int_equal(space_add_parameter(space, "NEW", PARAMETER_INT, (const int64_t[]){1, 2}, 2, &err), 0);
    assert_int_equal(space_build(space, NULL, &err), 0);
    return space;
}

TEST(names_and_values_are_matched)
{
    struct symbols *symbols = symbols_new();
    struct space *space = small_space(symbols);
    static const struct {
        const char *text;
        int b, r; // -1: dropped
    } cases[] = {{"B=64,R=shared", 2, 1},    {"OLD=7,R=shuffle,B=16", 0, 0},
                 {"B=48,R=shuffle", 2, 0}, // closer in ratio to 64 than to 32
                 {"B=4096,R=shuffle", 3, 0}, {"B=32,R=atomic", -1, -1},
                 {"BB=64,R=shared", 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct transfer t;
        transfer_init(&t, space);
        transfer_add(&t, cases[i].text, STATUS_OK, 1e-3);
        assert_int_equal(t.count, cases[i].b >= 0);
        assert_int_equal(t.dropped, cases[i].b < 0);
        if (t.count && (t.configs[0] != cases[i].b || t.configs[1] != cases[i].r))
            fail_msg("%s became %d, %d", cases[i].text, t.configs[0], t.configs[1]);
        assert_false(t.known[2]);
        transfer_release(&t);
    }
    space_free(space);
    symbols_free(symbols);
}

TEST(a_prior_that_says_nothing_is_refused_with_the_reason)
{
    struct symbols *symbols = symbols_new();
    struct space *space = small_space(symbols);
    static const struct {
        const char *first, *second;
        enum trial_status status;
        const char *message;
    } cases[] = {{"B=16,R=shuffle", "B=32,R=shared", STATUS_WRONG, "all of its configurations failed"},
                 {"X=16,Y=2", "X=32,Y=4", STATUS_OK, "no tuning parameter in common"},
                 {"B=16,Y=2", "B=16,Y=4", STATUS_OK, "no tuning parameter in common"}, // B never varies
                 {"B=16,R=x", "B=32,R=y", STATUS_OK, "none of its configurations has only values of this space"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct transfer t;
        transfer_init(&t, space);
        transfer_add(&t, cases[i].first, cases[i].status, 1e-3);
        transfer_add(&t, cases[i].second, cases[i].status, 2e-3);
        assert_null(transfer_prior(&t, &err));
        assert_contains(err.message, cases[i].message);
        transfer_release(&t);
    }
    space_free(space);
    symbols_free(symbols);
}

TEST(trust_follows_what_is_measured)
{
    const struct recorded *r = recording;
    struct prior *right = make_prior(r, ANOTHER_DEVICE, 1), *wrong = make_prior(r, TURNED_ROUND, 1);
    const struct prior *both[] = {right, wrong};
    struct prior_weights prior_weights;
    enum { ROWS = 15, DRAWS = 20 };
    float features[ROWS * 2];
    double excesses[ROWS], mean[3] = {0, 0, 0}; // means over the draws: both weights, and `none`
    double alone[2] = {0, 0};                   // only the wrong prior: its weight, and `none`
    struct random rng;
    random_seed(&rng, 3);
    for (int draw = 0; draw < DRAWS; draw++) {
        prior_weights_init(&prior_weights, both, 2);
        assert_true(prior_weights.none < 0.7 && prior_weights.none >= 0.5);
        for (size_t i = 0; i < ROWS; i++) {
            size_t trial = random_below(&rng, r->trial_count);
            prior_weights_features(&prior_weights, r->configs + trial * r->parameter_count, features + 2 * i);
            double time = r->trials[trial].objective;
            excesses[i] = i == 4 ? (double)NAN : isnan(time) ? 1 : slowdown_of(time, r->trials[r->best].objective);
        }
        prior_weights_learn(&prior_weights, features, excesses, ROWS);
        mean[0] += prior_weights.weights[0] / DRAWS;
        mean[1] += prior_weights.weights[1] / DRAWS;
        mean[2] += prior_weights.none / DRAWS;
        prior_weights_init(&prior_weights, both + 1, 1);
        for (size_t i = 0; i < ROWS; i++) features[i] = features[2 * i + 1];
        prior_weights_learn(&prior_weights, features, excesses, ROWS);
        alone[0] += prior_weights.weights[0] / DRAWS;
        alone[1] += prior_weights.none / DRAWS;
    }
    if (mean[0] < 0.4 || mean[1] > 0.1 || mean[2] > 0.35 || alone[0] > 0.05 || alone[1] < 0.85)
        fail_msg("weights %.3f and %.3f, none %.3f; of the wrong one alone %.3f, none %.3f", mean[0], mean[1], mean[2],
                 alone[0], alone[1]);
    prior_free(right);
    prior_free(wrong);
}

TEST(a_file_that_is_not_a_prior_is_named_with_the_reason)
{
    const struct recorded *r = recording;
    char *folder = e2e_folder("prior-files");
    e2e_write(folder, "cut.json", "{\"format\": \"sweetspot-space\", \"version\": 1, \"parameters\": [");
    e2e_write(folder, "damaged.db", "SQLite format 3");
    e2e_write(folder, "text", "hello");
    static const char *const names[] = {"cut.json", "damaged.db", "text", "missing", "."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = test_text("%s/%s", folder, names[i]);
        assert_null(prior_file_read(path, NULL, r->space, &err));
        assert_contains(err.message, path);
    }
    assert_null(prior_file_read("tests/spaces/softmax_h200.json.gz", NULL, r->space, &err));
    struct prior *prior = prior_file_read(recorded_path, NULL, r->space, &err);
    assert_non_null(prior);
    prior_free(prior);
}

TEST(a_replayed_file_is_not_a_prior_for_itself)
{
    char *folder = e2e_folder("prior-replay");
    static const char command[] = "$BIN/sweetspot simulate %s --seeds 2 -b 10,20 -f csv %s%s | cut -d, -f1-8";
    struct e2e_result plain = e2e_run(folder, command, recorded_path, "", "");
    struct e2e_result itself = e2e_run(folder, command, recorded_path, "--prior ", recorded_path);
    assert_int_equal(plain.status + itself.status, 0);
    assert_string_equal(plain.out, itself.out);
    struct e2e_result copy = e2e_run(folder,
                                     "cp %s $DIR/copy.json.gz; $BIN/sweetspot simulate %s --seeds 2 -b 10,20 -f "
                                     "csv --prior $DIR/copy.json.gz --prior tests/jobs | cut -d, -f3",
                                     recorded_path, recorded_path);
    assert_contains(copy.out, "1.0000"); // the copy's best is measured first
    assert_contains(copy.err, "no prior for it: ");
}

static void write_job(const char *folder, const char *name, const char *problems)
{
    char *file = test_text("%s.cfg", name);
    SCRIPTED_JOB(folder, .file = file, .name = name, .problems = problems, .block = "64", .shared = "16 * X",
                 .parameters =
                     "{ name = \"X\"; range = [0, 39]; }, { name = \"MODE\"; values = [\"good\", \"slow\"]; }");
}

// The scripted GPU reports times that depend on X and MODE.
TEST(a_run_learns_from_the_stores_beside_it_and_goes_on_without_what_is_damaged)
{
    char *folder = e2e_folder("prior-stores");
    write_job(folder, "first", "{ N = 1024; }");
    write_job(folder, "second", "{ N = 2048; }");
    struct e2e_result r = e2e_pass(
        folder,
        "cd $DIR; export SWEETSPOT_SANITIZER=none " SCRIPTED
        "; $BIN/sweetspot tune first.cfg -q --no-final -n 60 && echo junk >out/junk.db && echo junk >junk.json && "
        "$BIN/sweetspot tune second.cfg -q --no-final -n 20 --prior junk.json && cat out/second.log && echo ALONE && "
        "$BIN/sweetspot tune second.cfg -q --no-final -n 20 --no-stores --store out/other.db && cat out/second.log");
    assert_contains(r.err, "warning: no prior: junk.json");
    char *alone = strstr(r.out, "ALONE");
    assert_non_null(alone);
    *alone = 0;
    assert_contains(r.out, "prior: out/first.db", "out/junk.db");
    char *again = strstr(alone + 1, "prior: out/first.db"); // from the first part of the log
    assert_non_null(again);
    assert_null(strstr(again + 1, "prior: out/first.db"));
    assert_contains(r.err, "chance of a gain of at least 1%");
}

// Shipped winners are measured first. Those with values that the job no longer has are skipped.
TEST(a_run_begins_with_the_winners_that_come_with_the_job)
{
    char *folder = e2e_folder("shipped");
    write_job(folder, "job", "{ N = 1024; }");
    e2e_pass(folder, "mkdir -p $DIR/tuned $DIR/below && cp $DIR/job.cfg $DIR/*.cu $DIR/below");
    e2e_write(folder, "tuned/job.json",
              "{ \"format\": \"sweetspot-tuned\", \"winners\": [ { \"configuration\": \"X=99,MODE=good\" }, { "
              "\"configuration\": \"X=31,MODE=good\", \"device\": \"NVIDIA H200\" } ] }");
    static const char *const folders[] = {".", "below"};
    for (size_t i = 0; i < 2; i++) {
        struct e2e_result r = e2e_run(folder,
                                      "cd $DIR/%s; export SWEETSPOT_SANITIZER=none " SCRIPTED
                                      "; tune=\"$BIN/sweetspot tune job.cfg -q --no-final "
                                      "-n 1 --store\"; $tune one.db && cat one.log; $BIN/sweetspot export job.cfg "
                                      "--store one.db -o -; echo ALONE; "
                                      "$tune other.db --no-stores; cat other.log",
                                      folders[i]);
        assert_contains(r.out, "the search begins with 1 winners of earlier jobs", "31", "ALONE");
        assert_null(strstr(strstr(r.out, "ALONE"), "winners of earlier jobs"));
    }
    e2e_write(folder, "tuned/job.json", "{ \"winners\": [ { } ] }");
    struct e2e_result r =
        e2e_run(folder, "cd $DIR; export " SCRIPTED "; $BIN/sweetspot tune job.cfg -q --no-final -n 1 --store two.db");
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
    assert_contains(r.err, "tuned/job.json: ", "'configuration'");
}

TEST_MAIN(setup, teardown)
