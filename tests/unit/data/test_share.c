/* Readers that begin in the middle: the rows of all parts are those of one reader, each once, and from any place on
 * they are the same; messages name the line that they name without. */
#include "unit/data/support.h"

#include "base/byte_order.h"
#include "base/hash.h"
#include "base/memory.h"
#include "data/codec/codec.h"
#include "data/format/cache.h"
#include "support/failing_memory.h"

#include <sys/stat.h>

#define MOST_FILES 6

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

typedef struct input {
    size_t n_files; /* 0: memory */
    char path[MOST_FILES][PATH_SIZE + 16];
    uint64_t size[MOST_FILES];
    bool is_divisible[MOST_FILES];
    char *memory;
    size_t memory_size;
    const gsa__format *format;
    int skip;
} input;

static void add_file(input *in, const void *bytes, size_t size, bool is_divisible)
{
    assert_true(in->n_files < MOST_FILES);
    make_file(in->path[in->n_files], bytes, size);
    in->size[in->n_files] = size;
    in->is_divisible[in->n_files++] = is_divisible;
}

static void add_text(input *in, const char *text)
{
    add_file(in, text, strlen(text), true);
}

static void add_packed(input *in, const char *text)
{
    gsa_env env = gsa__env_resolve(NULL);
    const gsa__codec *codec = gsa__codec_gzip();
    void *encoder = codec->open_encoder(&env);
    size_t capacity = strlen(text) + 1000;
    unsigned char *packed = malloc(capacity);
    assert_non_null(packed);
    gsa__codec_io io = {.in = (const unsigned char *)text,
                        .in_size = strlen(text),
                        .out = packed,
                        .out_size = capacity,
                        .is_last = true};
    assert_int_equal(codec->step(encoder, &io), GSA__CODEC_MEMBER_END);
    codec->close(encoder);
    add_file(in, packed, capacity - io.out_size, false);
    free(packed);
}

