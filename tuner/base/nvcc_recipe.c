// See nvcc_recipe.h.
#include "tuner/base/nvcc_recipe.h"

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"

// Whether only NVRTC knows an option. NVRTC compiles only device code and has its own includes.
static bool nvrtc_alone(const char *option)
{
    static const char *const options[] = {"-default-device",
                                          "--device-as-default-execution-space",
                                          "-minimal",
                                          "--minimal",
                                          "-no-source-include",
                                          "--no-source-include",
                                          "--builtin-initializer-list",
                                          "--builtin-move-forward",
                                          "--device-int128",
                                          "--no-cache"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t length = strlen(options[i]);
        if (!strncmp(option, options[i], length) && (!option[length] || option[length] == '=')) return true;
    }
    return false;
}

struct text_list nvcc_options(const char *arch, const char *const *options, size_t count)
{
    struct text_list list = {0};
    // Not -arch=sm_90a: nvcc 13.0 would then also compile for compute_90, which lacks the features of sm_90a.
    if (*arch)
        text_list_add(&list, text_format("-gencode=arch=compute_%s,code=%s", arch + strcspn(arch, "0123456789"), arch));
    text_list_add(&list, text_copy("-std=" PROTOCOL_CXX_STANDARD));
    for (size_t i = 0; i < count; i++)
        if (!nvrtc_alone(options[i])) text_list_add(&list, text_copy(options[i]));
    return list;
}

char *nvcc_instantiation(const char *entry)
{
    return strchr(entry, '<') ? text_format("template __global__ decltype(%s) %s;", entry, entry) : NULL;
}
