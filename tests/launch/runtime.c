/* Tests sweetspot_runtime.c on the fake libcuda: choices, refusals and messages. The kernels' descriptions are written
 * here. The arguments are a folder with kernels in files, and the name of one of the kernels' jobs. C99 and C++. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWEETSPOT_DECLARATIONS
#include "include/sweetspot_runtime.c"

#include "expect.h"

#ifdef __cplusplus
extern "C" {
#endif
extern int fake_loads, fake_functions, fake_capturing, fake_launches, fake_generation;
extern char fake_launched[64];
#ifdef __cplusplus
}
#endif

enum { MOST = 16 };
static char texts[MOST][1024], notices[8192], misses[1024];
static struct sweetspot_embedded kernels[MOST + 1];
static int kernel_count, fallbacks;

/* A kernel whose symbol is its name; sizes from 1 to `most`. */
static void kernel(const char *name, const char *device, const char *needs, const char *toolkit, const char *problem,
                   int most, const char *image)
{
    snprintf(
        texts[kernel_count], sizeof texts[0],
        "job %s\ndevice %s\ntoolkit %s\ndriver 580.1\nfinal the final of May\nsizes M N\nbuffers x:f32:in "
        "y:f32:out\nneeds %s 16 1\nunits 0\nwork 1\nblocks 0\nproblem %s\nsupported #0 1 >= #0 %d <= && #1 0 > &&\n"
        "stage 0 0 0 0 %s\nlaunch 1 0 0 #0 64 ceil_div 1 1 32 1 1 1 1 1 0 shape 0 -1 0 pointer 0 -1 1 pointer\n",
        name, device, toolkit, needs, problem, most, name);
    kernels[kernel_count].text = texts[kernel_count];
    kernels[kernel_count++].image = (const unsigned char *)image;
}

static void notice(void *user, const char *text)
{
    EXPECT(user == (void *)notices);
    strcat(strcat(notices, text), "\n");
}

static void miss(void *user, const char *sizes)
{
    (void)user;
    strcat(strcat(misses, sizes), ";");
}

static int other(void *user, CUstream stream, const long long *sizes, const CUdeviceptr *buffers)
{
    (void)user, (void)stream, (void)buffers;
    fallbacks++;
    return sizes[0] > 0 ? 0 : SWEETSPOT_SIZES;
}

static const struct sweetspot_callbacks callbacks = {notices, notice, miss, 0};
static const CUdeviceptr memory[2] = {(1ULL << 40) + 4096, (1ULL << 40) + 8192};

/* Adds the kernels collected so far, and empties the list. */
static int add_to(struct sweetspot *set)
{
    int refused = sweetspot_add(set, kernels);
    kernel_count = 0;
    memset(kernels, 0, sizeof kernels);
    return refused;
}

static struct sweetspot *set_of(const struct sweetspot_callbacks *call)
{
    struct sweetspot *set = sweetspot_new(call);
    *notices = *misses = 0;
    EXPECT(set && !add_to(set));
    return set;
}

static int launch(struct sweetspot *set, long long m, long long n)
{
    const long long sizes[2] = {m, n};
    memset(fake_launched, 0, sizeof fake_launched);
    return sweetspot_launch(set, 0, sizes, memory);
}

static int launches(struct sweetspot *set, long long m, long long n, const char *name)
{
    return !launch(set, m, n) && !strcmp(fake_launched, name);
}

static void enter(int device, int number)
{
    CUcontext context = (CUcontext)(size_t)(0x1000 * (device + 1) + number), last;
    while (cuCtxPopCurrent(&last) == CUDA_SUCCESS) {
    }
    EXPECT(cuCtxPushCurrent(context) == CUDA_SUCCESS);
}