/* The rows of a text as a cache, with this ending of its name. */
static void add_cache(input *in, const char *text, const char *ending)
{
    gsa_reader *reader = NULL;
    gsa_writer *writer = NULL;
    gsa_batch batch;
    gsa_error error;
    gsa_status status;
    char *path = in->path[in->n_files];
    make_file(path, "", 0);
    assert_int_equal(unlink(path), 0);
    strcat(path, ending);
    assert_int_equal(gsa_reader_open_memory(text, strlen(text), "text", NULL, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_begin(reader, &error), GSA_OK);
    assert_int_equal(gsa_writer_open(path, NULL, &writer, &error), GSA_OK);
    assert_int_equal(gsa_writer_set_schema(writer, gsa_reader_schema(reader), &error), GSA_OK);
    while ((status = gsa_reader_next(reader, &batch, &error)) == GSA_OK)
        assert_int_equal(gsa_writer_write(writer, &batch, &error), GSA_OK);
    assert_int_equal(status, GSA_END);
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
    gsa_reader_close(reader);
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    in->size[in->n_files] = (uint64_t)facts.st_size;
    in->is_divisible[in->n_files++] = strcmp(ending, ".gsac") == 0;
}

static void set_memory(input *in, const void *bytes, size_t size)
{
    in->memory = malloc(size); /* exactly, so that a read beyond it is seen */
    assert_non_null(in->memory);
    memcpy(in->memory, bytes, size);
    in->memory_size = in->size[0] = size;
    in->is_divisible[0] = true;
}

static void free_input(input *in)
{
    for (size_t f = 0; f < in->n_files; f++)
        unlink(in->path[f]);
    free(in->memory);
}

static gsa_reader *open_with(const input *in, const gsa__reader_sizes *sizes, const gsa_env *env)
{
    const gsa_reader_options options = {.skip_bad_rows = in->skip};
    const char *paths[MOST_FILES];
    gsa_reader *reader = NULL;
    gsa_error error;
    for (size_t f = 0; f < in->n_files; f++)
        paths[f] = in->path[f];
    gsa_status status =
        in->n_files > 0 ? gsa__reader_open_files(paths, in->n_files, in->format, &options, sizes, env, &reader, &error)
                        : gsa__reader_open_bytes(in->memory, in->memory_size, "memory", in->format, &options, sizes,
                                                 env, &reader, &error);
    if (status != GSA_OK)
        fail_msg("%s", error.message);
    return reader;
}

static const gsa__reader_sizes all_sizes[] = {
    {0}, {.buffer = 64, .read = 31, .batch_rows = 7}, {.buffer = 10, .read = 9, .batch_rows = 3, .batch_values = 9}};
#define N_SIZES (sizeof all_sizes / sizeof *all_sizes)

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef struct row {
    gsa_place place;
    char *text; /* all but the place */
} row;

typedef struct list {
    row *row;
    size_t n, capacity;
} list;

static char *text_of(const gsa_batch *batch, size_t r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    if (batch->word && batch->word[r] >= 0)
        fprintf(out, "'%s'", batch->words[batch->word[r]]);
    else
        fprintf(out, "%a", batch->label[r]);
    fprintf(out, " weight %a", batch->weight ? (double)batch->weight[r] : 1.0);
    for (int64_t i = batch->row_start[r]; i < batch->row_start[r + 1]; i++)
        fprintf(out, " %" PRIu32 "=%a", batch->index[i], batch->value ? (double)batch->value[i] : 1.0);
    fclose(out);
    return text;
}

/* At most so many, up to the end or a failure. */
static gsa_status take_rows(gsa_reader *reader, list *to, size_t most, gsa_error *error)
{
    gsa_status status = GSA_OK;
    gsa_batch batch;
    for (size_t taken = 0; taken < most && (status = gsa_reader_next(reader, &batch, error)) == GSA_OK;) {
        assert_true(batch.n_rows > 0);
        for (size_t r = 0; r < batch.n_rows; r++) {
            if (to->n == to->capacity)
                to->row = realloc(to->row, (to->capacity = to->capacity * 2 + 100) * sizeof *to->row);
            assert_non_null(to->row);
            to->row[to->n++] = (row){batch.place[r], text_of(&batch, r)};
        }
        taken += batch.n_rows;
    }
    return status;
}

static void free_list(list *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        free(rows->row[i].text);
    free(rows->row);
    *rows = (list){0};
}

static list all_rows(const input *in)
{
    gsa_reader *reader = open_with(in, &all_sizes[0], NULL);
    list rows = {0};
    gsa_error error;
    gsa_status status = take_rows(reader, &rows, SIZE_MAX, &error);
    if (status != GSA_END)
        fail_msg("%s", error.message);
    gsa_reader_close(reader);
    return rows;
}

/* `line_unknown`: the line may be 0. */
static void assert_same_row(const row *got, const row *wanted, bool line_unknown)
{
    assert_string_equal(got->text, wanted->text);
    assert_int_equal(got->place.file, wanted->place.file);
    assert_int_equal(got->place.byte, wanted->place.byte);
    if (!line_unknown || got->place.line != 0)
        assert_int_equal(got->place.line, wanted->place.line);
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* The part in which a row begins, by what the header says and in wide arithmetic. */
static uint64_t part_of(const input *in, const gsa_place *place, uint64_t n_parts)
{
    uint64_t total = 0, at = 0, part = 0;
    for (size_t f = 0; f < (in->n_files ? in->n_files : 1); f++) {
        if (f == place->file)
            at = total + (in->is_divisible[f] ? place->byte : 0);
        total += in->size[f];
    }
    while (part + 1 < n_parts && at >= (uint64_t)((long double)total * (long double)(part + 1) / (long double)n_parts))
        part++;
    return part;
}

static void expect_parts(const input *in, gsa_reader *reader, const list *wanted, uint64_t n_parts)
{
    size_t at = 0;
    gsa_error error;
    for (uint64_t part = 0; part < n_parts; part++) {
        list got = {0};
        gsa_reader_progress progress;
        assert_int_equal(gsa_reader_share(reader, part, n_parts, &error), GSA_OK);
        assert_int_equal(take_rows(reader, &got, SIZE_MAX, &error), GSA_END);
        gsa_reader_get_progress(reader, &progress);
        assert_int_equal(progress.n_rows, got.n);
        for (size_t i = 0; i < got.n; i++, at++) {
            assert_true(at < wanted->n);
            assert_same_row(&got.row[i], &wanted->row[at], true);
            assert_int_equal(part_of(in, &got.row[i].place, n_parts), part);
        }
        free_list(&got);
    }
    assert_int_equal(at, wanted->n);
}

static void expect_shares(const input *in)
{
    list wanted = all_rows(in);
    for (size_t s = 0; s < N_SIZES; s++) {
        gsa_reader *reader = open_with(in, &all_sizes[s], NULL);
        for (uint64_t n_parts = 1; n_parts <= 17; n_parts += s == 0 ? 1 : 4)
            expect_parts(in, reader, &wanted, n_parts);
        if (s == 0)
            expect_parts(in, reader, &wanted, 1000); /* several in one line, or more than there are bytes */
        gsa_reader_close(reader);
    }
    free_list(&wanted);
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static void expect_rest(gsa_reader *reader, const list *wanted, size_t from, size_t most, bool line_unknown)
{
    list got = {0};
    gsa_error error;
    gsa_place place = wanted->row[from].place;
    uint32_t file = place.file;
    if (line_unknown)
        place.line = 0;
    gsa_status status = gsa_reader_seek(reader, &place, &error);
    if (status != GSA_OK)
        fail_msg("%s", error.message);
    gsa_reader_progress progress;
    gsa_reader_get_progress(reader, &progress);
    assert_int_equal(progress.n_rows, 0);
    status = take_rows(reader, &got, most, &error);
    assert_true(status == GSA_END || got.n >= most);
    assert_true(got.n > 0 && got.n <= wanted->n - from);
    if (status == GSA_END)
        assert_int_equal(got.n, wanted->n - from);
    for (size_t i = 0; i < got.n; i++)
        assert_same_row(&got.row[i], &wanted->row[from + i], line_unknown && wanted->row[from + i].place.file == file);
    free_list(&got);
}

/* To every row, or to `n` of them; some with all rows that follow. */
static void expect_seeks(const input *in, size_t n, bool is_text)
{
    list wanted = all_rows(in);
    uint64_t random = 17;
    for (size_t s = 0; s < N_SIZES; s++) {
        gsa_reader *reader = open_with(in, &all_sizes[s], NULL);
        for (size_t i = 0; i < (n > 0 ? n : wanted.n); i += s == 0 ? 1 : 3) {
            size_t from = n > 0 ? next_random(&random) % wanted.n : wanted.n - 1 - i;
            expect_rest(reader, &wanted, from, i % 11 == 0 ? SIZE_MAX : 5, is_text && i % 2 == 0);
        }
        expect_rest(reader, &wanted, wanted.n - 1, SIZE_MAX, false);
        list got = {0};
        gsa_error error;
        assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
        assert_int_equal(take_rows(reader, &got, SIZE_MAX, &error), GSA_END);
        assert_int_equal(got.n, wanted.n);
        for (size_t i = 0; i < got.n; i++)
            assert_same_row(&got.row[i], &wanted.row[i], false);
        free_list(&got);
        gsa_reader_close(reader);
    }
    free_list(&wanted);
}

static void expect_both(const input *in, size_t n_seeks, bool is_text)
{
    expect_shares(in);
    expect_seeks(in, n_seeks, is_text);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

typedef struct flavour {
    const char *newline;
    bool has_final, is_vw;
} flavour;

/* Rows, some of them long, among comments and blank lines. */
static char *make_text(size_t n_rows, uint64_t seed, flavour of)
{
    static const char *const labels[] = {"1", "-1.5", "red", "blue", "2"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    uint64_t random = seed;
    for (size_t r = 0; r < n_rows; r++) {
        uint64_t kind = next_random(&random) % 10;
        if (kind == 0)
            fputs(of.newline, out);
        if (kind == 1 && !of.is_vw)
            fprintf(out, "# a comment of %d words%s", (int)r, of.newline);
        fputs(of.is_vw ? (r % 3 ? "1 2.5 'tag|a" : "-1 |b") : labels[next_random(&random) % 5], out);
        unsigned id = 0;
        for (uint64_t n = kind == 2 ? 200 : next_random(&random) % 4; n > 0; n--) {
            id += 1 + (unsigned)(next_random(&random) % 50);
            fprintf(out, of.is_vw ? " w%u:%u" : " %u:%u", id, 1 + (unsigned)(next_random(&random) % 3));
        }
        fputs(r + 1 < n_rows || of.has_final ? of.newline : "", out);
    }
    fclose(out);
    return text;
}

static void add_made(input *in, size_t n_rows, uint64_t seed, flavour of)
{
    char *text = make_text(n_rows, seed, of);
    add_text(in, text);
    free(text);
}

static void lines_are_dealt_out_and_found(void **state)
{
    (void)state;
    static const flavour flavours[] = {{"\n", true, false},    {"\r\n", true, false}, {"\n", false, false},
                                       {"\r\n", false, false}, {"\n", true, true},    {"\r\n", false, true}};
    for (size_t i = 0; i < sizeof flavours / sizeof *flavours; i++) {
        input in = {0};
        add_made(&in, 60, 3 + i, flavours[i]);
        expect_both(&in, 0, true);
        free_input(&in);
    }
}

static void every_cut_of_a_short_text_is_right(void **state)
{
    (void)state;
    static const char *const texts[] = {"1 1:1\n2 2:2\n3 3:3\n",
                                        "1\n2\n3",
                                        "\n\n1\n\n\n2\n",
                                        "1\r\n\r\n2\r\n",
                                        "\357\273\2771 1:1\n2 1:1\n",
                                        "# c\n1 1:1 # x\n# d\n",
                                        "1",
                                        "\n",
                                        "# nothing\n",
                                        "1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1\n2\n"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int in_memory = 0; in_memory < 2; in_memory++) {
            input in = {.format = gsa__format_libsvm()};
            if (in_memory)
                set_memory(&in, texts[t], strlen(texts[t]));
            else
                add_text(&in, texts[t]);
            list wanted = all_rows(&in);
            for (size_t s = 0; s < N_SIZES; s++) {
                gsa_reader *reader = open_with(&in, &all_sizes[s], NULL);
                for (uint64_t n_parts = 1; n_parts <= 2 * strlen(texts[t]) + 1; n_parts++)
                    expect_parts(&in, reader, &wanted, n_parts);
                gsa_reader_close(reader);
            }
            free_list(&wanted);
            free_input(&in);
        }
}

static void several_files_are_one_input(void **state)
{
    (void)state;
    input in = {.format = gsa__format_libsvm()};
    add_text(&in, "");
    add_made(&in, 20, 5, (flavour){"\n", false, false});
    add_text(&in, "# only a comment");
    add_text(&in, "1 7:1");
    add_text(&in, "");
    add_made(&in, 30, 6, (flavour){"\r\n", true, false});
    expect_both(&in, 0, true);
    free_input(&in);
    input nothing = {.format = gsa__format_libsvm()};
    add_text(&nothing, "");
    add_text(&nothing, "");
    expect_shares(&nothing);
    free_input(&nothing);
}

static void compressed_files_go_to_one_part_each(void **state)
{
    (void)state;
    char *text = make_text(40, 8, (flavour){"\n", true, false});
    input in = {0};
    add_made(&in, 20, 5, (flavour){"\n", true, false});
    add_packed(&in, text);
    add_packed(&in, "1 1:1\n");
    add_made(&in, 20, 7, (flavour){"\n", false, false});
    add_cache(&in, text, ".gsac.gz");
    add_packed(&in, text);
    expect_both(&in, 0, false);
    free_input(&in);
    free(text);
}

#define QUOTED "\"with, a comma\nand \"\"lines\"\"\r\n in it\""

static void tables_go_to_one_part_each_and_are_entered_at_any_row(void **state)
{
    (void)state;
    input in = {0};
    add_file(&in, "y,a,b\n1,2," QUOTED "\n0,3,word\n\n1,,\"x\"\n",
             strlen("y,a,b\n1,2," QUOTED "\n0,3,word\n\n1,,\"x\"\n"), false);
    add_file(&in, "b,y,a\r\nword,1,5\r\n" QUOTED ",0,6", strlen("b,y,a\r\nword,1,5\r\n" QUOTED ",0,6"), false);
    add_file(&in, "\357\273\277y,a,b\r1,2,word\r0,3," QUOTED "\r1,4,\"\"\r",
             strlen("\357\273\277y,a,b\r1,2,word\r0,3," QUOTED "\r1,4,\"\"\r"), false);
    expect_both(&in, 0, true);
    free_input(&in);
    input bare = {0}; /* without a header, so that the first row is behind the byte order mark */
    add_file(&bare, "\357\273\2771,2,3\n0,4,5\n1,6,7\n", strlen("\357\273\2771,2,3\n0,4,5\n1,6,7\n"), false);
    expect_both(&bare, 0, true);
    free_input(&bare);
}

static char *many_rows(size_t n_rows)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (size_t r = 0; r < n_rows; r++)
        fprintf(out, "%s %zu:%zu\n", r % 70000 == 3 ? "rare" : r % 3 ? "1" : "word", 1 + r * 7 % 1000, 1 + r % 5);
    fclose(out);
    return text;
}

static void blocks_of_a_cache_are_dealt_out(void **state)
{
    (void)state;
    char *text = many_rows(140000), *few = many_rows(50);
    input in = {0};
    add_cache(&in, few, ".gsac");
    add_cache(&in, text, ".gsac");
    add_made(&in, 20, 5, (flavour){"\n", true, false});
    list wanted = all_rows(&in);
    gsa_reader *reader = open_with(&in, &all_sizes[0], NULL);
    for (uint64_t n_parts = 1; n_parts <= 17; n_parts += n_parts < 4 ? 1 : 13)
        expect_parts(&in, reader, &wanted, n_parts);
    static const size_t to[] = {0,          1,           49,          50,     51,     50 + 65535,
                                50 + 65536, 50 + 131071, 50 + 131072, 140049, 140050, 140069};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        expect_rest(reader, &wanted, to[i], i % 3 == 0 ? SIZE_MAX : 5000, false);
    gsa_reader_close(reader);
    free_list(&wanted);
    free_input(&in);
    input small = {0}; /* cuts in every part of the file */
    add_cache(&small, few, ".gsac");
    expect_both(&small, 0, false);
    FILE *file = fopen(small.path[0], "rb");
    assert_non_null(file);
    char bytes[4096];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    input memory = {0};
    set_memory(&memory, bytes, size);
    expect_both(&memory, 0, false);
    free_input(&memory);
    free_input(&small);
    input table = {0}; /* a cache with a schema */
    add_cache(&table, "y,a,b\n1,2,x\n0,3,y\n1,,x\n", ".gsac");
    expect_both(&table, 0, false);
    free_input(&table);
    free(text);
    free(few);
}

/* The bytes of a small cache, to be freed. */
/* Caches first, then text, which has to be read. */
static void blocks_of_a_cache_are_passed_over_by_what_their_headers_tell(void **state)
{
    (void)state;
    char *text = many_rows(140000), *few = many_rows(50);
    input in = {0};
    add_cache(&in, few, ".gsac");
    add_cache(&in, text, ".gsac");
    add_made(&in, 20, 5, (flavour){"\n", true, false});
    list wanted = all_rows(&in), rest = {0};
    for (uint64_t n_parts = 1; n_parts <= 3; n_parts++) {
        gsa_reader *reader = open_with(&in, &all_sizes[0], NULL);
        uint64_t at = 0, n_extents = 0;
        gsa_error error = {0};
        for (uint64_t part = 0; part < n_parts; part++) {
            gsa_extent extent;
            gsa_status status = gsa_reader_share(reader, part, n_parts, &error);
            while (status == GSA_OK && (status = gsa_reader_pass(reader, &extent, &error)) == GSA_OK) {
                assert_int_equal(extent.at.line, wanted.row[at].place.line);
                assert_int_equal(extent.at.file, wanted.row[at].place.file);
                assert_int_equal(extent.at.byte, wanted.row[at].place.byte);
                assert_int_equal(extent.n_entries, extent.n_rows); /* one a row */
                at += extent.n_rows;
                n_extents++;
            }
            assert_true(status == (part + 1 == n_parts ? GSA_UNSUPPORTED : GSA_END));
        }
        assert_int_equal(at, 140050);
        assert_int_equal(n_extents, 4); /* 50; 65536, 65536 and the others */
        assert_int_equal(take_rows(reader, &rest, SIZE_MAX, &error), GSA_END);
        assert_int_equal(rest.n, wanted.n - 140050);
        assert_same_row(&rest.row[0], &wanted.row[140050], false);
        free_list(&rest);
        gsa_reader_close(reader);
    }
    free_list(&wanted);
    free_input(&in);
    free(text);
    free(few);
}

static unsigned char *cache_bytes(size_t *size)
{
    char *text = many_rows(30);
    input in = {0};
    add_cache(&in, text, ".gsac");
    *size = (size_t)in.size[0];
    unsigned char *bytes = malloc(*size);
    FILE *file = fopen(in.path[0], "rb");
    assert_non_null(bytes);
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    free_input(&in);
    free(text);
    return bytes;
}

/* What a seek, or the rows after it, comes to. */
static gsa_status seek_in(const unsigned char *bytes, size_t size, gsa_place place, gsa_error *error)
{
    input in = {0};
    list got = {0};
    set_memory(&in, bytes, size);
    gsa_reader *reader = open_with(&in, &all_sizes[0], NULL);
    gsa_status status = gsa_reader_seek(reader, &place, error);
    if (status == GSA_OK)
        status = take_rows(reader, &got, SIZE_MAX, error);
    gsa_reader_close(reader);
    free_list(&got);
    free_input(&in);
    return status;
}

static void a_damaged_cache_is_not_entered(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = cache_bytes(&size);
    const gsa_place place = {7, UINT64_MAX, 0};
    gsa_error error;
    assert_int_equal(seek_in(bytes, size, place, &error), GSA_END);
    for (size_t at = 8; at < size; at++) { /* behind the magic, without which it is something else */
        bytes[at] ^= 0x10;
        assert_int_equal(seek_in(bytes, size, place, &error), GSA_FORMAT);
        assert_int_equal(seek_in(bytes, at, place, &error), GSA_FORMAT);
        bytes[at] ^= 0x10;
    }
    size_t index_at = (size_t)gsa__load_u64(bytes + size - GSA__CACHE_FOOT_SIZE);
    unsigned char *entry = bytes + index_at + GSA__CACHE_HEADER_SIZE;
    static const uint64_t lies[] = {0, 17, UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX >> 1};
    for (size_t field = 0; field < 2; field++) /* with hashes that fit: another offset, other rows before the block */
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
            uint64_t right = gsa__load_u64(entry + 8 * field);
            if (lies[i] == right)
                continue;
            gsa__store_u64(lies[i], entry + 8 * field);
            gsa__store_u64(gsa__hash(entry, GSA__CACHE_ENTRY_SIZE, 0), bytes + index_at + 16);
            gsa__store_u64(gsa__hash(bytes + index_at, 72, 0), bytes + index_at + 72);
            gsa_status status = seek_in(bytes, size, place, &error);
            assert_true(status == GSA_FORMAT || status == GSA_ARGUMENT || status == GSA_IO);
            gsa__store_u64(right, entry + 8 * field);
        }
    free(bytes);
}

static void generated_rows_are_dealt_out(void **state)
{
    (void)state;
    const gsa_generator what = {.n_rows = 10007, .n_features = 1000, .nnz = 5, .n_classes = 3, .seed = 4};
    gsa_reader *reader = NULL;
    gsa_error error;
    list wanted = {0};
    assert_int_equal(gsa_reader_open_generated(&what, NULL, &reader, &error), GSA_OK);
    assert_int_equal(take_rows(reader, &wanted, SIZE_MAX, &error), GSA_END);
    assert_int_equal(wanted.n, 10007);
    for (size_t i = 0; i < wanted.n; i++) {
        assert_int_equal(wanted.row[i].place.line, i + 1);
        assert_true(wanted.row[i].place.byte == UINT64_MAX);
    }
    for (uint64_t n_parts = 1; n_parts <= 17; n_parts++) {
        list got = {0};
        for (uint64_t part = 0; part < n_parts; part++) {
            size_t before = got.n;
            assert_int_equal(gsa_reader_share(reader, part, n_parts, &error), GSA_OK);
            assert_int_equal(take_rows(reader, &got, SIZE_MAX, &error), GSA_END);
            assert_true(got.n - before == 10007 / n_parts || got.n - before == 10007 / n_parts + 1);
        }
        assert_int_equal(got.n, wanted.n);
        for (size_t i = 0; i < got.n; i++)
            assert_same_row(&got.row[i], &wanted.row[i], false);
        free_list(&got);
    }
    for (size_t from = 0; from < wanted.n; from += 1429)
        expect_rest(reader, &wanted, from, SIZE_MAX, false);
    gsa_place beyond = {.line = 10008, .byte = UINT64_MAX}, none = {.line = 0, .byte = UINT64_MAX};
    assert_int_equal(gsa_reader_seek(reader, &beyond, &error), GSA_ARGUMENT);
    assert_string_equal(error.message, "row 10008: expected 1 to 10007");
    assert_int_equal(gsa_reader_seek(reader, &none, &error), GSA_ARGUMENT);
    gsa_reader_close(reader);
    free_list(&wanted);
}

/* ---- what goes wrong --------------------------------------------------------------------------------------------- */

/* The failure of a plain reader is that of the part which has its row, and of every seek to a row before it. */
static void expect_same_failure(const input *in, const gsa_env *env)
{
    for (size_t s = 0; s < N_SIZES; s++) {
        gsa_reader *reader = open_with(in, &all_sizes[s], env);
        list rows = {0}, got = {0};
        gsa_error wanted, error;
        gsa_status failure = take_rows(reader, &rows, SIZE_MAX, &wanted);
        assert_true(failure != GSA_END && wanted.line > 0);
        for (uint64_t n_parts = 2; n_parts <= 17; n_parts += 3) {
            size_t n_failed = 0;
            for (uint64_t part = 0; part < n_parts; part++) {
                assert_int_equal(gsa_reader_share(reader, part, n_parts, &error), GSA_OK);
                gsa_status status = take_rows(reader, &got, SIZE_MAX, &error);
                n_failed += status != GSA_END;
                if (status == GSA_END)
                    continue;
                assert_int_equal(status, failure);
                assert_string_equal(error.message, wanted.message);
                assert_int_equal(error.line, wanted.line);
                assert_int_equal(error.byte, wanted.byte);
            }
            assert_int_equal(n_failed, 1);
        }
        for (size_t i = 0; i < 2 * rows.n; i++) {
            gsa_place place = rows.row[i / 2].place;
            place.line *= i % 2;
            gsa_status status = gsa_reader_seek(reader, &place, &error);
            if (status == GSA_OK)
                status = take_rows(reader, &got, SIZE_MAX, &error);
            assert_int_equal(status, failure);
            assert_string_equal(error.message, wanted.message);
            assert_int_equal(error.line, wanted.line);
            assert_int_equal(error.byte, wanted.byte);
        }
        gsa_reader_close(reader);
        free_list(&rows);
        free_list(&got);
    }
}

static void failures_name_the_line_that_they_name_without(void **state)
{
    (void)state;
    static const char *const ends[][2] = {{"1 3:x\n1 1:1\n", "1 1:1\n# c\n\n2 1:1\r\n"},
                                          {"1 2 3 4|a b\n1 |a c\n", "1 |a x\n\n-1 |b y:2\n"},
                                          {"1 |a b:x\n", "1 |a x\n"}};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        char text[4096] = "";
        for (int i = 0; i < 9; i++)
            strcat(text, ends[e][1]);
        input in = {0};
        add_text(&in, text);
        strcat(text, ends[e][0]);
        add_text(&in, text);
        expect_same_failure(&in, NULL);
        free_input(&in);
    }
    static const char *const tables[] = {"1,x,\"y\"z\n0,1,2\n", "1,x,\"two\nlines\",3\n", "1,\"a\nb\",word\n0,"};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        char text[4096] = "y,a,b\n";
        for (int i = 0; i < 9; i++)
            strcat(text, i % 2 ? "1,2," QUOTED "\n\n" : "0,3,\"cr\ror\r\ncrlf\"\r\n");
        strcat(text, tables[t]);
        input in = {.format = gsa__format_csv()};
        add_file(&in, text, strlen(text), false);
        expect_same_failure(&in, NULL);
        free_input(&in);
    }
}

static void a_line_that_is_too_long_fails_where_it_begins(void **state)
{
    (void)state;
    char text[8000] = "1 1:1\n2 2:1\n3 1:1\n";
    size_t size = strlen(text);
    memset(text + size, ' ', 6000);
    strcpy(text + size + 6000, "\n1 1:1\n");
    input in = {.format = gsa__format_libsvm()};
    add_text(&in, text);
    expect_both(&in, 0, true);
    expect_same_failure(&in, &(gsa_env){.memory_limit = 4 * 5999});
    free_input(&in);
}

static void rows_of_a_share_are_located(void **state)
{
    (void)state;
    input in = {0};
    add_made(&in, 40, 5, (flavour){"\r\n", true, false});
    add_made(&in, 40, 6, (flavour){"\n", false, false});
    list wanted = all_rows(&in);
    gsa_reader *reader = open_with(&in, &all_sizes[1], NULL);
    size_t at = 0, n_unknown = 0;
    gsa_error error;
    gsa_batch batch;
    for (uint64_t part = 0; part < 5; part++) {
        assert_int_equal(gsa_reader_share(reader, part, 5, &error), GSA_OK);
        while (gsa_reader_next(reader, &batch, &error) == GSA_OK)
            for (size_t r = 0; r < batch.n_rows; r++, at++) {
                char text[200];
                const gsa_place *place = &wanted.row[at].place;
                snprintf(text, sizeof text, "%s:%" PRIu64 " (byte %" PRIu64 "): it is bad", in.path[place->file],
                         place->line, place->byte);
                gsa_error bad = {.status = GSA_INPUT, .row = r, .message = "it is bad"};
                gsa_reader_locate(reader, &batch, &bad);
                assert_string_equal(bad.message, text);
                assert_int_equal(bad.line, place->line);
                n_unknown += batch.place[r].line == 0;
            }
    }
    assert_int_equal(at, wanted.n);
    assert_true(n_unknown > 0 && n_unknown < wanted.n);
    gsa_reader_close(reader);
    free_list(&wanted);
    free_input(&in);
}

static void bad_rows_are_counted_once(void **state)
{
    (void)state;
    char text[4096] = "";
    for (int i = 0; i < 40; i++)
        strcat(text, i % 3 ? "1 1:1 2:2\n" : "1 x\n");
    input in = {.skip = 1};
    add_text(&in, text);
    add_packed(&in, text);
    list rows = all_rows(&in);
    gsa_reader *reader = open_with(&in, &all_sizes[1], NULL);
    gsa_error error;
    gsa_reader_progress progress;
    for (uint64_t n_parts = 1; n_parts <= 17; n_parts++) {
        uint64_t n_bad = 0;
        for (uint64_t part = 0; part < n_parts; part++) {
            list got = {0};
            assert_int_equal(gsa_reader_share(reader, part, n_parts, &error), GSA_OK);
            assert_int_equal(take_rows(reader, &got, SIZE_MAX, &error), GSA_END);
            gsa_reader_get_progress(reader, &progress);
            n_bad += progress.n_bad_rows;
            free_list(&got);
        }
        assert_int_equal(n_bad, 28);
    }
    expect_rest(reader, &rows, 26 + 10, SIZE_MAX, false); /* row 16 of the second file: 9 bad ones are before it, */
    gsa_reader_get_progress(reader, &progress);
    assert_int_equal(progress.n_bad_rows, 14 - 6);
    gsa_reader_close(reader);
    free_list(&rows);
    free_input(&in);
}

static void expect_no_row(gsa_reader *reader, gsa_place place, const char *part_of_message)
{
    gsa_error error;
    gsa_batch batch;
    assert_int_equal(gsa_reader_seek(reader, &place, &error), GSA_ARGUMENT);
    assert_non_null(strstr(error.message, part_of_message));
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_ARGUMENT);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
}

