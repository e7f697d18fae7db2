// `import` of Kernel Tuner's caches, KTT's results, T4 and T1 documents: what is read, what is left out and counted,
// and what is refused.
#include "tests/e2e.h"
#include "tests/testing.h"

// Files of other tuners, the messages of `import`, and the contents of the space that `import` writes: [parameters,
// columns, trials], with times in seconds.
#define CACHE(objective, values, entries)                                                      \
    "{\"kernel_name\": \"k\", \"tune_params_keys\": [\"X\"], \"tune_params\": {\"X\": " values \
    "}, \"objective\": \"" objective "\", \"cache\": {\n" entries
#define ENTRY(x, rest) "\"" #x "\": {\"X\": " #x ", " rest "}"
#define T4_ROW(x, rest) "{\"configuration\": {\"X\": " #x "}, " rest "}"
#define T4_TIME(time, unit) "\"measurements\": [{\"name\": \"time\", \"value\": " #time ", \"unit\": \"" unit "\"}]"
#define T1(name, values)                                                  \
    "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"" name \
    "\", \"Type\": \"int\", \"Values\": \"" values "\"}]}, \"KernelSpecification\": {\"KernelName\": \"named\"}}"
static const struct {
    const char *what, *text, *t1;
    const char *summary, *said; // output of `import`
    const char *written[3];     // lines of the new file
} tuners[] = {
    {"a search for another objective, whose failures stand in its place",
     CACHE("GFLOP/s", "[1, 2, 3]",
           ENTRY(1, "\"time\": 2, \"GFLOP/s\": 9") ",\n" ENTRY(2, "\"time\": 1.5, \"GFLOP/s\": 12") ",\n" ENTRY(
               3, "\"GFLOP/s\": \"CompilationFailedConfig\"") "}}"),
     NULL,
     "3: 2 ok, 1 compile_error",
     "",
     {"[2,\"ok\",null,0.0015]", "[3,\"compile_error\",\"CompilationFailedConfig\","}},
    {"an interrupted cache that ends in a comma",
     CACHE("time", "[1, 2]", ENTRY(1, "\"time\": 2") ",\n" ENTRY(2, "\"time\": 1") ","),
     NULL,
     "2: 2 ok",
     "1 cache was not closed",
     {"[1,\"ok\",0.002]", "[2,\"ok\",0.001]"}},
    {"an interrupted cache without the comma",
     CACHE("time", "[1, 2]", ENTRY(1, "\"time\": 2") "\n"),
     NULL,
     "1: 1 ok",
     "1 cache was not closed",
     {"[1,\"ok\",0.002]"}},
    {"an interrupted cache whose last entry is cut",
     CACHE("time", "[1, 2]", ENTRY(1, "\"time\": 2") ",\n\"2\": {\"X\": 2, \"ti"),
     NULL,
     "1: 1 ok",
     "1 row is left out, because it is incomplete",
     {"[1,\"ok\",0.002]"}},
    {"rows that cannot be used, each with its reason",
     CACHE("time", "[1, 2]",
           ENTRY(1, "\"time\": 2") ",\n" ENTRY(
               7, "\"time\": 1") ",\n\"a\": {\"time\": 1},\n\"b\": {\"X\": 1, \"time\": 3}}}"),
     NULL,
     "1: 1 ok",
     "1 rows are left out, because a value is not among its parameter's\n"
     "1 rows are left out, because they lack a parameter\n"
     "1 rows are left out, because an earlier one has the same configuration\n",
     {"[1,\"ok\",0.002]"}},
    {"a time that is a text counts as failed, and is counted",
     CACHE("time", "[1, 2]", ENTRY(1, "\"time\": \"1.5\"") ",\n" ENTRY(2, "\"time\": 2") "}}"),
     NULL,
     "2: 1 ok, 1 launch_error",
     "1 configurations count as failed, because their times are texts",
     {"[2,\"ok\",null,0.002]"}},
    {"Python's NaN, infinities and None are not values, times or samples",
     CACHE("time", "[0, NaN, null, 2, 3]",
           ENTRY(2, "\"time\": 2, \"times\": [2, NaN, 0, -Infinity], \"compile_time\": NaN") ",\n" ENTRY(
               3, "\"time\": Infinity") ",\n\"a\": {\"X\": NaN, \"time\": 1},\n\"b\": {\"X\": null, \"time\": 1}}}"),
     NULL,
     "2: 1 ok, 1 launch_error",
     "3 samples are left out, because they are impossible times\n"
     "1 configurations count as failed, because their times are impossible (none, below 100 ns, above 1e19 s, not a "
     "number)\n2 rows are left out, because a value is not among its parameter's\n",
     {"\"values\":[0,2,3]", "[2,\"ok\",null,0.002,[0.002]]"}},
    {"times that are missing, null, lists or truth values are counted",
     CACHE("time", "[1, 2, 3, 4, 5, 6]",
           ENTRY(1, "\"time\": [1, 2]") ",\n" ENTRY(2, "\"time\": null") ",\n" ENTRY(3, "\"time\": true") ",\n" ENTRY(
               4, "\"other\": 1") ",\n" ENTRY(5, "\"time\": 1e20") ",\n" ENTRY(6, "\"time\": 2") "}}"),
     NULL,
     "6: 1 ok, 5 launch_error",
     "4 configurations count as failed, because their times are impossible",
     {""}},
    {"decimals in their shortest form, with a byte order mark",
     "\xef\xbb\xbf" CACHE("time", "[0.1, 0.25, 1.0]", ENTRY(0.1, "\"time\": 1") ",\n" ENTRY(1, "\"time\": 2") "}}"),
     NULL,
     "best            1.000 ms  X=0.1",
     "",
     {"\"values\":[\"0.1\",\"0.25\",\"1\"]", "[\"1\",\"ok\",0.002]"}},
    {"an interrupted cache with the line ends of Windows",
     CACHE("time", "[1, 2]", ENTRY(1, "\"time\": 2") ",\r\n\"2\": {\"X\": 2, \"ti"),
     NULL,
     "1: 1 ok",
     "1 row is left out, because it is incomplete",
     {"[1,\"ok\",0.002]"}},
    {"texts with decimals, in T4 and in a T1 document",
     "{\"results\": [" T4_ROW("0.1", T4_TIME(1, "")) ", " T4_ROW("1.0", T4_TIME(2, "")) "]}",
     T1("X", "['0.1', '0.2', '1.0']"),
     "2: 2 ok",
     "",
     {"[\"0.1\",\"ok\",0.001]", "[\"1\",\"ok\",0.002]"}},
    {"large integers are not rounded, and true is 1",
     "{\"results\": [" T4_ROW(9007199254740993, T4_TIME(1, "")) ", " T4_ROW(
         9007199254740992, T4_TIME(2, "")) ", " T4_ROW(1, T4_TIME(3, "")) ", " T4_ROW(true, T4_TIME(4, "")) "]}",
     NULL,
     "3: 3 ok",
     "1 rows are left out, because an earlier one has the same configuration",
     {"[9007199254740993,\"ok\",0.001]", "[9007199254740992,\"ok\",0.002]", "[1,\"ok\",0.003]"}},
    {"a time in an unknown unit",
     "{\"results\": [" T4_ROW(1, T4_TIME(2, "minutes")) ", " T4_ROW(2, T4_TIME(2, "")) "]}",
     NULL,
     "2: 1 ok, 1 launch_error",
     "1 configurations count as failed, because the unit of their times is unknown",
     {"[2,\"ok\",null,0.002]"}},
    {"T4 rows without parameters, without values and with 1 as 1.0",
     "{\"results\": [{}, " T4_ROW(1, T4_TIME(1, "")) ", {\"configuration\": {\"X\": 1.0, \"Y\": 2}, " T4_TIME(
         2, "") "}, {\"configuration\": {\"X\": "
                "1, \"Y\": null}}, "
                "{\"configuration\": {\"X\": 1, "
                "\"Y\": 3}, " T4_TIME(3, "") "}]}",
     NULL,
     "2: 2 ok",
     "2 rows are left out, because they lack a parameter\n1 rows are left out, because a value is not among",
     {"[1,2,\"ok\",0.002]", "[1,3,\"ok\",0.003]"}},
    {"parameters with the names of fields and counters, and a counter with the name of a field",
     "{\"results\": [{\"configuration\": {\"time\": 4, \"X\": 2}, \"measurements\": [{\"name\": \"time\", \"value\": "
     "1}, {\"name\": \"X\", \"value\": 7}, {\"name\": \"status\", \"value\": 1}]}]}",
     NULL,
     "best            1.000 ms  time=4,X=2",
     "1 counters are left out, because they have the name of a field",
     {"[\"time\",\"X\",\"status\",\"time\",\"X\"]", "[4,2,\"ok\",0.001,7]"}},
    {"T4 as KTT writes it: texts for numbers, counters, registers",
     "{\"metadata\": {\"timeunit\": \"microseconds\", \"device\": \"A\", \"license\": \"CC-BY-4.0\"}, \"results\": ["
     "{\"configuration\": {\"X\": \"16\", \"MODE\": \"fast\"}, \"times\": {\"compilation_time\": 5000, \"runtimes\": "
     "[250]}, \"invalidity\": \"correct\", \"compilation_data\": {\"registers\": 40}, \"measurements\": [{\"name\": "
     "\"time\", \"value\": 250}, {\"name\": \"misses\", \"value\": 7, \"unit\": \"requests\"}]}, "
     "{\"configuration\": {\"X\": \"8\", \"MODE\": \"fast\"}, \"invalidity\": \"constraints\"}]}",
     NULL,
     "licence         CC-BY-4.0\nconfigurations  2: 1 ok, 1 pruned",
     "",
     {"\"parameters\":[{\"name\":\"X\",\"kind\":\"int\",\"values\":[8,16]},{\"name\":\"MODE\",\"kind\":\"string\"",
      "\"metrics\":[{\"key\":\"misses\",\"metric\":\"misses\",\"unit\":\"requests\"}]", "\"licence\":\"CC-BY-4.0\""}},
    {"T4 with a unit of its own for the time",
     "{\"results\": [" T4_ROW(1, T4_TIME(0.25, "seconds")) ", " T4_ROW(2, T4_TIME(2, "")) "]}",
     NULL,
     "2: 2 ok",
     "",
     {"[1,\"ok\",0.25]", "[2,\"ok\",0.002]"}},
    {"T4 with a T1 document",
     "{\"results\": [" T4_ROW(4, T4_TIME(1, "")) ", " T4_ROW(16, T4_TIME(2, "")) "]}",
     T1("X", "[4, 8, 16]"),
     "named on",
     "",
     {"\"values\":[4,8,16]"}},
    {"a T1 document whose values are computed",
     "{\"results\": [" T4_ROW(4, T4_TIME(1, "")) "]}",
     T1("X", "[2 ** i for i in range(4)]"),
     "1: 1 ok",
     "1 parameters have values in T1 that are not a list",
     {"\"values\":[4]"}},
    {"Python's texts and truth values in a T1 document",
     "{\"results\": [{\"configuration\": {\"X\": \"b\"}, " T4_TIME(1, "") "}]}",
     T1("X", "['aTrue', 'b', True]"),
     "1: 1 ok",
     "",
     {"\"values\":[\"aTrue\",\"b\",\"true\"]"}},
    {"KTT's results",
     "{\"Metadata\": {\"Device\": \"B\", \"TimeUnit\": \"Microseconds\"}, \"Results\": [{\"KernelName\": \"mine\", "
     "\"Status\": \"Ok\", \"TotalDuration\": 250, \"Configuration\": [{\"Name\": \"X\", \"Value\": 4, \"IsDouble\": "
     "false}], \"ComputationResults\": [{\"CompilationData\": {\"RegistersCount\": 40}, \"ProfilingData\": "
     "{\"Counters\": [{\"Name\": \"load\", \"Type\": \"Percent\", \"Value\": 71.5}]}}, {\"CompilationData\": "
     "{\"RegistersCount\": 64}}]}, {\"KernelName\": \"mine\", \"Status\": \"ValidationFailed\", \"TotalDuration\": 9, "
     "\"Configuration\": [{\"Name\": \"X\", \"Value\": 8, \"IsDouble\": false}]}]}",
     NULL,
     "job             mine on B\nlicence         not stated",
     "",
     {"[4,\"ok\",null,64,0.00025,71.5]", "[8,\"wrong\",\"ValidationFailed\",null,null,null]", "\"unit\":\"%\""}},
};

