/* A file whose columns are known already, from the file before it or from a model: where each of them stands. */
#include "data/format/csv.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/format/text.h"

#include <string.h>

/* A header has at least one of the names, and no number that is no name. */
static bool looks_like_header(const gsai_schema *schema, const gsai_csv_sniff *look)
{
    size_t n_names = 0;
    for (size_t i = 0; i < look->n_columns && schema->is_named; i++) {
        const gsai_csv_seen *seen = &look->column[i];
        bool is_name = gsai_schema_find(schema, seen->first, seen->first_size) != SIZE_MAX;
        if (!is_name && seen->first_kind == GSAI_CELL_NUMBER)
            return false;
        n_names += is_name;
    }
    return n_names > 0;
}

/* Whether a file may be without a column of this kind. */
static bool may_lack(const gsai_csv *csv, gsai_field_kind kind)
{
    bool is_label = kind == GSAI_FIELD_LABEL || kind == GSAI_FIELD_WEIGHT;
    return kind == GSAI_FIELD_IGNORED || (is_label && csv->input->options->without_labels);
}

static gsa_status place_by_name(const gsai_csv *csv, const gsai_csv_sniff *look, size_t *cell_of, gsa_error *error)
{
    const gsai_schema *schema = csv->input->schema;
    char quote[GSAI_QUOTE_SIZE];
    for (size_t i = 0; i < look->n_columns; i++) {
        gsai_csv_name name;
        gsai_csv_name_of(look, i, &name);
        size_t field = gsai_schema_find(schema, name.text, name.size);
        gsai_quote(name.text, name.size, quote);
        if (field != SIZE_MAX && cell_of[field] != SIZE_MAX)
            return gsai_fail(error, GSA_ARGUMENT, "%s: two columns have the name '%s': rename one of them",
                             csv->input->name, quote);
        if (field != SIZE_MAX)
            cell_of[field] = i;
        else if (!gsai_csv_is_listed(csv->input->options->ignore, look, i))
            return gsai_fail(error, GSA_ARGUMENT,
                             "%s has a column '%s' that %s does not have: leave it out with --ignore '%s'",
                             csv->input->name, quote, csv->input->schema_from, quote);
    }
    for (size_t f = 0; f < schema->n_fields; f++)
        if (cell_of[f] == SIZE_MAX && !may_lack(csv, schema->field[f].kind))
            return gsai_fail(error, GSA_ARGUMENT, "%s has no column '%s', which %s has", csv->input->name,
                             gsai_quote(schema->field[f].name, schema->field[f].name_size, quote),
                             csv->input->schema_from);
    return GSA_OK;
}

/* The same columns in the same order; the label may be left out where it is not needed. */
static gsa_status place_by_position(const gsai_csv *csv, const gsai_csv_sniff *look, size_t *cell_of, gsa_error *error)
{
    const gsai_schema *schema = csv->input->schema;
    bool lacks_label = look->n_columns + 1 == schema->n_fields && may_lack(csv, GSAI_FIELD_LABEL);
    if (look->n_columns != schema->n_fields && !lacks_label)
        return gsai_fail(error, GSA_ARGUMENT, "%s has %zu columns%s, %s has %zu: expected the same columns",
                         csv->input->name, look->n_columns, schema->is_named ? " and no header with their names" : "",
                         csv->input->schema_from, schema->n_fields);
    size_t cell = 0;
    for (size_t f = 0; f < schema->n_fields; f++)
        if (!(lacks_label && schema->field[f].kind == GSAI_FIELD_LABEL))
            cell_of[f] = cell++;
    return GSA_OK;
}

/* Options may repeat what is known of a column, and say nothing else. */
static gsa_status check_options(const gsai_csv *csv, const gsai_csv_sniff *look, const size_t *cell_of,
                                gsa_error *error)
{
    const gsai_schema *schema = csv->input->schema;
    const gsa_reader_options *options = csv->input->options;
    const struct {
        const char *name, *list;
        gsai_field_kind kind;
    } known[] = {{"label", options->label, GSAI_FIELD_LABEL},
                 {"weight", options->weight, GSAI_FIELD_WEIGHT},
                 {"categorical", options->categorical, GSAI_FIELD_WORDS}};
    char quote[GSAI_QUOTE_SIZE];
    for (size_t f = 0; f < schema->n_fields; f++)
        for (size_t k = 0; k < 3 && cell_of[f] != SIZE_MAX; k++)
            if (schema->field[f].kind != known[k].kind && gsai_csv_is_listed(known[k].list, look, cell_of[f]))
                return gsai_fail(error, GSA_ARGUMENT, "%s: --%s contradicts %s about column '%s': leave it out",
                                 csv->input->name, known[k].name, csv->input->schema_from,
                                 gsai_quote(schema->field[f].name, schema->field[f].name_size, quote));
    return GSA_OK;
}

/* ---- the plan for rows ------------------------------------------------------------------------------------------- */

