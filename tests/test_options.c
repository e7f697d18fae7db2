// Options: one table drives parsing and --help.
#include "tests/finished_job.h"
#include "tests/testing.h"

#include "kernels/operation.h"
#include "search/strategies/strategy.h"
#include "tuner/base/execution_unit.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/trial/metrics.h"
#include "tuner/trial/trial_field.h"

struct given {
    const char *job, *more, *store;
    bool flag, quiet;
    int64_t number;
    double time, factor;
    int format;
    struct option_list list;
};

static struct given given;

// A command with one option of each kind.
static const struct option_spec specs[] = {
    OPTION_JOB(&given.job),
    {.name = "MORE", .positional = true, .optional = true, .string = &given.more, .help = "another one"},
    OPTION_STORE(&given.store),
    OPTION_FORMAT(&given.format),
    {.name = "flag", .letter = 'g', .flag = &given.flag, .help = "a flag"},
    {.name = "quiet", .letter = 'q', .flag = &given.quiet, .help = "another flag"},
    {.name = "number",
     .letter = 'n',
     .integer = &given.number,
     .low = 1,
     .high = 100,
     .shown = "N",
     .help = "a number (7)"},
    {.name = "time", .letter = 't', .seconds = &given.time, .shown = "TIME", .help = "a duration (1s)"},
    {.name = "factor", .real = &given.factor, .shown = "X", .help = "a factor (0.5)"},
    {.name = "add",
     .list = &given.list,
     .shown = "TEXT",
     .help = "may be repeated, and is explained by a text that is longer than what fits on one line of the terminal"},
    OPTION_END,
};

static const struct command try = {
    .name = "try", .description = "Tries everything.\nA second paragraph.", .options = specs};

#define RUN(...) finished_run(&try, &out, &err, "try", __VA_ARGS__, NULL)
#define TRY(...) parse((const char *[]){"try", __VA_ARGS__, NULL})

static int parse(const char **words)
{
    int count = 0;
    given = (struct given){.number = 7, .time = 1, .factor = 0.5};
    while (words[count]) count++;
    return options_parse(specs, "", count, (char **)(uintptr_t)words);
}

TEST(every_form_of_an_option_is_read)
{
    assert_int_equal(TRY("a.cfg"), -1);
    assert_string_equal(given.job, "a.cfg");
    assert_true(given.number == 7 && given.time == 1 && !given.flag && given.format == FORMAT_TABLE && !given.more &&
                !given.store);
    assert_int_equal(TRY("--number", "8", "a.cfg", "--time=1h30m", "-gq", "--factor=2.5"), -1);
    assert_true(given.number == 8 && given.time == 5400 && given.flag && given.quiet && given.factor == 2.5);
    assert_int_equal(TRY("-n9", "-qt", "90s", "-fjson", "x"), -1);
    assert_true(given.number == 9 && given.time == 90 && given.quiet && !given.flag && given.format == FORMAT_JSON);
    assert_int_equal(TRY("--number=1", "--number=100", "--store=a=b", "--", "-x", "--flag"), -1);
    assert_true(given.number == 100 && !given.flag);
    assert_string_equal(given.store, "a=b");
    assert_string_equal(given.job, "-x");
    assert_string_equal(given.more, "--flag");
    assert_int_equal(TRY("-", "--add", "one", "--add=two"), -1);
    assert_string_equal(given.job, "-");
    assert_int_equal(given.list.count, 2);
    assert_string_equal(given.list.items[1], "two");
}

