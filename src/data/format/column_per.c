/* Customers: the values of a column that have an intercept and slopes of their own, beside those of all. */
#include "data/format/input_text.h"
#include "data/format/table_rows.h"

#include <math.h>

/* Values of slopes, in deviations of their columns. Solved rows have factors for the rest of it. Where rows are learned
 * one after the other, values count as they are given, and a half of them is a quarter of the step: of one pass over
 * generated customers the loss is .638 with 1, .622 with 1/2 and 1/4, and .616 for rows that are solved. */
#define SLOPE 0.5F

/* Adds the intercept, 1, and a slope for each number of the row, measured from the mean of its column, so that one that
 * is missing has none. A customer's features stand side by side behind those of words. */
static const char *add_per(gsai_tabular *table, size_t i, const gsai_text_cell *cell, gsai_features *features)
{
    const gsai_text_cell inner = gsai_cell_trim(*cell);
    const gsai_schema *schema = table->input->schema;
    const gsai_key *key = &table->column[i].key;
    gsai_feature_names *names = table->input->names;
    if (gsai_is_missing(inner.text, inner.size))
        return NULL;
    const uint64_t hash = gsai_key_hash(key, inner.text, inner.size), n_features = gsai_schema_per_customer(schema);
    const uint64_t n_customers = (table->id_mask + 1) / n_features;
    const uint32_t id = (uint32_t)(table->id_mask + 1 + hash % n_customers * n_features);
    const gsai_term customer = {hash, 1, key->bytes, inner.text, key->size - 1, inner.size};
    const size_t n = features->n;
    if (gsai_feature_names_is_new(names, id))
        gsai_feature_names_enter(names, id, key->bytes, key->size - 1, inner.text, inner.size);
    gsai_features_add(features, table->first_hashed + id, 1);
    for (uint32_t j = 0, t = 0; j < table->n_numbers; j++) {
        const gsai_tabular_column *column = &table->column[j];
        const bool is_there = t < n && features->index[t] == j;
        const float off = (is_there ? features->value[t] : 0) - column->field->mean;
        const float value = SLOPE * off / column->field->deviation;
        t += is_there;
        if (!isfinite(value) || value == 0) /* offsets, and columns that did not vary, have no deviation */
            continue;
        const gsai_term number = {.name = column->key.bytes, .name_size = column->key.size - 1};
        gsai_cross_enter(names, id + 1 + j, &customer, &number);
        gsai_features_add(features, table->first_hashed + id + 1 + j, value);
    }
    if (table->cells)
        table->cells[i] = hash;
    return NULL;
}

const gsai_column_kind gsai_kind_per = {.word = "per", .add = add_per};
