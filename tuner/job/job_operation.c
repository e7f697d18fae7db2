// Reads operations: the reference's, and those of stages that a library computes. Roles are bound to buffers and
// numbers.
#include "kernels/operation.h"
#include "tuner/job/job_parts.h"

static void unknown_operation(struct reader *r, const struct node *n, const char *name)
{
    const char *const *names = operation_names();
    autofree char *text = text_unknown("operation", name, names);
    reader_mistake(r, n, "%s", text);
}

// `path`, `form`: the group in the table of settings. The group also has members that are not roles.
static void unknown_role(struct reader *r, const struct node *n, const struct operation *op, const char *role,
                         const char *path, const char *form)
{
    const char *names[OPERATION_ROLES_MAX + 1] = {NULL};
    autofree const char **settings = job_setting_names(path, form);
    for (size_t k = 0; op->roles[k].name; k++) names[k] = op->roles[k].name;
    const char *setting = text_nearest(role, settings), *nearest = setting ? setting : text_nearest(role, names);
    reader_mistake(r, node_member(n, role), "operation '%s' has no role '%s'%s%s%s", op->name, role,
                   nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    if (nearest) reader_explains(r, n, nearest);
}

// The index of the compute class that a member gives as a word; -1 if the member does not give a compute class.
static int class_number(struct reader *r, const struct operation *op, const struct node *member)
{
    if (!op || !op->classes || strcmp(node_name(member), "compute") || !node_is_string(member)) return -1;
    int number = operation_class(op, node_string(member));
    if (number >= 0) return number;
    autofree char *text = text_unknown("compute class", node_string(member), op->classes);
    reader_mistake(r, member, "%s", text);
    return 0;
}

// A stage that a library computes: { operation = "gemm"; by = "cublas"; A = "mean"; ... }, with roles as in
// `reference`, except that sizes and scalars may also be expressions or numbers. Its buffers are declared by the
// arguments of earlier stages.
void load_library_stage(struct reader *r, struct job *job, const struct node *n, struct stage *stage)
{
    const char *given = reader_string(r, n, "stages[].operation"), *name = given ? given : "",
               *shown = reader_string(r, n, "stages[].name");
    const struct operation *op = operation_find(name, NULL);
    stage->entry = job_copy(job, "");
    stage->operation = job_copy(job, name);
    stage->name = job_copy(job, shown ? shown : name);
    if (!op) {
        unknown_operation(r, n, name);
        return;
    }
    const char *by = reader_string(r, n, "stages[].by");
    const struct operation_baseline *baseline = operation_baseline(op, by);
    stage->by = job_copy(job, by);
    if (!baseline || !baseline->same_result || baseline->place > 1)
        reader_mistake(r, n, "no library computes '%s' by '%s'", name, by);
    stage->roles = job_new(job, node_count(n), sizeof *stage->roles);
    for (size_t i = 0; i < node_count(n); i++) {
        const struct node *member = node_at(n, i);
        const char *role = node_name(member);
        if (job_setting_has("stages[]", "library", role)) continue;
        int found = operation_role(op, role);
        struct stage_role *to = &stage->roles[stage->role_count];
        int class = class_number(r, op, member);
        *to = (struct stage_role){.buffer = -1};
        if (found < 0) {
            unknown_role(r, n, op, role, "stages[]", "library");
        } else if (op->roles[found].kind == ROLE_INPUT || op->roles[found].kind == ROLE_OUTPUT) {
            to->buffer = node_is_string(member) ? job_find_buffer(job, node_string(member)) : -1;
            if (to->buffer < 0)
                reader_mistake(r, member, "'%s' must name a buffer that an earlier stage's arguments declare", role);
        } else if (class >= 0) {
            to->real = class;
        } else if (node_is_number(member) && !node_is_integer(member)) {
            to->real = node_real(member);
        } else {
            to->value = reader_expression(r, member, job);
        }
        to->role = job_copy(job, role);
        stage->role_count++;
    }
    for (size_t k = 0; op->roles[k].name; k++) {
        bool filled = op->roles[k].kind == ROLE_SIZE || op->roles[k].kind == ROLE_SCALAR;
        for (size_t i = 0; i < stage->role_count; i++) filled |= !strcmp(stage->roles[i].role, op->roles[k].name);
        if (!filled) reader_mistake(r, n, "operation '%s' needs the buffer '%s'", name, op->roles[k].name);
    }
}

static const struct binding *find_binding(const struct implementation *to, const char *role)
{
    for (size_t b = 0; b < to->binding_count; b++)
        if (!strcmp(to->bindings[b].role, role)) return &to->bindings[b];
    return NULL;
}

// If `beta` is not 0, the result depends on the output's old values, so its direction must not be "out".
static void check_old_values(struct reader *r, const struct job *job, const struct node *n, const struct operation *op,
                             const struct implementation *to, const struct job_number *numbers)
{
    const struct operation_role *role = op->roles;
    while (role->name && role->kind != ROLE_OUTPUT) role++;
    if (operation_role(op, "beta") < 0 || !role->name) return;
    const struct binding *output = find_binding(to, role->name), *beta = find_binding(to, "beta");
    const char *number = beta && beta->name ? beta->name : "beta";
    int buffer = job_find_buffer(job, output && output->name ? output->name : role->name);
    while (numbers->name && strcmp(numbers->name, number) != 0) numbers++;
    bool counts = beta && !beta->name ? beta->value != 0 : numbers->name && !numbers->value && numbers->real != 0;
    if (counts && buffer >= 0 && job->buffers[buffer].direction == DIRECTION_OUT)
        reader_mistake(r, n, "'beta' is not 0, so the old '%s' is read: its direction must be \"inout\"",
                       job->buffers[buffer].name);
}

// Every role of the operation must be filled: a buffer's role by name or binding, a size or a scalar from the problem
// sizes and scalar arguments.
static void check_roles(struct reader *r, const struct job *job, const struct node *n, const struct operation *op,
                        const struct implementation *to)
{
    autofree struct job_number *numbers = job_numbers(job);
    autofree const char **names = NULL;
    size_t count = 0;
    for (size_t i = 0; i < job->buffer_count; i++) memory_add(names, count) = job->buffers[i].name;
    for (size_t i = 0; numbers[i].name; i++) memory_add(names, count) = numbers[i].name;
    memory_add(names, count) = NULL;
    for (size_t k = 0; op->roles[k].name; k++) {
        const struct operation_role *role = &op->roles[k];
        const struct binding *binding = find_binding(to, role->name);
        const char *bound = binding && binding->name ? binding->name : role->name;
        bool is_buffer = role->kind == ROLE_INPUT || role->kind == ROLE_OUTPUT, constant = binding && !binding->name;
        if (constant && role->kind != ROLE_SCALAR)
            reader_mistake(r, n, "'%s' of operation '%s' must name a %s", role->name, op->name,
                           is_buffer ? "buffer" : "size or scalar");
        if (constant) continue;
        int slot = is_buffer ? -1 : symbols_find(job->symbols, bound);
        if (slot >= 0) symbols_use(job->symbols, slot);
        bool there = is_buffer ? job_find_buffer(job, bound) >= 0 : slot >= 0;
        for (size_t i = 0; !is_buffer && !there && names[i]; i++) there = !strcmp(names[i], bound);
        if (there || role->kind == ROLE_SCALAR) continue; // scalars have defaults
        const char *nearest = text_nearest(bound, names);
        reader_mistake(r, n, "operation '%s' needs the %s '%s'%s%s%s; name it in 'reference' as %s = \"...\"", op->name,
                       is_buffer ? "buffer" : "size or scalar", bound, nearest ? " (did you mean '" : "",
                       nearest ? nearest : "", nearest ? "'?)" : "", role->name);
    }
    for (size_t b = 0; b < to->binding_count; b++) {
        size_t k = 0;
        while (op->roles[k].name && strcmp(op->roles[k].name, to->bindings[b].role)) k++;
        if (!op->roles[k].name) unknown_role(r, n, op, to->bindings[b].role, "IMPLEMENTATION", "operation");
    }
    check_old_values(r, job, n, op, to, numbers);
}

void load_operation(struct reader *r, struct job *job, const struct node *n, struct implementation *to)
{
    enum { CUBLAS, CPU }; // words of the table of settings
    const char *name = reader_string(r, n, "IMPLEMENTATION.operation");
    const struct operation *op = name ? operation_find(name, NULL) : NULL;
    to->operation = job_copy(job, name ? name : "");
    int how = node_member(n, "by") ? reader_word(r, n, "IMPLEMENTATION.by") : op && !op->reference ? CPU : CUBLAS;
    if (op && !op->reference && how == CUBLAS)
        reader_mistake(r, n, "operation '%s' has a reference only on the CPU: write by = \"cpu\"", name);
    to->by = job_copy(job, job_setting_find("IMPLEMENTATION.by")->words[how]);
    for (size_t i = 0; i < node_count(n); i++) {
        const struct node *member = node_at(n, i);
        const char *role = node_name(member);
        if (job_setting_has("IMPLEMENTATION", "operation", role)) continue;
        bool constant = node_is_bool(member) || node_is_number(member);
        if (!constant && !node_is_string(member)) {
            reader_mistake(r, member, "'%s' must name a buffer, size or scalar, or be true, false or a number", role);
            continue;
        }
        int class = class_number(r, op, member);
        if (!strcmp(role, "compute") && op && op->classes && class < 0) {
            reader_mistake(r, member, "'compute' must be a word, e.g. \"%s\"", op->classes[0]);
            continue;
        }
        if (class >= 0) constant = true;
        size_t b = to->binding_count++;
        to->bindings = job_room(job, to->bindings, b, sizeof *to->bindings);
        to->bindings[b].role = job_copy(job, role);
        to->bindings[b].name = constant ? NULL : job_copy(job, node_string(member));
        to->bindings[b].value = class >= 0             ? class
                                : node_is_bool(member) ? node_bool(member)
                                : constant             ? node_real(member)
                                                       : 0;
    }
    if (op) {
        check_roles(r, job, n, op, to);
    } else if (name) {
        unknown_operation(r, node_member(n, "operation"), name);
    }
}
