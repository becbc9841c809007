/* The meaning of a table's columns (docs/formats/csv.md has the rules): from its first block and the options or, if an
 * earlier file or a model has given it, the position of each known column. */
#include "data/format/table_rows.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/format/input_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const label_names[] = {"label", "target", "y", "class", "click", "clicked"};

static bool names_label(const gsai_seen_column *seen)
{
    for (size_t i = 0; i < sizeof label_names / sizeof *label_names; i++)
        if (gsai_equals_word(seen->first, seen->first_size, label_names[i]))
            return true;
    return false;
}

/* Whether two numbers of the first record are the same text: names would not be. */
static bool repeats(const gsai_first_rows *sniff)
{
    for (size_t i = 0; i < sniff->n_columns; i++)
        for (size_t j = 0; j < i && sniff->column[i].first_kind == GSAI_CELL_NUMBER; j++)
            if (strcmp(sniff->column[i].first, sniff->column[j].first) == 0)
                return true;
    return false;
}

/* The first record is a header if it has a word where the others have numbers or dates, or a name of labels or the one
 * asked for (NULL: none) that does not come again; unless numbers stand in it twice. */
static bool first_record_is_header(const gsai_first_rows *sniff, const char *label)
{
    for (size_t i = 0; i < sniff->n_columns; i++) {
        const gsai_seen_column *seen = &sniff->column[i];
        const gsai_seen *cells = &seen->cells;
        gsai_decided decided = gsai_seen_decide(cells, (gsai_asked){0});
        bool has_numbers = cells->numbers + cells->odd + cells->dates > 0;
        bool over_numbers = seen->first_kind == GSAI_CELL_WORD && !seen->first_again && has_numbers &&
                            (decided.kind != GSAI_FIELD_CATEGORICAL || decided.is_code);
        bool is_asked_for = label && seen->first_kind == GSAI_CELL_WORD && strcmp(seen->first, label) == 0;
        if (over_numbers || ((names_label(seen) || is_asked_for) && !seen->first_again))
            return !repeats(sniff);
    }
    return false;
}

/* The name that a header gives a column, or its number from 1, which is also that of one without a name. */
typedef struct column_name {
    const char *text;
    size_t size;
    char number[GSAI_NUMBER_TEXT];
} column_name;

static void name_of(const gsai_first_rows *sniff, size_t column, column_name *out)
{
    const gsai_seen_column *seen = &sniff->column[column];
    bool is_named = sniff->has_header && seen->first_size > 0;
    size_t size = gsai_number_text((double)(column + 1), out->number);
    out->text = is_named ? seen->first : out->number;
    out->size = is_named ? seen->first_size : size;
}

/* ---- the options ------------------------------------------------------------------------------------------------ */

/* The column that an item of a list means: by name if there is a header, else by number; SIZE_MAX if there is none. */
static size_t find_item(const gsai_first_rows *sniff, const char *item, size_t size)
{
    for (size_t i = 0; i < sniff->n_columns && sniff->has_header; i++)
        if (sniff->column[i].first_size == size && memcmp(sniff->column[i].first, item, size) == 0)
            return i;
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++) {
        if (!gsai_is_digit(item[i]) || number > sniff->n_columns)
            return SIZE_MAX;
        number = number * 10 + (uint64_t)(item[i] - '0');
    }
    return number >= 1 && number <= sniff->n_columns ? (size_t)number - 1 : SIZE_MAX;
}

/* Whether a column is in a list with commas: by name or, if no column has that name, by number. */
static bool is_listed(const char *list, const gsai_first_rows *sniff, size_t column)
{
    for (const char *item = list; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL)
        if (find_item(sniff, item, strcspn(item, ",")) == column)
            return true;
    return false;
}

/* "a, b, c ..." of a header, or how many columns there are. */
static const char *list_columns(const gsai_first_rows *sniff, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < sniff->n_columns && sniff->has_header; i++) {
        char quote[GSAI_QUOTE_SIZE];
        gsai_quote(sniff->column[i].first, sniff->column[i].first_size, quote);
        if (n + strlen(quote) + 8 > size) {
            memcpy(out + n, " ...", 5);
            break;
        }
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? ", " : "", quote);
    }
    if (!sniff->has_header)
        snprintf(out, size, "1 to %zu", sniff->n_columns);
    return out;
}

