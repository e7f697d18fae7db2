// See findings.h. A rule is a function in the table `rules`. Thresholds are given where they are used; each is a share
// of the time below which a finding would be noise. A rule returns false if a figure that it needs is unknown, because
// comparisons with NaN are false.
#include "tuner/explain/findings.h"

#include <ctype.h>

#include "tuner/explain/profile.h"
#include "tuner/setup/request.h"
#include "tuner/setup/wave_model.h"

#define SAY(text, ...) snprintf(text, sizeof text, __VA_ARGS__)

struct finding_context {
    const json_t *profile, *stage;
    const struct job *job; // NULL: no proposals
    const struct device_limits *limits;
    bool has_config;
    uint16_t config[SPACE_MAX_PARAMETERS]; // valid if has_config
    size_t problem, stage_index;
};

// Figures -------------------------------------------------------------------------------------------------------------

static double number(const struct finding_context *c, const char *key)
{
    return profile_number(c->stage, key);
}
static double share(const struct finding_context *c, const char *reason)
{
    return profile_share(c->stage, reason);
}

// The share of cycles in which a scheduler issues, 0..1. The basic set suffices for it.
static double issue_share(const struct finding_context *c)
{
    double known = profile_number(c->stage, "issue_active");
    if (!isnan(known)) return known / 100;
    return profile_number(c->stage, "instructions") /
           (4 * (double)c->limits->sm_count * profile_number(c->stage, "cycles_active"));
}

// The highest utilisation among all units except `relieved`, as a share of peak, 0..1. Relieving a unit helps only
// until the next one reaches its limit.
static double next_limit(const struct finding_context *c, const char *relieved)
{
    static const char *const units[] = {"issue_active", "pipe_fma",      "pipe_alu",      "pipe_fp64",      "pipe_xu",
                                        "pipe_tensor",  "l1_throughput", "l2_throughput", "dram_throughput"};
    double highest = issue_share(c);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double one = number(c, units[i]) / 100;
        if (strcmp(units[i], relieved) && one > highest) highest = one;
    }
    return highest;
}

// Sets the finding's line to the line that causes an excess. Returns its text ("" if the source cannot be read), or
// NULL if no line causes the excess.
static char *blame_line(const struct finding_context *c, struct finding *f, enum profile_excess what,
                        struct profile_culprit *culprit)
{
    if (!profile_culprit(c->stage, what, culprit, 1)) return NULL;
    f->line = culprit->line;
    return c->job ? profile_source(c->job->code.source, culprit->line) : text_copy("");
}

// Proposals -----------------------------------------------------------------------------------------------------------

// Each function sets parameter, value and advice ("TILE_COL_SIZE=4 ...") of the finding, or returns false. `verb`
// states the effect of the change ("would remove it"). The changed configuration is valid.

// Returns false if the changed configuration is not valid.
static bool propose_value(const struct finding_context *c, struct finding *f, size_t parameter, size_t value,
                          const char *verb)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    memcpy(config, c->config, sizeof config);
    config[parameter] = (uint16_t)value;
    if (!space_is_valid(c->job->space, config)) return false;
    f->parameter = (int)parameter;
    f->value = (uint16_t)value;
    snprintf(f->advice, sizeof f->advice, "%s=%s %s", space_parameter(c->job->space, parameter)->name,
             space_value_text(c->job->space, parameter, value, (char[32]){0}), verb);
    return true;
}

static bool has_word(const char *name, const char *words)
{
    while (*words) {
        size_t length = strcspn(words, "|");
        for (const char *p = name; strlen(p) >= length && length; p++)
            if (!strncmp(p, words, length)) return true;
        words += length;
        words += *words == '|';
    }
    return false;
}

// The index of the value that follows in a direction when values are ordered by size; -1 if no value follows. For an
// unroll parameter, "no pragma" counts as 0 and "the compiler's choice" as 1.
static int next_value(const struct parameter *p, size_t now, int direction)
{
    int best = -1;
    if (p->kind == PARAMETER_STRING) return p->count < 2 ? -1 : now ? 0 : 1; // strings have no order; take another one
    if (p->kind != PARAMETER_INT && p->kind != PARAMETER_UNROLL) return -1;
    for (size_t i = 0; i < p->count; i++) {
        bool further = direction > 0 ? p->values[i] > p->values[now] : p->values[i] < p->values[now];
        bool nearer = best < 0 || (direction > 0 ? p->values[i] < p->values[best] : p->values[i] > p->values[best]);
        if (further && nearer) best = (int)i;
    }
    return best;
}

