// Reads a job file into a struct job. The top-level groups are read once, in an order that makes names known before
// expressions use them: device limits, problem sizes, parameters, derived names, then everything with expressions. All
// mistakes are collected; reading does not stop at the first mistake. job_launch.c reads launches and arguments,
// job_implementation.c the reference.
#include <unistd.h>

#include "kernels/operation.h"
#include "search/strategies/strategy.h"
#include "tuner/base/input_file.h"
#include "tuner/base/installation.h"
#include "tuner/job/job_parts.h"
#include "tuner/trial/metrics.h"

static void load_defines(struct reader *r, struct job *job, const struct node *kernel)
{
    const struct node *defines = reader_member(r, kernel, "kernel.defines");
    for (size_t i = 0; defines && i < node_count(defines); i++) {
        const struct node *n = node_at(defines, i);
        struct error err;
        if (node_is_integer(n) && // expressions can use it too
            space_set_constant(job->space, node_name(n), node_integer(n), &err))
            reader_mistake(r, n, "%s", err.message);
        load_define(r, job, n, &job->code.defines, &job->code.define_count);
    }
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; *text; text++) count += *text == '\n';
    return count;
}

// Each edit must apply to its file as changed by the edits before it. The most recently added edit is dropped if it
// does not apply.
static void try_edit(struct reader *r, struct job *job, const struct node *n)
{
    const struct text_edit *last = &job->code.edits[job->code.edit_count - 1];
    struct error err;
    autofree char *text = input_file_read(last->file, INPUT_FILE_TEXT_MOST, NULL, &err);
    int failed = !text;
    for (size_t i = 0; !failed && i < job->code.edit_count; i++)
        if (input_file_is_same(job->code.edits[i].file, last->file))
            failed = text_edit_apply(&job->code.edits[i], &text, &err);
    if (failed) reader_mistake(r, n, "%s", err.message);
    job->code.edit_count -= failed != 0;
}

static void load_edits(struct reader *r, struct job *job, const struct node *kernel)
{
    const struct node *list = reader_member(r, kernel, "kernel.edits");
    for (size_t i = 0; list && job->code.source && i < node_count(list); i++) {
        const struct node *n = node_at(list, i);
        if (!reader_is_group(r, n, "an edit must be a group { find = ...; replace = ...; }")) continue;
        if (job->code.edit_count == JOB_MAX_EDITS) {
            reader_mistake(r, n, "more than %d edits", JOB_MAX_EDITS);
            return;
        }
        reader_check_group(r, n, "an edit", "kernel.edits[]", NULL);
        const char *file = reader_string(r, n, "kernel.edits[].file"),
                   *find = reader_string(r, n, "kernel.edits[].find"),
                   *replace = reader_string(r, n, "kernel.edits[].replace");
        if (!node_member(n, "find") || !node_member(n, "replace")) {
            reader_mistake(r, n, "an edit lacks '%s'", node_member(n, "find") ? "replace" : "find");
        } else if (find && replace && (!*find || count_lines(find) != count_lines(replace))) {
            reader_mistake(
                r, n,
                *find ? "'replace' must have as many lines as 'find', so that the other lines keep their numbers"
                      : "'find' is empty");
        } else if (find && replace) {
            job->code.edits = job_room(job, job->code.edits, job->code.edit_count, sizeof *job->code.edits);
            job->code.edits[job->code.edit_count++] = (struct text_edit){
                .file = file ? job_keep(job, text_join_path(job->file.directory, file)) : job->code.source,
                .find = job_copy(job, find),
                .replace = job_copy(job, replace),
                .count = reader_integer(r, n, "kernel.edits[].count")};
            try_edit(r, job, n);
        }
    }
}

