/* The meaning of columns, and its text. */
#include "data/format/table_schema.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/format/input_text.h"

#include <greedystep/data.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char head[] = "greedystep schema 2\n";
static const char is_missing[] = " is missing";
static const char *const columns[] = {"numbered", "named", "namespaces"};
static const char *const kinds[] = {"number", "words", "label", "weight", "ignored", "date", "exposure"};

void gsai_schema_init(gsai_schema *schema, const gsai_env *env)
{
    *schema = (gsai_schema){.env = env, .bits = GSAI_DEFAULT_BITS};
    gsai_words_init(&schema->names, env);
}

void gsai_schema_free(gsai_schema *schema)
{
    gsai_words_free(&schema->names);
    for (size_t i = 0; i < schema->n_fields; i++) {
        gsai_free(schema->env, schema->field[i].reading);
        gsai_free(schema->env, schema->field[i].missing_name);
    }
    for (size_t i = 0; i < schema->n_crosses; i++)
        for (int k = 0; k < 2; k++)
            gsai_free(schema->env, schema->cross[i].name[k]);
    gsai_free(schema->env, schema->field);
    gsai_free(schema->env, schema->number);
    gsai_free(schema->env, schema->cross);
    gsai_free(schema->env, schema->text);
    gsai_schema_init(schema, schema->env);
}

size_t gsai_schema_find(const gsai_schema *schema, const char *name, size_t name_size)
{
    int32_t field = gsai_words_find(&schema->names, name, name_size);
    return field >= 0 ? (size_t)field : SIZE_MAX;
}

/* Room for one more field, whatever its kind. */
static bool reserve(gsai_schema *schema)
{
    size_t n = schema->n_fields + 1;
    return gsai_reserve(schema->env, &schema->field, &schema->capacity, n, sizeof *schema->field) &&
           gsai_reserve(schema->env, &schema->number, &schema->number_capacity, n, sizeof *schema->number);
}

gsa_status gsai_schema_add(gsai_schema *schema, const char *name, size_t name_size, gsai_field_kind kind,
                           gsa_error *error)
{
    char quote[GSAI_QUOTE_SIZE];
    if (!gsai_is_text(name, name_size))
        return gsai_fail(error, GSA_ARGUMENT, "the name '%s' of column %zu is empty or not UTF-8 text; rename it",
                         gsai_quote(name, name_size, quote), schema->n_fields + 1);
    if (gsai_schema_find(schema, name, name_size) != SIZE_MAX)
        return gsai_fail(error, GSA_ARGUMENT, "columns %zu and %zu have the same name '%s': rename one of them",
                         gsai_schema_find(schema, name, name_size) + 1, schema->n_fields + 1,
                         gsai_quote(name, name_size, quote));
    if (schema->n_fields == GSAI_MAX_FIELDS)
        return gsai_fail(error, GSA_LIMIT, "more than %zu columns", GSAI_MAX_FIELDS);
    if (schema->n_fields >= gsai_memory_limit(schema->env) / 4 / GSAI_FIELD_COST + 1)
        return gsai_fail_about(error, "memory_limit",
                               gsai_fail(error, GSA_LIMIT,
                                         "more than %zu columns take a quarter of the memory limit: raise the limit",
                                         schema->n_fields));
    GSAI_TRY_MEMORY(reserve(schema) && gsai_words_add(&schema->names, name, name_size), schema->env, error,
                    "no memory for the names of the columns");
    gsai_field field = {.name = schema->names.word[schema->n_fields], .name_size = name_size, .kind = kind};
    if (kind == GSAI_FIELD_NUMBER || kind == GSAI_FIELD_DATE) {
        schema->number[schema->n_numbers++] = (uint32_t)schema->n_fields;
        field.missing_name = gsai_alloc(schema->env, name_size + sizeof is_missing, 1);
        GSAI_TRY_MEMORY(field.missing_name, schema->env, error, "no memory for the names of the columns");
        memcpy(field.missing_name, name, name_size);
        memcpy(field.missing_name + name_size, is_missing, sizeof is_missing);
    }
    schema->n_of_kind[kind]++;
    schema->field[schema->n_fields++] = field;
    return GSA_OK;
}

