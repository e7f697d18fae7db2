// templates/gemm_simt.cu, transpose.cu, and the code of gemm_wgmma.cu for partial sums, on the CPU (tests/emulation):
// configurations for every path through the template are correct, and mistakes in it are detected.
#include "tests/emulated_template.h"

static const char *const configurations[] = {
    // Copies of one float and of four floats, directly and through registers; rings of one to four slots.
    "-DBLOCK_M=32 -DBLOCK_N=64 -DWARP_M=16 -DWARP_N=64 -DLANE_ROWS=2 -DVECTOR=1 -DA_ASYNC=1 -DSTAGES=1 "
    "-DDOUBLE_BUFFER=0 -DSPLIT_K=1",
    "-DBLOCK_M=32 -DBLOCK_N=64 -DWARP_M=16 -DWARP_N=64 -DLANE_ROWS=2 -DVECTOR=4 -DA_ASYNC=0 -DSTAGES=2 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=1 -DCOLUMN_WISE=2",
    "-DBLOCK_M=64 -DBLOCK_N=64 -DWARP_M=32 -DWARP_N=32 -DLANE_ROWS=4 -DVECTOR=4 -DA_ASYNC=1 -DSTAGES=3 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=1 -DBLOCK_K=16 -DCOLUMN_WISE=3",
    "-DBLOCK_M=64 -DBLOCK_N=64 -DWARP_M=32 -DWARP_N=32 -DLANE_ROWS=8 -DVECTOR=1 -DA_ASYNC=0 -DSTAGES=4 "
    "-DDOUBLE_BUFFER=0 -DSPLIT_K=1 -DLANE_PAIRS=0 -DCOLUMN_WISE=0",
    // Warp tiles whose rows divide into patches of four with a remainder of two; copies that do not divide evenly.
    "-DBLOCK_M=72 -DBLOCK_N=64 -DWARP_M=72 -DWARP_N=64 -DLANE_ROWS=4 -DVECTOR=4 -DA_ASYNC=1 -DSTAGES=2 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=1",
    "-DBLOCK_M=80 -DBLOCK_N=64 -DWARP_M=80 -DWARP_N=32 -DLANE_ROWS=8 -DVECTOR=4 -DA_ASYNC=0 -DSTAGES=3 "
    "-DDOUBLE_BUFFER=0 -DSPLIT_K=1 -DRASTER=1",
    // Transposed operands.
    "-DBLOCK_M=64 -DBLOCK_N=64 -DWARP_M=32 -DWARP_N=32 -DLANE_ROWS=4 -DVECTOR=4 -DA_ASYNC=1 -DSTAGES=2 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=1 -DTRANSPOSE_A=1 -DCOLUMN_WISE=4",
    "-DBLOCK_M=64 -DBLOCK_N=64 -DWARP_M=32 -DWARP_N=32 -DLANE_ROWS=4 -DVECTOR=1 -DA_ASYNC=0 -DSTAGES=3 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=1 -DTRANSPOSE_B=1 -DCOLUMN_WISE=5",
    "-DBLOCK_M=32 -DBLOCK_N=64 -DWARP_M=32 -DWARP_N=32 -DLANE_ROWS=4 -DVECTOR=4 -DA_ASYNC=0 -DSTAGES=2 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1",
    // Partial sums.
    "-DBLOCK_M=32 -DBLOCK_N=64 -DWARP_M=32 -DWARP_N=32 -DLANE_ROWS=4 -DVECTOR=4 -DA_ASYNC=1 -DSTAGES=2 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=3 -DFINISH=last_block -DCOLUMN_WISE=6",
    "-DBLOCK_M=32 -DBLOCK_N=64 -DWARP_M=32 -DWARP_N=32 -DLANE_ROWS=4 -DVECTOR=1 -DA_ASYNC=1 -DSTAGES=3 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=5 -DFINISH=two_pass -DTAIL=1 -DAFTER_LAUNCH=1",
    "-DBLOCK_M=64 -DBLOCK_N=64 -DWARP_M=16 -DWARP_N=64 -DLANE_ROWS=2 -DVECTOR=4 -DA_ASYNC=1 -DSTAGES=2 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=2 -DFINISH=two_pass -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DAFTER_LAUNCH=2",
    "-DBLOCK_M=32 -DBLOCK_N=64 -DWARP_M=16 -DWARP_N=64 -DLANE_ROWS=2 -DVECTOR=1 -DA_ASYNC=0 -DSTAGES=2 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=1 -DAFTER_LAUNCH=2",
    // Copies with aligned rows, for both operands and for B only.
    "-DBLOCK_M=48 -DBLOCK_N=64 -DWARP_M=24 -DWARP_N=64 -DLANE_ROWS=2 -DVECTOR=4 -DA_ASYNC=0 -DSTAGES=2 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=2 -DFINISH=two_pass -DALIGNED=1",
    "-DBLOCK_M=64 -DBLOCK_N=32 -DWARP_M=32 -DWARP_N=32 -DLANE_ROWS=4 -DVECTOR=4 -DA_ASYNC=1 -DSTAGES=3 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=1 -DALIGNED=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1",
    "-DBLOCK_M=32 -DBLOCK_N=64 -DWARP_M=16 -DWARP_N=64 -DLANE_ROWS=2 -DVECTOR=4 -DA_ASYNC=1 -DSTAGES=2 "
    "-DDOUBLE_BUFFER=1 -DSPLIT_K=1 -DALIGNED=2 -DCOLUMN_WISE=7",
};

