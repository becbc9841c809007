/* The meaning of columns, and its text. */
#include "data/schema.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/format/text.h"

#include <greedystep/data.h>

#include <stdio.h>
#include <string.h>

static const char head[] = "greedystep schema 1\n";
static const char *const columns[] = {"numbered", "named", "namespaces"};
static const char *const kinds[] = {"number", "words", "label", "weight", "ignored"};

void gsai_schema_init(gsai_schema *schema, const gsa_env *env)
{
    *schema = (gsai_schema){.env = env, .bits = GSAI_DEFAULT_BITS};
    gsai_words_init(&schema->names, env);
}

void gsai_schema_free(gsai_schema *schema)
{
    gsai_words_free(&schema->names);
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
        return gsai_fail(error, GSA_ARGUMENT, "two columns have the name '%s': rename one of them",
                         gsai_quote(name, name_size, quote));
    if (schema->n_fields == GSAI_MAX_FIELDS)
        return gsai_fail(error, GSA_LIMIT, "more than %zu columns", GSAI_MAX_FIELDS);
    if (schema->n_fields >= gsai_memory_limit(schema->env) / 4 / GSAI_FIELD_COST + 1)
        return gsai_fail_about(error, "memory_limit",
                               gsai_fail(error, GSA_LIMIT,
                                         "more than %zu columns take a quarter of the memory limit: raise the limit",
                                         schema->n_fields));
    if (!reserve(schema) || !gsai_words_add(&schema->names, name, name_size))
        return gsai_fail_memory(schema->env, error, "no memory for the names of the columns");
    if (kind == GSAI_FIELD_NUMBER)
        schema->number[schema->n_of_kind[kind]] = (uint32_t)schema->n_fields;
    schema->n_of_kind[kind]++;
    schema->field[schema->n_fields] = (gsai_field){schema->names.word[schema->n_fields], name_size, kind};
    schema->n_fields++;
    return GSA_OK;
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
    return schema->field[field].kind == GSAI_FIELD_NUMBER || schema->field[field].kind == GSAI_FIELD_CATEGORICAL;
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
                                   gsai_fail(error, GSA_ARGUMENT, "cannot cross '%s': it is no column of features",
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

gsa_status gsai_schema_complete(gsai_schema *schema, gsa_error *error)
{
    size_t size = sizeof head + 64;
    for (size_t i = 0; i < schema->n_fields; i++)
        size += 2 * schema->field[i].name_size + sizeof "ignored \n";
    for (size_t i = 0; i < schema->n_crosses; i++)
        size += 2 * strlen(schema->cross[i].name[0]) + 2 * strlen(schema->cross[i].name[1]) + sizeof "cross \t\n";
    char *text = gsai_alloc(schema->env, size, 1), *out = text;
    if (!text)
        return gsai_fail_memory(schema->env, error, "no memory for the meaning of the columns");
    out += snprintf(out, size, "%scolumns %s\nbits %u\n", head, columns[schema->is_namespaced ? 2 : schema->is_named],
                    schema->bits);
    for (size_t i = 0; i < schema->n_fields; i++) {
        const char *kind = kinds[schema->field[i].kind];
        memcpy(out, kind, strlen(kind));
        out += strlen(kind);
        *out++ = ' ';
        out = put_name(out, schema->field[i].name);
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

/* One line, without its newline. */
static gsa_status take_line(gsai_schema *schema, char *line, gsa_error *error)
{
    if (strncmp(line, "cross ", 6) == 0)
        return take_cross(schema, line + 6, error);
    char *blank = strchr(line, ' ');
    for (int kind = 0; blank && kind < GSAI_FIELD_KINDS; kind++)
        if (strlen(kinds[kind]) == (size_t)(blank - line) && strncmp(line, kinds[kind], (size_t)(blank - line)) == 0) {
            size_t size = take_name(blank + 1, strlen(blank + 1));
            if (size != SIZE_MAX)
                return gsai_schema_add(schema, blank + 1, size, (gsai_field_kind)kind, error);
        }
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
    if (!copy)
        return gsai_fail_memory(schema->env, error, "no memory for the meaning of the columns");
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
    gsa_env env = gsai_env_resolve(NULL);
    gsai_schema schema;
    gsai_schema_init(&schema, &env);
    gsa_status status = gsai_schema_parse(&schema, text, error);
    info.bits = schema.bits;
    info.n_crosses = schema.n_crosses;
    info.n_numbers = schema.n_of_kind[GSAI_FIELD_NUMBER];
    info.n_words = schema.is_namespaced ? 1 : schema.n_of_kind[GSAI_FIELD_CATEGORICAL];
    gsai_schema_free(&schema);
    if (status == GSA_OK)
        gsai_give_sized(out, &info, sizeof info);
    return status;
}
