// A whole tuning run on a recorded space: it is deterministic and can be resumed after kill -9 at any moment. Also
// tests the other commands on its store.
#include "tests/scripted.h"
#include "tests/testing.h"

#include <math.h>

#include "search/space/random.h"
#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/store/store.h"

enum { EVALUATIONS = 250 };

// A recorded space of 16 x 16 x 4 configurations with failures of several kinds, and its job.
static void write_space(const char *folder)
{
    json_t *trials = json_array(), *xs = json_array(), *ys = json_array();
    for (int x = 0; x < 16; x++) json_array_append_new(xs, json_integer(x)), json_array_append_new(ys, json_integer(x));
    for (int x = 0; x < 16; x++)
        for (int y = 0; y < 16; y++)
            for (int z = 0; z < 4; z++) {
                double time = 1e-3 * (1 + 0.02 * (x - 11) * (x - 11) + 0.03 * (y - 3) * (y - 3) +
                                      0.1 * ((x * 7 + y * 3 + z * 5) % 9));
                const char *status = (x + 3 * y + z) % 11 == 0 ? "compile_error"
                                     : (x * y + z) % 13 == 0   ? "wrong"
                                     : (x + y + z) % 17 == 0   ? "pruned"
                                                               : "ok";
                bool ok = !strcmp(status, "ok");
                json_array_append_new(
                    trials, json_pack("[i,i,i,s,o,o,i,i]", x, y, z, status, ok ? json_real(time) : json_null(),
                                      ok ? json_pack("[f,f,f]", 0.99 * time, time, 1.02 * time) : json_null(), 32 + x,
                                      1000 + y));
            }
    json_t *all = json_pack("{s:s, s:i, s:s, s:{s:s}, s:[{s:s, s:o}, {s:s, s:o}, {s:s, s:[i,i,i,i]}], s:[{s:s}], "
                            "s:[s,s,s,s,s,s,s,s], s:o, s:[{s:s, s:[{s:f, s:[f,f]}]}]}",
                            "format", "sweetspot-space", "version", 1, "job", "r", "device", "name", "Recorded GPU",
                            "parameters", "name", "X", "values", xs, "name", "Y", "values", ys, "name", "Z", "values",
                            0, 1, 2, 3, "metrics", "key", "misses", "columns", "X", "Y", "Z", "status", "time",
                            "samples", "registers", "misses", "trials", trials, "baselines", "name", "cublas",
                            "problems", "time", 1.2e-3, "samples", 1.2e-3, 1.21e-3);
    e2e_write_json(folder, "space.json", all);
    SCRIPTED_JOB(folder, .name = "r",
                 .parameters = "{ name = \"X\"; range = [0, 15]; }, { name = \"Y\"; range = [0, 15]; }, { name = "
                               "\"Z\"; values = [0, 1, 2, 3]; }");
}

struct seen {
    size_t count;
    struct {
        char *config;
        double objective;
        int status;
    } trials[2048];
};

static int note(void *user, const struct trial *t)
{
    struct seen *s = user;
    s->trials[s->count].config = text_copy(t->config);
    s->trials[s->count].status = (int)t->status;
    s->trials[s->count++].objective = t->objective;
    return 0;
}

static void read_store(const char *folder, const char *name, struct seen *seen)
{
    char *path = test_text("%s/%s", folder, name);
    struct store *store;
    struct error err;
    struct environment e;
    seen->count = 0;
    if (access(path, R_OK) == 0) {
        if (store_open(&store, path, false, &err)) fail_msg("after a kill: %s", err.message);
        if (!store_last_environment(store, &e, &err)) {
            assert_int_equal(store_use_environment(store, &e, &err), 0);
            assert_true(store_each(store, false, 0, STORE_WHOLE, note, seen, &err) >= 0);
        }
        store_close(store);
    }
}

static int find(const struct seen *s, const char *config)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->trials[i].config, config)) return (int)i;
    return -1;
}

static void forget(struct seen *s)
{
    for (size_t i = 0; i < s->count; i++) free(s->trials[i].config);
    s->count = 0;
}

#define TUNE "$BIN/sweetspot tune %s/job.cfg --device replay:%s/space.json --store %s/%s -q -n %d --strategy %s"

static const char *const strategies[] = {"default", "local", "random", "exhaustive"};

TEST(the_same_seed_gives_the_same_run)
{
    char *folder = e2e_folder("same");
    static struct seen a, b;
    write_space(folder);
    for (size_t k = 0; k < sizeof strategies / sizeof *strategies; k++) {
        for (int i = 0; i < 2; i++) {
            char name[32];
            snprintf(name, sizeof name, "%zu%d.db", k, i);

            e2e_pass(folder, TUNE, folder, folder, folder, name, 100, strategies[k]);
            read_store(folder, name, i ? &b : &a);
        }
        assert_int_equal(a.count, b.count);
        assert_true(a.count >= 100);
        for (size_t i = 0; i < a.count; i++) assert_string_equal(a.trials[i].config, b.trials[i].config);
        forget(&a);
        forget(&b);
    }
}

