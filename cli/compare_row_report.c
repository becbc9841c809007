/* What every method came to on each test row after its last pass, as CSV. Written while the methods run, since keeping
 * it would take memory for methods x seeds x rows. */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <string.h>

void compare_write_row_titles(const compare_grid *grid)
{
    fputs("method,parameters,seed,pass,row,loss,correct\n", grid->row_stream);
}

/* A loss of NaN: the method diverged. Numbers are never correct. */
static void write_result(FILE *stream, const compare_score *score)
{
    if (isnan(score->loss))
        fputs("nan,\n", stream);
    else if (isnan(score->accuracy))
        fprintf(stream, "%.9g,\n", score->loss);
    else
        fprintf(stream, "%.9g,%d\n", score->loss, score->accuracy > 0);
}

gsa_status compare_write_row_results(const compare_grid *grid, size_t method, const compare_task *task,
                                     const gsa_model *model, const gsa_env *env, gsa_error *error)
{
    const compare_method *learned = &grid->methods[method];
    char parameters[COMPARE_PARAMETERS_SIZE];
    compare_method_parameters(learned, parameters);
    for (size_t row = 0; row < task->test.n_rows && !ferror(grid->row_stream); row++) {
        compare_score score = {NAN, NAN, NAN};
        gsa_status status = model != NULL ? compare_judge_row(task, model, row, env, &score, error) : GSA_OK;
        if (status != GSA_OK)
            return status;
        size_t number = task->test_number != NULL ? task->test_number[row] : row;
        fprintf(grid->row_stream, "%s,%s,%zu,%zu,%zu,", learned->name, parameters, (size_t)task->seed, grid->n_passes,
                number);
        write_result(grid->row_stream, &score);
    }
    if (ferror(grid->row_stream))
        return gsai_fail(error, GSA_IO, "cannot write the results of --rows: %s", strerror(errno));
    return GSA_OK;
}
