/* Trains on a table, saves the model, loads it and predicts new rows.
 *
 *   cc minimal.c -o minimal $(pkg-config --cflags --libs greedystep)
 *   ./minimal ../data/visits.csv my.model ../data/new.csv
 *
 * Prints a label and its probability for each new row (../expected/minimal.txt). */
#include <greedystep/train.h>

#include <stdio.h>

static gsa_status print(void *ctx, const gsa_predictions *some, gsa_error *error)
{
    (void)ctx;
    if (fwrite(some->text, 1, some->text_size, stdout) == some->text_size && fflush(stdout) == 0)
        return GSA_OK;
    snprintf(error->message, sizeof error->message, "cannot write to standard output");
    return GSA_IO;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return fprintf(stderr, "usage: minimal ROWS MODEL NEW_ROWS\n"), 2;
    const char *const rows[] = {argv[1]}, *const new_rows[] = {argv[3]};
    const gsa_reader_options labelled = {.size = sizeof labelled, .label = "bought"},
                             unlabelled = {.size = sizeof unlabelled, .without_labels = 1};
    const gsa_predict_hooks hooks = {.size = sizeof hooks, .text = GSA_TEXT_LINES, .take = print};
    gsa_reader *reader = NULL, *new_reader = NULL;
    gsa_state *state = NULL;
    gsa_model *model = NULL, *loaded = NULL;
    gsa_error error;

    int failed = gsa_reader_open(rows, 1, &labelled, NULL, NULL, &reader, &error) != GSA_OK ||
                 gsa_state_new(NULL, NULL, &state, &error) != GSA_OK ||     /* with every parameter at its default */
                 gsa_train(state, reader, NULL, NULL, &error) != GSA_OK ||  /* as many passes as help */
                 gsa_state_finish(state, NULL, &model, &error) != GSA_OK || /* read-only from here on */
                 gsa_model_save(model, argv[2], &error) != GSA_OK ||
                 gsa_model_load(argv[2], NULL, NULL, &loaded, &error) != GSA_OK ||
                 gsa_reader_open(new_rows, 1, &unlabelled, NULL, NULL, &new_reader, &error) != GSA_OK ||
                 gsa_reader_set_schema(new_reader, gsa_model_schema(loaded), &error) != GSA_OK || /* columns by name */
                 gsa_predict(loaded, new_reader, &hooks, NULL, &error) != GSA_OK;
    if (failed)
        fprintf(stderr, "minimal: %s\n", error.message);
    gsa_reader_close(new_reader);
    gsa_reader_close(reader);
    gsa_model_free(loaded);
    gsa_model_free(model);
    gsa_state_free(state);
    return failed;
}
