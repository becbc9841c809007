/* Files that are damaged, of another kind or made to hurt: each is refused with a message that says what it is. Every
 * case here has a right checksum unless the checksum is the case, so that nothing hides behind it. */
#include "store/container.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/failing_memory.h"
#include "unit/store/bytes.h"
#include "unit/store/fake_core.h"

static const unsigned char zeros[4096];

static void assert_refused(const void *at, size_t size, const char *fragment, const char *what)
{
    gsai_container *container = (gsai_container *)(uintptr_t)1;
    gsa_error error = {.message = ""};
    /* An exact copy on the heap, so that the sanitizer sees a read beyond the end. */
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, at, size);
    gsa_status status = gsai_container_open(NULL, copy, size, NULL, &container, &error);
    free(copy);
    if (status != GSA_FORMAT || container != NULL || strncmp(error.message, "the bytes given ", 16) != 0)
        fail_msg("%s: status %d, \"%s\"", what, status, error.message);
    if (!strstr(error.message, fragment))
        fail_msg("%s: \"%s\" does not say \"%s\"", what, error.message, fragment);
}

#define SUM(from, to) "\"checksum\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[" #from "," #to "]}"
#define A8 "\"a\":{\"dtype\":\"U64\",\"shape\":[1],\"data_offsets\":[0,8]},"

typedef struct hostile {
    const char *header;
    size_t data_size; /* before the checksum */
    const char *says;
} hostile;

