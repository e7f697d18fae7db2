// `sweetspot list strategies [NAME]`: see list.h.

#include "search/strategies/strategy.h"
#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/list.h"

static const struct row_column columns[] = {COLUMN_OF("strategy", "name"), COLUMN_OF("what it does", "summary"), {0}};

int list_strategies(const char *name, int format)
{
    struct error err;
    const struct strategy_class *one = name ? strategy_choose(name, &err) : NULL;
    if (name && !one) {
        fprintf(stderr, "sweetspot list: %s\n", err.message);
        return EXIT_USAGE;
    }
    json_t *document = json_array();
    for (size_t i = 0; strategy_classes[i]; i++)
        if (!one || one == strategy_classes[i])
            json_array_append_new(document, json_pack("{s:s, s:s}", "name", strategy_classes[i]->name, "summary",
                                                      strategy_classes[i]->summary));
    list_print(document, document, columns, format);
    return EXIT_DONE;
}
