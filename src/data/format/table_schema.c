/* The meaning of columns, and its text. */
#include "data/format/table_schema.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/schema_text.h"
#include "base/text.h"
#include "data/format/input_text.h"

#include <greedystep/data.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char head[] = "greedystep schema 2\n";
static const char is_missing[] = " is missing";

void gsai_schema_init(gsai_schema *schema, const gsai_env *env)
{
    *schema = (gsai_schema){.env = env, .bits = GSAI_DEFAULT_BITS, .memory = {.env = env}};
    schema->names = (gsai_words){.env = env};
}

void gsai_schema_free(gsai_schema *schema)
{
    gsai_words_free(&schema->names);
    gsai_arena_release(&schema->memory);
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

gsa_status gsai_schema_add(gsai_schema *schema, const char *name, size_t name_size, gsai_field_kind kind,
                           gsa_error *error)
{
    char quote[GSAI_QUOTE_SIZE];
    size_t n = schema->n_fields + 1, other = gsai_schema_find(schema, name, name_size);
    if (!gsai_is_text(name, name_size))
        return gsai_fail(error, GSA_ARGUMENT, "the name '%s' of column %zu is empty or not UTF-8 text; rename it",
                         gsai_quote(name, name_size, quote), n);
    if (other != SIZE_MAX)
        return gsai_fail(error, GSA_ARGUMENT, "columns %zu and %zu have the same name '%s': rename one of them",
                         other + 1, n, gsai_quote(name, name_size, quote));
    if (schema->n_fields == GSAI_MAX_FIELDS)
        return gsai_fail(error, GSA_LIMIT, "more than %zu columns", GSAI_MAX_FIELDS);
    if (schema->n_fields >= gsai_memory_limit(schema->env) / 4 / GSAI_FIELD_COST + 1)
        return gsai_fail_param(error, "memory_limit", GSA_LIMIT,
                               "more than %zu columns take a quarter of the memory limit: raise the limit",
                               schema->n_fields);
    bool has_room = gsai_reserve(schema->env, &schema->field, &schema->capacity, n, sizeof *schema->field) &&
                    gsai_reserve(schema->env, &schema->number, &schema->number_capacity, n, sizeof *schema->number) &&
                    gsai_words_add(&schema->names, name, name_size);
    GSAI_TRY_MEMORY(has_room, schema->env, error, "no memory for the names of the columns");
    gsai_field field = {
        .name = schema->names.word[schema->n_fields], .name_size = name_size, .kind = kind, .time = GSAI_FIELD_IGNORED};
    if (gsai_kind_at(kind)->has_number) {
        schema->number[schema->n_numbers++] = (uint32_t)schema->n_fields;
        field.missing_name = gsai_arena_take(&schema->memory, name_size + sizeof is_missing, 1);
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
    field->reading = reading ? gsai_arena_take(&schema->memory, 1, sizeof *reading) : NULL;
    GSAI_TRY_MEMORY(field->reading || !reading, schema->env, error, "no memory for the meaning of a column");
    if (reading)
        *field->reading = *reading;
    return GSA_OK;
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

bool gsai_schema_is_crossed(const gsai_schema *schema, const char *const name[2], const size_t name_size[2])
{
    for (size_t i = 0; i < schema->n_crosses; i++) {
        char *const *have = schema->cross[i].name;
        if (gsai_is_word(name[0], name_size[0], have[0]) && gsai_is_word(name[1], name_size[1], have[1]))
            return true;
    }
    return false;
}

gsa_status gsai_schema_add_cross(gsai_schema *schema, const char *const name[2], const size_t name_size[2],
                                 gsa_error *error)
{
    char quote[GSAI_QUOTE_SIZE];
    for (int k = 0; k < 2; k++) {
        size_t field = schema->is_namespaced ? SIZE_MAX : gsai_schema_find(schema, name[k], name_size[k]);
        const gsai_column_kind *kind = field != SIZE_MAX ? gsai_kind_at(schema->field[field].kind) : NULL;
        bool has_sign = kind && schema->field[field].sign != 0;
        bool is_feature = schema->is_namespaced ? name_size[k] == 0 || gsai_is_text(name[k], name_size[k])
                                                : kind && kind->add && !kind->has_many && !has_sign &&
                                                      schema->field[field].kind != GSAI_FIELD_OFFSET &&
                                                      schema->field[field].kind != GSAI_FIELD_PER;
        if (!is_feature)
            return gsai_fail_param(error, "cross", GSA_ARGUMENT, "cannot cross '%s': it is %s",
                                   gsai_quote(name[k], name_size[k], quote),
                                   has_sign                 ? "increasing or decreasing, which a cross is not"
                                   : kind && kind->has_many ? "a column of texts"
                                                            : "not a feature column");
    }
    if (gsai_schema_is_crossed(schema, name, name_size))
        return gsai_fail_param(error, "cross", GSA_ARGUMENT,
                               "cannot cross '%s' with the same column twice: leave one out",
                               gsai_quote(name[0], name_size[0], quote));
    GSAI_TRY_MEMORY(gsai_reserve(schema->env, &schema->cross, &schema->cross_capacity, schema->n_crosses + 1,
                                 sizeof *schema->cross),
                    schema->env, error, "no memory for the crosses");
    for (int k = 0; k < 2; k++) {
        char *copy = schema->cross[schema->n_crosses].name[k] = gsai_arena_take(&schema->memory, name_size[k] + 1, 1);
        GSAI_TRY_MEMORY(copy, schema->env, error, "no memory for the crosses");
        memcpy(copy, name[k], name_size[k]);
    }
    schema->n_crosses++;
    return GSA_OK;
}

/* ---- to text ---------------------------------------------------------------------------------------------------- */

/* Appends a text and, with escapes, a name. gsai_schema_complete finds that it was out of memory. */
static void put(gsai_schema *schema, const char *text, const char *name)
{
    size_t size = strlen(text), need = schema->text_size + size + 2 * strlen(name) + 1;
    schema->lacks_memory =
        schema->lacks_memory || !gsai_reserve(schema->env, &schema->text, &schema->text_capacity, need, 1);
    if (schema->lacks_memory)
        return;
    char *out = schema->text + schema->text_size;
    memcpy(out, text, size);
    out = gsai_schema_put_name(name, out + size);
    schema->text_size = (size_t)(out - schema->text);
}

/* Appends how cells become numbers: items behind tabs. */
static void put_reading(gsai_schema *schema, const gsai_field *field)
{
    const gsai_reading *reading = field->reading;
    char number[GSAI_NUMBER_TEXT + 1];
    if (field->offset != 0) {
        gsai_number_text(field->offset, number);
        put(schema, "\toffset=", number);
    }
    if (field->mean != 0) {
        *gsai_decimal_general((double)field->mean, 9, number) = '\0'; /* enough for any float */
        put(schema, "\tmean=", number);
    }
    if (field->sign != 0)
        put(schema, field->sign > 0 ? "\tincreasing" : "\tdecreasing", "");
    if (field->deviation != 0 && schema->n_of_kind[GSAI_FIELD_PER] > 0) {
        *gsai_decimal_general((double)field->deviation, 9, number) = '\0';
        put(schema, "\tdeviation=", number);
    }
    if (field->kind == GSAI_FIELD_LABEL && (field->is_class || reading))
        put(schema, field->is_class ? "\twords" : "\tnumber", "");
    if (gsai_field_is_time(field))
        put(schema, "\tmoment=", gsai_kind_at(field->time)->word);
    if (!reading)
        return;
    size_t before = schema->text_size;
    if (reading->decimal == ',')
        put(schema, "\tdecimal=", ",");
    if (*reading->group)
        put(schema, "\tgroup=", reading->group);
    if (*reading->unit)
        put(schema, "\tunit=", reading->unit);
    if (reading->order)
        put(schema, "\torder=", reading->order == 'd' ? "day" : "month");
    if (reading->has_time)
        put(schema, "\ttime", "");
    for (size_t i = 0; i < reading->n_missing; i++)
        put(schema, "\tmissing=", reading->missing[i]);
    if (schema->text_size == before && field->kind == GSAI_FIELD_NUMBER)
        put(schema, "\tformatted", "");
}

gsa_status gsai_schema_complete(gsai_schema *schema, gsa_error *error)
{
    char bits[GSAI_NUMBER_TEXT];
    bool has_per = schema->n_of_kind[GSAI_FIELD_PER] > 0;
    if (has_per && (schema->bits == GSAI_MAX_BITS || UINT64_C(1) << schema->bits < gsai_schema_per_customer(schema)))
        return gsai_fail_param(error, "bits", GSA_ARGUMENT,
                               "%u bits to hash to, with features per customer: expected fewer than %u, and enough for "
                               "the %" PRIu64 " features of one",
                               schema->bits, GSAI_MAX_BITS, gsai_schema_per_customer(schema));
    schema->text_size = 0;
    schema->lacks_memory = false;
    gsai_number_text(schema->bits, bits);
    put(schema, head, "");
    put(schema, "columns ", schema->is_namespaced ? "namespaces" : schema->is_named ? "named" : "numbered");
    put(schema, "\nbits ", bits);
    for (size_t i = 0; i < schema->n_fields; i++) {
        put(schema, "\n", gsai_kind_at(schema->field[i].kind)->word);
        put(schema, " ", schema->field[i].name);
        put_reading(schema, &schema->field[i]);
    }
    for (size_t i = 0; i < schema->n_crosses; i++) {
        put(schema, "\ncross ", schema->cross[i].name[0]);
        put(schema, "\t", schema->cross[i].name[1]);
    }
    put(schema, "\n", "");
    if (!schema->lacks_memory)
        return GSA_OK;
    gsai_free(schema->env, schema->text);
    schema->text = NULL;
    schema->text_capacity = 0;
    return gsai_fail_memory(schema->env, error, "no memory for the meaning of the columns");
}

/* ---- and back --------------------------------------------------------------------------------------------------- */

/* Takes a number that fits a float. */
static bool take_number(const char *text, double *out)
{
    gsai_number number = {0};
    gsai_number_locale *locale = gsai_os_c_locale();
    if (locale)
        gsai_number_parse(locale, text, &number);
    gsai_os_c_locale_free(locale);
    *out = number.value;
    return number.after && *number.after == '\0' && isfinite((float)number.value);
}

/* Takes one item of the field that was added last; false if it is unknown. An item that is not written so, or not of
 * its kind, is found when the text is written again. */
static bool take_item(gsai_schema *schema, char *item, double *mean, gsai_reading *reading, bool *is_read)
{
    gsai_field *field = &schema->field[schema->n_fields - 1];
    bool is_date = field->kind == GSAI_FIELD_DATE || field->time == GSAI_FIELD_DATE;
    char *value = item + strcspn(item, "=");
    double number;
    if (*value)
        *value++ = '\0';
    if (strcmp(item, "moment") == 0) { /* before its reading */
        field->time = gsai_kind_find(value, strlen(value));
        *is_read = *is_read || field->time == GSAI_FIELD_DATE;
        return gsai_field_is_time(field);
    }
    if (strcmp(item, "mean") == 0)
        return take_number(value, mean);
    if (strcmp(item, "offset") == 0)
        return field->kind != GSAI_FIELD_LABEL && take_number(value, &field->offset);
    if (strcmp(item, "increasing") == 0 || strcmp(item, "decreasing") == 0) {
        field->sign = (int8_t)(*item == 'i' ? 1 : -1);
        return field->kind == GSAI_FIELD_NUMBER;
    }
    if (strcmp(item, "deviation") == 0 && gsai_kind_at(field->kind)->has_number && take_number(value, &number)) {
        field->deviation = (float)number;
        return number > 0;
    }
    if (strcmp(item, "words") == 0) {
        field->is_class = true;
        return true;
    }
    if (field->is_class)
        return false;
    *is_read = true;
    if (strcmp(item, "missing") == 0) {
        if (take_number(value, &number))
            return gsai_reading_add_sentinel(reading, number);
        if (strlen(value) >= GSAI_MISSING_SIZE || reading->n_missing == GSAI_MISSING_WORDS || reading->n_sentinels > 0)
            return false;
        memcpy(reading->missing[reading->n_missing++], value, strlen(value) + 1);
    } else if (strcmp(item, "order") == 0 && is_date) {
        reading->order = *value;
    } else if (strcmp(item, "time") == 0 && is_date) {
        reading->has_time = true;
    } else if (strcmp(item, "decimal") == 0 && !is_date) {
        reading->decimal = *value;
    } else if (strcmp(item, "group") == 0 && !is_date) {
        *reading->group = *value;
    } else if (strcmp(item, "unit") == 0 && !is_date && strlen(value) < sizeof reading->unit) {
        memcpy(reading->unit, value, strlen(value) + 1);
    } else {
        return strcmp(item, "number") == 0 || strcmp(item, "formatted") == 0;
    }
    return true;
}

static gsa_status take_line(gsai_schema *schema, const gsai_schema_line *line, char *scratch, gsa_error *error)
{
    gsai_field_kind kind = gsai_kind_find(line->word, line->word_size);
    size_t size = gsai_schema_take_name(line->name, line->name_size, scratch);
    uint64_t bits;
    if (kind != GSAI_FIELD_KINDS) {
        gsai_reading reading = {.decimal = '.'};
        double mean = 0;
        bool is_read = kind == GSAI_FIELD_DATE; /* which has a reading always */
        if (size == SIZE_MAX)
            return gsai_fail(error, GSA_FORMAT, "a name of the schema is damaged");
        GSA_TRY(gsai_schema_add(schema, scratch, size, kind, error));
        for (const char *item = line->items; *item == '\t'; item += 1 + size) {
            size = strcspn(item + 1, "\t\n");
            if (gsai_schema_take_name(item + 1, size, scratch) == SIZE_MAX ||
                !take_item(schema, scratch, &mean, &reading, &is_read))
                return gsai_fail(error, GSA_FORMAT, "the reading of a column is damaged");
        }
        if (line->items_size > 0 && kind != GSAI_FIELD_LABEL && !gsai_kind_at(kind)->has_number &&
            !gsai_field_is_time(&schema->field[schema->n_fields - 1]))
            return gsai_fail(error, GSA_FORMAT, "the schema has a reading for a column without numbers");
        return gsai_schema_set_reading(schema, (float)mean, is_read ? &reading : NULL, error);
    }
    if (gsai_schema_line_is(line, "cross")) {
        const char *const name[] = {scratch, scratch + line->name_size + 1};
        bool has_second = size != SIZE_MAX && line->items_size > 0;
        const size_t name_size[] = {size, has_second ? gsai_schema_take_name(line->items + 1, line->items_size - 1,
                                                                             scratch + line->name_size + 1)
                                                     : SIZE_MAX};
        return name_size[1] == SIZE_MAX ? gsai_fail(error, GSA_FORMAT, "a cross of the schema is damaged")
                                        : gsai_schema_add_cross(schema, name, name_size, error);
    }
    if (gsai_schema_line_is(line, "bits") && gsai_count_parse(scratch, &bits) && bits >= 1 && bits <= GSAI_MAX_BITS) {
        schema->bits = (unsigned)bits;
        return GSA_OK;
    }
    char quote[GSAI_QUOTE_SIZE];
    if (!gsai_schema_line_is(line, "columns"))
        return gsai_fail(error, GSA_FORMAT, "not a line of a schema of this release: '%s'",
                         gsai_quote(line->word, (size_t)(line->items - line->word) + line->items_size, quote));
    schema->is_named = schema->is_named || strcmp(scratch, "named") == 0;
    schema->is_namespaced = schema->is_namespaced || strcmp(scratch, "namespaces") == 0;
    return GSA_OK; /* another word there makes another text when it is written again */
}

gsa_status gsai_schema_parse(gsai_schema *schema, const char *text, gsa_error *error)
{
    if (strncmp(text, head, sizeof head - 1) != 0)
        return gsai_fail(error, GSA_FORMAT, "the meaning of the columns is not one that this release reads");
    char *scratch = gsai_copy_text(schema->env, text); /* as large as any name or line */
    GSAI_TRY_MEMORY(scratch, schema->env, error, "no memory for the meaning of the columns");
    gsa_status status = GSA_OK;
    const char *rest = text + sizeof head - 1;
    for (gsai_schema_line line; status == GSA_OK && gsai_schema_next_line(&rest, &line);)
        status = take_line(schema, &line, scratch, error);
    gsai_free(schema->env, scratch);
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
    gsai_env env = gsai_env_resolve(NULL);
    gsai_schema schema;
    gsai_schema_init(&schema, &env);
    GSA_TRY(gsai_schema_parse(&schema, text, error)); /* which frees it on failure */
    info = (gsa_schema_info){.n_numbers = schema.n_numbers,
                             .n_words = schema.is_namespaced
                                            ? 1
                                            : schema.n_of_kind[GSAI_FIELD_CATEGORICAL] +
                                                  schema.n_of_kind[GSAI_FIELD_TEXT] + schema.n_of_kind[GSAI_FIELD_PER],
                             .n_dates = schema.n_of_kind[GSAI_FIELD_DATE],
                             .n_crosses = schema.n_crosses,
                             .bits = schema.bits,
                             .first_word = gsai_schema_first_word(&schema),
                             .n_texts = schema.n_of_kind[GSAI_FIELD_TEXT],
                             .first_text = schema.n_numbers,
                             .n_per = schema.n_of_kind[GSAI_FIELD_PER],
                             .per = schema.n_numbers,
                             .first_per = gsai_schema_first_word(&schema) + (UINT64_C(1) << schema.bits)};
    bool before_text = true, before_per = true;
    for (size_t f = 0; f < schema.n_fields; f++) {
        const gsai_field_kind kind = schema.field[f].kind;
        before_text = before_text && kind != GSAI_FIELD_TEXT;
        before_per = before_per && kind != GSAI_FIELD_PER;
        info.first_text += before_text && (kind == GSAI_FIELD_CATEGORICAL || kind == GSAI_FIELD_PER);
        info.per += before_per && (kind == GSAI_FIELD_CATEGORICAL || kind == GSAI_FIELD_TEXT);
    }
    gsai_schema_free(&schema);
    return gsai_give_sized(out, &info, sizeof info);
}
