// See transfer.h.
#include "tuner/recorded/transfer.h"

static double number_of(const char *text, size_t length)
{
    char copy[64], *end;
    if (length >= sizeof copy || !length) return NAN;
    memcpy(copy, text, length);
    copy[length] = 0;
    double value = strtod(copy, &end);
    return *end || !isfinite(value) ? NAN : value;
}

void transfer_init(struct transfer *t, const struct space *space)
{
    size_t width = space_parameter_count(space);
    *t = (struct transfer){.space = space};
    t->known = memory_new(width, sizeof *t->known);
    t->varies = memory_new(width, sizeof *t->varies);
    t->numbers = memory_new(width, sizeof *t->numbers);
    for (size_t i = 0; i < width; i++) {
        size_t count = space_parameter(space, i)->count;
        t->numbers[i] = memory_new(count, sizeof **t->numbers);
        for (size_t v = 0; v < count; v++) {
            char digits[32];
            const char *text = space_value_text(space, i, v, digits);
            t->numbers[i][v] = number_of(text, strlen(text));
        }
    }
}

void transfer_release(struct transfer *t)
{
    for (size_t i = 0; t->numbers && i < space_parameter_count(t->space); i++) free(t->numbers[i]);
    free(t->numbers);
    free(t->known);
    free(t->varies);
    free(t->configs);
    free(t->objectives);
    *t = (struct transfer){0};
}

// Returns the index of the value in this space. If the space lacks the value, returns the index of the nearest number,
// or -1 if the numbers of the space cannot be compared with it. The ratio of two sizes matters, so positive numbers are
// compared by their logarithms.
static int value_index(const struct transfer *t, size_t parameter, const char *text, size_t length)
{
    size_t count = space_parameter(t->space, parameter)->count;
    double wanted = number_of(text, length), least = INFINITY;
    int nearest = -1;
    for (size_t v = 0; v < count; v++) {
        char digits[32];
        const char *own = space_value_text(t->space, parameter, v, digits);
        if (strlen(own) == length && !memcmp(own, text, length)) return (int)v;
        double number = t->numbers[parameter][v];
        double apart = wanted > 0 && number > 0 ? fabs(log(wanted / number)) : fabs(wanted - number);
        if (!(apart < least)) continue; // NaN: one of them is a word
        least = apart;
        nearest = (int)v;
    }
    return nearest;
}

void transfer_add(struct transfer *t, const char *text, enum trial_status status, double objective)
{
    size_t width = space_parameter_count(t->space);
    if (t->count == TRANSFER_MOST) {
        t->left_out++;
        return;
    }
    if (t->count == t->room) {
        t->room = 2 * t->room + 256;
        t->configs = memory_grow(t->configs, t->room * width, sizeof *t->configs);
        t->objectives = memory_grow(t->objectives, t->room, sizeof *t->objectives);
    }
    uint16_t *config = t->configs + t->count * width;
    const uint16_t *first = t->configs;
    bool said[SPACE_MAX_PARAMETERS] = {false};
    memset(config, 0, width * sizeof *config);
    for (const char *at = text, *next; at; at = next) {
        size_t length, name = strcspn(at, "=");
        next = text_next_item(at, &length);
        int parameter = name < length ? space_find(t->space, at, name) : -1;
        if (parameter >= 0) {
            int value = value_index(t, (size_t)parameter, at + name + 1, length - name - 1);
            if (value < 0) {
                t->dropped++;
                return;
            }
            config[parameter] = (uint16_t)value;
            said[parameter] = true;
        }
    }
    for (size_t i = 0; i < width; i++) {
        t->known[i] |= said[i];
        t->varies[i] |= said[i] && t->count && config[i] != first[i];
    }
    struct observation o = observation_of(config, status, objective);
    t->objectives[t->count++] = o.outcome <= OUTCOME_SLOW && o.objective > 0 ? o.objective : NAN;
    t->timed += o.outcome == OUTCOME_OK && o.objective > 0;
}

void transfer_add_recorded(struct transfer *t, const struct recorded *r)
{
    for (size_t i = 0; i < r->trial_count; i++) {
        autofree char *text = space_text(r->space, r->configs + i * r->parameter_count);
        transfer_add(t, text, r->trials[i].status, r->trials[i].objective);
    }
}

struct prior *transfer_prior(const struct transfer *t, struct error *err)
{
    size_t common = 0;
    for (size_t i = 0; i < space_parameter_count(t->space); i++) common += t->varies[i];
    if (!t->count && t->dropped) {
        error_set(err, "none of its configurations has only values of this space");
    } else if (!t->timed) {
        error_set(err, "all of its configurations failed");
    } else if (!common) {
        error_set(err, "it has no tuning parameter in common with this space");
    } else {
        struct prior_rows rows = {
            .count = t->count, .configs = t->configs, .objectives = t->objectives, .known = t->known};
        struct prior *prior = prior_new(t->space, &rows);
        if (prior_informativeness(prior) > 0) return prior;
        prior_free(prior);
        error_set(err, "its results do not depend on the parameters in common more than chance would explain");
    }
    return NULL;
}
