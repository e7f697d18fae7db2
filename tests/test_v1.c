// The promise of CHANGELOG.md, "What stays compatible", on files that version 1.0.0 wrote or read (tests/v1): jobs,
// headers, JSON documents and a store. The files never change. SWEETSPOT_FREEZE=1 writes those that are missing, for a
// new job, document or header.
#include <glob.h>
#include <sqlite3.h>

#include "tests/e2e.h"
#include "tests/finished_header.h"
#include "tests/loaded_job.h"

#include "tuner/setup/request.h"
#include "tuner/setup/run_environment.h"

static char *folder; // with the frozen jobs, and in out/ the store of the job "one"
static struct error err;

// The content of tests/v1/<name>. If the file is missing and may be written, it gets this text.
static char *frozen(const char *name, const char *text)
{
    char *path = test_text("tests/v1/%s", name), *kept = text_read_file(path, NULL);
    if (!kept && !getenv("SWEETSPOT_FREEZE")) fail_msg("%s is missing", path);
    if (!kept) e2e_write("tests/v1", name, text);
    return kept ? test_owned(kept) : test_owned(text_copy(text));
}

// Jobs -------------------------------------------------------------------------------------------

static void space_hash(const struct space *space, char out[HASH_TEXT_SIZE])
{
    struct hash *hash = hash_new();
    uint16_t config[SPACE_MAX_PARAMETERS];
    for (uint64_t i = 0; i < space_size(space); i++) {
        space_get(space, i, config);
        autofree char *text = space_text(space, config);
        hash_text(hash, text);
    }
    hash_finish(hash, out);
}

// What results depend on: the space, the environment's key for a fixed GPU and source, and whether `check` passes.
static char *summary_of(const char *path)
{
    static const struct environment known = {
        .source_hash = "aa", .compiler = "nvrtc 13.0", .device = "NVIDIA H200", .arch = "sm_90a", .driver = "1"};
    struct job *job = loaded_job(path);
    json_t *request = test_json(request_job(job, 0, NULL, 1, &err));
    if (!request) fail_msg("%s: %s", path, err.message);
    json_t *facts = test_json(run_environment_facts(job, request, &known, false));
    autofree char *settings = environment_text(facts, &err);
    char key[HASH_TEXT_SIZE], space[HASH_TEXT_SIZE];
    if (!settings) fail_msg("%s: %s", path, err.message);
    // Paths of files and libraries are part of the settings. Here they start at the project's folder.
    autofree char *top = getcwd(NULL, 0);
    for (char *at = settings; (at = strstr(at, top));) memmove(at, at + strlen(top), strlen(at + strlen(top)) + 1);
    environment_key(settings, key);
    space_hash(job->space, space);
    struct e2e_result r = e2e_run(folder, "$BIN/sweetspot check %s --compile 0", path);
    return test_text("space %s of %" PRIu64 "\nkey %s\ncheck %d\n", space, space_size(job->space), key, r.status);
}

TEST(every_job_has_the_same_space_environment_and_verdict)
{
    glob_t found;
    assert_int_equal(glob("tests/v1/jobs/*.cfg", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 7);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *summary = summary_of(found.gl_pathv[i]), *name = test_text("%s", found.gl_pathv[i] + strlen("tests/v1/"));
        strcpy(strrchr(name, '.'), ".txt");
        char *kept = frozen(name, summary);
        if (strcmp(kept, summary) != 0) fail_msg("%s:\n%sinstead of\n%s", found.gl_pathv[i], summary, kept);
    }
    globfree(&found);
}

TEST(every_older_spelling_of_the_calendar_works)
{
    char *calendar = strstr(test_file("CHANGELOG.md"), "\n| older |"), *end = strstr(calendar, "\n\n");
    size_t rows = 0;
    for (char *at = calendar; (at = strstr(at + 1, "\n| ")) && at < end;) rows++;
    struct job *job = loaded_job("tests/v1/jobs/older.cfg");
    struct e2e_result r = e2e_passed(e2e_in(folder, "$BIN/sweetspot judge one.cfg --template kernel.cu --set X=2 && "
                                                    "$BIN/sweetspot tune one.cfg --store new.db --gpu-model Fake "
                                                    "--target 0.01 --no-final -q"));
    assert_contains(r.err, "4 new trials");
    assert_true(rows == 16 && job->file.old.count >= 13); // the head of the table and three options are not settings
}

