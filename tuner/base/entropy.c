// See entropy.h. Numbers are drawn from the kernel in blocks, because a system call for each would cost as much as a
// launch.
#include "tuner/base/entropy.h"

#include "tuner/base/base.h"
#include <sys/random.h>

enum { BLOCK = 64 };

uint64_t entropy_draw(void)
{
    static uint64_t block[BLOCK]; // getrandom returns up to 256 bytes completely; more may come in parts
    static int left;
    if (!left) {
        for (int i = 0; i < BLOCK; i += 32)
            if (getrandom(block + i, 32 * sizeof *block, 0) != 32 * sizeof *block)
                error_abort("cannot get random numbers from the system");
        left = BLOCK;
    }
    uint64_t drawn = block[--left];
    block[left] = 0;
    return drawn;
}

uint64_t entropy_below(uint64_t bound)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound, drawn;
    do drawn = entropy_draw();
    while (drawn >= limit);
    return drawn % bound;
}

double entropy_unit(void)
{
    return (double)(entropy_draw() >> 11) * 0x1p-53;
}

void entropy_order(size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) { // the inside-out Fisher-Yates shuffle
        size_t j = (size_t)entropy_below(i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}
