// The alignment that a header promises to kernels for the addresses of buffers, and that verification does not exceed.
#ifndef SWEETSPOT_ALIGNMENT_H
#define SWEETSPOT_ALIGNMENT_H

#include "tuner/base/text.h"

// The widest access of one thread, in bytes: 32 from sm_100 on, 16 before (PTX ISA, `ld`).
static inline int promised_alignment(const char *arch)
{
    return text_architecture(arch) >= 100 ? 32 : 16;
}

#endif