/* " (did you mean 'b'?)" if a column of the header is called nearly so, else "". */
static const char *suggest_column(const gsai_first_rows *sniff, const char *wanted, char *out, size_t size)
{
    size_t best = strlen(wanted) / 3 < 2 ? strlen(wanted) / 3 : 2;
    out[0] = '\0';
    for (size_t i = 0; i < sniff->n_columns && sniff->has_header; i++) {
        char quote[GSAI_QUOTE_SIZE];
        gsai_quote(sniff->column[i].first, sniff->column[i].first_size, quote);
        size_t distance = gsai_edit_distance(wanted, quote);
        if (distance > 0 && distance <= best) {
            snprintf(out, size, " (did you mean '%s'?)", quote);
            best = distance - 1;
        }
    }
    return out;
}

/* Whether most cells of the first record are empty, as behind a title. */
static bool is_titled(const gsai_first_rows *sniff)
{
    size_t n_empty = 0;
    for (size_t i = 0; i < sniff->n_columns; i++)
        n_empty += sniff->column[i].first_size == 0;
    return n_empty > sniff->n_columns / 2;
}

static gsa_status check_list(const gsai_tabular *table, const char *option, const char *list,
                             const gsai_first_rows *sniff, gsa_error *error)
{
    char columns[200], quote[GSAI_QUOTE_SIZE], suggestion[GSAI_QUOTE_SIZE + 32];
    for (const char *item = list; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL) {
        size_t size = strcspn(item, ",");
        gsai_quote(item, size, quote);
        if (find_item(sniff, item, size) == SIZE_MAX)
            return gsai_fail_about(
                error, option,
                gsai_fail(error, GSA_ARGUMENT, "%s: there is no column '%s'%s; the columns are %s%s%s",
                          table->input->name, quote, suggest_column(sniff, quote, suggestion, sizeof suggestion),
                          list_columns(sniff, columns, sizeof columns),
                          sniff->has_header ? "" : ", by number, since there is no header",
                          is_titled(sniff) && !gsai_is_digit(*item) ? "; remove lines before the header" : ""));
    }
    return GSA_OK;
}

static gsa_status check_lists(const gsai_tabular *table, const gsai_first_rows *sniff, gsa_error *error)
{
    const gsa_reader_options *options = table->input->options;
    GSA_TRY(check_list(table, "label", options->label, sniff, error));
    GSA_TRY(check_list(table, "weight", options->weight, sniff, error));
    GSA_TRY(check_list(table, "exposure", options->exposure, sniff, error));
    GSA_TRY(check_list(table, "categorical", options->categorical, sniff, error));
    return check_list(table, "ignore", options->ignore, sniff, error);
}

/* ---- the label -------------------------------------------------------------------------------------------------- */

static gsa_status refuse_to_guess(const gsai_tabular *table, const gsai_first_rows *sniff, size_t n_found,
                                  gsa_error *error)
{
    char columns[200];
    return gsai_fail_about(error, "label",
                           gsai_fail(error, GSA_ARGUMENT,
                                     "%s: which column is the label? %s named label, target, y, class, click or "
                                     "clicked; name one of %s",
                                     table->input->name, n_found ? "More than one is" : "None is",
                                     list_columns(sniff, columns, sizeof columns)));
}

static gsa_status find_label(const gsai_tabular *table, const gsai_first_rows *sniff, size_t *out, gsa_error *error)
{
    const char *asked = table->input->options->label;
    *out = asked ? find_item(sniff, asked, strlen(asked)) : 0;
    if (asked && *out == SIZE_MAX)
        return gsai_fail_about(
            error, "label",
            gsai_fail(error, GSA_ARGUMENT, "%s: the label is %s, expected one column", table->input->name, asked));
    if (asked || !sniff->has_header)
        return GSA_OK;
    size_t n_found = 0;
    for (size_t i = 0; i < sniff->n_columns; i++)
        if (names_label(&sniff->column[i])) {
            *out = i;
            n_found++;
        }
    return n_found == 1 ? GSA_OK : refuse_to_guess(table, sniff, n_found, error);
}

