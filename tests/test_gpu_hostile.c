// The families of hostile kernels under tests/hostile/. Each is a job FAMILY.cfg with one parameter, CASE, and a table
// FAMILY.txt with the expected verdict for every case. Every family is tuned in several ways: with small problems,
// whose launches are timed in graphs, and with large problems, whose launches are timed singly. Both are tuned with a
// cold and a warm cache. No wrong kernel may be accepted, no correct kernel may be refused, and no kernel may win with
// an unfair time. A kernel that did not run does not count as refused.
//
// The verdicts `honest` and `steady` are about time: a kernel that uses data left by an earlier launch may be accepted
// if it gains nothing. It gains nothing if it takes at least `enough` times the time of the case `plain`. About one
// measurement in a thousand is off if the kernel takes only a few microseconds, so a gain counts only if it recurs in
// one of two repetitions.
//
// A trial that is not the best has a short soak, so a wrong kernel may pass it by luck. The kernel counts as accepted
// if it passes again in one of two more trials, or in a final. The verdict `final` marks kernels that such trials often
// miss but that the final must find.
//
// To run one family by hand: sweetspot tune tests/hostile/FAMILY.cfg --no-counters. SWEETSPOT_HOSTILE_WAYS=all runs
// every family in all ways. SWEETSPOT_HOSTILE_CASES="FAMILY/CASE:WAY ..." runs only these cases and `plain`, with a
// final only in the way `final`; the default way is small_cold. SWEETSPOT_HOSTILE_FAMILIES="FAMILY ...": runs only
// these families. SWEETSPOT_HOSTILE_CACHE: path of a compile cache that is kept between runs.
#include <ctype.h>

#include "tests/gpu.h"
#include "tests/opened_store.h"

#include "tuner/base/clock.h"
#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/store/store.h"

enum verdict { VERDICT_OK, VERDICT_WRONG, VERDICT_FINAL, VERDICT_HONEST, VERDICT_STEADY, VERDICT_COUNT };
static const char *const verdict_text[VERDICT_COUNT] = {"ok", "wrong", "final", "honest", "steady"};

enum { CASES_MAX = 128, CLASSES_MAX = 96, NAME_MAX_LENGTH = 64, ROW_TEXT_MAX = 4096 };
// Fractions of `plain`'s time; a shorter time is a gain. The limit is stricter in the family that tries to gain time.
static const double enough = 0.85, enough_timing = 0.95;

struct hostile_case {
    char name[NAME_MAX_LENGTH];
    enum verdict verdict;
    int class; // index into classes
};

// One line of the summary. Names are "family/case (way)".
struct attack_class {
    char name[128];
    int kernels, runs, right_runs, passed_trials, through, refused, not_run;
    char through_names[ROW_TEXT_MAX], refused_names[ROW_TEXT_MAX], not_run_names[ROW_TEXT_MAX];
};

static struct attack_class classes[CLASSES_MAX];
static int class_count;

// Ways to run a family.
enum { SMALL_COLD = 1, LARGE_COLD = 2, SMALL_WARM = 4, LARGE_WARM = 8, SINGLE_COLD = 16, ALL_WAYS = 31, FINAL = 32 };
enum { FINALS = 64 }; // not a way: stands for a final with all candidates in every way
static const struct {
    int bit;
    const char *name;
    bool large, warm, single, final;
} ways[] = {
    {SMALL_COLD, "small_cold", false, false, false, true},   {LARGE_COLD, "large_cold", true, false, false, false},
    {SMALL_WARM, "small_warm", false, true, false, false},   {LARGE_WARM, "large_warm", true, true, false, false},
    {SINGLE_COLD, "single_cold", false, false, true, false}, {FINAL, "final", false, false, false, true},
};
enum { FINAL_WAY = sizeof ways / sizeof *ways - 1 };

