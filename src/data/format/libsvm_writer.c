/* libsvm text from batches. Every row is checked before its first byte is written, so that a refused row leaves no half
 * line, and what was written reads back to the same batch. */
#include <greedystep/data.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/format/decimal.h"
#include "data/format/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_SIZE ((size_t)64 << 10)
#define PIECE_SIZE 512 /* room for a label, or for a pair */

typedef struct pair {
    uint32_t index;
    float value;
} pair;

struct gsa_writer {
    gsa_env env;
    gsa__atomic_file *file;
    gsa__number_locale *locale;
    char *buffer;
    size_t used;
    pair *row; /* the row being written, in order of ids */
    size_t row_capacity;
    bool failed; /* some bytes could not be written */
};

/* One row of a batch, dense or sparse. */
typedef struct row_view {
    size_t n;
    const uint32_t *index; /* NULL: dense */
    const float *value;    /* NULL: ones */
} row_view;

gsa_status gsa_writer_open(const char *path, const gsa_env *env, gsa_writer **out, gsa_error *error)
{
    gsa_env resolved = gsa__env_resolve(env);
    gsa_writer *writer = gsa__alloc_zeroed(&resolved, 1, sizeof *writer);
    if (!writer)
        return gsa__fail(error, GSA_MEMORY, "no memory for a writer");
    writer->env = resolved;
    writer->buffer = gsa__alloc(&writer->env, BUFFER_SIZE, 1);
    writer->locale = gsa__number_locale_new(&writer->env);
    gsa_status status =
        writer->buffer && writer->locale ? GSA_OK : gsa__fail(error, GSA_MEMORY, "no memory for a writer");
    if (status == GSA_OK)
        status = gsa__atomic_file_open(path, &writer->env, &writer->file, error);
    if (status != GSA_OK) {
        gsa_writer_discard(writer);
        return status;
    }
    *out = writer;
    return GSA_OK;
}

static void free_writer(gsa_writer *writer)
{
    gsa_env env = writer->env;
    gsa__number_locale_free(&env, writer->locale);
    gsa__free(&env, writer->buffer);
    gsa__free(&env, writer->row);
    gsa__free(&env, writer);
}

void gsa_writer_discard(gsa_writer *writer)
{
    if (!writer)
        return;
    gsa__atomic_file_discard(writer->file);
    free_writer(writer);
}

static gsa_status flush(gsa_writer *writer, gsa_error *error)
{
    if (writer->used == 0)
        return GSA_OK;
    gsa_status status = gsa__atomic_file_write(writer->file, writer->buffer, writer->used, error);
    writer->used = 0;
    writer->failed = writer->failed || status != GSA_OK;
    return status;
}

gsa_status gsa_writer_close(gsa_writer *writer, gsa_error *error)
{
    gsa_status status = writer->failed ? gsa__fail(error, GSA_IO, "an earlier write failed: the file is incomplete")
                                       : flush(writer, error);
    if (status != GSA_OK) {
        gsa_writer_discard(writer);
        return status;
    }
    status = gsa__atomic_file_commit(writer->file, error);
    free_writer(writer);
    return status;
}

static int compare_index(const void *a, const void *b)
{
    uint32_t x = ((const pair *)a)->index, y = ((const pair *)b)->index;
    return (x > y) - (x < y);
}

static row_view view_row(const gsa_batch *batch, size_t r)
{
    if (!batch->row_start)
        return (row_view){batch->width, NULL, batch->value + r * batch->width};
    size_t from = (size_t)batch->row_start[r], to = (size_t)batch->row_start[r + 1];
    return (row_view){to - from, batch->index + from, batch->value ? batch->value + from : NULL};
}

/* Copies the values that are not zero to writer->row, checked and in ascending order. */
static gsa_status collect(gsa_writer *writer, const row_view *row, size_t r, size_t *n, gsa_error *error)
{
    void *memory = writer->row;
    bool has_room = gsa__reserve(&writer->env, &memory, &writer->row_capacity, row->n, sizeof *writer->row);
    writer->row = memory;
    if (!has_room)
        return gsa__fail(error, GSA_MEMORY, "no memory for a row of %zu values", row->n);
    size_t count = 0;
    bool ascends = true;
    for (size_t i = 0; i < row->n; i++) {
        pair p = {row->index ? row->index[i] : (uint32_t)i, row->value ? row->value[i] : 1.0f};
        if (!isfinite(p.value) || p.index > GSA_MAX_ID)
            return gsa__fail_row(error, GSA_INPUT, r,
                                 "feature %" PRIu32
                                 " has the value %g: expected a finite value and a feature id of at most %u",
                                 p.index, (double)p.value, GSA_MAX_ID);
        ascends = ascends && (count == 0 || p.index > writer->row[count - 1].index);
        writer->row[count] = p;
        count += p.value != 0;
    }
    *n = count;
    if (ascends)
        return GSA_OK;
    qsort(writer->row, count, sizeof *writer->row, compare_index);
    for (size_t i = 1; i < count; i++)
        if (writer->row[i].index == writer->row[i - 1].index)
            return gsa__fail_row(error, GSA_INPUT, r, "feature %" PRIu32 " stands twice in the row",
                                 writer->row[i].index);
    return GSA_OK;
}

