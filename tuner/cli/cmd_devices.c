// sweetspot devices: the GPUs that can be used, as their worker sees them.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/setup/probe.h"

static void print_device(int index, const json_t *hello)
{
    const json_t *d = json_object_get(hello, "device");
    printf("%d  %s  %s  %" PRId64 " SMs  %.1f GiB (%.1f free)  driver %s, CUDA %s  %s\n", index,
           json_get_string(d, "name", "?"), json_get_string(d, "arch", "?"), json_get_integer(d, "sm_count", 0),
           (double)json_get_integer(d, "memory_bytes", 0) / (1 << 30),
           (double)json_get_integer(d, "memory_free", 0) / (1 << 30), json_get_string(d, "driver", "?"),
           json_get_string(d, "cuda", "?"), json_get_string(d, "uuid", ""));
}

int cmd_devices(int argc, char **argv)
{
    int format = FORMAT_TABLE;
    const struct option_spec specs[] = {OPTION_FORMAT(&format), OPTION_END};
    int status = options_parse(specs, "Lists the GPUs that can be used.", argc, argv);
    if (status >= 0) return status;
    struct error err;
    json_t *all = json_array();
    int64_t count = 1;
    for (int i = 0; i < count; i++) {
        json_t *hello = probe_gpu(i, &err);
        if (!hello) break;
        count = json_get_integer(hello, "device_count", 1);
        json_object_set_new(hello, "index", json_integer(i));
        json_array_append_new(all, hello);
    }
    if (!json_array_size(all)) {
        fprintf(stderr, "sweetspot: %s\n", err.message);
        json_decref(all);
        return EXIT_ENVIRONMENT;
    }
    if (format == FORMAT_JSON) {
        json_print(all, stdout);
    } else {
        if (format == FORMAT_CSV) printf("index,name,arch,sm_count,memory_bytes,driver,cuda,uuid\n");
        for (size_t i = 0; i < json_array_size(all); i++) {
            const json_t *d = json_object_get(json_array_get(all, i), "device");
            if (format == FORMAT_TABLE)
                print_device((int)i, json_array_get(all, i));
            else
                printf("%zu,%s,%s,%" PRId64 ",%" PRId64 ",%s,%s,%s\n", i, json_get_string(d, "name", ""),
                       json_get_string(d, "arch", ""), json_get_integer(d, "sm_count", 0),
                       json_get_integer(d, "memory_bytes", 0), json_get_string(d, "driver", ""),
                       json_get_string(d, "cuda", ""), json_get_string(d, "uuid", ""));
        }
    }
    json_decref(all);
    return EXIT_DONE;
}
