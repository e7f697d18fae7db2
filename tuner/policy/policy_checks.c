// When a GPU measures the reference: see policy.h.
#include "tuner/policy/policy.h"

void policy_use_reference(struct policy *p, bool use)
{
    p->checks = use;
}

void policy_check_again(struct policy *p, size_t gpu)
{
    p->gpus[gpu].check_again = true;
}

void policy_check_device(struct policy *p, size_t gpu)
{
    p->gpus[gpu].checked = p->gpus[gpu].check_again = false;
    p->gpus[gpu].unchecked = 0;
}

bool policy_check_due(const struct policy *p, const struct policy_gpu *g)
{
    double passed = p->now - g->checked_at;
    if (!g->ready || g->checking) return false;
    if (g->check_again) return true;
    if (!g->checked) return !p->end || g->unchecked;
    if (p->end) return g->unchecked && passed >= POLICY_CHECK_LATE * g->check_took;
    return passed >= POLICY_CHECK_SECONDS && passed >= POLICY_CHECK_SHARE * g->check_took;
}
