// Random numbers from the system, for decisions that a kernel must not be able to predict: which launches are judged,
// on which data, and the key of the memory checks. They are never used where a run must be reproducible.
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t entropy_draw(void);                     // 64 random bits
uint64_t entropy_below(uint64_t bound);          // 0 .. bound-1, uniform; bound > 0
double entropy_unit(void);                       // uniform in [0, 1)
void entropy_order(size_t *order, size_t count); // 0 .. count-1 in random order
