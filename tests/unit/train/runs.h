/* Readers to train from, and a stop in the middle. */
#ifndef TESTS_UNIT_ENGINE_RUNS_H
#define TESTS_UNIT_ENGINE_RUNS_H

#include "../learn/bytes.h"

#include <greedystep/train.h>

#include <stdio.h>
#include <unistd.h>

static inline gsa_reader *generated(uint64_t n_rows, uint64_t n_classes, uint64_t seed)
{
    gsa_generator what = {
        .size = sizeof what, .n_rows = n_rows, .n_features = 50, .nnz = 5, .n_classes = n_classes, .seed = seed};
    gsa_reader *reader;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_generated(&what, NULL, NULL, &reader, &error), &error);
    return reader;
}

static inline gsa_reader *text_reader(const char *rows_text, const gsa_reader_options *options)
{
    gsa_reader *reader;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_memory(rows_text, strlen(rows_text), "test.svm", options, NULL, NULL, &reader, &error),
               &error);
    return reader;
}

/* The rows of a reader, which it closes, as a cache: what processes learn from together. */
static inline bytes cache_of(gsa_reader *from)
{
    char path[] = "/tmp/gsa-train-test-XXXXXX";
    int fd = mkstemp(path);
    gsa_writer *writer;
    gsa_batch batch;
    gsa_error error = {0};
    gsa_status status;
    bytes cache = {0};
    assert_true(fd >= 0);
    close(fd);
    must_be_ok(gsa_writer_open(path, "gsac", NULL, NULL, &writer, &error), &error);
    must_be_ok(gsa_reader_begin(from, &error), &error);
    must_be_ok(gsa_writer_set_schema(writer, gsa_reader_schema(from), &error), &error);
    while ((status = gsa_reader_next(from, &batch, &error)) == GSA_OK)
        must_be_ok(gsa_writer_write(writer, &batch, &error), &error);
    assert_int_equal(status, GSA_END);
    must_be_ok(gsa_writer_close(writer, &error), &error);
    gsa_reader_close(from);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    cache.size = (size_t)ftell(file);
    rewind(file);
    cache.data = malloc(cache.size);
    assert_non_null(cache.data);
    assert_int_equal(fread(cache.data, 1, cache.size, file), cache.size);
    fclose(file);
    unlink(path);
    return cache;
}

static inline gsa_reader *cache_reader(bytes cache)
{
    gsa_reader *reader;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_memory(cache.data, cache.size, "test.gsac", NULL, NULL, NULL, &reader, &error), &error);
    return reader;
}

static inline void assert_same_bytes(bytes a, bytes b)
{
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
}

/* Stops when it has been asked n times. */
static inline int stop_after(void *ctx)
{
    unsigned *left = ctx;
    if (*left == 0)
        return 1;
    --*left;
    return 0;
}

#endif
