/* Parameter values, typed and as text. */
#ifndef GSA_LEARN_CONFIG_H
#define GSA_LEARN_CONFIG_H

#include "base/memory.h"

#include <stdbool.h>

typedef enum gsai_param_id {
#define PARAM(name, ...) GSAI_PARAM_##name,
#include "learn/params.def"
#undef PARAM
    GSAI_PARAMS
} gsai_param_id;

/* Numbers of the choices, in the order of the table; those of the loss are names of loss/losses.c. */
enum { GSAI_CLASS_WEIGHT_NONE, GSAI_CLASS_WEIGHT_BALANCED };
/* States ask only whether it is the paper's; training chooses among the others. */
enum { GSAI_METHOD_AUTO, GSAI_METHOD_OPTIMUM, GSAI_METHOD_GSA, GSAI_METHOD_PAPER };
enum { GSAI_HOLDOUT_AUTO, GSAI_HOLDOUT_NONE };
enum { GSAI_ORDER_AUTO, GSAI_ORDER_SHUFFLED, GSAI_ORDER_FILE };
enum { GSAI_SCALE_AUTO, GSAI_SCALE_NONE, GSAI_SCALE_STANDARD };
enum { GSAI_AVERAGE_AUTO, GSAI_AVERAGE_LAST, GSAI_AVERAGE_FULL, GSAI_AVERAGE_SUFFIX, GSAI_AVERAGE_RECENT };

#define GSAI_PARAM_TEXT 24
#define GSAI_SHARE_UNITS 1000000 /* a share is counted in millionths */

typedef struct gsai_params {
    uint64_t value[GSAI_PARAMS]; /* a count (none: 0), a share, the number of a choice, or 0 and 1 for off and on */
    char text[GSAI_PARAMS][GSAI_PARAM_TEXT];
    bool has_custom_loss;
    gsa_margin_loss custom_loss;
} gsai_params;

void gsai_params_init(gsai_params *params);
gsa_status gsai_params_set(gsai_params *params, const char *name, const char *value, gsa_error *error);
/* Sets a parameter to a number that is one of its values, and its text to that of the number. */
void gsai_params_set_number(gsai_params *params, gsai_param_id id, uint64_t number);
const char *gsai_params_get(const gsai_params *params, const char *name);
/* Set a loss of the caller's, and take the one that other parameters have, if any. */
gsa_status gsai_params_set_loss(gsai_params *params, const gsa_margin_loss *loss, gsa_error *error);
void gsai_params_take_loss(gsai_params *params, const gsai_params *from);
/* Returns the number of a name in the table, GSAI_PARAMS if not found. */
gsai_param_id gsai_param_find(const char *name);
/* Returns the maximum number of rows to hold out: by default enough to tell a loss to half a percent, and few enough to
 * keep in memory. Algorithm 1 of the paper learns every row. */
static inline uint64_t gsai_params_holdout(const gsai_params *params)
{
    bool holds_out =
        params->value[GSAI_PARAM_holdout] == GSAI_HOLDOUT_AUTO && params->value[GSAI_PARAM_method] != GSAI_METHOD_PAPER;
    return holds_out ? params->value[GSAI_PARAM_max_held_out] : 0;
}
/* Returns which weights the model has: Algorithm 1 of the paper returns the last ones. */
static inline uint64_t gsai_params_average(const gsai_params *params)
{
    uint64_t asked = params->value[GSAI_PARAM_average];
    if (asked != GSAI_AVERAGE_AUTO)
        return asked;
    return params->value[GSAI_PARAM_method] == GSAI_METHOD_PAPER ? GSAI_AVERAGE_LAST : GSAI_AVERAGE_RECENT;
}
/* Returns the share of labels that predictions of a loss with a quantile are to be above. */
static inline double gsai_params_quantile(const gsai_params *params)
{
    return (double)params->value[GSAI_PARAM_quantile] / GSAI_SHARE_UNITS;
}
/* Returns whether rows of rare classes count for more. */
static inline bool gsai_params_balance(const gsai_params *params)
{
    return params->value[GSAI_PARAM_class_weight] == GSAI_CLASS_WEIGHT_BALANCED;
}
/* Returns GSA_ARGUMENT if parameters exclude each other. */
gsa_status gsai_params_check(const gsai_params *params, gsa_error *error);
bool gsai_param_decides_result(gsai_param_id id);
/* Returns whether files leave the parameter out if it has its initial value. */
bool gsai_param_is_late(gsai_param_id id);

struct gsa_config {
    gsai_env env;
    gsai_params params;
};

#endif