TEST(what_other_tuners_write_is_read_and_what_is_left_out_is_counted)
{
    for (size_t i = 0; i < sizeof tuners / sizeof *tuners; i++) {
        char *folder = e2e_folder("tuners");
        e2e_write(folder, "in.json", tuners[i].text);
        e2e_write(folder, "t1.json", tuners[i].t1 ? tuners[i].t1 : "");
        struct e2e_result r = e2e_in(folder,
                                     "$BIN/sweetspot import in.json %s -o out.json 2>err && $BIN/sweetspot import "
                                     "out.json >/dev/null || exit 9; sed -n "
                                     "'s/^sweetspot: in.json: //p' err >&2; cat out.json >>in.json.out",
                                     tuners[i].t1 ? "--space t1.json" : "");
        char *written = test_file("%s/in.json.out", folder);
        print_message("%s:\n%s%s%s\n", tuners[i].what, r.out, r.err, written);
        assert_contains(r.out, tuners[i].summary);
        if (*tuners[i].said)
            assert_contains(r.err, tuners[i].said);
        else
            assert_string_equal(r.err, "");
        for (int k = 0; k < 3 && tuners[i].written[k]; k++) assert_contains(written, tuners[i].written[k]);
    }
}

static const struct {
    const char *text, *t1, *message;
} refused[] = {
    {CACHE("GFLOP/s", "[1]", ENTRY(1, "\"GFLOP/s\": 9") "}}"), NULL,
     "the objective is 'GFLOP/s', and no entry has a 'time'"},
    {T1("X", "[1]"), NULL, "a T1 document describes a space and has no results"},
    {"{\"results\": [" T4_ROW(4, T4_TIME(1, "")) "]}", T1("Y", "[1]"), "it lacks parameter 'X'"},
    {"{\"results\": [" T4_ROW(4, T4_TIME(1, "")) "]}", "{}", "not a T1 document"},
    {CACHE("time", "[1]", ENTRY(1, "\"time\": 9") "}}"), T1("X", "[1]"), "it lists its values itself"},
    {"{\"results\": [" T4_ROW(4, T4_TIME(1, "")) "]}", T1("X", "[1, 2]"), "the file has no configurations"},
    {"{\"cache\": {", NULL, "lacks tune_params"},
    {"{\"Results\": []}", NULL, "the file has no configurations"},
    {CACHE("time", "[10]", "\"1\": {\"X\": 1NaN, \"time\": 1}}}"), NULL, "expected near"},
    {"{\"metadata\": {\"timeunit\": \"hours\"}, \"results\": [" T4_ROW(4, T4_TIME(1, "")) "]}", NULL,
     "'timeunit' is the unknown unit 'hours'"},
    {"{\"Metadata\": {\"TimeUnit\": \"Hours\"}, \"Results\": []}", NULL, "'TimeUnit' is the unknown unit 'Hours'"},
};

