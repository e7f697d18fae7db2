// Where results are written: files that appear only when complete, standard output, pipes and devices. Also readers
// that stop early.
#include "tests/e2e.h"
#include "tests/testing.h"

static char *folder;

static void setup(void)
{
    folder = e2e_folder("output");

    e2e_pass(folder,
             "cp tests/golden/job.cfg tests/golden/kernel.cu tests/golden/space.json %1$s && cd %1$s && "
             "$BIN/sweetspot tune job.cfg --device replay:space.json --store job.db -q",
             folder);
}

static void teardown(void)
{
}

// Runs a command line in the folder; $S is the program.
#define IN_FOLDER(...) e2e_run(folder, "cd %s; S=$BIN/sweetspot; " __VA_ARGS__)

TEST(a_dash_is_standard_output)
{
    struct e2e_result file = IN_FOLDER("$S header job.cfg -s job.db -o best.h && cat best.h", folder),
                      out = IN_FOLDER("$S header job.cfg -s job.db -o -", folder),
                      named = IN_FOLDER("$S header job.cfg -s job.db -o /dev/stdout | cat", folder);
    assert_int_equal(file.status + out.status + named.status, 0);
    assert_true(!strncmp(file.out, "best.h\n", 7)); // the path, which `-o -` does not print
    assert_string_equal(out.out, file.out + 7);
    assert_string_equal(named.out, out.out);
    file = IN_FOLDER("$S export job.cfg -s job.db", folder);
    out = IN_FOLDER("$S export job.cfg -s job.db -o -", folder);
    assert_string_equal(file.out, out.out);
    assert_contains(out.out, "\"sweetspot-space\"");
    out = e2e_passed(IN_FOLDER("$S import space.json -o - >copy.json && $S import copy.json", folder));
    assert_contains(out.err, "configurations"); // the first summary, on stderr
    assert_contains(out.out, "configurations");
}

TEST(a_reader_that_has_seen_enough_ends_it_without_a_word)
{
    static const char *const commands[] = {
        "header job.cfg -s job.db -o -",
        "header job.cfg -s job.db -o /dev/stdout",
        "export job.cfg -s job.db",
        "export job.cfg -s job.db -o -",
        "import space.json -o -",
        "compare job.cfg -s job.db",
        "status job.cfg -s job.db -fjson",
        "list fields",
        "completion bash",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        // There is no reader, because `true` has ended before anything is written.
        struct e2e_result r = e2e_run(
            folder,
            "cd $DIR; timeout 60 bash -c '{ sleep 0.2; $BIN/sweetspot %s; echo $? >status; } | true'; cat status",
            commands[i]);
        if (strcmp(r.out, "141\n") != 0) fail_msg("%s: status %s, and said: %s", commands[i], r.out, r.err);
        if (strstr(r.err, "cannot write")) fail_msg("%s: %s", commands[i], r.err);
    }
}

TEST(the_first_line_is_had_at_once)
{
    static const char *const commands[] = {"header job.cfg -s job.db -o -", "header job.cfg -s job.db -o /dev/stdout",
                                           "export job.cfg -s job.db -o -"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct e2e_result r = e2e_run(
            folder, "cd $DIR; timeout 20 bash -c '$BIN/sweetspot %s | head -n 1; echo ${PIPESTATUS[0]}'", commands[i]);
        const char *rest = strchr(r.out, '\n');
        if (r.status || !rest || rest == r.out || (strcmp(rest, "\n0\n") != 0 && strcmp(rest, "\n141\n") != 0))
            fail_msg("%s: status %d: %s%s", commands[i], r.status, r.out, r.err);
    }
}

// A pipe to a worker must not get the descriptor of a standard stream.
TEST(closed_streams_change_no_result)
{
    struct e2e_result r = IN_FOLDER("$S check job.cfg --compile 1 <&- 2>&-", folder);
    assert_int_equal(r.status, 0);
    assert_contains(r.out, "no mistakes found");
    r = IN_FOLDER("$S tune job.cfg --device replay:space.json -s closed.db <&- >&- 2>&-; echo $?; $S export job.cfg -s "
                  "closed.db | grep -c '\"ok\"'; $S export job.cfg -s job.db | grep -c '\"ok\"'",
                  folder);
    char *end;
    assert_int_equal(strtol(r.out, &end, 10), 3); // its summary cannot be written
    long closed = strtol(end, &end, 10);
    assert_true(closed > 0);
    assert_int_equal(strtol(end, &end, 10), closed);
}

TEST(a_full_device_is_an_error)
{
    static const char *const commands[] = {"header job.cfg -s job.db -o /dev/full",
                                           "header job.cfg -s job.db -o - >/dev/full",
                                           "export job.cfg -s job.db -o /dev/full", "list fields >/dev/full",
                                           "tune job.cfg -s job.db -d replay:space.json -q -f json >/dev/full"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct e2e_result r = e2e_run(folder, "cd $DIR; $BIN/sweetspot %s", commands[i]);
        if (r.status != 3) fail_msg("%s: status %d", commands[i], r.status);
        assert_contains(r.err, "No space left on device");
        assert_null(strstr(r.err, "No such")); // the error of another call
    }
    assert_int_equal(access("/dev/full", F_OK), 0); // it is still there
}

TEST(a_fifo_is_written_into_and_stays_one)
{
    e2e_passed(IN_FOLDER("mkfifo pipe; for command in header export; do timeout 60 $S $command job.cfg -s job.db -o "
                         "pipe & timeout 60 cat pipe >through; wait $! || exit 1; test -p pipe && $S $command job.cfg "
                         "-s job.db -o - | cmp - through || exit 2; done",
                         folder));
}

TEST(a_file_appears_whole_and_a_link_stays_a_link)
{
    struct e2e_result r = e2e_passed(
        IN_FOLDER("mkdir real; ln -s real/best.h link.h; touch real/other; $S header job.cfg -s job.db -o link.h; echo "
                  "$?; $S header job.cfg -s job.db -o real/best.h >/dev/null; ln -sf real/best.h link.h; $S header "
                  "job.cfg -s job.db -o link.h && test -L link.h && grep -c '#endif' real/best.h && ls -A real",
                  folder));
    assert_contains(r.out, "best.h\nother\n"); // and no temporary file
}

TEST_MAIN(setup, teardown)