/* The current device is an H200 with 132 multiprocessors. */
static void check_choice(void)
{
    struct sweetspot *set;
    kernel("near", "NVIDIA H200", "90 132", "13.0", "1e-3 64 64", 1000, "\177ELFa");
    kernel("far", "NVIDIA H200", "90 132", "13.0", "1e-3 512 512", 1000, "\177ELFb");
    kernel("faster", "NVIDIA H200", "90 132", "13.0", "1e-4 512 512", 1000, "\177ELFc");
    kernel("fewer", "NVIDIA H100 PCIe", "90 114", "13.0", "1e-9 64 64", 4000, "\177ELFd");
    kernel("least", "NVIDIA H20", "90 78", "13.0", "1e-9 64 64", 5000, "\177ELFe");
    kernel("more", "NVIDIA Hbig", "90 144", "13.0", "1e-9 64 64", 6000, "\177ELFf");
    kernel("other", "NVIDIA A100", "80 108", "13.0", "1e-9 64 64", 6000, "\177ELFg");
    kernel("portable", "NVIDIA A100", "80 108", "13.0", "1e-9 64 64", 7000, ".version 8.0");
    kernel("late", "NVIDIA H200", "90 132", "14.0", "1e-9 64 64", 8000, "\177ELFh");
    set = set_of(&callbacks);
    EXPECT(launches(set, 64, 64, "near"));
    EXPECT(launches(set, 128, 64, "near"));
    EXPECT(launches(set, 448, 512, "faster"));
    EXPECT(launches(set, 1001, 64, "fewer"));
    EXPECT(launches(set, 4001, 64, "least"));
    EXPECT(launches(set, 5001, 64, "portable"));
    EXPECT(!*misses);
    EXPECT(launch(set, 7001, 64) == SWEETSPOT_OLD_DRIVER);
    EXPECT(launch(set, 8001, 64) == SWEETSPOT_SIZES);
    EXPECT(launch(set, 8001, 64) == SWEETSPOT_SIZES);
    EXPECT(launch(set, 64, 0) == SWEETSPOT_SIZES);
    EXPECT(launch(set, 9000, 65) == SWEETSPOT_SIZES);
    EXPECT(!strcmp(misses, "M=7001,N=64;M=8001,N=64;M=9000,N=65;"));
    EXPECT(strstr(notices, "near: changed since the final of May: driver (590.44 instead of 580.1)\n"));
    EXPECT(strstr(notices, "fewer: changed since the final of May: GPU (NVIDIA H200 instead of NVIDIA H100 PCIe), "
                           "driver (590.44 instead of 580.1)\n"));
    sweetspot_free(set);
    kernel("elsewhere", "NVIDIA A100", "80 108", "13.0", "1e-3 64 64", 1000, "\177ELFa");
    set = set_of(&callbacks);
    EXPECT(launch(set, 64, 64) == SWEETSPOT_NO_BINARY && !strcmp(misses, "M=64,N=64;"));
    sweetspot_free(set);
    set = set_of(0);
    EXPECT(launch(set, 64, 64) == SWEETSPOT_NO_BINARY);
    sweetspot_free(set);
}

/* Kernels that cannot be loaded are skipped and reported once. */
static void check_images(void)
{
    struct sweetspot *set;
    kernel("newer", "NVIDIA H200", "90 132", "13.0", "1e-3 64 64", 1000, ".version 9.9");
    kernel("foreign", "NVIDIA H200", "90 132", "13.0", "1e-2 64 64", 1000, "\177ELF?");
    set = set_of(&callbacks);
    EXPECT(launch(set, 64, 64) == SWEETSPOT_OLD_DRIVER);
    EXPECT(launch(set, 64, 65) == SWEETSPOT_OLD_DRIVER);
    EXPECT(!strcmp(notices, "newer cannot be loaded: the driver is older than the binary's toolkit\n"
                            "foreign cannot be loaded: no binary for this device\n"));
    kernel("right", "NVIDIA H200", "90 132", "13.0", "1e-1 64 64", 1000, "\177ELFa");
    EXPECT(!add_to(set) && launches(set, 64, 64, "right"));
    sweetspot_free(set);
}

static void check_arrays(void)
{
    const long long sizes[2] = {64, 64};
    const CUdeviceptr elsewhere[2] = {memory[0], (2ULL << 40) + 4096}, host[2] = {4096, memory[1]};
    const CUdeviceptr odd[2] = {memory[0] + 4, memory[1]}, missing[2] = {memory[0], 0};
    struct sweetspot_callbacks call = callbacks;
    struct sweetspot *set;
    call.fallback = other;
    kernel("one", "NVIDIA H200", "90 132", "13.0", "1e-3 64 64", 1000, "\177ELFa");
    set = set_of(&call);
    EXPECT(launches(set, 64, 64, "one"));
    *fake_launched = 0;
    EXPECT(sweetspot_launch(set, 0, sizes, elsewhere) == SWEETSPOT_OTHER_DEVICE);
    EXPECT(sweetspot_launch(set, 0, sizes, host) == SWEETSPOT_OTHER_DEVICE);
    EXPECT(sweetspot_launch(set, 0, sizes, odd) == SWEETSPOT_MISALIGNED);
    EXPECT(sweetspot_launch(set, 0, sizes, missing) == SWEETSPOT_NO_POINTER);
    EXPECT(!*fake_launched && !fallbacks);
    EXPECT(!launch(set, 1001, 64) && !*fake_launched && fallbacks == 1);
    EXPECT(launch(set, -1, 64) == SWEETSPOT_SIZES && fallbacks == 2 && !strcmp(misses, "M=1001,N=64;"));
    kernel("two", "NVIDIA H200", "90 132", "13.0", "1e-4 64 64", 1000, "\177ELFb");
    memcpy(strstr(texts[0], "x:f32"), "z", 1);
    EXPECT(add_to(set) == 1 && strstr(notices, "two is refused: it has other sizes or buffers than one"));
    kernel("two", "NVIDIA H200", "90 132", "13.0", "1e-4 64 64", 1000, "\177ELFb");
    memcpy(strstr(texts[0], "ceil_div"), "ceil_mod", 8);
    EXPECT(add_to(set) == 1 && strstr(notices, "two is refused: its text is not of this version"));
    EXPECT(launches(set, 64, 64, "one"));
    sweetspot_free(set);
}

