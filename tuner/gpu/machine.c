// See machine.h.
#include "tuner/gpu/machine.h"

int machine_open(struct machine *m, const char *device, struct error *err)
{
    if (m->cuda) return 0;
    if (cuda_open(&m->cuda, device, err)) return -1;
    m->nvml = nvml_open(cuda_info(m->cuda)->uuid);
    return 0;
}

void machine_close(struct machine *m)
{
    blas_close(m->blas);
    nvml_close(m->nvml);
    cuda_close(m->cuda);
    *m = (struct machine){0};
}

int machine_blas(struct machine *m, struct error *err)
{
    return m->blas ? 0 : blas_open(&m->blas, m->cuda, err);
}
