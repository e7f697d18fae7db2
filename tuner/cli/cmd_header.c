// sweetspot header: writes the winner as a C header (tuner/header/header.h) or a Python file, merged with other
// devices' sections from an older header. Also checks whether a header still matches its template.

#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/ageing.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/job_set.h"
#include "tuner/cli/shipped_header.h"
#include "tuner/final/builds_summary.h"
#include "tuner/header/header.h"
#include "tuner/header/header_python.h"
#include "tuner/header/header_section.h"
#include "tuner/header/header_text.h"
#include "tuner/setup/request.h"
#include "tuner/setup/sanitize.h"
#include "tuner/store/builds.h"

struct header_options {
    struct job_set job_set;
    const char *output, *check;
    bool hash, embed, python, shipped;
};

static struct header_options given;

static const struct option_spec specs[] = {
    OPTION_JOBS(&given.job_set.named),
    OPTION_STORE(&given.job_set.store),
    OPTION_RESULTS_DEVICE(&given.job_set.device, "the one used last"),
    OPTION(string, &given.output, "output", 'o', "FILE",
           "the header to write, or the folder for it; -: standard output (out/include/<job name>_best.h); "
           "FILE.cubin: only the winner's measured binary; FILE.sweetspot: the binary and its launch, for "
           "sweetspot_runtime.c"),
    OPTION(string, &given.check, "check", 0, "FILE",
           "only check that the template is still the one for which FILE, or the header in that folder, was tuned; "
           "exit status 1 if not"),
    FLAG(&given.hash, "hash", 0, "only print the template's current hash, for -DSWEETSPOT_SOURCE_HASH="),
    FLAG(&given.embed, "embed", 0,
         "also write the measured binary, as <header>_binary.c, and functions that load and launch it"),
    FLAG(&given.python, "python", 0,
         "write a Python file with the measured binary instead, which checks arrays and launches it "
         "(out/python/<job name>_best.py)"),
    FLAG(&given.shipped, "shipped", 0,
         "write the header of the winner that comes with the job, without a GPU and without results of your own"),
    OPTION_END,
};

static int present_hash(const struct job *job, char hash[HASH_TEXT_SIZE])
{
    struct error err = {""};
    return request_source_hash(job, hash, &err) ? session_complain(EXIT_USAGE, &err) : 0;
}

// Prints a hash, preceded by the job's name if there are several jobs.
static int print_hash(const struct job *job, bool job_set)
{
    char hash[HASH_TEXT_SIZE], number[32];
    int status = present_hash(job, hash);
    if (!status) printf("%s%s%s\n", job_set ? job->name : "", job_set ? " " : "", header_hash_number(hash, number));
    return status;
}

// Why a section does not match its template, whose hash is now `hash`. NULL if this version of the template was
// measured.
static const char *source_trouble(const json_t *section, const char *hash)
{
    const char *measured = json_get_string(section, "source_hash", "");
    bool replayed = json_get_bool(section, "replayed", false);
    if (!*measured) return "source not recorded: it is unknown which version of the template was measured";
    if (!strcmp(measured, hash)) return NULL;
    return replayed ? "the template is not the one that was measured for the recording"
                    : "the template has changed since it was tuned: tune again";
}

// Prints one line per section. EXIT_NOTHING if a section was tuned with another version of the template.
static int check_header(const struct job *job, const char *path)
{
    struct error err = {""};
    char hash[HASH_TEXT_SIZE];
    int status = present_hash(job, hash);
    if (status) return status;
    autojson json_t *sections = header_read(path, &err);
    if (!sections) return session_complain(EXIT_USAGE, &err);
    if (!json_array_size(sections))
        status = complain(EXIT_USAGE, "there is no header '%s'; `sweetspot header JOB` writes it", path);
    json_array_each(sections, i, section) {
        bool other_job = strcmp(json_get_string(section, "job", ""), job->name) != 0;
        const char *trouble = other_job ? "is the header of another job" : source_trouble(section, hash);
        printf("%s: %s: %s\n", path, json_get_string(section, "device", "?"),
               trouble ? trouble : "the template is the one that was tuned");
        if (trouble) status = EXIT_NOTHING;
    }
    return status;
}

static int find_winner(struct session *session, struct final *final, bool *decided, int64_t *winner)
{
    int status = session_winner(session, final, decided, winner);
    if (status || *winner) return status;
    return complain(EXIT_NOTHING, "no configuration of %s has been measured and verified yet: tune it first",
                    session->job->name);
}