// Documents --------------------------------------------------------------------------------------

// `types` gets the types of every member of the value by path, such as "jobs[].name", as a set of bits.
static void collect(const json_t *value, const char *path, json_t *types)
{
    const int type = json_is_boolean(value) ? JSON_TRUE : json_is_number(value) ? JSON_REAL : (int)json_typeof(value);
    json_object_set_new(types, path, json_integer(json_integer_value(json_object_get(types, path)) | 1 << type));
    json_object_each((json_t *)(uintptr_t)value, key, member) {
        autofree char *below = text_format("%s.%s", path, key);
        collect(member, below, types);
    }
    json_array_each(value, i, member) {
        autofree char *below = text_format("%s[]", path);
        collect(member, below, types);
    }
}

// A document from its text. Events of a run become {"begin": [event], "progress": [event, ..], ..}.
static json_t *document_of(const char *text)
{
    json_t *document = json_loads(text, 0, NULL);
    if (document) return test_json(document);
    document = json_object();
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        json_t *event = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
        const char *name = json_get_string(event, "event", "");
        if (!*name) fail_msg("neither JSON nor an event: %s", line);
        if (!json_object_get(document, name)) json_object_set_new(document, name, json_array());
        json_array_append_new(json_object_get(document, name), event);
    }
    return test_json(document);
}

// Fails unless every member of the frozen document still exists with its type. Unknown values, null, have any type. A
// document with a new version may differ, if CHANGELOG.md names the version.
static void keep(const char *name, const json_t *then, const json_t *now)
{
    const json_t *begin = json_array_get(json_object_get(then, "begin"), 0);
    const json_t *head = begin ? begin : then,
                 *head_now = begin ? json_array_get(json_object_get(now, "begin"), 0) : now;
    const char *format = json_get_string(head, "format", "");
    int64_t version = json_get_integer(head, "version", 0), version_now = json_get_integer(head_now, "version", 0);
    assert_string_equal(json_get_string(head_now, "format", ""), format);
    if (version_now > version) {
        assert_contains(test_file("CHANGELOG.md"), test_text("`%s`, %d", format, (int)version_now));
        return;
    }
    assert_int_equal(version_now, version);
    json_t *types = test_json(json_object()), *types_now = test_json(json_object());
    collect(then, "", types);
    collect(now, "", types_now);
    json_object_each(types, path, known) {
        const int64_t any = 1 << JSON_NULL, was = json_integer_value(known) & ~any,
                      is = json_integer_value(json_object_get(types_now, path));
        if (!is) fail_msg("%s: the member %s of 1.0 is gone", name, path);
        if (was && (is & ~any) != was) fail_msg("%s: the member %s has another type than in 1.0", name, path);
    }
}

// Each is made from the frozen store and jobs, or by the scripted worker.
static const struct {
    const char *name, *command;
    int status;
} documents[] = {
    {"status", "status one.cfg", 0},
    {"status_several", "status one.cfg files.cfg", 1},
    {"compare", "compare one.cfg", 0},
    {"compare_several", "compare one.cfg files.cfg", 1},
    {"compare_each", "compare each.cfg", 0},
    {"report", "report one.cfg", 0},
    {"export", "export one.cfg -o - #", 0},
    {"check", "check one.cfg files.cfg broken.cfg --compile 0", 2},
    {"space", "list space usual.cfg", 0},
    {"tune", "tune one.cfg --store tune.db -q", 0},
    {"tune_each", "tune each.cfg --store tune.db --device replay:each_space.json -q", 0},
    {"judge", "judge one.cfg --set X=2", 0},
    {"judge_served", "judge --serve <requests #", 0},
    {"profile", "profile one.cfg --trial X=1,MODE=plain", 0},
    {"profile_limits", "profile --limits one.cfg --trial X=1,MODE=plain", 0},
    {"gate", "gate one.cfg --base base.h", 0},
    {"simulate", "simulate -S random --seeds 2 -b 2 each_space.json", 0},
    {"timeline", "simulate -S random --seeds 2 -b 2,1s --timeline compilers=4,compile=0.5,gpu=1 each_space.json", 0},
    {"doctor", "doctor", 0},
    {"list_fields", "list fields time", 0},
    {"list_metrics", "list metrics basic", 0},
    {"list_operations", "list operations gemm", 0},
    {"list_settings", "list settings regret", 0},
    {"list_strategies", "list strategies default", 0},
    {"list_units", "list units 'fp32 fma'", 0},
    {"tune_several", "tune one.cfg files.cfg --no-final -q", 0}, // the last, because it adds to the store
};