// Proposes one step up (+1) or down (-1) along the values of the first parameter whose name contains one of the words
// ("STAGES|PIPE"), or whose kind is unroll if the list contains "<unroll>".
static bool propose_step(const struct finding_context *c, struct finding *f, const char *words, int direction,
                         const char *verb)
{
    for (size_t i = 0; c->has_config && i < space_parameter_count(c->job->space); i++) {
        const struct parameter *p = space_parameter(c->job->space, i);
        bool fits = has_word(p->name, words) || (p->kind == PARAMETER_UNROLL && strstr(words, "<unroll>"));
        int value = fits ? next_value(p, c->config[i], direction) : -1;
        if (value >= 0 && propose_value(c, f, i, (size_t)value, verb)) return true;
    }
    return false;
}

static bool stands_in(const char *line, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = line; (p = strstr(p, name)); p++) {
        bool begins = p == line || !(isalnum((unsigned char)p[-1]) || p[-1] == '_'),
             ends = !(isalnum((unsigned char)p[length]) || p[length] == '_');
        if (begins && ends) return true;
    }
    return false;
}

// Proposes the next smaller value of a parameter that appears in the source line or, if no such parameter has a smaller
// value, the next larger value.
static bool propose_named(const struct finding_context *c, struct finding *f, const char *line, const char *verb)
{
    for (int direction = -1; direction <= 1; direction += 2)
        for (size_t i = 0; c->has_config && i < space_parameter_count(c->job->space); i++) {
            const struct parameter *p = space_parameter(c->job->space, i);
            int value = stands_in(line, p->name) ? next_value(p, c->config[i], direction) : -1;
            if (value >= 0 && propose_value(c, f, i, (size_t)value, verb)) return true;
        }
    return false;
}

// The launch of a configuration, from the job's expressions. Returns false if it is unknown.
static bool launch_with(const struct finding_context *c, const uint16_t *config, struct launch_shape *shape)
{
    autofree struct planned_launch *launches = NULL;
    size_t count = 0, seen = 0;
    bool found = false;
    autojson json_t *problems = request_problems(c->job, config, NULL, false, &launches, &count, NULL);
    for (size_t i = 0; problems && i < count && !found; i++) {
        if ((size_t)launches[i].problem != c->problem || launches[i].run || seen++ != c->stage_index) continue;
        *shape = launches[i].shape;
        found = true;
    }
    return found;
}

// Proposes the single change that gives the launch the best score. `score` gets the shape that the launch would have. A
// proposal must beat the current score by 10%.
static bool propose_launch(const struct finding_context *c, struct finding *f,
                           double (*score)(const struct finding_context *, const struct launch_shape *),
                           const char *verb)
{
    struct launch_shape shape;
    bool found = false;
    if (!c->has_config || !launch_with(c, c->config, &shape)) return false;
    double best = 1.1 * score(c, &shape);
    for (size_t i = 0; i < space_parameter_count(c->job->space); i++)
        for (size_t k = 0; k < space_parameter(c->job->space, i)->count; k++) {
            uint16_t config[SPACE_MAX_PARAMETERS];
            memcpy(config, c->config, sizeof config);
            config[i] = (uint16_t)k;
            if (k == c->config[i] || !space_is_valid(c->job->space, config) || !launch_with(c, config, &shape))
                continue;
            double one = score(c, &shape);
            if (one > best && propose_value(c, f, i, k, verb)) {
                best = one;
                found = true;
            }
        }
    return found;
}

// Rules ---------------------------------------------------------------------------------------------------------------

