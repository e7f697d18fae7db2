// See header_section.h.
#include "tuner/header/header_section.h"

#include "kernels/operation.h"
#include "tuner/header/header_contract.h"

// A tensor map's numbers as C expressions, in CUDA's order (the contiguous dimension first).
static json_t *map_section(struct const_eval *f, const struct argument *a, size_t number)
{
    const struct tensor_map *map = a->map;
    const struct buffer *b = &f->job->buffers[a->buffer];
    json_t *sizes = json_array(), *strides = json_array(), *box = json_array();
    autorelease(text_release) struct text dense = {0};
    text_add(&dense, "1");
    for (size_t i = 0; i < map->rank; i++) {
        autojson json_t *stride = i ? const_eval_text(f, tensor_map_stride(b, map, i), dense.text) : NULL;
        if (i)
            json_array_append_new(strides,
                                  json_sprintf("%zu * (%s)", element_size(b->type), json_string_value(stride)));
        json_array_append_new(sizes, const_eval_text(f, tensor_map_size(b, map, i), "1"));
        json_array_append_new(box, const_eval_text(f, map->box[map->rank - 1 - i], "1"));
        text_add(&dense, " * (%s)", json_string_value(json_array_get(sizes, i)));
    }
    return json_pack("{s:s, s:s, s:i, s:b, s:o, s:o, s:o, s:o, s:s, s:o}", "buffer", b->name, "type",
                     map->tf32 ? "tf32" : element_name(b->type), "argument", (int)number, "nan", (int)map->nan, "sizes",
                     sizes, "strides", strides, "box", box, "swizzle", const_eval_text(f, map->swizzle, "0"),
                     "interleave", "0", "promotion", const_eval_text(f, map->promotion, "0"));
}

// Sets a stage's loops, outermost first, and the buffers that exchange their names after every run.
static void set_repeat(json_t *object, struct const_eval *f, const struct stage_repeat *repeat)
{
    json_t *loops = json_array(), *swaps = json_array();
    for (size_t i = 0; i < repeat->loop_count; i++) {
        const struct stage_loop *l = &repeat->loops[i];
        json_array_append_new(loops,
                              json_pack("{s:s, s:o, s:o, s:o}", "name", symbols_name(f->job->symbols, l->slot), "from",
                                        const_eval_text(f, l->from, "0"), "while", const_eval_text(f, l->holds, "0"),
                                        "next", const_eval_text(f, l->next, "0")));
    }
    for (size_t i = 0; i < repeat->swap_count; i++)
        json_array_append_new(swaps, json_pack("[s, s]", f->job->buffers[repeat->swaps[i][0]].name,
                                               f->job->buffers[repeat->swaps[i][1]].name));
    const_eval_set_list(object, "repeat", loops);
    const_eval_set_list(object, "swap", swaps);
}

static void add_define(void *defines, const char *name, const char *value)
{
    json_array_append_new(defines, json_pack("{s:s, s:s}", "name", name, "value", value));
}

// A stage's counters on the first tuned problem: "icache_misses 108, occupancy 50". malloc'ed; NULL if there are none.
static char *counters_text(const struct trial *trial, int stage)
{
    struct text text = {0};
    for (size_t i = 0; i < trial->counter_count; i++) {
        const struct trial_counter *c = &trial->counters[i];
        if (c->problem == 0 && c->stage == stage && !isnan(c->value))
            text_add(&text, "%s%s %.6g", text.text ? ", " : "", c->key, c->value);
    }
    return text.text;
}