TEST(every_document_has_the_members_that_it_had)
{
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        struct e2e_result r =
            e2e_ended(documents[i].status, e2e_in(folder, "$BIN/sweetspot %s --format json", documents[i].command));
        const char *then = frozen(test_text("documents/%s.json", documents[i].name), r.out);
        keep(documents[i].name, document_of(then), document_of(r.out));
    }
}

// Headers ----------------------------------------------------------------------------------------

// A header, the command that writes today's, its job, a line of a program before it, the program's result (0: right),
// and the job of the header beside it.
static const struct header {
    const char *name, *command, *job, *before, *result, *other;
} headers[] = {
    {"one", "header one.cfg", "one", "", "one_grid_x(65536) ? 0 : 1", "each"},
    {"each", "header each.cfg", "each", "", "each_select(65536) == each_select(1000)", "one"},
    {"embed", "header one.cfg --embed", "one", "#define ONE_DRIVER_API\n#include \"fake_driver.h\"\n",
     "one_load(&kernels)", "each"},
};
enum { HEADERS = sizeof headers / sizeof *headers };

// Writes today's headers into the folder "now", and the frozen ones into "then".
static void write_headers(void)
{
    e2e_pass(folder, "mkdir -p $DIR/then $DIR/now");
    for (size_t i = 0; i < HEADERS; i++) {
        const struct header *h = &headers[i];
        e2e_passed(e2e_in(folder, "$BIN/sweetspot %s -o now/%s.h", h->command, h->name));
        char *name = test_text("headers/%s.h", h->name), *now = test_file("%s/now/%s.h", folder, h->name);
        e2e_write(folder, test_text("then/%s.h", h->name), frozen(name, now));
    }
}

TEST(every_header_compiles_alone_and_beside_one_of_today)
{
    static const char *const compilers[] = {"gcc -std=c99", "g++ -std=c++11 -x c++"};
    write_headers();
    for (size_t i = 0; i < 2 * HEADERS; i++) {
        const struct header *h = &headers[i / 2];
        bool embedded = *h->before, beside = i % 2;
        e2e_write(folder, "main.c",
                  test_text("%s%s#include \"then/%s.h\"\n%sint main(void) { return %s; }\n", h->before,
                            beside ? test_text("#include \"now/%s.h\"\n", h->other) : "", h->name,
                            embedded ? "static struct one_kernels kernels;\n" : "", h->result));
        for (size_t k = 0; k < 2; k++)
            e2e_pass(folder, "%s " STRICT " -Itests/launch -I$DIR $DIR/main.c %s -o $DIR/main && $DIR/main",
                     compilers[k], embedded ? "$DIR/now/embed_binary.c" : "");
    }
}

// Macros, except those that the header undefines, and functions with their prototypes as gcc prints them.
TEST(every_name_of_a_header_is_still_defined)
{
    write_headers();
    for (size_t i = 0; i < HEADERS; i++) {
        e2e_write(folder, "before.h", headers[i].before);
        struct e2e_result r = e2e_pass(
            folder,
            "names() { sed -n 's/^ *# *undef //p' $1 | sort -u >$DIR/undefined; "
            "sed -n 's/^ *# *define \\([A-Za-z_0-9]*\\).*/\\1/p' $1 | sort -u | comm -23 - $DIR/undefined; "
            "gcc -std=c99" STRICT
            "-Itests/launch -include $DIR/before.h -aux-info $DIR/functions -x c -c -o $DIR/object $1"
            " && sed -n 's|^/\\* .* \\*/ \\(static .*%s_.*\\);.*|\\1|p' $DIR/functions; }\n"
            "for when in then now; do names $DIR/$when/%s.h | sort >$DIR/$when.txt; done; grep -q '%s_geometry (' "
            "$DIR/then.txt && comm -23 $DIR/then.txt $DIR/now.txt",
            headers[i].job, headers[i].name, headers[i].job);
        if (*r.out) fail_msg("the header of today lacks these names of headers/%s.h:\n%s", headers[i].name, r.out);
    }
}

