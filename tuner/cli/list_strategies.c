// `sweetspot list strategies [NAME]`: see list.h.
#include <stdlib.h>

#include "search/strategies/strategy.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/list.h"
#include "tuner/cli/options.h"

static json_t *to_json(const struct strategy_class *class)
{
    json_t *options = json_array();
    for (size_t i = 0; i < strategy_option_count(class); i++) {
        const struct strategy_option *o = &class->options[i];
        json_array_append_new(options,
                              json_pack("{s:s, s:f, s:f, s:f, s:b, s:s}", "name", o->name, "default", o->value, "low",
                                        o->low, "high", o->high, "whole", (int)o->whole, "summary", o->summary));
    }
    return json_pack("{s:s, s:s, s:o}", "name", class->name, "summary", class->summary, "options", options);
}

// "size=20,tournament=3,mutation=1": what --strategy-options takes, with the defaults. malloc'ed.
static char *show_options(const struct strategy_class *class)
{
    size_t count = strategy_option_count(class);
    char **each = memory_new(count + 1, sizeof *each);
    for (size_t i = 0; i < count; i++) each[i] = text_format("%s=%g", class->options[i].name, class->options[i].value);
    char *text = text_join((const char *const *)each, ",");
    for (size_t i = 0; i < count; i++) free(each[i]);
    free(each);
    return text;
}

static void list_all(int format)
{
    struct table *table = table_new((const char *[]){"strategy", "options", "what it does", NULL});
    json_t *document = json_array();
    for (size_t i = 0; strategy_classes[i]; i++) {
        char *options = show_options(strategy_classes[i]);
        table_cell(table, "%s", strategy_classes[i]->name);
        table_cell(table, "%s", options);
        table_cell(table, "%s", strategy_classes[i]->summary);
        json_array_append_new(document, to_json(strategy_classes[i]));
        free(options);
    }
    list_print(table, document, format);
    if (format == FORMAT_TABLE) printf("\n`sweetspot list strategies NAME` explains the options of one.\n");
}

static void list_one(const struct strategy_class *class, int format)
{
    size_t count = strategy_option_count(class);
    struct table *table = table_new((const char *[]){"option", ">default", ">from", ">to", "number", "meaning", NULL});
    for (size_t i = 0; i < count; i++) {
        const struct strategy_option *o = &class->options[i];
        table_cell(table, "%s", o->name);
        table_cell(table, "%g", o->value);
        table_cell(table, "%g", o->low);
        table_cell(table, "%g", o->high);
        table_cell(table, "%s", o->whole ? "whole" : "real");
        table_cell(table, "%s", o->summary);
    }
    if (format == FORMAT_TABLE) {
        printf("%s: %s\n", class->name, class->summary);
        printf(count ? "\n" : "It has no options.\n");
    }
    if (count || format != FORMAT_TABLE) {
        list_print(table, to_json(class), format);
    } else {
        table_free(table);
    }
    if (count && format == FORMAT_TABLE) {
        char *options = show_options(class);
        printf("\nOn the command line of tune: --strategy %s --strategy-options %s\n", class->name, options);
        free(options);
    }
}

int list_strategies(const char *name, int format)
{
    struct error err;
    if (!name) {
        list_all(format);
        return EXIT_DONE;
    }
    const struct strategy_class *class = strategy_choose(name, &err);
    if (!class) {
        fprintf(stderr, "sweetspot list: %s\n", err.message);
        return EXIT_USAGE;
    }
    list_one(class, format);
    return EXIT_DONE;
}
