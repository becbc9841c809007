/* Compressed content: every codec, several members, truncated, damaged, in pieces of any size; and written. */
#include "unit/data/support.h"

#include "data/codec/codec.h"
#include "support/failing_memory.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#define MOST_SIZE 65536

typedef struct bytes {
    unsigned char data[MOST_SIZE];
    size_t size;
} bytes;

static void add_gzip(bytes *out, const char *text, size_t size)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)size;
    stream.next_out = out->data + out->size;
    stream.avail_out = (uInt)(MOST_SIZE - out->size);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out->size += stream.total_out;
    deflateEnd(&stream);
}

/* With a checksum, so that a flipped byte is found. */
static void add_zstd(bytes *out, const char *text, size_t size)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t n = ZSTD_compress2(context, out->data + out->size, MOST_SIZE - out->size, text, size);
    assert_false(ZSTD_isError(n));
    out->size += n;
    ZSTD_freeCCtx(context);
}

static void add_xz(bytes *out, const char *text, size_t size)
{
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)text, size, out->data,
                                             &out->size, MOST_SIZE),
                     LZMA_OK);
}

static void add_bzip2(bytes *out, const char *text, size_t size)
{
    unsigned n = (unsigned)(MOST_SIZE - out->size);
    assert_int_equal(
        BZ2_bzBuffToBuffCompress((char *)out->data + out->size, &n, (char *)(uintptr_t)text, (unsigned)size, 1, 0, 0),
        BZ_OK);
    out->size += n;
}

static const struct {
    const char *name;
    void (*add)(bytes *out, const char *text, size_t size);
} codecs[] = {{"gzip", add_gzip}, {"zstd", add_zstd}, {"xz", add_xz}, {"bzip2", add_bzip2}};

#define N_CODECS (sizeof codecs / sizeof *codecs)

/* Some hundred rows, hard enough to compress that the result has many bytes to flip. */
static size_t make_text(char *out, size_t size, size_t n_rows)
{
    uint64_t seed = 1;
    size_t n = 0;
    for (size_t r = 0; r < n_rows; r++) {
        uint64_t x = next_random(&seed);
        n += (size_t)snprintf(out + n, size - n, "%d %d:%.4f %d:1\n", (int)(x & 1), (int)(1 + (x >> 8) % 500),
                              (double)(x >> 40) / 1000, (int)(1000 + (x >> 20) % 5000));
    }
    return n;
}

static void codec_lists_its_libraries(void **state)
{
    (void)state;
    const char *version;
    for (size_t i = 0; i < N_CODECS; i++) {
        assert_string_equal(gsa_codec_at(i, &version), codecs[i].name);
        assert_true(version && version[0] >= '0' && version[0] <= '9');
        assert_string_equal(gsa_codec_at(i, NULL), codecs[i].name);
    }
    assert_null(gsa_codec_at(N_CODECS, &version));
    assert_null(version);
}

