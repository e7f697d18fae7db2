// sweetspot man: prints the manual pages as roff (manual.h).

#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/manual.h"
#include "tuner/cli/options.h"

static const char *name, *folder;

#define NAME(command) #command,
static const char *const names[] = {COMMANDS(NAME) NULL};

static const struct option_spec specs[] = {
    ARGUMENT(string, &name, "COMMAND", "the command whose page is printed (the overview)", .optional = true,
             .choices = names),
    OPTION(string, &folder, "output", 'o', "FOLDER", "write all pages into this folder instead"),
    OPTION_END,
};

static int write_page(FILE *file, void *user, struct error *err)
{
    (void)err;
    manual_write(file, commands_known(), user);
    return 0;
}

// Writes the overview, then the page of each command.
static int write_all(const char *to)
{
    struct error err;
    const struct command *command = NULL;
    const struct command *const *next = commands_known();
    do {
        autofree char *file = manual_file(command), *path = text_format("%s/%s", to, file);
        int failed =
            output_make_folders(path, &err) || output_file_write(path, write_page, (void *)(uintptr_t)command, &err);
        if (!failed) continue;
        command_refuse("%s", err.message);
        return EXIT_ENVIRONMENT;
    } while ((command = *next++));
    return EXIT_DONE;
}

static int run(void)
{
    if (name && folder) return command_refuse("--output writes all pages; leave out '%s'", name);
    if (folder) return write_all(folder);
    const struct command *command = name ? command_find(commands_known(), name) : NULL;
    if (name && !command) return command_refuse_unknown("command", name, names);
    manual_write(stdout, commands_known(), command);
    return EXIT_DONE;
}

const struct command cmd_man = {
    .name = "man",
    .summary = "print manual pages",
    .description = "Prints the manual page of a command, or the overview, as roff. `make install` puts the pages where "
                   "`man sweetspot-tune` finds them.",
    .options = specs,
    .run = run,
    .see = "list",
};
