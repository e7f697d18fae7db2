// Prints how the tuned kernel of configs/sgemm_2048.cfg is launched for a product of given sizes, and on which device
// it was measured. Needs no GPU.
#include <stdio.h>
#include <stdlib.h>

#include "sgemm_2048_best.h"

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: geometry M N K\n");
        return 2;
    }
    const long long m = atoll(argv[1]), n = atoll(argv[2]), k = atoll(argv[3]);
    const struct sgemm_2048_launch_shape g = sgemm_2048_geometry(m, n, k);
    printf("%s on %s, source %s\n", SGEMM_2048_TEMPLATE, SGEMM_2048_DEVICE_NAME, SGEMM_2048_SOURCE_HASH_TEXT);
    printf("grid %ux%ux%u, block %ux%ux%u, %u bytes of shared memory\n", g.grid[0], g.grid[1], g.grid[2], g.block[0],
           g.block[1], g.block[2], g.shared_bytes);
    return 0;
}
