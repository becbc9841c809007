/* Inputs that are dealt out and entered, and their rows as one reader delivers them. */
#ifndef TESTS_UNIT_DATA_SHARES_H
#define TESTS_UNIT_DATA_SHARES_H

#include "unit/data/packed.h"

#include "base/byte_order.h"
#include "base/hash.h"
#include "data/format/cache.h"
#include "support/failing_memory.h"

#include <sys/stat.h>

#define MOST_FILES 6

/* A cell of a table that looks like several rows. */
#define QUOTED "\"with, a comma\nand \"\"lines\"\"\r\n in it\""

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

typedef struct input {
    size_t n_files; /* 0: memory */
    char path[MOST_FILES][PATH_SIZE + 16];
    uint64_t size[MOST_FILES];
    bool is_divisible[MOST_FILES];
    char *memory;
    size_t memory_size;
    const gsai_format *format;
    int skip;
} input;

static inline char *next_path(input *in)
{
    assert_true(in->n_files < MOST_FILES);
    return in->path[in->n_files];
}

/* There is a file at the next path. */
static inline void count_file(input *in, uint64_t size, bool is_divisible)
{
    in->size[in->n_files] = size;
    in->is_divisible[in->n_files++] = is_divisible;
}

static inline void add_file(input *in, const void *bytes, size_t size, bool is_divisible)
{
    make_file(next_path(in), bytes, size);
    count_file(in, size, is_divisible);
}

static inline void add_text(input *in, const char *text)
{
    add_file(in, text, strlen(text), true);
}

static inline void add_packed(input *in, const char *text)
{
    count_file(in, make_packed(next_path(in), text, strlen(text)), false);
}

/* The rows of a text as a cache, with this ending of its name. */
static inline void add_cache(input *in, const char *text, const char *ending)
{
    gsa_reader *reader = NULL;
    gsa_writer *writer = NULL;
    gsa_batch batch;
    gsa_error error;
    gsa_status status;
    char *path = next_path(in);
    make_file(path, "", 0);
    assert_int_equal(unlink(path), 0);
    strcat(path, ending);
    assert_int_equal(gsa_reader_open_memory(text, strlen(text), "text", NULL, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_begin(reader, &error), GSA_OK);
    assert_int_equal(gsa_writer_open(path, NULL, NULL, &writer, &error), GSA_OK);
    assert_int_equal(gsa_writer_set_schema(writer, gsa_reader_schema(reader), &error), GSA_OK);
    while ((status = gsa_reader_next(reader, &batch, &error)) == GSA_OK)
        assert_int_equal(gsa_writer_write(writer, &batch, &error), GSA_OK);
    assert_int_equal(status, GSA_END);
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
    gsa_reader_close(reader);
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    count_file(in, (uint64_t)facts.st_size, strcmp(ending, ".gsac") == 0);
}

static inline void set_memory(input *in, const void *bytes, size_t size)
{
    in->memory = malloc(size); /* exactly, so that a read beyond it is seen */
    assert_non_null(in->memory);
    memcpy(in->memory, bytes, size);
    in->memory_size = in->size[0] = size;
    in->is_divisible[0] = true;
}

static inline void free_input(input *in)
{
    for (size_t f = 0; f < in->n_files; f++)
        unlink(in->path[f]);
    free(in->memory);
}

static inline gsa_reader *open_with(const input *in, const gsai_reader_sizes *sizes, const gsa_env *env)
{
    const gsa_reader_options options = {.skip_bad_rows = in->skip};
    const char *paths[MOST_FILES];
    gsa_reader *reader = NULL;
    gsa_error error;
    for (size_t f = 0; f < in->n_files; f++)
        paths[f] = in->path[f];
    gsa_status status =
        in->n_files > 0 ? gsai_reader_open_files(paths, in->n_files, in->format, &options, sizes, env, &reader, &error)
                        : gsai_reader_open_bytes(in->memory, in->memory_size, "memory", in->format, &options, sizes,
                                                 env, &reader, &error);
    if (status != GSA_OK)
        fail_msg("%s", error.message);
    return reader;
}

static const gsai_reader_sizes all_sizes[] = {
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

static inline char *text_of(const gsa_batch *batch, size_t r)
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
static inline gsa_status take_rows(gsa_reader *reader, list *to, size_t most, gsa_error *error)
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

static inline void free_list(list *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        free(rows->row[i].text);
    free(rows->row);
    *rows = (list){0};
}

static inline list all_rows(const input *in)
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
static inline void assert_same_row(const row *got, const row *wanted, bool line_unknown)
{
    assert_string_equal(got->text, wanted->text);
    assert_int_equal(got->place.file, wanted->place.file);
    assert_int_equal(got->place.byte, wanted->place.byte);
    if (!line_unknown || got->place.line != 0)
        assert_int_equal(got->place.line, wanted->place.line);
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* The part in which a row begins, by what the header says and in wide arithmetic. */
static inline uint64_t part_of(const input *in, const gsa_place *place, uint64_t n_parts)
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

static inline void expect_parts(const input *in, gsa_reader *reader, const list *wanted, uint64_t n_parts)
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

static inline void expect_shares(const input *in)
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

static inline void expect_rest(gsa_reader *reader, const list *wanted, size_t from, size_t most, bool line_unknown)
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
static inline void expect_seeks(const input *in, size_t n, bool is_text)
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

static inline void expect_both(const input *in, size_t n_seeks, bool is_text)
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
static inline char *make_text(size_t n_rows, uint64_t seed, flavour of)
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

static inline void add_made(input *in, size_t n_rows, uint64_t seed, flavour of)
{
    char *text = make_text(n_rows, seed, of);
    add_text(in, text);
    free(text);
}

#endif
