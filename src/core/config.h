/* Parameter values, typed and as text. */
#ifndef GSA_CORE_CONFIG_H
#define GSA_CORE_CONFIG_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

typedef enum gsa__param_id {
#define PARAM(name, ...) GSA__PARAM_##name,
#include "core/params.def"
#undef PARAM
    GSA__PARAMS
} gsa__param_id;

/* Numbers of the choices, in the order of the table; those of the loss are names of loss/losses.c. */
enum { GSA__CLASS_WEIGHT_NONE, GSA__CLASS_WEIGHT_BALANCED };
/* The core asks only whether it is the paper's: which of the others a run takes is the engine's choice. */
enum { GSA__METHOD_AUTO, GSA__METHOD_OPTIMUM, GSA__METHOD_GSA, GSA__METHOD_PAPER };
enum { GSA__UNITS_AUTO, GSA__UNITS_GIVEN, GSA__UNITS_FREE };
enum { GSA__AVERAGE_LAST, GSA__AVERAGE_FULL, GSA__AVERAGE_SUFFIX, GSA__AVERAGE_RECENT };

#define GSA__PARAM_TEXT 24
/* The value of a count that the program finds out by itself. */
#define GSA__COUNT_AUTO UINT64_MAX

typedef struct gsa__params {
    uint64_t value[GSA__PARAMS]; /* a count, the number of a choice, or 0 and 1 for off and on */
    char text[GSA__PARAMS][GSA__PARAM_TEXT];
    bool has_custom_loss;
    gsa_margin_loss custom_loss;
} gsa__params;

void gsa__params_init(gsa__params *params);
gsa_status gsa__params_set(gsa__params *params, const char *name, const char *value, gsa_error *error);
const char *gsa__params_get(const gsa__params *params, const char *name);
/* A loss of the caller's; and the one that other parameters have, if they do. */
gsa_status gsa__params_set_loss(gsa__params *params, const gsa_margin_loss *loss, gsa_error *error);
void gsa__params_take_loss(gsa__params *params, const gsa__params *from);
/* The number of a name in the table, GSA__PARAMS if there is none. */
gsa__param_id gsa__param_find(const char *name);
/* Enough to tell a loss to half a percent, few enough to keep in memory. */
#define GSA__HELD_OUT_ROWS 16384u
/* Rows to hold out at most. */
static inline uint64_t gsa__params_holdout(const gsa__params *params)
{
    uint64_t asked = params->value[GSA__PARAM_holdout];
    if (asked != GSA__COUNT_AUTO)
        return asked;
    return params->value[GSA__PARAM_method] == GSA__METHOD_PAPER ? 0 : GSA__HELD_OUT_ROWS;
}
bool gsa__param_decides_result(gsa__param_id id);
/* Not in files where it has its initial value. */
bool gsa__param_is_late(gsa__param_id id);

struct gsa_config {
    gsa_env env;
    gsa__params params;
};

#endif