static bool bank_conflicts(const struct finding_context *c, struct finding *f)
{
    struct profile_culprit culprit;
    double extra = number(c, "shared_wavefronts") - number(c, "shared_ideal");
    if (isnan(extra)) extra = number(c, "bank_conflicts_load") + number(c, "bank_conflicts_store");
    double active = number(c, "cycles_active"),
           elapsed = json_get_number(c->profile, "time", NAN) * 1e6 * json_get_number(c->profile, "clock_mhz", NAN);
    double cycles = extra / (double)c->limits->sm_count / (isnan(active) ? elapsed : active);
    if (!(cycles > 0.02)) return false;
    autofree char *text = blame_line(c, f, EXCESS_SHARED, &culprit);
    if (text)
        SAY(f->seen,
            "line %" PRId64 " needs %.2f times the ideal number of shared-memory wavefronts, and bank conflicts take "
            "%.0f%% of all cycles%s%.120s",
            json_get_integer(culprit.line, "line", 0), culprit.ratio, 100 * cycles, *text ? ": " : "", text);
    else
        SAY(f->seen, "bank conflicts take the shared memory's banks for %.0f%% of all cycles", 100 * cycles);
    SAY(f->why, "threads of a warp that want different words of one bank are served one after another, and the warps "
                "after them wait");
    f->gain =
        fmin(fmin(cycles, 1 - next_limit(c, "l1_throughput")), share(c, "short_scoreboard") + share(c, "mio_throttle"));
    bool proposed =
        (text && propose_named(c, f, text, "makes that line's accesses narrower or spreads them over other banks")) ||
        propose_step(c, f, "TILE_COL|TILE_ROW", -1, "makes neighbouring threads read neighbouring banks") ||
        propose_step(c, f, "PAD|SWIZZLE", 1, "shifts the rows against each other");
    if (!proposed) SAY(f->advice, "pad the rows by one access width, or swizzle");
    return true;
}

static bool uncoalesced(const struct finding_context *c, struct finding *f)
{
    struct profile_culprit culprit;
    double ratio = number(c, "global_sectors") / number(c, "global_ideal");
    if (!(ratio > 1.1)) return false;
    autofree char *text = blame_line(c, f, EXCESS_GLOBAL, &culprit);
    double busy = fmax(number(c, "memory_throughput"), number(c, "dram_throughput")) / 100;
    if (text)
        SAY(f->seen, "line %" PRId64 " moves %.2f times the sectors that its data needs; the whole kernel %.2f times",
            json_get_integer(culprit.line, "line", 0), culprit.ratio, ratio);
    else
        SAY(f->seen, "global memory moves %.2f times the sectors that the data needs", ratio);
    SAY(f->why,
        "memory is moved in sectors of 32 bytes: threads of a warp that do not read neighbouring words move bytes that "
        "no thread needs; a high memory throughput then does not mean that the kernel is good%s",
        busy > 0.6 ? ", and the memory is busy here" : "");
    f->gain = (1 - 1 / ratio) * (busy > 0 ? fmin(busy, 1) : 1);
    bool proposed = (text && propose_named(c, f, text, "changes what that line reads together")) ||
                    propose_step(c, f, "STRIDE|ORDER|LAYOUT", -1, "brings the threads' words together");
    if (!proposed) SAY(f->advice, "let consecutive threads read consecutive words, starting at an aligned address");
    return true;
}

static double by_occupancy(const struct finding_context *c, const struct launch_shape *l)
{
    int64_t threads = l->block[0] * l->block[1] * l->block[2];
    double registers = number(c, "registers"), fixed = number(c, "shared_static");
    return theoretical_occupancy(c->limits, threads, registers > 0 ? (int64_t)registers : 0,
                                 l->shared + (fixed > 0 ? (int64_t)fixed : 0));
}

static bool low_occupancy(const struct finding_context *c, struct finding *f)
{
    static const struct {
        const char *key, *words;
    } limits[] = {{"limit_registers", "registers"},
                  {"limit_shared", "shared memory"},
                  {"limit_warps", "the number of warps"},
                  {"limit_blocks", "the number of blocks"}};
    double theory = json_get_number(json_object_get(c->stage, "facts"), "occupancy", NAN), issue = issue_share(c),
           fewest = INFINITY;
    double waits = share(c, "long_scoreboard") + share(c, "short_scoreboard");
    const char *cause = "?";
    if (!(theory < 0.5) || !(issue < 0.6) || waits < 0.2) return false;
    for (size_t i = 0; i < 4; i++) {
        double one = number(c, limits[i].key);
        if (one < fewest) fewest = one, cause = limits[i].words;
    }
    SAY(f->seen,
        "a multiprocessor holds %.0f%% of the warps it could, as %s allow%s, and issues in %.0f%% of its cycles",
        100 * theory, cause, *cause == 'r' ? "" : "s", 100 * issue);
    SAY(f->why, "with few warps, often all of them wait for data");
    f->gain = fmin(1 - issue / 0.9, 0.5 * waits);
    bool proposed = propose_launch(c, f, by_occupancy, "lets more warps fit") ||
                    (*cause == 'r' && propose_step(c, f, "MIN_BLOCKS", 1, "makes the compiler use fewer registers"));
    if (!proposed)
        SAY(f->advice, "%s",
            *cause == 'r' ? "use fewer registers: smaller tiles per thread, or __launch_bounds__"
                          : "use smaller blocks or less shared memory per block");
    return true;
}

