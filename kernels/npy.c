// See npy.h. The header is a Python literal. It is only searched for its three keys, because all writers print it the
// same way.
#include "kernels/npy.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tuner/base/input_file.h"
#include "tuner/base/memory.h"

// The text after "'key':" in the header, without leading blanks; NULL if there is no such key.
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(header, quoted);
    if (!at || !(at = strchr(at + strlen(quoted), ':'))) return NULL;
    at++;
    while (*at == ' ') at++;
    return at;
}

static int parse_type(struct npy *npy, const char *text, const char *path, struct error *err)
{
    if (!text || (*text != '\'' && *text != '"'))
        return error_set(err, "'%s': structured types are not supported", path);
    int length = (int)strcspn(text + 1, "'\""); // order, kind, size
    if (length < 3) return error_set(err, "'%s': elements of type '%.*s' are not supported", path, length, text + 1);
    char order = text[1];
    npy->kind = text[2];
    npy->size = isdigit((unsigned char)text[3]) && !isdigit((unsigned char)text[4]) ? (size_t)(text[3] - '0') : 0;
    bool known = (npy->kind == 'f' && (npy->size == 2 || npy->size == 4 || npy->size == 8)) ||
                 (strchr("iu", npy->kind) && npy->kind &&
                  (npy->size == 1 || npy->size == 2 || npy->size == 4 || npy->size == 8)) ||
                 (strchr("bV", npy->kind) && npy->kind && npy->size == 1);
    if (!known) return error_set(err, "'%s': elements of type '%.6s' are not supported", path, text + 1);
    if (order == '>' && npy->size > 1) return error_set(err, "'%s' is big-endian; save it as little-endian", path);
    return 0;
}

static int parse_shape(struct npy *npy, const char *text, const char *path, struct error *err)
{
    if (!text || *text != '(' || !strchr(text, ')')) return error_set(err, "'%s' has no shape", path);
    npy->count = 1;
    for (text++; *text && *text != ')';) {
        char *end;
        errno = 0;
        unsigned long long n = strtoull(text, &end, 10);
        if (!isdigit((unsigned char)*text) || errno) return error_set(err, "'%s' has a strange shape", path);
        if (npy->dimensions == NPY_DIMENSIONS_MAX) return error_set(err, "'%s' has too many dimensions", path);
        npy->shape[npy->dimensions++] = (size_t)n;
        if (__builtin_mul_overflow(npy->count, (size_t)n, &npy->count))
            return error_set(err, "'%s' has a strange shape", path);
        for (text = end; *text == ',' || *text == ' ' || *text == 'L'; text++) {
        }
    }
    return 0;
}

// `data` holds the first `known` of the file's `size` bytes.
static int parse(struct npy *npy, const unsigned char *data, size_t known, size_t size, const char *path,
                 struct error *err)
{
    size_t begin, length, bytes;
    if (known < 12 || memcmp(data, "\x93NUMPY", 6) || data[6] < 1 || data[6] > 3)
        return error_set(err, "'%s' is not a .npy file", path);
    length = (size_t)data[8] | (size_t)data[9] << 8;
    begin = 10;
    if (data[6] > 1) {
        length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
        begin = 12;
    }
    if (length > known - begin) return error_set(err, "'%s' is truncated", path);
    char *header = memory_try(length + 1, 1, err);
    if (!header) return -1;
    memcpy(header, data + begin, length);
    const char *order = value_of(header, "fortran_order");
    npy->fortran = order && !strncmp(order, "True", 4);
    int result = parse_type(npy, value_of(header, "descr"), path, err);
    if (!result) result = parse_shape(npy, value_of(header, "shape"), path, err);
    free(header);
    if (result) return result;
    npy->data = data + begin + length;
    if (__builtin_mul_overflow(npy->count, npy->size, &bytes) || bytes > size - begin - length)
        return error_set(err, "'%s' is truncated: %zu elements of %zu bytes do not fit", path, npy->count, npy->size);
    return 0;
}

int npy_read_bytes(struct npy *npy, const char *path, size_t *size, struct error *err)
{
    memset(npy, 0, sizeof *npy);
    npy->memory = input_file_read(path, 0, size, err);
    return !npy->memory ? -1 : parse(npy, npy->memory, *size, *size, path, err);
}

int npy_read(struct npy *npy, const char *path, struct error *err)
{
    size_t size = 0;
    return npy_read_bytes(npy, path, &size, err);
}

int npy_write(const char *path, enum element type, int64_t rows, int64_t cols, int64_t ld, const void *data,
              struct error *err)
{
    // By type; bf16 is widened, FP8 is written as bits, as ml_dtypes does.
    static const char *const types[ELEMENT_COUNT] = {
        [ELEMENT_F32] = "<f4",  [ELEMENT_F64] = "<f8", [ELEMENT_F16] = "<f2", [ELEMENT_BF16] = "<f4",
        [ELEMENT_I8] = "|i1",   [ELEMENT_U8] = "|u1",  [ELEMENT_I16] = "<i2", [ELEMENT_U16] = "<u2",
        [ELEMENT_I32] = "<i4",  [ELEMENT_U32] = "<u4", [ELEMENT_I64] = "<i8", [ELEMENT_U64] = "<u8",
        [ELEMENT_E4M3] = "|V1", [ELEMENT_E5M2] = "|V1"};
    char shape[64], head[128];
    size_t size = element_size(type);
    if (rows > 1)
        snprintf(shape, sizeof shape, "%lld, %lld", (long long)rows, (long long)cols);
    else
        snprintf(shape, sizeof shape, "%lld,", (long long)cols);
    // Version 1.0, whose header ends at byte 128.
    static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 128 - 10, 0};
    memcpy(head, magic, sizeof magic);
    int length = snprintf(head + sizeof magic, sizeof head - sizeof magic,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", types[type], shape);
    size_t end = sizeof magic + (size_t)length;
    memset(head + end, ' ', sizeof head - end);
    head[sizeof head - 1] = '\n';
    FILE *file = fopen(path, "wbe");
    bool good = file && fwrite(head, sizeof head, 1, file) == 1;
    for (int64_t i = 0; i < rows && good; i++) {
        const char *row = (const char *)data + (size_t)(i * ld) * size;
        if (type != ELEMENT_BF16) good = fwrite(row, size, (size_t)cols, file) == (size_t)cols;
        for (int64_t j = 0; j < cols && good && type == ELEMENT_BF16; j++) {
            float wide = (float)element_load(type, row + (size_t)j * size);
            good = fwrite(&wide, sizeof wide, 1, file) == 1;
        }
    }
    if (file && fclose(file)) good = false;
    return good ? 0 : error_set(err, "cannot write '%s': %s", path, strerror(errno));
}