static json_t *stage_section(struct const_eval *f, const struct stage *stage, const struct trial *trial)
{
    json_t *object =
        json_pack("{s:s, s:s, s:b}", "name", stage->name, "entry", stage->entry, "cooperative", stage->cooperative);
    json_t *defines = json_array(), *maps = json_array();
    for (size_t i = 0; i < stage->define_count; i++)
        add_define(defines, stage->defines[i].name, stage->defines[i].value);
    const_eval_set_list(object, "defines", defines);
    if (stage->unit) json_object_set_new(object, "unit", json_integer((json_int_t)stage->unit));
    if (stage->untimed) json_object_set_new(object, "untimed", json_true());
    if (stage->operation)
        json_object_set_new(object, "library", json_pack("{s:s, s:s}", "operation", stage->operation, "by", stage->by));
    for (size_t i = 0; i < stage->argument_count; i++)
        if (stage->arguments[i].map) json_array_append_new(maps, map_section(f, &stage->arguments[i], i));
    json_object_set_new(object, "grid", const_eval_list(f, stage->grid, 3));
    json_object_set_new(object, "block", const_eval_list(f, stage->block, 3));
    json_object_set_new(object, "cluster", const_eval_list(f, stage->cluster, 3));
    json_object_set_new(object, "arguments", contract_arguments(f, stage));
    const_eval_set_list(object, "tensor_maps", maps);
    json_object_set_new(object, "shared", const_eval_text(f, stage->shared, "0"));
    json_object_set_new(object, "when", const_eval_text(f, stage->when, "1"));
    json_object_set_new(object, "overlap", const_eval_text(f, stage->overlap, "0"));
    set_repeat(object, f, &stage->repeat);
    for (size_t i = 0; i < trial->stage_count; i++) {
        const struct trial_stage *figures = &trial->stages[i];
        if (strcmp(figures->name, stage->name) != 0) continue;
        bool known = figures->spill_loads >= 0 && figures->spill_stores >= 0;
        json_object_set_new(object, "registers", json_integer(figures->registers));
        json_object_set_new(object, "spills", json_integer(known ? figures->spill_loads + figures->spill_stores : -1));
        json_object_set_new(object, "shared_static", json_integer(figures->shared_static));
        json_object_set_new(object, "code_bytes", json_integer(figures->code_bytes));
        json_object_set_new(object, "occupancy", json_real(figures->occupancy));
        autofree char *counters = counters_text(trial, (int)i);
        if (counters) json_object_set_new(object, "counters", json_string(counters));
        break;
    }
    return object;
}

static json_t *parameter_section(const struct job *job, size_t i, int64_t value)
{
    const struct parameter *parameter = space_parameter(job->space, i);
    bool text = parameter->kind == PARAMETER_STRING || parameter->kind == PARAMETER_REAL;
    return json_pack("{s:s, s:s, s:o}", "name", parameter->name, "kind",
                     job->code.parameter_options[i]        ? "option"
                     : text                                ? "text"
                     : parameter->kind == PARAMETER_UNROLL ? "unroll"
                                                           : "integer",
                     "value", text ? json_string(symbols_text(job->symbols, value)) : json_integer(value));
}

// The trial's own figures for the tuned problem with this name, or NULL.
static const struct trial_problem *find_problem(const struct trial *trial, const char *name)
{
    for (size_t i = 0; i < trial->problem_count; i++)
        if (!strcmp(trial->problems[i].name, name)) return &trial->problems[i];
    return NULL;
}

// The energy in words; NULL if it was not measured.
static json_t *energy_text(const struct final_entry *entry, size_t problem)
{
    const struct energy_figures *energy = entry ? entry->problems[problem].energy : NULL;
    return energy && energy->joules.value > 0 ? json_string(show_energy(energy, TEXT_ROOM)) : NULL;
}

// The largest regret, which is the slowdown of the chosen kernel relative to the fastest known one: "tuned" on the
// problems for which kernels were chosen, "held_back" on the problems that were held back. "held" is the number of
// problems that were held back.
static json_t *largest_regret(const struct job *job, const struct final *final)
{
    double worst[2] = {0};
    int held = 0;
    for (size_t p = 0; p < job->tuned_count; p++) {
        bool back = job->problems[p].holdout;
        held += back;
        worst[back] = fmax(worst[back], final->regret[p]);
    }
    return json_pack("{s:f, s:f, s:i}", "tuned", worst[0], "held_back", worst[1], "held", held);
}

