/* The public functions of writers: check rows, put their entries in order and pass them to the writer's kind; what the
 * kind makes of them is compressed on its way to the file if the file's name ends like that of a compressed one. */
#include "data/writer.h"

#include <greedystep/distributed.h>

#include "base/batch.h"
#include "base/error.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

gsa_status gsa_writer_open(const char *path, const char *format, const gsa_memory *memory, const gsa_call *call,
                           gsa_writer **out, gsa_error *error)
{
    gsai_env resolved;
    GSA_TRY(gsai_env_take(&resolved, memory, call, error));
    static const gsai_writer_kind *const kinds[] = {&gsai_writer_cache, &gsai_writer_vw, &gsai_writer_libsvm};
    const gsai_writer_kind *kind = NULL; /* of that name or, without a name, by the path's ending */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !kind; i++)
        if (format ? strcmp(format, kinds[i]->name) == 0 : !kinds[i]->ending || gsai_codec_ends(path, kinds[i]->ending))
            kind = kinds[i];
    if (!kind)
        return gsai_fail(error, GSA_ARGUMENT, "unknown format %s: expected libsvm, gsac or vw", format);
    gsa_writer *writer = gsai_alloc_zeroed(&resolved, 1, kind->size);
    GSAI_TRY_MEMORY(writer, &resolved, error, "no memory for a writer");
    writer->kind = kind;
    writer->env = resolved;
    gsa_status status = gsai_output_open(&writer->output, path, &writer->env, error);
    if (status == GSA_OK)
        status = kind->open(writer, error);
    if (status != GSA_OK) {
        gsa_writer_discard(writer);
        return status;
    }
    *out = writer;
    return GSA_OK;
}

void gsa_writer_discard(gsa_writer *writer)
{
    if (!writer)
        return;
    gsai_env env = writer->env;
    writer->kind->free(writer); /* and with it threads that write to the file */
    gsai_output_discard(&writer->output);
    gsai_free(&env, writer->schema);
    gsai_free(&env, writer->pair);
    gsai_free(&env, writer->index);
    gsai_free(&env, writer->value);
    gsai_free(&env, writer);
}

static gsa_status fail_again(gsa_error *error)
{
    return gsai_fail(error, GSA_IO, "an earlier write failed: the file is incomplete");
}

gsa_status gsa_writer_close(gsa_writer *writer, gsa_error *error)
{
    gsa_status status = writer->failed ? fail_again(error) : writer->kind->finish(writer, error);
    if (status == GSA_OK)
        status = gsai_output_commit(&writer->output, error);
    gsa_writer_discard(writer);
    return status;
}

gsa_status gsa_writer_set_schema(gsa_writer *writer, const char *text, gsa_error *error)
{
    if (text && writer->kind == &gsai_writer_vw) /* a model of the columns would take them for its own */
        return gsai_fail(
            error, GSA_UNSUPPORTED,
            "the rows are of a table or of Vowpal Wabbit text: their words were hashed to numbers and would "
            "be hashed again; write a cache (.gsac), which keeps what they mean, or libsvm text");
    char *copy = text ? gsai_copy_text(&writer->env, text) : NULL;
    if (text && !copy)
        return gsai_fail_memory(&writer->env, error, "no memory for the meaning of the columns");
    gsai_free(&writer->env, writer->schema);
    writer->schema = copy;
    return GSA_OK;
}

void gsa_writer_begin_file(gsa_writer *writer)
{
    writer->begins_file = true;
}

gsa_status gsa_writer_add_name(gsa_writer *writer, uint64_t feature, const char *name, gsa_error *error)
{
    if (feature > GSA_MAX_ID)
        return gsai_fail(error, GSA_ARGUMENT, "feature %" PRIu64 " cannot be: the highest is %u", feature, GSA_MAX_ID);
    return writer->kind->add_name ? writer->kind->add_name(writer, (uint32_t)feature, name, error) : GSA_OK;
}

