/* One line about the first table, for people: how the reader understood it. */
#include "data/format/table_rows.h"

#include "base/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Adds to the description, as far as it fits. */
static void tell(const gsai_tabular *table, const char *format, ...) GSAI_PRINTF(2, 3);
static void tell(const gsai_tabular *table, const char *format, ...)
{
    char *text = table->input->description;
    size_t n = strlen(text), room = sizeof table->input->description - n;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text + n, room, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= room)
        memcpy(text + n, n + 5 < sizeof table->input->description ? " ..." : "",
               n + 5 < sizeof table->input->description ? 5 : 1);
}

/* How a column is written, if that is not plain: "in $, with commas between thousands". */
static void tell_reading(const gsai_tabular *table, const gsai_seen_column *seen, const char *name)
{
    const gsai_reading *reading = &seen->decided.reading;
    const char *group = reading->group == ' '    ? "blanks"
                        : reading->group == ','  ? "commas"
                        : reading->group == '\'' ? "apostrophes"
                                                 : "points";
    tell(table, "; '%s' is ", name);
    if (seen->decided.kind == GSAI_FIELD_DATE)
        tell(table, "a date%s", reading->order == 'd' ? ", day first" : reading->order == 'm' ? ", month first" : "");
    else
        tell(table, "a number%s%s%s%s%s%s", *reading->unit ? " in " : "", reading->unit,
             reading->decimal == ',' ? ", decimals behind a comma" : "", reading->group ? ", " : "",
             reading->group ? group : "", reading->group ? " between thousands" : "");
    for (size_t i = 0; i < reading->n_missing - reading->n_sentinels; i++) {
        char quote[GSAI_QUOTE_SIZE];
        tell(table, "%s'%s'", i ? ", " : ", missing where it holds ",
             gsai_quote(reading->missing[i], strlen(reading->missing[i]), quote));
    }
}

/* Which numbers are taken for missing ones, and which might be: "-999 means missing in 'temp' (120 rows)". */
static void tell_sentinels(const gsai_tabular *table, const gsai_first_rows *sniff)
{
    size_t n_columns = 0;
    for (size_t i = 0; i < sniff->n_columns; i++) {
        const gsai_seen_column *seen = &sniff->column[i];
        const gsai_field *field = &table->input->schema->field[i];
        size_t n = seen->cells.n_sentinels, n_missing = seen->decided.reading.n_missing;
        if (field->kind != GSAI_FIELD_NUMBER || n == 0 || n_columns++ > 0)
            continue;
        char name[GSAI_QUOTE_SIZE];
        tell(table, "; ");
        for (size_t k = n_missing - seen->decided.reading.n_sentinels; k < n_missing; k++)
            tell(table, "%s%s", seen->decided.reading.missing[k], k + 1 < n_missing ? ", " : "");
        tell(table, " means missing in '%s' (%zu rows)", gsai_quote(field->name, field->name_size, name), n);
    }
    if (n_columns > 1)
        tell(table, " and %zu more column%s", n_columns - 1, n_columns == 2 ? "" : "s");
    for (size_t i = 0; i < sniff->n_columns; i++) {
        const gsai_seen_column *seen = &sniff->column[i];
        const gsai_field *field = &table->input->schema->field[i];
        double value;
        size_t n = seen->decided.kind == GSAI_FIELD_NUMBER ? gsai_seen_suspect(&seen->cells, &value) : 0;
        bool is_label = field->kind == GSAI_FIELD_LABEL;
        if (n == 0 || (!is_label && (field->kind != GSAI_FIELD_NUMBER || table->input->options->missing ||
                                     gsai_is_sentinel(&seen->decided.reading, value))))
            continue;
        char name[GSAI_QUOTE_SIZE], number[GSAI_NUMBER_TEXT];
        gsai_number_text(value, number);
        tell(table, "; '%s' is %s in %zu rows: if that means missing, %s",
             gsai_quote(field->name, field->name_size, name), number, n,
             is_label ? "leave them out" : "say so by the option missing");
    }
}

enum { MAX_OFFSETS = 3 }; /* named in the description */

/* That of dates as one, with its time unless it is midnight. */
static void put_offset(const gsai_field *field, char out[GSAI_NUMBER_TEXT])
{
    gsai_number_text(field->offset, out);
    if (field->kind != GSAI_FIELD_DATE || !(fabs(field->offset) < 1e6))
        return;
    int64_t seconds = (int64_t)floor(field->offset * 86400 + 0.5), time = (seconds % 86400 + 86400) % 86400;
    gsai_calendar day = gsai_calendar_of((seconds - time) / 86400);
    int size = snprintf(out, GSAI_NUMBER_TEXT, "%04d-%02d-%02d", (int)day.year, day.month, day.day);
    if (time > 0)
        snprintf(out + size, GSAI_NUMBER_TEXT - (size_t)size, " %02d:%02d:%02d", (int)(time / 3600),
                 (int)(time / 60 % 60), (int)(time % 60));
}

/* Names the classes that differ in upper and lower case only. */
static void tell_cases(const gsai_tabular *table, const gsai_seen *cells)
{
    size_t n_words = cells->n_different < GSAI_MISSING_WORDS ? cells->n_different : GSAI_MISSING_WORDS, n_told = 0;
    for (size_t i = 0; i < n_words; i++) {
        bool has_twin = false;
        for (size_t j = 0; j < n_words && !has_twin; j++) {
            const char *a = cells->word[i], *b = cells->word[j];
            while (*a && (*a == *b || ((*a ^ *b) == 0x20 && (unsigned char)((*a | 0x20) - 'a') < 26))) {
                a++;
                b++;
            }
            has_twin = i != j && *a == '\0' && *b == '\0';
        }
        if (has_twin)
            tell(table, "%s'%s'",
                 n_told++ ? ", " : "; classes that differ in case only, and are different: ", cells->word[i]);
    }
}