static const struct {
    const char *name;
    int ways, possible;        // the ways that are run, and those for which the verdicts hold
    const char *small, *large; // the problem in the job file, and one with launches of 100 us or more
} families[] = {
    {"right", SMALL_COLD | LARGE_WARM, ALL_WAYS, "n = 1000003", "n = 40000003"},
    {"leftovers", SMALL_COLD | LARGE_COLD | SMALL_WARM, ALL_WAYS | FINALS, "n = 1000003", "n = 40000003"},
    {"bounds", SMALL_COLD | LARGE_COLD, ALL_WAYS, "rows = 515", "rows = 26003"},
    {"judge", SMALL_COLD | LARGE_COLD, ALL_WAYS, "n = 1000003", "n = 40000003"},
    {"sometimes", SMALL_COLD | LARGE_COLD, SMALL_COLD | LARGE_COLD | SINGLE_COLD, "n = 1000003", "n = 40000003"},
    {"timing", SMALL_COLD | SINGLE_COLD, SMALL_COLD | LARGE_COLD | SINGLE_COLD, "n = 1000003", "n = 40000003"},
    {"stages", SMALL_COLD | LARGE_COLD, ALL_WAYS, "n = 1000003", "n = 40000003"},
    {"sums", SMALL_COLD | LARGE_WARM, ALL_WAYS | FINALS, "n = 4194304", "n = 104857600"},
    {"loose", SMALL_COLD, ALL_WAYS, "n = 1000003", "n = 40000003"},
    {"data", SMALL_COLD | LARGE_COLD, ALL_WAYS, "n = 1000003", "n = 40000003"},
    {"nonfinite", SMALL_COLD, ALL_WAYS, "n = 1000003", "n = 40000003"},
    {"tiny", SMALL_COLD, ALL_WAYS, "n = 1000003", "n = 40000003"},
    {"exact", SMALL_COLD, ALL_WAYS, "n = 1000003", "n = 40000003"},
    {"product", SMALL_COLD | LARGE_COLD, ALL_WAYS, "M = 160; N = 160; K = 160", "M = 1024; N = 1024; K = 768"},
    {"crashes", SMALL_COLD | LARGE_WARM, ALL_WAYS, "n = 1000003", "n = 40000003"},
    {"rare", SMALL_COLD, SMALL_COLD, "n = 1000003", "n = 40000003"},
    {"pristine", SMALL_COLD | LARGE_COLD, ALL_WAYS | FINALS, "n = 1000003", "n = 40000003"},
    {"absorbed", SMALL_COLD, ALL_WAYS | FINALS, "rows = 515", "rows = 26003"},
    {"caches", SMALL_COLD | LARGE_COLD, ALL_WAYS | FINALS, "n = 1000003", "n = 40000003"},
    {"carried", SMALL_COLD, ALL_WAYS | FINALS, "n = 1000003", "n = 40000003"},
    {"placed", SMALL_COLD, ALL_WAYS | FINALS, "n = 1000003", "n = 40000003"},
    {"sized", SMALL_COLD, ALL_WAYS | FINALS, "n = 1000003", "n = 40000003"},
    {"signs", SMALL_COLD, ALL_WAYS, "n = 1000003", "n = 40000003"},
    {"scales", SMALL_COLD, ALL_WAYS, "rows = 992", "rows = 39680"},
    {"domains", SMALL_COLD, SMALL_COLD | SMALL_WARM | SINGLE_COLD | FINALS, "rows = 1001", "rows = 1001"},
    {"waits", SMALL_COLD, SMALL_COLD | SMALL_WARM | SINGLE_COLD | FINALS, "n = 999424", "n = 999424"},
};
enum { FAMILY_COUNT = sizeof families / sizeof *families };

static char *read_file(const char *family, const char *ending)
{
    char *path = test_text("tests/hostile/%s.%s", family, ending), *text = text_read_file(path, NULL);
    if (!text) fail_msg("cannot read %s", path);
    return text;
}

static int class_find(const char *name)
{
    for (int i = 0; i < class_count; i++)
        if (!strcmp(classes[i].name, name)) return i;
    assert_true(class_count < CLASSES_MAX);
    snprintf(classes[class_count].name, sizeof classes->name, "%s", name);
    return class_count++;
}