// The template's path below the job file's folder. If no file is there, a name without a folder, or in a folder
// `templates`, refers to a template that comes with the program. malloc'ed.
static char *find_template(const struct job *job, const char *source)
{
    autofree char *path = text_join_path(job->file.directory, source), *folder = text_directory(source);
    const char *file = text_file_name(source);
    if (access(path, F_OK) && source[0] != '/' && (file == source || !strcmp(text_file_name(folder), "templates"))) {
        autofree char *name = text_format("templates/%s", file);
        char *installed = installation_data(name);
        if (installed) return installed;
    }
    return text_copy(path);
}

static void load_kernel(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *kernel = reader_member(r, root, "kernel");
    if (!kernel) {
        reader_mistake(r, NULL, "'kernel' is missing: add 'kernel = { template = \"...\"; entry = \"...\"; };'");
        return;
    }
    reader_check_group(r, kernel, "'kernel'", "kernel", NULL);
    const char *source = reader_string(r, kernel, "kernel.template");
    if (source) {
        job->code.source = job->code.template = job_keep(job, find_template(job, source));
        if (access(job->code.source, R_OK))
            reader_mistake(r, node_member(kernel, "template"), "cannot read template '%s' (looked for %s)", source,
                           job->code.source);
    } else if (!node_member(kernel, "template")) {
        reader_mistake(r, kernel, "'kernel' lacks 'template'");
    }
    load_strings(r, job, kernel, "kernel.include", job->file.directory, NULL, &job->code.includes,
                 &job->code.include_count);
    load_strings(r, job, kernel, "kernel.options", NULL, check_option, &job->code.options, &job->code.option_count);
    job->code.compiler = (enum job_compiler)reader_word(r, kernel, "kernel.compiler");
    load_defines(r, job, kernel);
    load_edits(r, job, kernel);
}

// Whether the name that a message calls unknown is derived name number `first` or a later one.
static bool uses_later(const struct node *derived, size_t first, const char *message)
{
    bool found = false;
    for (size_t i = first; i < node_count(derived) && !found; i++) {
        autofree char *unknown = text_format("unknown name '%s'", node_name(node_at(derived, i)));
        found = strstr(message, unknown) != NULL;
    }
    return found;
}

// A job without parameters has one configuration. There is nothing to search, so its kernel is only judged.
static void load_parameters(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *list = reader_member(r, root, "parameters");
    if (!list && node_member(root, "parameters")) reader_undefined(r, NULL);
    for (size_t i = 0; list && i < node_count(list); i++) {
        const struct node *n = node_at(list, i);
        if (i == SPACE_MAX_PARAMETERS) {
            reader_mistake(r, n, "more than %d parameters", SPACE_MAX_PARAMETERS);
            reader_undefined(r, NULL);
            break;
        }
        bool group = reader_is_group(r, n, "a parameter must be a group { name = ...; values = [...]; }");
        const char *name = group ? reader_string(r, n, "parameters[].name") : NULL;
        if (name)
            load_parameter(r, job, n, name);
        else if (group && !node_member(n, "name"))
            reader_mistake(r, n, "a parameter lacks 'name'");
        if (group && !name) reader_check_group(r, n, "a parameter", "parameters[]", NULL);
        if (!name || symbols_find(job->symbols, name) < 0) reader_undefined(r, name);
    }
    const struct node *derived = reader_member(r, root, "derived");
    for (size_t i = 0; derived && i < node_count(derived); i++) {
        const struct node *n = node_at(derived, i);
        struct error err;
        autofree char *text = node_is_integer(n)  ? text_format("%" PRId64, node_integer(n))
                              : node_is_string(n) ? text_copy(node_string(n))
                                                  : NULL;
        bool refused = text && job_add_derived(job, node_name(n), text, &err);
        if (!text)
            reader_mistake(r, n, "derived name '%s' must be an expression", node_name(n));
        else if (refused && uses_later(derived, i, err.message))
            reader_mistake(r, n, "derived name '%s' can use only names that are defined before it: '%s'", node_name(n),
                           text);
        else if (refused)
            reader_mistake(r, n, "%s", err.message);
        if (symbols_find(job->symbols, node_name(n)) < 0) reader_undefined(r, node_name(n));
    }
}

