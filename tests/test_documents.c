// The documents match the program. Links have targets, commands and options exist, and the queries of docs/store.md run
// on a store. No status, column, counter, finding or member of a JSON document is left out.
//
// Code in a document means fenced blocks, blocks that are indented by four columns, and spans between backticks.
#include <ctype.h>
#include <glob.h>
#include <sqlite3.h>

#include "tests/e2e.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/explain/findings.h"
#include "tuner/trial/metrics.h"
#include "tuner/watch/live_status.h"

enum kind { PROSE, BLOCK, HEADING };

// Receives one line of a document; its text is malloc'ed.
typedef void line_visitor(void *user, enum kind kind, const char *language, const char *line);

static void each_line(const char *text, line_visitor *visit, void *user)
{
    char language[32] = "";
    bool fenced = false, indented = false, blank = true;
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char *line = test_text("%.*s", (int)strcspn(at, "\n"), at);
        bool deep = !strncmp(line, "    ", 4);
        if (!strncmp(line, "```", 3)) {
            fenced = !fenced, indented = false;
            snprintf(language, sizeof language, "%s", fenced ? line + 3 : "");
        } else if (!fenced && *line) {
            indented = deep && (blank || indented);
        }
        enum kind kind = fenced || indented ? BLOCK : *line == '#' ? HEADING : PROSE;
        visit(user, kind, language, line);
        blank = !*line;
    }
}

// Visits every document; the path is relative to the source tree's root.
static void each_document(void (*visit)(const char *path, const char *text))
{
    glob_t found;
    assert_int_equal(glob("*.md", 0, NULL, &found), 0);
    assert_int_equal(glob("docs/*.md", GLOB_APPEND, NULL, &found), 0);
    assert_int_equal(glob("docs/experiments/*.md", GLOB_APPEND, NULL, &found), 0);
    assert_true(found.gl_pathc > 10);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *text = test_file("%s", found.gl_pathv[i]);
        visit(found.gl_pathv[i], text);
    }
    globfree(&found);
}

// Links ------------------------------------------------------------------------------------------

struct anchors {
    char *all; // "\nfirst\nsecond\n"
};

// Anchors are formed as on GitHub: lower case, dashes for blanks, no other punctuation.
static void add_anchor(void *user, enum kind kind, const char *language, const char *line)
{
    struct anchors *a = user;
    (void)language;
    if (kind != HEADING) return;
    char *slug = test_owned(text_copy(line + strspn(line, "# "))), *to = slug;
    for (const char *c = slug; *c; c++)
        if (isalnum((unsigned char)*c) || strchr("-_ ", *c)) *to++ = *c == ' ' ? '-' : (char)tolower((unsigned char)*c);
    *to = 0;
    char *longer = text_format("%s%s\n", a->all, slug);
    free(a->all);
    a->all = longer;
}

static bool has_anchor(const char *path, const char *anchor)
{
    struct anchors a = {text_copy("\n")};
    char *text = test_file("%s", path), *line = test_text("\n%s\n", anchor);
    each_line(text, add_anchor, &a);
    bool found = strstr(a.all, line);
    free(a.all);
    return found;
}

static size_t links;
static const char *reading; // the current document

static void check_link(const char *target)
{
    size_t length = strcspn(target, "#");
    if (strstr(target, "://")) return;
    links++;
    char *folder = test_owned(text_directory(reading)),
         *path = length ? text_format("%s/%.*s", folder, (int)length, target) : text_copy(reading);
    if (access(path, F_OK)) fail_msg("%s: the link %s leads nowhere", reading, target);
    if (target[length] && !has_anchor(path, target + length + 1))
        fail_msg("%s: the link %s leads to no heading", reading, target);
    free(path);
}

static void find_links(void *user, enum kind kind, const char *language, const char *line)
{
    (void)user;
    (void)language;
    bool span = false;
    for (const char *c = line; kind != BLOCK && *c; c++) {
        if (*c == '`') span = !span;
        if (span || strncmp(c, "](", 2)) continue;
        check_link(test_text("%.*s", (int)strcspn(c + 2, ")"), c + 2));
    }
}

static void check_links(const char *path, const char *text)
{
    reading = path;
    each_line(text, find_links, NULL);
}