// Configurations that are tied with the winner.
static json_t *tied_configurations(struct session *session, const struct final *final)
{
    json_t *ties = json_array();
    for (size_t i = 0; i < final->tie_count; i++) {
        struct trial trial;
        if (!store_get(session->store, final->ties[i], &trial, NULL))
            json_array_append_new(ties, json_string(trial.config));
    }
    return ties;
}

// Notes that the section's times come from a recording, and sets their date to the recording's.
static void add_recording(json_t *section, const json_t *recording)
{
    int64_t when = (int64_t)json_get_number(recording, "when", 0);
    json_object_set_new(section, "replayed", json_true());
    json_object_set_new(section, "recorded_rounds", json_integer(json_get_integer(recording, "rounds", 0)));
    if (when > 0) json_object_set_new(section, "when", json_integer(when));
}

// Adds the result of the winner's nvcc build, if that build took part in the race.
static void add_builds(json_t *section, struct session *session, const struct final *final)
{
    autojson json_t *document = session_document(session, BUILDS_DOCUMENT, NULL);
    json_object_set_new(section, "nvcc", builds_summary(document, final, session->job));
}

// Explains that there is no final, or that the final lacks something it should have stored.
static int say_how_to_decide(const struct session *session, const char *what)
{
    return session_advise(session, "a run ends with a final", "%s", what);
}

static int complain_binary(const struct session *session, int failed, const struct error *err)
{
    const char *store = session->store_given;
    if (failed == BINARY_MISSING && session->replayed)
        return complain(EXIT_NOTHING, "%s; on a GPU, begin with: sweetspot tune %s%s%s", err->message,
                        session->job_path, store ? " --store " : "", store ? store : "");
    return failed == BINARY_MISSING ? say_how_to_decide(session, err->message)
                                    : session_complain(EXIT_ENVIRONMENT, err);
}

// Makes the section for one trial: kernel number `kernel` of the final. Adds its binary to the list, unless the list is
// NULL.
static json_t *make_section(struct session *session, int64_t id, struct binary_list *binaries,
                            const struct final *final, size_t kernel, json_t *ties, int *status)
{
    struct error err = {""};
    struct trial trial;
    int found = store_get(session->store, id, &trial, &err);
    if (found > 0) error_set(&err, "the winner of the final is not in the store");
    autojson json_t *section =
        found ? NULL
              : header_section(session->job, &session->environment, &trial, final, kernel, ties, given.python, &err);
    if (!section) {
        *status = session_complain(found ? EXIT_ENVIRONMENT : EXIT_USAGE, &err);
        return NULL;
    }
    if (session->replayed) add_recording(section, session->recording);
    if (final) add_builds(section, session, final);
    autojson json_t *sanitized = store_get_document(session->store, id, SANITIZED_DOCUMENT, NULL, NULL);
    autofree char *words = sanitized_text(sanitized);
    if (words) json_object_set_new(section, "sanitizers", json_string(words));
    int missing = binaries ? binary_list_take(binaries, section, session->store, id, session->device, &err) : 0;
    if (missing) *status = complain_binary(session, missing, &err);
    return missing ? NULL : json_incref(section);
}

// Adds the job's fallback after the device's own sections, or notes in the first section why there is none.
static void add_fallback(struct session *session, json_t *sections)
{
    const struct job *job = session->job;
    struct error err = {""};
    struct trial trial;
    if (!job->others.fallback.kind) return;
    autofree char *config = space_text(job->space, job->others.fallback.config);
    int missing = store_find(session->store, config, &trial, &err);
    json_t *section =
        missing < 0 ? NULL : header_section_of_fallback(job, &session->environment, missing ? NULL : &trial, &err);
    if (section && session->replayed) add_recording(section, session->recording);
    if (section) {
        json_array_append_new(sections, section);
    } else {
        header_section_lacks(json_array_get(sections, 0), config, err.message);
    }
}

// Makes one section per kernel. There is one kernel, unless the job's objective is "each".
static json_t *make_sections(struct session *session, struct binary_list *binaries, int *status)
{
    autorelease(final_release) struct final final = {0};
    bool decided = false;
    int64_t winner;
    autojson json_t *sections = json_array(), *ties = NULL;
    *status = find_winner(session, &final, &decided, &winner);
    if (!*status && !decided && session->job->search.objective == OBJECTIVE_EACH)
        *status = say_how_to_decide(session, "a final decides which kernel serves which problem");
    if (*status) return NULL;
    ties = tied_configurations(session, &final); // before the winner is loaded: the store holds one trial at a time
    for (size_t k = 0; k < (final.kernel_count ? final.kernel_count : 1) && !*status; k++) {
        json_t *section = make_section(session, final.kernel_count ? final.kernels[k] : winner, binaries,
                                       decided ? &final : NULL, k, ties, status);
        if (section) json_array_append_new(sections, section);
    }
    if (!*status && !given.python) add_fallback(session, sections);
    if (!*status && !decided) say_how_to_decide(session, "no final has decided the winner yet, and the header says so");
    return *status ? NULL : json_incref(sections);
}

