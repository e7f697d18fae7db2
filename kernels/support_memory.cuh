// The contents and guards that the GPU worker's own kernels write to memory before a launch. Like support_elements.cuh,
// this file includes nothing when NVRTC compiles it.
#define SUPPORT_MEMORY

#ifndef SUPPORT_ELEMENTS
#include "support_elements.cuh"
#endif

enum {
    CONTENT_ZEROS,
    CONTENT_NAN,
    CONTENT_RANDOM,
    CONTENT_INFINITE,
    CONTENT_EXTREME,
    CONTENT_NEAR,
    CONTENT_HIGH,
    CONTENT_LOW,
    CONTENT_LEFT,
    CONTENT_CLOSE,
    CONTENT_PROMISED
}; // tuner/gpu/support.h, which also has the structs
struct element_format {
    u64 sign, exponent, fraction, high;
};
struct content {
    u64 key, kind;
    element_format format;
    u64 near[4];
};

// Contents prepared for generating words: fixed bits (for NEAR, one of four choices) and random bits.
struct content_maker {
    u64 key, base[4], free;
};

// NaN: a quiet NaN that arithmetic and conversions never produce. The NaNs that these produce have all bits of the
// fraction set, or only the highest (PTX ISA, "cvt"). Here the second bit is 0 and the last is 1. For FP8, all bits are
// set.
static __device__ content_maker content_begin(const content &c, u64 key, int kind)
{
    const element_format &f = c.format;
    const u64 top = f.fraction & ~(f.fraction >> 1), last = f.fraction & ~(f.fraction << 1);
    const bool floats = f.exponent != 0;
    u64 base = 0, free = 0;
    switch (kind) {
    case CONTENT_NAN:
        if (!floats)
            free = ~0ull;
        else if (f.fraction & 0x10)
            base = f.exponent | top | last, free = f.sign | (f.fraction & ~(top | top >> 1 | last));
        else
            base = ~0ull;
        break;
    case CONTENT_RANDOM:
        free = ~0ull;
        break;
    case CONTENT_INFINITE:
        if (floats)
            base = f.exponent, free = f.sign;
        else
            base = key >> 63 ? ~0ull : key >> 62 ? f.fraction : f.sign;
        break;
    case CONTENT_EXTREME:
        base = f.high, free = f.sign | (f.fraction & ~f.high);
        break;
    case CONTENT_HIGH:
        base = f.high, free = f.fraction & ~f.high;
        break;
    case CONTENT_LOW:
        base = floats ? f.sign | f.high : f.sign;
        free = floats ? f.fraction & ~f.high : f.sign ? f.fraction & ~f.high : 0; // the smallest unsigned number is 0
        break;
    case CONTENT_NEAR:
        free = floats ? f.fraction & ~top : 0;
        break;
    }
    content_maker m = {key, {base, base, base, base}, free};
    if (kind == CONTENT_NEAR)
        for (int i = 0; i < 4; i++) m.base[i] = c.near[i] & ~free;
    if (kind == CONTENT_PROMISED)
        for (int i = 0; i < 4; i++) m.base[i] = c.near[0];
    return m;
}

// The 8 bytes at offset 8 * place from the beginning of a buffer's data.
static __device__ u64 content_word(const content_maker &m, u64 place)
{
    u64 x = (place + m.key) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    const u64 base = x >> 33 & 1 ? (x >> 32 & 1 ? m.base[3] : m.base[2]) : (x >> 32 & 1 ? m.base[1] : m.base[0]);
    return base | (x & m.free);
}

// The findings about one buffer in one run. All fields start at zero. Indices are complemented, so that the lowest
// index is the highest value and atomicMax finds it.
struct finding {
    u64 bad;                   // elements beyond the bound
    u64 unwritten;             // of these, how many still hold their value from before the launch
    u64 worst;                 // 27 bits of the largest error/allowed, then 37 bits of complemented index
    u64 differ;                // elements that differ bitwise from the first run
    u64 first_differ;          // complemented index of the first of them
    u64 guard_bad;             // guard bytes overwritten
    u64 guard_first;           // complemented offset of the first of them, from the beginning of the front guard
    double sum_squares;        // of error/scale
    double max_scaled;         // largest error/scale
    double got, want, allowed; // at the worst element
    i64 place;                 // its index, -1 if no element differs at all
};
static_assert(sizeof(finding) == 13 * 8, "tuner/gpu/support.h has the same struct");

// A range of guard bytes: `rows` pieces of `bytes` bytes, `pitch` apart. It starts `offset` bytes into the buffer's
// slot. The buffer's data begins at `data`.
struct region {
    u64 address, rows, bytes, pitch, offset, buffer, data;
    element_format format;
};

enum { COPIES = 128, REGIONS = 16, RESTORED = 8 };

// Copies of a problem's memory. A copy is identified by its distance from the first one, a multiple of 1024; the lowest
// bit says which data it holds.
struct copies {
    i64 shift[COPIES];
};

