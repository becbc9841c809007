/* The list of all kinds of columns. */
#include "data/format/column_kinds.h"

#include "data/format/column_category.h"
#include "data/format/column_date.h"
#include "data/format/column_number.h"
#include "data/format/input_text.h"

#include <math.h>

/* Labels, and columns that options name: rows read them, and they have no features. */
static const gsai_column_kind gsai_kind_label = {.word = "label"}, gsai_kind_weight = {.word = "weight"},
                              gsai_kind_exposure = {.word = "exposure"}, gsai_kind_ignored = {.word = "ignored"};

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

void gsai_column_see(gsai_column_stats *stats, const gsai_number_locale *locale, const char *text, size_t size,
                     double weight)
{
    if (gsai_is_missing(text, size)) {
        stats->n_missing++;
        stats->is_marked = stats->is_marked || !gsai_is_absent(text, size);
        return;
    }
    bool has_units = stats->units_differ && stats->odd > 1000;
    if (has_units || stats->n_different > GSAI_MISSING_WORDS) { /* what else comes, it is categorical */
        stats->n_words += !has_units;
        *(has_units ? &stats->odd : &stats->words) += weight;
        return;
    }
    const gsai_column_kind *const *kind = kinds;
    while (!(*kind)->see(stats, locale, text, size, weight)) /* the last of them takes every cell */
        kind++;
}

double gsai_column_see_value(gsai_column_stats *stats, const gsai_number_locale *locale, const gsai_decided *decided,
                             const char *text, size_t size, double weight)
{
    double value;
    gsai_cell_value is =
        kinds[decided->kind]->read(locale, decided->is_plain ? NULL : &decided->reading, text, size, &value);
    stats->n_sentinels += is == GSAI_VALUE_MISSING && !isnan(value);
    if (is != GSAI_VALUE)
        return (double)NAN;
    gsai_stats_add_value(stats, value, weight);
    return value;
}

gsai_decided gsai_column_decide(const gsai_column_stats *stats, const gsai_asked *asked)
{
    gsai_decided out = {.is_plain = true, .reading = {.decimal = '.'}};
    while (!kinds[out.kind]->recognise(stats, asked, &out)) /* the last of them is categorical */
        out.kind++;
    return out;
}
