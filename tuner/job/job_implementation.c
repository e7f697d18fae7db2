// Reads implementations: the reference, the current kernel, baselines and the fallback. A table lists for each of these
// places the kinds that are allowed, and the member of the group that determines the kind. Each kind has one reader.
// The members of all places are rows "IMPLEMENTATION.x" in the table of settings. Their forms name a kind, or a place
// and a kind.
#include <ctype.h>
#include <unistd.h>

#include "kernels/operation.h"
#include "tuner/job/job_parts.h"

#define MEMBER(name) "IMPLEMENTATION." name

struct allowed_kind {
    const char *member; // it determines the kind; the first given member counts
    enum implementation_kind kind;
};

static const struct allowed_kind reference_forms[] = {
    {"operation", IMPLEMENTATION_OPERATION}, {"kernel", IMPLEMENTATION_KERNEL}, {"library", IMPLEMENTATION_LIBRARY},
    {"command", IMPLEMENTATION_COMMAND},     {"files", IMPLEMENTATION_FILES},   {NULL, IMPLEMENTATION_NONE}};
static const struct allowed_kind current_forms[] = {{"binary", IMPLEMENTATION_BINARY},
                                                    {"kernel", IMPLEMENTATION_KERNEL},
                                                    {"template", IMPLEMENTATION_KERNEL},
                                                    {NULL, IMPLEMENTATION_CONFIGURATION}};
static const struct allowed_kind baseline_forms[] = {{"binary", IMPLEMENTATION_BINARY},
                                                     {"kernel", IMPLEMENTATION_KERNEL},
                                                     {"template", IMPLEMENTATION_KERNEL},
                                                     {NULL, IMPLEMENTATION_LIBRARY}};
static const struct allowed_kind fallback_forms[] = {{NULL, IMPLEMENTATION_CONFIGURATION}};

static const struct use {
    const char *setting, *what;       // `what` in messages
    const struct allowed_kind *forms; // the last form has no member; it applies if no other form's member is given
    bool compared;                    // a baseline; its expressions read no parameters
} reference = {"reference", "'reference'", reference_forms, false},
  current = {"current", "'current'", current_forms, true}, baseline = {"baselines", "a baseline", baseline_forms, true},
  fallback = {"fallback", "'fallback'", fallback_forms, false};

// The arguments of the functions that read one kind of implementation.
struct implementation_reading {
    struct reader *r;
    struct job *job;
    const struct node *group;
    const struct use *use;
    struct implementation *to;
};

// The absolute path of the file that a member of the group names; NULL if the member is not given.
static char *read_path(const struct implementation_reading *g, const char *member, const char *what)
{
    const char *name = strrchr(member, '.') + 1, *given = reader_string(g->r, g->group, member);
    char *path = given ? job_keep(g->job, text_join_path(g->job->file.directory, given)) : NULL;
    if (path && access(path, R_OK))
        reader_mistake(g->r, node_member(g->group, name), "cannot read %s'%s'", what, given);
    return path;
}

static void lacks(const struct implementation_reading *g, const char *member, const char *more)
{
    if (!node_member(g->group, member)) reader_mistake(g->r, g->group, "%s lacks '%s'%s", g->use->what, member, more);
}

// Checks an expression of a kernel that has no parameters.
static void check_expression(void *user, struct expr *e)
{
    const struct implementation_reading *g = user;
    size_t count = 0;
    const int *slots = expr_slots(e, &count);
    for (size_t i = 0; i < count; i++)
        if (!job_name_is_fixed(g->job, slots[i]))
            reader_mistake(g->r, g->group,
                           "'%s' depends on '%s', but another kernel cannot use the job's parameters: \"%s\"",
                           g->to->name, symbols_name(g->job->symbols, slots[i]), expr_text(e));
}

// Reads the arguments; the default is the arguments of the job's only stage. An implementation that is compared with
// candidates must compute the job's outputs and no other buffers.
static void read_arguments(struct implementation_reading *g)
{
    struct implementation *to = g->to;
    bool library = to->kind == IMPLEMENTATION_LIBRARY, own = node_member(g->group, "arguments");
    size_t known = g->job->buffer_count;
    if (own)
        load_arguments(g->r, g->job, g->group, &to->stage);
    else if (g->job->stage_count != 1)
        reader_mistake(g->r, g->group, "%s needs 'arguments', because the job has several stages", g->use->what);
    struct stage stage = job_stage_of(g->job, to);
    if (own || library) check_views(g->r, g->job, g->group, &stage, 1, !library);
    if (!g->use->compared) return;
    stage_each_expression(&stage, check_expression, g);
    for (size_t i = known; i < g->job->buffer_count; i++)
        if (direction_writes(g->job->buffers[i].direction))
            reader_mistake(g->r, g->group, "'%s' declares the output '%s', which the job does not have", to->name,
                           g->job->buffers[i].name);
}