// Reads a family's table: "[class]" lines, and lines with case, verdict and description.
static int read_table(const char *family, struct hostile_case out[CASES_MAX])
{
    char *text = read_file(family, "txt"), *next;
    int count = 0, class = -1;
    for (char *line = text; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        char name[128], word[16];
        int length = 0, verdict = 0;
        if (!*line || *line == '#') continue;
        if (*line == '[') {
            if (sscanf(line, "[%127[^]]]%n", name, &length) != 1 || !length || line[length])
                fail_msg("%s.txt: %s", family, line);
            class = class_find(name);
            continue;
        }
        if (sscanf(line, "%127s %15s %n", name, word, &length) != 2 || !line[length])
            fail_msg("%s.txt: not a case, a verdict and words: %s", family, line);
        while (verdict < VERDICT_COUNT && strcmp(verdict_text[verdict], word)) verdict++;
        if (verdict == VERDICT_COUNT || class < 0 || strlen(name) >= NAME_MAX_LENGTH || count == CASES_MAX)
            fail_msg("%s.txt: %s", family, line);
        for (int i = 0; i < count; i++)
            if (!strcmp(out[i].name, name)) fail_msg("%s.txt has %s twice", family, name);
        strcpy(out[count].name, name);
        out[count].verdict = (enum verdict)verdict;
        out[count++].class = class;
    }
    free(text);
    return count;
}

// The values of CASE, the job's only parameter: the text between '[' and ']'.
static char *find_values(char *job, char **to)
{
    char *parameter = strstr(job, "name = \"CASE\""), *from = parameter ? strstr(parameter, "values = [") : NULL;
    *to = from ? strchr(from, ']') : NULL;
    if (!*to) fail_msg("no values of CASE in\n%s", job);
    return strchr(from, '[') + 1;
}

// The number of values of CASE. Every value must be in the family's table.
static int values_of_job(char *job, const struct hostile_case *cases, int count, const char *family)
{
    char *to, *from = find_values(job, &to);
    int values = 0;
    for (const char *p = from; (p = strchr(p, '"')) && p < to; values++) {
        const char *end = strchr(p + 1, '"');
        int found = 0;
        while (found < count && (strlen(cases[found].name) != (size_t)(end - p - 1) ||
                                 strncmp(cases[found].name, p + 1, (size_t)(end - p - 1))))
            found++;
        if (found == count) fail_msg("%s.cfg: %.*s is not in %s.txt", family, (int)(end - p - 1), p + 1, family);
        p = end + 1;
    }
    return values;
}