static bool spills(const struct finding_context *c, struct finding *f)
{
    double bytes = number(c, "spill_loads") + number(c, "spill_stores");
    double sectors = number(c, "local_load_sectors") + number(c, "local_store_sectors"),
           global = number(c, "global_sectors");
    if (!(bytes > 0)) return false;
    SAY(f->seen, "the compiler spills registers: %.0f bytes of loads and stores%s", bytes,
        sectors > 0 ? ", and local memory is used while the kernel runs" : ", but hardly on the hot path");
    SAY(f->why, "spilled values go through the L1 cache to memory and back");
    f->gain = sectors > 0 && global > 0 ? fmin(sectors / (sectors + global), 0.5) : NAN;
    if (!propose_step(c, f, "MIN_BLOCKS", -1, "leaves each thread more registers") &&
        !propose_step(c, f, "<unroll>", -1, "keeps fewer values alive"))
        SAY(f->advice, "use smaller tiles per thread, or a weaker __launch_bounds__");
    return true;
}

static double by_waves(const struct finding_context *c, const struct launch_shape *l)
{
    double registers = number(c, "registers"), fixed = number(c, "shared_static");
    int64_t fit = blocks_at_once(c->limits, l, registers > 0 ? (int64_t)registers : 0, fixed > 0 ? (int64_t)fixed : 0);
    double waves = fit ? (double)(l->grid[0] * l->grid[1] * l->grid[2]) / (double)fit : 0;
    return waves > 0 ? waves / ceil(waves) : 0;
}

static bool tail_effect(const struct finding_context *c, struct finding *f)
{
    double waves = number(c, "waves"), average = number(c, "cycles_active"), longest = number(c, "cycles_active_max");
    double idle = 1 - waves / ceil(waves), measured = 1 - average / longest;
    if (!(waves < 8) || !(idle > 0.1) || (waves > 1 && measured < 0.03)) return false;
    if (waves < 1) { // no tail: all blocks run at once, and there is room for more
        idle = fmin(idle, 1 - next_limit(c, ""));
        measured = NAN;
        if (idle < 0.1) return false;
    }
    SAY(f->seen, "the grid fills the device %.2f times%s", waves,
        waves < 1 ? ": it leaves multiprocessors empty" : ": in the last round most of them wait");
    SAY(f->why, "blocks come in waves, and a last wave that is nearly empty takes as long as a full one");
    f->gain = fmin(idle, isnan(measured) ? idle : fmax(measured, 0.02));
    if (!propose_launch(c, f, by_waves, "brings the grid closer to a whole number of waves"))
        SAY(f->advice, "choose a block size that gives a whole number of waves, or a persistent grid");
    return true;
}

static bool instruction_cache(const struct finding_context *c, struct finding *f)
{
    double time = share(c, "no_instruction"), code = number(c, "code_bytes"), misses = number(c, "icache_misses"),
           requests = number(c, "icache_requests");
    if (!(time > 0.05)) return false;
    SAY(f->seen, "warps wait for instructions %.0f%% of their time%s%.0f%s", 100 * time,
        code > 0 ? "; the code has " : "", code > 0 ? code : 0, code > 0 ? " bytes" : "");
    SAY(f->why,
        "the hot code does not fit into the instruction caches (%.0f%% of requests miss), even less so as warps drift "
        "apart",
        requests > 0 ? 100 * misses / requests : 0);
    f->gain = time;
    if (!propose_step(c, f, "<unroll>|UNROLL", -1, "makes the code shorter")) SAY(f->advice, "unroll less");
    return true;
}