TEST(every_link_leads_to_a_file_and_a_heading)
{
    each_document(check_links);
    assert_true(links > 20);
    assert_true(has_anchor("docs/reading-results.md", "statuses"));
    assert_false(has_anchor("docs/reading-results.md", "stat"));
}

// Commands and options ---------------------------------------------------------------------------

static size_t commands_seen, options_seen;

// `name` is an option's name without dashes, or NULL to look for the letter.
static bool has_option(const struct command *command, const char *name, char letter)
{
    for (const struct option_spec *spec = command->options; spec->name; spec++)
        if (!spec->positional && (name ? !strcmp(spec->name, name) : spec->letter == letter)) return true;
    return name ? !strcmp(name, "help") || !strcmp(name, "version") : letter == 'h';
}

// Experiments show the commands and options that existed when they were made.
static void check_option(const struct command *command, const char *word)
{
    char *name = test_text("%.*s", (int)strspn(word + 2, "abcdefghijklmnopqrstuvwxyz-"), word + 2);
    if (!has_option(command, word[1] == '-' ? name : NULL, word[1]) && !strstr(reading, "docs/experiments/"))
        fail_msg("%s: sweetspot %s has no option %s", reading, command->name, word);
    options_seen++;
}

// `text` follows a command's name.
static void check_options(const struct command *command, const char *text)
{
    static const char ends[] = "|;&)#<>";
    for (const char *c = text; *c && !strchr(ends, *c);) {
        size_t blank = strspn(c, " "), length = strcspn(c + blank, " |;&)#<>");
        char *word = test_text("%.*s", (int)length, c + blank);
        if (!strcmp(word, "--"))
            length = strlen(c + blank);
        else if (blank && word[0] == '-' && (isalpha((unsigned char)word[1]) || word[1] == '-'))
            check_option(command, word);
        c += blank + length;
        if (!blank && !length) break;
    }
}

static char *first_word(const char *text)
{
    return test_text("%.*s", (int)strspn(text, "abcdefghijklmnopqrstuvwxyz-"), text);
}

static const char *read_text; // of the current document

// A document that shows how to add a command may call this command.
static bool adds_command(const char *name)
{
    bool adds = strstr(read_text, test_text("tuner/cli/cmd_%s.c\n", name));
    return adds;
}

// Checks the command lines in a piece of code: "sweetspot COMMAND ..", anywhere in it.
static void check_code(const char *code)
{
    for (const char *at = code; (at = strstr(at, "sweetspot ")); at++) {
        if (at > code && (isalnum((unsigned char)at[-1]) || strchr("-_.@", at[-1]))) continue;
        const char *rest = at + strlen("sweetspot ");
        if (*rest == ' ') continue; // a column of a table
        if (!strncmp(rest, "help ", 5)) rest += 5;
        char *name = first_word(rest);
        const struct command *command = command_find(commands, name);
        if (*name && *name != '-' && !command && !adds_command(name))
            fail_msg("%s: there is no command sweetspot %s", reading, name);
        if (*name == '-' && strcmp(name, "--version") && strcmp(name, "--help") && strcmp(name, "-h"))
            fail_msg("%s: sweetspot has no option %s", reading, name);
        commands_seen += command != NULL;
        if (command) check_options(command, rest + strlen(name));
    }
}

// A span may leave the program's name out: `compare --fail-below`.
static void check_span(const char *span)
{
    char *name = first_word(span);
    const struct command *command = command_find(commands, name);
    if (command && strstr(span, " -")) check_options(command, span + strlen(name));
    check_code(span);
}

// Spans may continue on the next line, as may lines of a block that end in a backslash.
struct pieces {
    char *span, *line;
    bool open;
};

static char *joined(char *before, const char *between, const char *more, size_t length)
{
    char *text = text_format("%s%s%.*s", before ? before : "", before && *before ? between : "", (int)length, more);
    free(before);
    return text;
}

static void read_spans(struct pieces *p, const char *line)
{
    if (!*line) { // a span ends with its paragraph
        free(p->span);
        p->span = NULL;
        p->open = false;
    }
    for (const char *c = line; *c;) {
        size_t length = strcspn(c, "`");
        if (p->open) p->span = joined(p->span, c == line ? " " : "", c, length);
        c += length;
        if (!*c) break;
        if (p->open) {
            check_span(p->span);
            free(p->span);
            p->span = NULL;
        }
        p->open = !p->open;
        c++;
    }
}

