// The bench for search strategies. It runs each strategy on recorded spaces with many seeds on all cores, and reports
// how close to the optimum the strategy gets after given numbers of evaluations. Nothing is compiled or launched: an
// evaluation is a lookup in the recording.
#pragma once

#include "search/strategies/strategy.h"
#include "tuner/base/table.h"
#include "tuner/recorded/recorded.h"

enum { BENCH_MAX_PROCESSES = 512, BENCH_MAX_BUDGETS = 16, BENCH_MOST_COLUMNS = 3 * BENCH_MAX_BUDGETS + 8 };

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
    int64_t budgets[BENCH_MAX_BUDGETS]; // ascending; unique evaluations, including failed configurations
    int64_t seeds;
    int64_t first_seed;
    int64_t ahead; // proposals that wait; the most promising one is measured next. 1: each is measured immediately
    // Priors for the strategies, by file; NULL: none.
    const struct bench_priors *priors;
    int64_t processes; // 0: one per core
    bool progress;     // on stderr
};

// One strategy on one file. Quality is optimum / best found: 1 is the optimum, 0 means nothing valid yet.
struct bench_cell {
    double mean[BENCH_MAX_BUDGETS], median[BENCH_MAX_BUDGETS];
    double within_1_percent[BENCH_MAX_BUDGETS]; // share of the seeds whose quality is at least 0.99
    double to_95, to_99;         // median evaluations to that quality; infinite if the median seed does not reach it
    double score;                // methodology score; NaN if it needs longer runs
    double seconds_per_proposal; // CPU time in the strategy, per evaluation
};

// The options for creating a strategy for one run.
struct strategy_options bench_strategy_options(const struct bench_options *, size_t file, uint64_t seed);

// Calls `one` for every strategy, file and seed. Forked processes take the next run from a counter in shared memory, so
// the code of a run need not be thread-safe. A run must give the same result in any process, and must write this result
// to memory from bench_shared. Returns -1 with the message of the first run that failed, or if a process died.
typedef int bench_runner(void *user, size_t strategy, size_t file, size_t seed, struct error *);
int bench_deal(const struct bench_options *, bench_runner *one, void *user, struct error *);
// The number of a run, below bench_runs.
size_t bench_run_number(const struct bench_options *, size_t strategy, size_t file, size_t seed);
size_t bench_runs(const struct bench_options *);
// Zeroed memory that the processes share. On failure, returns NULL with a message. bench_unshare releases it.
void *bench_shared(size_t bytes, struct error *);
void bench_unshare(void *, size_t bytes);

// to += share * from, for each double of two structs of doubles with `size` bytes each.
void bench_add(void *to, const void *from, size_t size, double share);

// A column of a table of figures: a double at offset `place` in the struct with a strategy's figures on a file.
struct bench_column {
    char title[32];     // as in table_new
    const char *format; // for printf
    size_t place;
    double scale;   // factor for the number; 0: 1
    size_t reached; // offset of the share of runs that reached it; figures with a share below 1 get a ">"; 0: none
};
// The figures of strategies on files, and how they are printed. There is a row for each strategy on each file. With
// several files, there is also a row for each strategy's mean over the files. Borrows the options.
struct bench_rows {
    const struct bench_options *options;
    const char *kind, *budgets, *legend; // the document's format; the legend's text around the number of seeds
    size_t column_count;
    struct bench_column columns[BENCH_MOST_COLUMNS];
    void *cells, *overall; // structs of `size` bytes, one strategy after another; the means over the files
    size_t size;
};
// Runs everything; each cell is a struct bench_cell. With `detailed`, there are medians and shares at every budget.
// Returns -1 with a message if a file has no valid configuration, or a strategy cannot start or proposes an invalid
// configuration.
int bench_run(struct bench_rows *, const struct bench_options *, bool detailed, struct error *);
void bench_release(struct bench_rows *);
// Building blocks of functions such as bench_run. bench_open makes zeroed cells, or returns -1 with a message if a file
// has no valid configuration. bench_add_columns adds the columns of struct bench_cell. bench_average computes the means
// over the files.
int bench_open(struct bench_rows *, const struct bench_options *, size_t size, struct error *);
void bench_add_columns(struct bench_rows *, bool detailed);
void bench_average(struct bench_rows *);
// Infinite figures are shown as `>N`, where N is the last budget.
struct table *bench_table(const struct bench_rows *);
// The columns' titles are members: {"seeds": 60, "first_seed": 1, "rows": [{"file": "a.json", "strategy": "default",
// "to 95%": 12, ...}]}; infinite figures are null. New reference.
json_t *bench_json(const struct bench_rows *);
