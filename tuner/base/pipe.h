// The pipes of a device: what does arithmetic or moves memory, each with a ceiling that is measured. They are listed in
// one table, which the GPU worker, "ceilings" (protocol.h), the plausibility check, a job's `work.pipe`, reports and
// `sweetspot list pipes` all follow.
#ifndef SWEETSPOT_PIPE_H
#define SWEETSPOT_PIPE_H

#include <stdbool.h>
#include <stddef.h>

enum pipe_id {
    PIPE_FP32,
    PIPE_FP64,
    PIPE_MMA_BF16, // mma.sync, from sm_80 on
    PIPE_MMA_F16,
    PIPE_MMA_TF32,
    PIPE_MMA_FP64,
    PIPE_MMA_S8,
    PIPE_MMA_FP8,    // from sm_89 on
    PIPE_WGMMA_BF16, // sm_90a's own
    PIPE_WGMMA_F16,
    PIPE_WGMMA_TF32,
    PIPE_WGMMA_S8,
    PIPE_WGMMA_FP8,
    PIPE_INT_MAD,
    PIPE_INT_ADD,
    PIPE_DPX,       // 32 bits
    PIPE_DPX_PAIRS, // two of 16 bits
    PIPE_READ,      // device memory
    PIPE_COPY,
    PIPE_L2,
    PIPE_SHARED,
    // The faster of mma.sync and wgmma that a device has: what a product of this type can count on.
    PIPE_TENSOR_BF16,
    PIPE_TENSOR_F16,
    PIPE_TENSOR_TF32,
    PIPE_TENSOR_S8,
    PIPE_COUNT
};

// The peaks that the data sheet distinguishes.
enum peak {
    PEAK_FP64,
    PEAK_FP32,
    PEAK_FP64_TENSOR,
    PEAK_TF32,
    PEAK_HALF,     // FP16 and BF16
    PEAK_BYTE,     // INT8 and FP8
    PEAK_FOUR,     // FP4 and INT4
    PEAK_PRODUCTS, // those above multiply matrices
    PEAK_MEMORY = PEAK_PRODUCTS,
    PEAK_CHIP, // between the L2 and the multiprocessors
    PEAK_NONE, // the data sheet does not say
};

struct pipe {
    const char *name;        // as job files and reports say it
    const char *unit;        // "FLOP", "OP" or "B", a second
    const char *key;         // member of "ceilings"; NULL: one of `either`
    enum pipe_id either[2];  // where there is no key: the second where the device has it, else the first
    int from, to;            // architectures that have it: 90 of sm_90a
    enum peak peak;          // its data-sheet figure
    bool arithmetic;         // not memory
    bool lasts;              // its power lowers the clock: for a job that names it, the lasting rate is measured
    const char *macro;       // compiles it in kernels/ceilings.cu, for jobs that name it; NULL: always compiled
    const char *how, *gloss; // how it is measured; what it is
};

extern const struct pipe pipes[PIPE_COUNT];

// The pipe of a name, or NULL; then *nearest (if not NULL) is the most similar name, or NULL if none is similar.
const struct pipe *pipe_find(const char *name, const char **nearest);
// The names of all pipes, NULL at the end; the caller frees the array.
const char **pipe_names(void);
// Whether a device of an architecture has it.
bool pipe_exists(const struct pipe *, int compute);
// The pipe that a device has for it: itself, or one of `either`; NULL where it has neither.
const struct pipe *pipe_on(const struct pipe *, int compute);

// Operations per clock and multiprocessor by the data sheet, dense, a multiply-add being two. 0: the device has no such
// pipe, or the data sheet does not say. An architecture that the table does not know has the highest of all.
double pipe_peak(enum peak, int compute);
// Bytes per clock and multiprocessor between the L2 and the multiprocessors, likewise.
double pipe_chip_bytes(int compute);

#endif