// Replaces the first occurrence of `old`, which must exist.
static char *replace(char *text, const char *old, const char *new, const char *family)
{
    char *at = strstr(text, old);
    if (!at) fail_msg("%s.cfg has no '%s'", family, old);
    char *out = text_format("%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    free(text);
    return out;
}

static bool is_listed(const char *words, const char *word)
{
    char *list = test_owned(text_copy(words)), *rest = list;
    bool found = false;
    for (char *w; (w = strtok_r(rest, " ", &rest));) found |= !strcmp(w, word);
    return found;
}

// Whether SWEETSPOT_HOSTILE_CASES names the case.
static bool is_chosen(const char *chosen, size_t family, const char *name, size_t way)
{
    return is_listed(chosen, test_text("%s/%s:%s", families[family].name, name, ways[way].name)) ||
           (ways[way].bit == SMALL_COLD && is_listed(chosen, test_text("%s/%s", families[family].name, name)));
}

// Keeps the chosen cases and `plain`. Returns the number of cases kept, or 0 if no case is chosen.
static int choose(const char *chosen, size_t family, size_t way, struct hostile_case *cases, int count)
{
    int kept = 0, named = 0;
    for (int i = 0; i < count; i++) {
        bool is = is_chosen(chosen, family, cases[i].name, way);
        named += is;
        if (is || !strcmp(cases[i].name, "plain")) cases[kept++] = cases[i];
    }
    return named ? kept : 0;
}

// The job with only these values of CASE.
static char *with_cases(char *text, const struct hostile_case *cases, int count)
{
    char *to, *from = find_values(text, &to);
    struct text out = {0};
    text_add(&out, "%.*s ", (int)(from - text), text);
    for (int i = 0; i < count; i++) text_add(&out, "%s\"%s\"", i ? ", " : "", cases[i].name);
    text_add(&out, " %s", to);
    free(text);
    return out.text;
}

// The job with the text of its included files, because it is copied to another folder.
static char *read_job(const char *family)
{
    static const char begin[] = "@include \"";
    char *text = read_file(family, "cfg");
    for (char *at; (at = strstr(text, begin));) {
        const char *name = at + sizeof begin - 1, *rest = strchr(at, '\n');
        char *included = test_owned(read_file(test_text("%.*s", (int)strcspn(name, "."), name), "inc"));
        char *longer = text_format("%.*s%s%s", (int)(at - text), text, included, rest);
        free(text);
        text = longer;
    }
    return text;
}

static char *job_text(size_t family, size_t way)
{
    const char *name = families[family].name;
    char *text = read_job(name), folder[4096], *path;
    assert_non_null(getcwd(folder, sizeof folder));
    path = test_text("kernel = { template = \"%s/tests/hostile/", folder);
    text = replace(text, "kernel = { template = \"", path, name);
    if (strstr(text, "template = \"expected.cu\"")) {
        path = test_text("template = \"%s/tests/hostile/expected.cu\"", folder);
        text = replace(text, "template = \"expected.cu\"", path, name);
    }
    if (ways[way].large) text = replace(text, families[family].small, families[family].large, name);
    if (ways[way].warm) text = replace(text, "cache = \"cold\"", "cache = \"warm\"", name);
    if (ways[way].single) text = replace(text, "measure = { ", "measure = { graph_below = \"0us\"; ", name);
    return text;
}

static void add_name(char list[ROW_TEXT_MAX], size_t family, const char *name, size_t way, const char *why)
{
    size_t used = strlen(list);
    print_message("%s/%s (%s): %s\n", families[family].name, name, ways[way].name, why);
    snprintf(list + used, ROW_TEXT_MAX - used, "%s%s/%s (%s)%s%s", used ? ", " : "", families[family].name, name,
             ways[way].name, *why ? ": " : "", why);
}

static double time_of(const struct trial *t)
{
    return t->problem_count ? t->problems[0].time : NAN;
}

static bool accepted(enum trial_status status)
{
    return status == STATUS_OK || status == STATUS_SLOW;
}

// A candidate that was never launched proves nothing about the worker.
static bool ran(enum trial_status status)
{
    return status != STATUS_PRUNED && status != STATUS_COMPILE_ERROR && status != STATUS_COMPILE_TIMEOUT &&
           status != STATUS_LAUNCH_ERROR;
}

// Tunes these cases, with a final if `final` is true. Returns the store. *bad: whether the job file or a worker is
// broken.
static int runs;
static struct store *tune_cases(const char *folder, size_t family, size_t way, const struct hostile_case *cases,
                                int count, bool final, bool *bad)
{
    const char *name = families[family].name, *cache = getenv("SWEETSPOT_HOSTILE_CACHE");
    char *text = with_cases(job_text(family, way), cases, count), *kept = test_text("%s/cache", folder),
         *file = test_text("%s_%d.cfg", name, ++runs),
         *path = test_text("%s/%s_%d.db", folder, name, runs); // the log is next to it
    e2e_write(folder, file, text);
    struct e2e_result r = e2e_run(folder, "$BIN/sweetspot tune $DIR/%s --store %s --cache '%s' -q --no-counters %s",
                                  file, path, cache ? cache : kept, final ? "" : "--no-final");
    *bad = r.status > 1; // worse than "nothing valid was found": a broken job file or worker
    if (*bad) print_message("%s (%s): status %d: %.3000s\n", name, ways[way].name, r.status, r.err);
    struct store *store = opened_store(path);
    free(text);
    return store;
}

static double time_of_plain(struct store *store)
{
    struct trial t;
    struct error err;
    return store_find(store, "CASE=plain", &t, &err) || !accepted(t.status) ? NAN : time_of(&t);
}

static bool is_gain(size_t family, const struct trial *t, double plain)
{
    double limit = strcmp(families[family].name, "timing") ? enough : enough_timing;
    return accepted(t->status) && !(time_of(t) >= limit * plain);
}

// Tunes only a case and `plain`. With `final`, tunes only the case, so that nothing faster keeps the case from its
// checks in the final. Returns whether the case has a result, and stores this result in `t`.
static bool alone(const char *folder, size_t family, size_t way, const struct hostile_case *c, bool final,
                  struct trial *t, double *plain)
{
    struct hostile_case two[] = {{.name = "plain", .verdict = VERDICT_OK, .class = c->class}, *c};
    struct error err;
    bool bad;
    struct store *store = tune_cases(folder, family, way, two + final, 2 - final, final, &bad);
    bool found = !bad && !store_find(store, test_text("CASE=%s", c->name), t, &err);
    *plain = time_of_plain(store);
    store_close(store);
    return found;
}

// Whether a case's gain recurs in one of two repetitions.
static bool gains_again(const char *folder, size_t family, size_t way, const struct hostile_case *c)
{
    bool again = false;
    for (int i = 0; i < 2 && !again; i++) {
        struct trial t;
        double plain;
        bool found = alone(folder, family, way, c, false, &t, &plain);
        again = !found || is_gain(family, &t, plain);
        print_message("%s/%s (%s) again: %.3g us, plain %.3g us\n", families[family].name, c->name, ways[way].name,
                      found ? 1e6 * time_of(&t) : NAN, 1e6 * plain);
    }
    return again;
}

// Whether a wrong case that passed its trial passes again in a final or, except if its verdict is `final`, in one of
// two more trials.
static bool passes_again(const char *folder, size_t family, size_t way, const struct hostile_case *c)
{
    struct trial t;
    double plain;
    for (int i = 0; i < 2 && c->verdict == VERDICT_WRONG; i++)
        if (!alone(folder, family, way, c, false, &t, &plain) || accepted(t.status)) return true;
    bool passes = !alone(folder, family, FINAL_WAY, c, true, &t, &plain) || accepted(t.status);
    print_message("%s/%s (%s) passed a trial; a final %s\n", families[family].name, c->name, ways[way].name,
                  passes ? "accepts it too" : "finds it");
    return passes;
}

static void judge_case(const char *folder, size_t family, size_t way, const struct hostile_case *c, struct store *store,
                       double plain)
{
    struct attack_class *row = &classes[c->class];
    struct trial t;
    struct error err;
    char *config = test_text("CASE=%s", c->name), words[160];
    int missing = store_find(store, config, &t, &err);
    row->runs++;
    row->right_runs += c->verdict == VERDICT_OK || c->verdict == VERDICT_STEADY;
    if (missing || !ran(t.status)) {
        row->not_run++;
        snprintf(words, sizeof words, "%s %.100s", missing ? "not in the store" : status_name(t.status),
                 missing ? "" : t.reason);
        add_name(row->not_run_names, family, c->name, way, words);
        return;
    }
    bool good = accepted(t.status), wrong = c->verdict == VERDICT_WRONG || c->verdict == VERDICT_FINAL;
    snprintf(words, sizeof words, "%s %.100s", status_name(t.status), t.reason);
    if (!good && (c->verdict == VERDICT_OK || c->verdict == VERDICT_STEADY)) {
        row->refused++;
        add_name(row->refused_names, family, c->name, way, words);
    }
    bool through = false;
    if (wrong && good) {
        row->passed_trials++;
        through = passes_again(folder, family, way, c);
    } else if (!wrong && c->verdict != VERDICT_OK) {
        through = is_gain(family, &t, plain) && gains_again(folder, family, way, c);
    }
    if (!through) return;
    row->through++;
    snprintf(words, sizeof words, "%.3g us, plain %.3g us", 1e6 * time_of(&t), 1e6 * plain);
    add_name(row->through_names, family, c->name, way, words);
}

// The winner must be a correct kernel. Returns 1 if it is wrong or missing.
static int judge_winner(const char *log, size_t family, const struct hostile_case *cases, int count,
                        struct store *store)
{
    struct error err;
    struct trial t;
    json_t *document = test_json(store_get_document(store, 0, "final", NULL, &err));
    if (!document) {
        print_message("%s: the final has no winner\n", families[family].name);
        puts(test_owned(text_read_file(log, NULL)));
        return 1;
    }
    int64_t winner = json_get_integer(document, "winner", -1);
    if (store_get(store, winner, &t, &err))
        fail_msg("%s: trial %lld: %s", families[family].name, (long long)winner, err.message);
    const char *name = strncmp(t.config, "CASE=", 5) ? "" : t.config + 5;
    for (int i = 0; i < count; i++)
        if (!strcmp(cases[i].name, name) && cases[i].verdict != VERDICT_WRONG && cases[i].verdict != VERDICT_FINAL)
            return 0;
    print_message("%s: %s won\n", families[family].name, t.config);
    return 1;
}

// Tunes one family in one way; returns the number of failures: a broken run, and a wrong or missing winner.
static int run_family(const char *folder, size_t family, size_t way, const struct hostile_case *cases, int count)
{
    bool chosen = getenv("SWEETSPOT_HOSTILE_CASES") != NULL, broken,
         final = (families[family].possible & FINALS || ways[way].final) && !(chosen && ways[way].bit != FINAL);
    double begin = clock_now();
    struct store *store = tune_cases(folder, family, way, cases, count, final, &broken);
    char *log = test_text("%s/%s_%d.log", folder, families[family].name, runs);
    double plain = time_of_plain(store);
    for (int i = 0; i < count; i++) judge_case(folder, family, way, &cases[i], store, plain);
    int bad = broken + (final ? judge_winner(log, family, cases, count, store) : 0);
    store_close(store);
    print_message("%-10s %-13s %3d cases in %5.1f s, plain takes %.3g us\n", families[family].name, ways[way].name,
                  count, clock_now() - begin, 1e6 * plain);
    return bad;
}

static void names_line(const char *what, const char *names)
{
    if (*names) print_message("    %s: %s\n", what, names);
}

// Prints the table of docs/experiments/verification.md and the names of the cases behind its figures. Returns the
// number of failures.
static int summary(void)
{
    struct attack_class all = {.name = "all"};
    print_message(
        "\n| class of kernels | kernels | runs | wrong ones that passed a trial | wrong ones found right | right "
        "ones refused |\n|---|---:|---:|---:|---:|---:|\n");
    for (int i = 0; i < class_count; i++) {
        const struct attack_class *c = &classes[i];
        all.kernels += c->kernels;
        all.runs += c->runs;
        all.right_runs += c->right_runs;
        all.passed_trials += c->passed_trials;
        all.through += c->through;
        all.refused += c->refused;
        all.not_run += c->not_run;
    }
    for (int i = 0; i <= class_count; i++) {
        const struct attack_class *c = i < class_count ? &classes[i] : &all;
        bool none = c->runs == c->right_runs && !c->through;
        autofree char *through = none ? text_copy("- | -") : text_format("%d | %d", c->passed_trials, c->through);
        autofree char *refused = c->right_runs ? text_format("%d", c->refused) : text_copy("-");
        print_message("| %s | %d | %d | %s | %s |\n", c->name, c->kernels, c->runs, through, refused);
    }
    for (int i = 0; i < class_count; i++) {
        const struct attack_class *c = &classes[i];
        if (c->through || c->refused || c->not_run) print_message("%s\n", c->name);
        names_line("wrong, and found right", c->through_names);
        names_line("right, and refused", c->refused_names);
        names_line("did not run", c->not_run_names);
    }
    return all.through + all.refused + all.not_run;
}

GPU_TEST(no_wrong_kernel_is_found_right_and_no_right_one_is_refused)
{
    char *folder = e2e_folder("hostile_families");
    const char *asked = getenv("SWEETSPOT_HOSTILE_WAYS"), *chosen = getenv("SWEETSPOT_HOSTILE_CASES"),
               *only = getenv("SWEETSPOT_HOSTILE_FAMILIES");
    bool all_ways = asked && !strcmp(asked, "all");
    int bad = 0, ran = 0;
    class_count = 0;
    memset(classes, 0, sizeof classes);
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        struct hostile_case cases[CASES_MAX];
        if (only && !is_listed(only, families[i].name)) continue;
        int count = read_table(families[i].name, cases);
        for (int k = 0; k < count; k++) classes[cases[k].class].kernels++;
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
            struct hostile_case some[CASES_MAX];
            memcpy(some, cases, sizeof some);
            int wanted = chosen ? choose(chosen, i, way, some, count)
                         : (all_ways ? families[i].possible : families[i].ways) & ways[way].bit ? count
                                                                                                : 0;
            if (wanted) bad += run_family(folder, i, way, some, wanted);
            ran += wanted;
        }
    }
    if (!ran) fail_msg("no such case: %s", chosen ? chosen : only);
    bad += summary();
    assert_int_equal(bad, 0);
}

