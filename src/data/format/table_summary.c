/* One line about the first table, for people: how the reader understood it. */
#include "data/format/table_summary.h"

#include "base/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Adds to the description, as far as it fits. */
GSAI_PRINTF(2, 3) static void tell(const gsai_tabular *table, const char *format, ...)
{
    char *text = table->input->description;
    size_t n = strlen(text), room = sizeof table->input->description - n;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text + n, room, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= room)
        snprintf(text + n, room, "%s", room > 5 ? " ..." : "");
}

/* Tells which numbers are taken for missing ones, and which might be: "-999 means missing in 'temp' (120 rows)". */
static void tell_sentinels(const gsai_tabular *table, const gsai_first_rows *first)
{
    size_t n_columns = 0;
    char number[GSAI_NUMBER_TEXT];
    for (size_t i = 0; i < first->n_columns; i++) {
        const gsai_seen_column *seen = &first->column[i];
        const gsai_reading *reading = &seen->decided.reading;
        if (seen->kind != GSAI_FIELD_NUMBER || seen->cells.n_sentinels == 0 || n_columns++ > 0)
            continue;
        for (size_t k = reading->n_missing - reading->n_sentinels; k < reading->n_missing; k++)
            tell(table, "%s%s", k == reading->n_missing - reading->n_sentinels ? "; " : ", ", reading->missing[k]);
        tell(table, " means missing in '%s' (%zu rows)", seen->quote, seen->cells.n_sentinels);
    }
    if (n_columns > 1)
        tell(table, " and %zu more column%s", n_columns - 1, n_columns == 2 ? "" : "s");
    for (size_t i = 0; i < first->n_columns; i++) {
        const gsai_seen_column *seen = &first->column[i];
        double value;
        size_t n = seen->decided.kind == GSAI_FIELD_NUMBER ? gsai_stats_suspect(&seen->cells, &value) : 0;
        bool is_label = seen->kind == GSAI_FIELD_LABEL;
        if (n == 0 || (!is_label && (seen->kind != GSAI_FIELD_NUMBER || table->input->options->missing ||
                                     gsai_is_sentinel(&seen->decided.reading, value))))
            continue;
        gsai_number_text(value, number);
        tell(table, "; '%s' is %s in %zu rows: if that means missing, %s", seen->quote, number, n,
             is_label ? "leave them out" : "say so by the option missing");
    }
}

/* Names the classes that differ in upper and lower case only. */
static void tell_cases(const gsai_tabular *table, const gsai_column_stats *cells)
{
    size_t n_words = cells->n_different < GSAI_MISSING_WORDS ? cells->n_different : GSAI_MISSING_WORDS, n_told = 0;
    for (size_t i = 0; i < n_words; i++) {
        bool has_twin = false;
        for (size_t j = 0; j < n_words && !has_twin; j++) {
            const char *a = cells->word[i], *b = cells->word[j];
            while (*a && (*a == *b || ((*a ^ *b) == 0x20 && gsai_is_letter(*a)))) {
                a++;
                b++;
            }
            has_twin = i != j && a != cells->word[i] && *a == '\0' && *b == '\0'; /* long words are empty */
        }
        if (has_twin)
            tell(table, "%s'%s'",
                 n_told++ ? ", " : "; classes that differ in case only, and are different: ", cells->word[i]);
    }
}

