/* Arrays of NumPy and their labels: rows are dense, of one width and finite, labels are finite or words, whatever the
 * sizes of reads; without labels there are the same rows. */
#include "rows.h"

typedef struct memory_file {
    const uint8_t *at;
    size_t size, used, piece;
} memory_file;

typedef struct two_files {
    memory_file rows, labels;
} two_files;

static gsa_status open_file(void *ctx, const char *path, void **file, uint64_t *n_bytes, gsa_error *error)
{
    two_files *all = ctx;
    (void)error;
    memory_file *of = strcmp(path, "rows") == 0 ? &all->rows : &all->labels;
    of->used = 0;
    *n_bytes = of->size;
    *file = of;
    return GSA_OK;
}

static gsa_status read_file(void *file, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    memory_file *of = file;
    (void)error;
    size_t left = of->size - of->used;
    *got = size < left ? size : left;
    *got = *got < of->piece ? *got : of->piece;
    if (*got > 0)
        memcpy(bytes, of->at + of->used, *got);
    of->used += *got;
    return GSA_OK;
}

static gsa_status seek_file(void *file, uint64_t at, gsa_error *error)
{
    (void)error;
    ((memory_file *)file)->used = (size_t)at;
    return GSA_OK;
}

static void close_file(void *file)
{
    (void)file;
}

/* Tells all rows and how it ended. */
static gsa_status tell(two_files *all, int skip, int without, fuzz_told *out)
{
    const gsa_file_source files = {sizeof files, all, open_file, read_file, seek_file, close_file};
    const gsa_reader_options options = {
        .size = sizeof options, .files = &files, .labels = "labels", .skip_bad_rows = skip, .without_labels = without};
    const char *path = "rows";
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    fuzz_tell_nothing(out);
    gsa_status status = gsa_reader_open(&path, 1, &options, &fuzz_env.memory, NULL, &reader, &error);
    while (status == GSA_OK && (status = gsa_reader_next(reader, &batch, &error)) == GSA_OK) {
        fuzz_must(!batch.index && batch.width > 0 && batch.value, "rows are dense", NULL);
        static const double none[GSAI_BATCH_ROWS];
        batch.label = without ? none : batch.label;
        for (size_t r = 0; r < batch.n_rows; r++)
            fuzz_tell_row(out, &batch, r);
    }
    gsa_reader_close(reader);
    return fuzz_status(status, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_told whole, pieces, alone;
    if (size > FUZZ_MAX)
        return -1;
    fuzz_input in = {data, size};
    uint8_t how = fuzz_byte(&in);
    size_t n_labels = (size_t)fuzz_number(&in, 2);
    n_labels = n_labels < 3 ? 0 : n_labels - 3;
    n_labels = n_labels < in.left ? n_labels : in.left;
    two_files all = {{in.at + n_labels, in.left - n_labels, 0, SIZE_MAX}, {in.at, n_labels, 0, SIZE_MAX}};
    if (all.rows.size < 6 || memcmp(all.rows.at, "\x93NUMPY", 6) != 0)
        return -1;
    gsa_status status = tell(&all, how & 1, 0, &whole);
    gsa_status bare = tell(&all, how & 1, 1, &alone);
    fuzz_must(status != GSA_END || (bare == GSA_END && alone.n >= whole.n), "rows need no labels", NULL);
    all.rows.piece = 1 + how % 13;
    all.labels.piece = 1 + how % 7;
    fuzz_must(tell(&all, how & 1, 0, &pieces) == status, "pieces end alike", NULL);
    fuzz_must(pieces.n == whole.n && fuzz_same(&pieces.rows, &whole.rows), "pieces have the same rows", NULL);
    return 0;
}
