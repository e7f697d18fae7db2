// sweetspot report: everything in the stores of jobs as one page, a table or a document.
#include <unistd.h>

#include "tuner/base/base.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/report_sources.h"
#include "tuner/cli/session.h"
#include "tuner/report/report_page.h"

enum { FORMAT_PAGE = -1 }; // beside those of options.h

static struct {
    struct option_list arguments;
    const char *store, *output;
    int format;
} given = {.format = FORMAT_PAGE};

static const struct option_spec specs[] = {
    ARGUMENT(list, &given.arguments, "JOB",
             "job files, stores (*.db), or folders of either (the stores of the folder out)", .optional = true),
    OPTION_STORE(&given.store),
    OPTION(string, &given.output, "output", 'o', "FILE",
           "the file to write; -: standard output (report.html; standard output for other formats)"),
    OPTION(choice, &given.format, "format", 'f', NULL,
           "instead of the page: only the index, or (json) the whole document", .choices = format_names),
    OPTION_END,
};

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

static bool has_results(const json_t *jobs)
{
    size_t i;
    const json_t *job;
    json_array_foreach(jobs, i, job)
    {
        if (json_array_size(json_object_get(job, "results"))) return true;
    }
    return false;
}

// Writes once, as a page or in a format. EXIT_NOTHING if a store could not be read (the others are in the report) or
// all were empty, as stderr says. Only the page uses `charts`.
static int write_all(const struct report_files *files, const struct report_charts *charts, int format,
                     const char *output)
{
    bool failed;
    struct error err = {""};
    json_t *jobs = report_jobs(files, &failed), *report;
    bool nothing = !has_results(jobs);
    if (nothing) fprintf(stderr, "sweetspot: none of these jobs has results yet; begin with: sweetspot tune JOB\n");
    if (!json_array_size(jobs)) {
        json_decref(jobs);
        return EXIT_NOTHING;
    }
    report = report_document_of(jobs, "sweetspot " SWEETSPOT_VERSION);
    struct writing writing = {report, charts, format};
    int status = output_file_write(output, write_report, &writing, &err);
    json_decref(report);
    if (status) return session_complain(EXIT_ENVIRONMENT, &err);
    return failed || nothing ? EXIT_NOTHING : EXIT_DONE;
}

static int run(void)
{
    int status;
    bool page = given.format == FORMAT_PAGE;
    if (!given.output) given.output = page ? "report.html" : "-";
    struct error err;
    struct report_files files = {0};
    struct report_charts charts = {0};
    if ((status = report_files_find(&files, &given.arguments, given.store))) goto out;
    if (page && report_charts_read(&charts, &err)) {
        status = session_complain(EXIT_ENVIRONMENT, &err);
        goto out;
    }
    status = write_all(&files, &charts, given.format, given.output);
    if (page && status <= EXIT_NOTHING && !output_is_stdout(given.output) && !access(given.output, F_OK))
        fprintf(stderr, "sweetspot: wrote %s\n", given.output);
out:
    report_charts_release(&charts);
    report_files_release(&files);
    return status;
}

const struct command cmd_report = {
    .name = "report",
    .summary = "write one page with all results: times, parameters, failures, counters",
    .description =
        "Shows the results of jobs in one self-contained page: winners against the libraries, progress of the "
        "search, effect of each parameter, failures, counters against time, finals. It only reads the stores and can "
        "be called while jobs are being tuned. docs/report.md describes the document in the page, which --format "
        "json prints. Exit status 1 if a store cannot be read (the others are shown) or none has results.",
    .options = specs,
    .run = run,
    .more = "Jobs of a folder that were never tuned are left out. The page needs Apache ECharts and DataTables, "
            "which the set-up of the source tree installs with npm. Run the command again at any time; during a run, "
            "an open page reloads every minute.",
    .see = "compare status tune",
};