/* Tells what the cells of the rows that decide are, where a reader would not expect it. */
static void tell_oddities(const gsai_tabular *table, const gsai_first_rows *first)
{
    enum { MAX_OFFSETS = 3 }; /* that are named */
    size_t n_missing = 0, n_columns = 0, n_offsets = 0;
    char where[GSAI_QUOTE_SIZE + 2] = "", quote[GSAI_QUOTE_SIZE], text[GSAI_READING_TEXT];
    for (size_t i = 0; i < first->n_columns; i++) {
        const gsai_seen_column *seen = &first->column[i];
        const gsai_column_stats *cells = &seen->cells;
        const gsai_decided *decided = &seen->decided;
        const double from = table->input->schema->field[i].offset;
        const char *name = seen->quote;
        const gsai_column_kind *kind = gsai_kind_at(seen->kind);
        size_t n = kind->has_number ? cells->n_missing + cells->n_words + cells->n_sentinels : 0;
        n_missing += n;
        if (n > 0 && n_columns++ == 0)
            snprintf(where, sizeof where, "'%s'", name);
        const gsai_reading *reading = &decided->reading;
        size_t n_words = reading->n_missing - reading->n_sentinels;
        bool is_formatted = !decided->is_plain && (cells->odd > 0 || decided->kind != GSAI_FIELD_NUMBER || n_words > 0);
        if ((kind->has_number || seen->kind == GSAI_FIELD_LABEL) && is_formatted) {
            gsai_kind_at(decided->kind)->tell(reading, text); /* "a number in $, commas between thousands" */
            tell(table, "; '%s' is %s", name, text);
            for (size_t k = 0; k < n_words; k++)
                tell(table, "%s'%s'", k ? ", " : ", missing where it holds ",
                     gsai_quote(reading->missing[k], strlen(reading->missing[k]), quote));
        } else if (seen->is_text && decided->kind == GSAI_FIELD_NUMBER && cells->numbers > 0)
            tell(table, "; '%s' is text that holds numbers", name);
        if (decided->kind == GSAI_FIELD_CATEGORICAL && cells->units_differ &&
            cells->odd > cells->numbers + cells->dates + cells->words)
            tell(table, "; '%s' is categorical, since its numbers have different units, such as '%s' and '%s'", name,
                 cells->other_unit, cells->unit);
        if (seen->kind == GSAI_FIELD_LABEL)
            tell_cases(table, cells);
        if (decided->is_code)
            tell(table, "; '%s' is categorical, since zeros stand before its digits", name);
        if (from != 0 && n_offsets++ < MAX_OFFSETS) {
            kind->put_offset(from, text);
            tell(table, "; '%s' is measured from %s", name, text);
        }
        if (decided->is_ambiguous)
            tell(table,
                 "; '%s' is categorical: '%s' may have the day or the month first; the option dates says which, "
                 "day-first or month-first",
                 name, cells->ambiguous);
    }
    if (n_offsets > MAX_OFFSETS)
        tell(table, "; so are %zu more columns, from other numbers", n_offsets - MAX_OFFSETS);
    tell_sentinels(table, first);
    if (n_columns > 1)
        snprintf(where, sizeof where, "%zu columns", n_columns);
    if (n_missing > 0)
        tell(table, "; %zu missing value%s in %s%s, replaced by the column mean", n_missing, n_missing == 1 ? "" : "s",
             where, first->is_all ? "" : " of the first rows");
}

void gsai_tabular_describe(const gsai_tabular *table, const gsai_first_rows *first, bool is_new)
{
    const gsai_schema *schema = table->input->schema;
    size_t n_numbers = table->n_numbers - schema->n_of_kind[GSAI_FIELD_OFFSET];
    size_t n_words = schema->n_of_kind[GSAI_FIELD_CATEGORICAL], n_texts = schema->n_of_kind[GSAI_FIELD_TEXT];
    size_t n_ignored = schema->n_of_kind[GSAI_FIELD_IGNORED], f = 0;
    char label[GSAI_QUOTE_SIZE];
    const char separator = table->records.separator, *mark = schema->is_named ? "'" : "";
    while (f + 1 < schema->n_fields && schema->field[f].kind != GSAI_FIELD_LABEL)
        f++;
    tell(table, "%s: ", table->input->name);
    if (table->records.keys)
        tell(table, "JSON lines, columns found by name");
    else if (separator == '\0')
        tell(table, "columns with types, found by name");
    else
        tell(table, "%s-separated, %s",
             separator == ','    ? "comma"
             : separator == ';'  ? "semicolon"
             : separator == '\t' ? "tab"
                                 : "bar",
             first->has_header ? "with a header" : "no header");
    tell(table, "; label is %s%s%s%s%s, %zu numeric", schema->is_named ? mark : "column ",
         gsai_quote(schema->field[f].name, schema->field[f].name_size, label), mark,
         schema->n_of_kind[GSAI_FIELD_EXPOSURE] > 0  ? " per unit of exposure"
         : schema->n_of_kind[GSAI_FIELD_WEIGHT] == 0 ? ""
         : table->weight != SIZE_MAX                 ? ", rows have weights"
                                                     : ", rows lack their weights",
         schema->n_of_kind[GSAI_FIELD_OFFSET] > 0 ? ", rows have offsets" : "", n_numbers);
    if (n_words > 0)
        tell(table, n_texts > 0 ? ", %zu categorical" : " and %zu categorical", n_words);
    if (n_texts > 0)
        tell(table, " and %zu text", n_texts);
    tell(table, " column%s", (n_texts > 0 ? n_texts : n_words > 0 ? n_words : n_numbers) == 1 ? "" : "s");
    if (table->n_crosses > 0)
        tell(table, ", %zu cross%s", table->n_crosses, table->n_crosses == 1 ? "" : "es");
    for (f = 0; f < schema->n_fields; f++)
        if (schema->field[f].kind == GSAI_FIELD_PER)
            tell(table, ", an intercept and slopes per %s%s%s", mark,
                 gsai_quote(schema->field[f].name, schema->field[f].name_size, label), mark);
    if (n_words + n_texts + table->n_crosses + schema->n_of_kind[GSAI_FIELD_PER] > 0)
        tell(table, " (hashed to 2^%u slots)", schema->bits);
    if (n_ignored > 0)
        tell(table, ", %zu ignored", n_ignored);
    if (is_new)
        tell_oddities(table, first);
}