/* ---- a schema from the first block ------------------------------------------------------------------------------ */

/* Before it is known whether there is a header, a name of the first record is one. Without labels weights are not read.
 */
static size_t find_weight(const gsai_tabular *table, const gsai_first_rows *sniff, bool has_header)
{
    const char *asked = table->input->options->weight;
    gsai_first_rows named = *sniff;
    named.has_header = has_header;
    return asked && !table->input->options->without_labels ? find_item(&named, asked, strlen(asked)) : SIZE_MAX;
}

void gsai_tabular_find_weight(const gsai_tabular *table, gsai_first_rows *sniff)
{
    sniff->weight = find_weight(table, sniff, true);
}

/* What the cells of a column are, where no option says so. */
static gsai_field_kind decide(const gsai_tabular *table, gsai_seen_column *seen, bool is_label)
{
    const gsa_reader_options *options = table->input->options;
    const char *missing = options->missing ? options->missing : options->without_offsets ? "none" : NULL;
    gsai_asked asked = {.missing = missing, .locale = table->locale, .is_label = is_label};
    if (options->decimal)
        asked.decimal = (char)(*options->decimal == 'c' ? ',' : '.');
    if (options->dates)
        asked.order = *options->dates;
    if (seen->is_date)
        seen->decided =
            (gsai_decided){.kind = GSAI_FIELD_DATE, .reading = {.decimal = '.', .has_time = seen->cells.has_time}};
    else if (!seen->is_category)
        seen->decided = gsai_seen_decide(&seen->cells, asked);
    seen->decided.is_far = seen->decided.is_far && !options->without_offsets;
    return seen->decided.kind;
}

static gsai_field_kind kind_of(const gsai_tabular *table, const gsai_first_rows *sniff, size_t column, size_t label)
{
    const gsa_reader_options *options = table->input->options;
    gsai_seen_column *seen = &sniff->column[column];
    seen->decided = (gsai_decided){.kind = GSAI_FIELD_CATEGORICAL, .is_plain = true};
    if (column == label) {
        if (!is_listed(options->categorical, sniff, column))
            decide(table, seen, true);
        seen->decided.is_far = false; /* labels are doubles */
        return GSAI_FIELD_LABEL;
    }
    if (is_listed(options->weight, sniff, column))
        return GSAI_FIELD_WEIGHT;
    if (is_listed(options->exposure, sniff, column))
        return GSAI_FIELD_EXPOSURE;
    if (is_listed(options->ignore, sniff, column) || is_listed(options->keep, sniff, column))
        return GSAI_FIELD_IGNORED;
    return is_listed(options->categorical, sniff, column) ? GSAI_FIELD_CATEGORICAL : decide(table, seen, false);
}

/* Numbers with two readings are never guessed. */
static gsa_status check_ambiguous(const gsai_tabular *table, const gsai_first_rows *sniff, size_t column,
                                  gsa_error *error)
{
    const gsai_seen_column *seen = &sniff->column[column];
    if (!seen->decided.is_ambiguous || seen->decided.kind != GSAI_FIELD_NUMBER)
        return GSA_OK;
    column_name name;
    name_of(sniff, column, &name);
    char quote[GSAI_QUOTE_SIZE], held[GSAI_QUOTE_SIZE];
    return gsai_fail_about(error, "decimal",
                           gsai_fail(error, GSA_ARGUMENT,
                                     "%s: column '%s' holds '%s', which is ambiguous: the %s may separate thousands or "
                                     "decimals; say which mark comes before decimals, point or comma",
                                     table->input->name, gsai_quote(name.text, name.size, quote),
                                     gsai_quote(seen->cells.ambiguous, strlen(seen->cells.ambiguous), held),
                                     strchr(seen->cells.ambiguous, ',') ? "comma" : "point"));
}

/* The first record is a row where it is no header. */
static void see_first_row(const gsai_tabular *table, gsai_first_rows *sniff)
{
    double weight = 1;
    gsai_number number;
    if (sniff->weight != SIZE_MAX) {
        const gsai_seen_column *seen = &sniff->column[sniff->weight];
        gsai_number_parse_float(table->locale, seen->first, &number);
        bool is_whole = number.after == seen->first + seen->first_size;
        weight = is_whole && number.value >= 0 && isfinite(number.value) ? number.value : 0;
    }
    for (size_t i = 0; i < sniff->n_columns; i++)
        gsai_seen_add(&sniff->column[i].cells, table->locale, sniff->column[i].first, sniff->column[i].first_size,
                      weight);
    sniff->n_rows++;
}

