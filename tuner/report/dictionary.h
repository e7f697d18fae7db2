// Numbers for words: each new text gets the next number, a known text its old one.
#ifndef SWEETSPOT_DICTIONARY_H
#define SWEETSPOT_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

#include "tuner/base/arena.h"

struct dictionary {
    size_t count;
    const char **words; // by number; they live as long as the dictionary
    size_t room;
    uint32_t *slots; // number + 1; 0: free
    size_t slot_count;
    struct arena memory;
};

// The number of the text's first `length` bytes. A dictionary of zeroes is empty.
size_t dictionary_put(struct dictionary *, const char *text, size_t length);
void dictionary_release(struct dictionary *);

#endif