int npy_read_head(struct npy *npy, const char *path, struct error *err)
{
    enum { HEAD_BYTES = 1 << 16 }; // 128 in numpy's files with plain elements
    memset(npy, 0, sizeof *npy);
    unsigned char *head = memory_try(HEAD_BYTES, 1, err);
    int fd = head ? input_file_open(path, err) : -1, result = -1;
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    struct stat st;
    if (fd >= 0 && (!file || fstat(fd, &st)))
        error_set(err, "cannot read '%s': %s", path, strerror(errno));
    else if (fd >= 0)
        result = parse(npy, head, fread(head, 1, HEAD_BYTES, file), (size_t)st.st_size, path, err);
    if (file) fclose(file);
    free(head);
    npy->data = NULL;
    return result;
}

void npy_release(struct npy *npy)
{
    free(npy->memory);
    memset(npy, 0, sizeof *npy);
}

// The address of element i in C order.
static const unsigned char *locate(const struct npy *npy, size_t i)
{
    if (!npy->fortran) return npy->data + i * npy->size;
    size_t at = 0, stride = npy->count;
    for (size_t d = npy->dimensions; d-- > 0;) {
        stride /= npy->shape[d];
        at += i % npy->shape[d] * stride;
        i /= npy->shape[d];
    }
    return npy->data + at * npy->size;
}

int64_t npy_integer(const struct npy *npy, size_t i)
{
    const unsigned char *at = locate(npy, i);
    if (npy->kind == 'f')
        return element_load_integer(npy->size == 2 ? ELEMENT_F16 : npy->size == 4 ? ELEMENT_F32 : ELEMENT_F64, at);
    uint64_t bits = 0;
    memcpy(&bits, at, npy->size);
    unsigned unused = 64 - 8 * (unsigned)npy->size;
    return npy->kind == 'i' ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

double npy_number(const struct npy *npy, size_t i)
{
    const unsigned char *at = locate(npy, i);
    if (npy->kind != 'f') return npy->kind == 'u' ? (double)(uint64_t)npy_integer(npy, i) : (double)npy_integer(npy, i);
    return element_load(npy->size == 2 ? ELEMENT_F16 : npy->size == 4 ? ELEMENT_F32 : ELEMENT_F64, at);
}

bool npy_is_bits(const struct npy *npy, enum element type)
{
    return (npy->kind == 'u' || npy->kind == 'V') && npy->size == 1 && element_is_float(type) &&
           element_size(type) == 1;
}

double npy_value(const struct npy *npy, size_t i, enum element type)
{
    return npy_is_bits(npy, type) ? element_load(type, locate(npy, i)) : npy_number(npy, i);
}

int npy_check(const struct npy *npy, const char *path, enum element type, struct error *err)
{
    static const struct {
        double low, high; // `high`: the first number above the range
    } ranges[ELEMENT_COUNT] = {
        [ELEMENT_I8] = {-0x1p7, 0x1p7},    [ELEMENT_U8] = {0, 0x1p8},         [ELEMENT_I16] = {-0x1p15, 0x1p15},
        [ELEMENT_U16] = {0, 0x1p16},       [ELEMENT_I32] = {-0x1p31, 0x1p31}, [ELEMENT_U32] = {0, 0x1p32},
        [ELEMENT_I64] = {-0x1p63, 0x1p63}, [ELEMENT_U64] = {0, 0x1p64}};
    if (npy->kind == 'V' && !npy_is_bits(npy, type))
        return error_set(err, "'%s' has bytes without a type, which can only be read as FP8, not as %s", path,
                         element_name(type));
    if (element_is_float(type)) return 0;
    for (size_t i = 0; i < npy->count; i++) {
        double number = npy_number(npy, i);
        if (npy->kind == 'f' && number != trunc(number)) number = NAN;
        if (type == ELEMENT_I64 && npy->kind != 'f' && (npy->kind != 'u' || npy_integer(npy, i) >= 0)) continue;
        if (type == ELEMENT_U64 && npy->kind != 'f' && (npy->kind == 'u' || npy_integer(npy, i) >= 0)) continue;
        if (number >= ranges[type].low && number < ranges[type].high) continue;
        return error_set(err, "'%s': element %zu is %.17g, which %s cannot hold", path, i, npy_number(npy, i),
                         element_name(type));
    }
    return 0;
}

void npy_element(const struct npy *npy, size_t i, enum element type, void *to)
{
    int64_t exact;
    if ((type == ELEMENT_I64 || type == ELEMENT_U64) && npy->kind != 'f') {
        exact = npy_integer(npy, i);
        memcpy(to, &exact, sizeof exact);
    } else if (npy_is_bits(npy, type)) {
        memcpy(to, locate(npy, i), 1);
    } else {
        element_store(type, npy_number(npy, i), to);
    }
}