gsa_status gsai_schema_set_reading(gsai_schema *schema, float mean, const gsai_reading *reading, gsa_error *error)
{
    gsai_field *field = &schema->field[schema->n_fields - 1];
    field->mean = mean;
    field->reading = reading ? gsai_copy(schema->env, reading, 1, sizeof *reading) : NULL;
    return field->reading || !reading ? GSA_OK
                                      : gsai_fail_memory(schema->env, error, "no memory for the meaning of a column");
}

const char *gsai_schema_number_name(const gsai_schema *schema, uint64_t feature)
{
    const gsai_field *field = &schema->field[schema->number[feature % schema->n_numbers]];
    return feature < schema->n_numbers ? field->name : field->missing_name;
}

/* ---- crosses ---------------------------------------------------------------------------------------------------- */

gsa_status gsai_schema_next_cross(const char **list, const char *name[2], size_t name_size[2], gsa_error *error)
{
    if (!*list)
        return GSA_END;
    const char *comma = strchr(*list, ',');
    size_t size = comma ? (size_t)(comma - *list) : strlen(*list);
    const char *colon = memchr(*list, ':', size), *star = memchr(*list, '*', size);
    if (!colon && star)
        return gsai_fail(error, GSA_ARGUMENT, "cannot cross '%.*s': write %.*s:%.*s", (int)size, *list,
                         (int)(star - *list), *list, (int)size - (int)(star - *list) - 1, star + 1);
    if (!colon)
        return gsai_fail(error, GSA_ARGUMENT, "cannot cross '%.*s': write two names, as in A:B", (int)size, *list);
    name[0] = *list;
    name[1] = colon + 1;
    name_size[0] = (size_t)(colon - *list);
    name_size[1] = size - name_size[0] - 1;
    *list = comma ? comma + 1 : NULL;
    return GSA_OK;
}

static bool can_be_crossed(const gsai_schema *schema, const char *name, size_t size)
{
    size_t field = gsai_schema_find(schema, name, size);
    if (schema->is_namespaced || field == SIZE_MAX)
        return schema->is_namespaced && (size == 0 || gsai_is_text(name, size));
    gsai_field_kind kind = schema->field[field].kind;
    return kind == GSAI_FIELD_NUMBER || kind == GSAI_FIELD_CATEGORICAL || kind == GSAI_FIELD_DATE;
}

bool gsai_schema_is_crossed(const gsai_schema *schema, const char *const name[2], const size_t name_size[2])
{
    for (size_t i = 0; i < schema->n_crosses; i++) {
        bool same = true;
        for (int k = 0; k < 2; k++)
            same = same && strlen(schema->cross[i].name[k]) == name_size[k] &&
                   memcmp(schema->cross[i].name[k], name[k], name_size[k]) == 0;
        if (same)
            return true;
    }
    return false;
}

gsa_status gsai_schema_add_cross(gsai_schema *schema, const char *const name[2], const size_t name_size[2],
                                 gsa_error *error)
{
    char quote[GSAI_QUOTE_SIZE];
    for (int k = 0; k < 2; k++)
        if (!can_be_crossed(schema, name[k], name_size[k]))
            return gsai_fail_about(error, "cross",
                                   gsai_fail(error, GSA_ARGUMENT, "cannot cross '%s': it is not a feature column",
                                             gsai_quote(name[k], name_size[k], quote)));
    if (gsai_schema_is_crossed(schema, name, name_size))
        return gsai_fail_about(error, "cross",
                               gsai_fail(error, GSA_ARGUMENT,
                                         "cannot cross '%s' with the same column twice: leave one out",
                                         gsai_quote(name[0], name_size[0], quote)));
    bool has_room = gsai_reserve(schema->env, &schema->cross, &schema->cross_capacity, schema->n_crosses + 1,
                                 sizeof *schema->cross);
    gsai_cross cross = {{NULL, NULL}};
    for (int k = 0; k < 2 && has_room; k++) {
        cross.name[k] = gsai_alloc_zeroed(schema->env, name_size[k] + 1, 1);
        has_room = cross.name[k] != NULL;
        if (has_room)
            memcpy(cross.name[k], name[k], name_size[k]);
    }
    if (has_room) {
        schema->cross[schema->n_crosses++] = cross;
        return GSA_OK;
    }
    gsai_free(schema->env, cross.name[0]);
    return gsai_fail_memory(schema->env, error, "no memory for the crosses");
}