TEST(products_are_right_in_emulation)
{
    char *folder = e2e_folder("emulation");
    for (size_t i = 0; i < sizeof configurations / sizeof *configurations; i++)
        expect(emulate(folder, "gemm_simt", "gemm_simt", "", configurations[i]), configurations[i], NULL);
}

TEST(mistakes_in_the_template_are_seen_in_emulation)
{
    static const struct {
        const char *script, *macros;
    } cases[] = {
        // The wait for a copy comes one tile too late.
        {"s/wait_for_copies<larger(0, STAGES - 2)>/wait_for_copies<larger(0, STAGES - 1)>/",
         "-DBLOCK_M=32 -DBLOCK_N=64 -DWARP_M=16 -DWARP_N=64 -DLANE_ROWS=2 -DVECTOR=4 -DA_ASYNC=1 -DSTAGES=3 "
         "-DDOUBLE_BUFFER=1 -DSPLIT_K=1"},
        // The ring's slots are confused.
        {"s/slot == 0 ? (STAGES - 1) \\* SLOT : slot - SLOT/slot/",
         "-DBLOCK_M=32 -DBLOCK_N=64 -DWARP_M=16 -DWARP_N=64 -DLANE_ROWS=2 -DVECTOR=4 -DA_ASYNC=0 -DSTAGES=3 "
         "-DDOUBLE_BUFFER=1 -DSPLIT_K=1"},
        // The remaining rows of a thread are in the wrong place.
        {"s/lane_m \\* (TILE_ROW_SIZE - REST_ROWS)/lane_m * TILE_ROW_SIZE/",
         "-DBLOCK_M=72 -DBLOCK_N=64 -DWARP_M=72 -DWARP_N=64 -DLANE_ROWS=4 -DVECTOR=4 -DA_ASYNC=1 -DSTAGES=2 "
         "-DDOUBLE_BUFFER=1 -DSPLIT_K=1"},
        // The last line is forgotten for rows that begin within a line.
        {"s/i < cols + 31;/i < cols;/", "-DBLOCK_M=32 -DBLOCK_N=64 -DWARP_M=16 -DWARP_N=64 -DLANE_ROWS=2 -DVECTOR=1 "
                                        "-DA_ASYNC=0 -DSTAGES=2 -DDOUBLE_BUFFER=1 -DSPLIT_K=1 -DAFTER_LAUNCH=2"},
        // Aligned copies read past the matrix's edge.
        {"s/there \\&\\& i < cols ? __ldcs(from + i) : 0.0f/__ldcs(from + i)/",
         "-DBLOCK_M=32 -DBLOCK_N=64 -DWARP_M=16 -DWARP_N=64 -DLANE_ROWS=2 -DVECTOR=4 -DA_ASYNC=0 -DSTAGES=2 "
         "-DDOUBLE_BUFFER=1 -DSPLIT_K=1 -DALIGNED=1"},
    };
    char *folder = e2e_folder("mistaken");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct e2e_result r = emulate(folder, "gemm_simt", "gemm_simt", cases[i].script, cases[i].macros);
        if (r.status != 1 || !(strstr(r.out, "off by") || strstr(r.out, "not aligned")))
            fail_msg("%s: status %d: %s%.2000s", cases[i].script, r.status, r.out, r.err);
    }
}