static void read_kernel(struct implementation_reading *g)
{
    struct implementation *to = g->to;
    const char *entry = reader_string(g->r, g->group, MEMBER("kernel"));
    lacks(g, "kernel", ", the kernel's name");
    to->path = read_path(g, to->kind == IMPLEMENTATION_BINARY ? MEMBER("binary") : MEMBER("template"), "");
    if (!to->path) to->path = job_copy(g->job, g->job->code.source ? g->job->code.source : "");
    to->stage.entry = job_copy(g->job, entry ? entry : "");
    to->stage.name = job_copy(g->job, to->stage.entry);
    load_launch(g->r, g->job, g->group, &to->stage);
    if (g->use->compared && to->stage.overlap)
        reader_mistake(g->r, g->group, "the launch of '%s' cannot overlap: no launch comes before it", to->name);
    read_arguments(g);
}

static bool check_library_option(struct reader *r, const struct node *n, const char *option)
{
    if (*option != '-') reader_mistake(r, n, "an option must be a string that begins with '-'");
    return *option == '-';
}

// A library function has no module variables and can only write buffers that it gets as arguments, so it must get every
// output.
static void check_outputs_given(const struct implementation_reading *g)
{
    struct stage stage = job_stage_of(g->job, g->to);
    for (size_t i = 0; i < g->job->buffer_count && stage.argument_count; i++) {
        const struct buffer *b = &g->job->buffers[i];
        size_t k = 0;
        if (!direction_writes(b->direction)) continue;
        while (k < stage.argument_count && stage.arguments[k].buffer != (int)i) k++;
        if (k == stage.argument_count)
            reader_mistake(g->r, g->group,
                           "baseline '%s' is not given the output '%s': add { buffer = \"%s\"; } to its 'arguments'",
                           g->to->name, b->name, b->name);
    }
}

static void read_library(struct implementation_reading *g)
{
    struct implementation *to = g->to;
    if (g->use->compared) {
        lacks(g, "library", "");
        lacks(g, "function", "");
    }
    to->path = read_path(g, MEMBER("library"), "library ");
    if (!to->path) to->path = job_copy(g->job, "");
    for (size_t i = 0; i < IMPLEMENTATION_FUNCTIONS; i++) {
        autofree char *member = text_format(MEMBER("%s"), implementation_functions[i]);
        to->functions[i] = job_copy(g->job, reader_string(g->r, g->group, member));
    }
    to->timeout = reader_duration(g->r, g->group, MEMBER("timeout"));
    load_strings(g->r, g->job, g->group, MEMBER("options"), NULL, check_library_option, &to->options,
                 &to->option_count);
    to->stage.entry = job_copy(g->job, to->functions[FUNCTION_RESULT] ? to->functions[FUNCTION_RESULT] : "");
    to->stage.name = job_copy(g->job, to->name);
    if (g->use->compared) {
        read_arguments(g);
        check_outputs_given(g);
    } else if (!to->functions[FUNCTION_RESULT] && !to->functions[FUNCTION_VERIFY]) {
        reader_mistake(g->r, g->group, "'reference' needs the library's 'function', or 'verify' instead");
    }
}

static void read_command(struct implementation_reading *g)
{
    const char *command = reader_string(g->r, g->group, MEMBER("command"));
    g->to->command = job_copy(g->job, command ? command : "");
    g->to->timeout = reader_duration(g->r, g->group, MEMBER("timeout"));
    if (command && !command[strspn(command, " \t\n")])
        reader_mistake(g->r, node_member(g->group, "command"), "'command' is empty");
}

static void read_files(struct implementation_reading *g)
{
    const struct node *files = reader_member(g->r, g->group, MEMBER("files"));
    struct implementation *to = g->to;
    for (size_t i = 0; files && i < node_count(files); i++) {
        const struct node *file = node_at(files, i);
        if (!node_is_string(file) || job_find_buffer(g->job, node_name(file)) < 0) {
            reader_mistake(
                g->r, file,
                "'files' must give a .npy file for an output buffer, e.g. { C = \"c.npy\"; }; there is no buffer '%s'",
                node_name(file));
            continue;
        }
        char *path = job_keep(g->job, text_join_path(g->job->file.directory, node_string(file)));
        check_npy(g->r, file, path);
        to->bindings = job_room(g->job, to->bindings, to->binding_count, sizeof *to->bindings);
        to->bindings[to->binding_count++] = (struct binding){.role = job_copy(g->job, node_name(file)), .name = path};
    }
}

static void read_operation(struct implementation_reading *g)
{
    load_operation(g->r, g->job, g->group, g->to);
}

static void read_configuration(struct implementation_reading *g)
{
    load_configuration(g->r, g->job, g->group, g->use->what, g->to->config);
}

static const struct {
    void (*read)(struct implementation_reading *);
    bool open; // it has members whose names come from the job
} kinds[] = {
    [IMPLEMENTATION_CONFIGURATION] = {read_configuration, true},
    [IMPLEMENTATION_KERNEL] = {read_kernel, false},
    [IMPLEMENTATION_BINARY] = {read_kernel, false},
    [IMPLEMENTATION_OPERATION] = {read_operation, true},
    [IMPLEMENTATION_LIBRARY] = {read_library, false},
    [IMPLEMENTATION_COMMAND] = {read_command, false},
    [IMPLEMENTATION_FILES] = {read_files, false},
};

