// Compares the compiler's output for two versions of a template, byte by byte, and binds a recorded space to the new
// version if nothing differs:
//
//     out/bin/rebind [--arch ARCH]... [--count N] [--part I/N] [--define NAME=VALUE]... OLD JOB...
//         compares N random configurations (default 10) of each job, whose template is the new version. OLD is the old
//         version, next to its includes
//     out/bin/rebind --space SPACE [--count N] [--part I/N] [--write] OLD JOB
//         compares every configuration of the recorded space SPACE, or N random ones, for the architecture that it was
//         recorded on. --part: only every N-th, beginning with number I (from 0), so that several processes can share
//         the work. --write: replaces the old version's hash in the space with the new version's, if all compared
//         configurations are identical
//
// Identical means the same machine code (.text), the same information for the driver (.nv.info) and the same constants
// (.nv.constant0). Differences in line tables do not matter. If the code differs, registers, spills and shared memory
// are compared, and the configuration is printed so that it can be timed on a GPU. Exit status: 0 if all are identical,
// 1 if not, 2 if the comparison failed.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/child_process.h"
#include "tuner/base/gzip.h"
#include "tuner/base/json.h"
#include "tuner/base/memory.h"
#include "tuner/base/run_program.h"
#include "tuner/base/text.h"
#include "tuner/job/job.h"
#include "tuner/recorded/recorded.h"
#include "tuner/setup/request.h"

enum { ARCHITECTURES_MOST = 4, DEFINES_MOST = 8, PRINTED_MOST = 10 };

struct arguments {
    const char *arch[ARCHITECTURES_MOST], *define[DEFINES_MOST], *space, *old;
    size_t arch_count, define_count, count, part, parts;
    bool write;
};

// A compile worker.
struct compiler {
    struct child child;
    FILE *answers;
};

struct comparison {
    const struct arguments *arguments;
    struct job *job;
    const char *new_source;
    char folder[PATH_MAX];
    struct compiler old, new;
    size_t identical, refused, same_figures, different;
};

static _Noreturn void give_up(const char *message)
{
    fprintf(stderr, "rebind: %s\n", message);
    exit(2);
}

static void start(struct compiler *c)
{
    struct error err;
    char *bin = getenv("BIN"), *path = text_format("%s/sweetspot-compile", bin ? bin : "out/bin");
    if (child_start(&c->child, (char *[]){path, NULL}, NULL, false, &err)) give_up(err.message);
    const int ends[] = {c->child.to, c->child.from};
    for (size_t i = 0; i < 2; i++) fcntl(ends[i], F_SETFL, fcntl(ends[i], F_GETFL) & ~O_NONBLOCK);
    if (!(c->answers = fdopen(c->child.from, "r"))) give_up("no memory");
    free(path);
}

static void ask(struct compiler *c, json_t *request)
{
    struct error err;
    if (json_write_line(c->child.to, request, &err)) give_up(err.message);
    json_decref(request);
}

static json_t *hear(struct compiler *c)
{
    struct error err;
    char *line = NULL;
    size_t room = 0;
    if (getline(&line, &room, c->answers) <= 0) give_up("a compile worker has ended");
    json_t *answer = json_parse(line, &err);
    if (!answer) give_up(err.message);
    free(line);
    return answer;
}

// A section of a cubin, which is a 64-bit ELF file.
struct section {
    const char *name, *bytes;
    size_t size;
};

