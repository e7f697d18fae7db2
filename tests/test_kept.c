// The documents that `profile` stores (docs/json.md), with a scripted worker.
#include "tests/opened_store.h"
#include "tests/scripted.h"
#include "tests/testing.h"

#include "tuner/base/json.h"
#include "tuner/store/store.h"

#define FAKE SCRIPTED "$BIN/sweetspot "

static void write_job(const char *folder)
{
    SCRIPTED_JOB(folder, .name = "kept", .block = "512", .more = "strategy = \"exhaustive\";",
                 .source = "extern \"C\" __global__ void x(float *y) {} // X\n",
                 .parameters = "{ name = \"X\"; values = [1, 2, 7]; }, { name = \"MODE\"; values = [\"good\", "
                               "\"wrong\"]; }");
}

// Returns the document of this kind that belongs to a configuration's trial, or NULL if there is none. The document
// must have a version.
static json_t *kept(const char *folder, const char *config, const char *kind)
{
    struct store *store = opened_store("%s/job.db", folder);
    struct trial trial;
    struct error err;
    assert_int_equal(store_find(store, config, &trial, &err), 0);
    json_t *document = store_get_document(store, trial.id, kind, NULL, &err);
    if (document) assert_int_equal(json_get_integer(document, "version", 0), 1);
    store_close(store);
    return test_json(document);
}

static void run_kept(const char *folder, const char *command, const char *said)
{
    struct e2e_result r = e2e_run(folder, FAKE "%s --store $DIR/job.db --cache $DIR/cache", command);
    if (r.status) fail_msg("%s: status %d: %s", command, r.status, r.err);
    assert_contains(r.err, said);
    const char *first = strstr(r.err, "are not stored");
    assert_true(!first == !strstr(said, "are not stored"));
    if (first) assert_null(strstr(first + 1, "are not stored")); // reported only once
}

TEST(what_was_found_is_kept_with_the_trial)
{
    static const char *const kinds[] = {"profile", "findings", "limits"};
    static const char source[] = "extern \"C\" __global__ void x(float *y) {} // X SWEETSPOT_VARIANT";
    char *folder = e2e_folder("kept"), command[256];
    write_job(folder);
    e2e_write(folder, "x.cu", source);
    snprintf(command, sizeof command, "tune %s/job.cfg -q --no-final", folder);
    run_kept(folder, command, "");
    for (size_t i = 0; i < 3; i++) assert_null(kept(folder, "X=2,MODE=good", kinds[i]));
    // Documents are stored for both candidates that were compared, but not for a baseline or an untried configuration.
    snprintf(command, sizeof command, "profile %s/job.cfg --trial X=2,MODE=good -a X=1,MODE=good -f table", folder);
    run_kept(folder, command, "");
    snprintf(command, sizeof command, "profile %s/job.cfg --trial cublas", folder);
    run_kept(folder, command, "");
    for (int x = 1; x < 3; x++) {
        char *config = test_text("X=%d,MODE=good", x);
        json_t *document = kept(folder, config, "profile"), *found = kept(folder, config, "findings");
        const json_t *profile = json_object_get(document, "profile"),
                     *line = json_array_get(
                         json_object_get(json_array_get(json_object_get(profile, "stages"), 0), "lines"), 0),
                     *first = json_array_get(json_object_get(found, "findings"), 0);
        assert_string_equal(json_get_string(profile, "config", ""), config);
        assert_string_equal(json_get_string(line, "text", ""), source); // unchanged
        assert_string_equal(json_get_string(first, "rule", ""), "bank_conflicts");
        assert_string_equal(json_get_string(json_object_get(first, "line"), "file", ""), "x.cu");
        assert_int_equal(json_get_integer(json_object_get(first, "line"), "line", 0), 1);
        assert_string_equal(json_get_string(found, "problem", ""), "N=1024");
        assert_null(kept(folder, config, "limits"));
    }
    assert_null(kept(folder, "X=7,MODE=good", "profile"));
    // The newest document replaces older ones.
    snprintf(command, sizeof command, "profile %s/job.cfg --trial X=2,MODE=good", folder);
    setenv("FAKE_TIME", "20", 1);
    run_kept(folder, command, "counting a kernel");
    unsetenv("FAKE_TIME");
    json_t *document = kept(folder, "X=2,MODE=good", "profile");
    assert_true(json_get_number(json_object_get(document, "profile"), "time", 0) > 1);
    snprintf(command, sizeof command, "profile --limits %s/job.cfg --trial X=2,MODE=good", folder);
    run_kept(folder, command, "");
    document = kept(folder, "X=2,MODE=good", "limits");
    assert_true(json_get_number(document, "whole_time", 0) > 0 && json_get_number(document, "math_time", 0) > 0);
    assert_non_null(json_object_get(document, "limiter"));
    // If the source has changed, nothing is stored, and this is reported once.
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void x(float *y) {} // changed SWEETSPOT_VARIANT X");
    snprintf(command, sizeof command, "profile %s/job.cfg --trial X=7,MODE=good -a X=2,MODE=good", folder);
    run_kept(folder, command, "the findings are not stored: the source has changed");
    assert_null(kept(folder, "X=7,MODE=good", "profile"));
}

TEST(a_store_that_cannot_be_written_is_said_once)
{
    if (!geteuid()) skip(); // root may write everywhere
    char *folder = e2e_folder("kept_not"), command[256];
    write_job(folder);
    snprintf(command, sizeof command, "tune %s/job.cfg -q --no-final", folder);
    run_kept(folder, command, "");
    struct e2e_result r = e2e_pass(
        folder, "mkdir $DIR/closed; mv $DIR/job.db* $DIR/closed; chmod -w $DIR/closed $DIR/closed/*; " FAKE
                "profile $DIR/job.cfg --trial X=2,MODE=good -a X=1,MODE=good --store $DIR/closed/job.db --cache "
                "$DIR/cache; s=$?; chmod u+w $DIR/closed; exit $s");
    assert_contains(r.out, "Findings");
    assert_contains(r.err, "the findings are not stored: ");
    assert_null(strstr(strstr(r.err, "the findings are not stored") + 1, "what was found are not stored"));
}

TEST_MAIN(NULL, NULL)
