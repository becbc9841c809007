/* Files that do not fill a block are learned by a team.
 *
 * Each of its members leaves out an eighth of the rows. So every row is judged by a member that has not learned it, and
 * all rows together tell what a single held-out sample of a small file could not: how many passes are best, whether the
 * units of features mean something, how confident the model may be. The mean of the members is the result; it carries
 * less of the noise of one order of rows than one member does, on sparse data much less.
 *
 * Two candidates, features in the units given and free of them, run side by side until one has stopped gaining, or is
 * behind by more than it can catch up. Nothing of the state is touched before the end. */
#include "engine/team.h"

#include "engine/block.h"
#include "engine/peers.h"
#include "engine/workers.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"

#include "core/team.h"

#include <math.h>
#include <string.h>

#define MEMBERS 8u
#define CANDIDATES 2u
/* Cells of all tables together, 4 bytes each. */
#define CELLS_MOST ((uint64_t)1 << 28)
/* A candidate that is behind by more than this share is out, unless it would catch up if it gained as in the last pass
 * that was better, for a part of the passes that there may be: one in other units may need many to show what it is
 * worth. */
#define BEHIND_MOST 0.01
#define PASSES_TO_CATCH_UP 0.25
/* Where no number of passes is asked for, one that has not gained for so large a part of them has ended: few rows make
 * a loss that goes up and down. Its best still counts. */
#define PASSES_OF_PATIENCE 0.05

struct candidate {
    gsa_state *member[MEMBERS];
    gsa_state *best; /* the mean after the best pass */
    double best_loss;
    double gain;       /* of the last pass that was better, as a share */
    unsigned n_worse;  /* passes since then */
    int alive, better; /* better: its last pass was the best so far */
};

struct team {
    const gsa__assignment *job;
    gsa_state *base; /* a copy of the run's state that knows of all rows what has to be known ahead */
    uint32_t n_members;
    uint8_t *fold; /* [rows]: who leaves it out */
    uint64_t pass, most_passes;
    struct candidate candidate[CANDIDATES];
    size_t n_candidates;
    /* Those at work in this pass, and their members one after the other: tasks are by number. */
    struct candidate *working[CANDIDATES];
    size_t n_working;
    size_t task[CANDIDATES * MEMBERS], n_tasks; /* of this process */
};

static uint32_t members_for(size_t n_rows)
{
    return n_rows / 2 < MEMBERS ? (uint32_t)(n_rows / 2) : MEMBERS;
}

int gsa__team_fits(const gsa_batch *rows, uint64_t n_outputs, uint64_t *size)
{
    uint64_t n_slots = 1 + (rows->index ? 0 : rows->width);
    int64_t n_entries = rows->index ? rows->row_start[rows->n_rows] : 0;
    for (int64_t i = 0; i < n_entries; i++)
        if (rows->index[i] + (uint64_t)2 > n_slots)
            n_slots = rows->index[i] + (uint64_t)2;
    uint64_t record = 2 * n_outputs + 2, tables = (uint64_t)CANDIDATES * MEMBERS;
    *size = n_slots * record * tables * sizeof(float); /* far below 2^64 */
    return members_for(rows->n_rows) >= 2 && *size / sizeof(float) <= CELLS_MOST;
}

/* ---- setting up -------------------------------------------------------------------------------------------------- */

static gsa_status new_order(const gsa__assignment *job, uint32_t **out, gsa_error *error)
{
    *out = gsa__alloc(&job->run->env, job->rows->n_rows, sizeof **out);
    return *out ? GSA_OK
                : gsa__fail_memory(&job->run->env, error, "no memory for the order of %zu rows", job->rows->n_rows);
}

static gsa_status leave_out_fold(const struct team *team, gsa_state *member, uint32_t number, gsa_error *error)
{
    const gsa__assignment *job = team->job;
    uint32_t *rows;
    size_t n = 0;
    gsa_status status = new_order(job, &rows, error);
    if (status != GSA_OK)
        return status;
    for (size_t row = 0; row < job->rows->n_rows; row++)
        if (team->fold[row] == number)
            rows[n++] = (uint32_t)row;
    status = gsa__state_hold_out(member, job->rows, rows, n, error);
    gsa__free(&job->run->env, rows);
    if (status != GSA_OK)
        gsa_reader_locate(job->run->reader, job->rows, error);
    return status;
}

static gsa_status new_member(struct team *team, const char *units, uint32_t number, gsa_state **out, gsa_error *error)
{
    const gsa__assignment *job = team->job;
    gsa_status status = gsa_state_fork(team->base, 1, &job->run->env, out, error);
    if (status == GSA_OK)
        status = gsa_state_set(*out, "holdout", "0", error);
    if (status == GSA_OK && units)
        status = gsa_state_set(*out, "units", units, error);
    return status == GSA_OK ? leave_out_fold(team, *out, number, error) : status;
}

