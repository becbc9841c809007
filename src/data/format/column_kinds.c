/* The list of all kinds of columns, and categories, which any cell can be. */
#include "data/format/column_stats.h"

#include "data/format/input_text.h"
#include "data/format/table_rows.h"

#include <string.h>

/* ---- categories ------------------------------------------------------------------------------------------------- */

/* Counts any cell that is not kept yet, and keeps a few different ones: among numbers they stand for missing ones. */
static bool see_category(gsai_column_stats *stats, const gsai_number_locale *locale, const char *text, size_t size,
                         double weight)
{
    (void)locale;
    stats->n_words++;
    stats->words += weight;
    bool fits = stats->n_different < GSAI_MISSING_WORDS && size < GSAI_MISSING_SIZE && gsai_is_text(text, size);
    if (fits)
        memcpy(stats->word[stats->n_different], text, size);
    stats->n_different = fits ? stats->n_different + 1 : GSAI_MISSING_WORDS + 1;
    return true;
}

static const char *add_category(gsai_tabular *table, size_t i, const gsai_text_cell *cell, gsai_features *features)
{
    const gsai_text_cell inner = gsai_cell_trim(*cell);
    if (gsai_is_missing(inner.text, inner.size))
        return NULL;
    uint64_t hash = gsai_key_hash(&table->column[i].key, inner.text, inner.size);
    gsai_feature_names_expect(table->input->names, (uint32_t)(hash & table->id_mask));
    gsai_tabular_add_word(table, i, inner.text, inner.size, hash, features);
    if (table->term) {
        gsai_term *term = &table->term[i];
        *term = (gsai_term){hash, 1, term->name, inner.text, term->name_size, inner.size};
    }
    return NULL;
}

static bool recognise_categories(const gsai_column_stats *stats, const gsai_asked *asked, gsai_decided *out)
{
    (void)out;
    return asked->is_label || !gsai_stats_are_texts(stats);
}

static const gsai_column_kind gsai_kind_category = {
    .word = "words", .see = see_category, .recognise = recognise_categories, .add = add_category};

/* ---- all kinds -------------------------------------------------------------------------------------------------- */

/* Labels, and columns that options name: rows read them, and they have no features. */
static const gsai_column_kind gsai_kind_label = {.word = "label"}, gsai_kind_weight = {.word = "weight"},
                              gsai_kind_exposure = {.word = "exposure"}, gsai_kind_group = {.word = "group"},
                              gsai_kind_ignored = {.word = "ignored"};

static const gsai_column_kind *const kinds[] = {
#define ADDRESS(NAME, name) &gsai_kind_##name,
    GSAI_KINDS(ADDRESS)};

const gsai_column_kind *gsai_kind_at(gsai_field_kind kind)
{
    return kinds[kind];
}

gsai_field_kind gsai_kind_find(const char *word, size_t size)
{
    int kind = 0;
    while (kind < GSAI_FIELD_KINDS && !gsai_is_word(word, size, kinds[kind]->word))
        kind++;
    return (gsai_field_kind)kind;
}

void gsai_column_see_any(gsai_column_stats *stats, const gsai_number_locale *locale, const char *text, size_t size,
                         double weight)
{
    if (gsai_is_missing(text, size)) {
        stats->n_missing++;
        stats->is_marked = stats->is_marked || !gsai_is_absent(text, size);
        return;
    }
    if (gsai_stats_have_units(stats)) { /* what else comes, it is categorical */
        stats->odd += weight;
        return;
    }
    if (stats->n_different > GSAI_MISSING_WORDS) {
        stats->n_words++;
        stats->words += weight;
        return;
    }
    const gsai_column_kind *const *kind = kinds;
    for (size_t i = 0; i < stats->n_different; i++)
        if (gsai_is_word(text, size, stats->word[i])) { /* whose kind is known */
            stats->n_words++;
            stats->words += weight;
            return;
        }
    while (!(*kind)->see(stats, locale, text, size, weight)) /* the last of them takes every cell */
        kind++;
}

gsai_decided gsai_column_decide(const gsai_column_stats *stats, const gsai_asked *asked)
{
    gsai_decided out = {.is_plain = true, .reading = {.decimal = '.'}};
    while (kinds[out.kind]->recognise && !kinds[out.kind]->recognise(stats, asked, &out))
        out.kind++;
    if (!kinds[out.kind]->read)
        out.reading = (gsai_reading){0};
    return out;
}
