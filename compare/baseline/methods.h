/* The methods, one or two per file. */
#ifndef GSA_BASELINE_METHODS_H
#define GSA_BASELINE_METHODS_H

#include "baseline/optimizer.h"

extern const gsai_method gsai_sgd, gsai_sgd_decay, gsai_momentum, gsai_gradient_average, gsai_iterate_average,
    gsai_adagrad, gsai_adadelta, gsai_sag, gsai_saga, gsai_svrg, gsai_scsg, gsai_coin, gsai_dog, gsai_polyak,
    gsai_fregata, gsai_ftrl, gsai_schedule_free;

#endif