/* units NULL: as the state has them. */
static gsa_status new_candidate(struct team *team, const char *units, gsa_error *error)
{
    struct candidate *candidate = &team->candidate[team->n_candidates++];
    gsa_status status = GSA_OK;
    candidate->best_loss = INFINITY;
    candidate->alive = 1;
    for (uint32_t i = 0; i < team->n_members && status == GSA_OK; i++)
        status = new_member(team, units, i, &candidate->member[i], error);
    return status;
}

static void drop_members(struct candidate *candidate)
{
    for (uint32_t i = 0; i < MEMBERS; i++) {
        gsa_state_free(candidate->member[i]);
        candidate->member[i] = NULL;
    }
}

static gsa_status set_up(struct team *team, gsa_error *error)
{
    const gsa__assignment *job = team->job;
    size_t n_rows = job->rows->n_rows;
    team->n_members = members_for(n_rows);
    team->most_passes = job->passes > 0 ? job->passes : gsa_plan_passes(n_rows);
    team->fold = gsa__alloc(&job->run->env, n_rows, sizeof *team->fold);
    if (!team->fold)
        return gsa__fail_memory(&job->run->env, error, "no memory for the folds of %zu rows", n_rows);
    gsa_status status = gsa__fold_rows(job->rows, job->seed, team->n_members, &job->run->env, team->fold, error);
    if (status != GSA_OK)
        return status;
    gsa_summary summary = gsa__summary_of(job->run->state);
    /* A run that starts from a model goes on in the units of that model. */
    int open = summary.n_features == 0 && strcmp(gsa_state_get(job->run->state, "units"), "auto") == 0;
    status = gsa_state_fork(job->run->state, 1, &job->run->env, &team->base, error);
    if (status == GSA_OK && (status = gsa__state_expect(team->base, job->rows, error)) != GSA_OK)
        gsa_reader_locate(job->run->reader, job->rows, error);
    if (status == GSA_OK)
        status = new_candidate(team, open ? "given" : NULL, error);
    return status == GSA_OK && open ? new_candidate(team, "free", error) : status;
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* Task: one pass of one member of a candidate at work, over the rows that it does not leave out. The first task tells
 * how far it is: the caller's thread runs it. */
static gsa_status run_member(void *ctx, size_t nth, gsa_error *error)
{
    struct team *team = ctx;
    const gsa__assignment *job = team->job;
    size_t task = team->task[nth];
    uint32_t number = (uint32_t)(task % team->n_members), *order;
    gsa_state *member = team->working[task / team->n_members]->member[number];
    gsa_status status = new_order(job, &order, error);
    if (status != GSA_OK)
        return status;
    gsa__block_order(job->shuffled, job->seed, team->pass, number, (uint32_t)job->rows->n_rows, order);
    size_t n = 0;
    for (size_t i = 0; i < job->rows->n_rows; i++)
        if (team->fold[order[i]] != number)
            order[n++] = order[i];
    status = gsa__job_learn(job->run, member, job->rows, order, n, nth == 0, error);
    gsa__free(&job->run->env, order);
    gsa_state_end_pass(member);
    return status;
}

/* Task: the mean of a candidate's members, kept if the pass was the best so far (or was asked for); the candidate stays
 * alive unless it has had no better pass for long. */
static gsa_status judge_candidate(void *ctx, size_t task, gsa_error *error)
{
    struct team *team = ctx;
    const gsa__assignment *job = team->job;
    struct candidate *candidate = team->working[task];
    gsa_state *mean = NULL;
    double loss = INFINITY;
    gsa_status status = gsa__state_merge_folds((const gsa_state *const *)candidate->member, team->n_members, team->base,
                                               &job->run->env, &mean, &loss, error);
    if (status != GSA_OK)
        return status;
    candidate->better = job->passes > 0 || !candidate->best || loss < (1 - GSA_GAIN_LEAST) * candidate->best_loss;
    if (candidate->better) {
        candidate->gain = candidate->best ? 1 - loss / candidate->best_loss : INFINITY;
        gsa_state_free(candidate->best);
        candidate->best = mean;
        candidate->best_loss = loss;
        candidate->n_worse = 0;
    } else {
        gsa_state_free(mean);
        candidate->n_worse++;
        candidate->alive = candidate->n_worse < PASSES_OF_PATIENCE * (double)team->most_passes;
    }
    return GSA_OK;
}

/* Members are dealt out to processes; after a pass everyone has all of them. */
static gsa_status run_members(struct team *team, gsa_error *error)
{
    gsa__job *run = team->job->run;
    gsa_state *member[CANDIDATES * MEMBERS];
    size_t n = team->n_working * team->n_members;
    team->n_tasks = 0;
    for (size_t i = 0; i < n; i++)
        if (gsa__peers_is_mine(run, i, n))
            team->task[team->n_tasks++] = i;
    gsa_status status = GSA_OK;
    if (team->n_tasks > 0)
        status = gsa__workers_run(gsa__workers_count(&run->env), team->n_tasks, run_member, team, &run->env, error);
    for (size_t i = 0; i < n; i++) /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): n is a multiple of the members */
        member[i] = team->working[i / team->n_members]->member[i % team->n_members];
    status = gsa__peers_share(run, status, member, n, n, error);
    for (size_t i = 0; i < n; i++)
        team->working[i / team->n_members]->member[i % team->n_members] = member[i];
    return status;
}

