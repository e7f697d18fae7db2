// What the manual pages say besides the options (manual.h). A fact stands here once, whichever pages show it.
#include "tuner/cli/manual.h"

const char manual_overview[] =
    "sweetspot finds the fastest configuration of a CUDA kernel whose speed depends on tile sizes, unroll factors, "
    "block shapes and the like. It compiles candidates, proves each one correct, measures it, notes why it is fast or "
    "slow, decides the winner in a final against cuBLAS, and writes it as a C header.\n\n"
    "A job file says what is tuned; `docs/job-file.md` explains every setting, and `sweetspot list settings` prints "
    "them. Where there is no such file, a name that begins with `configs/` is that of a job that came with the "
    "program. "
    "For any other name that is no file, the message says which job file may be meant; none is taken instead.\n\n"
    "Every finished candidate is kept in a database, the store, at once: a run may be interrupted or killed at any "
    "time, and the same command goes on where it stopped.\n\n"
    "Each command has a page of its own, such as `sweetspot-tune(1)`, and explains itself with `--help`. "
    "`sweetspot --version` prints the versions of the program, of the CUDA toolkit that it was built with, of NVRTC, "
    "cuBLAS and SQLite as they are loaded, and the commit that it was built from.";

const struct manual_page manual_pages[] = {
    {"tune",
     "The search ends when the budget is spent, the space is exhausted or Ctrl-C is pressed. Configurations that the "
     "store already knows are not measured again. After Ctrl-C the trial in flight is finished and kept; a second "
     "Ctrl-C stops at once. Either way the command line that goes on is printed.\n\n"
     "The budget of several jobs is the sum of their own, or `--time`. Half of it is shared equally; the rest is given "
     "slice by slice to the job whose last slice gained most. The finals come after that.\n\n"
     "A recording of another job is refused: one with other parameters, or of a job of another name with other "
     "problems. Winners of the store's other environments (another device, driver, problem or version of the source) "
     "are measured first. `--prior` may be given up to eight times; parameters are matched by name, values by value, "
     "and a prior is trusted as far as it proves right. Progress and the end of a run say how likely more time brings "
     "what `--until` asks for, or 1%.",
     "status compare header report replay"},
    {"header",
     "The header compiles without warnings as C99, C++11 and CUDA; `docs/header.md` describes it. The paths of the "
     "headers are printed. Several jobs have a header each; `--output`, `--check` and `--cubin` then name a folder, "
     "and `--hash` prints the job's name in front of each hash. A header is written alone to standard output or into "
     "a pipe.\n\n"
     "`--check` cannot tell of a recording without the hash of its source, and ends with 1, too. A build that passes "
     "the hash as `-DSWEETSPOT_SOURCE_HASH=` stops when the header is older than the template. `--embed` ends with 1 "
     "when the store has no binary: a final on a GPU keeps it. Of a replay, the header tells the source, the device "
     "and the date that were recorded, and that nothing was measured here.",
     "tune compare"},
    {"compare",
     "The baselines are cuBLAS and the best of cublasLt's heuristics. A ratio above 1 means that the tuned kernel is "
     "faster. The percentage of the device's measured ceiling is shown where it is known: of memory, and of the pipe "
     "of the job's arithmetic at the clock that lasts. Entries whose time depends on the process that runs them are "
     "named (in json: `by_process`). A newer final that did not say who wins is mentioned on standard error.\n\n"
     "With `--fail-below` each failure is a line on standard error; a job without a final, or a problem without a "
     "library, fails. Times in csv and json are seconds; `docs/formats.md` describes both.",
     "tune report status"},
    {"report",
     "Jobs of a folder that were never tuned are left out. The page's charts need Apache ECharts, which the set-up of "
     "the source tree fetches with npm. A page that `--every` writes loads itself again while a tuner is at work.",
     "compare status tune"},
    {"judge",
     "The kernel is compiled, proved and timed as a trial is, run under compute-sanitizer where there is one, raced "
     "against the baselines on data from a seed that nobody knows, and counted; all ends at the first thing that is "
     "wrong. The job needs no parameters, but a reference. No database is read or written. A reference that is a "
     "kernel of the job's template stays what it is with `--template`. Without permission for counters a note says "
     "so, and the verdict is the same.",
     "profile check"},
    {"profile",
     "The candidate is compiled, verified, timed and counted anew, with the metric set `full` and what the job's "
     "`counters.metrics` names besides. The profile and the findings are kept in the job's database with the trial, "
     "where there is one (`docs/findings.md`). Without permission for hardware counters the rest is printed and the "
     "exit status is 3.\n\n"
     "Printed are, in this order: speed of light, pipes, launch, occupancy, instruction cache, shared memory, global "
     "memory, divergence, registers and spills, the balance of the multiprocessors, stalls, the source lines that cost "
     "most, and findings: what was seen, why it costs time, what to try among the job's parameters, and how much it "
     "could gain at most. Percentages of a ceiling are of what this device was measured to do at most, which the "
     "database keeps too. Notes tell of metrics that the chip lacks, of a kernel that is not reproducible between "
     "passes, and of one so short that launching it dominates. A kernel of seconds is announced with the minutes that "
     "counting it takes, since every pass launches it twice.\n\n"
     "Of a trial that failed, the reason is told. Where nothing was measured yet, parameters that `--trial` does not "
     "name are as in the first valid configuration. With `--against`, the profile says where the difference of the "
     "times lies.",
     "limiter metrics judge"},
    {"limiter",
     "All variants are timed and counted at the occupancy of the whole. Where the whole takes as long as the longer "
     "part, that part is the limit; where it takes as long as both together, latency is. The result is kept in the "
     "job's database with the trial, where there is one.\n\n"
     "The template must know the macro `SWEETSPOT_VARIANT` (0 whole, 1 memory, 2 arithmetic); for one that does not, "
     "the exit status is 1.",
     "profile"},
    {"status", "`docs/formats.md` describes csv and json.", "tune compare report"},
    {"init",
     "What the program cannot know is marked in the file: `guess:` may be wrong (sizes, shapes, values, the launch), "
     "`fill in:` is left to do. Tuned are macros that the source does not define, macros with a default behind an "
     "`#ifndef`, the values of a template's parameters, and the block of a kernel that uses blockDim. A kernel of the "
     "same arguments that is called naive or the like becomes the reference. No compiler is run: conditional parts of "
     "the source are read as if all of them were there.",
     "check tune"},
    {"check",
     "`--arch` decides whose limits hold in constraints: sm_80 is an A100, sm_86 an A40, sm_89 an L40S and sm_90 an "
     "H200; for others those of an H200 are assumed. `docs/job-file.md` explains every setting and the usual mistakes.",
     "space list tune"},
    {"space", "", "check tune"},
    {"replay",
     "`--simulate` runs the searches under the policy of `tune` and reports seconds as well: the seconds to 95% and "
     "99% of the optimum, the candidates compiled for each that is measured, and the share of the time in which the "
     "GPUs idle.",
     "tune export list"},
    {"export", "", "import replay tune"},
    {"import",
     "The summary has the number of configurations, the failures and the best. It goes to standard error when the "
     "file is written to standard output. Without `--output` there is only the summary.",
     "export replay"},
    {"list",
     "`strategies`: search strategies; each option's default, range and meaning.\n\n"
     "`operations`: operations that a kernel can be verified against; each one's roles, error bound, compute classes "
     "and baselines.\n\n"
     "`metrics`: the program's metric sets; each metric's key, hardware metric, unit, meaning and the chips that it is "
     "restricted to. NAME is a set or a key. `sweetspot-metrics(1)` shows what a chip has.\n\n"
     "`fields`: the fields of a trial; each one's unit and meaning.\n\n"
     "`pipes`: what the arithmetic of a job's work can be measured against (`work.pipe`); each pipe's unit, "
     "architectures, data-sheet peak, and how its ceiling is measured.\n\n"
     "`settings`: the settings of a job file; each one's type, default, range and meaning. NAME is a setting, a group, "
     "or the last part of a name. `docs/job-file.md` has an example of each.",
     "metrics check"},
    {"metrics",
     "Shown are the counters whose name or key has PATTERN in it, and the keys under which the program's metric sets "
     "have them. Needs CUPTI, but no GPU.",
     "list profile doctor"},
    {"devices", "", "doctor"},
    {"doctor", "", "devices"},
    {"man", "", "list"},
    {"completion", "It is made from the same tables as `--help`.", "man"},
    {0},
};

