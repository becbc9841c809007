/* The labels of a file of rows: an array of one number or text per row. */
#include "data/format/npy.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/format/input_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Finds the name at this place of a list with commas; returns its size, 0 if not found. */
static size_t find_name(const char *list, uint32_t number, const char **out)
{
    for (; number > 0 && list; number--)
        list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL;
    *out = list;
    return list ? strcspn(list, ",") : 0;
}

static gsa_status open_stream(gsai_npy_labels *labels, const gsai_format_input *input, gsa_error *error)
{
    const gsa_file_source *files = input->options->files;
    gsai_source source;
    GSA_TRY(files ? gsai_source_open_given(files, labels->name, labels->env, &source, error)
                  : gsai_source_open_file(labels->name, labels->env, &source, error));
    GSA_TRY(gsai_decode_open(&labels->stream, &source, labels->env, 0, error));
    labels->is_open = true;
    return GSA_OK;
}

static gsa_status take_header(gsai_npy_labels *labels, const gsai_format_input *input, uint64_t n_rows,
                              gsa_error *error)
{
    unsigned char head[GSAI_DECODE_START];
    size_t filled = 0;
    GSA_TRY(gsai_decode_peek(&labels->stream, error));
    GSA_TRY(gsai_npy_header_parse(&labels->stream, labels->name, &labels->header, error));
    if (labels->header.width != 1)
        return gsai_fail(error, GSA_ARGUMENT, "%s has %" PRIu64 " columns: expected one label per row", labels->name,
                         labels->header.width);
    if (labels->header.n_rows != n_rows)
        return gsai_fail(error, GSA_ARGUMENT,
                         "%s has %" PRIu64 " rows and %s has %" PRIu64 " labels: expected the same number", input->name,
                         n_rows, labels->name, labels->header.n_rows);
    return gsai_npy_fill(&labels->stream, labels->name, head, labels->header.size, &filled, error);
}

gsa_status gsai_npy_labels_open(gsai_npy_labels *labels, const gsai_format_input *input, uint64_t n_rows,
                                gsa_error *error)
{
    const char *name, *list = input->options->labels;
    size_t size = find_name(list, input->file, &name);
    if (size == 0)
        return gsai_fail_about(
            error, "labels",
            gsai_fail(error, GSA_ARGUMENT, "%s holds rows without labels: give its labels too", input->name));
    if (!labels->is_open) {
        labels->name = gsai_alloc_zeroed(labels->env, size + 1, 1);
        GSAI_TRY_MEMORY(labels->name, labels->env, error, "no memory for a name");
        memcpy(labels->name, name, size);
        GSA_TRY(open_stream(labels, input, error));
    }
    labels->filled = 0;
    return take_header(labels, input, n_rows, error);
}

void gsai_npy_labels_close(gsai_npy_labels *labels)
{
    if (labels->is_open)
        gsai_decode_close(&labels->stream);
    gsai_free(labels->env, labels->name);
    labels->name = NULL;
    labels->is_open = false;
}

gsa_status gsai_npy_labels_read(gsai_npy_labels *labels, size_t n, gsa_error *error)
{
    size_t size = n * labels->header.item;
    GSAI_TRY_MEMORY(gsai_reserve(labels->env, &labels->item, &labels->capacity, size, 1), labels->env, error,
                    "no memory for %zu labels", n);
    return gsai_npy_fill(&labels->stream, labels->name, labels->item, size, &labels->filled, error);
}

/* The text of an item, without the NULs that fill it; its size is above GSAI_LABEL_SIZE if it is too long. */
static size_t take_text(const gsai_npy_labels *labels, const unsigned char *item, char text[GSAI_LABEL_SIZE + 4])
{
    bool is_wide = labels->header.kind == 'U', is_big = labels->header.is_big;
    size_t size = 0, step = is_wide ? 4 : 1;
    for (size_t at = 0, end = 0; at < labels->header.item && end <= GSAI_LABEL_SIZE; at += step) {
        uint32_t c = 0;
        for (size_t i = 0; i < step; i++)
            c |= (uint32_t)item[at + i] << 8 * (is_big ? step - 1 - i : i);
        if (is_wide)
            end = (size_t)(gsai_put_utf8(c <= 0x10FFFF ? c : 0xD800, text + end) - text); /* a surrogate is not text */
        else
            text[end++] = (char)c;
        size = c != 0 ? end : size;
    }
    return size;
}

gsa_status gsai_npy_label(const gsai_npy_labels *labels, size_t i, gsai_rows *rows, double *label, int32_t *word,
                          gsa_error *error)
{
    const gsai_npy_header *header = &labels->header;
    *word = -1;
    *label = 0;
    if (header->kind != 'U' && header->kind != 'S') {
        *label = gsai_npy_number(header, labels->item, i) + 0.0; /* -0 is 0 */
        bool is_exact = strchr("fhb", header->kind) || fabs(*label) < 0x1p53;
        return isfinite(*label) && is_exact ? GSA_OK
                                            : gsai_fail(error, GSA_INPUT, "its label in %s is %s", labels->name,
                                                        is_exact ? "not a finite number" : "beyond 2^53");
    }
    char text[GSAI_LABEL_SIZE + 4];
    size_t size = take_text(labels, labels->item + i * header->item, text);
    const char *objection = gsai_label_objection(text, size);
    if (objection)
        return gsai_fail(error, GSA_INPUT, "its label in %s: %s", labels->name, objection);
    return gsai_words_enter(&rows->words, text, size, word, error);
}

gsa_status gsai_npy_labels_check(const gsai_format_input *input, size_t n_files, const gsai_env *env, gsa_error *error)
{
    gsai_npy_labels labels = {.env = env};
    gsai_npy_header header;
    const char *more;
    if (find_name(input->options->labels, (uint32_t)n_files, &more) > 0)
        return gsai_fail_about(
            error, "labels",
            gsai_fail(error, GSA_ARGUMENT, "there are more files of labels than of rows (%zu)", n_files));
    GSA_TRY(gsai_npy_header_parse(input->stream, input->name, &header, error));
    gsa_status status = gsai_npy_labels_open(&labels, input, header.n_rows, error);
    gsai_npy_labels_close(&labels);
    return status;
}

gsa_status gsai_npy_labels_end(gsai_npy_labels *labels, gsa_error *error)
{
    return labels->is_open ? gsai_npy_end(&labels->stream, labels->name, error) : GSA_OK;
}
