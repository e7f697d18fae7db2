// sweetspot report: everything in the stores of jobs as one page, a table or a document.
#include <stdio.h>
#include <unistd.h>

#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/report_write.h"
#include "tuner/cli/session.h"

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
    status = report_write(&files, &charts, given.format, given.output);
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
        "Shows the results of jobs in one self-contained page: winners against the libraries, how the search went, "
        "what each parameter does, failures, counters against time, finals. Only reads the stores; can be "
        "called while jobs are being tuned. docs/report.md describes the document in the page, which --format json "
        "prints. Exit status 1 when a store cannot be read (the others are shown) or none has results.",
    .options = specs,
    .run = run,
    .more = "Jobs of a folder that were never tuned are left out. The page needs Apache ECharts and DataTables, which "
            "the set-up of the source tree fetches with npm. Run it again at any time; a page that is open loads "
            "itself again every minute while a tuner is at work.",
    .see = "compare status tune",
};
