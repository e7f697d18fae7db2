// Settings of earlier versions. A job with such settings loads and means exactly the same as a job with the current
// settings, including every fact of the environment. It is rewritten with its comments.
#include "tests/e2e.h"
#include "tests/finished_job.h"
#include "tests/loaded_job.h"

#include "tuner/base/memory.h"
#include "tuner/setup/request.h"
#include "tuner/setup/run_environment.h"

static char *folder;
static struct error err; // from the last call that failed

// The other settings that a job needs. The pieces below replace some of these settings.
static const char kernel[] = "kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
                             "parameters = ( { name = \"BLOCK\"; values = [64, 128]; } );\n"
                             "problems = ( { N = 1000; M = 8; }, { N = 500; M = 3; } );\n";
static const char launch[] = "launch = { grid = [ \"ceil_div(N, BLOCK)\" ]; block = [ \"BLOCK\" ]; };\n";
static const char arguments[] = "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = "
                                "\"out\"; } );\n";
static const char reference[] = "reference = { files = { y = \"y.npy\"; }; };\n";

// Old settings, their current form, and a part of the remark about the old settings.
static const struct spelling {
    const char *old, *today, *note;
} spellings[] = {
    {"search = { strategy = \"random\"; };", "strategy = \"random\";", "'search = { strategy = ...; }' is written"},
    {"search = {\n  // how\n  strategy = \"random\" // so\n};\n", "// how\n  strategy = \"random\" // so\n",
     "'search = { strategy = ...; }' is written"},
    {"search : { strategy = \"ran\" \"dom\" }", "strategy = \"ran\" \"dom\"", "'search = {"},
    {"counters = { metrics = [\"stalls\"]; };", "metrics = [\"stalls\"];",
     "'counters = { metrics = ...; }' is written"},
    {"current = { template = \"x.cu\"; entry = \"old\"; launch = { grid = [1]; block = [64]; }; };",
     "current = { template = \"x.cu\"; kernel = \"old\"; launch = { grid = [1]; block = [64]; }; };",
     "the 'entry' of another kernel is called 'kernel'"},
    {"baselines = ( { name = \"b\"; entry = \"old\"; launch = { grid = [1]; block = [64]; }; } );",
     "baselines = ( { name = \"b\"; kernel = \"old\"; launch = { grid = [1]; block = [64]; }; } );",
     "the 'entry' of another kernel is called 'kernel'"},
    {"reference = { entry = \"old\"; launch = { grid = [1]; block = [64]; }; };",
     "reference = { kernel = \"old\"; launch = { grid = [1]; block = [64]; }; };",
     "the 'entry' of another kernel is called 'kernel'"},
    {"constants = ( { name = \"c\"; type = \"i32\"; value = \"N\"; }, { name = \"d\"; type = \"f32\"; value = 0.5; }, "
     "{ "
     "name = \"e\"; type = \"u8\"; value = 3; } );",
     "constants = ( { name = \"c\"; type = \"i32\"; fill = \"N\"; }, { name = \"d\"; type = \"f32\"; fill = 0.5; }, { "
     "name = \"e\"; type = \"u8\"; fill = 3; } );",
     "the 'value' of a constant is called 'fill'"},
    {"constants = ( { name = \"c\"; type = \"i32\"; shape = [8]; direction = \"out\"; compare = { count = [2]; }; } );",
     "constants = ( { name = \"c\"; type = \"i32\"; shape = [8]; direction = \"out\"; compare = [\"0\", \"2\"]; } );",
     "'compare' is a list"},
};