static int compare_index(const void *a, const void *b)
{
    uint32_t x = ((const gsai_pair *)a)->index, y = ((const gsai_pair *)b)->index;
    return (x > y) - (x < y);
}

/* Returns whether the row can be written as it is, like those of readers. */
static bool is_in_order(const gsai_row *row)
{
    int n_bad = !row->index;
    for (size_t i = 1; row->index && i < row->n; i++)
        n_bad |= row->index[i] <= row->index[i - 1];
    for (size_t i = 0; row->value && i < row->n; i++)
        n_bad |= !isfinite(row->value[i]) | (row->value[i] == 0);
    return !n_bad;
}

/* Puts any row into ascending order without zeros. */
static gsa_status put_in_order(gsa_writer *writer, gsai_row *row, size_t r, gsa_error *error)
{
    GSAI_TRY_MEMORY(gsai_reserve(&writer->env, &writer->pair, &writer->pair_capacity, row->n, sizeof *writer->pair) &&
                        gsai_reserve(&writer->env, &writer->index, &writer->index_capacity, row->n, sizeof(uint32_t)) &&
                        gsai_reserve(&writer->env, &writer->value, &writer->value_capacity, row->n, sizeof(float)),
                    &writer->env, error, "no memory for a row of %zu values", row->n);
    size_t n = 0;
    for (size_t i = 0; i < row->n; i++) {
        uint32_t id = writer->index[n] = gsai_row_id(row, i);
        float value = writer->value[n] = gsai_row_value(row, i);
        if (!isfinite(value))
            return gsai_fail_row(error, GSA_INPUT, r, "feature %" PRIu32 " has the value %g: expected a finite value",
                                 id, (double)value);
        n += value != 0;
    }
    for (size_t i = 0; row->index && i < n; i++)
        writer->pair[i] = (gsai_pair){writer->index[i], writer->value[i]};
    if (row->index)
        qsort(writer->pair, n, sizeof *writer->pair, compare_index);
    for (size_t i = 0; row->index && i < n; i++) {
        writer->index[i] = writer->pair[i].index;
        writer->value[i] = writer->pair[i].value;
        if (i > 0 && writer->index[i] == writer->index[i - 1])
            return gsai_fail_row(error, GSA_INPUT, r, "feature %" PRIu32 " stands twice in the row", writer->index[i]);
    }
    *row = (gsai_row){n, writer->index, writer->value};
    return GSA_OK;
}

static gsa_status write_row(gsa_writer *writer, const gsa_batch *batch, size_t r, gsa_error *error)
{
    gsai_row row = gsai_row_at(batch, r);
    GSA_TRY(gsai_batch_check_ids(batch, r, error));
    if (!is_in_order(&row))
        GSA_TRY(put_in_order(writer, &row, r, error));
    bool is_word = batch->word && batch->word[r] >= 0;
    if (is_word && (size_t)batch->word[r] >= batch->n_words)
        return gsai_fail_row(error, GSA_ARGUMENT, r, "the label is word %d of %zu", batch->word[r], batch->n_words);
    if (!is_word && !isfinite(batch->label[r]))
        return gsai_fail_row(error, GSA_INPUT, r, "the label is %g: labels must be finite", batch->label[r]);
    if (batch->weight && !(batch->weight[r] >= 0 && isfinite(batch->weight[r])))
        return gsai_fail_row(error, GSA_INPUT, r, "the weight is %g: expected a finite one of at least 0",
                             (double)batch->weight[r]);
    return writer->kind->write(writer, batch, r, &row, error);
}

gsa_status gsa_writer_write(gsa_writer *writer, const gsa_batch *batch, gsa_error *error)
{
    if (writer->failed)
        return fail_again(error);
    if (!batch->label)
        return gsai_fail(error, GSA_ARGUMENT, "a file needs a label in every row: the batch has none");
    gsa_status status = gsai_batch_check(batch, NULL, batch->n_rows, 1, error);
    for (size_t r = 0; r < batch->n_rows && status == GSA_OK; r++)
        status = write_row(writer, batch, r, error);
    return status;
}
