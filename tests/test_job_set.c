// The commands `status`, `compare`, `header` and `export` for several jobs, for folders with jobs, and for stores with
// several devices. Also the gate of `compare`, and tables on a terminal.
#include "tests/scripted.h"
#include "tests/shared_job.h"
#include "tests/testing.h"

#include <sys/ioctl.h>

#include "tuner/base/protocol.h"
#include "tuner/base/table.h"
#include "tuner/cli/commands.h"
#include "tuner/final/finals.h"
#include "tuner/final/gate.h"

static void write_job(const char *folder, const char *file, const char *name, const char *more)
{
    SCRIPTED_JOB(folder, .file = file, .name = name, .parameters = "{ name = \"X\"; range = [0, 15]; }", .more = more);
}

// Writes a recorded space. The best time, 1 ms, is at X = `best`, and the library takes `library` seconds.
static void write_space(const char *folder, const char *file, int best, double library)
{
    json_t *trials = json_array(), *values = json_array();
    for (int x = 0; x < 16; x++) {
        json_array_append_new(values, json_integer(x));
        json_array_append_new(trials, json_pack("[i,s,f]", x, "ok", 1e-3 * (1 + 0.2 * (x - best) * (x - best))));
    }
    e2e_write_json(folder, file,
                   json_pack("{s:s, s:i, s:{s:s, s:s}, s:[{s:s, s:o}], s:[s,s,s], s:o, s:[{s:s, s:[{s:f}]}]}", "format",
                             "sweetspot-space", "version", 1, "device", "name", "NVIDIA Test", "arch", "sm_90a",
                             "parameters", "name", "X", "values", values, "columns", "X", "status", "time", "trials",
                             trials, "baselines", "name", "cublas", "problems", "time", library));
}

// Tunes three jobs as in a nightly run. A fourth has not been tuned, and a fifth has a mistake.
static char *make_night(void)
{
    char *folder = e2e_folder("several");
    e2e_run(folder, "mkdir $DIR/night");
    e2e_write(folder, "night/x.cu", "\n");
    static const struct {
        const char *name;
        double library;
    } jobs[] = {{"fast", 2e-3}, {"same", 1e-3}, {"slow", 0.5e-3}};
    for (int i = 0; i < 3; i++) {
        char *file = test_text("night/%d.cfg", i), *space = test_text("%s.json", jobs[i].name);
        write_job(folder, file, jobs[i].name, "");
        write_space(folder, space, 3 + i, jobs[i].library);
        e2e_passed(e2e_in(folder, "$BIN/sweetspot tune %s --device replay:%s --quiet", file, space));
    }
    write_job(folder, "night/3.cfg", "later", "");
    write_job(folder, "night/4.cfg", "mistaken", "budgt = 1;");
    return folder;
}

static int lines_with(const char *text, const char *part)
{
    int count = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        count += strstr(test_text("%.*s", (int)length, line), part) != NULL;
    }
    return count;
}

TEST(each_job_of_a_folder_has_its_line_and_mistakes_stop_no_other)
{
    char *folder = make_night();
    struct e2e_result r = e2e_in(folder, "$BIN/sweetspot status night");
    assert_int_equal(r.status, EXIT_USAGE); // the maximum of 1 (not tuned) and 2 (a mistake)
    assert_int_equal(lines_with(r.out, "NVIDIA Test"), 3);
    assert_contains(r.out, "\nfast ", "\nslow ");
    assert_contains(r.err, "later has no results yet", "night/4.cfg:5: ");
    r = e2e_in(folder, "$BIN/sweetspot compare night");
    assert_int_equal(r.status, EXIT_USAGE);
    assert_int_equal(lines_with(r.out, "N=1024"), 3);
    assert_contains(r.out, "2.000 [2.000, 2.000]", "0.500 [0.500, 0.500]");
    // A job that has not been tuned is not an error.
    r = e2e_in(folder, "$BIN/sweetspot compare night/0.cfg night/3.cfg night/2.cfg");
    assert_int_equal(r.status, EXIT_NOTHING);
    assert_int_equal(lines_with(r.out, "N=1024"), 2);
}

