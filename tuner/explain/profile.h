// Reads and prints a profile (tuner/explain/explain.h). It prints sections of figures in the order in which people read
// them, where the time goes, and the most expensive source lines. Two profiles are printed side by side.
#pragma once

#include "tuner/base/json.h"

// A figure for one stage, looked up in "counters" first, then in "facts", then in "totals" (over the lines); NaN if it
// is not known.
double profile_number(const json_t *stage, const char *key);

// The time with its interval, in seconds.
struct interval profile_time(const json_t *profile);

// Sectors of global memory loaded and stored, from the hardware's counters or, if they were not counted, from the total
// over the lines; NaN: unknown.
double profile_global_sectors(const json_t *stage);

// The stage that takes longest, or the only one; NULL if there is none.
const json_t *profile_main_stage(const json_t *profile);

// Whether the stage multiplies with tensor instructions.
bool profile_uses_tensor(const json_t *stage);

// The highest rate, in the job's `flops` per second, that the execution unit for the job's arithmetic can reach
// according to the measured ceiling. NaN if the unit or its ceiling is unknown, or if the stage uses tensor
// instructions and the unit is not a tensor unit.
double profile_arithmetic_ceiling(const json_t *profile, const json_t *stage);

// Where the time goes: the share of a warp's time in each state. The shares add up to 1. Writes at most `max` entries,
// largest first, and returns their number (0 if the set `stalls` was not counted).
struct profile_share {
    const char *reason; // "short_scoreboard"; "selected": issuing
    double share;       // 0..1
};
enum { PROFILE_SHARES = 20 };
size_t profile_shares(const json_t *stage, struct profile_share *out, size_t max);
double profile_share(const json_t *stage, const char *reason); // 0..1; NaN: unknown
const char *profile_reason_text(const char *reason);           // "waiting for data from shared memory"

// The source line that causes the gap between two columns: SHARED (wavefronts against ideal), GLOBAL (sectors against
// ideal), DIVERGENCE (active threads against 32 per instruction). Of nested lines, it is the line that explains the
// excess best. If the excess is negligible, no line is named.
enum profile_excess { EXCESS_SHARED, EXCESS_GLOBAL, EXCESS_DIVERGENCE, EXCESS_COUNT };
struct profile_culprit {
    const json_t *line;
    double excess, share; // share: of the column's total over the kernel
    double ratio;         // this line's amount over its ideal
    double score;         // how well it explains the kernel's excess, 0..1
};
// Fills `out` with at most `max` lines, worst first. A line is left out if a listed line, such as the function around
// it, already explains its excess.
size_t profile_culprit(const json_t *stage, enum profile_excess, struct profile_culprit *out, size_t max);

// The text of a source line, without surrounding blanks; "" if it cannot be read. `source` is the template; other files
// are looked up in its folder. malloc'ed.
char *profile_source(const char *source, const json_t *line);

// The device's limit at the stage's number of operations per byte, FLOP/s: the lower of the two roofs. NaN: unknown.
double profile_roof(const json_t *profile, const json_t *stage);
// The position under the roofline: {"operations_per_byte":..,"flops_per_second":..,"roof":..,"reached":0..1}, from the
// bytes that device memory moved in the main stage; null if a figure is missing. New reference.
json_t *profile_roofline(const json_t *profile);
// What limits the number of blocks on a multiprocessor: "registers", "shared memory", "warps", "blocks", or several;
// "": unknown. Writes into `out` and returns it.
const char *profile_occupancy_limit(const json_t *stage, char *out, size_t size);

// Prints all sections. `against` may be NULL.
void profile_print(FILE *, const json_t *profile, const json_t *against, const char *source);