const struct manual_fact manual_statuses[] = {
    {"0", NULL, "Done."},
    {"1", NULL, "Done, but nothing valid was found or a check failed."},
    {"2", NULL, "A mistake on the command line or in the job file."},
    {"3", NULL,
     "The environment: no GPU, no permission, too old a driver, a folder that cannot be written, a full disk, a "
     "damaged store."},
    {"4", "compare", "A result is below what `compare --fail-below` asks for."},
    {"130", NULL,
     "Interrupted by Ctrl-C. What was finished is kept, but not everything was done: `tune` has not decided a winner."},
    {"143, 129", NULL, "Likewise, by SIGTERM or SIGHUP."},
    {"141", NULL, "Whoever read standard output closed it before its end."},
    {0},
};

const struct manual_fact manual_environment[] = {
    {"SWEETSPOT_NVCC", "tune",
     "The nvcc whose build of the winner races the measured one after a final, or `none`. Without it the one on the "
     "PATH or in `$CUDA_HOME/bin` is used."},
    {"SWEETSPOT_SANITIZER", "tune judge doctor",
     "The compute-sanitizer that winners and judged kernels run under, or `none`. Without it the one on the PATH, in "
     "`$CUDA_HOME/bin` or beside nvcc is used."},
    {"SWEETSPOT_ECHARTS", "report tune",
     "A folder with Apache ECharts as its npm package has it (`dist/echarts.min.js`, `LICENSE`, `NOTICE`). Without it, "
     "`PREFIX/share/sweetspot/report` and the source tree's `out/npm` are looked into."},
    {"SWEETSPOT_NODE_PROGRAM", "tune",
     "The path of `sweetspot-node` on the nodes of `--pool`, where `--node-program` does not name it."},
    {"SLURM_JOB_ID, SLURM_JOB_NODELIST, SLURM_JOB_CPUS_PER_NODE", "tune",
     "The allocation that `--pool slurm` uses; Slurm sets them."},
    {"XDG_CACHE_HOME", "tune", "The folder in which agents of `--pool` keep what is sent to their nodes."},
    {"CUDA_HOME, CUDA_PATH", "tune judge profile limiter check metrics doctor",
     "The CUDA toolkit, where libraries and tools are not found otherwise."},
    {"BROWSER", "report", "What `report --open` starts; `xdg-open(1)` otherwise."},
    {"COLUMNS", NULL, "The width of tables, where the terminal does not say it."},
    {"TMPDIR", NULL, "The folder for temporary files; `/tmp` otherwise."},
    {"NO_COLOR", NULL,
     "If it is set and not empty, nothing is coloured. Colours are for terminals alone, and not for those whose TERM "
     "is dumb."},
    {0},
};

