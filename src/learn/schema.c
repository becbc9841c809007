/* The schema: what the columns of the rows mean, as their reader put it. Here it is a text that is kept, copied and
 * compared, and asked for the column of the label; only src/data knows the rest of its syntax. */
#include "learn/schema.h"
#include "learn/inside.h"

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

static const gsai_tensor_key schema_key = {"schema", GSAI_U8, 0};

void gsai_schema_save(gsai_snapshot *snapshot, const char *schema)
{
    if (schema)
        gsai_snapshot_add(snapshot, &schema_key, schema, strlen(schema));
}

gsa_status gsai_schema_load(char **out, const gsai_bundle *bundle, const gsai_env *env, gsa_error *error)
{
    const gsai_tensor *text;
    GSA_TRY(gsai_bundle_may_have(bundle, &schema_key, GSAI_ANY_LEN, &text, error));
    if (!text)
        return GSA_OK;
    size_t size = (size_t)gsai_tensor_len(text);
    if (!gsai_is_text(text->data, size))
        return gsai_fail(error, GSA_FORMAT, "tensor 'schema' is not a text");
    *out = gsai_alloc_zeroed(env, size + 1, 1);
    GSAI_TRY_MEMORY(*out, env, error, "no memory for the meaning of the columns");
    memcpy(*out, text->data, size);
    return GSA_OK;
}

bool gsai_schema_is_table(const char *schema)
{
    gsai_schema_line line;
    return schema && !(gsai_schema_find_line(schema, "columns", &line) && strncmp(line.name, "namespaces\n", 11) == 0);
}

uint64_t gsai_schema_words_of_texts(const char *schema)
{
    uint64_t n_numbers = 0;
    bool has_texts = false;
    for (gsai_schema_line line; schema && gsai_schema_next_line(&schema, &line);) {
        n_numbers += gsai_schema_line_is(&line, "number") || gsai_schema_line_is(&line, "date");
        has_texts = has_texts || gsai_schema_line_is(&line, "text");
    }
    return has_texts ? 2 * n_numbers : UINT64_MAX;
}

uint64_t gsai_schema_customers(const char *schema, uint64_t *n_features)
{
    uint64_t n_numbers = 0;
    unsigned bits = 0;
    bool has_customers = false;
    for (gsai_schema_line line; schema && gsai_schema_next_line(&schema, &line);) {
        n_numbers += gsai_schema_line_is(&line, "number") || gsai_schema_line_is(&line, "date") ||
                     gsai_schema_line_is(&line, "offset");
        has_customers = has_customers || gsai_schema_line_is(&line, "per");
        for (size_t i = 0; i < line.name_size && gsai_schema_line_is(&line, "bits"); i++)
            bits = 10 * bits + (unsigned)(line.name[i] - '0');
    }
    *n_features = 1 + n_numbers;
    return has_customers ? 2 * n_numbers + (UINT64_C(1) << bits % 32) : UINT64_MAX;
}

bool gsai_schema_has_exposure(const char *schema)
{
    gsai_schema_line line;
    return schema && gsai_schema_find_line(schema, "exposure", &line);
}

bool gsai_schema_offset(const char *schema, uint32_t *feature)
{
    gsai_schema_line line;
    *feature = 0;
    while (schema && gsai_schema_next_line(&schema, &line)) {
        if (gsai_schema_line_is(&line, "offset"))
            return true;
        *feature += gsai_schema_line_is(&line, "number") || gsai_schema_line_is(&line, "date");
    }
    return false;
}

int gsai_schema_next_sign(const char **schema, uint64_t *next, uint32_t *feature)
{
    gsai_schema_line line;
    while (*schema && gsai_schema_next_line(schema, &line)) {
        bool is_number = gsai_schema_line_is(&line, "number");
        bool counts = is_number || gsai_schema_line_is(&line, "date") || gsai_schema_line_is(&line, "offset");
        *feature = (uint32_t)*next;
        *next += counts;
        for (const char *item = line.items; is_number && *item == '\t'; item += 1 + strcspn(item + 1, "\t\n"))
            if (strcspn(item + 1, "\t\n") == sizeof "increasing" - 1 && memcmp(item + 3, "creasing", 8) == 0)
                return item[1] == 'i' ? 1 : -1;
    }
    return 0;
}

gsa_status gsai_schema_check_unsigned(const char *schema, gsa_error *error)
{
    uint64_t next = 0;
    uint32_t feature;
    if (gsai_schema_next_sign(&schema, &next, &feature) == 0)
        return GSA_OK;
    return gsai_fail_param(error, "increasing", GSA_ARGUMENT,
                           "increasing and decreasing columns need all rows at once, in memory: method optimum, no "
                           "model to start from, and no merge; leave them out, or take fewer rows");
}

const char *gsai_schema_label(const char *schema, size_t *size)
{
    gsai_schema_line line;
    bool is_found = schema && gsai_schema_find_line(schema, "label", &line);
    *size = is_found ? line.name_size : 0;
    return is_found ? line.name : "";
}

static void find_features(gsa_state *state)
{
    uint32_t feature;
    uint64_t each, first_own = gsai_schema_customers(state->schema, &each);
    state->own_slot = first_own < UINT64_MAX ? first_own + 1 : 0;
    state->offset_slot = gsai_schema_offset(state->schema, &feature) ? (uint64_t)feature + 1 : 0;
}

static void release(gsa_state *state)
{
    gsai_free(&state->env, state->schema);
}

static gsa_status copy_schema(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    to->offset_slot = from->offset_slot;
    to->own_slot = from->own_slot;
    return gsai_schema_copy(&to->schema, from->schema, &to->env, error);
}

static gsa_status merge_schema(const gsai_merge *merge, gsa_error *error)
{
    return copy_schema(merge->into, merge->states[0], error);
}

static void save_schema(gsai_snapshot *snapshot, const gsa_state *state)
{
    gsai_schema_save(snapshot, state->schema);
}

static gsa_status load_schema(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    gsa_status status = gsai_schema_load(&state->schema, bundle, &state->env, error);
    find_features(state);
    return status;
}

const gsai_part_functions gsai_schema_part = {
    .release = release, .copy = copy_schema, .merge = merge_schema, .save = save_schema, .load = load_schema};

gsa_status gsa_state_set_schema(gsa_state *state, const char *text, gsa_error *error)
{
    bool begun = state->n_rows > 0 || state->sample.n > 0 || state->lineage.n > 0 || state->position.pass > 0;
    if (equal(state->schema, text))
        return GSA_OK;
    gsa_status status = begun ? gsai_schema_check(state->schema, text, error)
                              : gsai_schema_copy(&state->schema, text, &state->env, error);
    find_features(state);
    if (status != GSA_OK && begun)
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
