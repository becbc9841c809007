/* The text of a schema: what parses is made into the same text again, and its facts are those of its lines. */
#include "fuzz.h"

#include "base/memory.h"
#include "data/format/table_schema.h"

#include <greedystep/data.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[FUZZ_MAX + 1];
    if (size > FUZZ_MAX || (size > 0 && memchr(data, 0, size)))
        return -1;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    gsai_env env = gsai_env_resolve(NULL);
    gsai_schema schema;
    gsa_error error = {0};
    gsa_schema_info info = {.size = sizeof info};
    gsai_schema_init(&schema, &env);
    gsa_status status = fuzz_status(gsai_schema_parse(&schema, text, &error), &error);
    if (status == GSA_OK) {
        fuzz_must(schema.text && strcmp(schema.text, text) == 0, "a schema that is read has one text", schema.text);
        size_t n = 0;
        for (size_t kind = 0; kind < GSAI_FIELD_KINDS; kind++)
            n += schema.n_of_kind[kind];
        fuzz_must(n == schema.n_fields, "every field is of a kind", NULL);
        for (size_t i = 0; i < schema.n_fields; i++)
            fuzz_must(gsai_schema_find(&schema, schema.field[i].name, schema.field[i].name_size) == i,
                      "every field is found by its name", NULL);
        fuzz_must(schema.bits >= 1 && schema.bits <= GSAI_MAX_BITS, "bits are in their range", NULL);
    }
    gsa_status told = fuzz_status(gsa_schema_get_info(text, &info, &error), &error);
    fuzz_must((told == GSA_OK) == (status == GSA_OK), "what can be read has facts", NULL);
    fuzz_must(told != GSA_OK || info.n_numbers == schema.n_numbers, "facts are those of the fields", NULL);
    gsai_schema_free(&schema);
    return 0;
}