#define TUNED "tune header compare report profile limiter status export"
const struct manual_fact manual_files[] = {
    {"configs/NAME.cfg", NULL, "A job file."},
    {"out", TUNED,
     "A job's results: that of the current folder, or of the nearest folder above the job file that has the job's "
     "store, so that they are found from any folder."},
    {"out/NAME.db", TUNED,
     "Its store: a SQLite database, with `NAME.db-wal` and `NAME.db-shm` beside it while it is in use, and "
     "`NAME.db.lock`, which keeps a second tuner out. `docs/store.md` describes it."},
    {"out/NAME.log", "tune status",
     "The story of its runs. Of a store with another name (`x.db`) it is beside it under that name (`x.log`)."},
    {"out/NAME.db.status.json", "tune status",
     "What a run does while it lasts, for `status` on this and other machines. `tune` removes it when the run ends."},
    {"out/include/NAME_best.h", "header", "The header."},
    {"out/include/NAME_best_binary.c", "header", "The binary that `--embed` writes."},
    {"out/cache", "tune judge profile limiter check", "Compiled candidates, by content. May be removed at any time."},
    {"PREFIX/share/sweetspot", NULL,
     "The jobs and templates that came with the program, where it is installed. A job's template that is not found is "
     "looked for there."},
    {"PREFIX/share/doc/sweetspot", NULL, "The documents that these pages name, such as `docs/job-file.md`."},
    {"PREFIX/share/cmake/sweetspot", "header",
     "For CMake's `find_package(sweetspot)`: `sweetspot_add_header(TARGET JOB)` lets a target include a job's header, "
     "checks in every build that the template is the one that was measured, and compiles again when it changes."},
    {0},
};