/* What the cells of the rows that decide are, where a reader would not expect it. */
static void tell_oddities(const gsai_tabular *table, const gsai_first_rows *sniff)
{
    const gsai_schema *schema = table->input->schema;
    size_t n_missing = 0, n_columns = 0, n_offsets = 0;
    char first[GSAI_QUOTE_SIZE] = "";
    for (size_t i = 0; i < sniff->n_columns; i++) {
        const gsai_seen_column *seen = &sniff->column[i];
        const gsai_field *field = &schema->field[i];
        char name[GSAI_QUOTE_SIZE];
        gsai_quote(field->name, field->name_size, name);
        bool is_number = field->kind == GSAI_FIELD_NUMBER || field->kind == GSAI_FIELD_DATE;
        size_t n = is_number ? seen->cells.n_missing + seen->cells.n_words + seen->cells.n_sentinels : 0;
        n_missing += n;
        if (n > 0 && n_columns++ == 0)
            memcpy(first, name, sizeof name);
        bool is_formatted =
            !seen->decided.is_plain && (seen->cells.odd > 0 || seen->decided.kind == GSAI_FIELD_DATE ||
                                        seen->decided.reading.n_missing > seen->decided.reading.n_sentinels);
        if ((is_number || field->kind == GSAI_FIELD_LABEL) && is_formatted)
            tell_reading(table, seen, name);
        else if (seen->is_text && seen->decided.kind == GSAI_FIELD_NUMBER && seen->cells.numbers > 0)
            tell(table, "; '%s' is text that holds numbers", name);
        const gsai_seen *cells = &seen->cells;
        if (seen->decided.kind == GSAI_FIELD_CATEGORICAL && cells->units_differ &&
            cells->odd > cells->numbers + cells->dates + cells->words)
            tell(table, "; '%s' is categorical, since its numbers have different units, such as '%s' and '%s'", name,
                 cells->other_unit, cells->unit);
        if (field->kind == GSAI_FIELD_LABEL)
            tell_cases(table, cells);
        if (seen->decided.is_code)
            tell(table, "; '%s' is categorical, since zeros stand before its digits", name);
        if (field->offset != 0 && n_offsets++ < MAX_OFFSETS) {
            char offset[GSAI_NUMBER_TEXT];
            put_offset(field, offset);
            tell(table, "; '%s' is measured from %s", name, offset);
        }
        if (seen->decided.is_ambiguous)
            tell(table,
                 "; '%s' is categorical: '%s' may have the day or the month first; the option dates says which, "
                 "day-first or "
                 "month-first",
                 name, seen->cells.ambiguous);
    }
    if (n_offsets > MAX_OFFSETS)
        tell(table, "; so are %zu more columns, from other numbers", n_offsets - MAX_OFFSETS);
    tell_sentinels(table, sniff);
    if (n_missing == 0)
        return;
    tell(table, "; %zu missing value%s", n_missing, n_missing == 1 ? "" : "s");
    if (n_columns == 1)
        tell(table, " in '%s'", first);
    else
        tell(table, " in %zu columns", n_columns);
    tell(table, "%s, replaced by the column mean", sniff->is_all ? "" : " of the first rows");
}

void gsai_tabular_describe(const gsai_tabular *table, const gsai_first_rows *sniff, bool is_new)
{
    const gsai_schema *schema = table->input->schema;
    size_t n_words = table->n_columns - table->n_numbers, n_ignored = schema->n_of_kind[GSAI_FIELD_IGNORED], f = 0;
    char label[GSAI_QUOTE_SIZE], words[48] = "", bits[32] = "", ignored[32] = "", crosses[32] = "";
    const char separator = table->records.separator, *mark = schema->is_named ? "'" : "";
    while (f + 1 < schema->n_fields && schema->field[f].kind != GSAI_FIELD_LABEL)
        f++;
    if (n_words > 0)
        snprintf(words, sizeof words, " and %zu categorical", n_words);
    if (table->n_crosses > 0)
        snprintf(crosses, sizeof crosses, ", %zu cross%s", table->n_crosses, table->n_crosses == 1 ? "" : "es");
    if (n_words + table->n_crosses > 0)
        snprintf(bits, sizeof bits, " (hashed to 2^%u slots)", schema->bits);
    if (n_ignored > 0)
        snprintf(ignored, sizeof ignored, ", %zu ignored", n_ignored);
    snprintf(
        table->input->description, sizeof table->input->description,
        "%s: %s, %s; label is %s%s%s%s, %zu numeric%s column%s%s%s%s", table->input->name,
        table->records.keys ? "JSON lines"
        : separator == ','  ? "comma-separated"
        : separator == ';'  ? "semicolon-separated"
        : separator == '\t' ? "tab-separated"
        : separator == '|'  ? "bar-separated"
                            : "columns with types",
        table->records.keys ? "columns found by name"
        : separator == '\0' ? "found by name"
        : sniff->has_header ? "with a header"
                            : "no header",
        schema->is_named ? mark : "column ", gsai_quote(schema->field[f].name, schema->field[f].name_size, label), mark,
        schema->n_of_kind[GSAI_FIELD_EXPOSURE] > 0  ? " per unit of exposure"
        : schema->n_of_kind[GSAI_FIELD_WEIGHT] == 0 ? ""
        : table->weight != SIZE_MAX                 ? ", rows have weights"
                                                    : ", rows lack their weights",
        table->n_numbers, words, (n_words > 0 ? n_words : table->n_numbers) == 1 ? "" : "s", crosses, bits, ignored);
    if (is_new)
        tell_oddities(table, sniff);
}
