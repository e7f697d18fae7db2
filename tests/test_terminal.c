// Output on a terminal: colours, and a progress line that still shows the best result when there is little room. The
// programs run on a pseudo-terminal of a given width.
#include "tests/e2e.h"

#include <pty.h>

// Runs a shell command line on a terminal with this many columns. Returns its output (malloc'ed). *status: its exit
// status.
static char *on_terminal(unsigned short columns, int *status, const char *format, ...)
{
    va_list args;
    char *line;
    va_start(args, format);
    assert_true(vasprintf(&line, format, args) >= 0);
    va_end(args);
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    int master;
    pid_t child = forkpty(&master, NULL, NULL, &size);
    assert_true(child >= 0);
    if (!child) {
        setenv("BIN", e2e_bin(), 1);
        setenv("TERM", "xterm", 1);
        unsetenv("NO_COLOR");
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    char *text = test_owned(text_copy("")), part[4096];
    for (ssize_t n; (n = read(master, part, sizeof part)) > 0 || (n < 0 && errno == EINTR);) {
        if (n < 0) continue;
        text = test_text("%s%.*s", text, (int)n, part);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
    close(master);
    free(line);
    return text;
}

TEST(verdicts_and_errors_have_colours)
{
    static const struct {
        const char *command, *expected;
    } cases[] = {
        {"$BIN/sweetspot check tests/golden/job.cfg --compile 0", "\033[32mno mistakes found\033[0m"},
        {"$BIN/sweetspot check tests/golden/none.cfg", "\033[31mcannot read"},
        {"$BIN/sweetspot doctor", "\033[32mok"},
        {"$BIN/sweetspot tune tests/golden/job.cfg --device replay:none.json -s /tmp/none.db", "\033[31mcannot read"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        char *text = on_terminal(100, &status, "%s", cases[i].command);
        assert_contains(text, cases[i].expected);
    }
}

TEST(colours_are_for_terminals_that_want_them)
{
    static const char *const cases[] = {
        "NO_COLOR=1 $BIN/sweetspot check tests/golden/job.cfg --compile 0",
        "TERM=dumb $BIN/sweetspot check tests/golden/job.cfg --compile 0",
        "env -u TERM $BIN/sweetspot check tests/golden/job.cfg --compile 0",
        "$BIN/sweetspot check tests/golden/job.cfg --compile 0 | cat",
    };
    int status;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = on_terminal(100, &status, "%s", cases[i]);
        assert_contains(text, "no mistakes found");
        if (strchr(text, '\033')) fail_msg("%s: there are colours: %s", cases[i], text);
    }
    char *text =
        on_terminal(100, &status, "NO_COLOR= $BIN/sweetspot check tests/golden/job.cfg --compile 0"); // as if unset
    assert_contains(text, "\033[32m");
    // Colours are decided for each stream separately: a stream that goes to a file has no colours.
    text = on_terminal(100, &status,
                       "$BIN/sweetspot check tests/golden/none.cfg 2>out/test/plain.%ld; cat "
                       "out/test/plain.%ld; rm out/test/plain.%ld",
                       (long)getpid(), (long)getpid(), (long)getpid());
    assert_contains(text, "cannot read");
    assert_null(strchr(text, '\033'));
}

// The last progress line that shows a best result, without the sequence that clears the previous line.
static char *last_progress(const char *text)
{
    static const char clear[] = "\r\033[K";
    char *found = NULL;
    for (const char *at = text; (at = strstr(at, clear)); at += sizeof clear - 1) {
        const char *line = at + sizeof clear - 1;
        size_t length = strcspn(line, "\r\n\033");
        char *one = test_text("%.*s", (int)length, line);
        if (strstr(one, "best ") && !strstr(one, "trial")) found = one;
    }
    if (!found) fail_msg("no progress in: %s", text);
    return found;
}

// Reasons and names come from compilers, job files and stores.
TEST(no_text_controls_the_terminal_or_the_log)
{
    char *folder = e2e_folder("controls");
    int status;
    e2e_pass(
        folder,
        "cp tests/golden/job.cfg tests/golden/kernel.cu $DIR && sed 's/Golden GPU/\\\\u001b]0;GPU\\\\u0007 "
        "\\\\u009b2J \\\\u00b5\\\\u001b[31m/; s/expected a/\\\\u001b[2Ka/' tests/golden/space.json >$DIR/space.json");
    char *text =
        on_terminal(100, &status, "cd %s && $BIN/sweetspot tune job.cfg -s job.db --device replay:space.json", folder);
    if (status) fail_msg("status %d: %s", status, text);
    assert_contains(text, "winner");
    text = on_terminal(100, &status, "cd %s && $BIN/sweetspot status job.cfg -s job.db", folder);
    assert_contains(text, "?]0;GPU? ?2J \xc2\xb5\033[31m");
    text = on_terminal(100, &status, "cd %s && NO_COLOR=1 $BIN/sweetspot status job.cfg -s job.db", folder);
    assert_contains(text, "?]0;GPU? ?2J \xc2\xb5?[31m");
    text = e2e_pass(folder, "cat $DIR/job.log").out;
    assert_contains(text, "error: ?[2Ka ';'");
    assert_null(strchr(text, '\033'));
}

TEST(a_narrow_line_of_progress_keeps_the_best)
{
    static const struct {
        unsigned short columns;
        const char *has[4], *lacks[4];
    } cases[] = {
        {200, {"/400", "left", "as fast as cublas", "as many again"}, {NULL}},
        {64, {"/400", "left", "best ", "as fast as cublas"}, {"as many again", "MHz", NULL}},
        {30, {"best ", "x as", NULL}, {"left", "failed", NULL}},
        {12, {"best ", NULL}, {"/400", "left", NULL}},
    };
    char *folder = e2e_folder("narrow");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        char *text = on_terminal(
            cases[i].columns, &status,
            "export SWEETSPOT_REPLAY_DELAY=0.003; rm -f %s/*.db; $BIN/sweetspot tune configs/sgemm_2048.cfg --device "
            "replay:tests/spaces/sgemm_2048_h200.json.gz --strategy random -n 400 --no-final --store %s/n.db",
            folder, folder);
        assert_int_equal(status, 0);
        char *line = last_progress(text);
        if (strlen(line) >= cases[i].columns) fail_msg("%d columns: %s", cases[i].columns, line);
        for (size_t k = 0; k < 4 && cases[i].has[k]; k++) assert_contains(line, cases[i].has[k]);
        for (size_t k = 0; k < 4 && cases[i].lacks[k]; k++)
            if (strstr(line, cases[i].lacks[k])) fail_msg("%d columns: %s", cases[i].columns, line);
    }
}

TEST_MAIN(NULL, NULL)