void gsai_tabular_see_value(const gsai_tabular *table, gsai_first_rows *sniff, size_t column, const char *text,
                            size_t size, double weight)
{
    gsai_seen_column *seen = &sniff->column[column];
    double value =
        gsai_seen_add_value(&seen->cells, table->locale, seen->decided.is_plain ? NULL : &seen->decided.reading,
                            seen->decided.kind == GSAI_FIELD_DATE, text, size, weight);
    if (column != sniff->label || isnan(value) || sniff->n_label_values > GSAI_CLASSES_ANYWHERE)
        return;
    size_t i = 0;
    while (i < sniff->n_label_values && sniff->label_value[i] != value)
        i++;
    if (value != floor(value) || i == GSAI_CLASSES_ANYWHERE)
        sniff->n_label_values = GSAI_CLASSES_ANYWHERE + 1;
    else if (i == sniff->n_label_values)
        sniff->label_value[sniff->n_label_values++] = value;
}

/* Settles the label, whose values were read again if its cells are not plain numbers. Dates are refused; words among
 * few whole numbers are names of classes as those are, among other numbers they are missing. */
static gsa_status settle_label(const gsai_tabular *table, gsai_first_rows *sniff, gsa_error *error)
{
    gsai_seen_column *seen = &sniff->column[sniff->label];
    column_name name;
    char quote[GSAI_QUOTE_SIZE];
    if (seen->decided.kind == GSAI_FIELD_DATE) {
        name_of(sniff, sniff->label, &name);
        return gsai_fail_about(
            error, "categorical",
            gsai_fail(error, GSA_ARGUMENT,
                      "%s: the label '%s' holds dates, and a label is a number or a class: make it a "
                      "number, such as days, or treat the column as categorical",
                      table->input->name, gsai_quote(name.text, name.size, quote)));
    }
    if (seen->decided.kind == GSAI_FIELD_NUMBER && seen->cells.n_words > 0 && seen->cells.odd == 0 &&
        sniff->n_label_values <= GSAI_CLASSES_ANYWHERE)
        seen->decided = (gsai_decided){.kind = GSAI_FIELD_CATEGORICAL, .is_plain = true};
    return GSA_OK;
}

/* Decides all columns, and the values of those that are no plain numbers. */
static gsa_status decide_all(gsai_tabular *table, gsai_first_rows *sniff, size_t label, gsai_field_kind *kind,
                             gsa_error *error)
{
    bool is_odd = false, has_commas = false;
    for (size_t i = 0; i < sniff->n_columns; i++) {
        kind[i] = kind_of(table, sniff, i, label);
        const gsai_decided *decided = &sniff->column[i].decided;
        has_commas = has_commas || (decided->kind == GSAI_FIELD_NUMBER && decided->reading.decimal == ',');
    }
    for (size_t i = 0; i < sniff->n_columns; i++) {
        gsai_seen_column *seen = &sniff->column[i];
        bool may_group = has_commas && seen->decided.reading.decimal == '.' &&
                         seen->decided.kind == GSAI_FIELD_NUMBER && gsai_seen_may_group_by_points(&seen->cells) &&
                         !table->input->options->decimal;
        seen->decided.is_ambiguous = seen->decided.is_ambiguous || may_group;
        GSA_TRY(check_ambiguous(table, sniff, i, error));
        if (!gsai_tabular_is_read_again(sniff, seen))
            continue;
        is_odd = true;
        gsai_seen_forget_values(&seen->cells);
    }
    GSA_TRY(is_odd ? sniff->again(table, sniff, error) : GSA_OK);
    return settle_label(table, sniff, error);
}

