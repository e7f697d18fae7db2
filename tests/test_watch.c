// Watching a run: the accounting of its workers' time, the live file, and `status` during the run. The workers compute
// nothing and only wait (timed_worker.c).
#include "tests/opened_store.h"
#include "tests/testing.h"

#include <math.h>

#include "tuner/base/clock.h"
#include "tuner/run/run_watch.h"
#include "tuner/watch/live_status.h"

// One worker ---------------------------------------------------------------------------------------------------------

TEST(a_worker_is_busy_for_the_share_of_its_life_in_which_it_worked)
{
    struct worker_usage u;
    usage_init(&u, 100);
    assert_true(isnan(usage_share(&u)));
    usage_enter(&u, USAGE_SETTING_UP, 101);
    usage_enter(&u, USAGE_MEASURING, 104);
    usage_enter(&u, USAGE_IDLE, 107);
    usage_enter(&u, USAGE_COUNTING, 108);
    usage_enter(&u, USAGE_COUNTING, 109);
    usage_enter(&u, USAGE_IDLE, 110);
    assert_float_equal(usage_busy_seconds(&u), 5, 1e-9);
    assert_float_equal(usage_share(&u), 0.5, 1e-9);
    assert_float_equal(u.seconds[USAGE_STARTING], 1, 1e-9);
    assert_float_equal(u.seconds[USAGE_SETTING_UP], 3, 1e-9);
    usage_enter(&u, USAGE_MEASURING, 90); // clocks do not run backwards; if they do, nothing is lost
    assert_float_equal(u.seen, 110, 1e-9);
}

TEST(an_answer_that_waits_to_be_read_keeps_no_worker_busy)
{
    struct worker_usage u;
    usage_init(&u, 0);
    usage_enter(&u, USAGE_MEASURING, 0);
    usage_enter(&u, USAGE_MEASURING, 20);
    usage_pending_answers(&u, 8); // the task itself took 12 s
    assert_float_equal(usage_busy_seconds(&u), 12, 1e-9);
    assert_float_equal(u.seconds[USAGE_IDLE], 8, 1e-9);
    usage_pending_answers(&u, -1); // clocks of different machines disagree
    usage_pending_answers(&u, 100);
    assert_float_equal(usage_busy_seconds(&u), 0, 1e-9);
}

// The live file ------------------------------------------------------------------------------------------------------

TEST(a_live_file_tells_a_run_here_from_one_elsewhere_a_silent_one_and_a_dead_one)
{
    json_t *document = test_json(live_status_begin(1));
    autofree char *machine = live_status_machine();
    double now = clock_wall();
    assert_int_equal(live_status_decide(document, machine, now), LIVE_HERE);
    assert_int_equal(live_status_decide(document, machine, now + 1e6), LIVE_HERE); // its process exists
    assert_int_equal(live_status_decide(document, "another", now + 1), LIVE_ELSEWHERE);
    assert_int_equal(live_status_decide(document, "another", now - 1), LIVE_ELSEWHERE);
    assert_int_equal(live_status_decide(document, "another", now + LIVE_STATUS_SILENCE + 1), LIVE_SILENT);
    assert_int_equal(live_status_decide(document, "another", now - LIVE_STATUS_SILENCE - 1), LIVE_SILENT);
    json_object_set_new(document, "every", json_real(10)); // a run with so many workers writes less often
    assert_int_equal(live_status_decide(document, "another", now + 40), LIVE_ELSEWHERE);
    json_object_set_new(document, "pid_started", json_integer(1)); // another process has this id now
    assert_int_equal(live_status_decide(document, machine, now), LIVE_DEAD);
}

TEST(a_live_file_that_cannot_be_used_is_named)
{
    static const struct {
        const char *text, *message;
    } cases[] = {{"{\"format\": \"swee", "store.db.status.json"},
                 {"{\"format\": \"other\", \"version\": 1}", "not the live file of a run"},
                 {"{\"format\": \"sweetspot-live\", \"version\": 1}", "not the live file of a run"}};
    char *folder = e2e_folder("live"), *store = test_text("%s/store.db", folder);
    struct live_status live;
    struct error err;
    assert_int_equal(live_status_read(store, &live, &err), 0);
    assert_int_equal(live.state, LIVE_NONE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        e2e_write(folder, "store.db.status.json", cases[i].text);
        assert_int_equal(live_status_read(store, &live, &err), -1);
        assert_contains(err.message, cases[i].message);
        assert_null(live.document);
    }
}

// Runs ---------------------------------------------------------------------------------------------------------------