TEST(parts_of_sums_on_tensor_cores_are_added_right_in_emulation)
{
    static const char *const cases[] = {
        "-DSPLIT_K=5 -DBLOCK_M=128 -DBLOCK_N=48 -DCLUSTER_M=1 -DPERSISTENT=0",
        "-DSPLIT_K=19 -DBLOCK_M=128 -DBLOCK_N=32 -DCLUSTER_M=2 -DPERSISTENT=0 -DFINISH_WARPS=1 -DOUTPUT=f32",
        "-DSPLIT_K=33 -DBLOCK_M=64 -DBLOCK_N=64 -DCLUSTER_M=2 -DCLUSTER_N=2 -DPERSISTENT=0 -DWARPGROUPS=1 "
        "-DPRODUCER_REGISTERS=0 -DFINISH_WARPS=16 -DRASTER=1",
        "-DSPLIT_K=3 -DBLOCK_M=256 -DBLOCK_N=16 -DCLUSTER_M=1 -DCLUSTER_N=2 -DPERSISTENT=0 -DFINISH_WARPS=4 -DRASTER=2 "
        "-DTRANSPOSE_C=1",
        "-DSPLIT_K=4 -DBLOCK_M=128 -DBLOCK_N=8 -DCLUSTER_M=1 -DSCHEDULE=pingpong -DFINISH_WARPS=2",
    };
    char *folder = e2e_folder("parts");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *macros = test_text("-DFINISH=two_pass -DWORKSPACE=1 -DSTORE=direct %s", cases[i]);
        expect(emulate(folder, "gemm_wgmma", "gemm_wgmma_finish", "", macros), cases[i], NULL);
    }
    // A warp begins one part too early. A group of four threads uses its neighbour's columns.
    static const char *const mistakes[] = {"s/first = warp \\* EACH, end/first = max(warp * EACH - 1, 0), end/",
                                           "s/lane % 4 \\* 2;/(lane + 1) % 4 * 2;/"};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        expect(emulate(folder, "gemm_wgmma", "gemm_wgmma_finish", mistakes[i],
                       "-DFINISH=two_pass -DWORKSPACE=1 -DSTORE=direct -DSPLIT_K=5 -DBLOCK_M=128 "
                       "-DBLOCK_N=48 -DCLUSTER_M=1 -DPERSISTENT=0 -DFINISH_WARPS=4"),
               mistakes[i], "off at");
}