/* ---- to text ---------------------------------------------------------------------------------------------------- */

/* A name ends with the line or a tab: these are written as \n, \r and \t, and a backslash as \\. */
static char *put_name(char *out, const char *name)
{
    for (; *name; name++) {
        char c = *name;
        if (c == '\n' || c == '\r' || c == '\t' || c == '\\')
            *out++ = '\\';
        *out++ = (char)(c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c);
    }
    return out;
}

static char *put_item(char *out, const char *name, const char *value)
{
    *out++ = '\t';
    out = put_name(out, name);
    return put_name(out, value);
}

/* How cells become numbers, each item behind a tab. */
static char *put_reading(char *out, const gsai_field *field)
{
    const gsai_reading *reading = field->reading;
    char text[GSAI_NUMBER_TEXT + 1];
    if (field->offset != 0) {
        gsai_number_text(field->offset, text);
        out = put_item(out, "offset=", text);
    }
    if (field->mean != 0) {
        *gsai_decimal_general((double)field->mean, 9, text) = '\0'; /* enough for any float */
        out = put_item(out, "mean=", text);
    }
    if (field->kind == GSAI_FIELD_LABEL && (field->is_class || reading))
        out = put_item(out, field->is_class ? "words" : "number", "");
    if (!reading)
        return out;
    const char *start = out;
    if (reading->decimal == ',')
        out = put_item(out, "decimal=", ",");
    if (reading->group)
        out = put_item(out, "group=", (char[2]){reading->group, '\0'});
    if (*reading->unit)
        out = put_item(out, "unit=", reading->unit);
    if (reading->order)
        out = put_item(out, "order=", reading->order == 'd' ? "day" : "month");
    if (reading->has_time)
        out = put_item(out, "time", "");
    for (size_t i = 0; i < reading->n_missing; i++)
        out = put_item(out, "missing=", reading->missing[i]);
    if (out == start && field->kind == GSAI_FIELD_NUMBER)
        out = put_item(out, "formatted", "");
    return out;
}

/* The most that put_reading writes. */
static const size_t reading_size =
    128 + 2 * GSAI_DECIMAL_SIZE + (GSAI_MISSING_WORDS + GSAI_MISSING_NUMBERS) * (2 * GSAI_MISSING_SIZE + 10);

gsa_status gsai_schema_complete(gsai_schema *schema, gsa_error *error)
{
    size_t size = sizeof head + 64;
    for (size_t i = 0; i < schema->n_fields; i++)
        size += 2 * schema->field[i].name_size + sizeof "ignored \n" +
                (schema->field[i].reading ? reading_size : sizeof "\toffset=\tmean=" + 2 * GSAI_DECIMAL_SIZE);
    for (size_t i = 0; i < schema->n_crosses; i++)
        size += 2 * strlen(schema->cross[i].name[0]) + 2 * strlen(schema->cross[i].name[1]) + sizeof "cross \t\n";
    char *text = gsai_alloc(schema->env, size, 1), *out = text;
    GSAI_TRY_MEMORY(text, schema->env, error, "no memory for the meaning of the columns");
    out += snprintf(out, size, "%scolumns %s\nbits %u\n", head, columns[schema->is_namespaced ? 2 : schema->is_named],
                    schema->bits);
    for (size_t i = 0; i < schema->n_fields; i++) {
        const char *kind = kinds[schema->field[i].kind];
        memcpy(out, kind, strlen(kind));
        out += strlen(kind);
        *out++ = ' ';
        out = put_reading(put_name(out, schema->field[i].name), &schema->field[i]);
        *out++ = '\n';
    }
    for (size_t i = 0; i < schema->n_crosses; i++) {
        memcpy(out, "cross ", 6);
        out = put_name(out + 6, schema->cross[i].name[0]);
        *out++ = '\t';
        out = put_name(out, schema->cross[i].name[1]);
        *out++ = '\n';
    }
    *out = '\0';
    gsai_free(schema->env, schema->text);
    schema->text = text;
    return GSA_OK;
}

/* ---- and back --------------------------------------------------------------------------------------------------- */

/* Undoes put_name in place; SIZE_MAX if there is another escape. */
static size_t take_name(char *name, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        char c = name[i];
        if (c == '\\') {
            c = (char)(++i < size ? name[i] : ' ');
            if (c != 'n' && c != 'r' && c != 't' && c != '\\')
                return SIZE_MAX;
            c = (char)(c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c);
        }
        name[n++] = c;
    }
    return n;
}