static void load_constraints(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *list = reader_member(r, root, "constraints");
    for (size_t i = 0; list && i < node_count(list); i++) {
        const struct node *n = node_at(list, i);
        struct error err;
        if (!node_is_string(n)) {
            reader_mistake(r, n, "a constraint must be a string");
            continue;
        }
        if (load_compiled_constraint(r, job, n, i)) continue;
        if (space_add_constraint(job->space, node_string(n), &err) < 0) reader_mistake(r, n, "%s", err.message);
    }
}

// A range of sizes, [low, high].
static bool is_range(const struct node *size)
{
    return node_is_sequence(size) && node_count(size) == 2 && node_is_integer(node_at(size, 0)) &&
           node_is_integer(node_at(size, 1)) && node_integer(node_at(size, 0)) > 0 &&
           node_integer(node_at(size, 0)) < node_integer(node_at(size, 1));
}

// Reads a size of a problem. The first problem in the file declares the names. Returns true if the name was not
// declared.
static bool load_size(struct reader *r, struct job *job, const struct node *size, bool first, bool tune)
{
    const char *name = node_name(size), *removed = node_is_integer(size) ? NULL : setting_removed("problems[]", name);
    struct error err;
    size_t k = 0;
    while (k < job->names.size_count && strcmp(job->names.size_names[k], name)) k++;
    if (removed)
        reader_mistake(r, size, "setting '%s' in a problem was removed: %s", name, removed);
    else if (!node_is_integer(size) && !is_range(size))
        reader_mistake(r, size, "size '%s' must be an integer, or a range of positive integers: [low, high]", name);
    else if (!node_is_integer(size) && !tune)
        reader_mistake(r, size, "size '%s' must be an integer: only 'problems' can have ranges", name);
    if (removed) return false;
    const bool other = !first && k == job->names.size_count;
    if (other) {
        reader_mistake(r, size, "the first problem has no size '%s': all problems must have the same sizes", name);
        reader_undefined(r, name);
    } else if (first && space_set_constant(job->space, name, node_is_integer(size) ? node_integer(size) : 1, &err)) {
        reader_mistake(r, size, "%s", err.message);
    } else if (first) {
        job->names.size_names =
            job_room(job, job->names.size_names, job->names.size_count, sizeof *job->names.size_names);
        job->names.size_names[job->names.size_count++] = job_copy(job, name);
    }
    return other;
}

static bool has_problem(const struct job *job, const int64_t *sizes)
{
    for (size_t p = 0; p < job->problem_count; p++)
        if (!memcmp(job->problems[p].sizes, sizes, job->names.size_count * sizeof *sizes)) return true;
    return false;
}

// Adds different problems whose sizes are sampled from ranges, or one problem if no size is a range.
static void add_problems(struct reader *r, struct job *job, const struct node *n, const struct problem *as)
{
    int ranges = 0;
    for (size_t i = 0; i < job->names.size_count; i++) {
        const struct node *size = node_member(n, job->names.size_names[i]);
        ranges += size && is_range(size);
    }
    for (int sample = 0, added = 0; added < (ranges ? JOB_SAMPLES : 1) && sample < 4 * JOB_SAMPLES; sample++) {
        struct problem p = *as;
        int range = 0;
        p.size_count = job->names.size_count;
        p.sizes = job_new(job, p.size_count, sizeof *p.sizes);
        for (size_t i = 0; i < job->names.size_count; i++) {
            const struct node *size = node_member(n, job->names.size_names[i]);
            p.sizes[i] = size && node_is_integer(size) ? node_integer(size) : 1;
            if (size && is_range(size))
                p.sizes[i] = job_sample_size(node_integer(node_at(size, 0)), node_integer(node_at(size, 1)), sample,
                                             range++, ranges);
        }
        bool again = has_problem(job, p.sizes);
        if (ranges && again) continue;
        added++;
        if (ranges && job->search.objective == OBJECTIVE_EACH) p.holdout |= added % JOB_SAMPLES_HELD == 0;
        if (job->problem_count == JOB_MAX_PROBLEMS) {
            reader_mistake(r, n, "more than %d problems%s", JOB_MAX_PROBLEMS, ranges ? ": a range adds several" : "");
            return;
        }
        p.name = job_keep(job, problem_label(job, p.sizes));
        if (again && p.tune) reader_mistake(r, n, "problem %s is there twice", p.name);
        job->problems = job_room(job, job->problems, job->problem_count, sizeof *job->problems);
        job->problems[job->problem_count++] = p;
        job->tuned_count += p.tune;
    }
}

