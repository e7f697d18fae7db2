// The execution units of a device ("pipes"), which do arithmetic or move data. Each unit's ceiling is measured. One
// table lists the units. It is used by the GPU worker, "ceilings" (protocol.h), the plausibility check, a job's
// `work.pipe`, reports and `sweetspot list units`.
#pragma once

#include "tuner/base/base.h"

enum execution_unit_id {
    UNIT_FP32,
    UNIT_FP64,
    UNIT_MMA_BF16, // mma.sync, from sm_80 on
    UNIT_MMA_F16,
    UNIT_MMA_TF32,
    UNIT_MMA_FP64,
    UNIT_MMA_S8,
    UNIT_MMA_FP8,    // from sm_89 on
    UNIT_WGMMA_BF16, // only on sm_90a
    UNIT_WGMMA_F16,
    UNIT_WGMMA_TF32,
    UNIT_WGMMA_S8,
    UNIT_WGMMA_FP8,
    UNIT_INT_MAD,
    UNIT_INT_ADD,
    UNIT_DPX,       // 32 bits
    UNIT_DPX_PAIRS, // two of 16 bits
    UNIT_READ,      // device memory
    UNIT_COPY,
    UNIT_L2,
    UNIT_SHARED,
    // For matrix products of this type: wgmma if the device has it, otherwise mma.sync.
    UNIT_TENSOR_BF16,
    UNIT_TENSOR_F16,
    UNIT_TENSOR_TF32,
    UNIT_TENSOR_S8,
    UNIT_COUNT
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
    PEAK_PRODUCTS, // the peaks above are those of matrix products
    PEAK_MEMORY = PEAK_PRODUCTS,
    PEAK_CHIP, // between the L2 and the multiprocessors
    PEAK_NONE, // not in the data sheet
};

struct execution_unit {
    const char *name;                 // in job files and reports
    const char *unit;                 // counted per second: "FLOP", "OP" or "B"
    const char *key;                  // member of "ceilings"; NULL: one of `either`
    enum execution_unit_id either[2]; // if there is no key: the second if the device has it, otherwise the first
    int from, to;                     // architectures that have it: 90 for sm_90a
    enum peak peak;                   // its data-sheet figure
    bool arithmetic;                  // not memory
    bool lasts;              // its power consumption lowers the clock, so the sustained rate is measured for jobs that
                             // name it
    const char *macro;       // makes kernels/ceilings.cu compile it, for jobs that name it; NULL: always compiled
    const char *how, *gloss; // how it is measured; what it is
};

extern const struct execution_unit execution_units[UNIT_COUNT];

// The unit with this name. If there is none, returns NULL and sets *nearest (if not NULL) to the most similar name, or
// to NULL if none is similar.
const struct execution_unit *pipe_find(const char *name, const char **nearest);
// Whether devices of this architecture have the unit.
bool pipe_exists(const struct execution_unit *, int compute);
// The unit that a device uses for this one: the unit itself, or one of `either`; NULL if the device has neither.
const struct execution_unit *pipe_on(const struct execution_unit *, int compute);

// Dense operations (for PEAK_CHIP, bytes) per clock and multiprocessor according to the data sheet. A multiply-add
// counts as two operations. Returns 0 if the device has no such unit, or if the data sheet does not state the value. An
// architecture that is not in the table gets the highest value in the table.
double pipe_peak(enum peak, int compute);