static void find_commands(void *user, enum kind kind, const char *language, const char *line)
{
    struct pieces *p = user;
    size_t length = strlen(line);
    bool goes_on = length && line[length - 1] == '\\';
    (void)language;
    read_spans(p, kind == BLOCK ? "" : line);
    if (kind != BLOCK && !p->line) return;
    p->line = joined(p->line, " ", line, length - goes_on);
    if (goes_on) return;
    check_code(p->line);
    free(p->line);
    p->line = NULL;
}

static void check_commands(const char *path, const char *text)
{
    struct pieces p = {0};
    reading = path;
    read_text = text;
    each_line(text, find_commands, &p);
    free(p.span);
    free(p.line);
}

TEST(every_command_and_option_exists)
{
    each_document(check_commands);
    assert_true(commands_seen > 100);
    assert_true(options_seen > 100);
}

// Queries ----------------------------------------------------------------------------------------

struct queries {
    sqlite3 *db;
    int64_t condemned; // a trial that a verdict has rejected
    char *text;        // the query being read; NULL: none
    bool quoted;       // it is between """ in a Python block
    size_t count;
};

// Whether the query shows trials and their statuses.
static bool minds_verdicts(const char *text)
{
    return strstr(text, "verdicts") || (strstr(text, "v1_trials") && strstr(text, "status"));
}

static void run_query(struct queries *q)
{
    sqlite3_stmt *query;
    const char *rest;
    size_t rows = 0;
    if (sqlite3_prepare_v2(q->db, q->text, -1, &query, &rest) != SQLITE_OK)
        fail_msg("docs/store.md: %s:\n%s", sqlite3_errmsg(q->db), q->text);
    if (rest[strspn(rest, " \n")]) fail_msg("docs/store.md: more than one statement:\n%s", q->text);
    for (; sqlite3_step(query) == SQLITE_ROW; rows++)
        for (int i = 0; i < sqlite3_column_count(query) && minds_verdicts(q->text); i++) {
            const char *name = sqlite3_column_name(query, i);
            bool condemned =
                (!strcmp(name, "id") || !strcmp(name, "trial")) && sqlite3_column_int64(query, i) == q->condemned;
            // The second column must contain the status from the verdict.
            const char *status = condemned ? (const char *)sqlite3_column_text(query, 1) : NULL;
            if (condemned && (!status || strcmp(status, "wrong")))
                fail_msg("docs/store.md: the verdict does not count in:\n%s", q->text);
        }
    if (sqlite3_reset(query) != SQLITE_OK) fail_msg("docs/store.md: %s:\n%s", sqlite3_errmsg(q->db), q->text);
    if (!rows) fail_msg("docs/store.md: no rows from:\n%s", q->text);
    sqlite3_finalize(query);
    q->count++;
    free(q->text);
    q->text = NULL;
}

static void find_queries(void *user, enum kind kind, const char *language, const char *line)
{
    struct queries *q = user;
    bool sql = kind == BLOCK && !strcmp(language, "sql"), python = kind == BLOCK && !strcmp(language, "python");
    const char *quotes = python ? strstr(line, "\"\"\"") : NULL;
    if (!sql && !python) { // the fence at the end of a block
        if (q->text) run_query(q);
    } else if (sql && line[0] != '`') {
        q->text = joined(q->text, "\n", line, strlen(line));
    } else if (quotes && q->quoted) {
        run_query(q);
        q->quoted = false;
    } else if (quotes) {
        q->quoted = true;
    } else if (q->quoted) {
        q->text = joined(q->text, "\n", line, strlen(line));
    }
}

static char *folder, *store_path;

static void make_store(void)
{
    folder = e2e_folder("documents");
    store_path = text_format("%s/store.db", folder);
    e2e_pass(folder,
             "$BIN/sweetspot tune configs/sgemm_2048.cfg --device "
             "replay:tests/spaces/sgemm_2048_h200.json.gz --evaluations 60 -q --store %s --cache $DIR/cache",
             store_path);
}

