// See report_write.h.
#include "tuner/cli/report_write.h"

#include <unistd.h>

#include "tuner/base/base.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/session.h"

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

int report_write(const struct report_files *files, const struct report_charts *charts, int format, const char *output)
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