// Reads one problem, or several if a size is a range. Sizes are given by name and stored in the order of the first
// problem.
static void load_problem(struct reader *r, struct job *job, const struct node *n, bool tune)
{
    if (!reader_is_group(r, n, "a problem must be a group { M = 1024; ... }")) return;
    const struct problem p = {.tune = tune,
                              .line = node_line(n),
                              .weight = reader_number(r, n, "problems[].weight"),
                              .holdout = reader_bool(r, n, "problems[].holdout")};
    bool others = false;
    for (size_t i = 0; i < job->names.size_count; i++)
        if (!node_member(n, job->names.size_names[i]))
            reader_mistake(r, n, "this problem lacks size '%s', which the first problem has", job->names.size_names[i]);
    for (size_t i = 0; i < node_count(n); i++)
        if (!job_setting_has("problems[]", NULL, node_name(node_at(n, i))))
            others |= load_size(r, job, node_at(n, i), job->problem_count == 0, tune);
    for (size_t i = 0; i < job->names.size_count && others; i++) reader_explains(r, n, job->names.size_names[i]);
    add_problems(r, job, n, &p);
}

static void load_problems(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *list = reader_member(r, root, "problems");
    job->search.objective = (enum objective)reader_word(r, root, "objective");
    if (!node_member(root, "problems") || (list && !node_count(list)))
        reader_mistake(r, list, "'problems' is missing: add 'problems = ( { M = 1024; ... } );'");
    if (!list || !node_count(list)) reader_undefined(r, NULL);
    for (size_t i = 0; list && i < node_count(list); i++) load_problem(r, job, node_at(list, i), true);
    const struct node *verification = node_member(root, "verification");
    const struct node *ragged = verification ? reader_member(r, verification, "verification.problems") : NULL;
    for (size_t i = 0; ragged && i < node_count(ragged); i++) load_problem(r, job, node_at(ragged, i), false);
}

// Refuses names that differ between configurations.
static void refuse_parameters(struct reader *r, const struct job *job, const struct node *n, const char *setting,
                              const struct expr *e)
{
    size_t count = 0;
    const int *slots = e ? expr_slots(e, &count) : NULL;
    for (size_t k = 0; k < count; k++)
        if (!job_name_is_fixed(job, slots[k]))
            reader_mistake(r, n, "'%s' depends on '%s', which differs between configurations", setting,
                           symbols_name(job->symbols, slots[k]));
}

// Reads the conditions on sizes that the header evaluates as well.
static void load_supported(struct reader *r, struct job *job, const struct node *verification)
{
    const struct node *list = verification ? reader_member(r, verification, "verification.supported") : NULL;
    size_t count = list ? node_count(list) : 0;
    job->sizes.supported = job_new(job, count, sizeof *job->sizes.supported);
    for (size_t i = 0; i < count; i++) {
        struct expr *e = reader_expression(r, node_at(list, i), job);
        if (!e) continue;
        refuse_parameters(r, job, node_at(list, i), "supported", e);
        job->sizes.supported[job->sizes.supported_count++] = e;
    }
}