static const hostile cases[] = {
    /* JSON that is none, or none of ours */
    {"{", 0, "header is not JSON"},
    {"{}}", 0, "header is not JSON"},
    {"{\"a\":1,\"a\":2}", 0, "header is not JSON"},
    {"{" A8 A8 SUM(8, 16) "}", 8, "header is not JSON"},
    {"{\"a\\u0000b\":{},}", 0, "header is not JSON"},
    {"{\"a\":\"\xFF\"}", 0, "header is not JSON"},
    {"{}", 0, "last tensor is not a checksum"},
    /* metadata */
    {"{\"__metadata__\":[]," SUM(0, 8) "}", 0, "metadata is no object"},
    {"{\"__metadata__\":\"text\"," SUM(0, 8) "}", 0, "metadata is no object"},
    {"{\"__metadata__\":{\"a\":1}," SUM(0, 8) "}", 0, "metadata is not all text"},
    {"{\"__metadata__\":{\"a\":{}}," SUM(0, 8) "}", 0, "metadata is not all text"},
    {"{\"__metadata__\":{\"a\":null}," SUM(0, 8) "}", 0, "metadata is not all text"},
    /* names */
    {"{\"\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}," SUM(1, 9) "}", 1, "name of a tensor"},
    {"{\"\\u001b[2J\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}," SUM(1, 9) "}", 1, "name of a tensor"},
    {"{\"0123456789012345678901234567890123456789012345678901234567890123x\":"
     "{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}," SUM(1, 9) "}",
     1, "name of a tensor"},
    /* entries */
    {"{\"a\":1," SUM(0, 8) "}", 0, "tensor a needs"},
    {"{\"a\":[]," SUM(0, 8) "}", 0, "tensor a needs"},
    {"{\"a\":{}," SUM(0, 8) "}", 0, "tensor a needs"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}," SUM(0, 8) "}", 0, "tensor a needs"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":1}," SUM(1, 9) "}", 1, "tensor a needs"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"offsets\":[0,1]}," SUM(1, 9) "}", 1, "tensor a needs"},
    {"{\"a\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[0,2]}," SUM(2, 10) "}", 2, "unknown dtype"},
    {"{\"a\":{\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]}," SUM(4, 12) "}", 4, "unknown dtype"},
    {"{\"a\":{\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,4]}," SUM(4, 12) "}", 4, "tensor a needs"},
    /* shapes */
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}," SUM(1, 9) "}", 1, "are no counts"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1],\"data_offsets\":[0,1]}," SUM(1, 9) "}", 1, "are no counts"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":1,\"data_offsets\":[0,1]}," SUM(1, 9) "}", 1, "are no counts"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}," SUM(1, 9) "}", 1, "are no counts"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}," SUM(1, 9) "}", 1, "are no counts"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[\"1\"],\"data_offsets\":[0,1]}," SUM(1, 9) "}", 1, "are no counts"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[99999999999999999999],\"data_offsets\":[0,1]}," SUM(1, 9) "}", 1,
     "header is not JSON"},
    /* products that wrap round 2^64 to the size given: 2^32 * 2^32, 2^63 * 2, 2^61 * 8 */
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}," SUM(0, 8) "}", 0,
     "shape and offsets of tensor a disagree"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9223372036854775807,2],\"data_offsets\":[0,0]}," SUM(0, 8) "}", 0,
     "shape and offsets of tensor a disagree"},
    {"{\"a\":{\"dtype\":\"F64\",\"shape\":[2305843009213693952],\"data_offsets\":[0,0]}," SUM(0, 8) "}", 0,
     "shape and offsets of tensor a disagree"},
    {"{\"a\":{\"dtype\":\"F64\",\"shape\":[2305843009213693953],\"data_offsets\":[0,8]}," SUM(8, 16) "}", 8,
     "shape and offsets of tensor a disagree"},
    {"{\"a\":{\"dtype\":\"U64\",\"shape\":[2],\"data_offsets\":[0,8]}," SUM(8, 16) "}", 8,
     "shape and offsets of tensor a disagree"},
    {"{\"a\":{\"dtype\":\"U64\",\"shape\":[1],\"data_offsets\":[0,16]}," SUM(16, 24) "}", 16,
     "shape and offsets of tensor a disagree"},
    {"{\"a\":{\"dtype\":\"U64\",\"shape\":[0],\"data_offsets\":[0,8]}," SUM(8, 16) "}", 8,
     "shape and offsets of tensor a disagree"},
    /* offsets */
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}," SUM(1, 9) "}", 1,
     "needs dtype, shape and data_offsets"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]}," SUM(1, 9) "}", 1,
     "needs dtype, shape and data_offsets"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[-1,0]}," SUM(1, 9) "}", 1, "are no counts"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":{}}," SUM(1, 9) "}", 1,
     "needs dtype, shape and data_offsets"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}," SUM(1, 9) "}", 1, "starts at byte 1"},
    {"{" A8 "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[8,7]}," SUM(9, 17) "}", 9,
     "shape and offsets of tensor b disagree"},
    {"{" A8 "\"b\":{\"dtype\":\"U64\",\"shape\":[1],\"data_offsets\":[0,8]}," SUM(8, 16) "}", 8,
     "tensor b starts at byte 0 of the data, not at 8"},
    {"{" A8 "\"b\":{\"dtype\":\"U64\",\"shape\":[1],\"data_offsets\":[16,24]}," SUM(24, 32) "}", 24,
     "tensor b starts at byte 16 of the data, not at 8"},
    {"{" A8 "\"b\":{\"dtype\":\"U8\",\"shape\":[4000],\"data_offsets\":[8,4008]}," SUM(4008, 4016) "}", 8,
     "cut short: tensor b ends"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4611686018427387903],\"data_offsets\":[0,4611686018427387903]}," SUM(1,
                                                                                                               9) "}",
     8, "cut short: tensor a ends"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[3,7]}," SUM(7, 15) "}",
     7, "tensor b is not aligned"},
    /* the checksum's place */
    {"{\"a\":{\"dtype\":\"U64\",\"shape\":[1],\"data_offsets\":[0,8]}}", 0, "last tensor is not a checksum"},
    {"{" SUM(0, 8) ",\"a\":{\"dtype\":\"U64\",\"shape\":[1],\"data_offsets\":[8,16]}}", 8,
     "last tensor is not a checksum"},
    {"{\"checksum\":{\"dtype\":\"U64\",\"shape\":[1],\"data_offsets\":[0,8]}}", 0, "checksum is not of 8 bytes"},
    {"{\"checksum\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 0, "checksum is not of 8 bytes"},
    {"{\"checksum\":{\"dtype\":\"U8\",\"shape\":[2,4],\"data_offsets\":[0,8]}}", 0, "checksum is not of 8 bytes"},
    {"{" SUM(0, 8) "}", 5, "5 bytes follow its last tensor"},
};