static void codec_is_known_by_content(void **state)
{
    (void)state;
    static const struct {
        const char *content;
        size_t size;
        const char *name;
    } cases[] = {
        {"\x1F\x8B\x08\0\0\0\0\0\0\0", 10, "gzip"},
        {"\x28\xB5\x2F\xFD\0\0\0\0\0\0", 10, "zstd"},
        {"\x50\x2A\x4D\x18\0\0\0\0\0\0", 10, "zstd"},
        {"\x5F\x2A\x4D\x18\0\0\0\0\0\0", 10, "zstd"},
        {"\xFD"
         "7zXZ\0\0\0\0\0",
         10, "xz"},
        {"BZh91AY&SY", 10, "bzip2"},
        {"BZh1\x17\x72\x45\x38\x50\x90", 10, "bzip2"},
        {"BZh9 1:1\n0", 10, NULL},
        {"1 1:1 2:1\n", 10, NULL},
        {"\x1F", 1, NULL},
        {"", 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gsai_codec_entry *entry = gsai_codec_detect((const unsigned char *)cases[i].content, cases[i].size);
        if (cases[i].name)
            assert_string_equal(entry->name, cases[i].name);
        else
            assert_null(entry);
    }
}

static void codec_gives_the_rows_of_the_plain_text(void **state)
{
    (void)state;
    static char text[20000];
    static bytes packed;
    size_t size = make_text(text, sizeof text, 500);
    char *expected = dump_text(text, size, NULL, NULL);
    for (size_t i = 0; i < N_CODECS; i++) {
        packed.size = 0;
        codecs[i].add(&packed, text, size);
        assert_true(packed.size < size);
        static const size_t reads[] = {0, 1, 7, 4096};
        for (size_t r = 0; r < 4; r++) {
            gsai_reader_sizes sizes = {.buffer = r ? 10 + r : 0, .read = reads[r]};
            char *dump = dump_text(packed.data, packed.size, &sizes, NULL);
            assert_string_equal(dump, expected);
            free(dump);
        }
    }
    free(expected);
}

static void codec_reads_several_members_as_one(void **state)
{
    (void)state;
    static bytes packed;
    static const char first[] = "1 1:1\n0 2:", second[] = "0.5\n1", third[] = " 3:1\n";
    char *expected = dump_text("1 1:1\n0 2:0.5\n1 3:1\n", 20, NULL, NULL);
    for (size_t i = 0; i < N_CODECS; i++) {
        packed.size = 0;
        codecs[i].add(&packed, first, strlen(first));
        codecs[i].add(&packed, second, strlen(second));
        codecs[i].add(&packed, "", 0);
        codecs[i].add(&packed, third, strlen(third));
        for (size_t read = 0; read < 30; read++) {
            gsai_reader_sizes sizes = {.buffer = 10 + read, .read = read};
            char *dump = dump_text(packed.data, packed.size, &sizes, NULL);
            assert_string_equal(dump, expected);
            free(dump);
        }
    }
    free(expected);
}

static void codec_reads_compressed_nothing_as_no_rows(void **state)
{
    (void)state;
    static bytes packed;
    for (size_t i = 0; i < N_CODECS; i++) {
        packed.size = 0;
        codecs[i].add(&packed, "", 0);
        char *dump = dump_text(packed.data, packed.size, NULL, NULL);
        assert_string_equal(dump, "");
        free(dump);
    }
}

static void codec_reads_what_the_command_line_tools_wrote(void **state)
{
    (void)state;
    /* printf '1 1:1\n' through gzip -n, zstd, xz and bzip2. */
    static const struct {
        const char *content;
        size_t size;
    } files[] = {
        {"\x1F\x8B\x08\x00\x00\x00\x00\x00\x00\x03\x33\x54\x30\xB4\x32\xE4\x02\x00\x81\x4B\xC6\xF8\x06\x00\x00\x00",
         26},
        {"\x28\xB5\x2F\xFD\x04\x58\x31\x00\x00\x31\x20\x31\x3A\x31\x0A\x5D\x5A\x82\x48", 19},
        {"\xFD\x37\x7A\x58\x5A\x00\x00\x04\xE6\xD6\xB4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2F\xE5\xA3\x01\x00\x05"
         "\x31\x20\x31\x3A\x31\x0A\x00\x00\x00\x6C\x07\xDD\xCC\xD7\x87\xF6\x08\x00\x01\x1E\x06\xC1\x2F\xA4\x1D\x1F\xB6"
         "\xF3\x7D\x01\x00\x00\x00\x00\x04\x59\x5A",
         64},
        {"\x42\x5A\x68\x39\x31\x41\x59\x26\x53\x59\x24\xD1\x22\xC8\x00\x00\x01\xD8\x00\x00\x10\x40\x00\x20\x10\x20\x00"
         "\x21\x8C\x83\x34\xD0\x88\xBC\x5D\xC9\x14\xE1\x42\x40\x93\x44\x8B\x20",
         44},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *dump = dump_text(files[i].content, files[i].size, NULL, NULL);
        assert_string_equal(dump, "0:1@0 0x1p+0 0\n-- ones\n");
        free(dump);
    }
}

/* Reads to the end; anything may come but a crash, a hang or a success that is not the truth. */
static gsa_status read_all(const bytes *packed, size_t size, int skip, char **dump, gsa_error *error)
{
    gsai_reader_sizes sizes = {.buffer = 512};
    gsa_reader *reader = open_text(packed->data, size, &sizes, skip, NULL);
    gsa_status status;
    *dump = dump_reader(reader, &status, error);
    gsa_reader_close(reader);
    return status;
}

static void codec_reports_truncation_with_its_place(void **state)
{
    (void)state;
    static char text[20000];
    static bytes packed;
    size_t size = make_text(text, sizeof text, 40);
    for (size_t i = 0; i < N_CODECS; i++) {
        packed.size = 0;
        codecs[i].add(&packed, text, size);
        for (size_t cut = 10; cut < packed.size; cut++) {
            gsa_error error = {0};
            char *dump, place[128];
            int skip = cut % 2 == 0; /* damage is no bad row */
            gsa_status status = read_all(&packed, cut, skip, &dump, &error);
            free(dump);
            assert_int_equal(status, GSA_FORMAT);
            snprintf(place, sizeof place, "text: the %s data end in the middle, at compressed byte %zu", codecs[i].name,
                     cut);
            assert_true(strncmp(error.message, place, strlen(place)) == 0);
        }
    }
}

static void codec_reports_what_follows_the_end(void **state)
{
    (void)state;
    static bytes packed;
    for (size_t i = 0; i < N_CODECS; i++) {
        packed.size = 0;
        codecs[i].add(&packed, "1 1:1\n", 6);
        memcpy(packed.data + packed.size, "some text that is no member", 27);
        gsa_error error = {0};
        char *dump;
        assert_int_equal(read_all(&packed, packed.size + 27, 0, &dump, &error), GSA_FORMAT);
        assert_string_equal(dump, "0:1@0 0x1p+0 0\n-- ones\n"); /* the rows before it come first */
        assert_non_null(strstr(error.message, codecs[i].name));
        assert_non_null(strstr(error.message, "compressed byte"));
        free(dump);
    }
}

static void codec_survives_any_flipped_byte(void **state)
{
    (void)state;
    static char text[20000];
    static bytes packed, broken;
    size_t size = make_text(text, sizeof text, 100);
    char *expected = dump_text(text, size, NULL, NULL);
    for (size_t i = 0; i < N_CODECS; i++) {
        packed.size = 0;
        codecs[i].add(&packed, text, size);
        size_t n_found = 0, n_tried = 0;
        for (size_t at = 0; at < packed.size; at += at < 64 || at + 64 > packed.size ? 1 : 5) {
            for (unsigned flip = 1; flip < 256; flip = flip * 4 + 1) {
                broken = packed;
                broken.data[at] ^= (unsigned char)flip;
                gsa_error error = {0};
                char *dump;
                gsa_status status = read_all(&broken, broken.size, 0, &dump, &error);
                if (status == GSA_END)
                    assert_string_equal(dump, expected); /* a byte that does not matter, such as a time stamp */
                else if (status == GSA_FORMAT)
                    assert_non_null(strstr(error.message, codecs[i].name));
                else
                    assert_true(status == GSA_INPUT || status == GSA_LIMIT || status == GSA_MEMORY);
                n_found += status != GSA_END;
                n_tried++;
                free(dump);
            }
        }
        assert_true(n_found * 10 > n_tried * 9);
    }
    free(expected);
}

static void codec_refuses_a_dictionary_beyond_the_memory_limit(void **state)
{
    (void)state;
    static bytes packed;
    packed.size = 0;
    add_xz(&packed, "1 1:1\n", 6); /* level 1 wants 1 MiB */
    gsai_env env = {ENV_SIZES, .memory.budget = &(gsa_budget){.size = sizeof(gsa_budget), .limit = 1 << 20}};
    gsa_reader *reader = open_text(packed.data, packed.size, NULL, 0, &env);
    gsa_error error;
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_LIMIT);
    assert_non_null(strstr(error.message, "xz"));
    gsa_reader_close(reader);
}