// Reads the other values for inputs. If the job names no such values, the operation's values are used.
static void load_values(struct reader *r, struct job *job, const struct node *verification)
{
    const struct operation *op = job_operation(job);
    const struct node *list = verification ? reader_member(r, verification, "verification.values") : NULL;
    job->sizes.domain = op && !list ? op->domain : 0;
    for (size_t i = 0; list && i < node_count(list); i++) {
        const char *word = node_is_string(node_at(list, i)) ? node_string(node_at(list, i)) : "";
        int found = word_find(value_domain_text, word);
        if (found >= 0) {
            job->sizes.domain |= 1u << found;
            continue;
        }
        autofree char *words = text_join(value_domain_text, "\", \"");
        reader_mistake(r, node_at(list, i), "'values' must be a list of \"%s\"", words);
    }
}

// Reads the members of a group according to their table in tuner/base/settings.c. `prefix` is the group's path. The
// group may be NULL. Defaults are the table's numbers, because the table's strings may be rounded.
static void load_table(struct reader *r, const struct node *group, const char *prefix, const struct setting *table,
                       void *to)
{
    for (const struct setting *s = table; s->name; s++) {
        autofree char *path = text_format("%s.%s", prefix, s->name);
        double value = s->fallback;
        if (s->location != SETTING_FIXED && node_member(group, s->name)) switch (s->kind) {
            case SETTING_BOOL:
                value = reader_bool(r, group, path);
                break;
            case SETTING_CHOICE:
                value = !reader_word(r, group, path);
                break;
            case SETTING_INTEGER:
                value = (double)reader_integer(r, group, path);
                break;
            case SETTING_NUMBER:
                value = reader_number(r, group, path);
                break;
            case SETTING_DURATION:
                value = reader_duration(r, group, path);
                break;
            }
        setting_set(s, to, value);
    }
    autofree char *what = text_format("'%s'", prefix);
    reader_check_group(r, group, what, prefix, NULL);
}

static void load_strategy(struct reader *r, struct job *job, const struct node *root)
{
    struct error err;
    job->search.strategy = job_copy(job, reader_string(r, root, "strategy"));
    if (!strategy_choose(job->search.strategy, &err))
        reader_mistake(r, node_member(root, "strategy"), "%s", err.message);
}

static bool check_metric(struct reader *r, const struct node *n, const char *name)
{
    struct error err;
    bool good = !metrics_check(name, &err);
    if (!good) reader_mistake(r, n, "%s", err.message);
    return good;
}

static void load_pipe(struct reader *r, struct job *job, const struct node *work)
{
    const char *name = reader_string(r, work, "work.pipe"), *nearest = NULL;
    if (!name) return;
    job->work.pipe = pipe_find(name, &nearest);
    if (!job->work.pipe)
        reader_mistake(r, node_member(work, "pipe"),
                       "unknown execution unit '%s'%s%s%s (sweetspot list units shows all)", name,
                       nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    else if (!job->work.pipe->arithmetic && job->work.pipe != &execution_units[UNIT_READ])
        reader_mistake(
            r, node_member(work, "pipe"),
            "the execution unit '%s' does no arithmetic; use \"memory\" if the work has no arithmetic to count", name);
}

static void load_work(struct reader *r, struct job *job, const struct node *g)
{
    const struct {
        const char *name;
        struct expr **out;
    } amounts[] = {{"flops", &job->work.flops}, {"bytes", &job->work.bytes}, {"operations", &job->work.operations}};
    if (!g) return;
    reader_check_group(r, g, "'work'", "work", NULL);
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        const struct node *n = node_member(g, amounts[i].name);
        *amounts[i].out = reader_expression(r, n, job);
        refuse_parameters(r, job, n, amounts[i].name, *amounts[i].out);
    }
    load_pipe(r, job, g);
    if (job->work.operations && !(job->work.pipe && job->work.pipe->arithmetic))
        reader_mistake(r, node_member(g, "operations"),
                       "'operations' needs a 'pipe': name the execution unit that performs them");
}