static void a_place_without_a_row_is_refused(void **state)
{
    (void)state;
    input in = {0};
    add_text(&in, "1 1:1\n\n# c\n2 2:2\n");
    add_packed(&in, "1 1:1\n2 2:2\n");
    add_cache(&in, "1 1:1\n2 2:2\n", ".gsac");
    gsa_reader *reader = open_with(&in, &all_sizes[0], NULL);
    expect_no_row(reader, (gsa_place){1, 1, 0}, "no row begins at byte 1: expected a place");
    expect_no_row(reader, (gsa_place){1, 6, 0}, "byte 6");
    expect_no_row(reader, (gsa_place){1, 16, 0}, "byte 16");
    expect_no_row(reader, (gsa_place){1, 17, 0}, "byte 17");
    expect_no_row(reader, (gsa_place){1, UINT64_MAX, 0}, "byte 18446744073709551615");
    expect_no_row(reader, (gsa_place){1, 5, 1}, "byte 5");
    expect_no_row(reader, (gsa_place){3, 12, 1}, "byte 12");
    expect_no_row(reader, (gsa_place){0, 16, 2}, "number 0");
    expect_no_row(reader, (gsa_place){3, 16, 2}, "number 3");
    expect_no_row(reader, (gsa_place){1, 0, 3}, "a place in file number 3, of 3 files");
    gsa_error error;
    assert_int_equal(gsa_reader_share(reader, 0, 0, &error), GSA_ARGUMENT);
    assert_int_equal(gsa_reader_share(reader, 3, 3, &error), GSA_ARGUMENT);
    gsa_reader_close(reader);
    free_input(&in);
    input table = {0};
    add_file(&table, "y,a\n1,2\n0,3\n", strlen("y,a\n1,2\n0,3\n"), false);
    reader = open_with(&table, &all_sizes[0], NULL);
    expect_no_row(reader, (gsa_place){2, 5, 0}, "byte 5");
    expect_no_row(reader, (gsa_place){2, 12, 0}, "byte 12");
    gsa_reader_close(reader);
    free_input(&table);
}

