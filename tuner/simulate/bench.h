// The bench for search strategies: runs each of them on recorded spaces with many seeds on all cores, and says how
// close to the optimum it gets after how many evaluations. Nothing is compiled or launched: an evaluation is a lookup
// in the recording.
#ifndef SWEETSPOT_BENCH_H
#define SWEETSPOT_BENCH_H

#include "search/strategies/strategy.h"
#include "tuner/base/base.h"
#include "tuner/base/table.h"
#include "tuner/recorded/recorded.h"

enum { BENCH_MAX_BUDGETS = 16, BENCH_MOST_COLUMNS = 3 * BENCH_MAX_BUDGETS + 8 };

struct bench_priors {
    size_t count;
    struct prior *list[PRIOR_MOST];
};

struct bench_options {
    size_t strategy_count;
    const struct strategy_class *const *strategies;
    size_t file_count;
    const char *const *paths;
    const struct recorded *const *files;
    size_t budget_count;
    int64_t budgets[BENCH_MAX_BUDGETS]; // ascending; unique evaluations, a failed configuration counts as one
    int64_t seeds;
    int64_t first_seed;
    int64_t ahead; // proposals that wait for their measurement; 1: each is measured before the next proposal
    const struct bench_priors *priors; // of the strategies, by file; NULL: none
    bool progress;                     // on stderr
};

// One strategy on one file. Quality is optimum / best found: 1 is the optimum, 0 nothing valid yet.
struct bench_cell {
    double mean[BENCH_MAX_BUDGETS], median[BENCH_MAX_BUDGETS];
    double within_1_percent[BENCH_MAX_BUDGETS]; // share of the seeds whose quality is at least 0.99
    double to_95, to_99;         // median evaluations to that quality; infinite when not reached by the median seed
    double seconds_per_proposal; // time of a core in the strategy, per evaluation
};

// One run: a strategy on a file with a seed.
struct bench_run {
    size_t number; // below bench_runs; the seeds of a strategy on a file follow each other
    const struct strategy_class *class;
    size_t file;
    struct strategy_options options;
};

// Calls `one` for every run, on all cores at once. A run gives the same result in any thread, and keeps it by its
// number. -1 with the message of the first run that failed.
typedef int bench_runner(void *user, const struct bench_run *, struct error *);
int bench_deal(const struct bench_options *, bench_runner *one, void *user, struct error *);
size_t bench_runs(const struct bench_options *);

// Adds a share of some figures to others: structs of doubles, `size` bytes each.
void bench_add(void *to, const void *from, size_t size, double share);

// A column of a table of figures: a double at `place` in the struct of a strategy's figures on a file.
struct bench_column {
    char title[32];     // as in table_new
    const char *format; // for printf
    size_t place;
    double scale;   // what the number is multiplied by; 0: 1
    size_t reached; // the place of the share of the runs that got there, which ">" marks below 1; 0: none
};
// The figures of strategies on files, and what is printed of them: a row for each strategy on each file, and with
// several files one for the mean over them. Borrows the options.
struct bench_rows {
    const struct bench_options *options;
    const char *kind, *legend; // the document's format; what the columns mean
    size_t column_count;
    struct bench_column columns[BENCH_MOST_COLUMNS];
    void *cells, *overall; // structs of `size` bytes, strategy after strategy; the means over the files
    size_t size;
};
// Runs everything; each cell is a struct bench_cell. detailed: with medians and shares at every budget. -1 with a
// message: a file without a valid configuration, a strategy that proposes an invalid configuration.
int bench_search(struct bench_rows *, const struct bench_options *, bool detailed, struct error *);
void bench_release(struct bench_rows *);
// For such functions: room for zeroed cells, -1 with a message where a file has no valid configuration; the means over
// the files.
int bench_open(struct bench_rows *, const struct bench_options *, size_t size, struct error *);
void bench_average(struct bench_rows *);
// What is infinite is shown as above the last budget.
struct table *bench_table(const struct bench_rows *);
// The columns' titles are members: {"seeds": 60, "first_seed": 1, "rows": [{"file": "a.json", "strategy": "default",
// "to 95%": 12, ...}]}; null for what is infinite. New reference.
json_t *bench_json(const struct bench_rows *);

#endif