static const struct spelling argument_spellings[] = {
    {"{ buffer = \"a\"; type = \"f32\"; shape = [ \"N\" ]; restore = true; }",
     "{ buffer = \"a\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"restored\"; }", "'restore = true' is written"},
    {"{ buffer = \"a\"; direction = \"in\"; restore = TRUE; type = \"f32\"; shape = [ \"N\" ]; }",
     "{ buffer = \"a\"; direction = \"restored\"; type = \"f32\"; shape = [ \"N\" ]; }", "'restore = true' is written"},
    {"{ buffer = \"a\"; type = \"f32\"; shape = [ \"N\" ]; restore = false; direction = \"inout\"; }",
     "{ buffer = \"a\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"inout\"; }", "'restore = true' is written"},
    {"{ buffer = \"a\"; type = \"i32\"; shape = [ \"M\" ]; fill = { kind = \"offsets\"; total = \"N\"; }; }",
     "{ buffer = \"a\"; type = \"i32\"; shape = [ \"M\" ]; fill = { kind = \"offsets\"; high = \"N\"; }; }",
     "'total' in 'fill' is called 'high'"},
    {"{ buffer = \"a\"; type = \"i32\"; shape = [ \"M\" ]; fill = { kind = \"offsets\"; total = 7; }; }",
     "{ buffer = \"a\"; type = \"i32\"; shape = [ \"M\" ]; fill = { kind = \"offsets\"; high = 7; }; }",
     "'total' in 'fill' is called 'high'"},
    {"{ buffer = \"a\"; type = \"f32\"; shape = ( \"M\", 4, \"N\" ); direction = \"out\"; compare = { first = (1, 0, "
     "\"M\");\n   count = [\"M - 2\", \"1 + 1\", \"9\"]; };\n }",
     "{ buffer = \"a\"; type = \"f32\"; shape = ( \"M\", 4, \"N\" ); direction = \"out\"; compare = [\"1\", \"M - 2\", "
     "\"0\", \"1 + 1\", \"M\", \"9\"];\n }",
     "'compare' is a list"},
    {"{ buffer = \"a\"; type = \"f32\"; compare = { first = [\"M - 2\"]; }; shape = [ \"M\" ]; direction = \"out\"; }",
     "{ buffer = \"a\"; type = \"f32\"; compare = [\"M - 2\", \"(M) - (M - 2)\"]; shape = [ \"M\" ]; direction = "
     "\"out\"; }",
     "'compare' is a list"},
    {"{ scalar = \"p\"; members = ( { name = \"N\"; type = \"i64\"; }, { name = \"a\"; count = 2; members = ( { name = "
     "\"x\"; type = \"i8\"; value = [1, 2]; count = 2; } ); } ); }",
     "{ scalar = \"p\"; members = ( { scalar = \"N\"; type = \"i64\"; }, { scalar = \"a\"; shape = [2]; members = ( { "
     "scalar = \"x\"; type = \"i8\"; value = [1, 2]; shape = [2]; } ); } ); }",
     "the 'name' of a member is called 'scalar'"},
    {"{ tensor_map = \"a\"; type = \"f32\"; shape = ( \"N\", 64 ); box = ( 8,\n  \"BLOCK / 2\" ); // two\n  swizzle = "
     "128 }",
     "{ buffer = \"a\"; type = \"f32\"; shape = ( \"N\", 64 ); tma = { box = ( 8,\n  \"BLOCK / 2\" ); // two\n  "
     "swizzle "
     "= 128; }; }",
     "a tensor map, 'tensor_map = "},
    {"{ convert = \"tf32\"; type = \"f32\" promotion = 64, restore = true; shape = ( \"N\", 64 ); box = [ 8, 4 ], "
     "tensor_map = \"a\"; }",
     "{ tma = { convert = \"tf32\"; promotion = 64; box = [ 8, 4 ]; }; type = \"f32\" direction = \"restored\"; shape "
     "= ( "
     "\"N\", 64 ); buffer = \"a\"; }",
     "'restore = true' is written"},
    // Old and current forms, also in one argument, and a second tensor map of the same buffer.
    {"{ buffer = \"a\"; type = \"u8\"; shape = ( \"N\", 64 ); tma = { box = [ 8, 16 ]; }; restore = true; },\n"
     "{ tensor_map = \"a\"; view = [ 1000, 4, 16 ]; box = [ 8, 4, 16 ]; }, { buffer = \"a\"; tma = { box = [1, 16]; }; "
     "}",
     "{ buffer = \"a\"; type = \"u8\"; shape = ( \"N\", 64 ); tma = { box = [ 8, 16 ]; }; direction = \"restored\"; "
     "},\n"
     "{ buffer = \"a\"; tma = { view = [ 1000, 4, 16 ]; box = [ 8, 4, 16 ]; }; }, { buffer = \"a\"; tma = { box = [1, "
     "16]; }; }",
     "'restore = true' is written"},
    {"{ texture = \"a\"; type = \"u8\"; channels = 4; shape = ( \"M\", 64 ); read = \"normalized\"; filter = "
     "\"linear\"; "
     "}, { surface = \"b\"; type = \"f32\"; shape = [ 64 ]; direction = \"scratch\"; memory = \"array\" }, { texture = "
     "\"b\" }",
     "{ buffer = \"a\"; type = \"u8\"; texture = { channels = 4; read = \"normalized\"; filter = \"linear\"; }; shape "
     "= ( "
     "\"M\", 64 ); }, { buffer = \"b\"; type = \"f32\"; shape = [ 64 ]; direction = \"scratch\"; surface = { memory = "
     "\"array\"; }; }, { buffer = \"b\"; texture = { }; }",
     "a texture, 'texture = "},
};

