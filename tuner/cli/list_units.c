// `sweetspot list pipes [NAME]`: the pipes that a job's work can be measured against. See list.h.
#include "tuner/cli/list.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/execution_unit.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/options.h"

static const char *architectures(const struct execution_unit *p)
{
    enum { EVERY_LATER = 1000 };
    static char text[32];
    if (!p->from) return "all";
    snprintf(text, sizeof text, p->to > EVERY_LATER ? "sm_%d and later" : "sm_%da", p->from);
    return text;
}

// The data sheets' peaks of three architectures: operations per clock and multiprocessor, 0 where they have none.
static const int shown[] = {80, 89, 90};
enum { SHOWN = sizeof shown / sizeof *shown };

static double sheet(const struct execution_unit *p, int compute)
{
    return pipe_on(p, compute) ? pipe_peak(p->peak, compute) : 0;
}

static void add_row(struct table *table, json_t *document, const struct execution_unit *p)
{
    json_t *peaks = json_object();
    table_cell(table, "%s", p->name);
    table_cell(table, "%s/s", p->unit);
    table_cell(table, "%s", architectures(p));
    for (size_t i = 0; i < SHOWN; i++) {
        double peak = sheet(p, shown[i]);
        char *name = text_format("sm_%d", shown[i]);
        json_object_set_new(peaks, name, peak > 0 ? json_real(peak) : json_null());
        free(name);
        if (peak > 0)
            table_cell(table, "%.0f", peak);
        else
            table_cell(table, "%s", "");
    }
    table_cell(table, "%s", p->lasts ? "lasting" : "first");
    table_cell(table, "%s", p->gloss);
    table_cell(table, "%s", p->how);
    json_array_append_new(document, json_pack("{s:s, s:s, s:s, s:o, s:b, s:b, s:s?, s:s, s:s}", "name", p->name, "unit",
                                              p->unit, "architectures", architectures(p), "operations_per_clock_and_sm",
                                              peaks, "arithmetic", (int)p->arithmetic, "lasting", (int)p->lasts,
                                              "ceiling", p->key, "meaning", p->gloss, "measured", p->how));
}

int list_units(const char *name, int format)
{
    const struct execution_unit *one = name ? pipe_find(name, NULL) : NULL;
    if (name && !one) {
        const char **names = pipe_names();
        int status = list_unknown("pipe", name, names);
        free(names);
        return status;
    }
    struct table *table = table_new((const char *[]){"pipe", "unit", "architectures", ">sm_80", ">sm_89", ">sm_90",
                                                     "clock", "meaning", "measured", NULL});
    json_t *document = json_array();
    for (int i = 0; i < UNIT_COUNT; i++)
        if (!one || one == &execution_units[i]) add_row(table, document, &execution_units[i]);
    list_print(table, document, format);
    if (format == FORMAT_TABLE)
        printf(
            "\nwork = { flops = \"..\"; pipe = \"NAME\"; }; in a job file names the one that its arithmetic is "
            "measured "
            "against.\nsm_80 to sm_90: operations per clock and multiprocessor by the data sheet. Clock: the rate that "
            "lasts, or of\nlaunches of some milliseconds.\n");
    return EXIT_DONE;
}