void gsai_csv_forget(gsai_csv *csv)
{
    for (size_t i = 0; i < csv->n_columns; i++)
        gsai_key_free(&csv->column[i].key, csv->env);
    gsai_free(csv->env, csv->column);
    gsai_free(csv->env, csv->term);
    gsai_free(csv->env, csv->cross);
    csv->column = NULL;
    csv->term = NULL;
    csv->cross = NULL;
    csv->n_columns = csv->n_numbers = csv->n_crosses = 0;
}

static gsa_status plan_columns(gsai_csv *csv, const size_t *cell_of, gsa_error *error)
{
    static const gsai_field_kind order[] = {GSAI_FIELD_NUMBER, GSAI_FIELD_WORDS};
    const gsai_schema *schema = csv->input->schema;
    gsai_csv_forget(csv);
    csv->label = csv->weight = SIZE_MAX;
    csv->column = gsai_alloc_zeroed(csv->env, schema->n_fields, sizeof *csv->column);
    bool has_room = csv->column != NULL;
    for (size_t k = 0; k < 2; k++)
        for (size_t f = 0; f < schema->n_fields && has_room; f++) {
            const gsai_field *field = &schema->field[f];
            if (field->kind == GSAI_FIELD_LABEL && !csv->input->options->without_labels)
                csv->label = cell_of[f];
            if (field->kind == GSAI_FIELD_WEIGHT && !csv->input->options->without_labels)
                csv->weight = cell_of[f];
            if (field->kind != order[k])
                continue;
            gsai_csv_column *column = &csv->column[csv->n_columns++];
            *column = (gsai_csv_column){.field = f, .cell = cell_of[f]};
            has_room = gsai_key_set(&column->key, field->name, field->name_size, csv->env);
            csv->n_numbers += k == 0;
        }
    return has_room ? GSA_OK : gsai_fail_memory(csv->env, error, "no memory for %zu columns", schema->n_fields);
}

/* The column of a name that the schema has. */
static size_t column_of(const gsai_csv *csv, const char *name)
{
    size_t field = gsai_schema_find(csv->input->schema, name, strlen(name)), i = 0;
    while (csv->column[i].field != field)
        i++;
    return i;
}

static gsa_status plan_crosses(gsai_csv *csv, gsa_error *error)
{
    const gsai_schema *schema = csv->input->schema;
    if (schema->n_crosses == 0)
        return GSA_OK;
    csv->term = gsai_alloc_zeroed(csv->env, csv->n_columns, sizeof *csv->term);
    csv->cross = gsai_alloc_zeroed(csv->env, schema->n_crosses, sizeof *csv->cross);
    if (!csv->term || !csv->cross)
        return gsai_fail_memory(csv->env, error, "no memory for %zu crosses", schema->n_crosses);
    for (size_t i = 0; i < csv->n_columns; i++) {
        const gsai_key *key = &csv->column[i].key;
        csv->term[i] = (gsai_term){.hash = gsai_key_hash(key, "", 0), .name = key->bytes, .name_size = key->size - 1};
    }
    for (csv->n_crosses = 0; csv->n_crosses < schema->n_crosses; csv->n_crosses++)
        for (int k = 0; k < 2; k++)
            csv->cross[csv->n_crosses][k] = column_of(csv, schema->cross[csv->n_crosses].name[k]);
    return GSA_OK;
}

gsa_status gsai_csv_match(gsai_csv *csv, gsai_csv_sniff *look, gsa_error *error)
{
    const gsai_schema *schema = csv->input->schema;
    size_t *cell_of = gsai_alloc(csv->env, schema->n_fields, sizeof *cell_of);
    if (!cell_of)
        return gsai_fail_memory(csv->env, error, "no memory for %zu columns", schema->n_fields);
    memset(cell_of, 0xFF, schema->n_fields * sizeof *cell_of); /* SIZE_MAX: nowhere */
    look->has_header = look->has_header || looks_like_header(schema, look);
    gsa_status status = look->has_header && schema->is_named ? place_by_name(csv, look, cell_of, error)
                                                             : place_by_position(csv, look, cell_of, error);
    csv->n_cells = look->n_columns;
    if (status == GSA_OK)
        status = check_options(csv, look, cell_of, error);
    if (status == GSA_OK)
        status = plan_columns(csv, cell_of, error);
    if (status == GSA_OK)
        status = plan_crosses(csv, error);
    gsai_free(csv->env, cell_of);
    return status;
}

gsa_status gsai_csv_match_same(gsai_csv *csv, const gsai_csv *other, gsa_error *error)
{
    size_t n_fields = csv->input->schema->n_fields, *cell_of = gsai_alloc_zeroed(csv->env, n_fields, sizeof *cell_of);
    if (!cell_of)
        return gsai_fail_memory(csv->env, error, "no memory for %zu columns", n_fields);
    for (size_t i = 0; i < other->n_columns; i++)
        cell_of[other->column[i].field] = other->column[i].cell;
    gsa_status status = plan_columns(csv, cell_of, error);
    if (status == GSA_OK)
        status = plan_crosses(csv, error);
    csv->label = other->label;
    csv->weight = other->weight;
    csv->n_cells = other->n_cells;
    gsai_free(csv->env, cell_of);
    return status;
}
