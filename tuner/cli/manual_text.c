// The text of the manual pages, except for the options (manual.h). Each fact is here once, for all pages that show it.
#include "tuner/cli/manual.h"

const char manual_overview[] =
    "sweetspot finds the fastest configuration of a CUDA kernel whose speed depends on tile sizes, unroll factors, "
    "block shapes and the like. It compiles candidates, verifies and measures each one, records why it is fast or "
    "slow, decides the winner in a final against cuBLAS, and writes it as a C header.\n\n"
    "A job file defines a kernel and its search; `docs/job-file.md` explains every setting, and `sweetspot list "
    "settings` prints them. If the job file does not exist, a name that begins with `configs/` means a job that came "
    "with "
    "the program. For any other missing file, the error message suggests a similar name, but the program never uses "
    "it.\n\n"
    "Every finished candidate is committed at once to a database, the store. A run may be interrupted or killed at "
    "any time, and the same command resumes it.\n\n"
    "Each command has its own page, such as `sweetspot-tune(1)`, and `--help`. `sweetspot --version` prints the "
    "versions of the program and of the CUDA toolkit of its build, the versions of NVRTC, cuBLAS and SQLite that are "
    "loaded, and the commit of the build.";

const struct manual_fact manual_statuses[] = {
    {"0", NULL, "Done."},
    {"1", NULL, "Done, but nothing valid was found or a check failed."},
    {"2", NULL, "A mistake on the command line or in the job file."},
    {"3", NULL,
     "A problem of the environment: no GPU, no permission, too old a driver, a folder that cannot be written, a full "
     "disk, a damaged store."},
    {"4", "compare gate", "A result is below the limit of `compare --fail-below`, or the new version is slower."},
    {"5", "gate", "It is undecided whether the new version is slower."},
    {"130", NULL, "Interrupted by Ctrl-C. Finished trials are kept, but `tune` has not decided a winner."},
    {"143, 129", NULL, "Interrupted by SIGTERM or SIGHUP."},
    {"141", NULL, "The reader of standard output closed it before all was written."},
    {0},
};

const struct manual_fact manual_environment[] = {
    {"SWEETSPOT_NVCC", "tune",
     "The nvcc whose build of the winner is compared with the measured build after a final, or `none`. The default "
     "is the nvcc on the PATH or in `$CUDA_HOME/bin`."},
    {"SWEETSPOT_SANITIZER", "tune judge doctor",
     "The compute-sanitizer for winners and the kernels of `judge`, or `none`. The default is the one on the PATH, "
     "in `$CUDA_HOME/bin` or next to nvcc."},
    {"SWEETSPOT_COUNTERS", "judge profile",
     "If it is `none`, no hardware counters are read. The option `--no-counters` of `tune` does the same."},
    {"SWEETSPOT_CHARTS", "report tune",
     "A folder with the libraries of the page, written by `make charts` (`libraries.js`, `LICENSES`). The default is "
     "`PREFIX/share/sweetspot/report` or the source tree's `out/npm/report`."},
    {"SWEETSPOT_NODE_PROGRAM", "tune",
     "The path of `sweetspot-node` on the nodes of `--pool`. The default is its path on this machine."},
    {"SLURM_JOB_ID, SLURM_JOB_NODELIST, SLURM_JOB_CPUS_PER_NODE", "tune",
     "The allocation that `--pool slurm` uses; Slurm sets them."},
    {"XDG_CACHE_HOME", "tune", "The folder in which agents of `--pool` keep the files that they receive."},
    {"CUDA_HOME, CUDA_PATH", "tune judge profile check list doctor",
     "The CUDA toolkit, used if libraries and tools are not found elsewhere."},
    {"COLUMNS", NULL, "The width of tables, if the terminal does not report its width."},
    {"TMPDIR", NULL, "The folder for temporary files; `/tmp` otherwise."},
    {"NO_COLOR", NULL,
     "If it is set and not empty, nothing is coloured. Colours are used only on terminals whose TERM is not dumb."},
    {0},
};