// Writes only the winner's binary.
static int write_cubin(struct session *session, const char *path)
{
    struct error err = {""};
    autorelease(final_release) struct final final = {0};
    bool decided;
    int64_t winner;
    int status = find_winner(session, &final, &decided, &winner);
    if (status) return status;
    if (final.kernel_count > 1)
        return complain(EXIT_USAGE,
                        "the final chose %zu kernels, but a file holds one; use --embed, which writes all of them",
                        final.kernel_count);
    int failed = header_cubin_write(path, session->store, winner, &err);
    if (failed) return complain_binary(session, failed, &err);
    if (!output_is_stdout(path)) printf("%s\n", path);
    return EXIT_DONE;
}

// Writes the binaries and how they are launched.
static int write_kernels(struct session *session, const char *path)
{
    struct error err = {""};
    int status = session_build_space(session);
    if (status) return status;
    autorelease(binary_list_release) struct binary_list binaries = {0};
    autojson json_t *sections = make_sections(session, &binaries, &status);
    if (!sections) return status;
    if (header_kernels_write(path, sections, &binaries, &err)) return session_complain(EXIT_ENVIRONMENT, &err);
    printf("%s\n", path);
    return EXIT_DONE;
}

// Prints how this machine and the source differ from those that produced the results.
static void say_age(struct session *session, const json_t *section)
{
    char hash[HASH_TEXT_SIZE];
    const struct environment now = ageing_now(session);
    struct ageing ageing;
    ageing_find(&ageing, session, &now);
    autofree char *aged = ageing_text(session, &ageing);
    const char *trouble = session->replayed && !present_hash(session->job, hash) ? source_trouble(section, hash) : aged;
    if (trouble)
        fprintf(stderr, "sweetspot: %s: %s; the header describes what was measured\n", session->job->name, trouble);
}

// Writes the sections, keeps the file's sections for other devices, and prints the file's path.
static int write_sections(const struct header_options *o, const char *job, const char *path, const json_t *fresh,
                          struct binary_list *binaries)
{
    struct error err = {""};
    autojson json_t *sections =
        output_is_stream(path) ? json_array() : header_read(path, &err); // a pipe has nothing to merge with
    if (!sections || (header_merge(sections, fresh, &err) && error_prefix(&err, "%s", path)))
        return complain(EXIT_USAGE, "%s; it was not changed (remove it, or give another --output)", err.message);
    int failed = o->python ? header_python_write(path, sections, binaries, &err)
                           : header_embed_write(path, sections, binaries, &err);
    if (!failed && !o->python) failed = header_write(path, sections, &err);
    if (failed) return session_complain(failed == HEADER_COLLISION ? EXIT_USAGE : EXIT_ENVIRONMENT, &err);
    if (!output_is_stdout(path)) printf("%s\n", path);
    size_t devices = header_devices(sections);
    if (devices > 1) fprintf(stderr, "sweetspot: %s: the header holds %zu devices\n", job, devices);
    return EXIT_DONE;
}

static int write_header(const struct header_options *o, struct session *session, const char *path)
{
    int status = session_build_space(session);
    if (status) return status;
    autorelease(binary_list_release) struct binary_list binaries = {0};
    autojson json_t *fresh = make_sections(session, o->embed || o->python ? &binaries : NULL, &status);
    if (fresh) status = write_sections(o, session->job->name, path, fresh, &binaries);
    if (fresh && !status) say_age(session, json_array_get(fresh, 0));
    return status;
}

// Whether --output names a file for the binary and not for a header.
static bool writes_binary(const char *output)
{
    return output && (text_before(output, ".cubin") || text_before(output, ".sweetspot")) && !job_set_is_folder(output);
}