/* A word must read back as that word: not as a number, a comment or a feature. */
static gsa_status check_word(const gsa_writer *writer, const char *word, size_t r, gsa_error *error)
{
    char quote[GSA__QUOTE_SIZE];
    size_t size = strlen(word);
    const char *objection = gsa__label_objection(word, size);
    gsa__number number;
    gsa__number_parse(writer->locale, word, &number);
    if (!objection && number.after == word + size)
        objection = "as text this word would be a number";
    if (objection)
        return gsa__fail_row(error, GSA_INPUT, r, "label '%s': %s", gsa__quote(word, size, quote), objection);
    return GSA_OK;
}

static gsa_status write_label(gsa_writer *writer, const gsa_batch *batch, size_t r, gsa_error *error)
{
    char *out = writer->buffer + writer->used;
    if (batch->word && batch->word[r] >= 0) {
        const char *word = batch->words[batch->word[r]];
        gsa_status status = check_word(writer, word, r, error);
        if (status != GSA_OK)
            return status;
        size_t size = strlen(word);
        memcpy(out, word, size);
        writer->used += size;
        return GSA_OK;
    }
    if (!isfinite(batch->label[r]))
        return gsa__fail_row(error, GSA_INPUT, r, "the label is %g: labels must be finite", batch->label[r]);
    writer->used += gsa__number_text(batch->label[r], out);
    return GSA_OK;
}

static gsa_status make_room(gsa_writer *writer, gsa_error *error)
{
    return writer->used + PIECE_SIZE > BUFFER_SIZE ? flush(writer, error) : GSA_OK;
}

static gsa_status write_pairs(gsa_writer *writer, size_t n, gsa_error *error)
{
    for (size_t i = 0; i < n; i++) {
        gsa_status status = make_room(writer, error);
        if (status != GSA_OK)
            return status;
        char *out = writer->buffer + writer->used;
        *out++ = ' ';
        out = gsa__decimal_unsigned((uint64_t)writer->row[i].index + 1, out);
        *out++ = ':';
        if (writer->row[i].value == 1)
            *out++ = '1';
        else
            out = gsa__decimal_float(writer->row[i].value, writer->locale, out);
        writer->used = (size_t)(out - writer->buffer);
    }
    return GSA_OK;
}

static gsa_status write_row(gsa_writer *writer, const gsa_batch *batch, size_t r, gsa_error *error)
{
    row_view row = view_row(batch, r);
    size_t n = 0;
    gsa_status status = collect(writer, &row, r, &n, error);
    if (status == GSA_OK)
        status = make_room(writer, error);
    if (status == GSA_OK)
        status = write_label(writer, batch, r, error);
    if (status == GSA_OK)
        status = write_pairs(writer, n, error);
    if (status == GSA_OK)
        status = make_room(writer, error);
    if (status == GSA_OK)
        writer->buffer[writer->used++] = '\n';
    return status;
}

gsa_status gsa_writer_write(gsa_writer *writer, const gsa_batch *batch, gsa_error *error)
{
    if (writer->failed)
        return gsa__fail(error, GSA_IO, "an earlier write failed: the file is incomplete");
    if (!batch->label)
        return gsa__fail(error, GSA_ARGUMENT, "libsvm text needs a label in every row: the batch has none");
    for (size_t r = 0; r < batch->n_rows; r++) {
        if (batch->weight && batch->weight[r] != 1)
            return gsa__fail_row(error, GSA_UNSUPPORTED, r,
                                 "the row has the weight %g: libsvm text has no place for weights",
                                 (double)batch->weight[r]);
        gsa_status status = write_row(writer, batch, r, error);
        if (status != GSA_OK)
            return status;
    }
    return GSA_OK;
}