static uint64_t number(const char *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

// Finds the next section to be compared, beginning with number *index. After the last one, its name is NULL.
// *index becomes the number after it.
static struct section next_section(const char *file, size_t *index)
{
    static const char *const counts[] = {".text", ".nv.info", ".nv.constant", ".nv.shared", ".nv.global"};
    const char *headers = file + number(file + 40, 8), *names = headers + 64 * number(file + 62, 2);
    for (size_t count = number(file + 60, 2); *index < count;) {
        const char *header = headers + 64 * (*index)++;
        const bool empty = number(header + 4, 4) == 8; // SHT_NOBITS
        struct section s = {file + number(names + 24, 8) + number(header, 4),
                            empty ? "" : file + number(header + 24, 8), number(header + 32, 8)};
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            if (!strncmp(s.name, counts[i], strlen(counts[i]))) return s;
    }
    return (struct section){0};
}

// Cubins list kernels in the order of the source. This order is not compared, so sections are found by name.
static bool has_section(const char *file, const struct section *s)
{
    size_t index = 0;
    for (struct section t = next_section(file, &index); t.name; t = next_section(file, &index))
        if (!strcmp(s->name, t.name)) return s->size == t.size && (!*s->bytes || !memcmp(s->bytes, t.bytes, s->size));
    return false;
}

static bool same_sections(const char *one, const char *other)
{
    size_t index = 0, others = 0;
    for (struct section s = next_section(one, &index); s.name; s = next_section(one, &index), others++)
        if (!has_section(other, &s)) return false;
    for (index = 0; next_section(other, &index).name; others--) {
    }
    return others == 0;
}

static char *cubin_of(const json_t *answer)
{
    size_t size;
    const char *path = json_get_string(answer, "cubin", NULL);
    char *file = path ? text_read_file(path, &size) : NULL;
    if (path) remove(path);
    if (path && (!file || size < 64 || memcmp(file, "\177ELF\2", 5) != 0)) give_up("a cubin is not one");
    return file;
}

// Registers, spills, stack and static shared memory of the kernels.
static char *figures_of(const json_t *answer)
{
    autojson json_t *entries = json_deep_copy(json_object_get(answer, "entries"));
    json_array_each(entries, i, entry) json_object_del(entry, "code_bytes");
    char *text = entries ? json_dumps(entries, JSON_SORT_KEYS) : text_copy("");
    return text;
}

static void compare_answers(struct comparison *c, const json_t *old, const json_t *new, const char *text)
{
    autofree char *old_file = cubin_of(old), *new_file = cubin_of(new);
    const char *old_status = json_get_string(old, "status", ""), *new_status = json_get_string(new, "status", "");
    autofree char *old_figures = figures_of(old), *new_figures = figures_of(new);
    if (!old_file && !new_file && !strcmp(old_status, new_status)) {
        c->refused++;
    } else if (old_file && new_file && same_sections(old_file, new_file)) {
        c->identical++;
    } else {
        const bool same = old_file && new_file && !strcmp(old_figures, new_figures);
        size_t *count = same ? &c->same_figures : &c->different;
        if ((*count)++ < PRINTED_MOST)
            printf("%s: %s\n  old %s %s%.200s\n  new %s %s%.200s\n", same ? "same figures" : "different", text,
                   old_status, old_figures, json_get_string(old, "reason", ""), new_status, new_figures,
                   json_get_string(new, "reason", ""));
    }
}

static json_t *request(struct comparison *c, const uint16_t *config, const char *arch, const char *source)
{
    const char *own = c->job->code.source;
    c->job->code.source = source;
    json_t *request = request_compile(c->job, config, arch, NULL, c->folder),
           *defines = json_object_get(request, "defines");
    c->job->code.source = own;
    for (size_t i = 0; i < c->arguments->define_count; i++) {
        const char *define = c->arguments->define[i], *equals = strchr(define, '=');
        autofree char *name = text_format("%.*s", (int)(equals - define), define);
        json_object_set_new(defines, name, json_string(equals + 1));
    }
    return request;
}

static void compare(struct comparison *c, const uint16_t *config, const char *arch)
{
    ask(&c->old, request(c, config, arch, c->arguments->old));
    ask(&c->new, request(c, config, arch, c->new_source));
    autojson json_t *old = hear(&c->old), *new = hear(&c->new);
    autofree char *text = space_text(c->job->space, config);
    compare_answers(c, old, new, text);
}

static struct job *load(const char *path)
{
    struct job *job;
    struct mistakes mistakes = {0};
    struct error err;
    if (job_load(path, &job, &mistakes)) give_up("not a sound job");
    if (job_build_space(job, &device_limits_h200, &err)) give_up(err.message);
    return job;
}

static void compare_random(struct comparison *c)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    struct random rng;
    random_seed(&rng, 1);
    for (size_t i = 0; i < c->arguments->count; i++) {
        space_sample(c->job->space, &rng, config);
        if (i % c->arguments->parts != c->arguments->part) continue;
        for (size_t a = 0; a < c->arguments->arch_count; a++) compare(c, config, c->arguments->arch[a]);
    }
}

