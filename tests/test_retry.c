// If a candidate crashed once but its predicted time would qualify it for the final, it is measured once more before
// the final. Workers are scripted (fake_worker.c): the time is a function of X, and X=7 is the best.
#include "tests/opened_store.h"
#include "tests/scripted.h"
#include "tests/testing.h"

#include "tuner/base/protocol.h"
#include "tuner/store/store.h"

// The configurations with X == `x` have this mode; all others are good.
static char *job_folder(int x, const char *mode)
{
    char *folder = e2e_folder("retry"),
         *parameters = text_format("{ name = \"X\"; range = [1, 8]; }, { name = \"Y\"; range = [1, 4]; },\n"
                                   "  { name = \"MODE\"; values = [\"good\", \"%s\"]; }",
                                   mode),
         *more = text_format("constraints = ( \"(MODE == \\\"%s\\\") == (X == %d && Y < 3)\" );\n"
                             "measure = { timeout = \"60s\"; final = { candidates = 2; rounds = 10; }; };\n"
                             "strategy = \"exhaustive\";",
                             mode, x);
    SCRIPTED_JOB(folder, .parameters = parameters, .more = more);
    free(parameters);
    free(more);
    return folder;
}

static struct e2e_result tune(const char *folder)
{
    return e2e_run(folder, "at=$DIR; export FAKE_LOG=$at/measured SWEETSPOT_GPU_WORKER=$BIN/fake_worker "
                           "SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker\n"
                           "$BIN/sweetspot tune $at/job.cfg --store $at/job.db -q; status=$?\n"
                           "echo tries: $(grep -c 'MODE=abort' $at/measured)\n"
                           "echo said: $(grep -c 'crashed once and may be' $at/job.log); exit $status");
}

struct counts {
    int ok, crashed, timed;
};

static int count(void *user, const struct trial *trial)
{
    struct counts *c = user;
    c->ok += trial->status == STATUS_OK;
    c->crashed += trial->status == STATUS_CRASHED;
    c->timed += trial->status == STATUS_OK && trial->objective > 0 && trial->problem_count == 1;
    return 0;
}

static struct counts counts(const char *folder)
{
    struct counts c = {0};
    struct error err;
    struct store *store = opened_store("%s/job.db", folder);
    assert_int_equal(store_each(store, false, 0, STORE_WHOLE, count, &c, &err), 0);
    store_close(store);
    return c;
}

TEST(a_candidate_that_crashed_once_is_measured_once_more_where_it_can_win)
{
    static const struct {
        const char *what, *mode;
        int x, ok, crashed;
        const char *says, *again; // strings in the next run's output
    } cases[] = {
        {"innocent", "abort_once", 7, 32, 0, "tries: 4\nsaid: 2\n", "tries: 4\n"},
        {"crashes twice", "abort", 7, 30, 2, "tries: 4\nsaid: 2\n", "tries: 4\n"},
        {"would be slow", "abort_once", 1, 30, 2, "tries: 2\nsaid: 0\n", "tries: 2\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = job_folder(cases[i].x, cases[i].mode);
        struct e2e_result r = e2e_passed(tune(folder));
        struct counts c = counts(folder);
        if (c.ok != cases[i].ok || c.timed != c.ok || c.crashed != cases[i].crashed || !strstr(r.out, cases[i].says))
            fail_msg("%s: %d ok, %d crashed: %s", cases[i].what, c.ok, c.crashed, r.out);
        assert_contains(r.err, "32 new trials");
        r = e2e_run(folder, "$BIN/sweetspot status $DIR/job.cfg --store $DIR/job.db --format json");
        if (!strstr(r.out, "\"ok\"") || !strstr(r.out, "crashed\": 2") != !c.crashed)
            fail_msg("%s: %s", cases[i].what, r.out);
        if (!strstr(tune(folder).out, cases[i].again)) fail_msg("%s is tried again", cases[i].what);
    }
}

TEST_MAIN(NULL, NULL)