static gsa_status give_nothing(void *ctx, gsa_batch *out, gsa_error *error)
{
    (void)ctx;
    (void)out;
    (void)error;
    return GSA_END;
}

static void what_is_read_once_is_not_dealt_out(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    make_file(path, "", 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    const char *const paths[] = {path};
    const gsa_row_source source = {.next = give_nothing};
    gsa_place place = {1, 0, 0};
    gsa_reader *reader[2] = {NULL, NULL};
    gsa_error error;
    assert_int_equal(gsa_reader_open(paths, 1, NULL, NULL, &reader[0], &error), GSA_OK);
    assert_int_equal(gsa_reader_open_rows(&source, NULL, &reader[1], &error), GSA_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gsa_reader_seek(reader[i], &place, &error), GSA_UNSUPPORTED);
        assert_int_equal(gsa_reader_share(reader[i], 0, 2, &error), GSA_UNSUPPORTED);
        gsa_reader_close(reader[i]);
    }
    unlink(path);
}

static int stop_if(void *ctx)
{
    int *left = ctx;
    return *left == 0 || (*left)-- < 0;
}

static void a_stopped_seek_leaves_no_rows(void **state)
{
    (void)state;
    int left = 1000000;
    const gsa_env env = {.should_stop = stop_if, .stop_ctx = &left};
    char *text = make_text(500, 5, (flavour){"\n", true, false});
    input in = {0};
    add_packed(&in, text);
    list rows = all_rows(&in);
    gsa_reader *reader = open_with(&in, &all_sizes[2], &env);
    gsa_error error;
    gsa_batch batch;
    left = 50;
    assert_int_equal(gsa_reader_seek(reader, &rows.row[400].place, &error), GSA_STOPPED);
    left = 1000000;
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_STOPPED);
    expect_rest(reader, &rows, 400, SIZE_MAX, false);
    gsa_reader_close(reader);
    free_list(&rows);
    free_input(&in);
    free(text);
}

