// The text of the manual pages apart from the options (manual.h). A fact stands here once, for all pages that show it.
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
    "time, and the same command resumes where it stopped.\n\n"
    "Each command has a page of its own, such as `sweetspot-tune(1)`, and explains itself with `--help`. "
    "`sweetspot --version` prints the versions of the program, of the CUDA toolkit that it was built with, of NVRTC, "
    "cuBLAS and SQLite as they are loaded, and the commit that it was built from.";

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
    {"143, 129", NULL, "It was interrupted by SIGTERM or SIGHUP."},
    {"141", NULL, "The reader of standard output closed it before its end."},
    {0},
};

const struct manual_fact manual_environment[] = {
    {"SWEETSPOT_NVCC", "tune",
     "The nvcc whose build of the winner is compared with the measured one after a final, or `none`. Without it the "
     "one on the "
     "PATH or in `$CUDA_HOME/bin` is used."},
    {"SWEETSPOT_SANITIZER", "tune judge doctor",
     "The compute-sanitizer that winners and the kernels of `judge` run under, or `none`. Without it the one on the "
     "PATH, in "
     "`$CUDA_HOME/bin` or next to nvcc is used."},
    {"SWEETSPOT_CHARTS", "report tune",
     "A folder with the libraries of the page as `make charts` leaves them (`libraries.js`, `LICENSES`). Without it, "
     "`PREFIX/share/sweetspot/report` and the source tree's `out/npm/report` are searched."},
    {"SWEETSPOT_NODE_PROGRAM", "tune",
     "The path of `sweetspot-node` on the nodes of `--pool`; otherwise the one that it has here."},
    {"SLURM_JOB_ID, SLURM_JOB_NODELIST, SLURM_JOB_CPUS_PER_NODE", "tune",
     "The allocation that `--pool slurm` uses; Slurm sets them."},
    {"XDG_CACHE_HOME", "tune", "The folder in which agents of `--pool` keep what is sent to their nodes."},
    {"CUDA_HOME, CUDA_PATH", "tune judge profile check list doctor",
     "The CUDA toolkit, where libraries and tools are not found otherwise."},
    {"COLUMNS", NULL, "The width of tables, where the terminal does not say it."},
    {"TMPDIR", NULL, "The folder for temporary files; `/tmp` otherwise."},
    {"NO_COLOR", NULL,
     "If it is set and not empty, nothing is coloured. Colours are for terminals alone, and not for those whose TERM "
     "is dumb."},
    {0},
};

#define TUNED "tune header compare report profile status export"
const struct manual_fact manual_files[] = {
    {"configs/NAME.cfg", NULL, "A job file."},
    {"out", TUNED,
     "A job's results: that of the current folder, or of the nearest folder above the job file that has the job's "
     "store, so that they are found from any folder."},
    {"out/NAME.db", TUNED,
     "Its store: a SQLite database, with `NAME.db-wal` and `NAME.db-shm` next to it while it is in use, and "
     "`NAME.db.lock`, which keeps a second tuner out. `docs/store.md` describes it."},
    {"out/NAME.log", "tune status",
     "The story of its runs. Of a store with another name (`x.db`) it has that name (`x.log`)."},
    {"out/NAME.db.status.json", "tune status",
     "What a run does while it lasts, for `status` on this and other machines. `tune` removes it when the run ends."},
    {"out/include/NAME_best.h", "header", "The header."},
    {"out/include/NAME_best_binary.c", "header", "The binary that `--embed` writes."},
    {"out/cache", "tune judge profile check", "Compiled candidates, by content. May be removed at any time."},
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
    {"report", "A page of all results, also while a job is tuned:", "sweetspot report -o night.html\n"},
    {"judge", "A kernel of another file, with a parameter's value:",
     "sweetspot judge configs/sgemm.cfg --template mine.cu --set BLOCK_M=128\n"},
    {"profile",
     "The winner compared with cuBLAS:", "sweetspot profile configs/sgemm.cfg --trial best --against cublas\n"},
    {"status", "A line for each job of a folder:", "sweetspot status configs/suite\n"},
    {"init", "A job for one of a source's kernels, and whether its candidates compile:",
     "sweetspot init mine.cu --kernel transpose -o transpose.cfg\nsweetspot check transpose.cfg --compile 10\n"},
    {"check", "Every mistake, and twenty configurations compiled for an A100:",
     "sweetspot check configs/sgemm.cfg --compile 20 --arch sm_80\n"},
    {"simulate",
     "Compare two strategies on a recorded space:", "sweetspot simulate --strategy default,random space.json.gz\n"},
    {"export", "Write a recorded space, and search in it without a GPU:",
     "sweetspot export configs/sgemm.cfg -o sgemm.json.gz\nsweetspot tune configs/sgemm.cfg --device "
     "replay:sgemm.json.gz\n"},
    {"list", "The settings that decide how candidates are timed, and one of them:",
     "sweetspot list settings measure\nsweetspot list settings measure.cache\n"},
    {"list", "All counters of an H100 that have to do with the L2:", "sweetspot list counters --chip GH100 'lts__*'\n"},
    {"man", "Read a page where nothing is installed, and write all pages:",
     "sweetspot man tune | man -l -\nsweetspot man --output man1\n"},
    {"completion", "For one session of bash:", "source <(sweetspot completion bash)\n"},
    {0},
};
