// The setting verification.error_ratio: a candidate cannot win if its root mean square error is more than this many
// times a library's. Both errors come from the launches that the final's workers verified. If there are several
// libraries, the limit follows from the least accurate one.
#include "tuner/final/final.h"

// The library with the largest error on a problem; NULL: no error is known.
static const struct final_entry_answer *least_exact(const struct final_answer *a, size_t problem, double *error)
{
    const struct final_entry_answer *found = NULL;
    *error = NAN;
    for (size_t i = 0; i < a->entry_count; i++) {
        const struct final_entry_answer *e = &a->entries[i];
        const struct final_times *times = final_entry_times(e, problem);
        if (e->trial || !final_passed(e) || !strcmp(e->name, CURRENT_KERNEL)) continue;
        if (!times || isnan(times->error_rms) || times->error_rms <= *error) continue;
        *error = times->error_rms;
        found = e;
    }
    return found;
}

void final_refuse_errors(struct final_run *f)
{
    const struct job *job = f->with.job;
    struct final_answer *a = f->answer;
    double allowed = job->verify.error_ratio, theirs;
    bool known = false, refused = false;
    if (!(allowed > 0)) return;
    for (size_t p = 0; p < job->tuned_count; p++) {
        const struct final_entry_answer *library = least_exact(a, p, &theirs);
        known |= library != NULL;
        for (size_t i = 0; i < a->entry_count && library; i++) {
            struct final_entry_answer *e = &a->entries[i];
            const struct final_times *ours = final_entry_times(e, p);
            if (!e->trial || !final_passed(e) || !ours || !(ours->error_rms > allowed * theirs)) continue;
            e->status = STATUS_WRONG;
            e->reason = arena_format(&f->memory,
                                     "problem %s: its root mean square error is %.3g times that of %s; "
                                     "verification.error_ratio allows %g",
                                     job->problems[p].name, ours->error_rms / theirs, library->name, allowed);
            refused = true;
        }
    }
    if (!known) display_message(f->with.display, "verification.error_ratio has no effect: no library's error is known");
    for (size_t i = 0; i < a->entry_count && refused; i++)
        a->entries[i].left = false; // it may have lost only to a refused candidate
}