#define TIMED                                                                                             \
    "cd %s && export SWEETSPOT_GPU_WORKER=$BIN/timed_worker SWEETSPOT_COMPILE_WORKER=$BIN/timed_worker; " \
    "tune() { $BIN/sweetspot tune job.cfg --store store.db --no-final --no-stores -q \"$@\"; }; "

// The space is so large that no test exhausts it.
static char *timed_folder(const char *name)
{
    char *folder = e2e_folder(name);
    e2e_write(folder, "kernel.cu",
              "extern \"C\" __global__ void scale(const float *x, float *y, int n)\n{\n"
              "    y[0] = x[0] * X * Y * n;\n}\n");
    e2e_write(folder, "job.cfg",
              "name = \"watched\";\nkernel = { template = \"kernel.cu\"; entry = \"scale\"; };\n"
              "parameters = (\n  { name = \"X\"; range = [1, 1000]; },\n"
              "  { name = \"Y\"; range = [1, 1000]; }\n);\n"
              "problems = ( { N = 65536; } );\nlaunch = { grid = [ \"N / 128\" ]; block = [ 128 ]; };\n"
              "arguments = (\n  { buffer = \"x\"; type = \"f32\"; shape = [ \"N\" ]; },\n"
              "  { buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"out\"; },\n"
              "  { scalar = \"N\"; type = \"i32\"; }\n);\nverification = { enabled = false; };\n"
              "strategy = \"random\";\n");
    return folder;
}

static json_t *workers_of(const char *folder)
{
    struct store *store = opened_store("%s/store.db", folder);
    struct error err;
    json_t *document = store_get_document(store, 0, "workers", NULL, &err);
    if (!document) fail_msg("no document: %s", err.message);
    store_close(store);
    return document;
}