// A path that exists is meant, even if other files match it as a pattern.
TEST(brackets_of_a_path_are_no_pattern)
{
    static const struct {
        const char *path, *job;
    } named[] = {{"'j[1].cfg'", "first"}, {"'j?.cfg'", "second"}, {"'x[1]'", "third"}, {"'x[1]//'", "third"}};
    char *folder = e2e_folder("several-brackets");
    e2e_run(folder, "mkdir '%s/x[1]'; touch '%s/x.cu' '%s/x[1]/x.cu'", folder, folder, folder);
    write_job(folder, "j[1].cfg", "first", "");
    write_job(folder, "j1.cfg", "second", "");
    write_job(folder, "x[1]/a.cfg", "third", "");
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        struct e2e_result r = e2e_in(folder, "$BIN/sweetspot status %s", named[i].path);
        assert_contains(r.err, test_text("sweetspot: %s has no results yet", named[i].job));
        assert_null(strstr(r.err, "//"));
    }
}

TEST(programs_get_one_document)
{
    static const char *const commands_with_formats[] = {"status", "compare"};
    char *folder = make_night();
    for (int i = 0; i < 2; i++) {
        const char *command = commands_with_formats[i];
        struct e2e_result r = e2e_in(folder, "$BIN/sweetspot %s night -f json", command);
        json_t *all = test_json(json_parse(r.out, NULL)), *jobs = json_object_get(all, "jobs"),
               *failed = json_object_get(all, "failed");
        char *format = test_text("sweetspot-%s", command);
        assert_string_equal(json_get_string(all, "format", ""), format);
        assert_int_equal(json_get_integer(all, "version", 0), 1);
        assert_int_equal(json_array_size(jobs), 3);
        assert_string_equal(json_get_string(json_array_get(jobs, 0), "job", ""), "fast");
        assert_string_equal(json_get_string(json_array_get(jobs, 2), "job", ""), "slow");
        assert_int_equal(json_array_size(failed), 2);
        assert_string_equal(json_get_string(json_array_get(failed, 0), "path", ""), "night/3.cfg");
        assert_int_equal(json_get_integer(json_array_get(failed, 0), "exit_status", 0), 1);
        assert_int_equal(json_get_integer(json_array_get(failed, 1), "exit_status", 0), 2);
        // For a single job, its members are at the top level.
        r = e2e_passed(e2e_in(folder, "$BIN/sweetspot %s night/1.cfg -f json", command));
        all = test_json(json_parse(r.out, NULL));
        assert_string_equal(json_get_string(all, "format", ""), format);
        assert_string_equal(json_get_string(all, "job", ""), "same");
        assert_null(json_object_get(all, "jobs"));
    }
}

