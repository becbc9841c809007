/* Categorical columns. */
#include "data/format/column_category.h"

#include "data/format/column_stats.h"
#include "data/format/input_text.h"
#include "data/format/table_rows.h"

#include <string.h>

/* Counts any cell, and keeps a few different ones: among numbers they stand for missing ones. */
static bool see_category(gsai_column_stats *stats, const gsai_number_locale *locale, const char *text, size_t size,
                         double weight)
{
    (void)locale;
    stats->n_words++;
    stats->words += weight;
    for (size_t i = 0; i < stats->n_different && i < GSAI_MISSING_WORDS; i++)
        if (gsai_is_word(text, size, stats->word[i]))
            return true;
    bool fits = stats->n_different < GSAI_MISSING_WORDS && size < GSAI_MISSING_SIZE && gsai_is_text(text, size);
    if (fits)
        memcpy(stats->word[stats->n_different], text, size);
    stats->n_different = fits ? stats->n_different + 1 : GSAI_MISSING_WORDS + 1;
    return true;
}

static bool recognise_categories(const gsai_column_stats *stats, const gsai_asked *asked, gsai_decided *out)
{
    (void)stats;
    (void)asked;
    out->is_plain = true;
    out->reading = (gsai_reading){0};
    return true;
}

void gsai_tabular_add_hash(gsai_tabular *table, size_t i, uint64_t hash, gsai_features *features)
{
    gsai_features_add(features, table->first_hashed + (uint32_t)(hash & table->id_mask), 1);
    if (table->cells)
        table->cells[i] = hash;
}

uint64_t gsai_tabular_add_category(gsai_tabular *table, size_t i, const char *text, size_t size,
                                   gsai_features *features)
{
    gsai_tabular_column *column = &table->column[i];
    uint64_t hash = gsai_key_hash(&column->key, text, size);
    uint32_t id = (uint32_t)(hash & table->id_mask);
    if (gsai_feature_names_expect(table->input->names, id)) {
        column->word = text;
        column->word_size = size;
        column->id = id;
    }
    gsai_tabular_add_hash(table, i, hash, features);
    if (table->term) {
        gsai_term *term = &table->term[i];
        *term = (gsai_term){hash, 1, term->name, text, term->name_size, size};
    }
    return hash;
}

static const char *add_category(gsai_tabular *table, size_t i, const gsai_text_cell *cell, gsai_features *features)
{
    gsai_text_cell inner = gsai_cell_trim(*cell);
    if (!gsai_is_missing(inner.text, inner.size))
        gsai_tabular_add_category(table, i, inner.text, inner.size, features);
    return NULL;
}

const gsai_column_kind gsai_kind_category = {
    .word = "words", .see = see_category, .recognise = recognise_categories, .add = add_category};
