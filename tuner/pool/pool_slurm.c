// See pool_slurm.h.
#include "tuner/pool/pool_slurm.h"

#include "tuner/base/base.h"
#include "tuner/base/run_program.h"

enum { ANSWER_TIMEOUT = 5 }; // s

long pool_slurm_count(const char *list, size_t node)
{
    for (const char *at = list; at && *at;) {
        char *end;
        long count = strtol(at, &end, 10), times = 1;
        if (end == at) return 0;
        if (!strncmp(end, "(x", 2)) times = strtol(end + 2, &end, 10);
        if ((long)node < times) return count;
        node -= (size_t)times;
        at = strchr(end, ',');
        if (at) at++;
    }
    return 0;
}

// What a program prints, malloc'ed; NULL when it fails, or Slurm does not answer: the driver waits for it.
static char *ask(const char *const *words)
{
    char *command = text_command(words), *quiet = text_format("exec %s 2>/dev/null", command);
    char *argv[] = {"/bin/sh", "-c", quiet, NULL};
    struct program_end end;
    int failed = run_program(&(struct program_run){.argv = argv, .deadline = ANSWER_TIMEOUT}, &end, NULL);
    free(command);
    free(quiet);
    if (!failed && !end.late && !end.status) return end.output;
    free(end.output);
    return NULL;
}

static void add_node(struct node_specs *out, const struct pool_request *request, const char *job, const char *host,
                     long cores)
{
    struct node_spec *n = node_specs_add(out, text_copy(host));
    char *id = text_format("--jobid=%s", job), *where = text_format("--nodelist=%s", host),
         *width = text_format("--cpus-per-task=%ld", cores);
    // --overlap: besides other steps of the job. A step that fails must not end the others.
    node_spec_add(n, "srun", id, where, "--nodes=1", "--ntasks=1", "--overlap", "--kill-on-bad-exit=0", "--export=ALL",
                  "--unbuffered", "--mpi=none", NULL);
    if (cores > 0) node_spec_add(n, width, NULL);
    node_spec_agent(n, request, NULL, false);
    free(id);
    free(where);
    free(width);
}

int pool_slurm_add(struct node_specs *out, const struct pool_request *request, const char *job, struct error *err)
{
    const char *own = getenv("SLURM_JOB_ID"), *cpus = job ? NULL : getenv("SLURM_JOB_CPUS_PER_NODE"),
               *list = getenv("SLURM_JOB_NODELIST");
    if (!job && (!own || !list))
        return error_set(err,
                         "--pool slurm: this is not in a Slurm allocation. Get one, `salloc --nodes=2 "
                         "--gpus-per-node=8 --exclusive --time=8:00:00`, and run the same command there; or submit "
                         "a script as docs/slurm.sbatch; or name a running job: --pool slurm:JOBID");
    char *found = NULL;
    if (job) {
        found =
            ask((const char *const[]){"squeue", "--noheader", "--states=RUNNING", "--format=%N", "--jobs", job, NULL});
        if (found) found[strcspn(found, "\n")] = 0;
        if (!found || !*found) {
            free(found);
            return error_set(err, "--pool slurm: squeue knows no running job %s", job);
        }
        list = found;
    }
    char *hosts = ask((const char *const[]){"scontrol", "show", "hostnames", list, NULL}), *rest = hosts, *host;
    size_t count = 0;
    if (!hosts) error_set(err, "--pool slurm: `scontrol show hostnames %s` failed", list);
    while (hosts && (host = strsep(&rest, "\n")))
        if (*host) add_node(out, request, job ? job : own, host, pool_slurm_count(cpus, count++));
    if (hosts && !count) error_set(err, "--pool slurm: no nodes in '%s'", list);
    free(hosts);
    free(found);
    return count ? 0 : -1;
}