static gsa_status add_fields(gsai_tabular *table, gsai_first_rows *sniff, size_t label, gsa_error *error)
{
    gsai_schema *schema = table->input->schema;
    gsai_field_kind *kind = gsai_alloc(table->env, sniff->n_columns, sizeof *kind);
    GSAI_TRY_MEMORY(kind, table->env, error, "no memory for %zu columns", sniff->n_columns);
    sniff->label = label;
    gsa_status status = decide_all(table, sniff, label, kind, error);
    for (size_t i = 0; i < sniff->n_columns && status == GSA_OK; i++) {
        const gsai_seen_column *seen = &sniff->column[i];
        column_name name;
        name_of(sniff, i, &name);
        status = gsai_schema_add(schema, name.text, name.size, kind[i], error);
        bool is_number = kind[i] == GSAI_FIELD_NUMBER || kind[i] == GSAI_FIELD_DATE;
        bool is_exact = seen->is_date || gsai_tabular_is_read_again(sniff, seen);
        bool may_be_far = is_number && is_exact && !table->input->options->without_offsets;
        double offset = may_be_far ? gsai_seen_offset(&seen->cells) : 0;
        if (status == GSA_OK && is_number) {
            gsai_schema_set_offset(schema, offset);
            status = gsai_schema_set_reading(schema, gsai_seen_mean(&seen->cells, offset),
                                             seen->decided.is_plain ? NULL : &seen->decided.reading, error);
        }
        bool is_read = seen->decided.kind == GSAI_FIELD_NUMBER && (!seen->decided.is_plain || seen->cells.is_marked);
        if (status == GSA_OK && i == label && is_read)
            status = gsai_schema_set_reading(schema, 0, &seen->decided.reading, error);
        if (status == GSA_OK && i == label)
            schema->field[i].is_class =
                seen->is_category || seen->decided.is_code || is_listed(table->input->options->categorical, sniff, i);
        if (status != GSA_OK)
            gsai_error_prefix(error, "%s: ", table->input->name);
    }
    gsai_free(table->env, kind);
    return status;
}

static gsa_status add_crosses(gsai_tabular *table, const gsai_first_rows *sniff, gsa_error *error)
{
    const char *list = table->input->options->cross, *name[2];
    size_t size[2];
    gsa_status status;
    while ((status = gsai_schema_next_cross(&list, name, size, error)) == GSA_OK) {
        for (int k = 0; k < 2; k++) {
            size_t column = find_item(sniff, name[k], size[k]);
            if (size[k] > 0 && column != SIZE_MAX) {
                name[k] = table->input->schema->field[column].name;
                size[k] = table->input->schema->field[column].name_size;
            }
        }
        status = gsai_schema_add_cross(table->input->schema, name, size, error);
        if (status != GSA_OK)
            break;
    }
    if (status == GSA_END)
        return GSA_OK;
    gsai_error_prefix(error, "%s: ", table->input->name);
    return status;
}

/* Numbers that are missing values: a list of at most GSAI_MISSING_NUMBERS, or none. */
static gsa_status check_missing(const gsai_tabular *table, gsa_error *error)
{
    gsai_reading reading = {0};
    const char *list = table->input->options->missing;
    double value;
    gsa_status status = list && strcmp(list, "none") == 0 ? GSA_END : GSA_OK;
    while (status == GSA_OK && (status = gsai_next_number(table->locale, &list, &value, error)) == GSA_OK)
        if (!gsai_reading_add_sentinel(&reading, value))
            return gsai_fail_about(error, "missing",
                                   gsai_fail(error, GSA_ARGUMENT, "too many missing values: expected at most %d",
                                             (int)GSAI_MISSING_NUMBERS));
    return status == GSA_END ? GSA_OK : status;
}