static void remove_store(void)
{
    free(store_path);
}

static sqlite3 *open_store(int flags)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(store_path, &db, flags, NULL), SQLITE_OK);
    return db;
}

static int64_t number(sqlite3 *db, const char *text)
{
    sqlite3_stmt *query;
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return value;
}

TEST(every_query_runs_on_a_store_and_minds_verdicts)
{
    // The recorded space has no failures, so this adds a failed trial and a verdict against the fastest.
    struct queries q = {.db = open_store(SQLITE_OPEN_READWRITE)};
    q.condemned = number(q.db, "SELECT id FROM trials WHERE status = 'ok' ORDER BY objective LIMIT 1");
    assert_int_equal(sqlite3_exec(q.db,
                                  "INSERT INTO trials (environment, config, status, reason) VALUES (1, 'A=1', 'wrong', "
                                  "'C[0] is 1, expected 2'); INSERT INTO verdicts (trial, status, reason, written) "
                                  "SELECT id, 'wrong', 'test', 0 FROM trials WHERE status = 'ok' ORDER BY objective "
                                  "LIMIT 1",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(q.db);
    q.db = open_store(SQLITE_OPEN_READONLY);
    each_line(test_owned(text_read_file("docs/store.md", NULL)), find_queries, &q);
    assert_true(q.count >= 8);
    assert_null(q.text);
    sqlite3_close(q.db);
}

// Nothing is left out ----------------------------------------------------------------------------

static void assert_described(const char *path, const char *text, const char *name)
{
    char *span = test_text("`%s`", name);
    if (!strstr(text, span)) fail_msg("%s does not describe %s", path, name);
}

// The section about a view. malloc'ed; "" if there is none.
static char *section_of(const char *text, const char *name)
{
    const char *begin = strstr(text, test_text("\n### %s\n", name)), *end = begin ? strstr(begin + 1, "\n##") : NULL;
    return text_format("%.*s", begin ? (int)(end ? end - begin : (ptrdiff_t)strlen(begin)) : 0, begin ? begin : "");
}

TEST(every_view_and_column_of_the_store_is_described)
{
    char *text = test_owned(text_read_file("docs/store.md", NULL));
    sqlite3 *db = open_store(SQLITE_OPEN_READONLY);
    sqlite3_stmt *query;
    int rows = 0;
    char *version = test_text("This is version %d ", (int)number(db, "SELECT user_version FROM pragma_user_version"));
    assert_contains(text, version);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE "
                                        "m.type = 'view'",
                                        -1, &query, NULL),
                     SQLITE_OK);
    for (; sqlite3_step(query) == SQLITE_ROW; rows++) {
        const char *name = (const char *)sqlite3_column_text(query, 0);
        autofree char *section = section_of(text, name);
        if (!*section) fail_msg("docs/store.md has no section ### %s", name);
        assert_described("docs/store.md", section, (const char *)sqlite3_column_text(query, 1));
    }
    assert_true(rows > 100);
    sqlite3_finalize(query);
    sqlite3_close(db);
}

// Python -----------------------------------------------------------------------------------------

// The Python blocks below a heading, with the test's store instead of the page's. malloc'ed.
static char *python_below(const char *text, const char *heading)
{
    static const char fence[] = "```python\n", store[] = "out/sgemm_2048.db";
    autorelease(text_release) struct text code = {0};
    const char *begin = strstr(text, heading);
    assert_non_null(begin);
    const char *end = strstr(begin + 1, "\n## ");
    for (const char *block = begin; (block = strstr(block, fence)) && block < end;) {
        block += strlen(fence);
        text_add(&code, "%.*s", (int)(strstr(block, "```") - block), block);
    }
    assert_non_null(code.text);
    const char *place = strstr(code.text, store);
    assert_non_null(place);
    return text_format("%.*s%s%s", (int)(place - code.text), code.text, store_path, place + strlen(store));
}

// Runs the blocks if Python has the modules they need. Their queries are also tested without Python (above).
static void run_python(const char *heading, const char *needed)
{
    const char *text = test_owned(text_read_file("docs/store.md", NULL));
    char *code = test_owned(python_below(text, heading));
    struct e2e_result r = e2e_run(folder, "python3 -c '%s'", needed);
    bool have = !r.status;
    if (have) {
        e2e_write(folder, "block.py", code);
        r = e2e_run(folder, "python3 $DIR/block.py");
        if (r.status) fail_msg("docs/store.md, %s: %s", heading, r.err);
        assert_true(strlen(r.out) > 200);
    }
    if (!have) skip();
}

