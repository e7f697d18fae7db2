// Faults from outside a run, with scripted workers (fake_worker.c, $FAKE_FAULT): workers are killed or stopped, pipes
// close, the driver is suspended, the store is deleted, a lock is removed, the size of files is limited. No candidate
// fails because of such faults, no result is lost, and the driver reports what happened.
#include "tests/opened_store.h"
#include "tests/scripted.h"

#include <sys/resource.h>

#include "tuner/base/protocol.h"
#include "tuner/store/store.h"

#define FAKE SCRIPTED
#define TUNE FAKE "$BIN/sweetspot tune $at/job.cfg --store $at/job.db -q "

static char *job_folder(const char *name)
{
    char *folder = e2e_folder(name);
    SCRIPTED_JOB(folder, .parameters = "{ name = \"X\"; range = [1, 8]; }, { name = \"MODE\"; values = [\"good\"]; }",
                 .more = "measure = { timeout = \"60s\"; final = { candidates = 3; rounds = 10; }; };\n"
                         "compile = { timeout = \"1s\"; }; strategy = \"exhaustive\";");
    return folder;
}

// Runs a script with $at set to the folder, and $FAKE_LOG to a file in it.
#define RUN(folder, script) e2e_run(folder, "at='%s'; export FAKE_LOG=$at/measured\n" script, folder)

TEST(every_fault_from_outside_costs_no_candidate)
{
    static const struct {
        const char *fault;
        const char *log; // the log's message
    } cases[] = {
        {"trial:kill:1", "it is tried again"},
        {"trial:stop:1", "was stopped from outside"},
        {"compile:kill:1", "killed by signal 9"},
        {"answered:exit:1", "it is tried again"}, // the next request is waiting and has not begun
        {"answered:mute:1", "it is tried again"},
        {"count:kill:1", "killed by signal 9"},
        {"final:kill:1", "killed by signal 9"},
        {"hello:kill:1", NULL},
        {"start:kill:2", NULL},
        {"job:kill:1", NULL},
        {"helper:kill:1", NULL},
        {"start:exit:2", NULL},
        {"trial:quiet:1", NULL},
        // Several times in a row.
        {"compile:kill:4", "killed by signal 9"},
        {"helper:kill:3", NULL},
        {"job:kill:5", NULL},
        {"final:kill:3", "killed by signal 9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = job_folder("outside");
        struct e2e_result r = e2e_run(
            folder, "at=$DIR; export FAKE_LOG=$at/measured FAKE_DELAY=20000 FAKE_FAULT=%s\n" TUNE, cases[i].fault);
        if (r.status) fail_msg("%s: status %d\n%s", cases[i].fault, r.status, r.err);
        struct statuses s = statuses(folder, "job.db");
        if (s.ok != 8 || s.others) fail_msg("%s: %d ok, a reason: %s", cases[i].fault, (int)s.ok, s.reason);
        assert_contains(r.out, "winner: trial");
        char *log = test_file("%s/job.log", folder);
        if (cases[i].log) assert_contains(log, cases[i].log);
    }
}

// The device fails while the second worker is set up, so a third worker is set up.
TEST(a_set_up_that_crashes_is_tried_again)
{
    char *folder = job_folder("set_up");
    struct e2e_result r =
        e2e_passed(RUN(folder, "export FAKE_DELAY=20000 FAKE_FAULT=trial:kill:1 FAKE_JOB_FAULT=2\n" TUNE));
    struct statuses s = statuses(folder, "job.db");
    assert_true(s.ok == 8 && !s.others);
    assert_contains(r.out, "winner: trial");
}

// Two workers are killed, each with two children.
TEST(what_a_killed_worker_leaves_behind_ends_with_it)
{
    static const char *const pools[] = {"", "--pool local:0"};
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        char *folder = job_folder("orphans");
        struct e2e_result r =
            e2e_run(folder,
                    "at=$DIR; export FAKE_LOG=$at/measured FAKE_DELAY=20000 FAKE_FAULT=trial:orphan:2\n" TUNE " %s\n"
                    "echo \"status $?, $(wc -l <$FAKE_LOG.orphans) left\"; for p in $(cat $FAKE_LOG.orphans); do kill "
                    "-0 $p && echo $p; done; echo over",
                    pools[i]);
        assert_contains(r.out, "status 0, 4 left\nover\n");
    }
}

// The worker writes to stderr as fast as it can. It times out like a silent worker, and the log does not fill the disk.
TEST(a_worker_that_talks_without_end_is_timed_out_and_does_not_fill_the_log)
{
    char *folder = job_folder("flood");
    struct e2e_result r = RUN(folder, "sed -i 's/\"60s\"/\"2s\"/' $at/job.cfg; export FAKE_FAULT=trial:flood:1\n" TUNE
                                      "; echo \"status $?\"; wc -c <$at/job.log");
    assert_contains(r.out, "winner: trial", "\nstatus 0\n");
    struct statuses s = statuses(folder, "job.db");
    assert_int_equal(s.ok, 7);
    assert_int_equal(s.others, 1);
    assert_in_range(atol(strstr(r.out, "\nstatus 0\n") + 10), 1000, 4 << 20);
}