/* A frame that says of itself that its window has two gigabytes. */
static void codec_refuses_a_window_beyond_what_the_library_allows(void **state)
{
    (void)state;
    static const unsigned char frame[] = {0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xA8, 0x01, 0x00, 0x00, 0x00};
    gsa_reader *reader = open_text(frame, sizeof frame, NULL, 0, NULL);
    gsa_error error = {0};
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_LIMIT);
    assert_non_null(strstr(error.message, "zstd"));
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_LIMIT); /* and says so again */
    gsa_reader_close(reader);
}

/* A stream that uses what only later versions of a library may know, with a right checksum. */
static void codec_says_that_it_does_not_know_an_option(void **state)
{
    (void)state;
    unsigned char stream[16] = {0xFD, '7', 'z', 'X', 'Z', 0x00, 0x10, 0x00};
    uint32_t check = lzma_crc32(stream + 6, 2, 0);
    for (int i = 0; i < 4; i++)
        stream[8 + i] = (unsigned char)(check >> 8 * i);
    gsa_reader *reader = open_text(stream, sizeof stream, NULL, 0, NULL);
    gsa_error error = {0};
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_FORMAT);
    assert_non_null(strstr(error.message, "it was made with options that this library does not know"));
    gsa_reader_close(reader);
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

#define N_WRITTEN_ROWS 20000 /* several buffers of every codec */

