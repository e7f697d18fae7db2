// Energy on a GPU: for a kernel that only computes and one that only moves memory, the energy repeats within 3%. The
// power lies between the power of the idle device and the power limit.
#include "tests/gpu.h"
#include "tests/testing.h"

#include "tuner/base/json.h"

// A chain of multiply-adds with one and zero.
static const char source[] =
    "extern \"C\" __global__ void chain(int n, float one, float zero, const float *x, float *y)\n{\n"
    "    int i = blockIdx.x * 256 + threadIdx.x;\n    if (i >= n) return;\n    float value = x[i];\n"
    "#pragma unroll 20\n    for (int k = 0; k < LENGTH; k++) value = value * one + zero;\n    y[i] = value;\n}\n";
static const char job[] =
    "name = \"chain\"; kernel = { template = \"chain.cu\"; entry = \"chain\"; };\n"
    "parameters = ( { name = \"LENGTH\"; values = [%d]; } ); problems = ( { n = 16777216; } );\n"
    "launch = { grid = [\"ceil_div(n, 256)\"]; block = [256]; };\n"
    "arguments = ( { scalar = \"n\"; type = \"i32\"; }, { scalar = \"one\"; type = \"f32\"; value = 1.0; }, { scalar = "
    "\"zero\"; type = \"f32\"; value = 0.0; }, { buffer = \"x\"; type = \"f32\"; shape = [\"n\"]; }, { buffer = \"y\"; "
    "type = \"f32\"; shape = [\"n\"]; direction = \"out\"; } );\n"
    "verification = { enabled = false; }; measure = { final = { minimize = \"energy\"; rounds = 5; }; };\n";

static double ask_device(const char *what)
{
    struct e2e_result r = e2e_run(e2e_folder("ask"),
                                  "nvidia-smi ${CUDA_VISIBLE_DEVICES:+-i $CUDA_VISIBLE_DEVICES} --query-gpu=%s "
                                  "--format=csv,noheader,nounits 2>/dev/null | head -1",
                                  what);
    return atof(r.out) > 0 ? atof(r.out) : (double)NAN; // "[N/A]"
}

// The winner's entry in compare's document.
static const json_t *measure(const char *folder, const char *options)
{
    struct e2e_result r = e2e_passed(
        e2e_run(folder,
                "cd '%s' && $BIN/sweetspot tune job.cfg --store job.db -q --no-counters --no-checks %s >tuned 2>&1 && "
                "$BIN/sweetspot compare job.cfg --store job.db -f json",
                folder, options));
    print_message("%s\n", (char *)test_owned(text_read_file(test_text("%s/tuned", folder), NULL)));
    const json_t *documents = test_json(json_parse(r.out, NULL)), *problems = json_object_get(documents, "problems");
    return json_array_get(json_object_get(json_array_get(problems, 0), "entries"), 0);
}

GPU_TEST(energy_repeats_and_the_power_is_possible)
{
    static const int lengths[] = {4000, 1};
    double idle = ask_device("power.draw"), limit = ask_device("power.limit");
    for (size_t i = 0; i < 2; i++) {
        char *folder = e2e_folder("gpu_energy");
        e2e_write(folder, "chain.cu", source);
        e2e_write(folder, "job.cfg", test_text(job, lengths[i]));
        double joules[2];
        for (int again = 0; again < 2; again++) {
            const json_t *entry = measure(folder, again ? "--finish" : ""), *energy = json_object_get(entry, "energy");
            if (!energy || json_is_null(energy)) skip(); // a slice of a device or an old device has no counter
            struct interval j = json_get_interval(energy, "joules"), time = json_get_interval(entry, "time");
            double watts = json_get_number(energy, "watts", NAN), share = json_get_number(energy, "share", NAN);
            joules[again] = j.value;
            print_message("LENGTH=%d: %g J [%g, %g], %g W, %g W while it executes, share %g, idle %g W, limit %g W\n",
                          lengths[i], j.value, j.low, j.high, watts, j.value / time.value, share, idle, limit);
            assert_true(j.value > 0 && j.low <= j.value && j.high >= j.value && share > 0 && share < 1);
            assert_true(!(watts < idle) && !(watts > 1.05 * limit)); // NaN without nvidia-smi
            assert_true(!(j.value / time.value < idle) && !(j.value / time.value > 1.3 * limit));
        }
        if (!(fabs(joules[1] / joules[0] - 1) < 0.03)) fail_msg("%g J, and then %g J", joules[0], joules[1]);
    }
}

TEST_MAIN(NULL, NULL)