static gsa_status run_pass(struct team *team, gsa_error *error)
{
    const gsa_env *env = &team->job->run->env;
    size_t n_threads = gsa__workers_count(env);
    team->n_working = 0;
    for (size_t i = 0; i < team->n_candidates; i++)
        if (team->candidate[i].alive)
            team->working[team->n_working++] = &team->candidate[i];
    gsa_status status = run_members(team, error);
    return status == GSA_OK ? gsa__workers_run(n_threads, team->n_working, judge_candidate, team, env, error) : status;
}

static struct candidate *leader(struct team *team)
{
    struct candidate *first = &team->candidate[0];
    for (size_t i = 1; i < team->n_candidates; i++)
        if (team->candidate[i].best_loss < first->best_loss)
            first = &team->candidate[i];
    return first;
}

static int drop_those_behind(struct team *team)
{
    int alive = 0;
    double best = leader(team)->best_loss, passes = PASSES_TO_CATCH_UP * (double)team->most_passes;
    for (size_t i = 0; i < team->n_candidates; i++) {
        struct candidate *candidate = &team->candidate[i];
        double behind = 1 - best / candidate->best_loss;
        double lead = candidate->gain < 1 ? gsa__exp(passes * gsa__log(1 - candidate->gain)) : 0;
        if (behind > BEHIND_MOST && lead >= 1 - behind) {
            candidate->alive = 0;
            candidate->best_loss = INFINITY; /* out for good, even if passes that were asked for make the other worse */
        }
        if (!candidate->alive)
            drop_members(candidate);
        alive += candidate->alive;
    }
    return alive > 0;
}

/* Tells of a pass, with features that have their own numbers. */
static gsa_status tell(const struct team *team, const gsa_state *best, gsa_error *error)
{
    const gsa__assignment *job = team->job;
    gsa_state *spread = NULL;
    if (!job->id || !job->run->hooks.pass_ended)
        return gsa__peers_end_pass(job->run, GSA_OK, best, error);
    gsa_status status = gsa_state_fork(best, 1, &job->run->env, &spread, error);
    if (status == GSA_OK)
        status = gsa__state_spread(spread, job->id, job->n_ids, error);
    status = gsa__peers_end_pass(job->run, status, spread, error);
    gsa_state_free(spread);
    return status;
}

static gsa_status run_passes(struct team *team, gsa_error *error)
{
    gsa_status status = GSA_OK;
    int alive = 1;
    for (; team->pass < team->most_passes && alive && status == GSA_OK; team->pass++) {
        status = run_pass(team, error);
        if (status != GSA_OK)
            return status;
        alive = drop_those_behind(team);
        if (leader(team)->better)
            status = tell(team, leader(team)->best, error);
    }
    return status;
}

gsa_status gsa__team_train(const gsa__assignment *job, gsa_error *error)
{
    struct team team = {.job = job};
    gsa_status status = set_up(&team, error);
    if (status == GSA_OK)
        status = run_passes(&team, error);
    if (status == GSA_OK) {
        struct candidate *winner = leader(&team);
        status = job->id ? gsa__state_spread(winner->best, job->id, job->n_ids, error) : GSA_OK;
        if (status == GSA_OK) {
            status = gsa_state_replace(job->run->state, winner->best, error);
            winner->best = NULL;
            gsa__state_set_rows(job->run->state, job->given);
        }
    }
    for (size_t i = 0; i < team.n_candidates; i++) {
        drop_members(&team.candidate[i]);
        gsa_state_free(team.candidate[i].best);
    }
    gsa_state_free(team.base);
    gsa__free(&job->run->env, team.fold);
    return status;
}