TEST(every_mistake_is_named_and_ends_with_status_2)
{
    static const struct {
        const char *words[3], *message;
    } cases[] = {
        {{NULL}, "JOB is missing"},
        {{"a", "b", "c"}, "unexpected argument 'c'"},
        {{"a", "--flga"}, "unknown option '--flga'; did you mean '--flag'?"},
        {{"a", "--stroe=x"}, "unknown option '--stroe'; did you mean '--store'?"},
        {{"a", "--something-else"}, "unknown option '--something-else'\n"},
        {{"a", "--hepl"}, "did you mean '--help'?"},
        {{"a", "-x"}, "unknown option '-x'"},
        {{"a", "-gx"}, "unknown option '-x'"},
        {{"a", "--flag=1"}, "--flag takes no value"},
        {{"a", "--number"}, "--number needs a value: N"},
        {{"a", "-n"}, "--number needs a value: N"},
        {{"a", "--format"}, "--format needs a value: table|json|csv"},
        {{"a", "--number=0"}, "--number needs a whole number from 1 to 100, not '0'"},
        {{"a", "--number=101"}, "from 1 to 100, not '101'"},
        {{"a", "--number=5x"}, "not '5x'"},
        {{"a", "--number="}, "not ''"},
        {{"a", "--number=99999999999999999999"}, "not '99999999999999999999'"},
        {{"a", "--factor=nan"}, "--factor needs a number, not 'nan'"},
        {{"a", "--time=8x"}, "--time needs a duration such as 90s, 8h or 1h30m, not '8x'"},
        {{"a", "--time=-1"}, "not '-1'"},
        {{"a", "--format=jsn"}, "--format cannot be 'jsn'; did you mean 'json'?"},
        {{"a", "--format=yaml"}, "use one of table, json, csv"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *out, *err;
        assert_int_equal(RUN(cases[i].words[0], cases[i].words[1], cases[i].words[2]), 2);
        assert_contains(err, cases[i].message, "sweetspot try --help");
        assert_string_equal(out, "");
    }
}

TEST(help_is_made_of_the_same_table)
{
    char *out, *err;
    static const char expected[] =
        "usage: sweetspot try [OPTION...] JOB [MORE]\n\n"
        "Tries everything.\nA second paragraph.\n\n"
        "Arguments:\n"
        "  JOB                     job file (configs/NAME.cfg)\n"
        "  MORE                    another one\n\n"
        "Options:\n"
        "  -s, --store FILE        the job's database (out/<job name>.db, here or above the job file)\n"
        "  -f, --format table|json|csv\n"
        "                          how results are printed (table)\n"
        "  -g, --flag              a flag\n"
        "  -q, --quiet             another flag\n"
        "  -n, --number N          a number (7)\n"
        "  -t, --time TIME         a duration (1s)\n"
        "      --factor X          a factor (0.5)\n"
        "      --add TEXT          may be repeated, and is explained by a text that is longer than what fits\n"
        "                          on one line of the terminal\n"
        "  -h, --help              print this and exit\n";
    static const char *const ways[] = {"--help", "-h", "-gh"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(RUN(ways[i], "--not-looked-at"), 0);
        assert_string_equal(out, expected);
        assert_string_equal(err, "");
    }
}

// The options in --help, "-t, --time" or "--no-final", one per line.
static char *options_of_help(const char *help)
{
    struct text list = {0};
    text_add(&list, "%s", "");
    for (const char *line = help; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        char letter = 0, name[64] = "";
        if (!strncmp(line, "      --", 8))
            sscanf(line + 8, "%63[a-z-]", name);
        else if (strncmp(line, "  -", 3) != 0 || sscanf(line + 3, "%c, --%63[a-z-]", &letter, name) != 2)
            continue;
        if (!strcmp(name, "help")) continue;
        if (letter) text_add(&list, "-%c ", letter);
        text_add(&list, "--%s\n", name);
    }
    return list.text;
}

TEST(no_command_has_two_options_of_one_name_or_letter)
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *command = commands[i];
        char *out, letters[64] = "";
        assert_int_equal(finished_run(command, &out, NULL, command->name, "--help", NULL), 0);
        autofree char *list = options_of_help(out);
        for (char *line = strtok(list, "\n"), seen[2048] = "\n"; line; line = strtok(NULL, "\n")) {
            char *name = test_text("\n%s\n", strstr(line, "--"));
            if (strstr(seen, name) || (line[1] != '-' && strchr(letters, line[1])))
                fail_msg("%s has %s twice", command->name, line);
            strcat(seen, name + 1);
            if (line[1] != '-') strncat(letters, line + 1, 1);
        }
    }
}

// The standard output of a command, whose status must be 0 and whose standard error must be empty. Freed after the
// test.
#define PRINTED(command, ...) printed(command, (const char *[]){__VA_ARGS__, NULL})
static char *printed(const struct command *command, const char *const *words)
{
    const char *w[5] = {NULL};
    char *out, *err;
    for (size_t i = 0; words[i]; i++) w[i] = words[i];
    assert_int_equal(finished_run(command, &out, &err, w[0], w[1], w[2], w[3], w[4], NULL), 0);
    assert_string_equal(err, "");
    return out;
}

// A line that begins with `first` as a whole word and contains the other strings.
static void assert_line(const char *text, const char *first, const char *const *others)
{
    size_t length = strlen(first);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        if (strncmp(line, first, length) != 0 || (line[length] != ' ' && line[length] != ',')) continue;
        char *one = test_text("%.*s", (int)strcspn(line, "\n"), line);
        size_t i = 0;
        while (others[i] && strstr(one, others[i])) i++;
        if (!others[i]) return;
    }
    fail_msg("no line begins with '%s' and has '%s' in:\n%s", first, others[0], text);
}
#define ASSERT_LINE(text, first, ...) assert_line(text, first, (const char *[]){__VA_ARGS__, NULL})

