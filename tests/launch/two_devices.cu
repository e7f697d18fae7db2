// Launches an embedded product C = A*B, prints the device that the chosen binary is for, and compares the result with
// the CPU. See tests/measure/two_devices.sh.
//
// -DLOWER=sgemm_2048 -DUPPER=SGEMM_2048 -DHEADER='"best.h"' -DSGEMM_2048_RUNTIME_API
#include HEADER

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define MUST(call)                                                                         \
    do {                                                                                   \
        const int status_ = (int)(call);                                                   \
        if (status_) {                                                                     \
            fprintf(stderr, "%s:%d: %s: status %d\n", __FILE__, __LINE__, #call, status_); \
            return 1;                                                                      \
        }                                                                                  \
    } while (0)

int main()
{
    int count;
    const auto *result = PASTE(LOWER, _results)(&count);
    const long long M = result->size[0], N = result->size[1], K = result->size[2];
    struct PASTE(LOWER, _kernels) kernels;
    cudaDeviceProp device;
    std::vector<float> a(M * K), b(K * N), c(M * N);
    float *A, *B, *C;
    MUST(cudaGetDeviceProperties(&device, 0));
    MUST(PASTE(LOWER, _load)(&kernels));
    const char *taken = PASTE(LOWER, _loaded)(&kernels);
    printf("on %s: the binary for %s was taken\n", device.name, taken);
    for (float &x : a) x = (float)(rand() % 7 - 3); // whole numbers: sums are exact
    for (float &x : b) x = (float)(rand() % 7 - 3);
    MUST(cudaMalloc((void **)&A, a.size() * sizeof(float)));
    MUST(cudaMalloc((void **)&B, b.size() * sizeof(float)));
    MUST(cudaMalloc((void **)&C, c.size() * sizeof(float)));
    MUST(cudaMemcpy(A, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(B, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
    MUST(cudaMemset(C, 255, c.size() * sizeof(float))); // NaN
    MUST(PASTE(LOWER, _launch)(&kernels, 0, M, N, K, A, B, C));
    MUST(cudaMemcpy(c.data(), C, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int sample = 0; sample < 4000; sample++) {
        const long long i = rand() % M, j = rand() % N;
        float sum = 0;
        for (long long k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
        if (c[i * N + j] == sum) continue;
        printf("C[%lld][%lld] is %g, not %g\n", i, j, c[i * N + j], sum);
        return 1;
    }
    printf("4000 elements of the product are right\n");
    PASTE(LOWER, _unload)(&kernels);
    if (!strcmp(device.name, taken)) return 0;
    printf("that is another device's\n");
    return 1;
}