TEST(a_line_without_end_is_cut_off)
{
    char *folder = job_folder("endless");
    e2e_passed(RUN(folder, "export FAKE_FAULT=trial:endless:1\n" TUNE));
    struct statuses s = statuses(folder, "job.db");
    assert_int_equal(s.ok, 7);
    assert_int_equal(s.others, 1);
    assert_contains(s.reason, "sent a line of more than 256 MiB, and was killed");
}

// The worker stops at the beginning of a run, before any candidate is measured. The cases run in parallel, because each
// waits until the driver gives up on the worker.
TEST(a_worker_that_stays_stopped_while_a_run_begins_is_replaced)
{
    char *folder = job_folder("beginning");
    struct e2e_result r =
        RUN(folder, "for fault in start hello job helper; do\n"
                    "  FAKE_LOG=$at/$fault FAKE_FAULT=$fault:stop:1 " FAKE
                    "timeout 200 $BIN/sweetspot tune $at/job.cfg --store $at/$fault.db -q >$at/$fault.out &\n"
                    "done; wait\n"
                    "for fault in start hello job helper; do\n"
                    "  [ -s $at/$fault.faults ] && grep -q '^winner: trial' $at/$fault.out && echo \"$fault went on\"\n"
                    "done");
    assert_contains(r.out, "start went on\nhello went on\njob went on\nhelper went on\n");
}

TEST(who_takes_two_workers_with_it_is_to_blame)
{
    char *folder = job_folder("twice");
    struct e2e_result r =
        RUN(folder, "sed -i 's/\"good\"/&, \"killed\"/; $a constraints = ( \"MODE == \\\\\"good\\\\\" || X == 3\" );' "
                    "$at/job.cfg\n" TUNE "; status=$?; grep -c 'X=3,MODE=killed' $FAKE_LOG; exit $status");
    if (r.status != EXIT_DONE) fail_msg("status %d: %s", r.status, r.err);
    assert_contains(r.out, "\n2\n");
    struct statuses s = statuses(folder, "job.db");
    assert_int_equal(s.ok, 8);
    assert_int_equal(s.others, 1);
    assert_contains(s.reason, "killed by signal 9");
}

// A pipe whose other end is closed is always ready, so the driver must not keep polling it.
TEST(a_worker_that_closes_a_pipe_is_replaced_and_takes_no_processor_time)
{
    static const char *const faults[] = {"trial:deaf:1", "trial:mute:1", "compile:mute:1"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char *folder = job_folder("pipes");
        struct rusage before, after;
        getrusage(RUSAGE_CHILDREN, &before);
        struct e2e_result r = e2e_run(folder,
                                      "at=$DIR; sed -i 's/\"60s\"/\"3s\"/' $at/job.cfg\n"
                                      "export FAKE_LOG=$at/measured FAKE_DELAY=20000 FAKE_FAULT=%s\n" TUNE,
                                      faults[i]);
        getrusage(RUSAGE_CHILDREN, &after);
        assert_int_equal(r.status, EXIT_DONE);
        struct statuses s = statuses(folder, "job.db");
        assert_int_equal(s.ok, 7);
        if (!strstr(faults[i], "deaf")) assert_contains(s.reason, "closed its pipe, did not end, and was killed");
        long seconds = after.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_utime.tv_sec - before.ru_stime.tv_sec;
        assert_in_range(seconds, 0, 2);
    }
}

TEST(time_in_which_everything_was_suspended_does_not_count)
{
    char *folder = job_folder("suspended");
    struct e2e_result r =
        RUN(folder, "sed -i 's/\"60s\"/\"5s\"/' $at/job.cfg; export FAKE_FAULT=trial:slow:1\n" TUNE "& driver=$!\n"
                    "for i in $(seq 600); do [ -s $FAKE_LOG.faults ] && break; sleep 0.05; done\n"
                    "workers=$(pgrep -P $driver)\n"
                    "kill -STOP $driver $workers; sleep 6; kill -CONT $workers $driver\n"
                    "wait $driver");
    assert_int_equal(r.status, EXIT_DONE);
    assert_int_equal(statuses(folder, "job.db").ok, 8);
}

