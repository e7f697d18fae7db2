// The search space: tuning parameters, the constraints between them, and the valid configurations.
//
// A configuration is an array of value *indices*, one uint16_t per parameter, in the order in which the parameters were
// added. It needs no allocation, and is hashed and compared as plain bytes. Valid configurations are numbered 0 ..
// space_size-1 in lexicographic order of their value indices. The order of the parameters in this comparison is chosen
// for the space, and is the same whenever the same space is built. The numbering is exact and needs no table of all
// configurations (see space_build.c and diagram.c), so spaces of 10^12 combinations can be counted, indexed and
// sampled.
//
// A configuration is valid when every constraint holds. A constraint that cannot be evaluated (x % 0) on a
// configuration is an error of the space, unless another constraint removes that configuration. The order of the
// constraints does not matter.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/space/expr.h"
#include "search/space/random.h"

enum { SPACE_MAX_PARAMETERS = 64, SPACE_MAX_VALUES = 65535 };

enum parameter_kind {
    PARAMETER_INT,    // integer values, ordered as given
    PARAMETER_STRING, // no order: every other value is a neighbour
    PARAMETER_UNROLL, // 0: no pragma, 1: `#pragma unroll`, n: `#pragma unroll n`; ordered
    PARAMETER_REAL,   // decimals, kept as strings, in numerical order
};

struct parameter {
    char *name;
    enum parameter_kind kind;
    size_t count; // number of values, at least 1
    int64_t
        *values; // count values; for PARAMETER_STRING and PARAMETER_REAL the ids that symbols_intern gave the strings
};

struct space;

// The symbol table is shared with the job, and must outlive the space. Constraints may read problem sizes and device
// limits, which the job sets as constants (below).
struct space *space_new(struct symbols *);
void space_free(struct space *);

// Adds a parameter, and its name to the symbol table. Copies its arguments. Returns -1 with a message if there is no
// value, or a duplicate value or name.
int space_add_parameter(struct space *, const char *name, enum parameter_kind kind, const int64_t *values, size_t count,
                        struct error *);
// Gives a name the same value for all configurations (device limit, problem size). space_values fills its slot.
int space_set_constant(struct space *, const char *name, int64_t value, struct error *);
// Adds a derived name: an expression over parameters, constants and earlier derived names. It must have a value for
// every valid configuration.
int space_add_derived(struct space *, const char *name, const char *text, struct error *);
// Adds a constraint: a configuration is valid if every constraint is non-zero. Returns its number, or -1.
int space_add_constraint(struct space *, const char *text, struct error *);

// Builds the index. Returns -1 with a message in two cases. If a constraint cannot be evaluated, as in a division by
// zero, the message names the constraint and the configuration. If no configuration is valid, the message names the
// constraint that excludes all configurations, or a minimal set of constraints that together exclude all.
// *bad_constraint (may be NULL) gets the number of that constraint, or -1.
int space_build(struct space *, int *bad_constraint, struct error *);

// Used in place of constraints and space_build, for a recorded space: exactly the `count` given configurations are
// valid. `configs` holds them one after another, in any order, and is copied. Returns -1 with a message if there are
// none, one is listed twice, or an index is out of range.
int space_build_from_list(struct space *, const uint16_t *configs, size_t count, struct error *);

size_t space_parameter_count(const struct space *);
const struct parameter *space_parameter(const struct space *, size_t i);
int space_find(const struct space *, const char *name, size_t length); // the number of a parameter, or -1
size_t space_constraint_count(const struct space *);
const char *space_constraint_text(const struct space *, size_t i);
double space_raw_size(const struct space *);   // product of the value counts
uint64_t space_size(const struct space *);     // valid configurations (saturates at UINT64_MAX)
double space_valid_size(const struct space *); // the same without saturation
// The number of raw configurations that the constraint removes by itself (a double, because raw sizes may exceed 2^64),
// including those on which it cannot be evaluated. They are counted with a separate diagram. Returns NaN if this
// diagram would be too large.
double space_removed_by(const struct space *, size_t constraint);

void space_get(const struct space *, uint64_t index, uint16_t *config); // index -> configuration
int64_t space_index(const struct space *, const uint16_t *config);      // -> index, or -1 if it is not valid
bool space_is_valid(const struct space *, const uint16_t *config);
void space_sample(const struct space *, struct random *, uint16_t *config); // uniform over the valid configurations

// Valid configurations that differ in the value of one parameter. Writes up to `max` configurations one after another
// and returns how many there are.
size_t space_neighbours(const struct space *, const uint16_t *config, uint16_t *out, size_t max);
size_t space_neighbour_room(const struct space *); // an upper bound on their number
// Changes an array of value indices into a valid configuration near it, with as few changed parameters as the search
// finds. For crossovers, and for strategies that work in a continuous space. Returns the number of parameters changed.
size_t space_repair(const struct space *, struct random *, uint16_t *config);

// Fills the value array (symbols_count entries): constants, the configuration's parameters, derived names in order.
// Returns -1 with a message if a derived expression fails.
int space_values(const struct space *, const uint16_t *config, int64_t *values, struct error *);

// A parameter's value as a string, "128" or "shuffle"; `digits` is the buffer for an integer.
const char *space_value_text(const struct space *, size_t parameter, size_t value, char digits[32]);

// "BLOCK_M=128,REDUCTION=shuffle": the canonical string, with the parameters in order; malloc'ed. space_parse reads it
// back; all names must be present, in any order. It returns 0, or -1 with a message.
char *space_text(const struct space *, const uint16_t *config);
int space_parse(const struct space *, const char *text, uint16_t *config, struct error *);