#define TUNED "tune header compare report profile status export"
const struct manual_fact manual_files[] = {
    {"configs/NAME.cfg", NULL, "A job file."},
    {"out", TUNED,
     "A job's results. It is in the nearest folder above the job file that has an `out` or a `.git`, otherwise next to "
     "the job file, so results are found from any folder."},
    {"out/NAME.db", TUNED,
     "The job's store, a SQLite database. While it is in use, `NAME.db-wal` and `NAME.db-shm` are next to it. "
     "`NAME.db.lock` excludes a second tuner. `docs/store.md` describes the store."},
    {"out/NAME.log", "tune status",
     "The log of the job's runs. For a store with another name (`x.db`), the log also has that name (`x.log`)."},
    {"out/NAME.db.status.json", "tune status",
     "The state of a run in progress, for `status` on this and other machines. `tune` removes it when the run ends."},
    {"out/include/NAME_best.h", "header", "The header."},
    {"out/include/NAME_best_binary.c", "header", "The binary that `--embed` writes."},
    {"out/python/NAME_best.py", "header", "The Python file that `--python` writes."},
    {"out/cache", "tune judge profile check",
     "Compiled candidates, by content. The folder may be removed at any time."},
    {"PREFIX/share/sweetspot", NULL,
     "The jobs and templates of an installed program. A job's template that is not found elsewhere is looked for "
     "there."},
    {"PREFIX/share/doc/sweetspot", NULL, "The documents that these pages refer to, such as `docs/job-file.md`."},
    {"PREFIX/share/cmake/sweetspot", "header",
     "For CMake's `find_package(sweetspot)`. `sweetspot_add_header(TARGET JOB)` lets a target include a job's "
     "header, compares the template with the measured one in every build, and compiles again when the template "
     "changes."},
    {0},
};

const struct manual_example manual_examples[] = {
    {"tune", "Tune overnight, and look at the results in the morning:",
     "sweetspot tune configs/sgemm.cfg --time 8h\nsweetspot status configs/sgemm.cfg\n"
     "sweetspot compare configs/sgemm.cfg\nsweetspot header configs/sgemm.cfg\n"},
    {"header", "Build with the winner, and fail if the kernel has changed since it was tuned:",
     "nvcc -Iout/include -DSGEMM_DEFINE_PARAMETERS \\\n"
     "     -DSWEETSPOT_SOURCE_HASH=$(sweetspot header configs/sgemm.cfg --hash) \\\n"
     "     -include sgemm_best.h templates/gemm_simt.cu ...\n"},
    {"compare", "A gate for continuous integration, over all jobs of a folder:",
     "sweetspot compare configs/suite --fail-below 1.0\n"},
    {"gate", "Fail if a kernel has become more than 1% slower than on the main branch:",
     "sweetspot gate configs/sgemm.cfg --base main --allow 1%\n"},
    {"report", "A page with all results, also during a run:", "sweetspot report -o night.html\n"},
    {"judge", "Judge a kernel of another file, with a parameter's value:",
     "sweetspot judge configs/sgemm.cfg --implementation mine.cu --set BLOCK_M=128\n"},
    {"profile",
     "Compare the winner with cuBLAS:", "sweetspot profile configs/sgemm.cfg --trial best --against cublas\n"},
    {"status", "A line for each job of a folder:", "sweetspot status configs/suite\n"},
    {"init", "Draft a job for one of a source's kernels, and check that its candidates compile:",
     "sweetspot init mine.cu --kernel transpose -o transpose.cfg\nsweetspot check transpose.cfg --compile 10\n"},
    {"check", "Find every mistake, and compile twenty configurations for an A100:",
     "sweetspot check configs/sgemm.cfg --compile 20 --arch sm_80\n"},
    {"simulate",
     "Compare two strategies on a recorded space:", "sweetspot simulate --strategy default,random space.json.gz\n"},
    {"export", "Write a recorded space, and search in it without a GPU:",
     "sweetspot export configs/sgemm.cfg -o sgemm.json.gz\nsweetspot tune configs/sgemm.cfg --device "
     "replay:sgemm.json.gz\n"},
    {"list", "List the settings of timing, and one of them:",
     "sweetspot list settings measure\nsweetspot list settings measure.cache\n"},
    {"list", "List all counters of an H100 about the L2:", "sweetspot list counters --chip GH100 'lts__*'\n"},
    {"man", "Read a page without an installation, and write all pages:",
     "sweetspot man tune | man -l -\nsweetspot man --output man1\n"},
    {"completion", "For one session of bash:", "source <(sweetspot completion bash)\n"},
    {0},
};