static void load_until(struct reader *r, struct job *job, const struct node *budget)
{
    const struct node *n = node_member(budget, "until");
    if (!n || !node_is_string(n))
        job->search.stop.until = reader_number(r, budget, "budget.until");
    else if (!stop_read_until(node_string(n), &job->search.stop) || !job->search.stop.ceiling)
        reader_mistake(r, n, "'until' is \"%s\", but must be a share such as 0.01, or \"95%% of ceiling\"",
                       node_string(n));
    else if (!job->work.flops && !job->work.bytes)
        reader_mistake(r, n, "'until' is a share of the ceiling, which is unknown without 'work'");
}

static void load_final(struct reader *r, struct job *job, const struct node *g)
{
    load_table(r, g, "measure.final", final_table, &job->measure);
    job->search.minimize = (enum minimize)reader_word(r, g, "measure.final.minimize");
    if (job->search.minimize != MINIMIZE_TIME && job->search.objective == OBJECTIVE_EACH)
        reader_mistake(r, node_member(g, "minimize"), "'minimize' must be \"time\" with objective = \"each\"");
}

static void load_settings(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *g;

    job->search.regret = reader_number(r, root, "regret");
    size_t holdout = 0;
    double weights = 0;
    for (size_t p = 0; p < job->tuned_count; p++) {
        holdout += job->problems[p].holdout;
        weights += job->problems[p].weight;
    }
    if (job->tuned_count && weights == 0)
        reader_mistake(r, node_member(root, "problems"), "every problem has weight = 0: one must count");
    if (holdout && job->search.objective != OBJECTIVE_EACH)
        reader_mistake(r, node_member(root, "problems"), "'holdout' needs 'objective' = \"each\"");
    if (holdout && holdout == job->tuned_count)
        reader_mistake(r, node_member(root, "problems"),
                       "every problem has holdout = true: leave at least one to choose kernels for");
    load_work(r, job, reader_member(r, root, "work"));
    g = reader_member(r, root, "budget");
    reader_check_group(r, g, "'budget'", "budget", NULL);
    job->search.budget_time = reader_duration(r, g, "budget.time");
    job->search.budget_evaluations = reader_integer(r, g, "budget.evaluations");
    load_until(r, job, g);
    load_strategy(r, job, root);

    load_table(r, reader_member(r, root, "verification"), "verification", verify_table, &job->verify);
    const struct node *v = reader_member(r, root, "verification");
    load_supported(r, job, v);
    load_values(r, job, v);
    bool bounded = node_member(v, "absolute") || node_member(v, "relative");
    if (job->verify.exact && bounded && (job->verify.absolute > 0 || job->verify.relative > 0))
        reader_mistake(r, node_member(v, "exact"),
                       "'exact' allows no error, but 'absolute' or 'relative' does: remove one of them");
    job->verify.exact |=
        bounded && job->verify.absolute == 0 && job->verify.relative == 0 && !job->others.reference.operation;
    g = reader_member(r, root, "measure");
    load_table(r, g, "measure", measure_table, &job->measure);
    load_final(r, job, g ? reader_member(r, g, "measure.final") : NULL);
    job->measure.rest_given = node_member(g, "rest") != NULL;
    if (job->measure.max_samples < job->measure.min_samples)
        reader_mistake(r, node_member(g, "max_samples"), "'max_samples' is below 'min_samples'");
    load_strings(r, job, root, "metrics", NULL, check_metric, &job->search.metrics, &job->search.metric_count);
    g = reader_member(r, root, "compile");
    reader_check_group(r, g, "'compile'", "compile", NULL);
    job->code.compile_timeout = reader_duration(r, g, "compile.timeout");
    job->code.compile_memory = reader_integer(r, g, "compile.memory") << 20;
}

// The job's name becomes part of file names and C identifiers.
static bool is_job_name(const char *name)
{
    size_t good = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    return *name && *name != '-' && !name[good] && good <= JOB_MAX_NAME;
}

