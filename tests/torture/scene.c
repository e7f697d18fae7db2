// See scene.h. The store is read from a copy, because reading the original would checkpoint and delete its write-ahead
// log. The next run must find exactly the files that the last run left.
#include "tests/torture/scene.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/torture/files.h"
#include "tuner/base/clock.h"
#include "tuner/base/json.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"

struct expected_end expected_ends[JOB_COUNT];
const char *const file_op_text[FILE_OP_COUNT] = {"write", "sync", "open", "truncate", "rename", "unlink"};

enum { ARGUMENTS_MAX = 24 };

const char *scene_programs(void)
{
    static char path[4096];
    if (!*path) {
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        if (n < 0) abort();
        path[n] = 0;
        *strrchr(path, '/') = 0;
    }
    return path;
}

bool scene_fail(struct scene *s, const char *format, ...)
{
    if (*s->failure) return false;
    va_list args;
    va_start(args, format);
    vsnprintf(s->failure, sizeof s->failure, format, args);
    va_end(args);
    return false;
}

void scene_write_job(const struct scene *s)
{
    char *values = text_copy("");
    for (int x = s->job == JOB_LONG ? 400 : 40; x > (s->job == JOB_LONG ? 0 : 6); x--) {
        char *longer = text_format("%s%s%d", values, *values ? ", " : "", x);
        free(values);
        values = longer;
    }
    autofree char *job =
        text_format("name = \"tortured\";\n"
                    "kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
                    "parameters = ( { name = \"X\"; values = [%s]; } );\n"
                    "problems = ( { N = 1024; } );\n"
                    "launch = { grid = [\"N\"]; block = [32]; };\n"
                    "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );\n"
                    "verification = { enabled = false; };\n"
                    "measure = { timeout = \"3s\"; final = { candidates = 3; rounds = 10; }; };\n"
                    "compile = { timeout = \"3s\"; };\n"
                    "strategy = \"exhaustive\";\n",
                    values);
    file_write(s->run, "job.cfg", job);
    file_write(s->run, "x.cu", "extern \"C\" __global__ void x(float *y) {}\n");
    free(values);
}

void scene_begin(struct scene *s, const char *attack, uint64_t seed, enum scene_job job)
{
    *s = (struct scene){.attack = attack, .seed = seed, .job = job};
    random_seed(&s->random, seed);
    s->folder = text_format("out/torture/%s-%llu", attack, (unsigned long long)seed);
    file_remove_folder(s->folder);
    s->run = text_format("%s/run", s->folder);
    file_make_folder(s->run);
    scene_write_job(s);
}

void scene_end(struct scene *s)
{
    if (!*s->failure) file_remove_folder(s->folder);
    known_free(&s->known);
    scene_give(s, NULL);
    free(s->run);
    free(s->folder);
}

void scene_give(struct scene *s, char *assignment)
{
    size_t i = 0;
    while (i < ENVIRONMENT_MAX && s->given[i]) i++;
    if (!assignment) {
        while (i) free((char *)s->given[--i]), s->given[i] = NULL;
        return;
    }
    if (i == ENVIRONMENT_MAX) abort();
    s->given[i] = assignment;
}

static void run_driver(const struct scene *s, int terminal)
{
    char *job = s->job == JOB_REPLAYED ? text_copy("configs/softmax.cfg") : text_format("%s/job.cfg", s->run),
         *store = text_format("%s/job.db", s->run), *program = text_format("%s/sweetspot", scene_programs()),
         *events = text_format("%s/events", s->folder), *messages = text_format("%s/stderr", s->folder),
         *log = text_format("%s/measured", s->folder), *worker = text_format("%s/fake_worker", scene_programs()),
         *cache = text_format("%s/cache", s->run);
    const char *arguments[ARGUMENTS_MAX] = {program, "tune",    job,   "--store", store, "--format",
                                            "json",  "--cache", cache, "--time",  "10m"};
    const char *const recording[] = {"--device", "replay:tests/spaces/softmax_h200.json.gz", "--strategy",
                                     "exhaustive"};
    size_t n = 11;
    if (terminal < 0) arguments[n++] = "-q"; // progress is drawn on a terminal
    for (size_t i = 0; s->job == JOB_REPLAYED && i < 4; i++) arguments[n++] = recording[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (terminal < 0) {
        setpgid(0, 0);
    } else {
        setsid();
        ioctl(terminal, TIOCSCTTY, 0);
    }
    if (s->pool) arguments[n++] = "--pool", arguments[n++] = s->pool;
    setenv("FAKE_LOG", log, 1);
    setenv("FAKE_DELAY", s->job == JOB_LONG ? "0" : "1000", 1);
    if (s->job != JOB_REPLAYED) {
        setenv("SWEETSPOT_GPU_WORKER", worker, 1);
        setenv("SWEETSPOT_COMPILE_WORKER", worker, 1);
    }
    for (size_t i = 0; i < ENVIRONMENT_MAX && s->given[i]; i++) putenv((char *)s->given[i]);
    int in = open("/dev/null", O_RDONLY), out = open(events, O_WRONLY | O_CREAT | O_TRUNC, 0666),
        err = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (dup2(terminal < 0 ? in : terminal, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(terminal < 0 ? err : terminal, STDERR_FILENO) < 0)
        _exit(126);
    for (int fd = 3; fd < 64; fd++) close(fd);
    if (s->file_limit) setrlimit(RLIMIT_FSIZE, &(struct rlimit){s->file_limit, s->file_limit});
    execv(program, (char *const *)arguments);
    _exit(127);
}

pid_t scene_start(struct scene *s, int terminal)
{
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) run_driver(s, terminal);
    if (pid < 0) scene_fail(s, "cannot fork");
    return pid;
}

static bool has_ended(pid_t driver)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)driver, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == driver;
}