static void part_of_a_pass_is_not_kept(void **state)
{
    (void)state;
    char *text = make_text(300, 5, (flavour){"\n", true, false});
    input in = {0};
    add_packed(&in, text);
    list rows = all_rows(&in), got = {0};
    gsa_reader *reader = open_with(&in, &all_sizes[0], NULL);
    gsa_error error;
    gsa_reader_progress progress;
    assert_int_equal(gsa_reader_keep(reader, "/tmp", &error), GSA_OK);
    for (int how = 0; how < 2; how++) {
        gsa_status status =
            how ? gsa_reader_share(reader, 0, 1, &error) : gsa_reader_seek(reader, &rows.row[299].place, &error);
        assert_int_equal(status, GSA_OK);
        assert_int_equal(take_rows(reader, &got, SIZE_MAX, &error), GSA_END);
        free_list(&got);
        assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
        gsa_reader_get_progress(reader, &progress);
        assert_int_equal(progress.bytes_kept, 0);
    }
    assert_int_equal(take_rows(reader, &got, SIZE_MAX, &error), GSA_END);
    free_list(&got);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    gsa_reader_get_progress(reader, &progress);
    assert_true(progress.bytes_kept > 0);
    assert_int_equal(take_rows(reader, &got, SIZE_MAX, &error), GSA_END);
    input kept = {.is_divisible = {true}, .size = {progress.bytes_kept}};
    for (uint64_t n_parts = 1; n_parts <= 17; n_parts++)
        expect_parts(&kept, reader, &got, n_parts);
    for (size_t i = 0; i < got.n; i += 23)
        expect_rest(reader, &got, i, SIZE_MAX, false);
    gsa_reader_close(reader);
    free_list(&got);
    free_list(&rows);
    free_input(&in);
    free(text);
}