static void a_header_that_lies_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes b = bytes_of_file(cases[i].header, zeros, cases[i].data_size);
        assert_refused(b.at, b.size, cases[i].says, cases[i].header);
        bytes_free(&b);
    }
}

/* The cases above differ from this one by what they show; this one must pass, or they prove nothing. */
static void the_same_header_without_the_lie_is_read(void **state)
{
    (void)state;
    bytes b = bytes_of_file("{\"__metadata__\":{\"a\":\"1\"}," A8
                            "\"b\":{\"dtype\":\"U8\",\"shape\":[1,3],\"data_offsets\":[8,11]}," SUM(11, 19) "}",
                            zeros, 11);
    gsai_container *container;
    gsa_error error;
    assert_int_equal(gsai_container_open(NULL, b.at, b.size, NULL, &container, &error), GSA_OK);
    assert_int_equal(gsai_container_bundle(container)->n_tensors, 2);
    gsai_container_close(container);
    bytes_free(&b);
}

static void put_size(bytes *b, uint64_t size)
{
    for (int i = 0; i < 8; i++)
        b->at[i] = (unsigned char)(size >> (8 * i));
}

static void a_header_size_that_lies_is_refused(void **state)
{
    (void)state;
    bytes b = bytes_of_file("{" SUM(0, 8) "}", zeros, 0);
    uint64_t whole = b.size - 8;
    const uint64_t too_long[] = {whole + 1, whole + 8, 1ull << 32, INT64_MAX, UINT64_MAX, UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof too_long / sizeof *too_long; i++) {
        put_size(&b, too_long[i]);
        assert_refused(b.at, b.size, "header does not fit", "a header longer than the file");
    }
    put_size(&b, whole - 9);
    assert_refused(b.at, b.size, "no header of ours has", "a header that is not padded");
    put_size(&b, 0);
    assert_refused(b.at, b.size, "header is not JSON", "no header");
    bytes_free(&b);
    unsigned char *large = calloc(1, GSAI_CONTAINER_MAX_HEADER + 100);
    b.at = large;
    put_size(&b, GSAI_CONTAINER_MAX_HEADER + 8);
    large[8] = '{';
    assert_refused(large, GSAI_CONTAINER_MAX_HEADER + 100, "no header of ours has", "a header over the limit");
    free(large);
}

/* A header of n entries, each made by the format from its number. */
static bytes crowd(const char *before, const char *entry, int n, const char *after)
{
    char *text = malloc((size_t)n * 80 + 200), *at = text;
    at += sprintf(at, "%s", before);
    for (int i = 0; i < n; i++) {
        at += sprintf(at, "\"t%d\":%s", i, entry);
        *at++ = ',';
    }
    sprintf(at, "%s", after);
    bytes b = bytes_of_file(text, zeros, 0);
    free(text);
    return b;
}