static const struct spelling stage_spellings[] = {
    {"repeat = { name = \"I\"; from = 0; while = \"I < M\"; next = \"I + 1\"; };",
     "repeat = \"I = 0; I < M; I = I + 1\";", "'repeat' is written as in C"},
    {"repeat = ( { name = \"I\"; from = \"M\"; while = \"I\"; next = 0; },\n  { next = \"K * 2\"; while = \"K < I\"; "
     "from "
     "= \"1\"; name = \"K\"; } );",
     "repeat = ( \"I = M; I; I = 0\",\n  \"K = 1; K < I; K = K * 2\" );", "'repeat' is written as in C"},
};

static bool has(const char *piece, const char *setting)
{
    autofree char *begin = text_format("%s = ", setting);
    return !strncmp(piece, begin, strlen(begin));
}

// The whole job with a piece at its end, so that the piece's lines are the last ones.
static char *whole(const struct spelling *table, const char *piece)
{
    if (table == argument_spellings)
        return test_text(
            "%s%s%sarguments = ( { buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"out\"; "
            "},\n%s );\n",
            kernel, launch, reference, piece);
    if (table == stage_spellings)
        return test_text("%s%sstages = ( { entry = \"x\"; %s%s%s } );\n", kernel, reference, launch, arguments, piece);
    return test_text("%s%s%s%s%s\n", kernel, launch, arguments, has(piece, "reference") ? "" : reference, piece);
}

static struct job *load(const char *text)
{
    e2e_write(folder, "job.cfg", text);
    return loaded_job(test_text("%s/job.cfg", folder));
}

// Everything that a job's results depend on, and the requests to its worker.
static char *meaning(struct job *job)
{
    static const struct environment known = {
        .source_hash = "aa", .compiler = "nvrtc 13.0", .device = "NVIDIA H200", .arch = "sm_90a", .driver = "1"};
    uint16_t config[SPACE_MAX_PARAMETERS] = {0};
    json_t *request = test_json(request_job(job, 0, NULL, 1, &err));
    if (!request) fail_msg("%s", err.message);
    json_t *facts = test_json(run_environment_facts(job, request, &known, false)),
           *problems = test_json(request_problems(job, config, NULL, false, NULL, NULL, &err));
    autofree char *asked = problems ? json_dumps(problems, JSON_COMPACT) : text_copy(err.message),
                  *text = environment_text(facts, &err);
    if (!text) fail_msg("%s", err.message);
    char *same = test_text("%" PRIu64 " %s %s %s", space_size(job->space), job->search.strategy, asked, text);
    for (size_t i = 0; i < job->search.metric_count; i++) same = test_text("%s %s", same, job->search.metrics[i]);
    for (const struct implementation *m, *const *end = NULL; !end && job->others.baseline_count; end = &m) {
        m = &job->others.baselines[0];
        same = test_text("%s %s %s", same, m->name, m->stage.entry);
    }
    return same;
}

