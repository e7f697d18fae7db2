// What of a loaded module survives its launches: its `__device__` variables, whose first contents are kept on the host
// and written back before every launch that counts; and whether it uses the device's heap or printf buffer, which
// cannot be restored, so that a fresh worker must follow.
//
// The cubin is an ELF file. Writable variables lie in sections .nv.global (zero at first) and .nv.global.init; each is
// an object in the symbol table, and the driver tells its address by name. malloc and vprintf are undefined functions
// there.
#ifndef SWEETSPOT_GPU_MODULE_STATE_H
#define SWEETSPOT_GPU_MODULE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/libraries/cuda.h"

struct module_state {
    size_t bytes;         // of all variables, with the gaps between them; 0: there is none
    uint64_t address;     // of the first
    unsigned char *first; // page-locked: their contents after loading
    bool heap, prints;    // calls malloc or free; calls printf
};

// Reads the image (the file's `size` bytes) and, where it has variables, their contents. CUDA_REFUSED when the driver
// does not know one of them. The caller releases, also after a failure.
int module_state_open(struct module_state *, struct cuda *, struct cuda_module *, const void *image, size_t size,
                      struct error *err);
void module_state_release(struct module_state *, struct cuda *);

// Enqueues writing them back.
int module_state_restore(const struct module_state *, struct cuda *, struct error *err);

// What the image says alone, without a device: calls visit(user, name, bytes) for every writable variable. -1 with a
// message when it is not an ELF file or is cut off.
int module_state_scan(const void *image, size_t size, bool *heap, bool *prints,
                      int (*visit)(void *user, const char *name, size_t bytes, struct error *err), void *user,
                      struct error *err);

#endif