// What the program reads -------------------------------------------------------------------------

// A new version of a document that the program reads must not refuse the frozen one.
TEST(what_an_earlier_version_wrote_is_read)
{
    write_headers();
    static const struct {
        const char *command, *part; // of what it prints
    } cases[] = {
        {"import then/export.json", "4: 4 ok"},
        {"simulate -S random --seeds 2 -b 2 then/export.json", "random"},
        {"tune one.cfg --device replay:then/export.json --store replayed.db -q", "winner: trial"},
        {"tune one.cfg --prior then/export.json --store prior.db --no-final -q", "4 new trials"},
        {"header one.cfg --check then/one.h", "one.h"},
        {"gate one.cfg --base then/one.h", "same"},
        {"tune one.cfg -q --no-final", "0 new trials"}, // of the frozen store
    };
    e2e_write(folder, "then/export.json", frozen("documents/export.json", ""));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct e2e_result r = e2e_passed(e2e_in(folder, "$BIN/sweetspot %s 2>&1", cases[i].command));
        assert_contains(r.out, cases[i].part);
    }
    struct e2e_result r =
        e2e_passed(e2e_in(folder, "export FAKE_MODEL='Other GPU'; $BIN/sweetspot tune one.cfg -q --store other.db && "
                                  "$BIN/sweetspot header one.cfg --store other.db -o then/one.h && cat then/one.h"));
    assert_contains(r.out, "ONE_DEVICE_FAKE_GPU", "ONE_DEVICE_OTHER_GPU");
    const char *live = frozen("documents/live.json", "");
    e2e_write(folder, "out/one.db.status.json", live);
    r = e2e_passed(e2e_in(folder, "$BIN/sweetspot status one.cfg --format json; rm out/one.db.status.json"));
    keep("live", document_of(live), json_object_get(document_of(r.out), "live"));
    r = e2e_passed(e2e_in(folder,
                          "export FAKE_DELAY=900000; $BIN/sweetspot tune one.cfg --store live.db -q >/dev/null & "
                          "for i in $(seq 100); do grep -q '\"config\"' live.db.status.json && break; sleep 0.1; "
                          "done 2>/dev/null; kill -9 $! && cat live.db.status.json"));
    keep("live", document_of(live), document_of(r.out));
}

static void setup(void)
{
    sqlite3 *db;
    char *worker = test_text("%s/fake_worker", e2e_bin()), *message = NULL;
    folder = e2e_folder("v1");
    setenv("SWEETSPOT_GPU_WORKER", worker, 1);
    setenv("SWEETSPOT_COMPILE_WORKER", worker, 1);
    setenv("SWEETSPOT_SANITIZER", "none", 1);
    setenv("SWEETSPOT_NVCC", "", 1);
    setenv("FAKE_NVCC", "1.02", 1);
    setenv("FAKE_ENERGY", "1", 1);
    e2e_pass(folder, "cp tests/v1/jobs/* $DIR");
    e2e_write(folder, "broken.cfg", "name = ;\n");
    e2e_write(folder, "base.h", "#define ONE_CONFIGURATION \"X=2,MODE=plain\"\n");
    e2e_write(folder, "requests", "{\"id\": 7, \"job\": \"one.cfg\", \"set\": {\"X\": 2}, \"sanitize\": false}\n");
    if (sqlite3_open(test_text("%s/out/one.db", folder), &db) ||
        sqlite3_exec(db, test_file("tests/v1/store.sql"), NULL, NULL, &message))
        fail_msg("tests/v1/store.sql: %s", message ? message : sqlite3_errmsg(db));
    sqlite3_close(db);
    e2e_passed(e2e_in(folder, "$BIN/sweetspot tune each.cfg --device replay:each_space.json -q"));
}

TEST_MAIN(setup, NULL)
