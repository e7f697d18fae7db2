// sweetspot man: the manual pages, as roff (manual.h).
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/manual.h"
#include "tuner/cli/options.h"

static int write_page(FILE *file, void *user, struct error *err)
{
    (void)err;
    manual_write(file, commands_known(), user);
    return 0;
}

// The overview, then each command's.
static int write_all(const char *folder)
{
    struct error err;
    for (const struct command *c = NULL;; c = c ? c + 1 : commands_known()) {
        if (c && !c->name) return EXIT_DONE;
        char *file = manual_file(c), *path = text_format("%s/%s", folder, file);
        int failed = output_make_folders(path, &err) || output_file_write(path, write_page, (void *)(uintptr_t)c, &err);
        free(file);
        free(path);
        if (!failed) continue;
        fprintf(stderr, "sweetspot man: %s\n", err.message);
        return EXIT_ENVIRONMENT;
    }
}

int cmd_man(int argc, char **argv)
{
    const char *name = NULL, *folder = NULL;
    size_t count = 0;
    while (commands_known()[count].name) count++;
    const char **names = memory_new(count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) names[i] = commands_known()[i].name;
    const struct option_spec specs[] = {
        {.name = "COMMAND",
         .positional = true,
         .optional = true,
         .string = &name,
         .choices = names,
         .help = "the command whose page is printed (the overview)"},
        {.name = "output",
         .letter = 'o',
         .string = &folder,
         .shown = "FOLDER",
         .help = "write all pages into this folder instead"},
        OPTION_END,
    };
    int status = options_parse(specs,
                               "Prints the manual page of a command, or the overview, as roff. `make install` puts "
                               "the pages where `man sweetspot-tune` finds them.",
                               argc, argv);
    if (status < 0 && name && folder) {
        fprintf(stderr, "sweetspot man: --output writes all pages; leave out '%s'\n", name);
        status = EXIT_USAGE;
    }
    if (status < 0 && folder) status = write_all(folder);
    if (status < 0) {
        const struct command *command = commands_known();
        while (name && command->name && strcmp(command->name, name)) command++;
        if (name && !command->name) {
            char *text = text_unknown("command", name, names);
            fprintf(stderr, "sweetspot man: %s\n", text);
            free(text);
            status = EXIT_USAGE;
        } else {
            manual_write(stdout, commands_known(), name ? command : NULL);
            status = EXIT_DONE;
        }
    }
    free(names);
    return status;
}
