/* The schema: what the columns of the rows mean, as their reader put it. Here it is a text that is kept, copied and
 * compared, and asked for the column of the label; only src/data knows the rest of its syntax. */
#include "learn/schema.h"
#include "learn/parts.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/schema_text.h"
#include "base/text.h"

#include <string.h>

static bool equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

gsa_status gsai_schema_copy(char **to, const char *from, const gsai_env *env, gsa_error *error)
{
    char *copy = from ? gsai_copy_text(env, from) : NULL;
    if (from && !copy)
        return gsai_fail_memory(env, error, "no memory for the meaning of the columns");
    gsai_free(env, *to);
    *to = copy;
    return GSA_OK;
}

gsa_status gsai_schema_check(const char *a, const char *b, gsa_error *error)
{
    if (equal(a, b))
        return GSA_OK;
    if (!a || !b)
        return gsai_fail(error, GSA_CONFLICT,
                         "the one is of a table with named or hashed features, the other of rows that came with "
                         "feature numbers: their features are not the same");
    if (gsai_schemas_agree(&a, &b))
        return GSA_OK;
    gsai_schema_line line;
    const char *next = a;
    size_t size = strcspn(a, "\t\n");
    if (gsai_schema_next_line(&next, &line) && size == strcspn(b, "\t\n") && strncmp(a, b, size) == 0)
        return gsai_fail(error, GSA_CONFLICT,
                         "the column '%.*s' is measured from different offsets: train the one starting from the other, "
                         "or on rows that are read together",
                         (int)line.name_size, line.name);
    return gsai_fail(error, GSA_CONFLICT,
                     "the columns are not the same ('%.*s' of the one, '%.*s' of the other): give the same columns and "
                     "options to both",
                     (int)size, a, (int)strcspn(b, "\t\n"), b);
}

bool gsai_schema_is_table(const char *schema)
{
    gsai_schema_line line;
    return schema && !(gsai_schema_find_line(schema, "columns", &line) && strncmp(line.name, "namespaces\n", 11) == 0);
}

bool gsai_schema_has_exposure(const char *schema)
{
    gsai_schema_line line;
    return schema && gsai_schema_find_line(schema, "exposure", &line);
}

const char *gsai_schema_label(const char *schema, size_t *size)
{
    gsai_schema_line line;
    bool is_found = schema && gsai_schema_find_line(schema, "label", &line);
    *size = is_found ? line.name_size : 0;
    return is_found ? line.name : "";
}

gsa_status gsa_state_set_schema(gsa_state *state, const char *text, gsa_error *error)
{
    bool begun = state->n_rows > 0 || state->sample.n > 0 || state->n_lineage > 0 || state->position.pass > 0;
    if (equal(state->schema, text))
        return GSA_OK;
    if (!begun)
        return gsai_schema_copy(&state->schema, text, &state->env, error);
    gsa_status status = gsai_schema_check(state->schema, text, error);
    if (status != GSA_OK)
        gsai_error_prefix(error, "what was learned so far and these rows: ");
    return status;
}

const char *gsa_state_schema(const gsa_state *state)
{
    return state->schema;
}

gsa_status gsa_state_set_position(gsa_state *state, const char *text, gsa_error *error)
{
    size_t size = text ? strlen(text) : 0;
    if (size > GSA_MAX_POSITION || (size > 0 && !gsai_is_text(text, size)))
        return gsai_fail(error, GSA_ARGUMENT, "a position is UTF-8 text of at most %u bytes", GSA_MAX_POSITION);
    memcpy(state->input_position, size > 0 ? text : "", size + 1);
    return GSA_OK;
}

const char *gsa_state_position(const gsa_state *state)
{
    return state->input_position;
}