static int add_problems(json_t *section, const struct job *job, const struct trial *trial, const struct final *final,
                        size_t kernel, struct error *err)
{
    json_t *problems = json_array(), *verified = json_array(), *all = NULL;
    const struct final_entry *decided = NULL;
    bool several = final && final->kernel_count;
    for (size_t i = 0; final && i < final->entry_count; i++)
        if (final->entries[i].trial == trial->id) decided = &final->entries[i];
    if (final && !decided) return error_set(err, "trial %lld was not in the final", (long long)trial->id);
    json_object_set_new(section, "problems", problems);
    json_object_set_new(section, "verified", verified);
    if (several) json_object_set_new(section, "times", all = json_array());
    if (final && final->kernel_count && final->regret)
        json_object_set_new(section, "regret", largest_regret(job, final));
    double times[JOB_MAX_PROBLEMS], worst = decided ? decided->error : (double)NAN;
    for (size_t p = 0; p < job->tuned_count; p++) {
        const struct trial_problem *measured = find_problem(trial, job->problems[p].name);
        if (!measured || !measured->tuned)
            return error_set(err,
                             "trial %lld has no time for the problem %s: the job file has changed since; tune again",
                             (long long)trial->id, job->problems[p].name);
        struct interval time =
            decided ? decided->problems[p].time : (struct interval){measured->time, measured->low, measured->high};
        times[p] = time.value;
        if (several && job->problems[p].holdout) continue;
        json_t *sizes = json_array();
        for (size_t i = 0; i < job->names.size_count; i++)
            json_array_append_new(sizes, json_integer(job->problems[p].sizes[i]));
        if (all && isfinite(time.value))
            json_array_append_new(all, json_pack("{s:O, s:f}", "sizes", sizes, "time", time.value));
        if (several && final->dispatch[p] != (int64_t)kernel)
            json_decref(sizes);
        else
            json_array_append_new(problems, json_pack("{s:s, s:o, s:o, s:o*}", "name", measured->name, "sizes", sizes,
                                                      "time", json_interval(&time), "energy", energy_text(decided, p)));
    }
    for (size_t i = 0; i < trial->problem_count; i++) {
        if (isnan(trial->problems[i].error)) continue;
        json_array_append_new(verified, json_string(trial->problems[i].name));
        worst = fmax(worst, trial->problems[i].error);
    }
    json_object_set_new(section, "error", json_real(worst));
    json_object_set_new(section, "launches_judged",
                        json_integer(trial->launches_judged + (decided ? decided->launches_judged : 0)));
    json_object_set_new(section, "sizes_verified", json_integer(decided ? decided->sizes_verified : 0));
    json_t *values = json_array();
    for (int i = 0; value_domain_text[i]; i++)
        if (job->sizes.domain >> i & 1) json_array_append_new(values, json_string(value_domain_text[i]));
    json_object_set_new(section, "values", values);
    if (!several) json_object_set_new(section, "seconds", json_real(job_objective(job, times)));
    if (several) json_object_set_new(section, "kernel", json_integer((json_int_t)kernel));
    if (several) json_object_set_new(section, "kernels", json_integer((json_int_t) final->kernel_count));
    return 0;
}

// Sets a problem's work as C code that uses its sizes, as tuner/setup/wave_model.c defines it.
static void set_work(json_t *section, const struct job *job, struct const_eval *f)
{
    autorelease(text_release) struct text product = {0};
    text_add(&product, "1");
    const char *convert = f->prefix ? "(double)" : "";
    for (size_t i = 0; i < job->names.size_count; i++)
        text_add(&product, " * %ssize_%s", convert, job->names.size_names[i]);
    json_object_set_new(section, "work",
                        const_eval_text(f, job->work.flops ? job->work.flops : job->work.bytes, product.text));
}

static void add_final(json_t *section, const struct final *final, json_t *ties)
{
    json_t *ratios = json_array();
    for (size_t i = 0; final && i < final->entry_count; i++) {
        const struct final_entry *entry = &final->entries[i];
        if (entry->trial || !isfinite(entry->ratio.value)) continue;
        struct final_error_ratios worst = {NAN, NAN};
        for (size_t p = 0; p < final->problem_count; p++) {
            struct final_error_ratios errors = final_error_ratios(final, entry, p);
            worst.max = fmax(worst.max, errors.max);
            worst.rms = fmax(worst.rms, errors.rms);
        }
        json_array_append_new(ratios, json_pack("{s:s, s:o, s:o, s:o}", "name", entry->name, "ratio",
                                                json_interval(&entry->ratio), "error_max", json_real(worst.max),
                                                "error_rms", json_real(worst.rms)));
    }
    json_object_set_new(section, "final", json_boolean(final != NULL));
    json_object_set_new(section, "rounds", json_integer(final ? final->rounds : 0));
    json_object_set_new(section, "replayed", json_boolean(final && final->replayed));
    json_object_set_new(section, "ratios", ratios);
    json_object_set_new(section, "ties", ties ? json_incref(ties) : json_array());
}

