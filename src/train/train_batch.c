/* Training on rows in memory: a reader of one batch. */
#include <greedystep/train.h>

typedef struct given_rows {
    const gsa_batch *rows;
    int is_read;
} given_rows;

static gsa_status next_rows(void *ctx, gsa_batch *out, gsa_error *error)
{
    given_rows *given = ctx;
    (void)error;
    if (given->is_read)
        return GSA_END;
    given->is_read = 1;
    *out = *given->rows;
    return GSA_OK;
}

static gsa_status rewind_rows(void *ctx, gsa_error *error)
{
    given_rows *given = ctx;
    (void)error;
    given->is_read = 0;
    return GSA_OK;
}

gsa_status gsa_train_batch(const gsa_batch *rows, const gsa_config *config, const gsa_memory *memory,
                           const gsa_call *call, gsa_state **out, gsa_error *error)
{
    given_rows given = {.rows = rows};
    gsa_row_source source = {.size = sizeof source, .ctx = &given, .next = next_rows, .rewind = rewind_rows};
    gsa_reader *reader = NULL;
    gsa_state *state = NULL;
    gsa_status status = gsa_reader_open_rows(&source, memory, call, &reader, error);
    if (status == GSA_OK)
        status = gsa_state_new(config, memory, &state, error);
    if (status == GSA_OK)
        status = gsa_train(state, reader, NULL, call, error);
    gsa_reader_close(reader);
    if (status != GSA_OK && error && error->line > 0 && !rows->place)
        error->row = error->line - 1; /* the reader numbers rows from 1 */
    if (status == GSA_OK)
        *out = state;
    else
        gsa_state_free(state);
    return status;
}