static gsa_status write_generated(const char *path, uint64_t n_rows, const gsai_env *env, gsa_error *error)
{
    gsa_generator what = {.size = sizeof what, .n_rows = n_rows, .n_features = 1000, .nnz = 5, .n_classes = 2};
    gsa_reader *reader;
    gsa_writer *writer;
    gsa_batch batch;
    assert_int_equal(gsa_reader_open_generated(&what, NULL, NULL, &reader, NULL), GSA_OK);
    gsa_status status = gsa_writer_open(path, NULL, memory_of(env), call_of(env), &writer, error);
    if (status == GSA_OK) {
        while (status == GSA_OK && gsa_reader_next(reader, &batch, NULL) == GSA_OK)
            status = gsa_writer_write(writer, &batch, error);
        if (status == GSA_OK)
            status = gsa_writer_close(writer, error);
        else
            gsa_writer_discard(writer);
    }
    gsa_reader_close(reader);
    return status;
}

/* By the libraries themselves, each member with its checksum. */
static size_t unpack(const char *codec, void *packed, size_t packed_size, char *out, size_t out_size)
{
    if (strcmp(codec, "zstd") == 0)
        return ZSTD_decompress(out, out_size, packed, packed_size);
    z_stream stream = {.next_in = packed, .avail_in = (uInt)packed_size};
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)out_size;
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    do {
        assert_int_equal(inflateReset(&stream), Z_OK);
        assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    } while (stream.avail_in > 0);
    inflateEnd(&stream);
    return out_size - stream.avail_out;
}

static void codec_is_written_by_the_name_of_the_file(void **state)
{
    (void)state;
    static const struct {
        const char *plain, *packed, *codec;
    } cases[] = {{".svm", ".svm.gz", "gzip"}, {".svm", ".svm.zst", "zstd"}, {".gsac", ".gsac.zst", "zstd"}};
    static char unpacked[4 << 20];
    char stem[PATH_SIZE], path[PATH_SIZE + 16];
    gsa_error error;
    make_file(stem, "", 0);
    for (uint64_t n_rows = 0; n_rows <= N_WRITTEN_ROWS; n_rows += N_WRITTEN_ROWS)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            size_t size, packed_size;
            snprintf(path, sizeof path, "%s%s", stem, cases[i].plain);
            assert_int_equal(write_generated(path, n_rows, NULL, &error), GSA_OK);
            void *expected = load_and_unlink(path, &size);
            snprintf(path, sizeof path, "%s%s", stem, cases[i].packed);
            assert_int_equal(write_generated(path, n_rows, NULL, &error), GSA_OK);
            void *packed = load_and_unlink(path, &packed_size);
            assert_true(n_rows == 0 || packed_size < size * 9 / 10);
            assert_int_equal(unpack(cases[i].codec, packed, packed_size, unpacked, sizeof unpacked), size);
            assert_memory_equal(unpacked, expected, size);
            free(expected);
            free(packed);
        }
    unlink(stem);
}

/* Rows of four blocks of a cache, and of dozens of members. */
static void codec_writes_the_same_file_with_any_number_of_threads(void **state)
{
    (void)state;
    static const char *const endings[] = {".svm.gz", ".svm.zst", ".gsac", ".gsac.gz", ".gsac.zst"};
    char stem[PATH_SIZE], path[PATH_SIZE + 16];
    make_file(stem, "", 0);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        void *expected = NULL;
        size_t expected_size = 0;
        snprintf(path, sizeof path, "%s%s", stem, endings[i]);
        for (unsigned n_threads = 1; n_threads <= 5; n_threads += 2) {
            const gsai_env env = {ENV_SIZES, .call.n_threads = n_threads};
            size_t size;
            assert_int_equal(write_generated(path, 200000, &env, NULL), GSA_OK);
            void *found = load_and_unlink(path, &size);
            assert_true(!expected || (size == expected_size && memcmp(found, expected, size) == 0));
            free(expected);
            expected = found;
            expected_size = size;
        }
        free(expected);
    }
    unlink(stem);
}

