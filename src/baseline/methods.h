/* The methods, one or two a file. */
#ifndef GSA_BASELINE_METHODS_H
#define GSA_BASELINE_METHODS_H

#include "baseline/optimizer.h"

extern const gsa__method gsa__sgd, gsa__sgd_decay, gsa__momentum, gsa__gradient_average, gsa__iterate_average,
    gsa__adagrad, gsa__adadelta, gsa__sag, gsa__saga, gsa__svrg, gsa__scsg, gsa__coin, gsa__dog, gsa__polyak,
    gsa__fregata;

#endif
