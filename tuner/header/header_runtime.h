// Kernels for sweetspot_runtime.c, which chooses among them at run time: a section as a text that the runtime can read,
// with a program in postfix notation for the sizes and each launch. The text lies beside the binary's bytes in
// <header>_binary.c, or before them in a file *.sweetspot. And sweetspot_runtime.c itself.
#pragma once

#include "tuner/header/header_embed.h"

// Writes the list of all kernels that have a binary into <header>_binary.c. Others are named in comments.
void header_runtime_embed(FILE *, const json_t *sections);
// Writes a kernel of a file *.sweetspot. -1 with a message.
int header_runtime_put(FILE *, const json_t *section, const struct embedded_binary *, struct error *);
// Writes sweetspot_runtime.c into the header's folder. -1 with a message.
int header_runtime_write(const char *header, struct error *);