TEST(what_cannot_be_read_of_other_tuners_is_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *folder = e2e_folder("refused");
        e2e_write(folder, "in.json", refused[i].text);
        e2e_write(folder, "t1.json", refused[i].t1 ? refused[i].t1 : "");
        struct e2e_result r =
            e2e_in(folder, "$BIN/sweetspot import in.json %s", refused[i].t1 ? "--space t1.json" : "");
        assert_int_equal(r.status, 2);
        assert_contains(r.err, refused[i].message);
    }
}

// A job writes 1.0 and 1e-1 as "1.0" and "0.1"; other tuners write 1 and 0.1.
TEST(a_replay_finds_decimals_in_any_spelling)
{
    char *folder = e2e_folder("decimals");
    e2e_write(folder, "k.cu", "extern \"C\" __global__ void k(float *y, int n) { if (n) *y = RATIO; }\n");
    e2e_write(folder, "job.cfg",
              "kernel = { template = \"k.cu\"; entry = \"k\"; };\n"
              "parameters = ( { name = \"RATIO\"; values = [0.1, 0.25, 1.0]; } );\nproblems = ( { N = 1; } );\n"
              "launch = { grid = 1; block = 1; };\narguments = ( { buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; "
              "direction = \"out\"; }, { scalar = \"N\"; type = \"i32\"; } );\n"
              "reference = { kernel = \"k\"; launch = { grid = 1; block = 1; }; };\n");
    e2e_write(folder, "space.json",
              "{\"kernel_name\": \"k\", \"tune_params_keys\": [\"RATIO\"], \"tune_params\": {\"RATIO\": [1, 0.25, "
              "0.10]}, \"cache\": {\"a\": {\"RATIO\": 1, \"time\": 3}, \"b\": {\"RATIO\": 0.25, \"time\": 2}, \"c\": "
              "{\"RATIO\": 0.1, \"time\": 1}}}");
    struct e2e_result r =
        e2e_pass(folder,
                 "$BIN/sweetspot tune %1$s/job.cfg --device replay:%1$s/space.json --store %1$s/job.db -q "
                 "--no-final && $BIN/sweetspot export %1$s/job.cfg --store %1$s/job.db -o -",
                 folder);
    assert_contains(r.out, "[\"1.0\",\"ok\",", "[\"0.25\",\"ok\",", "[\"0.1\",\"ok\",");
}

TEST_MAIN(NULL, NULL)
