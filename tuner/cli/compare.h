// The comparison of a final's winner with its baselines: cmd_compare.c makes it, compare_table.c and compare_data.c
// print it.
#pragma once

#include "tuner/cli/session.h"
#include "tuner/setup/work_bounds.h"

struct comparison {
    struct session *session;
    struct final final;
    struct work_bounds *work; // one for each tuned problem
    json_t *ceilings;         // from the store, or NULL
    char *config;             // the winner's
    json_t *builds;           // how its builds compare (builds_summary.h), or NULL
};

static inline bool is_baseline(const struct final_entry *entry)
{
    return !entry->trial;
}

// Returns how many launches of a candidate were verified in its trial and in the final.
int64_t compare_judged(const struct comparison *, const struct final_entry *);
// Prints everything about one comparison, for people.
void compare_print(const struct comparison *);
// Prints several comparisons as one table from their documents (compare_json), with a line per problem.
void compare_print_all(const json_t *documents);

// Prints the same as CSV, with a line per problem and entry.
void compare_print_csv(const json_t *documents);

// The document of docs/json.md, without its format and version.
json_t *compare_json(const struct comparison *);