static int add_launches(json_t *section, const struct job *job, const struct trial *trial, bool python,
                        struct error *err)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    autorelease(const_eval_release) struct const_eval f = {0};
    json_t *parameters = json_array(), *defines = json_array(), *stages = json_array(), *sizes = json_array();
    json_object_set_new(section, "sizes", sizes);
    json_object_set_new(section, "parameters", parameters);
    json_object_set_new(section, "defines", defines);
    json_object_set_new(section, "stages", stages);
    if (space_parse(job->space, trial->config, config, err))
        return error_prefix(err, "trial %lld is not in this search space: the job file has changed since; tune again",
                            (long long)trial->id);
    int result = const_eval_init(&f, job, config, python, err);
    for (size_t i = 0; i < job->names.size_count; i++)
        json_array_append_new(sizes, json_string(job->names.size_names[i]));
    for (size_t i = 0; i < space_parameter_count(job->space); i++)
        json_array_append_new(parameters, parameter_section(job, i, space_parameter(job->space, i)->values[config[i]]));
    job_shared_defines(job, add_define, defines);
    if (!result && json_object_get(section, "times")) set_work(section, job, &f);
    if (!result) result = contract_add(section, &f, trial, json_get_string(section, "arch", ""));
    for (size_t i = 0; i < job->stage_count && !result && !f.failed; i++) {
        json_array_append_new(stages, stage_section(&f, &job->stages[i], trial));
        if (f.failed) error_prefix(err, "stage '%s'", job->stages[i].name);
    }
    return result || f.failed ? -1 : 0;
}

json_t *header_section(const struct job *job, const struct environment *environment, const struct trial *trial,
                       const struct final *final, size_t kernel, json_t *ties, bool python, struct error *err)
{
    autojson json_t *section =
        json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s}", "version", HEADER_SECTION_VERSION, "job",
                  job->name, "template", text_file_name(job->code.source), "source_hash", environment->source_hash,
                  "device", environment->device, "arch", environment->arch, "driver", environment->driver, "compiler",
                  environment->compiler, "when", (json_int_t)(final ? final->when : trial->finished), "trial",
                  (json_int_t)trial->id, "configuration", trial->config);
    add_final(section, final, ties);
    const struct final_selector *selector = final ? final_selector(final, kernel) : NULL;
    if (selector) {
        json_object_set_new(section, "stage", json_string(selector->stage));
        json_object_set_new(section, "at_once", json_integer(selector->at_once));
    }
    bool failed =
        add_problems(section, job, trial, final, kernel, err) || add_launches(section, job, trial, python, err);
    return failed ? NULL : json_incref(section);
}

// The static shared memory, as the compiler reports it.
static int64_t static_bytes(const struct trial *trial, const char *stage)
{
    for (size_t i = 0; i < trial->stage_count; i++)
        if (!strcmp(trial->stages[i].name, stage) && trial->stages[i].shared_static > 0)
            return trial->stages[i].shared_static;
    return 0;
}

// Checks that the fallback was verified on every problem and that its shared memory, including static memory, is small
// enough.
static int check_fallback(const struct job *job, const struct trial *trial, struct error *err)
{
    if (!trial) return error_set(err, "it has not been measured yet; sweetspot tune measures it");
    if (trial->status != STATUS_OK)
        return error_set(err, "it failed: %s%s%s", status_name(trial->status), *trial->reason ? ": " : "",
                         trial->reason);
    if (trial->problem_count < job->problem_count) return error_set(err, "it was measured on other problems");
    for (size_t p = 0; p < job->problem_count && job->verify.enabled; p++)
        if (isnan(trial->problems[p].error)) return error_set(err, "it was not verified on %s", job->problems[p].name);
    for (size_t s = 0; s < job->stage_count; s++) {
        int64_t bytes;
        size_t problem;
        if (job_fallback_shared(job, s, &bytes, &problem, err)) return -1;
        bytes += static_bytes(trial, job->stages[s].name);
        if (bytes > JOB_FALLBACK_SHARED)
            return error_set(err, "stage '%s' takes %" PRId64 " bytes of shared memory, more than %d",
                             job->stages[s].name, bytes, JOB_FALLBACK_SHARED);
    }
    return 0;
}

