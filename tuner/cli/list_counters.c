// `sweetspot list counters [PATTERN]`: the hardware counters of a chip, and the short keys that the program has for
// some of them. Needs CUPTI, but no GPU if a chip is named. See list.h.
#include <fnmatch.h>

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/list.h"
#include "tuner/cli/options.h"
#include "tuner/setup/probe.h"

static bool matches(const char *pattern, const char *name, const char *keys)
{
    if (!pattern) return true;
    if (strpbrk(pattern, "*?[")) return !fnmatch(pattern, name, 0);
    return strstr(name, pattern) || strstr(keys, pattern);
}

// A metric's keys in the sets, with the roll-ups that they use: "icache_misses (.sum)". malloc'ed.
static char *keys_of(const json_t *sets, const char *name)
{
    size_t length = strlen(name), i, k;
    json_t *set, *metric, *seen = json_object();
    struct text keys = {0};
    text_add(&keys, "%s", "");
    json_array_foreach(json_object_get(sets, "sets"), i, set)
    {
        json_array_foreach(json_object_get(set, "metrics"), k, metric)
        {
            const char *full = json_get_string(metric, "metric", ""), *key = json_get_string(metric, "key", "");
            if (strncmp(full, name, length) || full[length] != '.') continue;
            char *one = text_format("%s (%s)", key, full + length);
            if (!json_object_get(seen, one)) text_add(&keys, "%s%s", keys.length ? " " : "", one);
            json_object_set_new(seen, one, json_true());
            free(one);
        }
    }
    json_decref(seen);
    return keys.text;
}

static int print_metrics(const json_t *answer, const char *pattern, int format)
{
    static const struct row_column columns[] = {COLUMN_OF("metric", "name"), COLUMN("kind"),        COLUMN("unit"),
                                                COLUMN_OF("key", "keys"),    COLUMN("description"), {0}};
    size_t i;
    json_t *metric, *kept = json_array();
    json_array_foreach(json_object_get(answer, "metrics"), i, metric)
    {
        const char *name = json_get_string(metric, "name", "");
        char *keys = keys_of(answer, name);
        json_object_set_new(metric, "keys", json_string(keys));
        if (matches(pattern, name, keys)) json_array_append(kept, metric);
        free(keys);
    }
    size_t count = json_array_size(kept);
    if (count || format != FORMAT_TABLE)
        list_print(kept, kept, columns, format);
    else
        json_decref(kept);
    if (!count)
        fprintf(stderr, "sweetspot: no metric of %s matches '%s'; patterns may have * and ?\n",
                json_get_string(answer, "chip", "?"), pattern ? pattern : "");
    return count ? EXIT_DONE : EXIT_NOTHING;
}

int list_counters(const char *pattern, const char *chip, int format)
{
    struct error err = {""};
    json_t *hello = chip ? NULL : probe_gpu(0, &err);
    if (!chip) chip = json_get_string(json_object_get(hello, "counters"), "chip", "");
    if (!*chip) {
        fprintf(stderr, "sweetspot: no GPU to ask for its chip (%s): name one with --chip, e.g. GH100\n",
                *err.message ? err.message : "no counters");
        json_decref(hello);
        return EXIT_ENVIRONMENT;
    }
    json_t *answer = probe_metrics(chip, &err);
    int status = answer ? print_metrics(answer, pattern, format) : EXIT_ENVIRONMENT;
    if (!answer) fprintf(stderr, "sweetspot: %s\n", err.message);
    json_decref(answer);
    json_decref(hello);
    return status;
}