TEST(headers_and_exports_of_several_go_into_a_folder)
{
    char *folder = make_night();
    struct e2e_result r = e2e_passed(e2e_in(
        folder,
        "rm night/3.cfg night/4.cfg && $BIN/sweetspot header night && $BIN/sweetspot header night -o best "
        "&& { $BIN/sweetspot header night --check best; test $? = 1; } && $BIN/sweetspot export night -o spaces && ls "
        "best spaces out/include && $BIN/sweetspot header night --hash && $BIN/sweetspot tune night/1.cfg --device "
        "replay:spaces/same.json.gz --store again.db -q && $BIN/sweetspot compare night/1.cfg --store again.db"));
    assert_int_equal(lines_with(r.out, "slow_best.h"), 5); // written twice, checked, listed twice
    assert_int_equal(lines_with(r.out, "slow.json.gz"), 1);
    assert_int_equal(lines_with(r.out, "same 0x"), 1);
    assert_contains(r.out, "1.000 [1.000, 1.000]");
    static const struct {
        const char *command, *message;
    } refused[] = {
        {"export night", "for several jobs, --output must name a folder, and '-' is not a folder"},
        {"export night -o again.db", "'again.db' is not a folder"},
        {"header night -o -", "--output must name a folder"},
        {"header night -o many.h", "for several jobs, --output must name a folder, and 'many.h' is not a folder"},
        {"header night --check nowhere", "'nowhere' is not a folder"},
        {"status night --store again.db", "--store works with one job only"},
        {"compare night/0.cfg night/1.cfg --store again.db", "--store works with one job only"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        r = e2e_in(folder, "$BIN/sweetspot %s && ls", refused[i].command);
        assert_int_equal(r.status, EXIT_USAGE);
        assert_string_equal(r.out, "");
        assert_contains(r.err, refused[i].message);
    }
    r = e2e_run(folder, "test -e $DIR/nowhere"); // checking makes no folder
    assert_int_equal(r.status, 1);
    // Two jobs with the same name could not be told apart.
    write_job(folder, "night/5.cfg", "same", "");
    r = e2e_in(folder, "$BIN/sweetspot compare night");
    assert_int_equal(r.status, EXIT_USAGE);
    assert_contains(r.err, "night/5.cfg: the job has the same name as night/1.cfg, 'same'");
    assert_int_equal(lines_with(r.out, "N=1024"), 3);
}

TEST(more_than_64_jobs_are_read_from_a_folder_or_the_command_line)
{
    enum { JOBS = 80 };
    char *folder = e2e_folder("several-many");
    e2e_write(folder, "x.cu", "\n");
    for (int i = 0; i < JOBS; i++) {
        char *file = test_text("j%02d.cfg", i), *name = test_text("job%02d", i);
        write_job(folder, file, name, "");
    }
    for (int named = 0; named < 2; named++) {
        struct e2e_result r = e2e_in(folder, "$BIN/sweetspot status %s --format json", named ? "*.cfg" : ".");
        assert_int_equal(r.status, EXIT_NOTHING);
        assert_int_equal(lines_with(r.err, "has no results yet: there is no store"), JOBS);
        json_t *all = test_json(json_parse(r.out, NULL));
        assert_int_equal(json_array_size(json_object_get(all, "failed")), JOBS);
    }
}

TEST_WITH(every_device_of_a_store_is_shown_the_newest_first, setup, teardown)
{
    char *out;
    finished_decided(&job);
    usleep(20000); // the environments' times of use differ
    finished_trials_on(&job, "NVIDIA A100", "sm_80", 132);
    out = finished_says(&job, 0, "status JOB -s STORE").out;
    const char *newest = strstr(out, "NVIDIA A100"), *other = strstr(out, "NVIDIA H200");
    assert_true(newest && other && newest < other);
    // The newest device has no final. This is reported, and the other is compared.
    struct said said = finished_says(&job, EXIT_NOTHING, "compare JOB -s STORE");
    assert_contains(said.out, "mini-gemm on NVIDIA H200");
    assert_null(strstr(said.out, "A100"));
    assert_contains(said.err, "has decided a winner yet");
    finished_final(&job); // on the device used last
    out = finished_says(&job, 0, "compare JOB -s STORE --format=json").out;
    json_t *all = test_json(json_parse(out, NULL)), *others = json_object_get(all, "other_devices");
    assert_string_equal(json_get_string(all, "device", ""), "NVIDIA A100");
    assert_int_equal(json_array_size(others), 1);
    assert_string_equal(json_get_string(json_array_get(others, 0), "device", ""), "NVIDIA H200");
    out = finished_says(&job, 0, "compare JOB -s STORE --device=h200").out;
    assert_contains(out, "mini-gemm on NVIDIA H200");
    assert_null(strstr(out, "A100"));
    char *store_option = test_text("--store=%s", job.store), *header = test_text("--output=%s", job.header);
    finished_says(&job, 0, "header JOB %s -dh200 %s", store_option, header);
    out = test_owned(text_read_file(job.header, NULL));
    assert_contains(out, "NVIDIA H200");
    assert_null(strstr(out, "A100"));
    assert_contains(finished_says(&job, EXIT_USAGE, "status JOB -s STORE --device=NVIDIA").err, "more than one device",
                    "NVIDIA A100, NVIDIA H200");
    assert_contains(finished_says(&job, EXIT_USAGE, "status JOB -s STORE --device=B200").err, "no device of ");
}

TEST_WITH(the_gate_fails_below_the_figure_and_says_where, setup, teardown)
{
    static const struct {
        const char *figure;
        int status;
        const char *message;
    } cases[] = {
        {"--fail-below=0.85", 0, NULL},
        {"--fail-below=1.0", EXIT_GATE,
         "gate: mini-gemm: M=4096,N=4096: the ratio to cublas is 0.9000 [0.9000, 0.9000]; its lower bound is 0.1 below "
         "1\n"},
        {"--fail-below=1.7", EXIT_GATE, "gate: mini-gemm: M=1000,N=77: the ratio to cublas is 1.6000"},
    };
    finished_trials(&job);
    char *err = finished_says(&job, EXIT_GATE, "compare JOB -s STORE --fail-below=0").err;
    assert_contains(err, "mini.cfg: no final has decided a winner");
    finished_final(&job);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = finished_run(&cmd_compare, NULL, &err, "compare", job.job, "-s", job.store, cases[i].figure, NULL);
        assert_int_equal(status, cases[i].status);
        if (cases[i].message) assert_contains(err, cases[i].message);
        assert_int_equal(lines_with(err, "sweetspot: gate: "), (int)i);
    }
    assert_contains(finished_says(&job, EXIT_USAGE, "compare JOB -s STORE --lower-bound").err, "was removed");
}

