// Finds parameters that have no effect, and macros that would replace other names in the source. See check.h.
#include "tuner/check/check.h"

static bool reads(const struct expr *e, int slot)
{
    size_t count = 0;
    const int *slots = e ? expr_slots(e, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (slots[i] == slot) return true;
    return false;
}

struct slot_search {
    int slot;
    bool found;
};

static void look(void *user, struct expr *e)
{
    struct slot_search *s = user;
    s->found |= reads(e, s->slot);
}

bool check_launch_reads(const struct job *job, int slot)
{
    struct slot_search search = {slot, false};
    for (size_t s = 0; s < job->stage_count; s++) stage_each_expression(&job->stages[s], look, &search);
    if (search.found) return true;
    for (size_t d = 0; d < job->names.derived_count; d++) // derived names can only read earlier derived names
        if (reads(job->names.derived[d].value, slot) && check_launch_reads(job, job->names.derived[d].slot))
            return true;
    return false;
}

// Whether a derived name or a constraint uses the parameter. The space exposes constraints only as text, so the text is
// searched for the name.
static bool mentioned(const struct job *job, const char *name, int slot)
{
    bool found = false;
    for (size_t d = 0; d < job->names.derived_count; d++) found |= reads(job->names.derived[d].value, slot);
    for (size_t i = 0; i < space_constraint_count(job->space); i++)
        found |= cuda_text_has(space_constraint_text(job->space, i), name);
    return found;
}

static bool defines_have(const struct macro *list, size_t count, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) found |= cuda_text_has(list[i].value, name);
    return found;
}

// Whether the job itself uses the name in text that is passed to a compiler: options, entries, and the values of
// macros.
static bool compiled_with(const struct job *job, const char *name)
{
    bool found = defines_have(job->code.defines, job->code.define_count, name);
    for (size_t i = 0; i < job->code.option_count; i++) found |= cuda_text_has(job->code.options[i], name);
    for (size_t i = 0; i < job->stage_count; i++)
        found |= cuda_text_has(job->stages[i].entry, name) ||
                 defines_have(job->stages[i].defines, job->stages[i].define_count, name);
    for (size_t i = 0; i < space_parameter_count(job->space); i++) {
        const struct parameter *p = space_parameter(job->space, i);
        for (size_t v = 0; p->kind == PARAMETER_STRING && v < p->count; v++)
            found |= cuda_text_has(symbols_text(job->symbols, p->values[v]), name);
    }
    return found;
}

static void check_use(struct check *c, size_t parameter, bool defined_again)
{
    const struct job *job = c->job;
    const char *name = space_parameter(job->space, parameter)->name;
    const struct source_scan *s = &c->template;
    int slot = symbols_find(job->symbols, name);
    struct location at = job_location(job, "parameters[%zu].name", parameter);
    if (job->code.parameter_options[parameter]) return; // the compiler uses it
    if (!s->file_count || source_scan_uses(s, name) || compiled_with(job, name) || check_launch_reads(job, slot))
        return;
    if (defined_again) return; // already reported
    if (mentioned(job, name, slot))
        check_add(&c->doubts, at,
                  "parameter '%s' only affects which configurations are valid: neither the source nor a launch uses it",
                  name);
    else if (s->missing || s->pastes)
        check_add(&c->doubts, at,
                  "parameter '%s' seems to change nothing: no launch uses it, and the source has no such word%s%s",
                  name, s->missing ? " (not read: " : " (but it uses ##, which can form one)",
                  s->missing ? s->missing : "");
    else
        check_add(&c->mistakes, at, "parameter '%s' changes nothing: neither the source nor a launch uses it", name);
}

bool check_is_macro(const struct job *job, const char *name)
{
    if (job_parameter(job, name) >= 0) return true;
    for (size_t i = 0; i < job->code.define_count; i++)
        if (!strcmp(job->code.defines[i].name, name)) return true;
    for (size_t s = 0; s < job->stage_count; s++)
        for (size_t i = 0; i < job->stages[s].define_count; i++)
            if (!strcmp(job->stages[s].defines[i].name, name)) return true;
    return false;
}

