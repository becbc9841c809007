/* The parameter table and its values. */
#include "learn/config.h"

#include "learn/loss/loss.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <string.h>

#define OR(name) "|" #name
static const struct {
    gsa_param param;
    int decides_result;
} table[] = {
#define PARAM(name, kind, choices, initial, least, most, decides, help) \
    {{#name, GSA_PARAM_##kind, choices, initial, least, most, help}, decides},
#include "learn/params.def"
#undef PARAM
};

const gsa_param *gsa_param_at(size_t number)
{
    return number < GSAI_PARAMS ? &table[number].param : NULL;
}

bool gsai_param_decides_result(gsai_param_id id)
{
    return table[id].decides_result > 0;
}

bool gsai_param_is_late(gsai_param_id id)
{
    return table[id].decides_result > 1;
}

/* A dash and an underscore are the same. */
static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
            return false;
    return *a == *b;
}

gsai_param_id gsai_param_find(const char *name)
{
    size_t id = 0;
    while (id < GSAI_PARAMS && !same_name(table[id].param.name, name))
        id++;
    return (gsai_param_id)id;
}

/* The number of `value` in "a|b|c", or -1. */
static int choice_number(const char *choices, const char *value)
{
    size_t len = strlen(value);
    for (int number = 0; choices; number++) {
        const char *end = strchr(choices, '|');
        size_t choice_len = end ? (size_t)(end - choices) : strlen(choices);
        if (choice_len == len && memcmp(choices, value, len) == 0)
            return number;
        choices = end ? end + 1 : NULL;
    }
    return -1;
}

/* Returns whether the value of a count is one of its words: N stands for a number. */
static bool is_word(const gsa_param *param, const char *value)
{
    return param->kind == GSA_PARAM_COUNT && strcmp(value, "N") != 0 && choice_number(param->choices, value) >= 0;
}

/* Reads a number between 0 and 1, rounded to millionths. */
static bool parse_share(const char *text, uint64_t *out)
{
    uint64_t unit = GSAI_SHARE_UNITS, value = 0;
    text += *text == '0';
    if (*text != '.')
        return false;
    while (*++text >= '0' && *text <= '9') {
        value += unit == 1 ? *text >= '5' : (uint64_t)(*text - '0') * (unit / 10);
        unit /= 10;
    }
    *out = value;
    return *text == '\0';
}

static gsa_status parse_value(const gsa_param *param, const char *value, uint64_t *out, gsa_error *error)
{
    bool is_switch = param->kind == GSA_PARAM_SWITCH, is_share = param->kind == GSA_PARAM_SHARE;
    if (is_share && !(parse_share(value, out) && *out >= param->least && *out <= param->most))
        return gsai_fail(error, GSA_ARGUMENT, "%s is '%s', expected a number above 0 and below 1, such as 0.9",
                         param->name, value);
    if (is_share)
        return GSA_OK;
    if (param->kind != GSA_PARAM_COUNT) {
        int number = choice_number(is_switch ? "off|on|false|true|no|yes|0|1" : param->choices, value);
        *out = (uint64_t)(is_switch ? number % 2 : number);
        return number >= 0 ? GSA_OK
                           : gsai_fail(error, GSA_ARGUMENT, "%s is '%s', expected %s%s", param->name, value,
                                       is_switch ? "on or off" : "one of ", is_switch ? "" : param->choices);
    }
    if (is_word(param, value)) {
        *out = strcmp(value, "none") == 0 ? 0 : GSA_COUNT_AUTO;
        return GSA_OK;
    }
    if (gsai_count_parse(value, out) && *out >= param->least && *out <= param->most)
        return GSA_OK;
    int before_n = (int)strlen(param->choices) - 1;
    return gsai_fail(error, GSA_ARGUMENT, "%s is '%s', expected %.*s%sa whole number from %llu to %llu", param->name,
                     value, before_n > 0 ? before_n - 1 : 0, param->choices, before_n > 0 ? " or " : "",
                     (unsigned long long)param->least, (unsigned long long)param->most);
}

/* Equal values have equal texts, however they were typed. */
void gsai_params_set_number(gsai_params *params, gsai_param_id id, uint64_t number)
{
    const gsa_param *param = &table[id].param;
    const char *word = number == 0 ? "none" : "auto", *choice = param->choices;
    char *text = params->text[id];
    params->value[id] = number;
    memset(text, 0, GSAI_PARAM_TEXT);
    switch (param->kind) {
    case GSA_PARAM_CHOICE:
        for (; number > 0; number--)
            choice = strchr(choice, '|') + 1;
        memcpy(text, choice, strcspn(choice, "|"));
        break;
    case GSA_PARAM_SWITCH:
        strncpy(text, number ? "on" : "off", GSAI_PARAM_TEXT - 1);
        break;
    case GSA_PARAM_SHARE:
        for (*text++ = '0', *text++ = '.'; number > 0; number = number % (GSAI_SHARE_UNITS / 10) * 10)
            *text++ = (char)('0' + number / (GSAI_SHARE_UNITS / 10));
        break;
    case GSA_PARAM_COUNT:
        if ((number == 0 || number == GSA_COUNT_AUTO) && is_word(param, word))
            strncpy(text, word, GSAI_PARAM_TEXT - 1);
        else
            *gsai_decimal_unsigned(number, text) = '\0';
    }
}

static gsa_status unknown_name(const char *name, gsa_error *error)
{
    size_t best = 0, best_distance = SIZE_MAX;
    for (size_t id = 0; id < GSAI_PARAMS; id++) {
        size_t distance = gsai_edit_distance(name, table[id].param.name);
        if (distance < best_distance) {
            best = id;
            best_distance = distance;
        }
    }
    if (best_distance <= 2)
        return gsai_fail(error, GSA_ARGUMENT, "unknown parameter '%s'; did you mean '%s'?", name,
                         table[best].param.name);
    return gsai_fail(error, GSA_ARGUMENT, "unknown parameter '%s'", name);
}

gsa_status gsai_params_set(gsai_params *params, const char *name, const char *value, gsa_error *error)
{
    gsai_param_id id = gsai_param_find(name);
    if (id == GSAI_PARAMS)
        return unknown_name(name, error);
    uint64_t number;
    GSA_TRY(gsai_fail_about(error, table[id].param.name, parse_value(&table[id].param, value, &number, error)));
    gsai_params_set_number(params, id, number);
    return GSA_OK;
}

gsa_status gsai_params_check(const gsai_params *params, gsa_error *error)
{
    uint64_t average = params->value[GSAI_PARAM_average];
    bool is_of_paper = average == GSAI_AVERAGE_FULL || average == GSAI_AVERAGE_SUFFIX;
    if (!is_of_paper || params->value[GSAI_PARAM_method] == GSAI_METHOD_PAPER)
        return GSA_OK;
    return gsai_fail_param(error, "average", GSA_ARGUMENT,
                           "average=%s is for method paper; choose recent or last, or method paper",
                           params->text[GSAI_PARAM_average]);
}

const char *gsai_params_get(const gsai_params *params, const char *name)
{
    gsai_param_id id = gsai_param_find(name);
    return id == GSAI_PARAMS ? NULL : params->text[id];
}

gsa_status gsai_params_set_loss(gsai_params *params, const gsa_margin_loss *loss, gsa_error *error)
{
    gsa_margin_loss taken;
    GSA_TRY(gsai_take(&taken, loss, error));
    if (!taken.loss || !taken.derivative)
        return gsai_fail(error, GSA_ARGUMENT, "a loss needs both of its functions");
    params->custom_loss = taken;
    params->has_custom_loss = true;
    return GSA_OK;
}

void gsai_params_take_loss(gsai_params *params, const gsai_params *from)
{
    if (from->has_custom_loss)
        (void)gsai_params_set_loss(params, &from->custom_loss, NULL);
}

void gsai_params_init(gsai_params *params)
{
    memset(params, 0, sizeof *params);
    for (size_t id = 0; id < GSAI_PARAMS; id++) {
        uint64_t number = 0;
        (void)parse_value(&table[id].param, table[id].param.initial, &number, NULL);
        gsai_params_set_number(params, (gsai_param_id)id, number);
    }
}

gsa_status gsa_config_new(const gsa_memory *memory, gsa_config **out, gsa_error *error)
{
    gsai_env resolved;
    GSA_TRY(gsai_env_take(&resolved, memory, NULL, error));
    gsa_config *config = gsai_alloc(&resolved, 1, sizeof *config);
    GSAI_TRY_MEMORY(config, &resolved, error, "no memory for a configuration");
    config->env = resolved;
    gsai_params_init(&config->params);
    *out = config;
    return GSA_OK;
}

void gsa_config_free(gsa_config *config)
{
    if (config) {
        gsai_env env = config->env;
        gsai_free(&env, config);
    }
}

gsa_status gsa_config_set(gsa_config *config, const char *name, const char *value, gsa_error *error)
{
    return gsai_params_set(&config->params, name, value, error);
}

gsa_status gsa_config_set_loss(gsa_config *config, const gsa_margin_loss *loss, gsa_error *error)
{
    return gsai_params_set_loss(&config->params, loss, error);
}
