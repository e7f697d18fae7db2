// A recording's statement about its origin accompanies its results through export, import, replay, the header and the
// header's check. Replayed results are never presented as measurements of the present template.
#include "tests/e2e.h"
#include "tests/testing.h"

#include "tuner/base/hash.h"
#include "tuner/base/json.h"
#include "tuner/source/source.h"

// The golden job, and its recording with an environment and a final.
static char *make_folder(const char *source_hash, bool final)
{
    char *folder = e2e_folder("recording");
    e2e_pass(folder, "cp tests/golden/job.cfg tests/golden/kernel.cu $DIR");
    json_error_t error;
    char *path = test_text("%s/space.json", folder);
    json_t *space = test_json(json_load_file("tests/golden/space.json", 0, &error));
    assert_non_null(space);
    if (source_hash)
        json_object_set_new(space, "environment",
                            json_pack("{s:s, s:s}", "compiler", "nvrtc 13.0", "source_hash", source_hash));
    if (final)
        json_object_set_new(
            space, "finals",
            json_pack("[{s:i, s:i, s:f, s:[]}]", "rounds", 40, "winner", 1, "when", 1735732800.0, "entries"));
    assert_int_equal(json_dump_file(space, path, 0), 0);
    return folder;
}

static void present_hash(const char *folder, char hash[HASH_TEXT_SIZE])
{
    struct error err;
    char *path = test_text("%s/kernel.cu", folder);
    assert_int_equal(source_hash(&(struct source_request){.path = path}, hash, &err), 0);
}

// Tunes on `space`, writes the header and returns its text. *check: output and status of --check.
static char *header_of(const char *folder, const char *space, struct e2e_result *check)
{
    struct e2e_result r = e2e_pass(folder,
                                   "cd $DIR; rm -f job.db* best.h; $BIN/sweetspot tune job.cfg --device replay:%s "
                                   "--store job.db -q >/dev/null && $BIN/sweetspot header job.cfg -s job.db -o -",
                                   space);
    e2e_write(folder, "best.h", r.out);
    *check = e2e_run(folder, "cd $DIR; $BIN/sweetspot header job.cfg --check best.h");
    return r.out;
}

TEST(the_source_that_was_measured_is_the_headers)
{
    static const char recorded[] = "0123456789abcdef0123456789abcdef";
    char *folder = make_folder(recorded, true);
    struct e2e_result check;
    char *header = header_of(folder, "space.json", &check);
    assert_contains(header, "#define GOLDEN_SOURCE_HASH_TEXT \"0123456789abcdef0123456789abcdef\"\n",
                    "#define GOLDEN_DEVICE_NAME \"Golden GPU\"\n",
                    "#define GOLDEN_DATE \"2025-01-01\"\n"); // the date of the recording's final, not today's
    assert_contains(header, "the recording has a final of 40 rounds\n",
                    "the measured template has the hash 0123456789abcdef0123456789abcdef\n");
    assert_int_equal(check.status, 1);
    assert_contains(check.out, "the template is not the one that was measured for the recording");
    struct e2e_result r = e2e_run(folder, "cd $DIR; $BIN/sweetspot status job.cfg -s job.db");
    assert_contains(r.out, "trials were recorded with another version of the template");
}

TEST(the_template_as_it_was_recorded_passes)
{
    char hash[HASH_TEXT_SIZE];
    present_hash("tests/golden", hash);
    char *folder = make_folder(hash, true);
    struct e2e_result check;
    header_of(folder, "space.json", &check);
    assert_int_equal(check.status, 0);
    assert_contains(check.out, "is the one that was tuned");
}

TEST(an_old_recording_without_a_hash_says_that_it_is_not_known)
{
    char *folder = make_folder(NULL, false);
    struct e2e_result check;
    char *header = header_of(folder, "space.json", &check);
    assert_contains(header, " *   source not recorded: it is unknown which version of the template was measured\n",
                    "the recording has no final\n", "#define GOLDEN_SOURCE_HASH_TEXT \"\"\n");
    assert_int_equal(check.status, 1);
    assert_contains(check.out, "source not recorded");

    e2e_ended(1, e2e_run(folder,
                         "cd $DIR; gcc -fsyntax-only -x c -DSWEETSPOT_SOURCE_HASH=$($BIN/sweetspot header job.cfg "
                         "--hash) best.h")); // a build that runs this check stops
}

// After a replay, an export, an import and another replay, results still refer to the first recording.
TEST(export_and_import_carry_it_on)
{
    char *folder = make_folder("0123456789abcdef0123456789abcdef", true);
    struct e2e_result check;
    char *header = header_of(folder, "space.json", &check);
    struct e2e_result r =
        e2e_pass(folder, "cd $DIR; $BIN/sweetspot export job.cfg -s job.db -o once.json && $BIN/sweetspot "
                         "import once.json -o twice.json.gz && grep -o '\"environment\":[^}]*' once.json");
    assert_contains(r.out, "\"source_hash\":\"0123456789abcdef0123456789abcdef\"");
    char *again = header_of(folder, "twice.json.gz", &check);
    assert_int_equal(check.status, 1);
    static const char *const lines[] = {"SOURCE_HASH_TEXT", "_DATE", "a final", "_COMPILER", "_DEVICE_NAME \""};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *a = strstr(header, lines[i]), *b = strstr(again, lines[i]);
        assert_non_null(a);
        assert_non_null(b);
        if (strncmp(a, b, strcspn(a, "\n") + 1) != 0) fail_msg("%.80s\n%.80s", a, b);
    }
}

TEST_MAIN(NULL, NULL)
