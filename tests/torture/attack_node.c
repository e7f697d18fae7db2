// A pool has a node that sends false messages (tests/lying_node.c) and an honest node. The run ends as it would without
// the lying node, and no file that the lying node names reaches the honest node.
#include "tests/torture/attacks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/torture/files.h"
#include "tuner/base/text.h"

static const char *const lies[] = {"cores 1000000",   "path secret",   "files 5000", "file 2000000000", "have 70000",
                                   "frame 200000000", "never_ready 0", "flood 300",  "silence %d",      "tamper %d"};
enum { LIES = sizeof lies / sizeof *lies, FRAMES_MOST = 60 };

void attack_node(struct scene *s)
{
    char *lie = text_format(lies[random_below(&s->random, LIES)], (int)random_below(&s->random, FRAMES_MOST)),
         *secret = text_format("%s/secret", s->run), *pool = text_format("%s/nodes.cfg", s->run),
         *here = realpath(".", NULL);
    if (!strncmp(lie, "path ", 5)) { // a path of the driver's
        free(lie);
        lie = text_format("path %s/%s", here, secret);
    }
    autofree char *nodes =
        text_format("nodes = ( { name = \"honest\"; gpus = 1; cores = 1; private = true; command = \"env "
                    "XDG_CACHE_HOME=%s/%s/honest\"; },\n"
                    "  { name = \"liar\"; gpus = %d; cores = 2; private = %s;\n"
                    "    command = \"env XDG_CACHE_HOME=%s/%s/liar %s/lying_node %s\"; } );\n",
                    here, s->run, (int)random_below(&s->random, 2), random_below(&s->random, 2) ? "true" : "false",
                    here, s->run, scene_programs(), lie);
    file_write(s->run, "nodes.cfg", nodes);
    file_write(s->run, "secret", "of the driver's\n");
    scene_give(s, text_copy("SWEETSPOT_NODE_BEAT=100ms"));
    scene_give(s, text_copy("SWEETSPOT_NODE_PATIENCE=1s"));
    scene_give(s, text_copy("SWEETSPOT_NODE_GREETING=2s"));
    s->pool = pool;
    int status = scene_wait(s, scene_start(s, -1));
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        scene_fail(s, "beside a node that lies (%s) it ended with status %d", lie, status);
    autofree char *search = text_format("grep -rqsx \"of the driver's\" '%s/honest'", s->run);
    if (!system(search)) scene_fail(s, "the other node got a file that the liar named");
    s->details[0] += scene_said(s, "node liar is ");
    s->pool = NULL;
    scene_give(s, NULL);
    if (scene_check(s) && scene_complete(s)) s->passed++;
    free(here);
    free(pool);
    free(secret);
    free(lie);
}
