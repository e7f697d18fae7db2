// The state of a loaded module that survives its launches. The initial contents of its `__device__` variables are kept
// on the host, so that any launch can start like the first one after loading. If the module uses the device's heap or
// printf buffer, which cannot be restored, a new worker must take over afterwards.
//
// The cubin is an ELF file. Writable variables are in the sections .nv.global (initially zero) and .nv.global.init.
// Each is an object in the symbol table, and the driver finds its address by name. malloc and vprintf are undefined
// functions in the symbol table.
#pragma once

#include "tuner/libraries/cuda.h"

struct module_variable {
    char *name;      // of its symbol
    size_t declared; // bytes
    bool constant;   // `__constant__`: kernels cannot write it, and the members below are unknown
    uint64_t address;
    size_t bytes, at; // at: where its contents are kept
    size_t placed;    // how many of its first bytes the job sets before every launch that is timed or judged
    bool changes;     // it has been seen to change: module_state_restore() writes it back
};

struct module_state {
    size_t count, bytes;
    struct module_variable *variables;
    unsigned char *first, *now; // page-locked: contents after loading; room for the current contents
    bool changes;               // any variable changes
    bool heap, prints;          // calls malloc or free; calls printf
};

// Finds the writable variables in the image (a cubin of `size` bytes) and reads their contents. Returns CUDA_REFUSED if
// the driver does not know one of the variables. The caller must release the state, even after a failure.
int module_state_open(struct module_state *, struct cuda *, struct cuda_module *, const void *image, size_t size,
                      struct error *err);
void module_state_release(struct module_state *);

// Enqueues writing back the variables that change.
int module_state_restore(const struct module_state *, struct cuda *, struct error *err);
// Waits, and sets `changes` for each variable whose contents have changed. Many never change, because the compiler also
// places constants among the writable variables. *late: some have changed for the first time.
int module_state_inspect(struct module_state *, struct cuda *, bool *late, struct error *err);

// Reads the image without a device: calls visit(user, name, bytes, constant) for every variable, writable or
// `__constant__`. -1 with a message if it is not an ELF file or is truncated.
typedef int module_visitor(void *user, const char *name, size_t bytes, bool constant, struct error *err);
int module_state_scan(const void *image, size_t size, bool *heap, bool *prints, module_visitor *, void *user,
                      struct error *err);
