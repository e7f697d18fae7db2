// See buffer_kind.h.
#include "tuner/base/buffer_kind.h"

#include "tuner/base/base.h"

const char *const direction_text[] = {"in", "out", "inout", "scratch", NULL};
const char *const fill_text[] = {"uniform", "normal", "integer", "zero",        "constant", "index", "nonfinite",
                                 "zeros",   "npy",    "sorted",  "permutation", "offsets",  NULL};

int word_find(const char *const *words, const char *word)
{
    for (int i = 0; word && words[i]; i++)
        if (!strcmp(words[i], word)) return i;
    return -1;
}