static bool take_fact(gsai_schema *schema, const char *line)
{
    uint64_t bits;
    if (strncmp(line, "bits ", 5) == 0 && gsai_count_parse(line + 5, &bits) && bits >= 1 && bits <= GSAI_MAX_BITS)
        schema->bits = (unsigned)bits;
    else if (strncmp(line, "columns ", 8) != 0)
        return false;
    schema->is_named = schema->is_named || strcmp(line, "columns named") == 0;
    schema->is_namespaced = schema->is_namespaced || strcmp(line, "columns namespaces") == 0;
    return true; /* another word there makes another text when it is written again */
}

static gsa_status take_cross(gsai_schema *schema, char *names, gsa_error *error)
{
    char *tab = strchr(names, '\t');
    const char *const name[] = {names, tab ? tab + 1 : names};
    size_t size[2] = {tab ? take_name(names, (size_t)(tab - names)) : SIZE_MAX,
                      tab ? take_name(tab + 1, strlen(tab + 1)) : SIZE_MAX};
    if (size[0] == SIZE_MAX || size[1] == SIZE_MAX)
        return gsai_fail(error, GSA_FORMAT, "a cross of the schema is damaged");
    return gsai_schema_add_cross(schema, name, size, error);
}

/* The number of an item, which fits a float. */
static bool take_number(const gsai_schema *schema, const char *text, double *out)
{
    gsai_number number = {0};
    gsai_number_locale *locale = gsai_number_locale_new(schema->env);
    if (locale)
        gsai_number_parse(locale, text, &number);
    gsai_number_locale_free(schema->env, locale);
    *out = number.value;
    return number.after && *number.after == '\0' && isfinite((float)number.value);
}

/* One item of a reading, NUL-terminated; false if it is none. */
static bool take_item(const gsai_schema *schema, char *item, double *mean, double *offset, gsai_reading *reading)
{
    char *value = strchr(item, '=');
    double number;
    size_t size = take_name(item, strlen(item));
    if (size == SIZE_MAX)
        return false;
    item[size] = '\0';
    value = value ? value + 1 : item + size;
    if (strncmp(item, "mean=", 5) == 0 || strncmp(item, "offset=", 7) == 0)
        return take_number(schema, value, *item == 'm' ? mean : offset);
    if (strncmp(item, "decimal=", 8) == 0 || strncmp(item, "group=", 6) == 0)
        *(*item == 'd' ? &reading->decimal : &reading->group) = *value;
    else if (strncmp(item, "unit=", 5) == 0 && strlen(value) < GSAI_UNIT_SIZE)
        memcpy(reading->unit, value, strlen(value) + 1);
    else if (strncmp(item, "order=", 6) == 0)
        reading->order = *value;
    else if (strcmp(item, "time") == 0)
        reading->has_time = true;
    else if (strcmp(item, "formatted") == 0)
        return true;
    else if (strncmp(item, "missing=", 8) == 0 && take_number(schema, value, &number))
        return gsai_reading_add_sentinel(reading, number);
    else if (strncmp(item, "missing=", 8) == 0 && strlen(value) < GSAI_MISSING_SIZE &&
             reading->n_missing < GSAI_MISSING_WORDS && reading->n_sentinels == 0)
        memcpy(reading->missing[reading->n_missing++], value, strlen(value) + 1);
    else
        return false;
    return true; /* another value makes another text when it is written again */
}

/* What stands behind the name of a column. A date has a reading always. */
static gsa_status take_reading(gsai_schema *schema, char *items, gsa_error *error)
{
    gsai_field *field = &schema->field[schema->n_fields - 1];
    bool is_date = field->kind == GSAI_FIELD_DATE;
    gsai_reading reading = {.decimal = '.'};
    double mean = 0, offset = 0;
    bool is_read = is_date;
    for (char *item = items, *tab; item; item = tab) {
        tab = strchr(item, '\t');
        if (tab)
            *tab++ = '\0';
        field->is_class = field->is_class || strcmp(item, "words") == 0;
        is_read = is_read || (strncmp(item, "mean=", 5) != 0 && strncmp(item, "offset=", 7) != 0 && !field->is_class);
        bool is_kind =
            strcmp(item, "words") == 0 || strcmp(item, "number") == 0; /* of a label, else written otherwise */
        if (!is_kind && !take_item(schema, item, &mean, &offset, &reading))
            return gsai_fail(error, GSA_FORMAT, "the reading of a column is damaged");
    }
    if (offset != 0 && field->kind == GSAI_FIELD_LABEL)
        return gsai_fail(error, GSA_FORMAT, "the schema has an offset for a label");
    gsai_schema_set_offset(schema, offset);
    return gsai_schema_set_reading(schema, (float)mean, is_read ? &reading : NULL, error);
}

