/* The life of replicas: forked, settled, merged. */
#include "train/replicas.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"
#include "train/comm.h"

gsa_status gsai_replicas_begin(gsai_replicas *replicas, const gsa_step *step, size_t own_first, size_t own_end,
                               const uint64_t *shard_rows, gsa_error *error)
{
    const gsai_env *env = &replicas->job->env;
    GSAI_TRY_MEMORY(gsai_reserve(env, &replicas->resident, &replicas->capacity, step->n_resident, sizeof(gsa_state *)),
                    env, error, "no memory for %zu replicas", step->n_resident);
    replicas->step = *step;
    replicas->own_first = own_first;
    replicas->own_end = own_end;
    replicas->shard_rows = shard_rows;
    replicas->first = replicas->n = replicas->n_begun = 0;
    return gsa_state_close_group(replicas->job->state, error);
}

static bool is_own(const gsai_replicas *replicas, size_t number)
{
    return number >= replicas->own_first && number < replicas->own_end;
}

/* Makes a replica (task), in the memory of one that has learned before if there is any. */
static gsa_status make_replica(void *ctx, size_t task, gsa_error *error)
{
    const gsai_replicas *replicas = ctx;
    const gsa_state *base = replicas->job->state;
    gsa_state **replica = &replicas->resident[task];
    size_t number = replicas->first + task, n_copies = replicas->step.n_replicas;
    if (!is_own(replicas, number))
        return GSA_OK;
    if (replicas->shard_rows)
        n_copies = (size_t)gsa_plan_replicas(replicas->step.n_rows, replicas->shard_rows[number - replicas->own_first]);
    return *replica ? gsa_state_refresh(*replica, base, n_copies, error)
                    : gsa_state_fork(base, n_copies, replica, error);
}

gsa_status gsai_replicas_fork(gsai_replicas *replicas, gsa_error *error)
{
    const gsai_env *env = &replicas->job->env;
    size_t left = replicas->step.n_replicas - replicas->n_begun;
    replicas->first = replicas->n_begun;
    replicas->n = replicas->step.n_resident < left ? replicas->step.n_resident : left;
    for (size_t i = 0; i < replicas->n; i++) {
        bool reuses = is_own(replicas, replicas->first + i) && replicas->n_spare > 0;
        replicas->resident[i] = reuses ? replicas->spare[--replicas->n_spare] : NULL;
    }
    replicas->n_begun += replicas->n;
    return gsai_workers_run(gsai_workers_count(env), replicas->n, make_replica, replicas, env, error);
}

bool gsai_replicas_has_next(const gsai_replicas *replicas)
{
    return replicas->n_begun < replicas->step.n_replicas;
}

static void drop_residents(gsai_replicas *replicas)
{
    while (replicas->n > 0) {
        gsa_state *replica = replicas->resident[--replicas->n];
        if (replica && replicas->n_spare < GSA_MAX_RESIDENT)
            replicas->spare[replicas->n_spare++] = replica;
        else
            gsa_state_free(replica);
    }
}

void gsai_replicas_clear(gsai_replicas *replicas)
{
    drop_residents(replicas);
    gsai_pending_drop(&replicas->pending);
    replicas->n_begun = 0;
}

void gsai_replicas_free(gsai_replicas *replicas)
{
    if (!replicas->job)
        return;
    gsai_replicas_clear(replicas);
    while (replicas->n_spare > 0)
        gsa_state_free(replicas->spare[--replicas->n_spare]);
    gsai_free(&replicas->job->env, replicas->resident);
    replicas->resident = NULL;
}

bool gsai_replicas_have_new_labels(const gsai_replicas *replicas)
{
    uint64_t n_known = gsai_summary_of(replicas->job->state).n_classes;
    bool have = false;
    for (size_t i = 0; i < replicas->n; i++)
        have = have || (replicas->resident[i] && gsai_summary_of(replicas->resident[i]).n_classes != n_known);
    return have;
}

gsa_status gsai_replicas_settle(gsai_replicas *replicas, gsa_error *error)
{
    size_t from = replicas->first > replicas->own_first ? replicas->first : replicas->own_first;
    size_t end = replicas->first + replicas->n < replicas->own_end ? replicas->first + replicas->n : replicas->own_end;
    gsa_status status = GSA_OK;
    if (!replicas->pending.job)
        gsai_pending_begin(&replicas->pending, replicas->job);
    if (from < end)
        status =
            gsai_pending_add(&replicas->pending, (const gsa_state *const *)replicas->resident + from - replicas->first,
                             end - from, from, error);
    drop_residents(replicas);
    return status;
}

/* Merges replicas as they are: every process gets those of all others. */
static gsa_status merge_whole(gsai_replicas *replicas, gsa_status status, gsa_state **out, gsa_error *error)
{
    gsai_job *job = replicas->job;
    size_t n_own = replicas->own_end - replicas->own_first;
    status = gsai_comm_share(job, status, replicas->resident, replicas->n, replicas->own_first, n_own, error);
    return status == GSA_OK ? gsa_state_merge((const gsa_state *const *)replicas->resident, replicas->n, job->state,
                                              &job->env.call, out, error)
                            : status;
}

gsa_status gsai_replicas_merge(gsai_replicas *replicas, gsa_status status, bool whole, gsa_error *error)
{
    gsai_job *job = replicas->job;
    gsa_state *merged = NULL;
    bool are_all = replicas->first == 0 && replicas->n > 0;
    if (are_all && (whole || gsai_comm_size(job) == 1)) {
        status = merge_whole(replicas, status, &merged, error);
    } else {
        if (replicas->n > 0 && status == GSA_OK)
            status = gsai_replicas_settle(replicas, error);
        status = gsai_pending_merge(&replicas->pending, status, replicas->n_begun, &merged, error);
    }
    if (status != GSA_OK)
        return status;
    gsai_replicas_clear(replicas);
    return gsa_state_replace(job->state, merged, error);
}
