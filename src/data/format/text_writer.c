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
    writer->locale = gsai_os_c_locale();
    writer->is_vw = head->kind == &gsai_writer_vw;
    return writer->buffer && writer->locale ? GSA_OK : gsai_fail_memory(&head->env, error, "no memory for a writer");
}

static void free_text(gsa_writer *head)
{
    text_writer *writer = (text_writer *)head;
    gsai_os_c_locale_free(writer->locale);
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

static gsa_status make_room(text_writer *writer, gsa_error *error)
{
    return writer->used + PIECE_SIZE > BUFFER_SIZE ? flush(&writer->head, error) : GSA_OK;
}

/* Writes a row: its label; in Vowpal Wabbit text its weight, unless it is 1, and a bar; the pairs, whose features are
 * numbers in both. */
static gsa_status write_text(gsa_writer *head, const gsa_batch *batch, size_t r, const gsai_row *row, gsa_error *error)
{
    text_writer *writer = (text_writer *)head;
    const char *word = batch->word && batch->word[r] >= 0 ? batch->words[batch->word[r]] : NULL;
    const float weight = batch->weight ? batch->weight[r] : 1;
    if (!writer->is_vw && weight != 1)
        return gsai_fail_row(error, GSA_UNSUPPORTED, r,
                             "the row has the weight %g: libsvm text has no place for weights, a cache (.gsac) has",
                             (double)weight);
    GSA_TRY(make_room(writer, error));
    if (word)
        GSA_TRY(check_word(writer, word, r, error));
    char *out = writer->buffer + writer->used;
    if (word) {
        memcpy(out, word, strlen(word));
        out += strlen(word);
    } else
        out += gsai_number_text(batch->label[r], out);
    if (writer->is_vw)
        *out++ = ' ';
    if (writer->is_vw && weight != 1) {
        out = gsai_decimal_float(weight, writer->locale, out);
        *out++ = ' ';
    }
    if (writer->is_vw)
        *out++ = '|';
    writer->used = (size_t)(out - writer->buffer);
    for (size_t i = 0; i < row->n; i++) {
        GSA_TRY(make_room(writer, error));
        out = writer->buffer + writer->used;
        *out++ = ' ';
        out = gsai_decimal_unsigned((uint64_t)row->index[i] + 1, out);
        *out++ = ':';
        if (!row->value || row->value[i] == 1)
            *out++ = '1';
        else
            out = gsai_decimal_float(row->value[i], writer->locale, out);
        writer->used = (size_t)(out - writer->buffer);
    }
    writer->buffer[writer->used++] = '\n';
    return GSA_OK;
}

const gsai_writer_kind gsai_writer_libsvm = {"libsvm",   NULL,  sizeof(text_writer), open_text,
                                             write_text, flush, free_text,           NULL};

const gsai_writer_kind gsai_writer_vw = {"vw",       ".vw", sizeof(text_writer), open_text,
                                         write_text, flush, free_text,           NULL};
