/* What the columns of a table mean, from its first block and the options: docs/formats/csv.md has the rules. */
#include "data/format/csv.h"

#include "base/error.h"
#include "data/format/text.h"

#include <stdio.h>
#include <string.h>

static const char *const label_names[] = {"label", "target", "y", "class", "click", "clicked"};

static bool names_label(const gsai_csv_seen *seen)
{
    for (size_t i = 0; i < sizeof label_names / sizeof *label_names; i++)
        if (gsai_equals_word(seen->first, seen->first_size, label_names[i]))
            return true;
    return false;
}

/* Whether two numbers of the first record are the same text: names would not be. */
static bool repeats(const gsai_csv_sniff *look)
{
    for (size_t i = 0; i < look->n_columns; i++)
        for (size_t j = 0; j < i && look->column[i].first_kind == GSAI_CELL_NUMBER; j++)
            if (strcmp(look->column[i].first, look->column[j].first) == 0)
                return true;
    return false;
}

/* The first record is a header if it has a word where all others have numbers, or a name of labels that does not come
 * again; unless numbers stand in it twice. */
static bool looks_like_header(const gsai_csv_sniff *look)
{
    for (size_t i = 0; i < look->n_columns; i++) {
        const gsai_csv_seen *seen = &look->column[i];
        bool over_numbers = seen->first_kind == GSAI_CELL_WORD && seen->n_words == 0 && seen->n_numbers > 0;
        if (over_numbers || (names_label(seen) && !seen->first_again))
            return !repeats(look);
    }
    return false;
}

void gsai_csv_name_of(const gsai_csv_sniff *look, size_t column, gsai_csv_name *out)
{
    const gsai_csv_seen *seen = &look->column[column];
    bool is_named = look->has_header && seen->first_size > 0;
    size_t size = gsai_number_text((double)(column + 1), out->number);
    out->text = is_named ? seen->first : out->number;
    out->size = is_named ? seen->first_size : size;
}

/* ---- the options ------------------------------------------------------------------------------------------------ */

/* The column that an item of a list means: by name if there is a header, else by number; SIZE_MAX if there is none. */
static size_t find_item(const gsai_csv_sniff *look, const char *item, size_t size)
{
    for (size_t i = 0; i < look->n_columns && look->has_header; i++)
        if (look->column[i].first_size == size && memcmp(look->column[i].first, item, size) == 0)
            return i;
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++) {
        if (!gsai_is_digit(item[i]) || number > look->n_columns)
            return SIZE_MAX;
        number = number * 10 + (uint64_t)(item[i] - '0');
    }
    return number >= 1 && number <= look->n_columns ? (size_t)number - 1 : SIZE_MAX;
}

bool gsai_csv_is_listed(const char *list, const gsai_csv_sniff *look, size_t column)
{
    for (const char *item = list; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL)
        if (find_item(look, item, strcspn(item, ",")) == column)
            return true;
    return false;
}

/* "a, b, c ..." of a header, or how many columns there are. */
static const char *list_columns(const gsai_csv_sniff *look, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < look->n_columns && look->has_header; i++) {
        char quote[GSAI_QUOTE_SIZE];
        gsai_quote(look->column[i].first, look->column[i].first_size, quote);
        if (n + strlen(quote) + 8 > size) {
            memcpy(out + n, " ...", 5);
            break;
        }
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? ", " : "", quote);
    }
    if (!look->has_header)
        snprintf(out, size, "1 to %zu", look->n_columns);
    return out;
}

static gsa_status check_list(const gsai_csv *csv, const char *option, const char *list, const gsai_csv_sniff *look,
                             gsa_error *error)
{
    char columns[200], quote[GSAI_QUOTE_SIZE];
    for (const char *item = list; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL) {
        size_t size = strcspn(item, ",");
        if (find_item(look, item, size) == SIZE_MAX)
            return gsai_fail(error, GSA_ARGUMENT, "%s: there is no column '%s' (--%s); the columns are %s%s",
                             csv->input->name, gsai_quote(item, size, quote), option,
                             list_columns(look, columns, sizeof columns),
                             look->has_header ? "" : ", by number, since there is no header");
    }
    return GSA_OK;
}

static gsa_status check_lists(const gsai_csv *csv, const gsai_csv_sniff *look, gsa_error *error)
{
    const gsa_reader_options *options = csv->input->options;
    gsa_status status = check_list(csv, "label", options->label, look, error);
    if (status == GSA_OK)
        status = check_list(csv, "weight", options->weight, look, error);
    if (status == GSA_OK)
        status = check_list(csv, "categorical", options->categorical, look, error);
    return status == GSA_OK ? check_list(csv, "ignore", options->ignore, look, error) : status;
}