// In each of the three searches a different delay is the longest. The share of time that belongs to this delay must be
// larger there than in the other two searches. The searches run at the same time, so that a busy machine slows all of
// them down.
TEST(the_summary_of_a_search_says_how_busy_gpus_compilers_and_driver_were)
{
    static const struct {
        const char *name, *delays, *options, *share;
    } cases[] = {
        {"compiling", "TIMED_TRIAL=0.02 TIMED_COMPILE=0.3", "--workers 2", "compilers_busy"},
        {"asking", "TIMED_TRIAL=0.001", "--workers 4 --strategy trees", "driver_busy"},
        {"nothing", "TIMED_TRIAL=0.03", "--workers 2", "busy"},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    char *folders[CASES];
    autorelease(text_release) struct text all = {0};
    for (int i = 0; i < CASES; i++) {
        folders[i] = timed_folder(cases[i].name);
        text_add(&all, "( " TIMED "%s tune --device 0,1 --time 4s --no-final --no-counters %s 2>messages ) & ",
                 folders[i], cases[i].delays, cases[i].options);
    }
    e2e_run(folders[0], "%s wait", all.text);
    double busy[CASES][CASES];
    for (int i = 0; i < CASES; i++) {
        char *path = test_text("%s/messages", folders[i]), *messages = test_owned(text_read_file(path, NULL));
        assert_contains(messages, "GPUs were busy with candidates ");
        json_t *workers = test_json(workers_of(folders[i]));
        for (int k = 0; k < CASES; k++) {
            busy[i][k] = json_get_number(workers, cases[k].share, NAN);
            if (!(busy[i][k] >= 0 && busy[i][k] <= 1)) fail_msg("%s: %s", cases[i].name, messages);
        }
    }
    for (int i = 0; i < CASES; i++)
        for (int k = 0; k < CASES; k++)
            if (i != k && busy[i][i] <= busy[k][i])
                fail_msg("%s: %g in '%s', %g in '%s'", cases[i].share, busy[i][i], cases[i].name, busy[k][i],
                         cases[k].name);
}

// During a run --------------------------------------------------------------------------------------------------------

// Waits, for at most a minute, until the live file contains measured candidates.
#define LIVE "for i in $(seq 600); do grep -qs clock_mhz store.db.status.json && break; sleep 0.1; done; "
#define STATUS "$BIN/sweetspot status job.cfg --store store.db "
// Makes the live file look as if another machine had written it. `status` then does not read the store.
#define MOVED "sed 's/\"machine\":\"[^\"]*\"/\"machine\":\"another\"/; s/\"host\":\"[^\"]*\"/\"host\":\"node7\"/' "

TEST(status_shows_what_each_worker_does_here_and_on_another_machine)
{
    char *folder = timed_folder("live-run");
    struct e2e_result r = e2e_pass(
        folder,
        TIMED
        "export TIMED_TRIAL=0.05; $BIN/sweetspot tune job.cfg --store store.db --no-final --no-stores -q --device 0,1 "
        "--workers 2 --time 100s --no-counters 2>messages & " LIVE STATUS "--format json >here.json; " STATUS "; " MOVED
        "store.db.status.json >moved.db.status.json; echo nonsense >moved.db; "
        "$BIN/sweetspot status job.cfg --store moved.db; kill -INT $!; wait $!; ls",
        folder);
    assert_contains(r.out, "is tuning it now, on this machine: search, updated ",
                    "is tuning it now, on node7: search, updated ", "not read: its run is on another machine", "gpu 0 ",
                    "gpu 1 ", "2 compilers", "1980 MHz", "40 C");
    if (strstr(r.out, "\nstore.db.status.json")) fail_msg("the live file is still there: %s", r.out);
    char *path = test_text("%s/here.json", folder), *text = test_owned(text_read_file(path, NULL));
    struct error err;
    json_t *status = test_json(json_parse(text, &err)), *live = json_object_get(status, "live");
    assert_string_equal(json_get_string(live, "state", ""), "here");
    assert_string_equal(json_get_string(live, "phase", ""), "search");
    assert_int_equal(json_array_size(json_object_get(live, "workers")), 4);
    int64_t done = 0;
    json_array_each(json_object_get(live, "workers"), i, w) {
        bool gpu = !strcmp(json_get_string(w, "kind", ""), "gpu");
        assert_int_equal(gpu, i < 2);
        double busy = json_get_number(w, "busy", NAN);
        if (!(gpu ? busy > 0 && busy <= 1 : busy >= 0 && busy <= 1)) fail_msg("worker %zu is %g busy", i, busy);
        done += gpu ? json_get_integer(w, "done", 0) : 0;
    }
    assert_true(done > 0);
}

// Two nodes with different kinds of GPU.
TEST(workers_of_nodes_have_their_names_and_the_reason_why_they_are_set_aside)
{
    char *folder = timed_folder("nodes");
    e2e_write(folder, "nodes.cfg",
              "nodes = ( { name = \"one\"; gpus = 1; cores = 1; },\n"
              "  { name = \"two\"; gpus = 1; cores = 2; command = \"env TIMED_DEVICE='Odd GPU'\"; } );\n");
    e2e_ended(
        130,
        e2e_run(
            folder,
            TIMED
            "export TIMED_TRIAL=0.02; $BIN/sweetspot tune job.cfg --store store.db --no-final --no-stores -q --pool "
            "nodes.cfg --node-cache $PWD/cache --time 100s --no-counters & " LIVE
            "for i in $(seq 600); do grep -qs 'is disabled' store.log && break; sleep 0.1; done; kill -INT $!; wait $!",
            folder));
    const json_t *document = test_json(workers_of(folder)), *gpu[2] = {NULL, NULL};
    size_t compilers[2] = {0, 0};
    json_array_each(json_object_get(document, "workers"), i, w) {
        bool two = !strcmp(json_get_string(w, "node", ""), "two");
        if (!two) assert_string_equal(json_get_string(w, "node", ""), "one");
        if (strcmp(json_get_string(w, "kind", ""), "gpu"))
            compilers[two]++;
        else
            gpu[two] = w;
    }
    assert_int_equal(compilers[0], 1);
    assert_int_equal(compilers[1], 2);
    bool odd = !strcmp(json_get_string(gpu[1], "state", ""), "disabled"); // the first GPU to answer sets the kind
    const json_t *aside = gpu[odd], *used = gpu[!odd];
    assert_string_equal(json_get_string(aside, "state", ""), "disabled");
    assert_contains(json_get_string(aside, "reason", ""), "GPU");
    assert_int_equal(json_get_integer(aside, "done", -1), 0);
    assert_true(json_get_integer(used, "done", 0) > 0);
}

TEST(a_run_whose_driver_is_killed_is_told)
{
    char *folder = timed_folder("killed");
    struct e2e_result r =
        e2e_run(folder,
                TIMED "TIMED_TRIAL=0.05 $BIN/sweetspot tune job.cfg --store store.db --no-stores -q --workers 1 --time "
                      "60s --no-counters 2>messages & " LIVE "kill -9 $(sed 's/.*\"pid\":\\([0-9]*\\).*/\\1/' "
                      "store.db.status.json); wait $!; " STATUS,
                folder);
    assert_contains(r.out, "the last run was killed: process ", "resume with");
    // A leftover file does no harm: the next run overwrites it, and removes it at its end.
    r = e2e_pass(folder,
                 TIMED "TIMED_TRIAL=0.01 tune --evaluations 80 --workers 1 --no-counters 2>messages; ls; " STATUS,
                 folder);
    assert_null(strstr(r.out, "status.json"));
    assert_null(strstr(r.out, "killed"));
}

TEST_MAIN(NULL, NULL)
