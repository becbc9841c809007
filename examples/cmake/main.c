/* Trains on rows in memory: five points of the line y = 2 x + 1. CMakeLists.txt shows how to build it. */
#include <greedystep/train.h>

#include <stdio.h>

int main(void)
{
    static const float x[] = {0, 1, 2, 3, 4};
    static const double y[] = {1, 3, 5, 7, 9};
    const gsa_batch rows = {.n_rows = 5, .width = 1, .value = x, .label = y};
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    gsa_model *model = NULL;
    gsa_error error;

    /* Whole numbers would be taken for classes. */
    int failed = gsa_config_new(NULL, &config, &error) != GSA_OK ||
                 gsa_config_set(config, "loss", "squared", &error) != GSA_OK ||
                 gsa_train_batch(&rows, config, NULL, NULL, &state, &error) != GSA_OK ||
                 gsa_state_finish(state, NULL, &model, &error) != GSA_OK;
    if (failed)
        fprintf(stderr, "main: %s\n", error.message);
    else
        printf("y = %.2f x + %.2f\n", (double)gsa_model_weight(model, 0, 0), gsa_model_intercept(model, 0));
    gsa_model_free(model);
    gsa_state_free(state);
    gsa_config_free(config);
    return failed;
}