TEST(transpositions_are_right_in_emulation)
{
    static const char *const cases[] = {
        "-DTILE=32 -DBLOCK_SIZE=64 -DVECTOR=4 -DORDER=columns",
        "-DTILE=32 -DBLOCK_SIZE=128 -DVECTOR=2 -DORDER=squares -DLAYOUT=padding",
        "-DTILE_ROWS=64 -DTILE_COLS=32 -DBLOCK_SIZE=256 -DVECTOR=1 -DORDER=squares -DLAYOUT=plain",
        "-DTILE_ROWS=32 -DTILE_COLS=128 -DBLOCK_SIZE=128 -DVECTOR=4 -DORDER=columns -DSTORE=streaming -DLOAD=streaming",
        "-DTILE_ROWS=128 -DTILE_COLS=64 -DBLOCK_SIZE=512 -DVECTOR=2 -DORDER=rows -DBY_LINE=1",
        "-DTILE_ROWS=64 -DTILE_COLS=32 -DBLOCK_SIZE=256 -DVECTOR=1 -DORDER=rows -DBY_LINE=1 -DLAYOUT=padding",
        "-DTILE=32 -DBLOCK_SIZE=1024 -DVECTOR=1 -DORDER=columns -DBY_LINE=1",
    };
    char *folder = e2e_folder("turned");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(emulate(folder, "transpose", "transpose", "", cases[i]), cases[i], NULL);
    // No thread waits for the tile. The last square of a line is treated as complete. If a row begins within a line,
    // some of its elements come from the wrong row of the tile.
    static const struct {
        const char *script;
        size_t macros; // index into cases
    } mistakes[] = {{"/^    __syncthreads();$/d", 0},
                    {"s/min(8, across - 8 \\* square)/8/", 1},
                    {"s/(first < 0 ? 32 \\* PITCH : 0)/0/", 5}};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        expect(emulate(folder, "transpose", "transpose", mistakes[i].script, cases[mistakes[i].macros]),
               mistakes[i].script, "off by");
}

TEST(norms_are_right_in_emulation)
{
    static const char *const cases[] = {
        "-DROW_THREADS=64 -DHELD=8",
        "-DROW_THREADS=32 -DROWS_PER_BLOCK=4 -DHELD=8 -DVECTOR=8 -DTYPE=bf16 -DNORM=rms",
        "-DROW_THREADS=128 -DROWS_PER_BLOCK=2 -DMETHOD=again -DVECTOR=2 -DHELD=4 -DTYPE=bf16 -DSTORE=streaming",
        "-DROW_THREADS=64 -DHELD=4 -DVECTOR=1 -DNORM=rms -DMETHOD=again",
    };
    char *folder = e2e_folder("normalised");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(emulate(folder, "norm", "norm", "", cases[i]), cases[i], NULL);
    // Elements that do not exist are summed. A combined mean is wrong. The distance between two means is left out. The
    // sums of a warp are left out.
    static const char *const mistakes[] = {"s/count = (i + 1) . V;/count = HELD;/", "s/apart . share,/apart - share,/",
                                           "s/ + apart . apart . a.count . share//", "s/lane < WARPS ?/lane < 1 ?/"};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        expect(emulate(folder, "norm", "norm", mistakes[i], cases[0]), mistakes[i], "expected");
}

// The worker's own kernels, which prepare memory and verify it.
static struct e2e_result emulate_support(const char *folder, const char *script)
{
    return e2e_run(
        folder,
        "for file in support.cu support_memory.cuh support_elements.cuh; do sed -f tests/emulation/support.sed "
        "kernels/$file | sed '%s' >$DIR/$file || exit 9; done; " EMULATED_COMPILER
        "tests/emulation/support.cpp -o $DIR/emulated && timeout 120 $DIR/emulated",
        script);
}

TEST(memory_is_prepared_and_judged_right_in_emulation)
{
    static const struct {
        const char *script, *said;
    } mistakes[] = {
        {"s/base = f.exponent | top | last/base = f.exponent | last/", "an element has another content"},
        {"s/(i \\& 7)/0/", "an element has another content"},
        {"s/shift = code \\& ~1023ll/shift = 0/", "an element has another content"},
        {"s/(u64)(at - out) \\* sizeof(T)/(u64)(at - out)/", "unwritten elements"},
        {"s/ratio = good ?/good = true; ratio = good ?/", "wrong elements"},
        {"s/before.kind == CONTENT_NAN/false/", "NaN that was there"},
        {"s/if (signs \\&\\& x == 0/if (false/", "a zero of the other sign"},
        {"s/count++;/count = 2;/", "the size of a row"},
    };
    char *folder = e2e_folder("support");
    expect(emulate_support(folder, ""), "no mistake", NULL);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        expect(emulate_support(folder, mistakes[i].script), mistakes[i].script, mistakes[i].said);
}

TEST_MAIN(NULL, NULL)
