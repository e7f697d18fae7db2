// `sweetspot tune --format json` prints events as JSON lines, and nothing else, on standard output.
// tests/golden/tune_json.txt contains every member of a run's events, and this file tests other cases.
#include "tests/e2e.h"
#include "tests/testing.h"

enum { EVENTS_MOST = 4000 };

struct events {
    size_t count;
    json_t *list[EVENTS_MOST];
};

// Tunes the golden job; `options` follow the recording on the command line.
static struct e2e_result tune_with(const char *folder, const char *device, const char *format, const char *options)
{
    return e2e_run(folder,
                   "cp tests/golden/job.cfg tests/golden/kernel.cu tests/golden/space.json $DIR; cd $DIR && "
                   "$BIN/sweetspot tune job.cfg --device %s --store job.db --format %s %s",
                   device, format, options);
}

static struct e2e_result tune(const char *folder, const char *options)
{
    return tune_with(folder, "replay:space.json", "json", options);
}

static struct events read_events(const char *text)
{
    struct events events = {0};
    struct error err;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        assert_non_null(strchr(line, '\n'));
        char *one = test_text("%.*s", (int)strcspn(line, "\n"), line);
        assert_true(events.count < EVENTS_MOST);
        events.list[events.count] = json_parse(one, &err);
        if (!events.list[events.count++]) fail_msg("no JSON: %s", one);
    }
    return events;
}

static void release(struct events *events)
{
    for (size_t i = 0; i < events->count; i++) json_decref(events->list[i]);
}

static const char *kind_of(const struct events *events, size_t i)
{
    return json_get_string(events->list[i], "event", "");
}

// The n-th event of a kind, from 0; NULL if there are fewer.
static const json_t *find(const struct events *events, const char *kind, size_t n)
{
    for (size_t i = 0; i < events->count; i++)
        if (!strcmp(kind_of(events, i), kind) && !n--) return events->list[i];
    return NULL;
}

TEST(standard_output_has_events_from_begin_to_end)
{
    char *folder = e2e_folder("events");
    struct e2e_result r = e2e_passed(tune(folder, "-q"));
    assert_null(strstr(r.out, "winner:"));
    struct events events = read_events(r.out);
    assert_string_equal(kind_of(&events, 0), "begin");
    assert_string_equal(kind_of(&events, events.count - 1), "end");
    release(&events);
}

TEST(the_race_of_the_builds_and_energies_add_no_other_lines)
{
    char *folder = e2e_folder("events_builds");
    struct e2e_result r = e2e_pass(
        folder, "cp tests/golden/job.cfg tests/golden/kernel.cu $DIR; cd $DIR && export SWEETSPOT_NVCC= FAKE_NVCC=1.02 "
                "FAKE_ENERGY=1 SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker; "
                "$BIN/sweetspot tune job.cfg --store job.db --format json -q && grep -q 'built by' job.log");
    struct events events = read_events(r.out);
    assert_non_null(find(&events, "winner", 0));
    release(&events);
}

TEST(the_winner_of_the_events_is_that_of_the_store)
{
    char *folder = e2e_folder("events_winner");
    struct e2e_result r = tune(folder, "-q"), compare;
    struct events events = read_events(r.out);
    const json_t *winner = find(&events, "winner", 0), *end = find(&events, "end", 0);
    assert_non_null(winner);
    compare = e2e_run(folder, "$BIN/sweetspot compare $DIR/job.cfg --store $DIR/job.db");
    assert_contains(compare.out, test_text("winner: trial %d  %s\n", (int)json_get_integer(winner, "trial", -1),
                                           json_get_string(winner, "config", "?")));
    assert_int_equal(json_get_integer(end, "exit_status", -1), 0);
    assert_string_equal(json_get_string(find(&events, "final", 0), "outcome", ""), "decided");
    // The last "best" event has the best time of all.
    double best = json_get_number(end, "best", 0), least = 1e9;
    for (size_t n = 0; find(&events, "best", n); n++) least = json_get_number(find(&events, "best", n), "time", 0);
    assert_true(best > 0 && (best == least || best == json_get_number(find(&events, "first", 0), "time", 0)));
    release(&events);
    // Stored results are reported again and marked as stored.
    r = tune(folder, "-q --no-final");
    events = read_events(r.out);
    assert_true(json_get_bool(find(&events, "first", 0), "stored", false));
    assert_int_equal(json_get_integer(find(&events, "searched", 0), "new_trials", -1), 0);
    assert_null(find(&events, "final", 0));
    release(&events);
}