// The ratio to one library is 1.0 to 1.2. The ratio to a second library is always 1.3, and there is no ratio to a third
// library.
TEST(the_gate_goes_by_the_fastest_library_and_by_the_lower_bound_of_its_interval)
{
    struct error err = {""};
    json_t *document = test_json(
        json_parse("{\"winner\":5,\"entries\":[{\"name\":\"5\",\"trial\":5,\"status\":\"ok\",\"problems\":[{"
                   "\"problem\":0,\"times\":[1,1,1,1,1,1,1,1,1]}]},{\"name\":\"even\",\"status\":\"ok\",\"problems\":[{"
                   "\"problem\":0,\"times\":[1.3,1.3,1.3,1.3,1.3,1.3,1.3,1.3,1.3]}]},{\"name\":\"wide\",\"status\":"
                   "\"ok\",\"problems\":[{\"problem\":0,\"times\":[1.0,1.0,1.0,1.1,1.1,1.1,1.2,1.2,1.2]}]},{\"name\":"
                   "\"none\",\"status\":\"launch_error\",\"problems\":[]}]}",
                   &err));
    struct final final;
    static struct problem problem = {.name = "N=1"};
    static struct job about;
    if (!document || final_read(&final, document, 1, &err)) fail_msg("%s", err.message);
    about.verify.enabled = true;
    about.problems = &problem;
    about.tuned_count = 1;
    const struct final_entry *fastest = final_fastest_baseline(&final, 0);
    assert_string_equal(fastest->name, "wide");
    double low = fastest->problems[0].ratio.low;
    assert_true(low < 1.09 && low >= 1);
    char text[512] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_int_equal(gate_check(low, &final, &about, "j", file), 0);
    assert_int_equal(gate_check(1.09, &final, &about, "j", file), 1); // below the ratio
    fclose(file);
    assert_contains(text, "j: N=1: the ratio to wide is 1.1000", "its lower bound is ");
    for (size_t i = 0; i < final.entry_count; i++) final.entries[i].problems[0].ratio.value = NAN;
    file = fmemopen(text, sizeof text, "w");
    assert_int_equal(gate_check(0, &final, &about, "j", file), 1);
    about.verify.enabled = false;
    assert_int_equal(gate_check(0.5, &final, &about, "j", file), 1); // whatever the figures are
    fclose(file);
    assert_contains(text, "j: N=1: no baseline has a time in the final: the job needs");
    final_release(&final);
}

