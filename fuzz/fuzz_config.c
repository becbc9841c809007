/* The parser of parameters, and states of what it takes: a value that was taken is told as a text that is taken again
 * and changes nothing; a state keeps the parameters that decide its result through a file. */
#include "states.h"

static void check_set(gsa_config *config, const char *name, const char *value)
{
    char before[64], told[64];
    gsa_error error = {0};
    const char *text = gsai_params_get(&config->params, name);
    snprintf(before, sizeof before, "%s", text ? text : "");
    gsa_status status = fuzz_status(gsa_config_set(config, name, value, &error), &error);
    text = gsai_params_get(&config->params, name);
    fuzz_must(status == GSA_OK || status == GSA_ARGUMENT, "a parameter is taken or refused", error.message);
    fuzz_must((text != NULL) == (status == GSA_OK) || status != GSA_OK, "what was taken has a value", name);
    if (status != GSA_OK) {
        fuzz_must(!text || strcmp(text, before) == 0, "what was refused changes nothing", name);
        return;
    }
    snprintf(told, sizeof told, "%s", text);
    fuzz_must(gsa_config_set(config, name, told, &error) == GSA_OK, "a value that is told is taken", told);
    fuzz_must(strcmp(gsai_params_get(&config->params, name), told) == 0, "and changes nothing", told);
}

static void check_state(const gsa_config *config)
{
    static fuzz_bytes file;
    gsa_state *state = NULL, *back = NULL;
    gsa_error error = {0};
    gsa_status status = fuzz_status(gsa_state_new(config, &fuzz_state_env.memory, &state, &error), &error);
    fuzz_must(status == GSA_OK || status == GSA_ARGUMENT, "parameters fit together or not", error.message);
    if (status != GSA_OK)
        return;
    fuzz_write_state(state, &file);
    fuzz_must(gsa_state_read(file.data, file.size, NULL, &back, &error) == GSA_OK, "it loads", error.message);
    for (size_t i = 0; i < GSAI_PARAMS; i++) {
        const char *name = gsa_param_at(i)->name;
        fuzz_must(strcmp(gsa_state_get(state, name), gsai_params_get(&config->params, name)) == 0,
                  "a state has its parameters", name);
        fuzz_must(!gsai_param_decides_result((gsai_param_id)i) ||
                      strcmp(gsa_state_get(back, name), gsai_params_get(&config->params, name)) == 0,
                  "a file has the parameters that decide the result", name);
    }
    gsa_state_free(state);
    gsa_state_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[80], value[200];
    if (size > 1024)
        return -1;
    fuzz_input in = {data, size};
    uint8_t known = fuzz_byte(&in);
    gsa_config *config = NULL;
    gsa_error error = {0};
    fuzz_must(gsa_config_new(NULL, &config, &error) == GSA_OK, "there is memory", NULL);
    for (size_t i = 0; in.left > 0 && i < 8; i++) {
        if (known & 1)
            snprintf(name, sizeof name, "%s", gsa_param_at(fuzz_byte(&in) % GSAI_PARAMS)->name);
        else
            fuzz_text(&in, name, sizeof name - 1);
        known >>= 1;
        check_set(config, name, fuzz_text(&in, value, sizeof value - 1));
    }
    if (size % 4 == 0)
        check_state(config);
    gsa_config_free(config);
    return 0;
}