static void compare_recorded(struct comparison *c)
{
    struct error err;
    struct recorded *recorded = recorded_read(c->arguments->space, &err);
    if (!recorded) give_up(err.message);
    const char *arch = json_get_string(recorded->about.environment, "arch", "sm_90a");
    const size_t size = space_size(recorded->space), count = c->arguments->count < size ? c->arguments->count : size;
    struct random rng;
    random_seed(&rng, 1);
    for (size_t i = 0; i < count; i++) {
        uint16_t listed[SPACE_MAX_PARAMETERS], config[SPACE_MAX_PARAMETERS];
        space_get(recorded->space, count < size ? random_below(&rng, size) : i, listed);
        if (i % c->arguments->parts != c->arguments->part) continue;
        autofree char *text = space_text(recorded->space, listed);
        if (space_parse(c->job->space, text, config, &err)) give_up(err.message);
        compare(c, config, arch);
    }
    printf("%s: %zu of %zu configurations, part %zu of %zu\n", c->arguments->space, count, size, c->arguments->part,
           c->arguments->parts);
    recorded_free(recorded);
}

// Changes only the hash in the file.
static void write_space(const struct comparison *c, const char *path)
{
    struct error err;
    const char *own = c->job->code.source;
    char hash[2][HASH_TEXT_SIZE], *space = gzip_read_file(path, NULL, &err);
    if (!space) give_up(err.message);
    c->job->code.source = c->arguments->old;
    int failed = request_source_hash(c->job, hash[0], &err);
    c->job->code.source = own;
    if (failed || request_source_hash(c->job, hash[1], &err)) give_up(err.message);
    char *wanted = text_format("\"source_hash\":\"%s\"", hash[0]), *at = strstr(space, wanted);
    if (!at) give_up("the space was not recorded from the old version");
    memcpy(strchr(at, ':') + 2, hash[1], strlen(hash[1]));
    if (gzip_write_file(path, space, strlen(space), &err)) give_up(err.message);
    printf("%s: %s -> %s\n", path, hash[0], hash[1]);
    free(wanted);
    free(space);
}

static struct arguments read_arguments(int argc, char **argv, int *first)
{
    struct arguments a = {.count = SIZE_MAX, .parts = 1};
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--write")) {
            a.write = true;
            continue;
        }
        if (!strcmp(argv[i], "--arch") && a.arch_count < ARCHITECTURES_MOST)
            a.arch[a.arch_count++] = value;
        else if (!strcmp(argv[i], "--define") && a.define_count < DEFINES_MOST && strchr(value, '='))
            a.define[a.define_count++] = value;
        else if (!strcmp(argv[i], "--count"))
            a.count = strtoul(value, NULL, 10);
        else if (!strcmp(argv[i], "--space"))
            a.space = value;
        else if (strcmp(argv[i], "--part") != 0 || sscanf(value, "%zu/%zu", &a.part, &a.parts) != 2 || !a.parts)
            give_up("usage: see the beginning of tests/rebind.c");
        i++;
    }
    if (argc - i < 2 || (a.space && argc - i > 2) || (a.write && !a.space))
        give_up("usage: see the beginning of tests/rebind.c");
    a.old = argv[i];
    if (!a.space && a.count == SIZE_MAX) a.count = 10;
    if (!a.arch_count) a.arch[a.arch_count++] = "sm_90a";
    *first = i + 1;
    return a;
}

int main(int argc, char **argv)
{
    struct error err;
    int first;
    struct arguments arguments = read_arguments(argc, argv, &first);
    struct comparison c = {.arguments = &arguments};
    bool all = true;
    autofree char *old = realpath(arguments.old, NULL);
    if (!old) give_up("there is no old version");
    arguments.old = old;
    if (work_folder_make("rebind", c.folder, &err)) give_up(err.message);
    start(&c.old);
    start(&c.new);
    for (int i = first; i < argc; i++) {
        c.job = load(argv[i]);
        c.new_source = c.job->code.source;
        c.identical = c.refused = c.same_figures = c.different = 0;
        if (arguments.space)
            compare_recorded(&c);
        else
            compare_random(&c);
        printf("%s: %zu identical, %zu refused, %zu with the same figures, %zu different\n", argv[i], c.identical,
               c.refused, c.same_figures, c.different);
        fflush(stdout);
        all = all && !c.same_figures && !c.different;
        if (all && arguments.write) write_space(&c, arguments.space);
        job_free(c.job);
    }
    work_folder_remove(c.folder);
    int status;
    child_kill(&c.old.child, &status);
    child_kill(&c.new.child, &status);
    return all ? 0 : 1;
}