const struct manual_example manual_examples[] = {
    {"tune", "Tune over night, and look at it in the morning:",
     "sweetspot tune configs/sgemm.cfg --time 8h\nsweetspot status configs/sgemm.cfg\n"
     "sweetspot compare configs/sgemm.cfg\nsweetspot header configs/sgemm.cfg\n"},
    {"header", "Build with the winner, and stop when the kernel has changed since:",
     "nvcc -Iout/include -DSGEMM_DEFINE_PARAMETERS \\\n"
     "     -DSWEETSPOT_SOURCE_HASH=$(sweetspot header configs/sgemm.cfg --hash) \\\n"
     "     -include sgemm_best.h templates/gemm_simt.cu ...\n"},
    {"compare", "A gate for continuous integration, over all jobs of a folder:",
     "sweetspot compare configs/suite --fail-below 1.0 --lower-bound\n"},
    {"report", "A page that a browser can follow while a job is tuned:", "sweetspot report --every 1m -o night.html\n"},
    {"judge", "A kernel of another file, with a parameter's value:",
     "sweetspot judge configs/sgemm.cfg --template mine.cu --set BLOCK_M=128\n"},
    {"profile", "The winner beside cuBLAS:", "sweetspot profile configs/sgemm.cfg --trial best --against cublas\n"},
    {"status", "A line for each job of a folder:", "sweetspot status configs/suite\n"},
    {"init", "A job for one of a source's kernels, and whether its candidates compile:",
     "sweetspot init mine.cu --kernel transpose -o transpose.cfg\nsweetspot check transpose.cfg --compile 10\n"},
    {"check", "Every mistake, and twenty configurations compiled for an A100:",
     "sweetspot check configs/sgemm.cfg --compile 20 --arch sm_80\n"},
    {"replay",
     "Compare two strategies on a recorded space:", "sweetspot replay --strategy default,random space.json.gz\n"},
    {"export", "Write a recorded space, and search in it without a GPU:",
     "sweetspot export configs/sgemm.cfg -o sgemm.json.gz\nsweetspot tune configs/sgemm.cfg --device "
     "replay:sgemm.json.gz\n"},
    {"list", "The settings that decide how candidates are timed, and one of them:",
     "sweetspot list settings measure\nsweetspot list settings measure.cache\n"},
    {"metrics", "All counters of an H100 that have to do with the L2:", "sweetspot metrics --chip GH100 'lts__*'\n"},
    {"man", "Read a page where nothing is installed, and write all pages:",
     "sweetspot man tune | man -l -\nsweetspot man --output man1\n"},
    {"completion", "For one session of bash:", "source <(sweetspot completion bash)\n"},
    {0},
};