static void too_many_entries_are_refused(void **state)
{
    (void)state;
    bytes b = crowd("{", "{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}", 5000, SUM(0, 8) "}");
    assert_refused(b.at, b.size, "5001 tensors, more than", "5000 tensors");
    bytes_free(&b);
    b = crowd("{\"__metadata__\":{", "\"\"", 5000, "\"t\":\"\"}," SUM(0, 8) "}");
    assert_refused(b.at, b.size, "5001 entries", "5000 texts");
    bytes_free(&b);
    b = crowd("{", "{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}", 1000000, SUM(0, 8) "}");
    assert_refused(b.at, b.size, "no header of ours has", "a million tensors");
    bytes_free(&b);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    enum { depth = 1000000 };
    char *text = malloc(depth + 20);
    strcpy(text, "{\"a\":");
    memset(text + 5, '[', depth);
    text[5 + depth] = '\0';
    bytes b = bytes_of_file(text, zeros, 0);
    assert_refused(b.at, b.size, "header is not JSON", "a million brackets");
    bytes_free(&b);
    free(text);
}

/* ---- damage ----------------------------------------------------------------------------------------------------- */

static bytes small_file(void)
{
    static const uint32_t ids[] = {1, 2, 3};
    const gsai_tensor tensors[] = {{.name = "id", .dtype = GSAI_U32, .n_dims = 1, .shape = {3}, .data = ids},
                                   {.name = "s", .dtype = GSAI_U8, .n_dims = 1, .shape = {2}, .data = "hi"}};
    const gsai_note note = {"format", "test"};
    bytes b = {0};
    assert_int_equal(gsai_container_write(&(gsai_bundle){tensors, 2, &note, 1}, bytes_append, &b, NULL), GSA_OK);
    return b;
}

static void every_truncation_is_detected(void **state)
{
    (void)state;
    bytes b = small_file();
    for (size_t size = 0; size < b.size; size++)
        assert_refused(b.at, size, "", "a file cut short");
    assert_refused(b.at, b.size - 1, "cut short: tensor checksum ends", "one byte missing");
    bytes_free(&b);
}

static void every_flipped_byte_is_detected(void **state)
{
    (void)state;
    bytes b = small_file();
    for (size_t i = 0; i < b.size; i++) {
        for (unsigned flip = 1; flip < 256; flip++) {
            b.at[i] = (unsigned char)(b.at[i] ^ flip);
            assert_refused(b.at, b.size, "", "a flipped byte");
            b.at[i] = (unsigned char)(b.at[i] ^ flip);
        }
    }
    bytes_free(&b);
}

static void a_byte_too_many_is_detected(void **state)
{
    (void)state;
    bytes b = small_file();
    bytes_append(&b, "", 1);
    assert_refused(b.at, b.size, "1 bytes follow", "a byte too many");
    bytes_free(&b);
}

static void damage_in_the_data_is_called_damage(void **state)
{
    (void)state;
    bytes b = small_file();
    b.at[b.size - 9] ^= 1;
    assert_refused(b.at, b.size, "damaged: its bytes do not match their checksum", "a flipped bit");
    bytes_free(&b);
}

/* ---- files of other kinds --------------------------------------------------------------------------------------- */