static void load_name(struct reader *r, struct job *job, const struct node *root)
{
    const char *name = reader_string(r, root, "name");
    if (name) {
        job->name = job_copy(job, name);
        if (!is_job_name(name))
            reader_mistake(r, node_member(root, "name"),
                           "name \"%s\" must be 1 to %d letters, digits, '_' or '-', and not begin with '-'", name,
                           JOB_MAX_NAME);
    } else {
        job->name = job_copy(job, text_file_name(job->path));
        char *dot = strrchr(job->name, '.');
        if (dot && dot > job->name) *dot = 0;
        if (!is_job_name(job->name))
            reader_mistake(r, NULL,
                           "there is no 'name', and the file's name, \"%s\", cannot be used instead: a name has only "
                           "letters, digits, '_' and '-', at most %d of them, and does not begin with '-'",
                           job->name, JOB_MAX_NAME);
    }
    job->file.description = job_copy(job, reader_string(r, root, "description"));
}

int job_load(const char *path, struct job **out, struct mistakes *mistakes)
{
    *out = NULL;
    struct reader *r = reader_open(path, mistakes);
    if (!r) return -1;
    struct job *job = memory_new(1, sizeof *job);
    struct error err;
    job->path = job_copy(job, path);
    autofree char *folder = text_directory(path);
    job->file.directory = job_keep(job, text_join_path(".", folder));
    job->symbols = symbols_new();
    job->space = space_new(job->symbols);
    const struct node *root = reader_root(r);
    size_t before = mistakes->count;
    reader_check_group(r, root, "the job file", "", NULL);
    if (mistakes->count > before) reader_undefined(r, NULL);
    load_name(r, job, root);
    if (job_set_limits(job, &device_limits_h200, &err)) reader_mistake(r, NULL, "%s", err.message);
    load_kernel(r, job, root);
    load_problems(r, job, root);
    load_parameters(r, job, root);
    load_buffers(r, job, root);
    load_constants(r, job, root);
    load_launches(r, job, root); // defines `shared_bytes`, for constraints
    load_constraints(r, job, root);
    if (job->stage_count) load_reference(r, job, root);
    load_settings(r, job, root);
    load_fallback(r, job, root);
    load_baselines(r, job, root);
    check_header_names(r, job, root);
    reader_places(r, job);
    job->file.old = reader_old_spellings(r);
    mistakes_sort(mistakes);
    reader_drop_consequences(r);
    reader_close(r);
    if (mistakes->count) {
        job_free(job);
        return -1;
    }
    *out = job;
    return 0;
}

char *job_rewrite(const char *path, struct error *err)
{
    autorelease(mistakes_release) struct mistakes notes = {0};
    autofree char *text = input_file_read(path, INPUT_FILE_TEXT_MOST, NULL, err);
    return text ? old_spellings_rewrite(text, false, &notes) : NULL;
}

// Constraints may read the device's limits, and configurations that the job names must satisfy the constraints.
int job_build_space(struct job *job, const struct device_limits *limits, struct error *err)
{
    int bad = -1;
    if (job_set_limits(job, limits, err)) return error_prefix(err, "%s", job->path);
    if (space_build(job->space, &bad, err)) {
        bool derived = strstr(err->message, "derived name '") != NULL;
        if (bad < 0) return job_locate_error(job, derived ? "derived" : "constraints", err);
        for (size_t i = 0; i < job->names.compiled_count; i++) bad += (int)job->names.compiled[i].number <= bad;
        autofree char *setting = text_format("constraints[%d]", bad);
        return job_locate_error(job, setting, err);
    }
    if (job_check_supported(job, err)) return -1;
    if (job->others.fallback.kind &&
        (job_check_configuration(job, &job->others.fallback, err) || job_check_fallback(job, err)))
        return -1;
    return job_current(job) ? job_check_configuration(job, job_current(job), err) : 0;
}
