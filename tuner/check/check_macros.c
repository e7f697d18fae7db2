// Parameters that change nothing, and macros that would break the source's own names. See check.h.
#include "tuner/base/base.h"
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
    for (size_t d = 0; d < job->derived_count; d++) // a derived name cannot read itself, nor a later one
        if (reads(job->derived[d].value, slot) && check_launch_reads(job, job->derived[d].slot)) return true;
    return false;
}

// Whether a derived name or a constraint has the parameter, by its text: constraints are the space's.
static bool mentioned(const struct job *job, const char *name, int slot)
{
    struct source_scan words = {0};
    bool found = false;
    for (size_t d = 0; d < job->derived_count; d++) found |= reads(job->derived[d].value, slot);
    for (size_t i = 0; i < space_constraint_count(job->space); i++)
        source_scan_text(&words, space_constraint_text(job->space, i));
    source_scan_finish(&words);
    found |= source_scan_uses(&words, name) != NULL;
    source_scan_release(&words);
    return found;
}

static void check_use(struct check *c, size_t parameter, bool defined_again)
{
    const struct job *job = c->job;
    const char *name = space_parameter(job->space, parameter)->name;
    const struct source_scan *s = &c->template;
    int slot = symbols_find(job->symbols, name);
    struct location at = job_location(job, "parameters[%zu].name", parameter);
    if (job->parameter_options[parameter]) return; // the compiler uses it
    if (!s->file_count || source_scan_uses(s, name) || check_launch_reads(job, slot)) return;
    if (defined_again) return; // said already
    if (mentioned(job, name, slot))
        check_add(&c->doubts, at,
                  "parameter '%s' changes nothing but what is valid: neither the source nor a launch uses it", name);
    else if (s->missing.line || s->pastes)
        check_add(&c->doubts, at,
                  "parameter '%s' seems to change nothing: no launch uses it, and the source has no "
                  "such word%s%s",
                  name, s->missing.line ? " (not read: " : " (but ##, which makes words)",
                  s->missing.line ? s->missing.name : "");
    else
        check_add(&c->mistakes, at, "parameter '%s' changes nothing: neither the source nor a launch uses it", name);
}

bool check_is_macro(const struct job *job, const char *name)
{
    for (size_t i = 0; i < space_parameter_count(job->space); i++)
        if (!strcmp(space_parameter(job->space, i)->name, name)) return true;
    for (size_t i = 0; i < job->define_count; i++)
        if (!strcmp(job->defines[i].name, name)) return true;
    for (size_t s = 0; s < job->stage_count; s++)
        for (size_t i = 0; i < job->stages[s].define_count; i++)
            if (!strcmp(job->stages[s].defines[i].name, name)) return true;
    return false;
}

// Whether the #define is in an #ifndef of one of the job's macros, and so never read.
static bool is_left_out(const struct job *job, const struct source_macro *m)
{
    bool found = false;
    for (const char *p = m->guards + 1; *p && !found; p += strcspn(p, " ") + 1) {
        char *guard = text_format("%.*s", (int)strcspn(p, " "), p);
        found = check_is_macro(job, guard);
        free(guard);
    }
    return found;
}

// A #define of the macro in the source that takes the place of the job's. Whether there is one. One under a condition
// is the source's own business.
static bool check_defined_again(struct check *c, const char *what, const char *name, struct location at)
{
    for (size_t i = 0; i < c->template.macro_count; i++) {
        const struct source_macro *m = &c->template.macros[i];
        if (strcmp(m->at.name, name) != 0 || m->conditional || is_left_out(c->job, m)) continue;
        check_add(&c->mistakes, at,
                  "%s:%d defines '%s', so the job's values of this %s have no effect there: put '#ifndef %s' and "
                  "'#endif' around that line",
                  m->at.file, m->at.line, name, what, name);
        return true;
    }
    return false;
}

static void check_names(struct check *c, const char *what, const char *name, struct location at)
{
    for (size_t i = 0; i < c->template.declaration_count; i++) {
        const struct source_word *w = &c->template.declarations[i];
        if (strcmp(w->name, name) != 0) continue;
        check_add(&c->doubts, at, "%s:%d declares '%s', but the macro%s%s puts its value there: rename one of them",
                  w->file, w->line, name, strcmp(what, "macro") ? " of this " : "", strcmp(what, "macro") ? what : "");
        return;
    }
}

static void check_macro(struct check *c, const char *name, struct location at)
{
    check_defined_again(c, "macro", name, at);
    check_names(c, "macro", name, at);
}

void check_macros(struct check *c)
{
    const struct job *job = c->job;
    for (size_t i = 0; i < space_parameter_count(job->space); i++) {
        const char *name = space_parameter(job->space, i)->name;
        struct location at = job_location(job, "parameters[%zu].name", i);
        bool again = check_defined_again(c, "parameter", name, at);
        check_use(c, i, again);
        check_names(c, "parameter", name, at);
    }
    for (size_t i = 0; i < job->define_count; i++)
        check_macro(c, job->defines[i].name, job_location(job, "kernel.defines.%s", job->defines[i].name));
    for (size_t s = 0; s < job->stage_count; s++)
        for (size_t i = 0; i < job->stages[s].define_count; i++)
            check_macro(c, job->stages[s].defines[i].name,
                        job_location(job, "stages[%zu].defines.%s", s, job->stages[s].defines[i].name));
}
