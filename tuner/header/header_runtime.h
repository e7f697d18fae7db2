// Kernels among which sweetspot_runtime.c chooses at run time. Each section is written as text that the runtime can
// read; programs in postfix notation compute the sizes and each launch. The text is next to the binary's bytes in
// <header>_binary.c, or before them in a *.sweetspot file. sweetspot_runtime.c is written here too.
//
//   sweetspot-kernel 1 <hash> <bytes of the text> <bytes of the binary>      in a file, before each kernel
//   job sgemm
//   device NVIDIA H200
//   toolkit 13.0
//   driver 580.159.04
//   final the final of 2026-11-27 14:03
//   sizes M N K
//   buffers A:f32:in B:f32:in C:f32:out
//   needs 90 132 16 264                      compute capability, multiprocessors, alignment, blocks at once
//   units 0                                  where each cubin begins
//   work #0 #1 * #2 *                        input of the wave model, as is the next line
//   blocks #0 128 ceil_div 1 1 1 * * *
//   problem 0.00042 4096 4096 4096           seconds and sizes, one line per problem
//   supported 1 #0 128 >= && ..              #0: the first size
//   stage 0 65536 0 0 gemm_simt              unit, dynamic and static shared memory, wide clusters, symbol; then its
//   launch 1 0 0 #1 128 ceil_div .. shape 0 -1 0 pointer ..                  program (words: runtime_kernels.in)
#pragma once

#include "tuner/header/header_embed.h"

// Writes the list of all kernels that have a binary into <header>_binary.c. The other kernels are named in comments.
void header_runtime_embed(FILE *, const json_t *sections);
// Writes a kernel to a *.sweetspot file. -1 with a message.
int header_runtime_put(FILE *, const json_t *section, const struct embedded_binary *, struct error *);
// Writes sweetspot_runtime.c into the header's folder. -1 with a message.
int header_runtime_write(const char *header, struct error *);