// Adds the times that the selector uses to choose among several kernels.
static void add_times(json_t *section)
{
    json_t *times = json_array();
    json_array_each(json_object_get(section, "problems"), i, problem) {
        struct interval time = json_get_interval(problem, "time");
        if (isfinite(time.value))
            json_array_append_new(
                times, json_pack("{s:O, s:f}", "sizes", json_object_get(problem, "sizes"), "time", time.value));
    }
    json_object_set_new(section, "times", times);
}

json_t *header_section_of_fallback(const struct job *job, const struct environment *environment,
                                   const struct trial *trial, struct error *err)
{
    if (check_fallback(job, trial, err)) return NULL;
    json_t *section = header_section(job, environment, trial, NULL, 0, NULL, false, err);
    if (!section) return NULL;
    json_object_set_new(section, "verified_on", json_string(environment->device));
    json_object_set_new(section, "device", json_string("FALLBACK"));
    json_object_set_new(section, "arch", json_string(""));
    json_object_set_new(section, "fallback", json_true());
    if (job->search.objective == OBJECTIVE_EACH) add_times(section);
    return section;
}

void header_section_ship(json_t *section, int64_t rounds, const char *compiler, bool same)
{
    autofree char *build =
        text_format("compiled here by %s: %s %s generates from the measured sources", compiler,
                    same ? "the same code as" : "OTHER code than", json_get_string(section, "compiler", "?"));
    json_object_set_new(section, "shipped", json_string(build));
    json_object_set_new(section, "final", json_true());
    json_object_set_new(section, "rounds", json_integer(rounds));
    json_object_set_new(section, "verified", json_array());
    json_object_set_new(section, "error", json_null());
}

void header_section_lacks(json_t *section, const char *config, const char *why)
{
    autofree char *text = text_format("%s: %s", config, why);
    json_object_set_new(section, "no_fallback", json_string(text));
    fprintf(stderr, "sweetspot: the header has no fallback for other devices: %s\n", text);
}

size_t header_index(const json_t *list, const char *name)
{
    size_t i = 0;
    while (i < json_array_size(list) && strcmp(json_get_string(json_array_get(list, i), "name", ""), name) != 0) i++;
    return i;
}

const json_t *header_find(const json_t *list, const char *name)
{
    return json_array_get(list, header_index(list, name));
}

const json_t *header_find_stage(const json_t *section, const char *name)
{
    return header_find(json_object_get(section, "stages"), name);
}

int header_compute(const json_t *section)
{
    return text_architecture(json_get_string(section, "arch", ""));
}

json_t *header_loops(const json_t *sections, const char *name)
{
    json_t *names = NULL;
    json_array_each(sections, i, section)
        json_array_each(json_object_get(header_find_stage(section, name), "repeat"), k, loop) {
            if (!names) names = json_object();
            json_object_set_new(names, json_get_string(loop, "name", "?"), json_true());
        }
    return names;
}

size_t header_stage_count(const json_t *section)
{
    return json_array_size(json_object_get(section, "stages"));
}

bool header_several_kernels(const json_t *sections)
{
    json_array_each(sections, i, section)
        if (json_get_integer(section, "kernels", 0)) return true;
    return false;
}

size_t header_first_of_device(const json_t *sections, size_t section)
{
    size_t kernel = (size_t)json_get_integer(json_array_get(sections, section), "kernel", 0);
    return kernel < section ? section - kernel : 0;
}

bool header_is_fallback(const json_t *section)
{
    return json_get_bool(section, "fallback", false);
}

int header_fallback_of(const json_t *sections)
{
    size_t last = json_array_size(sections);
    return last && header_is_fallback(json_array_get(sections, last - 1)) ? (int)last - 1 : -1;
}

size_t header_devices(const json_t *sections)
{
    size_t count = 0;
    json_array_each(sections, i, section)
        count += !json_get_integer(section, "kernel", 0) && !header_is_fallback(section);
    return count;
}

bool header_embeds(const json_t *sections)
{
    json_array_each(sections, i, section)
        if (json_object_get(section, "binary")) return true;
    return false;
}
