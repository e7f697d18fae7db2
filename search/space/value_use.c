// See value_use.h.
#include "search/space/value_use.h"

#include "tuner/base/base.h"

static const double near_best = 1.05; // times the best objective
enum { TRIED_LEAST = 8, NAMED_MOST = 12 };

void value_use_begin(struct value_use *u, const struct space *space, double best)
{
    size_t count = 0;
    *u = (struct value_use){.space = space, .best = best};
    for (size_t p = 0; p < space_parameter_count(space); p++) {
        u->first[p] = count;
        count += space_parameter(space, p)->count;
    }
    u->tried = memory_new(count, sizeof *u->tried);
    u->near = memory_new(count, sizeof *u->near);
}

void value_use_release(struct value_use *u)
{
    free(u->tried);
    free(u->near);
}

void value_use_add(struct value_use *u, const uint16_t *config, double objective)
{
    for (size_t p = 0; p < space_parameter_count(u->space); p++) {
        size_t value = u->first[p] + config[p];
        u->tried[value]++;
        u->near[value] += objective <= near_best * u->best;
    }
}

char *value_use_edges(const struct space *space, const uint16_t *winner)
{
    struct text text = {0};
    for (size_t p = 0; p < space_parameter_count(space); p++) {
        const struct parameter *parameter = space_parameter(space, p);
        int64_t value = parameter->values[winner[p]], low = value, high = value;
        if (parameter->kind != PARAMETER_INT || parameter->count < 3) continue;
        for (size_t i = 0; i < parameter->count; i++) {
            if (parameter->values[i] < low) low = parameter->values[i];
            if (parameter->values[i] > high) high = parameter->values[i];
        }
        if (value != high && (value != low || value <= 1)) continue;
        text_add(&text, "%sthe %s %s (%" PRId64 ")", text.text ? ", " : "", value == high ? "largest" : "smallest",
                 parameter->name, value);
    }
    return text.text;
}

char *value_use_idle(const struct value_use *u)
{
    struct text text = {0};
    int64_t named = 0;
    for (size_t p = 0; p < space_parameter_count(u->space); p++)
        for (size_t i = 0; i < space_parameter(u->space, p)->count; i++) {
            char digits[32];
            if (u->tried[u->first[p] + i] < TRIED_LEAST || u->near[u->first[p] + i]) continue;
            if (named++ < NAMED_MOST)
                text_add(&text, "%s%s=%s", text.text ? ", " : "", space_parameter(u->space, p)->name,
                         space_value_text(u->space, p, i, digits));
        }
    if (named > NAMED_MOST) text_add(&text, " and %" PRId64 " more", named - NAMED_MOST);
    return text.text;
}