// Whether a line of the source is compiled in all configurations, because no enclosing condition depends on the job or
// the source.
static bool always_counts(const struct job *job, const struct cuda_file *f, int line)
{
    for (size_t i = 0; i < f->condition_count; i++) {
        const struct cuda_condition *c = &f->conditions[i];
        if (c->first <= line && line <= c->last && (!c->guard || check_is_macro(job, c->guard))) return false;
    }
    return true;
}

// Adds a mistake if a #define in the source overrides the job's macro, and returns whether one does. A conditional
// #define is not reported, because it may be intended.
static bool check_defined_again(struct check *c, const char *what, const char *name, struct location at)
{
    for (size_t i = 0; i < c->template.file_count; i++) {
        const struct cuda_file *f = &c->template.files[i].file;
        for (size_t m = 0; m < f->macro_count; m++) {
            if (strcmp(f->macros[m].name, name) != 0 || !always_counts(c->job, f, f->macros[m].line)) continue;
            check_add(&c->mistakes, at,
                      "%s:%d defines '%s', so the job's values of this %s have no effect there: put '#ifndef %s' and "
                      "'#endif' around that line, or remove it by 'kernel.edits'",
                      c->template.files[i].path, f->macros[m].line, name, what, name);
            return true;
        }
    }
    return false;
}

// The line with "int NAME" followed by one of , ) = ; [ > outside `#ifndef NAME`; 0 if there is none.
static int declaration_line(const struct cuda_file *f, const char *name)
{
    const struct cuda_token *t, *end = f->tokens.items + f->tokens.count;
    for (size_t from = 0; (t = cuda_file_next_declaration(f, &from, name));)
        if (t + 1 < end && t[1].length == 1 && strchr(",)=;[>", *t[1].text) && !cuda_file_guards(f, name, t->line))
            return t->line;
    return 0;
}

static void check_names(struct check *c, const char *what, const char *name, struct location at)
{
    for (size_t i = 0; i < c->template.file_count; i++) {
        int line = declaration_line(&c->template.files[i].file, name);
        if (!line) continue;
        check_add(&c->doubts, at,
                  "%s:%d declares '%s', but the macro%s%s replaces that name by its value: rename one of them",
                  c->template.files[i].path, line, name, strcmp(what, "macro") ? " of this " : "",
                  strcmp(what, "macro") ? what : "");
        return;
    }
}

static void check_macro(struct check *c, const char *name, struct location at)
{
    check_defined_again(c, "macro", name, at);
    check_names(c, "macro", name, at);
}

// A size that no expression and no operation reads may be misspelt. Libraries and commands get all sizes.
static void check_sizes(struct check *c)
{
    const struct job *job = c->job;
    bool foreign =
        job->others.reference.kind == IMPLEMENTATION_LIBRARY || job->others.reference.kind == IMPLEMENTATION_COMMAND;
    for (size_t i = 0; i < job->others.baseline_count; i++)
        foreign |= job->others.baselines[i].kind == IMPLEMENTATION_LIBRARY;
    for (size_t i = 0; i < job->names.size_count && !foreign; i++) {
        const char *name = job->names.size_names[i];
        if (!symbols_used(job->symbols, symbols_find(job->symbols, name)))
            check_add(&c->doubts, job_location(job, "problems[0].%s", name), "nothing uses size '%s'", name);
    }
}

void check_macros(struct check *c)
{
    check_sizes(c);
    const struct job *job = c->job;
    for (size_t i = 0; i < space_parameter_count(job->space); i++) {
        const char *name = space_parameter(job->space, i)->name;
        struct location at = job_location(job, "parameters[%zu].name", i);
        bool again = check_defined_again(c, "parameter", name, at);
        check_use(c, i, again);
        check_names(c, "parameter", name, at);
    }
    for (size_t i = 0; i < job->code.define_count; i++)
        check_macro(c, job->code.defines[i].name, job_location(job, "kernel.defines.%s", job->code.defines[i].name));
    for (size_t s = 0; s < job->stage_count; s++)
        for (size_t i = 0; i < job->stages[s].define_count; i++)
            check_macro(c, job->stages[s].defines[i].name,
                        job_location(job, "stages[%zu].defines.%s", s, job->stages[s].defines[i].name));
}
