/* The progressive loss of the rows since the last line of a trace. */
#include "recent.h"

#include <math.h>
#include <stdbool.h>

void recent_begin(cli_recent *recent, const void *state, const gsa_summary *summary)
{
    *recent = (cli_recent){.n_seen = 1, .pass = summary->pass, .rows_before = summary->n_rows};
    recent->seen[0] = (recent_learner){state, summary->loss_sum, summary->loss_weight};
}

void recent_add(cli_recent *recent, const void *learner, const gsa_summary *summary, const gsa_summary *base)
{
    bool is_new_pass = summary->pass != recent->pass, is_new_round = base && base->n_rows != recent->rows_before;
    if (is_new_pass || is_new_round)
        recent->n_seen = 0;
    if (is_new_pass)
        recent->sum = recent->weight = 0;
    recent->pass = summary->pass;
    recent->rows_before = base ? base->n_rows : recent->rows_before;
    recent_learner unseen = {.who = learner};
    if (base && base->pass == summary->pass) {
        unseen.sum = base->loss_sum;
        unseen.weight = base->loss_weight;
    }
    /* Its last report. If there are more learners than slots, those that follow one another share the last slot. */
    size_t at = 0, max = sizeof recent->seen / sizeof *recent->seen;
    while (at < recent->n_seen && recent->seen[at].who != learner)
        at++;
    if (at == recent->n_seen) {
        at = at < max ? at : max - 1;
        recent->n_seen = at + 1;
        recent->seen[at] = unseen;
    }
    recent_learner *before = &recent->seen[at];
    if (summary->loss_weight < before->weight) /* another one, which lies where that one lay */
        *before = unseen;
    recent->sum += summary->loss_sum - before->sum;
    recent->weight += summary->loss_weight - before->weight;
    *before = (recent_learner){learner, summary->loss_sum, summary->loss_weight};
}

double recent_take(cli_recent *recent)
{
    double mean = recent->weight > 0 ? recent->sum / recent->weight : (double)NAN;
    recent->sum = recent->weight = 0;
    return mean;
}