// Returns whether the member that would determine the kind is misspelt, and reports such a member.
static bool is_misspelt(struct reader *r, const struct job *job, const struct node *group, const struct use *use)
{
    const char *words[sizeof reference_forms / sizeof *reference_forms] = {NULL};
    bool other = node_member(group, "library");
    for (size_t i = 0; use->forms[i].member; i++) words[i] = use->forms[i].member;
    for (size_t i = 0; i < space_parameter_count(job->space) && use != &reference; i++)
        other |= node_member(group, space_parameter(job->space, i)->name) != NULL;
    return !other && reader_suggest(r, group, use->what, words);
}

// Reads an implementation into `to`, whose name and setting are already set.
static void read_implementation(struct reader *r, struct job *job, const struct node *group, const struct use *use,
                                struct implementation *to)
{
    const struct allowed_kind *form = use->forms;
    int given = 0;
    for (const struct allowed_kind *f = use->forms; f->member; f++) given += node_member(group, f->member) != NULL;
    while (form->member && !node_member(group, form->member)) form++;
    if (!given && is_misspelt(r, job, group, use)) return;
    if (use == &reference && given != 1) {
        reader_mistake(r, group,
                       "'reference' needs exactly one of 'operation', 'kernel', 'library', 'command' and 'files'");
        return;
    }
    to->kind = form->kind;
    autofree char *name = text_format("%s.%s", use->setting, implementation_words[to->kind]);
    if (!kinds[to->kind].open) reader_check_group(r, group, use->what, "IMPLEMENTATION", name);
    kinds[to->kind].read(&(struct implementation_reading){r, job, group, use, to});
}

// Whether another entry of a final already has the name or may get it. The header turns these names into macros.
static bool is_taken(const struct job *job, const char *name)
{
    const struct operation *op = job_operation(job);
    static const char *const words[] = {CURRENT_KERNEL, "best", "runner-up", "tuned", NULL};
    bool taken = op && operation_baseline(op, name);
    for (int i = 0; words[i]; i++) taken |= !strcmp(name, words[i]);
    for (size_t i = 0; i < job->others.baseline_count; i++) taken |= !strcasecmp(name, job->others.baselines[i].name);
    return taken;
}

// Whether the name can be part of a macro in the header.
static bool is_name(const char *name)
{
    bool good = isalpha((unsigned char)*name);
    for (const char *c = name; *c; c++) good &= isalnum((unsigned char)*c) || *c == '_';
    return good && strlen(name) <= JOB_MAX_NAME;
}

static struct implementation *add_baseline(struct job *job, char *setting, const char *name)
{
    job->others.baselines =
        job_room(job, job->others.baselines, job->others.baseline_count, sizeof *job->others.baselines);
    struct implementation *added = &job->others.baselines[job->others.baseline_count++];
    *added = (struct implementation){.setting = setting, .name = job_copy(job, name)};
    return added;
}

static void load_baseline(struct reader *r, struct job *job, const struct node *n, size_t number)
{
    if (!reader_is_group(r, n, "a baseline must be a group { name = ...; library = ...; function = ...; }")) return;
    const char *name = reader_string(r, n, MEMBER("name"));
    if (!node_member(n, "name")) reader_mistake(r, n, "a baseline lacks 'name'");
    if (name && !is_name(name))
        reader_mistake(r, node_member(n, "name"),
                       "a baseline's name begins with a letter and has letters, digits and '_'");
    else if (name && is_taken(job, name))
        reader_mistake(r, node_member(n, "name"), "there is another baseline '%s'", name);
    read_implementation(r, job, n, &baseline,
                        add_baseline(job, job_keep(job, text_format("baselines[%zu]", number)), name ? name : ""));
}

void load_baselines(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *group = reader_member(r, root, "current"), *list = reader_member(r, root, "baselines");
    if (group)
        read_implementation(r, job, group, &current, add_baseline(job, job_copy(job, "current"), CURRENT_KERNEL));
    if (list && node_count(list) > JOB_MAX_BASELINES) {
        reader_mistake(r, list, "'baselines' has %zu programs; at most %d are possible", node_count(list),
                       JOB_MAX_BASELINES);
        return;
    }
    for (size_t i = 0; list && i < node_count(list); i++) load_baseline(r, job, node_at(list, i), i);
}

void load_fallback(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *group = reader_member(r, root, "fallback");
    job->others.fallback.setting = job_copy(job, "fallback");
    if (group) read_implementation(r, job, group, &fallback, &job->others.fallback);
}

void load_reference(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *group = reader_member(r, root, "reference"),
                      *enabled = node_member(node_member(root, "verification"), "enabled");
    job->others.reference.setting = job_copy(job, "reference");
    job->others.reference.name = job_copy(job, "");
    if (group)
        read_implementation(r, job, group, &reference, &job->others.reference);
    else if (!enabled || !node_is_bool(enabled) || node_bool(enabled))
        reader_mistake(r, NULL,
                       "'reference' is missing: add 'reference = { operation = ...; };' (or set "
                       "verification.enabled = false to trust the kernel)");
}