TEST(the_pages_pandas_runs)
{
    run_python("\n## pandas\n", "import pandas");
}

TEST(the_pages_duckdb_runs)
{
    run_python("\n## DuckDB\n", "import duckdb; db = duckdb.connect(); db.install_extension(\"sqlite\")");
}

TEST(every_status_is_explained)
{
    char *text = test_owned(text_read_file("docs/reading-results.md", NULL));
    for (int i = 0; i < STATUS_COUNT; i++) {
        char *row = test_text("\n| `%s` | ", status_name((enum trial_status)i));
        if (!strstr(text, row)) fail_msg("docs/reading-results.md does not explain %s", row);
    }
}

TEST(every_counter_and_finding_is_explained)
{
    char *text = test_owned(text_read_file("docs/counters.md", NULL));
    for (size_t i = 0; metric_sets[i]; i++) {
        assert_described("docs/counters.md", text, metric_sets[i]->name);
        for (const struct metric *m = metric_sets[i]->metrics; m->key; m++)
            assert_described("docs/counters.md", text, m->key);
    }
    const char *rule;
    for (size_t i = 0; (rule = findings_rule(i)); i++) {
        char *row = test_text("\n| `%s` | ", rule);
        if (!strstr(text, row)) fail_msg("docs/counters.md does not explain the finding %s", rule);
    }
}

// Whether some page describes a printed key. Keys with a budget are documented with a placeholder: `mean@100` as
// `mean@N`, `@60s` as `@Ts`.
static bool described(const char *const pages[], const char *key)
{
    static const char *const data[] = {"cublas", "N", "barrier"}; // the names of a library, a size and a stall reason
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        if (!strcmp(key, data[i])) return true;
    const char *number = strchr(key, '@');
    char *span = test_text("`%s`", key), *limit = test_text("`device.%s`", key);
    if (number) span = test_text("`%.*s@%s`", (int)(number - key), key, strchr(number, 's') ? "Ts" : "N");
    for (size_t i = 0; pages[i]; i++)
        if (strstr(pages[i], span) || strstr(pages[i], limit)) return true;
    return false;
}

// The golden files have placeholders, so they are searched as text.
TEST(every_json_document_and_its_members_are_described)
{
    char *const page = test_file("docs/json.md");
    const char *const pages[] = {page,
                                 test_file("docs/store.md"),
                                 test_file("docs/counters.md"),
                                 test_file("docs/reading-results.md"),
                                 test_file("docs/job-file.md"),
                                 NULL};
    glob_t found;
    size_t members = 0, formats = 0;
    assert_int_equal(glob("tests/golden/*json*.txt", 0, NULL, &found), 0);
    assert_int_equal(glob("tests/golden/export.txt", GLOB_APPEND, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i], *text = test_owned(text_read_file(path, NULL)), *at;
        char format[64];
        int version;
        if (!(at = strstr(text, "\"format\""))) continue; // lists have the members of the printed table
        assert_int_equal(sscanf(at, "\"format\" : \"%63[a-z-]\" , \"version\" : %d", format, &version), 2);
        if (!strstr(page, test_text("`%s`, %d", format, version)))
            fail_msg("docs/json.md does not have version %d of %s", version, format);
        formats++;
        for (at = text; (at = strchr(at, '"')) != NULL;) {
            char *key = test_text("%.*s", (int)strcspn(at + 1, "\"\n"), at + 1);
            at += 1 + strlen(key);
            if (*at == '"') at++;
            if (at[-1] != '"' || at[strspn(at, " ")] != ':') continue;
            if (!described(pages, key)) fail_msg("docs/json.md does not describe %s of %s", key, path);
            members++;
        }
    }
    assert_contains(page, test_text("`" LIVE_STATUS_FORMAT "`, %d", LIVE_STATUS_VERSION));
    assert_true(formats >= 12 && members > 500);
    globfree(&found);
}

TEST_MAIN(make_store, remove_store)