static bool latency(const struct finding_context *c, struct finding *f)
{
    double issue = issue_share(c), waits = share(c, "long_scoreboard"), dram = number(c, "dram_throughput"),
           memory = number(c, "memory_throughput");
    if (!(issue < 0.5) || !(waits > 0.3) || !(dram < 70) || memory > 80) return false;
    SAY(f->seen, "warps wait for global memory %.0f%% of their time, while device memory is only %.0f%% busy",
        100 * waits, dram);
    SAY(f->why, "too few loads are in flight to hide the memory's latency");
    f->gain = fmin(waits, 1 - fmax(issue, fmax(dram, memory) / 100));
    bool proposed =
        propose_step(c, f, "STAGES|PREFETCH|DEPTH", 1, "keeps more loads in flight") ||
        propose_step(c, f, "<unroll>|UNROLL|VECTOR|ITEMS|PER_THREAD", 1, "gives each thread more independent loads") ||
        propose_launch(c, f, by_occupancy, "lets more warps fit");
    if (!proposed)
        SAY(f->advice, "issue more independent loads before the first use: unroll, prefetch, or use wider accesses");
    return true;
}

static bool divergence(const struct finding_context *c, struct finding *f)
{
    struct profile_culprit culprit;
    double threads = number(c, "threads_per_instruction");
    const json_t *totals = json_object_get(c->stage, "totals"); // not from "facts", where "threads" is the block size
    if (isnan(threads))
        threads = json_get_number(totals, "threads", NAN) / json_get_number(totals, "instructions", NAN);
    if (!(threads < 29)) return false;
    autofree char *text = blame_line(c, f, EXCESS_DIVERGENCE, &culprit);
    SAY(f->seen, "an instruction is executed by %.1f of a warp's 32 threads on average", threads);
    if (text)
        SAY(f->seen,
            "an instruction is executed by %.1f of a warp's 32 threads on average, worst at line %" PRId64 "%s%.120s",
            threads, json_get_integer(culprit.line, "line", 0), *text ? ": " : "", text);
    SAY(f->why, "the branches of a warp run one after another, each for its own threads");
    f->gain = (1 - threads / 32) * fmin(1, issue_share(c) / 0.9);
    if (!(text && propose_named(c, f, text, "changes that branch")) &&
        !propose_step(c, f, "BRANCH|DIVERGE", -1, "removes the branch"))
        SAY(f->advice, "select with arithmetic instead of branching, or sort the work so that a warp's threads agree");
    return true;
}

static bool one_pipe(const struct finding_context *c, struct finding *f)
{
    static const struct {
        const char *key, *words;
    } units[] = {{"pipe_fma", "the FMA units"},      {"pipe_alu", "the ALU pipe"},
                 {"pipe_fp64", "the FP64 pipe"},     {"pipe_xu", "the special-function pipe"},
                 {"pipe_tensor", "the tensor pipe"}, {"pipe_lsu", "the load-store pipe"}};
    size_t busiest = 0;
    for (size_t i = 1; i < sizeof units / sizeof *units; i++)
        if (number(c, units[i].key) > number(c, units[busiest].key)) busiest = i;
    double busy = number(c, units[busiest].key);
    if (!(busy > 80)) return false;
    SAY(f->seen, "%s are busy in %.0f%% of the cycles", units[busiest].words, busy);
    SAY(f->why, "the pipe limits the kernel: only fewer instructions for it help");
    f->gain = 1 - busy / 100;
    return true;
}

static bool at_roofline(const struct finding_context *c, struct finding *f)
{
    const json_t *ceilings = json_object_get(c->profile, "ceilings");
    double time = json_get_number(c->profile, "time", NAN), flops = json_get_number(c->profile, "flops", 0),
           bytes = json_get_number(c->profile, "bytes", 0);
    double compute = flops / profile_arithmetic_ceiling(c->profile, c->stage),
           memory = bytes / json_get_number(ceilings, "bytes_per_second", NAN);
    double reached = fmax(compute, memory) / time;
    if (!(reached > 0.85)) return false;
    SAY(f->seen, "the job's work takes %.0f%% of the time at the device's measured ceiling for %s", 100 * reached,
        compute > memory ? json_get_string(c->profile, "pipe", "arithmetic") : "memory");
    SAY(f->why, "this is the roofline: only an algorithm that does less work is faster");
    f->gain = fmax(1 - reached, 0);
    return true;
}

static bool imbalance(const struct finding_context *c, struct finding *f)
{
    double average = number(c, "cycles_active"), longest = number(c, "cycles_active_max"), waves = number(c, "waves");
    double lost = 1 - average / longest;
    if (!(lost > 0.15) || (waves < 8 && waves != floor(waves))) return false; // otherwise the tail is the cause
    SAY(f->seen, "the busiest multiprocessor works %.0f%% longer than the average one", 100 * (longest / average - 1));
    SAY(f->why, "the kernel lasts as long as its slowest part");
    SAY(f->advice, "use smaller blocks, or hand out work as multiprocessors become free");
    f->gain = lost;
    return true;
}

