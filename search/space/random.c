// See random.h.
#include "search/space/random.h"

#include <assert.h>

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

// splitmix64 (Steele, Lea and Flood 2014): spreads any seed, 0 included, over the whole state.
static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void random_seed(struct random *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++) r->state[i] = splitmix(&seed);
}

uint64_t random_next(struct random *r)
{
    uint64_t *s = r->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t random_below(struct random *r, uint64_t bound)
{
    assert(bound >= 1);
    // Values under (2^64 mod bound) would make small remainders more likely, so they are drawn again.
    uint64_t reject = (0 - bound) % bound;
    uint64_t x;
    do x = random_next(r);
    while (x < reject);
    return x % bound;
}

double random_unit(struct random *r)
{
    return (double)(random_next(r) >> 11) * 0x1.0p-53;
}
