// When a program that was run ends, its children end too.
#include "tests/e2e.h"
#include "tests/testing.h"

#include <signal.h>

#include "tuner/base/run_program.h"

TEST(children_that_a_program_leaves_behind_are_ended)
{
    // $S is a sleep time that no other program uses.
    static const char *const scripts[] = {
        "sleep $S & echo $!",
        "setsid sleep $S & until pgrep -f \"^sleep $S\"; do :; done",
        "(setsid sh -c \"sleep $S; :\" & ) ; until pgrep -f \"^sleep $S\"; do :; done",
    };
    setenv("S", test_text("313.%ld", (long)getpid()), 1);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char *argv[] = {"/bin/sh", "-c", (char *)(uintptr_t)scripts[i], NULL};
        struct program_end end;
        struct error err;
        assert_int_equal(run_program(&(struct program_run){.argv = argv, .deadline = 100}, &end, &err), 0);
        assert_int_equal(end.status, 0);
        assert_false(end.late);
        long pid = atol(end.output);
        assert_true(pid > 1);
        if (!kill((pid_t)pid, 0)) fail_msg("%s: process %ld lives", scripts[i], pid);
        free(end.output);
    }
}

TEST(what_a_program_wrote_is_read_to_its_end)
{
    char *argv[] = {"/bin/sh", "-c", "seq 100000; echo last >&2", NULL};
    struct program_end end;
    struct error err;
    assert_int_equal(run_program(&(struct program_run){.argv = argv}, &end, &err), 0);
    assert_contains(end.output, "\n100000\nlast\n");
    free(end.output);
}

TEST_MAIN(NULL, NULL)
