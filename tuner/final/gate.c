// See gate.h.
#include "tuner/final/gate.h"

size_t gate_check(double least, const struct final *final, const struct job *job, const char *where, FILE *file)
{
    size_t failures = 0;
    if (job_unverified(job)) {
        fprintf(file, "sweetspot: gate: %s: %s\n", where, job_unverified(job));
        return 1;
    }
    for (size_t p = 0; p < final->problem_count; p++) {
        const struct final_entry *library = final_fastest_baseline(final, p);
        const char *problem = job->problems[p].name;
        const struct interval *ratio = library ? &library->problems[p].ratio : NULL;
        if (ratio && ratio->low >= least) continue;
        failures++;
        fprintf(file, "sweetspot: gate: %s: %s: ", where, problem);
        if (!ratio)
            fprintf(
                file,
                "no baseline has a time in the final: the job needs `current`, or a reference operation whose baseline "
                "works\n");
        else
            fprintf(file, "the ratio to %s is %.4f [%.4f, %.4f]; its lower bound is %.4g below %g\n", library->name,
                    ratio->value, ratio->low, ratio->high, least - ratio->low, least);
    }
    return failures;
}