static bool has_word(const char *text, const char *word)
{
    for (const char *at = text; (at = strstr(at, word)); at++) {
        char before = at > text ? at[-1] : ' ', after = at[strlen(word)];
        if (!isalnum(before) && before != '_' && !isalnum(after) && after != '_') return true;
    }
    return false;
}

// Each case's name must occur in the source or in an expression of the job. A case whose name occurs nowhere would do
// the same as `plain`.
static void check_names(const char *family, const struct hostile_case *cases, int count)
{
    char *job = test_owned(read_file(family, "cfg")), *name = strstr(job, "template = \"") + strlen("template = \"");
    char *source = test_owned(read_file(test_text("%.*s", (int)strcspn(name, "."), name), "cu"));
    char *shared = test_owned(read_file("right_shared", "h"));
    for (int i = 0; i < count; i++)
        if (!has_word(source, cases[i].name) && !has_word(shared, cases[i].name) && strcmp(cases[i].name, "plain") &&
            !strstr(job, test_text("\\\"%s\\\"", cases[i].name)))
            fail_msg("%s.cu does not know the case %s", family, cases[i].name);
}

// This test needs no GPU.
TEST(every_case_has_a_verdict_and_there_are_enough)
{
    char *folder = e2e_folder("hostile_tables");
    int wrong = 0, right = 0;
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        struct hostile_case cases[CASES_MAX];
        const char *name = families[i].name;
        int count = read_table(name, cases);
        bool plain = false;
        check_names(name, cases, count);
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
            if (!((families[i].possible | FINAL) & ways[way].bit)) continue;
            char *text = job_text(i, way);
            if (values_of_job(text, cases, count, name) != count)
                fail_msg("%s.txt has %d cases, %s.cfg other ones", name, count, name);
            text = with_cases(text, cases, count);
            e2e_write(folder, "job.cfg", text);
            free(text);
            struct e2e_result r = e2e_run(folder, "$BIN/sweetspot check $DIR/job.cfg --compile 0");
            if (r.status) fail_msg("%s (%s): %s%s", name, ways[way].name, r.out, r.err);
        }
        for (int k = 0; k < count; k++) {
            plain = plain || (!strcmp(cases[k].name, "plain") && cases[k].verdict == VERDICT_OK);
            wrong += cases[k].verdict == VERDICT_WRONG || cases[k].verdict == VERDICT_FINAL;
            right += cases[k].verdict == VERDICT_OK || cases[k].verdict == VERDICT_STEADY;
        }
        if (!plain) fail_msg("%s.txt has no right case 'plain'", name);
    }
    print_message("%d wrong kernels, %d right ones\n", wrong, right);
    assert_true(wrong >= 400);
    assert_true(right >= 200);
}

TEST_MAIN(NULL, NULL)
