/* The results: every record as a line of CSV, and a table of what each method came to. */
#include "compare.h"

#include "cli/style.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

/* A field in quotes if it needs them, as RFC 4180 has it. */
static void write_field(FILE *stream, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text != '\0'; text++)
        fprintf(stream, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', stream);
}

/* Preceded by its comma; empty where it is not defined. */
static void write_number(FILE *stream, double number)
{
    if (isfinite(number))
        fprintf(stream, ",%.9g", number);
    else
        fputc(',', stream);
}

static void write_record(const compare_grid *grid, FILE *stream, size_t method, size_t seed, size_t pass,
                         compare_part part)
{
    static const char *const parts[] = {[COMPARE_TRAIN] = "train", [COMPARE_TEST] = "test"};
    char parameters[COMPARE_PARAMETERS_SIZE];
    const compare_record *record = compare_grid_at(grid, method, seed, pass);
    const compare_score *score = &record->score[part];
    write_field(stream, grid->data_name);
    fprintf(stream, ",%s,%s,%zu,%zu,%s", grid->methods[method].name,
            compare_method_parameters(&grid->methods[method], parameters), pass + 1, seed, parts[part]);
    if (record->diverged)
        fputs(",nan", stream);
    else
        write_number(stream, score->loss);
    write_number(stream, score->accuracy);
    write_number(stream, score->auc);
    write_number(stream, record->step);
    write_number(stream, record->seconds);
    fputc('\n', stream);
}

bool compare_write_csv(const compare_grid *grid, FILE *stream)
{
    fputs("data,method,parameters,pass,seed,split,loss,accuracy,auc,mean_step,seconds\n", stream);
    for (size_t method = 0; method < grid->n_methods; method++)
        for (size_t seed = 0; seed < grid->n_seeds; seed++)
            for (size_t pass = 0; pass < grid->n_passes; pass++)
                for (compare_part part = COMPARE_TRAIN; part < COMPARE_PARTS; part++)
                    write_record(grid, stream, method, seed, pass, part);
    return !ferror(stream);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum { N_COLUMNS = 2 + COMPARE_MEASURES, CELL_SIZE = COMPARE_PARAMETERS_SIZE };
typedef char table_row[N_COLUMNS][CELL_SIZE];

static void fill_measure(const compare_grid *grid, size_t method, compare_measure measure, double best,
                         char cell[CELL_SIZE])
{
    compare_spread spread = compare_grid_spread(grid, method, measure);
    const char *mark = measure == COMPARE_LOSS && spread.mean == best ? " *" : "";
    size_t n_diverged = compare_grid_diverged(grid, method);
    if (n_diverged > 0 && measure == COMPARE_LOSS)
        snprintf(cell, CELL_SIZE, "diverged with %zu of %zu seeds", n_diverged, grid->n_seeds);
    else if (isnan(spread.mean))
        cell[0] = '\0';
    else if (grid->n_seeds == 1)
        snprintf(cell, CELL_SIZE, "%.5g%s", spread.mean, mark);
    else
        snprintf(cell, CELL_SIZE, "%.5g (%.5g..%.5g)%s", spread.mean, spread.min, spread.max, mark);
}

static void fill_table(const compare_grid *grid, table_row *rows)
{
    static const char *const titles[N_COLUMNS] = {"method", "parameters", "loss", "accuracy", "auc"};
    double best = NAN; /* if every method diverged */
    for (size_t method = 0; method < grid->n_methods; method++)
        best = fmin(best, compare_grid_spread(grid, method, COMPARE_LOSS).mean);
    for (size_t column = 0; column < N_COLUMNS; column++)
        snprintf(rows[0][column], CELL_SIZE, "%s", titles[column]);
    for (size_t method = 0; method < grid->n_methods; method++) {
        char(*row)[CELL_SIZE] = rows[method + 1];
        snprintf(row[0], CELL_SIZE, "%s", grid->methods[method].name);
        compare_method_parameters(&grid->methods[method], row[1]);
        for (size_t measure = 0; measure < COMPARE_MEASURES; measure++)
            fill_measure(grid, method, (compare_measure)measure, best, row[2 + measure]);
    }
}

/* Columns as wide as their widest cell; one that is empty but for its title is left out. */
static void print_rows(const table_row *rows, size_t n_rows)
{
    size_t width[N_COLUMNS] = {0};
    for (size_t column = 0; column < N_COLUMNS; column++) {
        for (size_t row = 1; row < n_rows; row++)
            width[column] = strlen(rows[row][column]) > width[column] ? strlen(rows[row][column]) : width[column];
        if (width[column] > 0 && width[column] < strlen(rows[0][column]))
            width[column] = strlen(rows[0][column]);
    }
    for (size_t row = 0; row < n_rows; row++) {
        size_t gap = 0; /* spaces that wait for a cell: no line ends with any */
        fputs(row == 0 ? style_begin(stdout, STYLE_HEADING) : "", stdout);
        for (size_t column = 0; column < N_COLUMNS; column++) {
            size_t length = width[column] > 0 ? strlen(rows[row][column]) : 0;
            if (length > 0)
                printf("%*s%s", (int)gap, "", rows[row][column]);
            gap = (length > 0 ? 0 : gap) + (width[column] > 0 ? width[column] - length + 2 : 0);
        }
        fputs(row == 0 ? style_end(stdout, STYLE_HEADING) : "", stdout);
        putchar('\n');
    }
}

void compare_print_table(const compare_grid *grid)
{
    table_row *rows = calloc(grid->n_methods + 1, sizeof *rows);
    if (rows == NULL)
        return; /* the file has it all */
    fill_table(grid, rows);
    printf("%zu training rows, %zu test rows; after %zu pass%s%s", grid->n_train, grid->n_test, grid->n_passes,
           grid->n_passes == 1 ? "" : "es", grid->n_seeds == 1 ? "\n" : "");
    if (grid->n_seeds > 1)
        printf(", mean of %zu seeds (min..max)\n", grid->n_seeds);
    print_rows((const table_row *)rows, grid->n_methods + 1);
    free(rows);
}
