// Times an embedded binary through name_launch by the final's protocol. Launches have a cold cache and are timed singly
// or, below 20 us, in a graph with a copy of the memory for each launch. This program is one process;
// tests/measure/embedded.sh runs it three times.
//
// -DLOWER=sgemm -DUPPER=SGEMM -DHEADER='"sgemm_best.h"' -DSGEMM_RUNTIME_API -include FILE
// FILE: #define SIZES(s) s[0], s[1], s[2]
// Prints a line per problem: its number, the median measured here, and the time in the header with its interval, all in
// seconds.
#include HEADER

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define BUFFERS PASTE(UPPER, _BUFFERS)
#define MUST(call)                                                                         \
    do {                                                                                   \
        const int status_ = (int)(call);                                                   \
        if (status_) {                                                                     \
            fprintf(stderr, "%s:%d: %s: status %d\n", __FILE__, __LINE__, #call, status_); \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

typedef float type_f32;
typedef double type_f64;
typedef void type_f16;
typedef void type_bf16;
typedef signed char type_i8;
typedef int type_i32;
typedef unsigned type_u32;
typedef long long type_i64;
#define POINTER_in(type) const type *
#define POINTER_out(type) type *
#define POINTER_inout(type) type *
#define POINTER_scratch(type) type *
enum { SAMPLES = 30, COPIES_MAX = 128 };
static const double graph_below = 20e-6, graph_time = 300e-6;

static struct PASTE(LOWER, _kernels) kernels;
static cudaStream_t stream;

#define INDEX(direction, type, name) INDEX_##name,
enum { BUFFERS(INDEX) BUFFER_COUNT };

struct problem {
    const long long *size;
    size_t offset[BUFFER_COUNT], bytes;
};

static size_t place(struct problem *p, int buffer, long long bytes)
{
    p->offset[buffer] = p->bytes;
    return p->bytes += ((size_t)bytes + 255) / 256 * 256;
}

static void launch(const struct problem &p, char *memory)
{
    const long long *s = p.size;
#define PASS(direction, type, name) , (POINTER_##direction(type_##type))(memory + p.offset[INDEX_##name])
    MUST(PASTE(LOWER, _launch)(&kernels, stream, SIZES(s) BUFFERS(PASS)));
}

// Fills inputs with random values of the type, in its usual range, outputs with NaN, and scratch with 0.
static void fill(char *to, size_t bytes, const char *direction, const char *type)
{
    const bool real = type[0] == 'f' || type[0] == 'b';
    for (size_t i = 0; i < bytes; i++) to[i] = direction[0] == 's' ? 0 : direction[0] == 'o' ? (char)255 : 0;
    if (direction[0] == 's' || direction[0] == 'o') return;
    const size_t size = !strcmp(type, "i8") ? 1 : strstr(type, "16") ? 2 : strstr(type, "64") ? 8 : 4;
    for (size_t i = 0; i + size <= bytes; i += size) {
        const float x = 2 * ((float)rand() / (float)RAND_MAX) - 1;
        const double wide = x;
        const int whole = rand() % 10;
        unsigned bits;
        memcpy(&bits, &x, 4);
        const unsigned short upper = (unsigned short)(bits >> 16);
        // FP16: the sign, an exponent of -1 to -4, a random fraction
        const unsigned short half = (unsigned short)((bits >> 16 & 0x8000) | (11 + rand() % 4) << 10 | (rand() & 1023));
        if (!real)
            to[i] = (char)whole;
        else if (size == 8)
            memcpy(to + i, &wide, 8);
        else if (size == 4)
            memcpy(to + i, &x, 4);
        else
            memcpy(to + i, type[0] == 'b' ? &upper : &half, 2);
    }
}

__global__ void read_all(const uint4 *from, size_t n, unsigned *sink)
{
    unsigned sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum ^= from[i].x ^ from[i].w;
    if (sum == 12345) *sink = sum;
}

static double time_problem(struct problem &p, double stated)
{
    std::vector<char> host;
    char *pristine, *memory, *flush;
    int l2, device;
    size_t room, total;
    MUST(cudaGetDevice(&device));
    MUST(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
#define PLACE(direction, type, name) place(&p, INDEX_##name, PASTE(LOWER, _bytes_##name)(SIZES(p.size)));
    BUFFERS(PLACE)
    host.resize(p.bytes);
#define FILL(direction, type, name) \
    fill(&host[p.offset[INDEX_##name]], (size_t)PASTE(LOWER, _bytes_##name)(SIZES(p.size)), #direction, #type);
    BUFFERS(FILL)
    MUST(cudaMemGetInfo(&room, &total));
    size_t copies = stated < graph_below ? (size_t)(graph_time / stated) + 1 : 1;
    if (copies > COPIES_MAX) copies = COPIES_MAX;
    if (copies * p.bytes > total / 16) copies = 1;
    const size_t flush_bytes = 2 * (size_t)l2;
    MUST(cudaMalloc((void **)&pristine, p.bytes));
    MUST(cudaMalloc((void **)&memory, copies * p.bytes));
    MUST(cudaMalloc((void **)&flush, flush_bytes));
    MUST(cudaMemset(flush, 0, flush_bytes));
    MUST(cudaMemcpy(pristine, &host[0], p.bytes, cudaMemcpyHostToDevice));
    cudaGraphExec_t graph = 0;
    if (copies > 1) {
        cudaGraph_t captured;
        MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (size_t i = 0; i < copies; i++) launch(p, memory + i * p.bytes);
        MUST(cudaStreamEndCapture(stream, &captured));
        MUST(cudaGraphInstantiate(&graph, captured, 0));
        MUST(cudaGraphDestroy(captured));
    }
    cudaEvent_t begin[SAMPLES + 1], end[SAMPLES + 1];
    for (int i = 0; i <= SAMPLES; i++) {
        MUST(cudaEventCreate(&begin[i]));
        MUST(cudaEventCreate(&end[i]));
        for (int again = 0; again < (graph ? 2 : 1); again++) { // a graph runs once untimed
            for (size_t k = 0; k < copies; k++)
                MUST(cudaMemcpyAsync(memory + k * p.bytes, pristine, p.bytes, cudaMemcpyDeviceToDevice, stream));
            if (graph && !again) MUST(cudaGraphLaunch(graph, stream));
        }
        read_all<<<1024, 256, 0, stream>>>((const uint4 *)flush, flush_bytes / 16, (unsigned *)flush);
        MUST(cudaEventRecord(begin[i], stream));
        if (graph)
            MUST(cudaGraphLaunch(graph, stream));
        else
            launch(p, memory);
        MUST(cudaEventRecord(end[i], stream));
    }
    MUST(cudaStreamSynchronize(stream)); // only after a whole batch of samples, as in the final
    std::vector<double> times;
    for (int i = 0; i <= SAMPLES; i++) {
        float ms;
        MUST(cudaEventElapsedTime(&ms, begin[i], end[i]));
        if (i) times.push_back(1e-3 * ms / (double)copies); // the first may include lazy loading
    }
    if (graph) MUST(cudaGraphExecDestroy(graph));
    MUST(cudaFree(pristine));
    MUST(cudaFree(memory));
    MUST(cudaFree(flush));
    std::sort(times.begin(), times.end());
    return (times[SAMPLES / 2 - 1] + times[SAMPLES / 2]) / 2;
}

int main()
{
    int count;
    const auto *results = PASTE(LOWER, _results)(&count);
    MUST(cudaStreamCreate(&stream));
    MUST(PASTE(LOWER, _load)(&kernels));
    for (int i = 0; i < count; i++) {
        if (results[i].section != kernels.section) continue;
        struct problem p = {};
        p.size = results[i].size;
        const double measured = time_problem(p, results[i].seconds);
        printf("%d %.9g %.9g %.9g %.9g\n", i, measured, results[i].seconds, results[i].low, results[i].high);
    }
    PASTE(LOWER, _unload)(&kernels);
    return 0;
}