// A writable buffer: `rows` pieces of `bytes` bytes, `pitch` apart (dense: one piece). If its contents are promised, it
// is filled with a constant or from its origin, which has the same pitch.
struct restored {
    u64 address, rows, bytes, pitch, origin[2];
    content held;
};
struct restored_list {
    restored buffer[RESTORED];
};
// For each copy: a key, and the kinds of contents, 4 bits per buffer.
struct restored_kinds {
    u64 key[COPIES];
    u32 kinds[COPIES];
};

// Sets writable buffers to the contents that a launch is to find, in every copy (blockIdx.y).
extern "C" __global__ void support_restore(const __grid_constant__ restored_list list, int count,
                                           const __grid_constant__ copies to,
                                           const __grid_constant__ restored_kinds contents)
{
    const i64 code = to.shift[blockIdx.y], shift = code & ~1023ll;
    u64 stride = (u64)gridDim.x * blockDim.x, first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < count; k++) {
        const restored &b = list.buffer[k];
        const int kind = (int)(contents.kinds[blockIdx.y] >> 4 * k & 15);
        if (kind == CONTENT_LEFT || kind == CONTENT_CLOSE) continue; // CLOSE: done by support_disturb
        const content_maker made = content_begin(b.held, contents.key[blockIdx.y] + b.held.key, kind);
        u8 *at = (u8 *)(b.address + shift);
        const u8 *from = (const u8 *)(kind == CONTENT_PROMISED ? b.origin[code & 1] : 0);
        if (b.rows == 1) {
            u64 n = b.bytes / 16;
            if (from)
                for (u64 i = first; i < n; i += stride) ((uint4 *)at)[i] = ((const uint4 *)from)[i];
            else
                for (u64 i = first; i < n; i += stride) {
                    const u64 low = content_word(made, 2 * i), high = content_word(made, 2 * i + 1);
                    ((uint4 *)at)[i] = {(u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32)};
                }
            for (u64 i = n * 16 + first; i < b.bytes; i += stride)
                at[i] = from ? from[i] : (u8)(content_word(made, i / 8) >> 8 * (i & 7));
        } else if ((b.address | b.bytes | b.pitch) % 4 == 0) {
            u64 width = b.bytes / 4;
            for (u64 i = first; i < b.rows * width; i += stride) {
                u64 row = i / width, offset = row * b.pitch + (i - row * width) * 4;
                *(u32 *)(at + offset) =
                    from ? *(const u32 *)(from + offset) : (u32)(content_word(made, offset / 8) >> 8 * (offset & 7));
            }
        } else {
            for (u64 i = first; i < b.rows * b.bytes; i += stride) {
                u64 row = i / b.bytes, offset = row * b.pitch + (i - row * b.bytes);
                at[offset] = from ? from[offset] : (u8)(content_word(made, offset / 8) >> 8 * (offset & 7));
            }
        }
    }
}

// Overwrites the shared memory of a multiprocessor. Launched with one block per multiprocessor, which uses all of it.
extern "C" __global__ void support_poison(u32 value, int words)
{
    extern __shared__ volatile u32 everything[];
    for (int i = threadIdx.x; i < words; i += blockDim.x) everything[i] = value + i * 0x9e3779b9u;
}

struct guarded {
    region list[REGIONS];
};

// The guards of each copy.
struct guard_contents {
    u64 key[COPIES];
    u8 kind[COPIES];
};

// Checks every guard byte of a problem, in every copy of its memory, with a row of blocks for each region (blockIdx.y)
// and copy (blockIdx.z). If `findings` is null, it writes the guard bytes instead.
extern "C" __global__ void support_guards(const __grid_constant__ guarded regions, const __grid_constant__ copies in,
                                          const __grid_constant__ guard_contents contents, finding *findings)
{
    const region &r = regions.list[blockIdx.y];
    i64 shift = in.shift[blockIdx.z] & ~1023ll;
    u64 n = r.rows * r.bytes, stride = (u64)gridDim.x * blockDim.x;
    const content held = {0, 0, r.format, {0, 0, 0, 0}};
    const content_maker made = content_begin(held, contents.key[blockIdx.z] + r.buffer, contents.kind[blockIdx.z]);
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        u64 row = r.rows == 1 ? 0 : i / r.bytes;
        u64 at = row * r.pitch + (i - row * r.bytes);
        u8 *byte = (u8 *)(r.address + shift + at);
        i64 place = (i64)(r.address + at - r.data);
        u8 meant = (u8)(content_word(made, (u64)(place >> 3)) >> 8 * (place & 7));
        if (!findings) {
            *byte = meant;
        } else if (*byte != meant) {
            atomicAdd(&findings[r.buffer].guard_bad, 1ull);
            atomicMax(&findings[r.buffer].guard_first, ~(r.offset + at));
        }
    }
}