static gsa_status infer(gsai_tabular *table, gsai_first_rows *sniff, gsa_error *error)
{
    gsai_schema *schema = table->input->schema;
    size_t label = 0;
    sniff->has_header = sniff->has_header || first_record_is_header(sniff, table->input->options->label);
    schema->is_named = sniff->has_header;
    if (!sniff->has_header) {
        size_t before = sniff->weight;
        sniff->weight = find_weight(table, sniff, false);
        sniff->all_again = sniff->weight != before;
        see_first_row(table, sniff);
    }
    schema->bits = table->input->options->bits ? table->input->options->bits : GSAI_DEFAULT_BITS;
    gsa_status status = check_lists(table, sniff, error);
    if (status == GSA_OK)
        status = check_missing(table, error);
    if (status == GSA_OK)
        status = find_label(table, sniff, &label, error);
    if (status == GSA_OK)
        status = add_fields(table, sniff, label, error);
    if (status == GSA_OK)
        status = add_crosses(table, sniff, error);
    if (status == GSA_OK && schema->n_of_kind[GSAI_FIELD_WEIGHT] > 1)
        status = gsai_fail_about(
            error, "weight",
            gsai_fail(error, GSA_ARGUMENT, "%s: more than one column of weights; name one", table->input->name));
    if (status == GSA_OK && schema->n_of_kind[GSAI_FIELD_EXPOSURE] > 1)
        status = gsai_fail_about(
            error, "exposure",
            gsai_fail(error, GSA_ARGUMENT, "%s: more than one column of exposures; name one", table->input->name));
    if (status == GSA_OK)
        status = gsai_schema_complete(schema, error);
    if (status != GSA_OK)
        gsai_schema_free(schema);
    return status;
}

/* ---- a file whose columns are known ----------------------------------------------------------------------------- */

/* A header has at least one of the names, and no number that is no name. */
static bool has_known_names(const gsai_schema *schema, const gsai_first_rows *sniff)
{
    size_t n_names = 0;
    for (size_t i = 0; i < sniff->n_columns && schema->is_named; i++) {
        const gsai_seen_column *seen = &sniff->column[i];
        bool is_name = gsai_schema_find(schema, seen->first, seen->first_size) != SIZE_MAX;
        if (!is_name && seen->first_kind == GSAI_CELL_NUMBER)
            return false;
        n_names += is_name;
    }
    return n_names > 0;
}

/* Whether the first record is a header with none of the names: it has no number, and stands over numbers. */
static bool has_other_names(const gsai_tabular *table, const gsai_first_rows *sniff)
{
    const gsai_schema *schema = table->input->schema;
    bool is_over_numbers = first_record_is_header(sniff, NULL);
    for (size_t i = 0; i < sniff->n_columns; i++) {
        const gsai_seen_column *seen = &sniff->column[i];
        gsai_number number;
        if (seen->first_kind == GSAI_CELL_NUMBER)
            return false;
        is_over_numbers =
            is_over_numbers || (sniff->n_columns == schema->n_fields && seen->first_kind == GSAI_CELL_WORD &&
                                schema->field[i].kind == GSAI_FIELD_NUMBER &&
                                gsai_read_number(table->locale, schema->field[i].reading, seen->first, seen->first_size,
                                                 &number) == GSAI_VALUE_WRONG);
    }
    return is_over_numbers && schema->is_named;
}

/* Whether a file may be without a column of this kind. */
static bool may_lack(const gsai_tabular *table, gsai_field_kind kind)
{
    const gsa_reader_options *options = table->input->options;
    bool is_label = kind == GSAI_FIELD_LABEL || kind == GSAI_FIELD_WEIGHT || kind == GSAI_FIELD_EXPOSURE;
    bool is_weight = kind == GSAI_FIELD_WEIGHT && options->without_weights && !options->weight;
    return kind == GSAI_FIELD_IGNORED || is_weight || (is_label && options->without_labels);
}

/* Names the columns of the schema that the file lacks: all of them, so that one message is enough. */
static gsa_status check_complete(const gsai_tabular *table, const gsai_first_rows *sniff, const size_t *cell_of,
                                 gsa_error *error)
{
    enum { NAMED = 3 };
    const gsai_schema *schema = table->input->schema;
    char names[NAMED * (GSAI_QUOTE_SIZE + 4) + 64] = "", quote[GSAI_QUOTE_SIZE], columns[200];
    size_t n = 0, size = 0;
    for (size_t f = 0; f < schema->n_fields; f++) {
        if (cell_of[f] != SIZE_MAX || may_lack(table, schema->field[f].kind))
            continue;
        if (n++ < NAMED)
            size += (size_t)snprintf(names + size, sizeof names - size, "%s'%s'%s", n > 1 ? ", " : "",
                                     gsai_quote(schema->field[f].name, schema->field[f].name_size, quote),
                                     schema->field[f].kind == GSAI_FIELD_EXPOSURE ? " (exposure of the counts)" : "");
    }
    if (n == 0)
        return GSA_OK;
    if (n > NAMED)
        snprintf(names + size, sizeof names - size, " and %zu more", n - NAMED);
    return gsai_fail(error, GSA_ARGUMENT, "%s has no column%s %s, which %s has; its columns are %s", table->input->name,
                     n == 1 ? "" : "s", names, table->input->schema_from, list_columns(sniff, columns, sizeof columns));
}