TEST(an_interrupted_run_ends_with_its_exit_status)
{
    char *folder = e2e_folder("events_interrupt");
    struct e2e_result r =
        e2e_run(folder, "cp tests/golden/job.cfg tests/golden/kernel.cu tests/golden/space.json $DIR; cd $DIR; export "
                        "SWEETSPOT_REPLAY_DELAY=0.4; $BIN/sweetspot tune job.cfg --device replay:space.json --store "
                        "job.db --format json -q & first=$!\nuntil grep -q 'first result' job.log; do sleep 0.1; done "
                        "2>/dev/null; kill -INT $first; wait $first; exit $?");
    assert_int_equal(r.status, 130);
    struct events events = read_events(r.out);
    const json_t *end = find(&events, "end", 0);
    assert_int_equal(json_get_integer(end, "exit_status", -1), 130);
    assert_string_equal(json_get_string(end, "reason", ""), "interrupted");
    assert_null(find(&events, "winner", 0));
    assert_contains(r.err,
                    "To resume: sweetspot tune job.cfg --device replay:space.json --store job.db --format json -q\n");
    release(&events);
}

TEST(a_run_that_fails_says_why)
{
    char *folder = e2e_folder("events_failure");
    struct e2e_result r = tune_with(folder, "replay:none.json", "json", "");
    struct events events = read_events(r.out);
    assert_int_equal(r.status, 2);
    assert_int_equal(events.count, 1);
    assert_int_equal(json_get_integer(find(&events, "end", 0), "exit_status", -1), 2);
    assert_contains(json_get_string(find(&events, "end", 0), "reason", ""), "none.json");
    release(&events);
    // A run that cannot begin prints no events.
    r = e2e_ended(2, tune(folder, "--strategy rendom"));
    assert_string_equal(r.out, "");
    r = e2e_ended(2, tune_with(folder, "replay:space.json", "csv", ""));
    assert_contains(r.err, "--format cannot be 'csv'; use one of table, json");
    assert_string_equal(r.out, "");
}

TEST(closing_the_pipe_does_not_end_the_run)
{
    char *folder = e2e_folder("events_pipe");
    struct e2e_result r = e2e_pass(
        folder,
        "cp tests/golden/job.cfg tests/golden/kernel.cu tests/golden/space.json $DIR; cd $DIR; export "
        "SWEETSPOT_REPLAY_DELAY=0.1; { $BIN/sweetspot tune job.cfg --device replay:space.json --store job.db --format "
        "json -q; echo $? >status; } | head -1 >first; cat status; $BIN/sweetspot compare job.cfg --store job.db");
    assert_int_equal(atoi(r.out), 141);
    assert_contains(r.out, "winner: trial"); // all were tried, and a winner was found
    const char *said = strstr(r.err, "cannot write events");
    assert_non_null(said);
    assert_null(strstr(said + 1, "cannot write events"));
}

TEST(several_jobs_end_with_one_event_for_all)
{
    char *folder = e2e_folder("events_jobs");
    struct e2e_result r =
        e2e_pass(folder, "cp tests/golden/job.cfg tests/golden/kernel.cu tests/golden/space.json $DIR; cd "
                         "$DIR; sed 's/\"golden\"/\"second\"/' job.cfg >second.cfg; $BIN/sweetspot tune "
                         "job.cfg second.cfg --device replay:space.json --time 4s --format json -q");
    struct events events = read_events(r.out);
    const json_t *last = events.list[events.count - 1], *jobs = json_object_get(last, "jobs");
    assert_string_equal(kind_of(&events, events.count - 1), "jobs");
    assert_int_equal(json_array_size(jobs), 2);
    assert_string_equal(json_get_string(json_array_get(jobs, 1), "job", ""), "second");
    assert_true(json_get_number(json_array_get(jobs, 1), "best", 0) > 0);
    assert_null(json_object_get(last, "job"));
    bool second = false;
    for (size_t n = 0; find(&events, "winner", n); n++)
        second |= !strcmp(json_get_string(find(&events, "winner", n), "job", ""), "second");
    assert_true(second);
    release(&events);
}

TEST_MAIN(NULL, NULL)