TEST(a_store_that_is_deleted_or_replaced_is_saved_beside_it)
{
    static const char *const ways[] = {"rm $at/job.db",
                                       "rm $at/job.db $at/job.db-wal $at/job.db-shm",
                                       "cp $at/job.db $at/other; mv $at/other $at/job.db",
                                       "rm $at/job.db-wal",
                                       "mv $at/job.db $at/elsewhere.db",
                                       "truncate --size=8192 $at/job.db",
                                       "truncate --size=0 $at/job.db-wal",
                                       "truncate --size=8192 $at/job.db-wal"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *folder = job_folder("deleted");
        struct e2e_result r =
            e2e_run(folder,
                    "at=$DIR; export FAKE_LOG=$at/measured FAKE_WAITS=\"trial $at/go 4\"\n" TUNE "& driver=$!\n"
                    "for i in $(seq 600); do grep -qs waits $FAKE_LOG && break; sleep 0.05; done\n"
                    "%s; : >$at/go; wait $driver",
                    ways[i]);
        if (r.status != EXIT_ENVIRONMENT) fail_msg("%s: status %d: %s", ways[i], r.status, r.err);
        assert_contains(r.err, "was deleted, replaced or cut off while it was in use; all that it held is in",
                        "job.db.rescued");
        struct statuses s = statuses(folder, "job.db.rescued");
        assert_in_range(s.ok, 2, 7);
        // The next run resumes with the rescued store.
        r = RUN(folder, "rm -f $at/job.db $at/job.db-wal $at/job.db-shm; mv $at/job.db.rescued $at/job.db\n"
                        "before=$(wc -l <$FAKE_LOG)\n" TUNE "; echo \"$? $(sort $FAKE_LOG | uniq -d | wc -l)\"");
        assert_contains(r.out, "winner: trial");
        assert_int_equal(statuses(folder, "job.db").ok, 8);
    }
}

TEST(a_run_that_is_interrupted_in_its_first_trial_says_that_nothing_was_measured)
{
    struct e2e_result r =
        RUN(job_folder("first"), "export FAKE_WAITS=\"trial $at/go\"\n" TUNE "& driver=$!\n"
                                 "for i in $(seq 600); do grep -qs waits $FAKE_LOG && break; sleep 0.05; done\n"
                                 "kill -TERM $driver; sleep 0.2; kill -TERM $driver; wait $driver");
    assert_int_equal(r.status, 128 + SIGTERM);
    assert_contains(r.err, "no valid result: nothing was measured");
}

TEST(a_second_tuner_is_refused_through_a_link_and_without_the_lock_file)
{
    char *folder = job_folder("links");
    struct e2e_result r = RUN(
        folder, "export FAKE_DELAY=300000 FAKE_WAITS=\"trial $at/go 1\"\n" TUNE "& first=$!\n"
                "for i in $(seq 600); do [ -s $FAKE_LOG ] && break; sleep 0.05; done\n"
                "ln -s job.db $at/soft.db; mkdir $at/sub; ln -s ../job.db $at/sub/soft.db; ln $at/job.db $at/hard.db\n"
                "for store in soft.db sub/soft.db hard.db; do\n" FAKE
                "  $BIN/sweetspot tune $at/job.cfg --store $at/$store -q; echo \"second $?\"\n"
                "done\n"
                "rm $at/job.db.lock\n" TUNE "; echo \"second $?\"\n"
                "$BIN/sweetspot status $at/job.cfg --store $at/soft.db; : >$at/go\n"
                "for i in $(seq 600); do [ -e $at/job.db.lock ] && echo 'locked again' && break; sleep 0.05; done\n"
                "wait $first; echo \"first $first\"");
    const char *at = r.out;
    for (int i = 0; i < 4; i++, at++) {
        at = strstr(at, "second 3");
        if (!at) fail_msg("let in:\n%s\n%s", r.out, r.err);
    }
    assert_contains(r.out, "locked again");
    int first = 0;
    assert_int_equal(sscanf(strstr(r.out, "first "), "first %d", &first), 1);
    assert_contains(r.err, test_text("is being tuned by process %d", first));
    struct statuses s = statuses(folder, "job.db");
    if (s.ok != 8) fail_msg("the first was disturbed: %d trials\n%s", (int)s.ok, r.err);
}

// The last reader to close a store deletes the store's write-ahead log. It must notice that a tuner has the store open,
// even after the tuner has searched the store for priors.
TEST(readers_leave_a_running_tuners_log_alone)
{
    char *folder = job_folder("readers");
    struct e2e_result r =
        RUN(folder, "export FAKE_WAITS=\"trial $at/never 4\"\n" TUNE "& first=$!\n"
                    "for i in $(seq 600); do [ -s $FAKE_LOG ] && break; sleep 0.05; done\n"
                    "log=$(stat -c %%i $at/job.db-wal)\n"
                    "for i in $(seq 200); do\n"
                    "  $BIN/sweetspot status $at/job.cfg --store $at/job.db | grep '^trials *[2-9] of' && break\n"
                    "done\n"
                    "[ $log = \"$(stat -c %%i $at/job.db-wal)\" ] && echo same\n"
                    "kill -9 $first; wait $first\n");
    assert_contains(r.out, "same\n");
    assert_in_range(statuses(folder, "job.db").ok, 2, 8);
}

TEST(a_limit_on_the_size_of_files_is_a_full_disk)
{
    char *folder = job_folder("limit");
    struct e2e_result r = RUN(folder, "ulimit -f 300\n" TUNE);
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
    assert_contains(r.err, "full");
    r = RUN(folder, TUNE);
    assert_int_equal(r.status, EXIT_DONE);
    assert_int_equal(statuses(folder, "job.db").ok, 8);
}

TEST_MAIN(NULL, NULL)
