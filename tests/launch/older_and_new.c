/* A header of an older version of sweetspot (tests/headers) and a new header of the same job compile in one translation
 * unit, and make the same launch through the fake driver. The exit status shows what differs. */
#define OLDER_GEMM_DRIVER_API
#define MINI_GEMM_DRIVER_API
#include "fake_driver.h"

#include "older_best.h"

#include "include/mini_best.h"

const unsigned char older_gemm_binary_65105387e4dd93d6[5000] = {127, 'E', 'L', 'F'};

static int older_call(void *user, const char *stage, older_gemm_stream stream)
{
    (void)user, (void)stage, (void)stream;
    return 0;
}

static int new_call(void *user, const char *stage, mini_gemm_stream stream)
{
    (void)user, (void)stage, (void)stream;
    return 0;
}

static int same(int a, int b)
{
    return !memcmp(&fake_launch[a].config, &fake_launch[b].config, 7 * sizeof(unsigned)) &&
           !memcmp(fake_launch[a].arguments, fake_launch[b].arguments, sizeof fake_launch[a].arguments) &&
           !memcmp(fake_launch[a].bytes, fake_launch[b].bytes, sizeof fake_launch[a].bytes) &&
           !memcmp(fake_launch[a].map, fake_launch[b].map, 64) && /* the part that the fake driver writes */
           !strcmp(fake_launch[a].symbol, fake_launch[b].symbol);
}

int main(void)
{
    static const int first[] = {128, 8, 1, 4, 4, 8, 4, 8, 2, 2, 8, 0}, second[] = {8, 4, 8, 32, 16, 0};
    static struct older_gemm_kernels older;
    static struct mini_gemm_kernels k;
    int i;
    for (i = 0; i < 4; i++) memcpy(fake_sizes[i], i % 2 ? second : first, i % 2 ? sizeof second : sizeof first);
    if (older_gemm_load(&older) || mini_gemm_load(&k)) return 1;
    if (older_gemm_launch(&older, 0, 4096, 4096, 0x1000, 0x2000, 0x3000, 0x4000, older_call, 0)) return 2;
    if (mini_gemm_launch(&k, 0, 4096, 4096, 0x1000, 0x2000, 0x3000, 0x4000, new_call, 0)) return 3;
    if (fake_launches != 4 || !same(0, 2) || !same(1, 3)) return 4;
    if (older_gemm_launch(&older, 0, 4096, 77, 0x1000, 0x2000, 0x3000, 0x4000, older_call, 0) !=
        mini_gemm_launch(&k, 0, 4096, 77, 0x1000, 0x2000, 0x3000, 0x4000, new_call, 0))
        return 5;
    if (OLDER_GEMM_SECONDS != MINI_GEMM_SECONDS || OLDER_GEMM_SOURCE_HASH != MINI_GEMM_SOURCE_HASH) return 6;
    if (older_gemm_bytes_x(1000, 77) != mini_gemm_bytes_x(1000, 77)) return 7;
    return older_gemm_mini_argument_5(1000, 77) == mini_gemm_mini_argument_5(1000, 77) ? 0 : 8;
}
