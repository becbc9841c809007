/* Readers to train from, and a stop in the middle. */
#ifndef TESTS_UNIT_ENGINE_RUNS_H
#define TESTS_UNIT_ENGINE_RUNS_H

#include "../learn/bytes.h"

#include <greedystep/train.h>

static inline gsa_reader *generated(uint64_t n_rows, uint64_t n_classes, uint64_t seed)
{
    gsa_generator what = {.n_rows = n_rows, .n_features = 50, .nnz = 5, .n_classes = n_classes, .seed = seed};
    gsa_reader *reader;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_generated(&what, NULL, &reader, &error), &error);
    return reader;
}

static inline gsa_reader *text_reader(const char *rows_text, const gsa_reader_options *options)
{
    gsa_reader *reader;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_memory(rows_text, strlen(rows_text), "test.svm", options, NULL, &reader, &error),
               &error);
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