static gsa_status match_by_name(const gsai_tabular *table, const gsai_first_rows *sniff, size_t *cell_of,
                                gsa_error *error)
{
    const gsai_schema *schema = table->input->schema;
    char quote[GSAI_QUOTE_SIZE];
    column_name name;
    for (size_t i = 0; i < sniff->n_columns; i++) {
        name_of(sniff, i, &name);
        size_t field = gsai_schema_find(schema, name.text, name.size);
        gsai_quote(name.text, name.size, quote);
        if (field == SIZE_MAX)
            continue;
        if (cell_of[field] != SIZE_MAX)
            return gsai_fail(error, GSA_ARGUMENT, "%s: columns %zu and %zu have the same name '%s': rename one of them",
                             table->input->name, cell_of[field] + 1, i + 1, quote);
        gsai_field_kind kind = schema->field[field].kind;
        bool is_feature = kind == GSAI_FIELD_NUMBER || kind == GSAI_FIELD_CATEGORICAL || kind == GSAI_FIELD_DATE;
        if (is_feature && is_listed(table->input->options->ignore, sniff, i))
            return gsai_fail_about(error, "ignore",
                                   gsai_fail(error, GSA_ARGUMENT, "%s: %s needs the column '%s': it cannot be ignored",
                                             table->input->name, table->input->schema_from, quote));
        cell_of[field] = i;
    }
    GSA_TRY(check_complete(table, sniff, cell_of, error));
    for (size_t i = 0; i < sniff->n_columns; i++) {
        name_of(sniff, i, &name);
        if (gsai_schema_find(schema, name.text, name.size) == SIZE_MAX &&
            !is_listed(table->input->options->ignore, sniff, i) && !is_listed(table->input->options->keep, sniff, i))
            return gsai_fail_about(
                error, "ignore",
                gsai_fail(error, GSA_ARGUMENT, "%s has a column '%s' that %s does not have; ignore it",
                          table->input->name, gsai_quote(name.text, name.size, quote), table->input->schema_from));
    }
    return GSA_OK;
}

/* The same columns in the same order; the label may be left out where it is not needed. */
static gsa_status match_by_position(const gsai_tabular *table, const gsai_first_rows *sniff, size_t *cell_of,
                                    gsa_error *error)
{
    const gsai_schema *schema = table->input->schema;
    bool lacks_label = sniff->n_columns + 1 == schema->n_fields && may_lack(table, GSAI_FIELD_LABEL);
    if (sniff->n_columns != schema->n_fields && !lacks_label)
        return gsai_fail(error, GSA_ARGUMENT, "%s has %zu columns%s, %s has %zu: expected the same columns",
                         table->input->name, sniff->n_columns,
                         schema->is_named ? " and no header with their names" : "", table->input->schema_from,
                         schema->n_fields);
    size_t cell = 0;
    for (size_t f = 0; f < schema->n_fields; f++)
        if (!(lacks_label && schema->field[f].kind == GSAI_FIELD_LABEL))
            cell_of[f] = cell++;
    return GSA_OK;
}

/* Options may repeat what is known of a column, and say nothing else. */
static gsa_status check_options(const gsai_tabular *table, const gsai_first_rows *sniff, const size_t *cell_of,
                                gsa_error *error)
{
    const gsai_schema *schema = table->input->schema;
    const gsa_reader_options *options = table->input->options;
    const struct {
        const char *name, *list;
        gsai_field_kind kind;
    } known[] = {{"label", options->label, GSAI_FIELD_LABEL},
                 {"weight", options->weight, GSAI_FIELD_WEIGHT},
                 {"exposure", options->exposure, GSAI_FIELD_EXPOSURE},
                 {"categorical", options->categorical, GSAI_FIELD_CATEGORICAL}};
    char quote[GSAI_QUOTE_SIZE];
    for (size_t f = 0; f < schema->n_fields; f++)
        for (size_t k = 0; k < sizeof known / sizeof *known && cell_of[f] != SIZE_MAX; k++)
            if (schema->field[f].kind != known[k].kind && is_listed(known[k].list, sniff, cell_of[f]) &&
                !(schema->field[f].is_class && known[k].kind == GSAI_FIELD_CATEGORICAL))
                return gsai_fail_about(error, known[k].name,
                                       gsai_fail(error, GSA_ARGUMENT,
                                                 "%s: a %s column contradicts %s about '%s'; leave it out",
                                                 table->input->name, known[k].name, table->input->schema_from,
                                                 gsai_quote(schema->field[f].name, schema->field[f].name_size, quote)));
    return GSA_OK;
}