static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    input in = {0};
    add_made(&in, 20, 5, (flavour){"\n", true, false});
    add_cache(&in, "1 1:1\n2 2:2\n", ".gsac");
    list rows = all_rows(&in);
    gsa_status status = GSA_MEMORY;
    for (size_t n = 0; status != GSA_OK; n++) {
        failing memory = {.left = SIZE_MAX};
        const gsa_env env = failing_env(&memory);
        gsa_reader *reader = open_with(&in, &all_sizes[0], &env);
        gsa_error error;
        memory.left = n;
        status = gsa_reader_seek(reader, &rows.row[21].place, &error);
        assert_true(status == GSA_OK || status == GSA_MEMORY);
        memory.left = SIZE_MAX;
        expect_rest(reader, &rows, 21, SIZE_MAX, false);
        gsa_reader_close(reader);
        assert_int_equal(memory.live, 0);
    }
    free_list(&rows);
    free_input(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_dealt_out_and_found),
        cmocka_unit_test(every_cut_of_a_short_text_is_right),
        cmocka_unit_test(several_files_are_one_input),
        cmocka_unit_test(compressed_files_go_to_one_part_each),
        cmocka_unit_test(tables_go_to_one_part_each_and_are_entered_at_any_row),
        cmocka_unit_test(blocks_of_a_cache_are_dealt_out),
        cmocka_unit_test(blocks_of_a_cache_are_passed_over_by_what_their_headers_tell),
        cmocka_unit_test(a_damaged_cache_is_not_entered),
        cmocka_unit_test(generated_rows_are_dealt_out),
        cmocka_unit_test(failures_name_the_line_that_they_name_without),
        cmocka_unit_test(a_line_that_is_too_long_fails_where_it_begins),
        cmocka_unit_test(rows_of_a_share_are_located),
        cmocka_unit_test(bad_rows_are_counted_once),
        cmocka_unit_test(a_place_without_a_row_is_refused),
        cmocka_unit_test(what_is_read_once_is_not_dealt_out),
        cmocka_unit_test(a_stopped_seek_leaves_no_rows),
        cmocka_unit_test(part_of_a_pass_is_not_kept),
        cmocka_unit_test(without_memory_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
