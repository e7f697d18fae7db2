// Finds the source line that an instruction of a cubin comes from, and the inlined calls that lead to this line. Reads
// them from the cubin's own DWARF line table (-lineinfo), without CUDA.
//
// cuptiGetSassToSourceCorrelation gives only the innermost line, which in a template belongs to a helper ("*to =
// *from;" in a load<4>() that is used for two matrices). A reader needs the call that led to this line. NVIDIA's
// compiler writes this call into the table with an extended opcode of its own, DW_LNE 0x90. Its first ULEB128 operand
// is the number (from 1) of the table's row for the call, or 0 outside an inlined function. The second is the offset of
// the inlined function's name in .debug_str.
#pragma once

#include "tuner/base/base.h"

struct linetable;

struct source_place {
    const char *file, *directory; // as the compiler wrote them, in the cubin
    unsigned line;
};

// Reads the table of one kernel. `cubin` must outlive the table. Fails with a message if `cubin` is not a cubin, has no
// such kernel or no line table (compiled without -lineinfo), or if memory is exhausted. The caller frees.
int linetable_read(struct linetable **out, const void *cubin, size_t size, const char *symbol, struct error *err);
void linetable_free(struct linetable *); // NULL is fine

// Bytes of the kernel's code.
size_t linetable_code_bytes(const struct linetable *);

// Writes the place of the instruction at `offset` in the kernel's code, followed by the calls that lead to it,
// innermost first. Returns the number of places written, at most linetable_depth(); 0 if the table has no row for the
// offset.
size_t linetable_find(const struct linetable *, uint64_t offset, struct source_place *places);
// The length of the longest such list.
size_t linetable_depth(const struct linetable *);
