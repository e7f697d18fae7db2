// templates/gemm_mma.cu on the CPU (tests/emulation): configurations for every path through the template are correct,
// and mistakes in it are detected.
#include "tests/emulated_template.h"

#define MMA "-DBLOCK_M=32 -DBLOCK_N=64 -DWARP_M=32 -DWARP_N=32 -DSTAGES=3 "

TEST(products_by_mma_are_right_in_emulation)
{
    static const char *const cases[] = {
        MMA "-DBLOCK_M=64 -DBLOCK_K=64 -DPERSISTENT=2 -DWORKSPACE=1 -DA_MAJOR=m",
        MMA "-DINPUT=f16 -DOUTPUT=f16 -DB_MAJOR=n -DDOUBLE_BUFFER=0",
        "-DBLOCK_M=96 -DBLOCK_N=128 -DWARP_M=48 -DWARP_N=64 -DBLOCK_K=128 -DSTAGES=2 -DOUTPUT=f32 -DRASTER=1",
        MMA "-DINPUT=tf32 -DOUTPUT=f32 -DBLOCK_K=32 -DPERSISTENT=1",
        MMA "-DINPUT=tf32 -DOUTPUT=bf16 -DBLOCK_K=16 -DA_MAJOR=m -DB_MAJOR=n",
        MMA "-DINPUT=i8 -DOUTPUT=i32 -DBLOCK_K=128 -DPERSISTENT=2 -DWORKSPACE=1",
    };
    char *folder = e2e_folder("mma");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(emulate(folder, "gemm_mma", "gemm_mma", "", cases[i]), cases[i], NULL);
    static const struct {
        const char *script, *macros, *said;
    } mistakes[] = {
        // A stage is read before it has arrived. A stage is refilled while it is read.
        {"s/wait_for_copies<STAGES - 2>/wait_for_copies<STAGES - 1>/", MMA, "off at"},
        {"s/here == 0 ? STAGES - 1 : here - 1/here/", MMA, "off at"},
        // The tile after the incomplete tile is left out. Zeros are missing after the incomplete tile.
        {"s/: step - 1;/: step;/", MMA, "off at"},
        {"s/min(CHUNK, cols - col)/CHUNK/", MMA, "off at"},
        // Lines that are read word by word are swizzled like other lines.
        {"s/line % 4 \\* 2 :/line % 8 :/", MMA "-DINPUT=tf32 -DOUTPUT=f32 -DA_MAJOR=m", "the same bank"},
        // Rows of C overwrite the next tile's first stage. Part of a tile that several blocks share is left out.
        {"s/memory + (STAGES - 1) \\* STAGE/memory/", MMA "-DPERSISTENT=1", "off at"},
        {"s/from -= steps;/from = 0;/", MMA "-DPERSISTENT=2 -DWORKSPACE=1", "off"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        expect(emulate(folder, "gemm_mma", "gemm_mma", mistakes[i].script, mistakes[i].macros), mistakes[i].script,
               mistakes[i].said);
}

TEST_MAIN(NULL, NULL)