static int lines_before(const char *text, const char *place)
{
    int line = 1;
    for (; text < place; text++) line += *text == '\n';
    return line;
}

static void compare(const struct spelling *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct spelling *s = &table[i];
        const char *old_text = whole(table, s->old), *today_text = whole(table, s->today);
        struct job *old = load(old_text), *today;
        if (old->file.old.count < 1 || !strstr(old->file.old.list[0].text, s->note))
            fail_msg("%s: '%s'", s->old, old->file.old.count ? old->file.old.list[0].text : "nothing is noted");
        assert_true(old->file.old.list[0].line >= lines_before(old_text, strstr(old_text, s->old)));
        autofree char *rewritten = job_rewrite(old->path, &err);
        assert_string_equal(rewritten, today_text);
        today = load(today_text);
        assert_int_equal(today->file.old.count, 0);
        autofree char *again = job_rewrite(today->path, &err);
        assert_string_equal(again, today_text);
        assert_string_equal(meaning(old), meaning(today));
    }
}

TEST(old_spellings_mean_what_todays_mean_and_are_rewritten)
{
    compare(spellings, sizeof spellings / sizeof *spellings);
    compare(argument_spellings, sizeof argument_spellings / sizeof *argument_spellings);
    compare(stage_spellings, sizeof stage_spellings / sizeof *stage_spellings);
}

// Jobs in configs/, and their old spellings.
TEST(shipped_jobs_in_their_earlier_form_have_the_same_results)
{
    static const char today_search[] = "\nstrategy = \"exhaustive\";",
                      old_search[] = "\nsearch = { strategy = \"exhaustive\"; };";
    static const struct {
        const char *name, *today, *old;
    } jobs[] = {
        {"coarsening", today_search, old_search},
        {"windowed_sum", today_search, old_search},
        {"copy_order", today_search, old_search},
        {"branch", today_search, old_search},
        {"smith_waterman_unroll", today_search, old_search},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        autofree char *text = text_read_file(test_text("configs/%s.cfg", jobs[i].name), NULL),
                      *before = text_replaced(text, jobs[i].today, jobs[i].old);
        struct job *today = loaded_job(test_text("configs/%s.cfg", jobs[i].name)), *old = load(before);
        autofree char *rewritten = job_rewrite(old->path, &err);
        assert_true(old->file.old.count > 0 && !today->file.old.count);
        assert_string_equal(rewritten, text);
        assert_string_equal(meaning(old), meaning(today));
    }
}

