// See buffer_kind.h.
#include "tuner/base/buffer_kind.h"

#include "tuner/base/base.h"

const char *const direction_text[] = {"in", "out", "inout", "scratch", NULL};
const char *const fill_text[] = {"uniform", "normal", "integer", "zero",        "constant", "index",     "nonfinite",
                                 "zeros",   "npy",    "sorted",  "permutation", "offsets",  "addresses", NULL};

const char *const implementation_words[] = {"none",    "configuration", "kernel", "binary", "operation",
                                            "library", "command",       "npy",    NULL};

int word_find(const char *const *words, const char *word)
{
    for (int i = 0; word && words[i]; i++)
        if (!strcmp(words[i], word)) return i;
    return -1;
}

int promised_alignment(const char *arch)
{
    return text_architecture(arch) >= 100 ? 32 : 16;
}
