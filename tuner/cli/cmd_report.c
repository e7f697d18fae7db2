// sweetspot report: all that the stores of jobs hold as one page, a table or a document.
//
// With --every it goes on writing the page until it is ended by a signal, for a browser that follows a run; `tune
// --report` has such a process beside it (report_follow.h).
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/report_sources.h"
#include "tuner/cli/session.h"
#include "tuner/report/report_page.h"

enum { FORMAT_PAGE = -1 }; // beside those of options.h

struct writing {
    const json_t *report;
    const struct report_charts *charts;
    int format;
};

static int write_report(FILE *file, void *user, struct error *err)
{
    const struct writing *w = user;
    if (w->format == FORMAT_PAGE) return report_page_write(file, w->report, w->charts, err);
    if (w->format != FORMAT_JSON) {
        report_print(w->report, w->format == FORMAT_CSV, file);
        return 0;
    }
    char *text = report_text(w->report, false);
    fprintf(file, "%s\n", text);
    free(text);
    return 0;
}

// Reads the stores and writes what they hold. EXIT_NOTHING when one could not be read, or there was nothing in any.
static int make_report(const struct report_files *files, const struct report_charts *charts, int format,
                       const char *output, bool complain)
{
    bool failed;
    struct error err = {""};
    json_t *jobs = report_jobs(files, complain, &failed), *report;
    if (!json_array_size(jobs)) {
        if (complain)
            fprintf(stderr, "sweetspot: none of these jobs has results yet; begin with: sweetspot tune JOB\n");
        json_decref(jobs);
        return EXIT_NOTHING;
    }
    report = report_document_of(jobs, "sweetspot " SWEETSPOT_VERSION);
    struct writing writing = {report, charts, format};
    int status = output_file_write(output, write_report, &writing, &err);
    json_decref(report);
    if (status) return session_complain(EXIT_ENVIRONMENT, &err);
    return failed ? EXIT_NOTHING : EXIT_DONE;
}

// Writes every so many seconds until SIGTERM, SIGINT or SIGHUP, which wait while the page is being written. What cannot
// be read now may be there the next time.
static int follow(const struct report_files *files, const struct report_charts *charts, const char *output,
                  double seconds)
{
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGINT);
    sigaddset(&end, SIGHUP);
    sigprocmask(SIG_BLOCK, &end, NULL);
    const struct timespec wait = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    for (;;) {
        int status = make_report(files, charts, FORMAT_PAGE, output, false);
        if (status == EXIT_ENVIRONMENT) return status;
        if (sigtimedwait(&end, NULL, &wait) > 0) return EXIT_DONE;
    }
}

// $BROWSER, or what the desktop opens files with. It is not waited for.
static void open_page(const char *path)
{
    const char *given = getenv("BROWSER"), *program = given && *given ? given : "xdg-open";
    char *file = realpath(path, NULL);
    pid_t child = file ? fork() : -1;
    if (child == 0) {
        if (fork()) _exit(0); // so that nobody has to wait for it
        execlp(program, program, file, (char *)NULL);
        fprintf(stderr, "sweetspot: there is no browser (%s: %s); the page is %s\n", program, strerror(errno), file);
        _exit(1);
    }
    if (child > 0) waitpid(child, NULL, 0);
    free(file);
}

int cmd_report(int argc, char **argv)
{
    struct option_list arguments = {0};
    struct {
        const char *store, *output;
        double every;
        bool open;
        int format;
    } o = {.format = FORMAT_PAGE};
    const struct option_spec specs[] = {
        {.name = "JOB",
         .positional = true,
         .optional = true,
         .list = &arguments,
         .help = "job files, stores (*.db), or folders of either (the stores of the folder out)"},
        OPTION_STORE(&o.store),
        {.name = "output",
         .letter = 'o',
         .string = &o.output,
         .shown = "FILE",
         .help = "the file to write, - for standard output (report.html; standard output for other formats)"},
        {.name = "format",
         .letter = 'f',
         .choice = &o.format,
         .choices = format_names,
         .help = "instead of the page: the index alone, or (json) the whole document"},
        {.name = "open", .flag = &o.open, .help = "show the page in a browser"},
        {.name = "every",
         .seconds = &o.every,
         .shown = "TIME",
         .help = "write the page anew every 30s, 5m, ... until interrupted, for a browser that follows a run (once)"},
        OPTION_END,
    };
    int status = options_parse(
        specs,
        "Shows what jobs came to, in one page that needs nothing else: winners against the libraries, how the search "
        "went, what each parameter does, failures, counters against time, finals, rooflines. Reads the stores alone; "
        "may be called while jobs are being tuned. docs/report.md describes the document in the page, which --format "
        "json prints. Exit status 1 when a store cannot be read (the others are shown) or none has results.",
        argc, argv);
    if (status >= 0) return status;
    bool page = o.format == FORMAT_PAGE;
    if (!o.output) o.output = page ? "report.html" : "-";
    if ((o.open || o.every > 0) && (!page || output_is_stdout(o.output))) {
        fprintf(stderr, "sweetspot report: --open and --every are for a page in a file\n");
        return EXIT_USAGE;
    }
    struct error err;
    struct report_files files = {0};
    struct report_charts charts = {0};
    if ((status = report_files_find(&files, &arguments, o.store))) goto out;
    if (page && report_charts_read(&charts, &err)) {
        status = session_complain(EXIT_ENVIRONMENT, &err);
        goto out;
    }
    if (o.every > 0) {
        status = follow(&files, &charts, o.output, o.every);
        goto out;
    }
    status = make_report(&files, &charts, o.format, o.output, true);
    if (page && status <= EXIT_NOTHING && !output_is_stdout(o.output) && !access(o.output, F_OK)) {
        fprintf(stderr, "sweetspot: the page is %s\n", o.output);
        if (o.open) open_page(o.output);
    }
out:
    report_charts_release(&charts);
    report_files_release(&files);
    return status;
}
