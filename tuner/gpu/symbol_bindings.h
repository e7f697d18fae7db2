// Buffers that a launch does not access by address: variables of the loaded module (`constants` of a job) and arrays
// (textures and surfaces). Before each launch that is timed or judged, the buffer's contents are copied to the variable
// or array, and if kernels may write to it, they are copied back after the launch. Neither copy is timed. So fills,
// reference values, tolerances, both sets of data and checksums work as for any other buffer. A kernel that changes an
// input there is also detected. Variables and arrays have no guards.
//
// A texture over the buffer's own memory needs no copying, but it needs an object for each copy of the buffer.
#pragma once

#include "tuner/base/units.h"
#include "tuner/gpu/buffers.h"
#include "tuner/gpu/module_state.h"

struct symbol_binding {
    unsigned buffer;
    uint64_t address; // of a variable; 0: the buffer's array
    bool taken;       // kernels may write to it
};

// A texture over one copy of a buffer.
struct bound_texture {
    unsigned buffer;
    uint64_t address, object;
};

struct symbol_bindings {
    struct cuda *cuda;
    struct buffers *buffers;
    size_t count, texture_count;
    struct symbol_binding list[BUFFERS_MAX + BUFFERS_MAX * UNITS_MAX];
    struct bound_texture *textures;
};

// How one stage sees a buffer.
enum binding_view { BINDING_POINTER = 1, BINDING_TEXTURE = 2, BINDING_SURFACE = 4 };

// A loaded module of a candidate.
struct module_unit {
    struct cuda_module *module; // NULL: not used
    struct module_state state;  // its variables
};

// An input is placed in every unit that has its variable. `views`: for each buffer, an OR of the ways in which the
// stages see it. `kernels`: whether any stage is a kernel of the units. CUDA_REFUSED with the variable's name if no
// unit has the variable, if the variable is too small, or if kernels may write to it and several units have it. The
// caller must release it, even after a failure.
int symbol_bindings_open(struct symbol_bindings *, struct cuda *, struct buffers *, struct module_unit *units,
                         size_t unit_count, const unsigned char views[BUFFERS_MAX], bool kernels, struct error *err);
void symbol_bindings_release(struct symbol_bindings *);

// Enqueues copying one copy of the buffers to the variables and arrays or, with `back`, from them to the buffers.
int symbol_bindings_copy(const struct symbol_bindings *, int64_t shift, bool back, struct error *err);
// The texture or surface object of a buffer's copy.
int symbol_bindings_object(struct symbol_bindings *, unsigned buffer, bool surface, int64_t shift, uint64_t *object,
                           struct error *err);
