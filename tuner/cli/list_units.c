// `sweetspot list units [NAME]`: the execution units that work can be measured against. See list.h.
#include "tuner/base/base.h"
#include "tuner/cli/list.h"

#include "tuner/base/execution_unit.h"
#include "tuner/base/protocol.h"
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

static json_t *to_json(const struct execution_unit *p)
{
    json_t *peaks = json_object();
    for (size_t i = 0; i < SHOWN; i++) {
        double peak = pipe_on(p, shown[i]) ? pipe_peak(p->peak, shown[i]) : 0;
        char *name = text_format("sm_%d", shown[i]);
        json_object_set_new(peaks, name, peak > 0 ? json_real(peak) : json_null());
        free(name);
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:b, s:b, s:s?, s:s, s:s}", "name", p->name, "unit", p->unit,
                     "architectures", architectures(p), "operations_per_clock_and_sm", peaks, "arithmetic",
                     (int)p->arithmetic, "lasting", (int)p->lasts, "ceiling", p->key, "meaning", p->gloss, "measured",
                     p->how);
}

static char *unit_text(const json_t *pipe)
{
    return text_format("%s/s", json_get_string(pipe, "unit", ""));
}

static char *clock_text(const json_t *pipe)
{
    return text_copy(json_get_bool(pipe, "lasting", false) ? "lasting" : "first");
}

#define PEAK(arch) COLUMN_NUMBER(">" arch, "operations_per_clock_and_sm." arch, "%.0f")
static const struct row_column columns[] = {COLUMN_OF("pipe", "name"),
                                            COLUMN_TEXT("unit", unit_text),
                                            COLUMN("architectures"),
                                            PEAK("sm_80"),
                                            PEAK("sm_89"),
                                            PEAK("sm_90"),
                                            COLUMN_TEXT("clock", clock_text),
                                            COLUMN("meaning"),
                                            COLUMN("measured"),
                                            {0}};

int list_units(const char *name, int format)
{
    const struct execution_unit *one = name ? pipe_find(name, NULL) : NULL;
    if (name && !one) {
        const char **names = pipe_names();
        int status = list_unknown("pipe", name, names);
        free(names);
        return status;
    }
    json_t *document = json_array();
    for (int i = 0; i < UNIT_COUNT; i++)
        if (!one || one == &execution_units[i]) json_array_append_new(document, to_json(&execution_units[i]));
    list_print(document, document, columns, format);
    if (format == FORMAT_TABLE)
        printf(
            "\nwork = { flops = \"..\"; pipe = \"NAME\"; }; in a job file names the one that its arithmetic is "
            "measured "
            "against.\nsm_80 to sm_90: operations per clock and multiprocessor by the data sheet. Clock: the rate that "
            "lasts, or of\nlaunches of some milliseconds.\n");
    return EXIT_DONE;
}