static bool barriers(const struct finding_context *c, struct finding *f)
{
    double time = share(c, "barrier");
    if (!(time > 0.15)) return false;
    SAY(f->seen, "warps wait at barriers %.0f%% of their time", 100 * time);
    SAY(f->why, "a barrier lasts until the slowest warp of the block arrives");
    f->gain = 0.5 * time;
    if (!propose_step(c, f, "STAGES", 1, "lets the copies run further ahead of the barrier") &&
        !propose_step(c, f, "BLOCK_K|TILE_K", 1, "needs fewer barriers"))
        SAY(f->advice, "use smaller blocks, or fewer barriers for the same work");
    return true;
}

static const struct rule {
    const char *name;
    bool (*look)(const struct finding_context *, struct finding *);
} rules[] = {
    {"bank_conflicts", bank_conflicts},
    {"uncoalesced", uncoalesced},
    {"low_occupancy", low_occupancy},
    {"spills", spills},
    {"tail_effect", tail_effect},
    {"instruction_cache", instruction_cache},
    {"latency", latency},
    {"divergence", divergence},
    {"one_pipe", one_pipe},
    {"at_roofline", at_roofline},
    {"imbalance", imbalance},
    {"barriers", barriers},
};

static int by_gain(const void *a, const void *b)
{
    double x = ((const struct finding *)a)->gain, y = ((const struct finding *)b)->gain;
    x = isnan(x) ? -1 : x;
    y = isnan(y) ? -1 : y;
    return (x < y) - (x > y);
}

const char *findings_rule(size_t i)
{
    return i < sizeof rules / sizeof *rules ? rules[i].name : NULL;
}

size_t findings_make(const json_t *profile, const struct job *job, const struct device_limits *limits,
                     struct finding out[FINDINGS_MAX])
{
    const json_t *stages = json_object_get(profile, "stages");
    struct finding_context c = {.profile = profile, .stage = profile_main_stage(profile), .job = job, .limits = limits};
    size_t count = 0;
    if (!c.stage) return 0;
    while (json_array_get(stages, c.stage_index) != c.stage) c.stage_index++;
    for (size_t p = 0; job && p < job->problem_count; p++)
        if (!strcmp(job->problems[p].name, json_get_string(profile, "problem", ""))) c.problem = p;
    c.has_config =
        job && job->space && !space_parse(job->space, json_get_string(profile, "config", ""), c.config, NULL);
    for (size_t i = 0; findings_rule(i) && count < FINDINGS_MAX; i++) {
        out[count] = (struct finding){.rule = rules[i].name, .gain = NAN, .parameter = -1};
        if (rules[i].look(&c, &out[count])) count++;
    }
    qsort(out, count, sizeof *out, by_gain);
    return count;
}

void findings_print(FILE *out, const struct finding *list, size_t count)
{
    fprintf(out, "\nFindings\n");
    if (!count) fprintf(out, "  none: no figure crosses a rule's threshold\n");
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s  %zu. %s: %s.\n", i ? "\n" : "", i + 1, list[i].rule, list[i].seen);
        fprintf(out, "     Why: %s.\n", list[i].why);
        if (*list[i].advice) fprintf(out, "     Try: %s.\n", list[i].advice);
        if (!isnan(list[i].gain)) fprintf(out, "     Gain: at most %.0f%% of the time.\n", 100 * list[i].gain);
    }
}

json_t *findings_json(const struct finding *list, size_t count, const struct job *job)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct finding *f = &list[i];
        json_t *one = json_pack("{s:s, s:s, s:s, s:s, s:f}", "rule", f->rule, "seen", f->seen, "why", f->why, "advice",
                                f->advice, "gain", f->gain);
        if (f->parameter >= 0 && job) {
            json_object_set_new(one, "parameter", json_string(space_parameter(job->space, (size_t)f->parameter)->name));
            json_object_set_new(
                one, "value", json_string(space_value_text(job->space, (size_t)f->parameter, f->value, (char[32]){0})));
        }
        if (f->line)
            json_object_set_new(one, "line",
                                json_pack("{s:s, s:I}", "file", json_get_string(f->line, "file", ""), "line",
                                          (json_int_t)json_get_integer(f->line, "line", 0)));
        json_array_append_new(array, one);
    }
    return array;
}
