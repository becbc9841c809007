/* The features of the largest absolute values. */
#include "top.h"

#include <math.h>
#include <stdlib.h>

bool top_init(top_features *top, size_t max)
{
    *top = (top_features){.at = calloc(max + 1, sizeof *top->at), .max = max};
    return top->at != NULL;
}

void top_free(top_features *top)
{
    free(top->at);
    *top = (top_features){0};
}

void top_consider(top_features *top, top_feature feature)
{
    size_t at = top->n;
    if (at == top->max && (at == 0 || fabs(top->at[at - 1].value) >= fabs(feature.value)))
        return;
    if (at < top->max)
        top->n++;
    else
        at--;
    for (; at > 0 && fabs(top->at[at - 1].value) < fabs(feature.value); at--)
        top->at[at] = top->at[at - 1];
    top->at[at] = feature;
}
