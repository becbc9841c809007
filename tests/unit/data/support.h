/* What the tests of the data room share: readers to text that can be compared, files that go away, libraries' bytes. */
#ifndef GSA_TESTS_DATA_SUPPORT_H
#define GSA_TESTS_DATA_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/batch.h"
#include "data/format/format.h"
#include "data/reader.h"
#include "support/env.h"

#include <greedystep/data.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Everything that a batch says, exactly: one line a row, one line "--" a batch. */
static inline void dump_batch(FILE *out, const gsa_batch *batch)
{
    for (size_t r = 0; r < batch->n_rows; r++) {
        if (batch->place)
            fprintf(out, "%" PRIu32 ":%" PRIu64 "@%" PRIu64 " ", batch->place[r].file, batch->place[r].line,
                    batch->place[r].byte);
        if (batch->word && batch->word[r] >= 0)
            fprintf(out, "'%s'", batch->words[batch->word[r]]);
        else
            fprintf(out, "%a", batch->label[r]);
        gsai_row row = gsai_row_at(batch, r);
        for (size_t i = 0; i < row.n; i++) {
            if (!row.index && row.value[i] == 0)
                continue; /* which is no entry of a dense row */
            fprintf(out, " %" PRIu32, gsai_row_id(&row, i));
            if (batch->value)
                fprintf(out, "=%a", (double)row.value[i]);
        }
        fputc('\n', out);
    }
    fprintf(out, "--%s%s\n", batch->value ? " values" : " ones", batch->word ? " words" : "");
}

/* One line "cells" and those of a row each, if the reader keeps them. */
static inline void dump_cells(FILE *out, const gsa_reader *reader, size_t n_rows)
{
    size_t n_columns;
    const uint64_t *cell = gsa_reader_cells(reader, &n_columns);
    for (size_t r = 0; cell && r < n_rows; r++) {
        fputs("cells", out);
        for (size_t c = 0; c < n_columns; c++)
            fprintf(out, " %" PRIx64, cell[r * n_columns + c]);
        fputc('\n', out);
    }
}

/* Reads to the end or to a failure; the caller frees the text. A stop is not a failure: it goes on. */
static inline char *dump_reader(gsa_reader *reader, gsa_status *status, gsa_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    gsa_batch batch;
    do {
        *status = gsa_reader_next(reader, &batch, error);
        if (*status == GSA_OK) {
            assert_true(batch.n_rows > 0);
            assert_int_equal(batch.row_start == NULL, batch.width > 0);
            assert_int_equal(batch.index == NULL, batch.width > 0);
            dump_batch(out, &batch);
            dump_cells(out, reader, batch.n_rows);
        }
    } while (*status == GSA_OK || *status == GSA_STOPPED);
    fclose(out);
    return text;
}

static inline gsa_reader *open_text(const void *text, size_t size, const gsai_reader_sizes *sizes, int skip,
                                    const gsai_env *env)
{
    static const gsai_reader_sizes defaults = {0};
    gsa_reader *reader = NULL;
    gsa_reader_options options = {.size = sizeof options, .skip_bad_rows = skip};
    gsa_error error;
    assert_int_equal(gsai_reader_open_bytes(text, size, "text", &gsai_format_libsvm, &options,
                                            sizes ? sizes : &defaults, env, &reader, &error),
                     GSA_OK);
    return reader;
}

/* The dump of a text that is read to its end. */
static inline char *dump_text(const void *text, size_t size, const gsai_reader_sizes *sizes, const gsai_env *env)
{
    gsa_reader *reader = open_text(text, size, sizes, 0, env);
    gsa_error error;
    gsa_status status;
    char *dump = dump_reader(reader, &status, &error);
    if (status != GSA_END)
        print_message("%s\n", error.message);
    assert_int_equal(status, GSA_END);
    gsa_reader_close(reader);
    return dump;
}

/* A new file with these bytes; the name is written to path and the file is the test's to remove. */
#define PATH_SIZE 64
static inline void make_file(char path[PATH_SIZE], const void *bytes, size_t size)
{
    snprintf(path, PATH_SIZE, "/tmp/gsa-data-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/* What is in a file, and a NUL behind it; to be freed. */
static inline void *load_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

static inline void *load_and_unlink(const char *path, size_t *size)
{
    void *bytes = load_file(path, size);
    unlink(path);
    return bytes;
}

/* Random numbers for tests: any will do, the same every time. */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
