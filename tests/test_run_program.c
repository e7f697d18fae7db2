// A program that is run to its end takes all its children with it.
#include "tests/e2e.h"
#include "tests/testing.h"

#include <signal.h>

#include "tuner/base/clock.h"
#include "tuner/base/run_program.h"

TEST(children_that_a_program_leaves_behind_are_ended)
{
    static const char *const scripts[] = {
        "sleep 313.7 & echo $!",
        "setsid sleep 313.7 & sleep .2; pgrep -n -f '^sleep 313[.]7'",
        "(setsid sh -c 'sleep 313.7; :' & ) ; sleep .2; pgrep -n -f '^sleep 313[.]7'",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char *argv[] = {"/bin/sh", "-c", (char *)(uintptr_t)scripts[i], NULL};
        struct program_end end;
        struct error err;
        double began = clock_now();
        assert_int_equal(run_program(&(struct program_run){.argv = argv, .deadline = 20}, &end, &err), 0);
        assert_int_equal(end.status, 0);
        assert_false(end.late);
        assert_true(clock_now() - began < 10);
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
    assert_non_null(strstr(end.output, "\n100000\nlast\n"));
    free(end.output);
}

TEST_MAIN(NULL, NULL)