static void other_kinds_of_files_are_named(void **state)
{
    (void)state;
    const struct {
        const char *start;
        size_t size;
        const char *says;
    } kinds[] = {
        {"", 0, "it is empty"},
        {"+1 3:1 7:0.5\n-1 2:1\n", 20, "it is text"},
        {"x", 1, "it is text"},
        {"{\"learner\":{\"attributes\":{}}}", 29, "it is text"},
        {"\x1F\x8B\x08\0\0\0\0\0\0\x03", 10, "gzip"},
        {"\x28\xB5\x2F\xFD\x24\x01\0\0\0", 9, "zstd"},
        {"\xFD\x37\x7A\x58\x5A\0\0\4", 8, "xz"},
        {"BZh91AY&SY", 10, "bzip2"},
        {"PK\x03\x04\x14\0\0\0\x08\0", 10, "zip archive"},
        {"\x93NUMPY\x01\0v\0{", 11, "NumPy"},
        {"\x80\x04\x95\x1A\0\0\0\0\0\0\0", 11, "does not start like one"},
        {"\0\0\0\0\0\0\0\0", 8, "does not start like one"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_refused(kinds[i].start, kinds[i].size, "is not a greedystep model or state: ", kinds[i].says);
        assert_refused(kinds[i].start, kinds[i].size, kinds[i].says, kinds[i].says);
    }
}

static void open_refuses(const char *path, gsa_status expected, const char *says)
{
    gsai_container *container = (gsai_container *)(uintptr_t)1;
    gsa_error error = {.message = ""};
    gsa_status status = gsai_container_open(path, NULL, 0, NULL, &container, &error);
    if (status != expected || container || !strstr(error.message, path) || !strstr(error.message, says))
        fail_msg("%s: status %d, \"%s\"", path, status, error.message);
}

static void what_is_no_file_is_named(void **state)
{
    (void)state;
    char directory[] = "/tmp/gsa-hostile-XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    open_refuses(directory, GSA_FORMAT, "it is a directory");
    snprintf(path, sizeof path, "%s/file", directory);
    open_refuses(path, GSA_IO, "No such file");
    assert_int_equal(mkfifo(path, 0600), 0);
    open_refuses(path, GSA_UNSUPPORTED, "pipe or device");
    unlink(path);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    open_refuses(path, GSA_FORMAT, "it is empty");
    unlink(path);
    FILE *f = fopen(path, "wb");
    fputs("1 1:1\n", f);
    fclose(f);
    open_refuses(path, GSA_FORMAT, "is not a greedystep model or state: it is text");
    unlink(path);
    rmdir(directory);
    open_refuses("/dev/null", GSA_UNSUPPORTED, "pipe or device");
}

/* ---- the environment -------------------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    bytes b = small_file();
    unsigned char *shifted = malloc(b.size + 1);
    memcpy(shifted + 1, b.at, b.size);
    gsai_container *container;
    gsa_error error;
    size_t n = 0;
    for (;; n++) {
        failing memory = {.left = n};
        gsai_env env = failing_env(&memory);
        gsa_status status = gsai_container_open(NULL, shifted + 1, b.size, &env, &container, &error);
        if (status == GSA_OK)
            gsai_container_close(container);
        assert_int_equal(memory.live, 0);
        if (status == GSA_OK)
            break;
        assert_int_equal(status, GSA_MEMORY);
        assert_null(container);
    }
    assert_int_equal(n, 4); /* the container, the copy, the texts, the tensors */
    free(shifted);
    bytes_free(&b);
}

static int stop_now(void *ctx)
{
    (void)ctx;
    return 1;
}

static void the_environment_can_limit_and_stop(void **state)
{
    (void)state;
    bytes b = small_file();
    unsigned char *shifted = malloc(b.size + 1);
    memcpy(shifted + 1, b.at, b.size);
    gsai_container *container;
    gsa_error error;
    gsa_budget budget = {.size = sizeof budget, .limit = b.size - 1};
    gsai_env env = {ENV_SIZES, .memory.budget = &budget};
    assert_int_equal(gsai_container_open(NULL, shifted + 1, b.size, &env, &container, &error), GSA_LIMIT);
    assert_int_equal(budget.used, 0);
    budget.limit = 0;
    env.call.should_stop = stop_now;
    assert_int_equal(gsai_container_open(NULL, b.at, b.size, &env, &container, &error), GSA_STOPPED);
    free(shifted);
    bytes_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_that_lies_is_refused),
        cmocka_unit_test(the_same_header_without_the_lie_is_read),
        cmocka_unit_test(a_header_size_that_lies_is_refused),
        cmocka_unit_test(too_many_entries_are_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(every_truncation_is_detected),
        cmocka_unit_test(every_flipped_byte_is_detected),
        cmocka_unit_test(a_byte_too_many_is_detected),
        cmocka_unit_test(damage_in_the_data_is_called_damage),
        cmocka_unit_test(other_kinds_of_files_are_named),
        cmocka_unit_test(what_is_no_file_is_named),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_environment_can_limit_and_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