bool scene_sleep(pid_t driver, double seconds)
{
    double until = clock_now() + seconds;
    while (!has_ended(driver)) {
        double left = until - clock_now();
        if (left <= 0) return false;
        usleep((useconds_t)(1e6 * fmin(left, 1e-3)) + 1);
    }
    return true;
}

int scene_wait(struct scene *s, pid_t driver)
{
    int status = 0;
    if (!scene_sleep(driver, RUN_SECONDS)) {
        scene_fail(s, "the driver did not end within %d s", RUN_SECONDS);
        kill(-driver, SIGCONT);
        kill(driver, SIGKILL);
    }
    waitpid(driver, &status, 0);
    return status;
}

pid_t scene_worker(struct scene *s, pid_t driver)
{
    char path[64], line[512];
    pid_t workers[64];
    size_t count = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)driver, (int)driver);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    if (fgets(line, sizeof line, file))
        for (char *at = line, *end; count < 64; at = end) {
            workers[count] = (pid_t)strtol(at, &end, 10);
            if (end == at) break;
            count++;
        }
    fclose(file);
    return count ? workers[random_below(&s->random, count)] : 0;
}

bool scene_said(const struct scene *s, const char *words)
{
    autofree char *text = file_read(s->folder, "stderr");
    return text && strstr(text, words);
}

// Checks that every trial of an event is in the store under the same number.
static bool check_events(struct scene *s, const struct known_trials *now)
{
    char *text = file_read(s->folder, "events"), *next;
    bool fine = true;
    for (char *line = text; fine && line && *line; line = next) {
        next = strchr(line, '\n');
        if (!next) break; // killed while it wrote
        *next++ = 0;
        struct error err;
        autojson json_t *event = json_parse(line, &err);
        if (!event) {
            fine = scene_fail(s, "an event is not JSON: %s", line);
            break;
        }
        const char *config = json_get_string(event, "config", NULL);
        const struct known_trial *found = config ? known_find(now, config) : NULL;
        if (config && (!found || found->id != json_get_integer(event, "trial", -1)))
            fine = scene_fail(s, "lost: an event reported trial %lld (%s), which the store lacks",
                              (long long)json_get_integer(event, "trial", -1), config);
        if (json_get_integer(event, "evaluations", 0) > (int64_t)now->count)
            fine = scene_fail(s, "lost: an event counted %lld evaluations, the store has %zu",
                              (long long)json_get_integer(event, "evaluations", 0), now->count);
    }
    free(text);
    return fine;
}

// Checks that no trial that was in the store at the last check has been measured since.
static bool check_log(struct scene *s)
{
    char *text = file_read(s->folder, "measured"), *next;
    size_t length = text ? strlen(text) : 0;
    bool fine = true;
    for (char *line = text ? text + s->noted : NULL; fine && line && *line; line = next) {
        next = strchr(line, '\n');
        if (!next) break;
        *next++ = 0;
        if (known_find(&s->known, line)) fine = scene_fail(s, "measured twice: %s", line);
    }
    s->noted = (long)length;
    free(text);
    return fine;
}

static bool same(const struct known_trial *a, const struct known_trial *b)
{
    bool times = isnan(a->objective) ? isnan(b->objective) : a->objective == b->objective;
    return a->status == b->status && a->problems == b->problems && times;
}