TEST_WITH(json_has_all_the_digits_of_a_time, setup, teardown)
{
    finished_decided(&job);
    struct store *store;
    struct environment environment;
    struct error err = {""};
    assert_int_equal(store_open(&store, job.store, false, &err), 0);
    assert_int_equal(store_last_environment(store, &environment, &err), 0);
    json_t *document = test_json(store_get_document(store, 0, "final", NULL, &err));
    json_object_set_new(document, "when", json_real(1790000123.4567890));
    assert_int_equal(store_put_document(store, 0, "final", document, &err), 0);
    store_close(store);
    char *out = finished_says(&job, 0, "compare JOB -s STORE -fjson").out;
    json_t *all = test_json(json_parse(out, &err));
    assert_true(json_get_number(all, "when", 0) == 1790000123.4567890);
    assert_contains(finished_says(&job, 0, "status JOB -s STORE -fjson").out, "1790000123.456789");
}

// The output of table_print on a terminal with this number of columns.
static char *print_on_terminal(const struct table *table, unsigned short columns)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && !grantpt(master) && !unlockpt(master));
    FILE *terminal = fopen(ptsname(master), "w");
    assert_non_null(terminal);
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    assert_int_equal(ioctl(fileno(terminal), TIOCSWINSZ, &size), 0);
    table_print(table, terminal);
    fflush(terminal);
    char *text = test_owned(text_copy(""));
    for (char buffer[512]; !strstr(text, "end");) {
        ssize_t n = read(master, buffer, sizeof buffer);
        assert_true(n > 0);
        text = test_text("%s%.*s", text, (int)n, buffer);
    }
    fclose(terminal);
    close(master);
    return text;
}

TEST(on_a_narrow_terminal_texts_are_cut_and_numbers_are_not)
{
    struct table *table = table_new((const char *[]){"name", "configuration", ">a very wide number", "x", NULL});
    const char *const cells[] = {"gemm", "BLOCK_M=128,BLOCK_N=64,\xc2\xb5=3", "123456789012345678", "end"};
    for (size_t i = 0; i < 4; i++) table_cell(table, "%s", cells[i]);
    unsetenv("COLUMNS");
    char *wide = print_on_terminal(table, 200), *narrow = print_on_terminal(table, 50),
         *least = print_on_terminal(table, 10);
    assert_contains(wide, "BLOCK_M=128,BLOCK_N=64,\xc2\xb5=3  123456789012345678  end");
    assert_contains(narrow, "gemm  BLOCK_M=128,BLOCK_\xe2\x80\xa6  123456789012345678  end", "123456789012345678  end");
    assert_contains(least, "gemm  BLOCK_M\xe2\x80\xa6  123456789012345678  end");
    // COLUMNS is obeyed on a terminal, and a pipe gets everything.
    setenv("COLUMNS", "50", 1);
    char *set = print_on_terminal(table, 200), text[256] = "";
    assert_contains(set, "BLOCK_\xe2\x80\xa6  123");
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    FILE *piped = fdopen(ends[1], "w");
    table_print(table, piped);
    fclose(piped);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    assert_contains(text, "BLOCK_N=64,\xc2\xb5=3  123");
    close(ends[0]);
    unsetenv("COLUMNS");
    table_free(table);
}

TEST(a_cell_stays_on_its_line_and_csv_keeps_it)
{
    struct table *table = table_new((const char *[]){"na\nme", "reason", NULL});
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    table_texts(table, "a\"b", "first,\nsecond\t\033[2J\x7f\xc2\x9b\xc2\xb5");
    table_print(table, out);
    table_print_csv(table, out);
    fclose(out);
    test_owned(text);
    assert_string_equal(text, "na me  reason\na\"b    first, second ?[2J??\xc2\xb5\n"
                              "\"na\nme\",reason\n\"a\"\"b\",\"first,\nsecond\t\033[2J\x7f\xc2\x9b\xc2\xb5\"\n");
    table_free(table);
}

TEST_MAIN(NULL, NULL)