/* By a thread that the caller meets only later. */
static void codec_reports_a_full_disk_whoever_writes(void **state)
{
    (void)state;
    static const char *const formats[] = {"gsac", "libsvm"};
    for (unsigned i = 0; i < 4; i++) {
        const gsa_call call = {.size = sizeof call, .n_threads = 1 + 2 * (i / 2)};
        gsa_generator what = {.size = sizeof what, .n_rows = 300000, .n_features = 1000, .nnz = 5, .n_classes = 2};
        gsa_reader *reader;
        gsa_writer *writer;
        gsa_batch batch;
        gsa_error error = {0};
        assert_int_equal(gsa_reader_open_generated(&what, NULL, NULL, &reader, NULL), GSA_OK);
        assert_int_equal(gsa_writer_open("/dev/full", formats[i % 2], NULL, &call, &writer, &error), GSA_OK);
        gsa_status status = GSA_OK;
        while (status == GSA_OK && gsa_reader_next(reader, &batch, NULL) == GSA_OK)
            status = gsa_writer_write(writer, &batch, &error);
        assert_int_equal(status, GSA_IO);
        assert_non_null(strstr(error.message, "No space left"));
        assert_int_equal(gsa_writer_write(writer, &batch, &error), GSA_IO);
        assert_non_null(strstr(error.message, "an earlier write failed"));
        gsa_writer_discard(writer);
        gsa_reader_close(reader);
    }
}

static void codec_that_is_only_read_is_not_written(void **state)
{
    (void)state;
    static const char *const paths[] = {"/tmp/gsa-never.svm.xz", "/tmp/gsa-never.svm.bz2"};
    gsa_error error;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(write_generated(paths[i], 1, NULL, &error), GSA_UNSUPPORTED);
        assert_non_null(strstr(error.message, "end the name in .gz or .zst, or leave out ."));
        assert_int_not_equal(access(paths[i], F_OK), 0);
    }
}

static void codec_that_finds_no_memory_leaves_no_file(void **state)
{
    (void)state;
    static const char *const endings[] = {".gz", ".zst"};
    for (size_t i = 0; i < 2; i++) {
        char stem[PATH_SIZE], path[PATH_SIZE + 16];
        gsa_status status = GSA_MEMORY;
        make_file(stem, "", 0);
        snprintf(path, sizeof path, "%s%s", stem, endings[i]);
        for (size_t n = 0; status != GSA_OK; n++) {
            failing memory = {.left = n};
            gsai_env env = failing_env(&memory);
            gsa_error error;
            status = write_generated(path, 10, &env, &error);
            assert_true(status == GSA_OK || status == GSA_MEMORY);
            assert_int_equal(memory.live, 0);
            assert_int_equal(access(path, F_OK) == 0, status == GSA_OK);
            assert_true(n < 100);
        }
        unlink(path);
        unlink(stem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codec_lists_its_libraries),
        cmocka_unit_test(codec_is_known_by_content),
        cmocka_unit_test(codec_gives_the_rows_of_the_plain_text),
        cmocka_unit_test(codec_reads_several_members_as_one),
        cmocka_unit_test(codec_reads_compressed_nothing_as_no_rows),
        cmocka_unit_test(codec_reads_what_the_command_line_tools_wrote),
        cmocka_unit_test(codec_reports_truncation_with_its_place),
        cmocka_unit_test(codec_reports_what_follows_the_end),
        cmocka_unit_test(codec_survives_any_flipped_byte),
        cmocka_unit_test(codec_refuses_a_window_beyond_what_the_library_allows),
        cmocka_unit_test(codec_says_that_it_does_not_know_an_option),
        cmocka_unit_test(codec_refuses_a_dictionary_beyond_the_memory_limit),
        cmocka_unit_test(codec_is_written_by_the_name_of_the_file),
        cmocka_unit_test(codec_writes_the_same_file_with_any_number_of_threads),
        cmocka_unit_test(codec_reports_a_full_disk_whoever_writes),
        cmocka_unit_test(codec_that_is_only_read_is_not_written),
        cmocka_unit_test(codec_that_finds_no_memory_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