// Refuses options that exclude each other, instead of ignoring one of them.
static int refuse_combination(const struct header_options *o)
{
    const struct {
        const char *name;
        bool given;
    } all[] = {{"--hash", o->hash},   {"--check", o->check},   {"--output", o->output},
               {"--embed", o->embed}, {"--python", o->python}, {"--shipped", o->shipped}};
    const struct job_set *set = &o->job_set;
    if (o->shipped && (o->embed || o->python || set->store || set->device))
        return complain(EXIT_USAGE, "--shipped uses no store: leave out %s",
                        o->embed     ? "--embed"
                        : o->python  ? "--python"
                        : set->store ? "--store"
                                     : "--device");
    if (o->embed && o->python)
        return complain(EXIT_USAGE, "--embed and --python write different files; drop one of them");
    for (size_t i = 0; i < 2; i++)
        for (size_t k = i + 1; k < sizeof all / sizeof *all && all[i].given; k++)
            if (all[k].given)
                return complain(EXIT_USAGE, "%s writes no header and cannot be combined with %s; drop one of them",
                                all[i].name, all[k].name);
    for (size_t i = 3; i < sizeof all / sizeof *all && writes_binary(o->output); i++)
        if (all[i].given)
            return complain(EXIT_USAGE, "'%s' is a file for the binary alone: leave out %s", o->output, all[i].name);
    if (!o->embed || !o->output || !output_is_stream(o->output)) return 0;
    return complain(EXIT_USAGE,
                    "--embed writes two files, and '%s' is not a regular file: give --output the name of a file",
                    o->output);
}

// The header's file name. malloc'ed.
static char *header_name(const struct job *job)
{
    autofree char *identifier = header_identifier(job->name);
    return text_format("%s_best.%s", identifier, given.python ? "py" : "h");
}

// The path of the header that is written. malloc'ed.
static char *header_path(const struct header_options *o, const struct job *job)
{
    autofree char *name = header_name(job), *folder = o->output ? NULL : results_folder(job);
    return o->output ? job_set_file(o->output, name)
                     : text_format("%s/%s/%s", folder, o->python ? "python" : "include", name);
}

static int write_shipped(const struct header_options *o, const char *job_path, struct job *job)
{
    int status;
    autorelease(binary_list_release) struct binary_list binaries = {0};
    autofree char *path = header_path(o, job);
    autojson json_t *fresh = shipped_sections(job, job_path, &status);
    return fresh ? write_sections(o, job->name, path, fresh, &binaries) : status;
}

// The actions that need only the job and no store.
static int look_at_job(void *user, const char *path, struct job *job)
{
    const struct header_options *o = user;
    autofree char *name = header_name(job), *file = o->check ? job_set_file(o->check, name) : NULL;
    int status = o->shipped ? write_shipped(o, path, job)
                 : o->hash  ? print_hash(job, o->job_set.many)
                            : check_header(job, file);
    job_free(job);
    return status;
}

static int write_results(void *user, struct session *session)
{
    const struct header_options *o = user;
    autofree char *path = header_path(o, session->job);
    if (!writes_binary(o->output)) return write_header(o, session, path);
    if (output_is_foreign(path)) return complain_foreign(path);
    return text_before(path, ".sweetspot") ? write_kernels(session, path) : write_cubin(session, path);
}

static int run(void)
{
    int status;
    if ((status = refuse_combination(&given)) || (status = job_set_open(&given.job_set))) goto out;
    status = job_set_check_folder(&given.job_set, "--output", given.output, true);
    if (!status) status = job_set_check_folder(&given.job_set, "--check", given.check, false);
    if (!status)
        status = given.hash || given.check || given.shipped
                     ? job_set_each_job(&given.job_set, look_at_job, &given)
                     : job_set_each(&given.job_set, NEWEST_DEVICE, write_results, &given);
out:
    job_set_close(&given.job_set);
    return status;
}

const struct command cmd_header = {
    .name = "header",
    .summary = "write the winner as a C header or a Python file",
    .description = "Writes the winner of the newest final as a self-contained C header: parameters, launch geometry "
                   "as functions of the problem's sizes, and results. Without a final, the best of the search is "
                   "written and marked as such. The file's sections for other devices are kept.",
    .options = specs,
    .run = run,
    .more = "The header compiles without warnings as C99, C++11 and CUDA; `docs/header.md` describes it. The paths "
            "of the headers are printed. With several jobs, each job gets its own header, `--output` and `--check` "
            "name a folder, and `--hash` prints the job's name before each hash. Only one header can be written to "
            "standard output or a pipe.\n\n"
            "For a recording without the hash of its source, `--check` cannot compare and also ends with 1. A build "
            "that passes the hash as `-DSWEETSPOT_SOURCE_HASH=` stops when the header is older than the template. "
            "`--shipped` ends with 1 if no winner comes with the job, or if the job or its sources are not those that "
            "were measured. "
            "`--embed` and `--python` end with 1 if the store has no binary; a final on a GPU stores it. After a "
            "replay, the "
            "header contains the source, the device and the date of the recording, and says that nothing was "
            "measured here.",
    .see = "tune compare",
};