static gsa_status match(gsai_tabular *table, gsai_first_rows *sniff, gsa_error *error)
{
    const gsai_schema *schema = table->input->schema;
    size_t *cell_of = gsai_alloc(table->env, schema->n_fields, sizeof *cell_of);
    GSAI_TRY_MEMORY(cell_of, table->env, error, "no memory for %zu columns", schema->n_fields);
    memset(cell_of, 0xFF, schema->n_fields * sizeof *cell_of); /* SIZE_MAX: nowhere */
    sniff->has_header = sniff->has_header || has_known_names(schema, sniff) || has_other_names(table, sniff);
    gsa_status status = sniff->has_header && schema->is_named ? match_by_name(table, sniff, cell_of, error)
                                                              : match_by_position(table, sniff, cell_of, error);
    table->n_cells = sniff->n_columns;
    if (status == GSA_OK)
        status = check_options(table, sniff, cell_of, error);
    if (status == GSA_OK)
        status = gsai_tabular_plan(table, cell_of, error);
    gsai_free(table->env, cell_of);
    return status;
}

gsa_status gsai_tabular_match_same(gsai_tabular *table, const gsai_tabular *other, gsa_error *error)
{
    size_t n_fields = table->input->schema->n_fields,
           *cell_of = gsai_alloc_zeroed(table->env, n_fields, sizeof *cell_of);
    GSAI_TRY_MEMORY(cell_of, table->env, error, "no memory for %zu columns", n_fields);
    for (size_t i = 0; i < other->n_columns; i++)
        cell_of[other->column[i].field] = other->column[i].cell;
    gsa_status status = gsai_tabular_plan(table, cell_of, error);
    if (status == GSA_OK)
        status = gsai_tabular_keep_same(table, other, error);
    table->label = other->label;
    table->weight = other->weight;
    table->exposure = other->exposure;
    table->n_cells = other->n_cells;
    gsai_free(table->env, cell_of);
    return status;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

/* The columns whose texts are kept. */
static gsa_status find_kept(gsai_tabular *table, const gsai_first_rows *sniff, gsa_error *error)
{
    const char *list = table->input->options->keep;
    size_t n = list != NULL;
    for (const char *at = list; at && *at; at++)
        n += *at == ',';
    GSA_TRY(check_list(table, "keep", list, sniff, error));
    GSA_TRY(gsai_tabular_keep_room(table, n, error));
    for (const char *item = list; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL)
        table->kept[table->n_kept++] = find_item(sniff, item, strcspn(item, ","));
    return GSA_OK;
}

gsa_status gsai_tabular_settle(gsai_tabular *table, gsai_first_rows *sniff, gsa_error *error)
{
    gsai_format_input *input = table->input;
    bool is_new = !input->schema->text;
    if (is_new)
        GSA_TRY(infer(table, sniff, error));
    GSA_TRY(match(table, sniff, error));
    GSA_TRY(find_kept(table, sniff, error));
    if (input->options->remember_names)
        GSA_TRY(gsai_feature_names_begin(input->names, input->schema->bits, table->env, error));
    if (input->description[0] == '\0')
        gsai_tabular_describe(table, sniff, is_new);
    return GSA_OK;
}

void gsai_first_rows_free(gsai_tabular *table, gsai_first_rows *sniff)
{
    for (size_t i = 0; i < sniff->n_columns; i++)
        gsai_free(table->env, sniff->column[i].first);
    gsai_free(table->env, sniff->column);
}