// A mistake is not turned into another mistake, and nothing is dropped.
TEST(what_has_no_form_today_stays_and_is_refused)
{
    static const struct {
        const char *argument, *message;
    } cases[] = {
        {"{ buffer = \"a\"; type = \"f32\"; shape = [8]; direction = \"out\"; restore = true; }",
         "setting 'restore' in a buffer argument was removed: direction \"restored\""},
        {"{ buffer = \"a\"; type = \"f32\"; shape = [8]; direction = \"out\"; compare = { first = [1, 2]; count = [1]; "
         "}; "
         "}",
         "'compare' must be a list"},
        {"{ buffer = \"a\"; type = \"f32\"; shape = [8]; direction = \"out\"; compare = { first = [1]; last = [1]; }; "
         "}",
         "'compare' must be a list"},
        {"{ buffer = \"a\"; type = \"f32\"; shape = [8]; direction = \"out\"; compare = { }; }",
         "'compare' must be a list"},
        {"{ texture = \"a\"; buffer = \"a\"; type = \"f32\"; shape = [8]; }", "'texture' must be a group"},
        {"{ tensor_map = \"a\"; tma = { box = [4]; }; }", "an argument must be"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mistakes mistakes = {0};
        struct job *job;
        char *path = test_text("%s/job.cfg", folder), *text = whole(argument_spellings, cases[i].argument);
        e2e_write(folder, "job.cfg", text);
        assert_int_equal(job_load(path, &job, &mistakes), -1);
        assert_contains(mistakes.list[0].text, cases[i].message);
        autofree char *same = job_rewrite(path, &err);
        assert_string_equal(same, text);
        mistakes_release(&mistakes);
    }
}

TEST(mistakes_in_and_after_a_rewritten_piece_keep_their_lines)
{
    static const struct {
        const struct spelling *table;
        const char *piece, *wrong, *message;
    } cases[] = {
        {spellings, "search = {\n\n  strategy = \"random\";\n\n\n};\nbudget = { tme = \"1h\"; };", "budget",
         "unknown setting 'tme'"},
        {argument_spellings,
         "{ tensor_map = \"a\"; type = \"f32\"; shape = [8];\n  box = [4];\n  out_of_bounds = \"zeros\"; },\n"
         "{ buffer = \"b\"; type = \"f32\"; shape = [8]; tma = { box = [4]; }; }",
         "out_of_bounds", "'tma.out_of_bounds' must be one of \"zero\", \"nan\"; did you mean \"zero\"?"},
        {argument_spellings,
         "{ texture = \"a\"; type = \"f32\"; shape = [8];\n filter = \"linear\"; },\n"
         "{ buffer = \"b\"; type = \"f32\"; shape = [8];\n  surface = {\n  channels = 5; }; }",
         "channels", "'surface.channels' is 5, but must be between 1 and 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = whole(cases[i].table, cases[i].piece);
        struct mistakes mistakes = {0};
        struct job *job;
        e2e_write(folder, "job.cfg", text);
        assert_int_equal(job_load(test_text("%s/job.cfg", folder), &job, &mistakes), -1);
        assert_contains(mistakes.list[0].text, cases[i].message);
        assert_int_equal(mistakes.list[0].line, lines_before(text, strstr(text, cases[i].wrong)));
        mistakes_release(&mistakes);
    }
}

TEST(a_command_says_once_for_each_kind_what_it_is_today_also_of_an_included_file)
{
    e2e_write(
        folder, "part.inc",
        "\narguments = ( { buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"out\"; }, { buffer = "
        "\"a\"; type = \"f32\"; shape = [ \"N\" ]; restore = true; }, { buffer = \"b\"; type = \"f32\"; shape = [ "
        "\"N\" ]; restore = true; } ); // both\n");
    e2e_write(folder, "job.cfg",
              test_text("%s%s%s@include \"part.inc\"\nsearch = { strategy = \"random\"; }; /* kept */\n", kernel,
                        launch, reference));
    struct e2e_result r = e2e_passed(e2e_in(folder, "$BIN/sweetspot header --hash job.cfg"));
    assert_contains(r.err, "part.inc:2: note: 'restore = true' is written 'direction = \"restored\"' now\n");
    assert_contains(r.err, "job.cfg:7: note: 'search = { strategy = ...; }' is written 'strategy = ...' now\n"
                           "sweetspot: `sweetspot check --rewrite job.cfg` prints the job in the current form\n");
    assert_null(strstr(strstr(r.err, "'restore") + 1, "'restore"));
    r = e2e_passed(e2e_in(folder, "$BIN/sweetspot check --rewrite job.cfg part.inc >new && tail -n 3 new"));
    assert_contains(r.out, "strategy = \"random\"; /* kept */\n\narguments = (");
    assert_contains(r.out,
                    "{ buffer = \"b\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"restored\"; } ); // both\n");
}

static void setup(void)
{
    folder = e2e_folder("old");
    e2e_write(folder, "x.cu", "BLOCK\n");
    e2e_write(folder, "y.npy", "");
}

static void teardown(void)
{
}

TEST_MAIN(setup, teardown)
