// See gpu_binary.h.
#include "tuner/base/gpu_binary.h"

#include "tuner/base/base.h"
#include "tuner/base/elf_file.h"

// PTX begins with its version, after comments (PTX ISA, "PTX Module Directives").
static bool is_ptx(const char *text)
{
    static const char version[] = ".version";
    for (;;) {
        text += strspn(text, " \t\r\n");
        const char *end = !strncmp(text, "//", 2)   ? strchr(text, '\n')
                          : !strncmp(text, "/*", 2) ? strstr(text, "*/")
                                                    : NULL;
        if (!end) return !strncmp(text, version, sizeof version - 1);
        text = end + (*end == '*' ? 2 : 1);
    }
}

bool gpu_binary_is(const char *image, size_t size)
{
    static const unsigned char fat[] = {0x50, 0xed, 0x55, 0xba}; // fatbinary_section.h: 0xba55ed50
    return elf_kernel(image, size, 0) || (size >= sizeof fat && !memcmp(image, fat, sizeof fat)) || is_ptx(image);
}

struct text_list gpu_binary_kernels(const char *image, size_t size)
{
    static const char directive[] = ".entry"; // before a name in PTX
    struct text_list names = {0};
    for (const char *name; (name = elf_kernel(image, size, names.count));) text_list_add(&names, text_copy(name));
    bool binary = names.count;
    for (const char *at = image; !binary && (at = strstr(at, directive));) {
        at += strlen(directive);
        at += strspn(at, " \t\n");
        size_t length = strcspn(at, " \t\n(");
        if (length) text_list_add(&names, text_format("%.*s", (int)length, at));
    }
    return names;
}