static void check_many(void)
{
    struct sweetspot *set = sweetspot_new(&callbacks);
    int i, refused = 0;
    *notices = 0;
    kernel("one", "NVIDIA H200", "90 132", "13.0", "1e-3 64 64", 1000, "\177ELFa");
    for (i = 0; i < 4096; i++) refused += sweetspot_add(set, kernels);
    EXPECT(!refused && !*notices && add_to(set) == 1);
    EXPECT(!strcmp(notices, "one is refused: there are too many kernels\n"));
    sweetspot_free(set);
}

static struct sweetspot *shared;

static void *work(void *device)
{
    const int number = device ? 1 : 0;
    const CUdeviceptr own[2] = {((unsigned long long)number + 1) << 40, (((unsigned long long)number + 1) << 40) + 64};
    long long sizes[2] = {64, 64};
    enter(number, 0);
    for (sizes[0] = 1; sizes[0] <= 200; sizes[0]++) EXPECT(!sweetspot_launch(shared, 0, sizes, own));
    return 0;
}

static void check_threads(void)
{
    pthread_t threads[4];
    int i, loads = fake_loads, functions = fake_functions, before = fake_launches;
    kernel("one", "NVIDIA H200", "90 132", "13.0", "1e-3 64 64", 1000, "\177ELFa");
    shared = set_of(&callbacks);
    for (i = 0; i < 4; i++) EXPECT(!pthread_create(&threads[i], 0, work, i % 2 ? (void *)&i : 0));
    for (i = 0; i < 4; i++) EXPECT(!pthread_join(threads[i], 0));
    EXPECT(fake_launches == before + 800 && fake_loads == loads + 1 && fake_functions == functions + 2);
    enter(0, 0);
    EXPECT(!launch(shared, 64, 64) && fake_functions == functions + 2);
    enter(0, 1);
    EXPECT(!launch(shared, 64, 64) && fake_functions == functions + 3);
    fake_generation = 1; /* another context with the same handle */
    EXPECT(!launch(shared, 64, 64) && fake_functions == functions + 4);
    sweetspot_free(shared);
    enter(0, 0);
}

static void check_capture(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    struct sweetspot *set;
    kernel("one", "NVIDIA H200", "90 132", "13.0", "1e-3 64 64", 1000, "\177ELFa");
    set = set_of(&callbacks);
    EXPECT(cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS && mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
    fake_capturing = 1;
    EXPECT(launches(set, 64, 64, "one"));
    fake_capturing = 0;
    EXPECT(cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS && mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    sweetspot_free(set);
}

static char missed_file[512];

static void append_miss(void *user, const char *sizes)
{
    (void)user;
    sweetspot_append_miss(missed_file, sizes);
}

/* Prints the number of refused files and the launched kernel, and appends missing sizes to the folder's `missed`. */
static void check_folder(const char *folder, const char *job)
{
    struct sweetspot_callbacks call = callbacks;
    struct sweetspot *set;
    int refused, status;
    snprintf(missed_file, sizeof missed_file, "%s/missed", folder);
    call.miss = append_miss;
    set = sweetspot_new(&call);
    refused = sweetspot_add_folder(set, folder, job);
    status = launch(set, 4096, 4096);
    printf("%s%d refused: %s %s\n", notices, refused, sweetspot_status_text(status), fake_launched);
    launch(set, 4096, 64);
    launch(set, 512, 64);
    launch(set, 4096, 64);
    sweetspot_free(set);
}

int main(int argc, char **argv)
{
    const long long sizes[2] = {64, 64};
    struct sweetspot *set = sweetspot_new(0);
    EXPECT(sweetspot_launch(set, 0, sizes, memory) == SWEETSPOT_CUDA_ERROR + (int)CUDA_ERROR_INVALID_CONTEXT);
    sweetspot_free(set);
    enter(0, 0);
    if (argc > 2) return check_folder(argv[1], argv[2]), 0;
    check_choice();
    check_images();
    check_arrays();
    check_many();
    check_threads();
    check_capture();
    return 0;
}
