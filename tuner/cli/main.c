// sweetspot: finds the fastest configuration of a CUDA kernel. This file chooses the command.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "tuner/base/child_process.h"
#include "tuner/base/colour.h"
#include "tuner/base/json.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/store/store.h"

// Set by the Makefile; "" if unknown.
#ifndef SWEETSPOT_COMMIT
#define SWEETSPOT_COMMIT ""
#endif
#ifndef SWEETSPOT_CUDA
#define SWEETSPOT_CUDA ""
#endif

static void print_known(const char *what, const char *text)
{
    printf("%-9s %s\n", what, *text ? text : "unknown");
}

// Prints the output of `<worker> --version`, or a line that says that the worker was not found.
static void print_worker(const char *name, const char *library)
{
    autofree char *path = installation_program(name), *call = text_command((const char *[]){path, "--version", NULL}),
                  *quiet = text_format("%s 2>/dev/null", call);
    char line[256];
    FILE *out = popen(quiet, "re");
    bool said = false;
    while (out && fgets(line, sizeof line, out)) {
        said = true;
        fputs(line, stdout);
    }
    if (out) pclose(out);
    if (!said) printf("%-9s not found\n", library);
}

// Prints the versions that a bug report needs: the program with its commit, the CUDA toolkit, SQLite, and NVRTC and
// cuBLAS as the workers load them (the driver links no CUDA library).
static int print_version(void)
{
    printf("sweetspot " SWEETSPOT_VERSION "\n");
    printf("%-9s %s\n", "commit", *SWEETSPOT_COMMIT ? SWEETSPOT_COMMIT : "none: not built from a git checkout");
    print_known("CUDA", SWEETSPOT_CUDA);
    fflush(stdout);
    print_worker("sweetspot-compile", "NVRTC");
    print_worker("sweetspot-gpu", "cuBLAS");
    print_known("SQLite", store_library_version());
    return EXIT_DONE;
}

static void print_help(FILE *file)
{
    fprintf(file,
            "usage: sweetspot COMMAND [OPTION...] [ARGUMENT...]\n\n"
            "Finds the fastest configuration of a CUDA kernel, proves it correct, and writes it as a C header.\n\n"
            "Commands:\n");
    for (size_t i = 0; i < command_count; i++) fprintf(file, "  %-12s%s\n", commands[i]->name, commands[i]->summary);
    fprintf(file, "\nOptions:\n"
                  "  -h, --help      print this and exit\n"
                  "      --version   print the version and those of the libraries, and exit\n\n"
                  "sweetspot help COMMAND explains a command.\n");
}

static int unknown_command(const char *name, int argc, char **argv)
{
    const char *now = command_renamed(name), *nearest = command_nearest(name);
    if (now) {
        fprintf(stderr, "sweetspot: the command '%s' is now 'sweetspot %s'\n", name, now);
        return EXIT_USAGE;
    }
    fprintf(stderr, "sweetspot: unknown command '%s'", name);
    if (nearest) fprintf(stderr, "; did you mean '%s'?", nearest);
    int i = 2;
    while (i < argc && !command_find(commands, argv[i])) i++;
    if (!nearest && i < argc) fprintf(stderr, "; the command comes first: sweetspot %s", argv[i]);
    fprintf(stderr, "\nsweetspot --help lists the commands\n");
    return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    bool help = !strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h");
    if (help && argc == 2) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (!strcmp(name, "--version") && argc == 2) return print_version();
    if (argc > 2 + help && (help || !strcmp(name, "--version"))) {
        fprintf(stderr, "sweetspot: unexpected argument '%s' after %s\n", argv[2 + help], name);
        return EXIT_USAGE;
    }
    if (name[0] == '-' && !help) {
        fprintf(stderr,
                "sweetspot: unknown option '%s' (options of a command come after its name)\n"
                "sweetspot --help lists the commands\n",
                name);
        return EXIT_USAGE;
    }
    if (help) name = argv[2];
    const struct command *command = command_find(commands, name);
    if (!command) return unknown_command(name, help ? 0 : argc, argv);
    if (argc == 3 && !strcmp(argv[2], "--version")) return print_version();
    if (help) return command_run(command, 2, (char *[]){argv[2], (char[]){"--help"}, NULL});
    return command_run(command, argc - 1, argv + 1);
}

// Refuses text that is not UTF-8: requests, results and documents are JSON.
static bool refuse(const char *text, const char *what)
{
    if (!text || json_takes(text)) return false;
    autojson json_t *shown = json_string(text);
    fprintf(stderr, "sweetspot: %s is not UTF-8: '%s'\n", what, json_string_value(shown));
    return true;
}

static bool refuse_variables(void)
{
    static const char *const read[] = {"SWEETSPOT_", "CUDA_HOME=", "CUDA_PATH=", "TMPDIR="};
    for (char **variable = environ; *variable; variable++)
        for (size_t i = 0; i < sizeof read / sizeof *read; i++)
            if (!strncmp(*variable, read[i], strlen(read[i])) && refuse(*variable, "an environment variable"))
                return true;
    return false;
}

// Checks the environment variables, the paths of the working folder and of the program, and the arguments.
static int check_text(int argc, char **argv)
{
    autofree char *here = getcwd(NULL, 0), *program = installation_program("sweetspot");
    bool refused = refuse_variables() || refuse(here, "the path of the working folder") ||
                   refuse(program, "the path of the program");
    for (int i = 1; i < argc && !refused; i++) {
        autofree char *what = text_format("argument %d", i);
        refused = refuse(argv[i], what);
    }
    return refused ? EXIT_USAGE : EXIT_DONE;
}

int main(int argc, char **argv)
{
    // A file must not get the number of a standard stream that is closed. Writing to that stream must still fail.
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        // cppcheck-suppress leakReturnValNotUsed
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) return EXIT_ENVIRONMENT;
    // A command continues when the reader of its output stops (`| head`), so that the rest of its work is done.
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // so that exceeding the file limit (ulimit -f) is reported as a failed write
    terminal_guard();
    commands_hand_over(commands);
    orphans_adopt(); // so that processes that a worker leaves behind are ended as well
    int status = check_text(argc, argv);
    if (status == EXIT_DONE) status = run(argc, argv);
    // If results did not reach the file or the pipe, the command must not look successful.
    errno = 0; // remains 0 if only an earlier write failed, for a reason that is no longer known
    if (fflush(stdout) != 0 || ferror(stdout)) {
        // The exit status that shells report for a command that was ended by this signal.
        if (output_stdout_closed()) return status == EXIT_DONE ? EXIT_SIGNAL + SIGPIPE : status;
        if (status != EXIT_ENVIRONMENT)
            fprintf(stderr, "sweetspot: cannot write the output%s%s\n", errno ? ": " : "",
                    errno ? strerror(errno) : "");
        if (status == EXIT_DONE) status = EXIT_ENVIRONMENT;
    }
    return status;
}
