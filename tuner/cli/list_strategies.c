// `sweetspot list strategies [NAME]`: see list.h.

#include "search/strategies/strategy.h"
#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
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
static char *show_options(const json_t *strategy)
{
    struct text all = {0};
    const json_t *option;
    size_t i;
    json_array_foreach(json_object_get(strategy, "options"), i, option) text_add(
        &all, "%s%s=%g", i ? "," : "", json_get_string(option, "name", ""), json_get_number(option, "default", 0));
    return all.text;
}

static void list_all(int format)
{
    static const struct row_column columns[] = {
        COLUMN_OF("strategy", "name"), COLUMN_TEXT("options", show_options), COLUMN_OF("what it does", "summary"), {0}};
    json_t *document = json_array();
    for (size_t i = 0; strategy_classes[i]; i++) json_array_append_new(document, to_json(strategy_classes[i]));
    list_print(document, document, columns, format);
    if (format == FORMAT_TABLE) printf("\n`sweetspot list strategies NAME` explains the options of one.\n");
}

static char *number_kind(const json_t *option)
{
    return text_copy(json_get_bool(option, "whole", false) ? "whole" : "real");
}

static void list_one(const struct strategy_class *class, int format)
{
    static const struct row_column columns[] = {COLUMN_OF("option", "name"),
                                                COLUMN_NUMBER(">default", NULL, "%g"),
                                                COLUMN_NUMBER(">from", "low", "%g"),
                                                COLUMN_NUMBER(">to", "high", "%g"),
                                                COLUMN_TEXT("number", number_kind),
                                                COLUMN_OF("meaning", "summary"),
                                                {0}};
    json_t *document = to_json(class), *options = json_object_get(document, "options");
    bool table = format == FORMAT_TABLE;
    char *line = json_array_size(options) ? show_options(document) : NULL;
    if (table) printf("%s: %s\n%s", class->name, class->summary, line ? "\n" : "It has no options.\n");
    if (line || !table)
        list_print(document, options, columns, format);
    else
        json_decref(document);
    if (line && table)
        printf("\nOn the command line of tune: --strategy %s --strategy-options %s\n", class->name, line);
    free(line);
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