TEST(every_strategy_is_listed_with_its_summary)
{
    char *all = PRINTED(&cmd_list, "list", "strategies"),
         *csv = PRINTED(&cmd_list, "list", "strategies", "--format=csv");
    for (size_t i = 0; strategy_classes[i]; i++) {
        const struct strategy_class *class = strategy_classes[i];
        char *one = PRINTED(&cmd_list, "list", "strategies", class->name);
        ASSERT_LINE(all, class->name, class->summary);
        ASSERT_LINE(csv, class->name, "");
        assert_contains(csv, class->summary);
        assert_contains(one, class->summary);
    }
}

TEST(every_operation_is_listed_with_its_roles_bound_and_baselines)
{
    char *all = PRINTED(&cmd_list, "list", "operations");
    for (size_t i = 0; operations[i]; i++) {
        const struct operation *op = operations[i];
        char *one = PRINTED(&cmd_list, "list", "operations", op->name);
        ASSERT_LINE(all, op->name, op->summary);
        assert_contains(one, op->summary, op->bound);
        for (const struct operation_role *role = op->roles; role->name; role++)
            ASSERT_LINE(one, "role", role->name, role->summary);
        for (size_t k = 0; op->classes && op->classes[k]; k++) ASSERT_LINE(one, "class", op->classes[k]);
        for (const struct operation_baseline *b = op->baselines; b && b->name; b++) {
            ASSERT_LINE(all, op->name, b->name);
            ASSERT_LINE(one, "baseline", b->name, b->summary);
        }
    }
}

TEST(every_metric_is_listed_in_its_set_and_by_its_key)
{
    char *all = PRINTED(&cmd_list, "list", "metrics");
    for (size_t i = 0; metric_sets[i]; i++) {
        const struct metric_set *set = metric_sets[i];
        char *one = PRINTED(&cmd_list, "list", "metrics", set->name);
        ASSERT_LINE(all, set->name, set->summary);
        assert_contains(one, set->summary);
        for (const struct metric *m = set->metrics; m->key; m++) {
            char *single = PRINTED(&cmd_list, "list", "metrics", m->key);
            ASSERT_LINE(one, set->name, m->key, m->name, m->unit, m->description, m->chips ? m->chips : "");
            ASSERT_LINE(single, set->name, m->key, m->name, m->unit, m->description, m->chips ? m->chips : "");
            assert_null(metrics_find(m->key)); // no name is both a set and a key
        }
    }
    char *full = PRINTED(&cmd_list, "list", "metrics", "full");
    ASSERT_LINE(full, "shared", "bank_conflicts_atomic"); // `full` includes it
}

TEST(every_field_of_a_trial_is_listed)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    char *all = PRINTED(&cmd_list, "list", "fields");
    for (size_t i = 0; i < count; i++) {
        const char *level = field_level_name(fields[i].level);
        char *one = PRINTED(&cmd_list, "list", "fields", fields[i].name);
        ASSERT_LINE(all, level, fields[i].name, fields[i].unit, fields[i].meaning);
        ASSERT_LINE(one, level, fields[i].name, fields[i].unit, fields[i].meaning);
    }
}

TEST(every_pipe_is_listed)
{
    char *all = PRINTED(&cmd_list, "list", "units");
    for (int i = 0; i < UNIT_COUNT; i++) {
        char *one = PRINTED(&cmd_list, "list", "units", execution_units[i].name);
        ASSERT_LINE(all, execution_units[i].name, execution_units[i].unit, execution_units[i].gloss,
                    execution_units[i].how);
        ASSERT_LINE(one, execution_units[i].name, execution_units[i].unit, execution_units[i].gloss,
                    execution_units[i].how);
    }
}

// As JSON, a list has as many entries as its table. Each has a name, and a single entry is printed as in the list.
TEST(lists_are_json_too)
{
    struct error err;
    char *text = PRINTED(&cmd_list, "list", "strategies", "-fjson");
    json_t *list = test_json(json_parse(text, &err)), *one;
    assert_string_equal(json_get_string(json_array_get(list, 0), "name", ""), "default");
    text = PRINTED(&cmd_list, "list", "strategies", "default", "-fjson");
    one = test_json(json_parse(text, &err));
    assert_int_equal(json_array_size(one), 1);
    assert_true(json_equal(json_array_get(list, 0), json_array_get(one, 0)));
    text = PRINTED(&cmd_list, "list", "operations", "-fjson");
    list = test_json(json_parse(text, &err));
    size_t count = 0;
    while (operations[count]) count++;
    assert_int_equal(json_array_size(list), count);
    assert_string_equal(json_get_string(json_array_get(list, 0), "bound", ""), operations[0]->bound);
    text = PRINTED(&cmd_list, "list", "metrics", "stall_gmma", "-fjson");
    list = test_json(json_parse(text, &err));
    assert_string_equal(json_get_string(json_array_get(list, 0), "chips", ""), "GH");
}