static gsa_status take_field(gsai_schema *schema, gsai_field_kind kind, char *name, gsa_error *error)
{
    char *tab = strchr(name, '\t');
    size_t size = take_name(name, tab ? (size_t)(tab - name) : strlen(name));
    if (size == SIZE_MAX)
        return gsai_fail(error, GSA_FORMAT, "a name of the schema is damaged");
    if (tab && kind != GSAI_FIELD_NUMBER && kind != GSAI_FIELD_DATE && kind != GSAI_FIELD_LABEL)
        return gsai_fail(error, GSA_FORMAT, "the schema has a reading for a column without numbers");
    GSA_TRY(gsai_schema_add(schema, name, size, kind, error));
    return tab || kind == GSAI_FIELD_DATE ? take_reading(schema, tab ? tab + 1 : NULL, error) : GSA_OK;
}

/* One line, without its newline. */
static gsa_status take_line(gsai_schema *schema, char *line, gsa_error *error)
{
    if (strncmp(line, "cross ", 6) == 0)
        return take_cross(schema, line + 6, error);
    char *blank = strchr(line, ' ');
    for (int kind = 0; blank && kind < GSAI_FIELD_KINDS; kind++)
        if (strlen(kinds[kind]) == (size_t)(blank - line) && strncmp(line, kinds[kind], (size_t)(blank - line)) == 0)
            return take_field(schema, (gsai_field_kind)kind, blank + 1, error);
    char quote[GSAI_QUOTE_SIZE];
    return take_fact(schema, line) ? GSA_OK
                                   : gsai_fail(error, GSA_FORMAT, "not a line of a schema of this release: '%s'",
                                               gsai_quote(line, strlen(line), quote));
}

gsa_status gsai_schema_parse(gsai_schema *schema, const char *text, gsa_error *error)
{
    if (strncmp(text, head, sizeof head - 1) != 0)
        return gsai_fail(error, GSA_FORMAT, "the meaning of the columns is not one that this release reads");
    char *copy = gsai_copy_text(schema->env, text + sizeof head - 1);
    GSAI_TRY_MEMORY(copy, schema->env, error, "no memory for the meaning of the columns");
    gsa_status status = GSA_OK;
    for (char *line = copy, *end; status == GSA_OK && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        status = take_line(schema, line, error);
    }
    gsai_free(schema->env, copy);
    if (status == GSA_OK)
        status = gsai_schema_complete(schema, error);
    if (status == GSA_OK && strcmp(schema->text, text) != 0)
        status = gsai_fail(error, GSA_FORMAT, "the meaning of the columns is damaged");
    if (status != GSA_OK)
        gsai_schema_free(schema);
    return status;
}

gsa_status gsa_schema_get_info(const char *text, gsa_schema_info *out, gsa_error *error)
{
    gsa_schema_info info;
    GSA_TRY(gsai_take(&info, out, error));
    memset(&info, 0, sizeof info);
    gsai_env env = gsai_env_resolve(NULL);
    gsai_schema schema;
    gsai_schema_init(&schema, &env);
    gsa_status status = gsai_schema_parse(&schema, text, error);
    info.bits = schema.bits;
    info.n_crosses = schema.n_crosses;
    info.n_numbers = schema.n_numbers;
    info.n_words = schema.is_namespaced ? 1 : schema.n_of_kind[GSAI_FIELD_CATEGORICAL];
    info.n_dates = schema.n_of_kind[GSAI_FIELD_DATE];
    info.first_word = gsai_schema_first_word(&schema);
    gsai_schema_free(&schema);
    return status == GSA_OK ? gsai_give_sized(out, &info, sizeof info) : status;
}
