/* libsvm text from batches, and Vowpal Wabbit text, which differs in what stands before the features. Every row is
 * checked before its first byte is written, so that a refused row leaves no half line, and libsvm text reads back to
 * the same batch. */
#include "data/writer.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/format/input_text.h"
#include "data/format/libsvm.h"
#include "data/format/number.h"

#include <string.h>

#define BUFFER_SIZE ((size_t)64 << 10)
#define PIECE_SIZE 512 /* room for what stands before the pairs, or for a pair, and the end of a line */

typedef struct text_writer {
    gsa_writer head;
    gsai_number_locale *locale;
    char *buffer;
    size_t used;
    bool is_vw;
} text_writer;

static gsa_status open_text(gsa_writer *head, gsa_error *error)
{
    text_writer *writer = (text_writer *)head;
    writer->buffer = gsai_alloc(&head->env, BUFFER_SIZE, 1);
    writer->locale = gsai_number_locale_new(&head->env);
    return writer->buffer && writer->locale ? GSA_OK : gsai_fail_memory(&head->env, error, "no memory for a writer");
}

static gsa_status open_vw(gsa_writer *head, gsa_error *error)
{
    ((text_writer *)head)->is_vw = true;
    return open_text(head, error);
}

static void free_text(gsa_writer *head)
{
    text_writer *writer = (text_writer *)head;
    gsai_number_locale_free(&head->env, writer->locale);
    gsai_free(&head->env, writer->buffer);
}

static gsa_status flush(gsa_writer *head, gsa_error *error)
{
    text_writer *writer = (text_writer *)head;
    size_t size = writer->used;
    writer->used = 0;
    gsa_status status = gsai_output_put(&head->output, writer->buffer, size, error);
    head->failed = status != GSA_OK;
    return status;
}

/* A word must read back as that word: not as a number, a comment or a feature. */
static gsa_status check_word(const text_writer *writer, const char *word, size_t r, gsa_error *error)
{
    char quote[GSAI_QUOTE_SIZE];
    size_t size = strlen(word);
    const char *objection = gsai_libsvm_objection(word, size);
    gsai_number number;
    gsai_number_parse(writer->locale, word, &number);
    if (writer->is_vw)
        objection = "labels of Vowpal Wabbit text are numbers; write a cache (.gsac) or libsvm text";
    else if (!objection && number.after == word + size)
        objection = "as text this word would be a number; write a cache (.gsac)";
    if (objection)
        return gsai_fail_row(error, GSA_INPUT, r, "label '%s': %s", gsai_quote(word, size, quote), objection);
    return GSA_OK;
}

static gsa_status write_label(text_writer *writer, const gsa_batch *batch, size_t r, gsa_error *error)
{
    char *out = writer->buffer + writer->used;
    if (batch->word && batch->word[r] >= 0) {
        const char *word = batch->words[batch->word[r]];
        GSA_TRY(check_word(writer, word, r, error));
        size_t size = strlen(word);
        memcpy(out, word, size);
        writer->used += size;
        return GSA_OK;
    }
    writer->used += gsai_number_text(batch->label[r], out);
    return GSA_OK;
}

/* Writes the weight of a row, unless it is 1, and the bar before the features, which are numbers as in libsvm text. */
static void write_importance(text_writer *writer, const gsa_batch *batch, size_t r)
{
    char *out = writer->buffer + writer->used;
    *out++ = ' ';
    if (batch->weight && batch->weight[r] != 1) {
        out = gsai_decimal_float(batch->weight[r], writer->locale, out);
        *out++ = ' ';
    }
    *out++ = '|';
    writer->used = (size_t)(out - writer->buffer);
}

static gsa_status make_room(text_writer *writer, gsa_error *error)
{
    return writer->used + PIECE_SIZE > BUFFER_SIZE ? flush(&writer->head, error) : GSA_OK;
}

static gsa_status write_pairs(text_writer *writer, const gsai_row *row, gsa_error *error)
{
    for (size_t i = 0; i < row->n; i++) {
        GSA_TRY(make_room(writer, error));
        char *out = writer->buffer + writer->used;
        *out++ = ' ';
        out = gsai_decimal_unsigned((uint64_t)row->index[i] + 1, out);
        *out++ = ':';
        if (!row->value || row->value[i] == 1)
            *out++ = '1';
        else
            out = gsai_decimal_float(row->value[i], writer->locale, out);
        writer->used = (size_t)(out - writer->buffer);
    }
    return GSA_OK;
}

static gsa_status write_text(gsa_writer *head, const gsa_batch *batch, size_t r, const gsai_row *row, gsa_error *error)
{
    text_writer *writer = (text_writer *)head;
    if (!writer->is_vw && batch->weight && batch->weight[r] != 1)
        return gsai_fail_row(error, GSA_UNSUPPORTED, r,
                             "the row has the weight %g: libsvm text has no place for weights, a cache (.gsac) has",
                             (double)batch->weight[r]);
    GSA_TRY(make_room(writer, error));
    GSA_TRY(write_label(writer, batch, r, error));
    if (writer->is_vw)
        write_importance(writer, batch, r);
    GSA_TRY(write_pairs(writer, row, error));
    writer->buffer[writer->used++] = '\n';
    return GSA_OK;
}

const gsai_writer_kind *gsai_writer_libsvm(void)
{
    static const gsai_writer_kind kind = {"libsvm",   NULL,  sizeof(text_writer), open_text,
                                          write_text, flush, free_text,           NULL};
    return &kind;
}

const gsai_writer_kind *gsai_writer_vw(void)
{
    static const gsai_writer_kind kind = {"vw",       ".vw", sizeof(text_writer), open_vw,
                                          write_text, flush, free_text,           NULL};
    return &kind;
}