bool scene_check(struct scene *s)
{
    struct known_trials now = {0};
    char message[FAILURE_MAX / 2], *copy = text_format("%s/copy", s->folder), *path = text_format("%s/job.db", copy);
    file_remove_folder(copy);
    file_make_folder(copy);
    file_copy(s->run, "job.db", copy);
    file_copy(s->run, "job.db-wal", copy);
    bool fine = known_read(&now, path, message, sizeof message);
    if (!fine) scene_fail(s, "the store is not whole: %s", message);
    for (size_t i = 0; fine && i < s->known.count; i++) {
        const struct known_trial *old = &s->known.all[i], *found = known_find(&now, old->config);
        if (!found || found->id != old->id || !same(found, old))
            fine = scene_fail(s, "lost: trial %lld (%s) was in the store", (long long)old->id, old->config);
    }
    const struct expected_end *end = &expected_ends[s->job];
    for (size_t i = 0; fine && i < now.count && end->trials.count; i++) {
        const struct known_trial *found = known_find(&end->trials, now.all[i].config);
        if (!found || !same(found, &now.all[i]))
            fine = scene_fail(s, "%s: %s, %g s on %zu problems; undisturbed: %s, %g s on %zu", now.all[i].config,
                              status_name((enum trial_status)now.all[i].status), now.all[i].objective,
                              now.all[i].problems, found ? status_name((enum trial_status)found->status) : "?",
                              found ? found->objective : NAN, found ? found->problems : 0);
    }
    fine = fine && check_events(s, &now) && check_log(s);
    known_free(&s->known);
    s->known = now;
    file_remove_folder(copy);
    free(path);
    free(copy);
    return fine;
}

static void find_winner(const struct scene *s, char *winner, size_t size)
{
    char *text = file_read(s->folder, "events"), *next;
    *winner = 0;
    for (char *line = text; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        struct error err;
        autojson json_t *event = json_parse(line, &err);
        if (event && !strcmp(json_get_string(event, "event", ""), "winner"))
            snprintf(winner, size, "%s", json_get_string(event, "config", ""));
    }
    free(text);
}

bool scene_complete(struct scene *s)
{
    int status = scene_wait(s, scene_start(s, -1));
    char winner[256], *said = file_read(s->folder, "stderr");
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        scene_fail(s, "undisturbed, it ended with %s %d: %.800s", WIFEXITED(status) ? "exit status" : "signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), said ? said : "");
    free(said);
    if (*s->failure || !scene_check(s)) return false;
    find_winner(s, winner, sizeof winner);
    const struct expected_end *end = &expected_ends[s->job];
    if (!end->trials.count) return true; // this run defines the expected end
    if (s->known.count != end->trials.count)
        return scene_fail(s, "%zu trials in the end, not %zu", s->known.count, end->trials.count);
    if (strcmp(winner, end->winner)) return scene_fail(s, "the winner is %s, not %s", winner, end->winner);
    return true;
}

void scene_layer(struct scene *s, const char *layer)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here)) abort();
    scene_give(s, text_format("LD_PRELOAD=%s/%s", scene_programs(), layer));
    scene_give(s, text_format("TORTURE_FOLDER=%s/%s", here, s->run));
    scene_give(s, text_format("IO_TOLD=%s/%s/told", here, s->folder));
    scene_give(s, text_format("POWER_JOURNAL=%s/%s/journal", here, s->folder));
}

bool scene_learn(char *message, size_t size)
{
    for (int job = 0; job < JOB_COUNT; job++) {
        struct scene s;
        struct expected_end *end = &expected_ends[job];
        scene_begin(&s, "undisturbed", (uint64_t)getpid() * JOB_COUNT + (uint64_t)job, (enum scene_job)job);
        scene_layer(&s, "io_fault.so");
        scene_give(&s, text_copy("IO_FAULT=any:none:1:1"));
        double began = clock_now();
        bool fine = scene_complete(&s);
        end->seconds = clock_now() - began;
        end->trials = s.known;
        s.known = (struct known_trials){0};
        find_winner(&s, end->winner, sizeof end->winner);
        if (fine && (!end->trials.count || !*end->winner)) fine = scene_fail(&s, "it has no winner");
        autofree char *reported = file_read(s.folder, "told");
        for (int i = 0; reported && i < FILE_OP_COUNT; i++) {
            char *words = text_format("count %s ", file_op_text[i]), *at = strstr(reported, words);
            end->operations[i] = at ? atol(at + strlen(words)) : 0;
            free(words);
        }
        if (fine && !end->operations[0]) fine = scene_fail(&s, "the layer saw no operation");
        if (!fine) snprintf(message, size, "%s: %s", s.folder, s.failure);
        scene_end(&s);
        if (!fine) return false;
    }
    return true;
}