TEST(what_cannot_be_listed_is_a_usage_error_with_the_nearest)
{
    static const struct {
        const char *kind, *name, *message;
    } cases[] = {
        {NULL, NULL, "KIND is missing: what to list: strategies, operations, metrics, counters, fields"},
        {"strategys", NULL, "unknown kind 'strategys'; did you mean 'strategies'? (known: strategies, operations, "},
        {"strategies", "genetik", "unknown strategy 'genetik'; did you mean 'genetic'? (known: default, "},
        {"operations", "gemn", "unknown operation 'gemn'; did you mean 'gemm'? (known: gemm, "},
        {"metrics", "stals", "unknown metric set or key 'stals'; did you mean 'stalls'?"},
        {"metrics", "icache_mises", "unknown metric set or key 'icache_mises'; did you mean 'icache_misses'?"},
        {"metrics", "nothing_like_it",
         "unknown metric set or key 'nothing_like_it' (sweetspot list metrics shows the sets)"},
        {"fields", "statuss", "unknown field 'statuss'; did you mean 'status'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *out, *err;
        assert_int_equal(finished_run(&cmd_list, &out, &err, "list", cases[i].kind, cases[i].name, NULL), 2);
        assert_contains(err, cases[i].message);
        assert_string_equal(out, "");
    }
}

// configs/example.cfg refers to the help for the strategies.
TEST(the_help_of_tune_and_simulate_names_every_strategy)
{
    static const struct {
        const struct command *command;
        const char *name;
    } cases[] = {{&cmd_tune, "tune"}, {&cmd_simulate, "simulate"}};
    for (size_t k = 0; k < 2; k++) {
        char *help = PRINTED(cases[k].command, cases[k].name, "--help");
        const char *option = strstr(help, "--strategy ");
        assert_non_null(option);
        const char *end = strstr(option, "\n      --");
        char *text = test_text("%.*s", end ? (int)(end - option) : (int)strlen(option), option);
        for (size_t i = 0; strategy_classes[i]; i++) assert_contains(text, strategy_classes[i]->name);
    }
}

TEST(tune_refuses_a_strategy_that_is_not_there)
{
    char *out, *err;
    assert_int_equal(finished_run(&cmd_tune, &out, &err, "tune", "configs/example.cfg", "--strategy=genetik",
                                  "--store=/nowhere/x", NULL),
                     2);
    assert_contains(err, "unknown strategy 'genetik'; did you mean 'genetic'? (known: default, ");
    assert_string_equal(out, "");
}

TEST(simulate_refuses_strategies_and_options_that_are_not_there)
{
    static const struct {
        const char *words[2], *message;
    } cases[] = {
        {{"--strategy=nonsense", NULL}, "unknown strategy 'nonsense' (known: default, "},
        {{"--strategy=random,genetik", NULL}, "unknown strategy 'genetik'; did you mean 'genetic'? (known: default, "},
        {{"--strategy=genetic", "--set=size=2"}, "the option '--set' was removed: "},
        {{"--strategy=", NULL}, "--strategy needs a value: NAMES"},
        {{"--jobs=513", NULL}, "--jobs needs a whole number from 1 to 512"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *out, *err;
        assert_int_equal(finished_run(&cmd_simulate, &out, &err, "simulate", "tests/spaces/branch_h200.json.gz",
                                      cases[i].words[0], cases[i].words[1], NULL),
                         2);
        assert_contains(err, cases[i].message);
        assert_string_equal(out, "");
    }
}

TEST(a_misspelt_command_has_a_nearest_one)
{
    assert_string_equal(command_nearest("tnue"), "tune");
    assert_string_equal(command_nearest("compair"), "compare");
    assert_null(command_nearest("zzzzzz"));
    assert_ptr_equal(command_find(commands, "tune"), &cmd_tune);
    assert_null(command_find(commands, "tun"));
    assert_string_equal(command_renamed("limiter"), "profile --limits");
    assert_null(command_renamed("tune"));
    assert_null(commands[command_count]);
}

TEST_MAIN(NULL, NULL)