// Committed results are never lost, changed or measured again, and the final result is the same.
TEST(killed_a_hundred_times_it_loses_nothing_measures_nothing_twice_and_ends_the_same)
{
    char *folder = e2e_folder("kill"), *log = test_text("%s/log", folder);
    static struct seen before, after, undisturbed;
    struct random random;
    random_seed(&random, 7);
    write_space(folder);
    struct e2e_result r = e2e_pass(folder, TUNE, folder, folder, folder, "calm.db", EVALUATIONS, "default");
    char *calm = test_owned(text_copy(r.out));
    read_store(folder, "calm.db", &undisturbed);
    int in_time = 0;
    for (int i = 0; i < 100; i++) {
        unlink(log);
        double instant = 0.005 + 0.08 * random_unit(&random);
        r = e2e_run(folder,
                    "export SWEETSPOT_REPLAY_DELAY=0.008 SWEETSPOT_REPLAY_LOG=%s\n" TUNE
                    " & pid=$!; sleep %.4f; kill -9 $pid 2>/dev/null; wait $pid; echo $?",
                    log, folder, folder, folder, "killed.db", EVALUATIONS, "default", instant);
        in_time += strstr(r.out, "137") != NULL;
        read_store(folder, "killed.db", &after);
        for (size_t k = 0; k < before.count; k++) {
            int at = find(&after, before.trials[k].config);
            if (at < 0) fail_msg("kill %d: %s was committed and is gone", i, before.trials[k].config);
            assert_int_equal(after.trials[at].status, before.trials[k].status);
            assert_true(after.trials[at].objective == before.trials[k].objective || isnan(before.trials[k].objective));
        }
        char *measured = test_owned(text_read_file(log, NULL));
        for (char *line = measured ? strtok(measured, "\n") : NULL; line; line = strtok(NULL, "\n"))
            if (find(&before, line) >= 0) fail_msg("kill %d: %s was measured again", i, line);
        forget(&before);
        before = after;
    }
    assert_true(in_time >= 20); // kills while the program was running
    r = e2e_pass(folder, TUNE, folder, folder, folder, "killed.db", EVALUATIONS, "default");
    // The same winner with the same figures; only the trial's number and the store's name may differ.
    const char *was = strchr(calm, ','), *is = strchr(r.out, ','), *end = strstr(calm, "results are in ");
    assert_non_null(was);
    assert_non_null(is);
    assert_non_null(end);
    if (strncmp(is, was, (size_t)(end - was)) != 0) fail_msg("it was %s, and is %s", was, is);
    read_store(folder, "killed.db", &after);
    assert_int_equal(after.count, undisturbed.count);
    for (size_t i = 0; i < undisturbed.count; i++)
        if (find(&after, undisturbed.trials[i].config) < 0)
            fail_msg("the undisturbed run measured %s, the killed one did not", undisturbed.trials[i].config);
    forget(&after);
    forget(&undisturbed);
}

TEST(exhaustive_replay_finds_the_recorded_optimum_and_all_commands_work_on_the_store)
{
    char *folder = e2e_folder("commands");
    write_space(folder);
    struct e2e_result r = e2e_pass(folder, TUNE " --pool local", folder, folder, folder, "node.db", 0, "exhaustive");
    assert_contains(r.out, "x as fast as cublas");
    r = e2e_pass(folder, TUNE, folder, folder, folder, "r.db", 0, "exhaustive");
    assert_contains(r.out, "x as fast as cublas");
    static const char *const commands[] = {"status %s/job.cfg --store %s/r.db", "compare %s/job.cfg --store %s/r.db",
                                           "compare %s/job.cfg --store %s/r.db --format json"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *line = test_text(commands[i], folder, folder);
        r = e2e_run(folder, "$BIN/sweetspot %s", line);
        if (r.status) fail_msg("%s: status %d: %s", line, r.status, r.err);
        assert_true(strlen(r.out) > 100);
    }
}

TEST(stop_rules_end_a_run_and_the_reason_is_kept)
{
    static const struct {
        const char *options, *reason;
        int evaluations; // 0: no limit
    } cases[] = {
        {"--until 1.5ms", "the target is reached", 0},
        {"--until 50%", "below 'until'", 0},
        {"", "evaluations are used up", 30},
    };
    char *folder = e2e_folder("stop");
    write_space(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct e2e_result r =
            e2e_pass(folder, "rm -f %s/r.db; " TUNE " %s && $BIN/sweetspot status %s/job.cfg --store %s/r.db", folder,
                     folder, folder, folder, "r.db", cases[i].evaluations, "random", cases[i].options, folder, folder);
        assert_contains(r.out, cases[i].reason);
    }
    struct e2e_result r =
        e2e_run(folder, TUNE " --until '95%% of ceiling'", folder, folder, folder, "c.db", 0, "random");
    assert_int_equal(r.status, 2);
    assert_contains(r.err, "the search is to end at 95% of the ceiling, which is unknown: set the job's 'work'");
    r = e2e_pass(
        folder,
        "$BIN/sweetspot tune configs/sgemm_2048.cfg --device replay:tests/spaces/sgemm_2048_h200.json.gz --store "
        "$DIR/s.db -q --until '70%% of ceiling' && $BIN/sweetspot status configs/sgemm_2048.cfg --store $DIR/s.db");
    assert_contains(r.out, "the target is reached");
}

TEST(a_recorded_file_that_is_missing_or_broken_is_a_clear_error)
{
    char *folder = e2e_folder("broken");
    write_space(folder);
    struct e2e_result r =
        e2e_run(folder, "$BIN/sweetspot tune $DIR/job.cfg --device replay:$DIR/nosuch.json --store $DIR/r.db -q");
    assert_int_equal(r.status, EXIT_USAGE);
    assert_contains(r.err, "nosuch.json");
    r = e2e_run(folder, "head -c 5000 $DIR/space.json >$DIR/cut.json; $BIN/sweetspot tune $DIR/job.cfg --device "
                        "replay:$DIR/cut.json --store $DIR/r.db -q");
    assert_int_equal(r.status, EXIT_USAGE);
    assert_contains(r.err, "cut.json");
}

TEST_MAIN(NULL, NULL)