/* ---- the label -------------------------------------------------------------------------------------------------- */

static gsa_status refuse_to_guess(const gsai_csv *csv, const gsai_csv_sniff *look, size_t n_found, gsa_error *error)
{
    char columns[200], quote[GSAI_QUOTE_SIZE];
    const gsai_csv_seen *last = &look->column[look->n_columns - 1];
    return gsai_fail(error, GSA_ARGUMENT,
                     "%s: which column is the label? %s named label, target, y, class, click or clicked; say it, for "
                     "example: --label '%s' (the columns are %s)",
                     csv->input->name, n_found ? "More than one is" : "None is",
                     gsai_quote(last->first, last->first_size, quote), list_columns(look, columns, sizeof columns));
}

static gsa_status find_label(const gsai_csv *csv, const gsai_csv_sniff *look, size_t *out, gsa_error *error)
{
    const char *asked = csv->input->options->label;
    *out = asked ? find_item(look, asked, strlen(asked)) : 0;
    if (asked && *out == SIZE_MAX)
        return gsai_fail(error, GSA_ARGUMENT, "%s: --label %s: expected one column", csv->input->name, asked);
    if (asked || !look->has_header)
        return GSA_OK;
    size_t n_found = 0;
    for (size_t i = 0; i < look->n_columns; i++)
        if (names_label(&look->column[i])) {
            *out = i;
            n_found++;
        }
    return n_found == 1 ? GSA_OK : refuse_to_guess(csv, look, n_found, error);
}

/* ---- all together ----------------------------------------------------------------------------------------------- */

static gsai_field_kind kind_of(const gsai_csv *csv, const gsai_csv_sniff *look, size_t column, size_t label)
{
    const gsa_reader_options *options = csv->input->options;
    const gsai_csv_seen *seen = &look->column[column];
    if (column == label)
        return GSAI_FIELD_LABEL;
    if (gsai_csv_is_listed(options->weight, look, column))
        return GSAI_FIELD_WEIGHT;
    if (gsai_csv_is_listed(options->ignore, look, column))
        return GSAI_FIELD_IGNORED;
    bool has_words = seen->n_words > 0 || (!look->has_header && seen->first_kind == GSAI_CELL_WORD);
    return has_words || gsai_csv_is_listed(options->categorical, look, column) ? GSAI_FIELD_WORDS : GSAI_FIELD_NUMBER;
}

static gsa_status add_crosses(gsai_csv *csv, const gsai_csv_sniff *look, gsa_error *error)
{
    const char *list = csv->input->options->cross, *name[2];
    size_t size[2];
    gsa_status status = GSA_OK;
    while (status == GSA_OK && gsai_schema_next_cross(&list, name, size)) {
        for (int k = 0; k < 2; k++) {
            size_t column = find_item(look, name[k], size[k]);
            if (size[k] > 0 && column != SIZE_MAX) {
                name[k] = csv->input->schema->field[column].name;
                size[k] = csv->input->schema->field[column].name_size;
            }
        }
        status = gsai_schema_add_cross(csv->input->schema, name, size, error);
        if (status != GSA_OK)
            gsai_error_prefix(error, "%s: ", csv->input->name);
    }
    return status;
}

gsa_status gsai_csv_infer(gsai_csv *csv, gsai_csv_sniff *look, gsa_error *error)
{
    gsai_schema *schema = csv->input->schema;
    size_t label = 0;
    look->has_header = look->has_header || looks_like_header(look);
    schema->is_named = look->has_header;
    schema->bits = csv->input->options->bits ? csv->input->options->bits : GSAI_DEFAULT_BITS;
    gsa_status status = check_lists(csv, look, error);
    if (status == GSA_OK)
        status = find_label(csv, look, &label, error);
    for (size_t i = 0; i < look->n_columns && status == GSA_OK; i++) {
        gsai_csv_name name;
        gsai_csv_name_of(look, i, &name);
        status = gsai_schema_add(schema, name.text, name.size, kind_of(csv, look, i, label), error);
        if (status != GSA_OK)
            gsai_error_prefix(error, "%s: ", csv->input->name);
    }
    if (status == GSA_OK)
        status = add_crosses(csv, look, error);
    if (status == GSA_OK && schema->n_of_kind[GSAI_FIELD_WEIGHT] > 1)
        status = gsai_fail(error, GSA_ARGUMENT, "%s: more than one column for --weight", csv->input->name);
    if (status == GSA_OK)
        status = gsai_schema_complete(schema, error);
    if (status != GSA_OK)
        gsai_schema_free(schema);
    return status;
}
