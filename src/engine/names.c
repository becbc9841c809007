/* Names that processes have in common.
 *
 *   N1  Shares are in the order of the ranks, and what a process has read before its share begins with the first row:
 *       of those who know a name, the lowest rank has the first one.
 *   N2  Books of names may be full, so they do not travel. For each feature one process decides whose name counts, by
 *       numbers alone; only names that count are handed round, and these are no more than one book has.
 *   N3  A name that one reader of everything would keep is in the book of its rank: before it came there only features
 *       that the one reader has met too. */
#include "engine/names.h"

#include "engine/bytes.h"
#include "engine/peers.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- whose name counts ------------------------------------------------------------------------------------------- */

typedef struct hearing {
    gsa__job *job;
    size_t n_ranks, n; /* names of this process */
    size_t *size;      /* bytes for each rank */
    size_t *next;      /* of each rank, where its next one is */
    uint32_t *feature; /* of all names: those that rank 0 decides on (feature % n_ranks), in the order they came, ... */
    size_t n_won;      /* names that count; their numbers take the place of the features */
    size_t won_size;
} hearing;

static uint64_t feature_of(const hearing *all, size_t number)
{
    uint64_t feature = 0;
    (void)gsa_reader_name_at(all->job->reader, number, &feature);
    return feature;
}

static void find_places(hearing *all, size_t element_size)
{
    for (size_t r = 0, at = 0; r < all->n_ranks; at += all->size[r++] / element_size)
        all->next[r] = at;
}

static gsa_status deal(hearing *all, gsa_error *error)
{
    const gsa_env *env = &all->job->env;
    uint64_t feature;
    while (gsa_reader_name_at(all->job->reader, all->n, &feature))
        all->n++;
    all->size = gsa__alloc_zeroed(env, all->n_ranks, sizeof *all->size);
    all->next = gsa__alloc_zeroed(env, all->n_ranks, sizeof *all->next);
    all->feature = gsa__alloc(env, all->n, sizeof *all->feature);
    if (!all->size || !all->next || !all->feature)
        return gsa__fail_memory(env, error, "no memory for the names of %zu features", all->n);
    for (size_t i = 0; i < all->n; i++)
        all->size[feature_of(all, i) % all->n_ranks] += sizeof *all->feature;
    find_places(all, sizeof *all->feature);
    for (size_t i = 0; i < all->n; i++) {
        feature = feature_of(all, i);
        all->feature[all->next[feature % all->n_ranks]++] = (uint32_t)feature;
    }
    return GSA_OK;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* For each of the features that were asked about, by rank: 1 if it is there for the first time. */
static gsa_status decide(const hearing *all, const unsigned char *asked, size_t n, gsa__bytes *verdict,
                         gsa_error *error)
{
    const gsa_env *env = &all->job->env;
    uint64_t *at = gsa__alloc(env, n, sizeof *at);
    verdict->at = gsa__alloc_zeroed(env, n, 1);
    if (!at || !verdict->at || n > UINT32_MAX) {
        gsa__free(env, at);
        return gsa__fail_memory(env, error, "no memory for the names of %zu features", n);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t feature;
        memcpy(&feature, asked + i * sizeof feature, sizeof feature);
        at[i] = (uint64_t)feature << 32 | i;
    }
    qsort(at, n, sizeof *at, by_number);
    for (size_t i = 0; i < n; i++)
        verdict->at[(uint32_t)at[i]] = i == 0 || at[i] >> 32 != at[i - 1] >> 32;
    gsa__free(env, at);
    return GSA_OK;
}

/* Keeps what was found of the names of this process. */
static gsa_status learn_verdict(hearing *all, const unsigned char *verdict, const size_t *sizes, gsa_error *error)
{
    uint64_t feature;
    for (size_t r = 0; r < all->n_ranks; r++)
        if (sizes[r] != all->size[r] / sizeof *all->feature)
            return gsa__peers_surprise(error);
    find_places(all, sizeof *all->feature);
    for (size_t i = 0; i < all->n; i++) {
        const char *name = gsa_reader_name_at(all->job->reader, i, &feature);
        if (verdict[all->next[feature % all->n_ranks]++]) {
            all->feature[all->n_won++] = (uint32_t)i;
            all->won_size += strlen(name) + 1;
        }
    }
    return GSA_OK;
}

static gsa_status hear(hearing *all, gsa_error *error)
{
    gsa__job *job = all->job;
    const unsigned char *given;
    const size_t *sizes;
    gsa__bytes verdict = {.env = &job->env};
    gsa_status status = deal(all, error);
    status = gsa__peers_exchange(job, status, all->feature, all->size, &given, &sizes, error);
    size_t n = 0;
    for (size_t r = 0; r < all->n_ranks && status == GSA_OK; r++)
        n += all->next[r] = sizes[r] / sizeof *all->feature; /* the verdict has a byte for each */
    if (status == GSA_OK)
        status = decide(all, given, n, &verdict, error);
    status = gsa__peers_exchange(job, status, verdict.at, all->next, &given, &sizes, error);
    if (status == GSA_OK)
        status = learn_verdict(all, given, sizes, error);
    gsa__bytes_free(&verdict);
    return status;
}

/* ---- names that count -------------------------------------------------------------------------------------------- */

typedef struct tally {
    uint64_t n, size;
} tally;

/* Of this process, as many as are kept behind those of lower ranks. */
static gsa_status pack(const hearing *all, tally before, gsa__bytes *to, gsa_error *error)
{
    int failed = 0;
    for (size_t i = 0; i < all->n_won && before.n < GSA_NAMES_MOST && !failed; i++) {
        uint64_t number;
        const char *name = gsa_reader_name_at(all->job->reader, all->feature[i], &number);
        size_t size = strlen(name) + 1;
        uint32_t feature = (uint32_t)number;
        if (before.size > GSA_NAMES_SIZE || size > GSA_NAMES_SIZE - before.size)
            continue;
        before.n++;
        before.size += size;
        failed = gsa__bytes_add(to, &feature, sizeof feature) != 0 || gsa__bytes_add(to, name, size) != 0;
    }
    return failed ? gsa__fail_memory(to->env, error, "no memory for the names of %zu features", all->n_won) : GSA_OK;
}

static gsa_status unpack(gsa__common_names *names, const unsigned char *from, size_t size, const gsa_env *env,
                         gsa_error *error)
{
    names->text = gsa__alloc(env, size, 1);
    names->at = gsa__alloc(env, GSA_NAMES_MOST, sizeof *names->at);
    if (!names->text || !names->at)
        return gsa__fail_memory(env, error, "no memory for %zu bytes of names", size);
    memcpy(names->text, from, size);
    for (size_t at = 0; at < size;) {
        uint32_t feature;
        const char *end =
            size - at > sizeof feature ? memchr(from + at + sizeof feature, 0, size - at - sizeof feature) : NULL;
        if (!end || names->n == GSA_NAMES_MOST || at > UINT32_MAX - sizeof feature)
            return gsa__peers_surprise(error);
        memcpy(&feature, from + at, sizeof feature);
        names->at[names->n++] = (uint64_t)feature << 32 | (at + sizeof feature);
        at = (size_t)((const unsigned char *)end - from) + 1;
    }
    qsort(names->at, names->n, sizeof *names->at, by_number);
    return GSA_OK;
}

static gsa_status hand_round(gsa__common_names *names, hearing *all, gsa_status status, gsa_error *error)
{
    gsa__job *job = all->job;
    gsa__bytes mine = {.env = &job->env};
    const unsigned char *every;
    const size_t *sizes;
    tally own = {all->n_won, all->won_size}, before = {0};
    status = gsa__peers_gather(job, status, &own, sizeof own, &every, &sizes, error);
    for (size_t r = 0; r < gsa__peers_rank(job) && status == GSA_OK; r++) {
        memcpy(&own, every + r * sizeof own, sizeof own);
        before.n += own.n;
        before.size += own.size;
    }
    if (status == GSA_OK)
        status = pack(all, before, &mine, error);
    status = gsa__peers_gather(job, status, mine.at, mine.size, &every, &sizes, error);
    gsa__bytes_free(&mine);
    return status == GSA_OK ? unpack(names, every, gsa__peers_total(job, sizes), &job->env, error) : status;
}

gsa_status gsa__common_names_make(gsa__common_names *names, gsa__job *job, gsa_error *error)
{
    const char *schema = gsa_reader_schema(job->reader);
    gsa_schema_info info = {0};
    hearing all = {.job = job, .n_ranks = gsa__peers_count(job)};
    gsa_status status = schema ? gsa_schema_get_info(schema, &info, error) : GSA_OK;
    if (status != GSA_OK || info.n_words + info.n_crosses == 0)
        return status;
    status = hand_round(names, &all, hear(&all, error), error);
    names->reader = job->reader;
    names->n_columns = info.n_numbers;
    gsa__free(&job->env, all.size);
    gsa__free(&job->env, all.next);
    gsa__free(&job->env, all.feature);
    return status;
}

const char *gsa__common_names_find(const void *ctx, uint64_t feature)
{
    const gsa__common_names *names = ctx;
    if (feature < names->n_columns)
        return gsa_reader_name(names->reader, feature);
    size_t from = 0, to = names->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (names->at[middle] >> 32 < feature)
            from = middle + 1;
        else
            to = middle;
    }
    const char *text =
        from < names->n && names->at[from] >> 32 == feature ? names->text + (uint32_t)names->at[from] : "";
    return *text ? text : NULL;
}

void gsa__common_names_free(gsa__common_names *names, const gsa_env *env)
{
    gsa__free(env, names->at);
    gsa__free(env, names->text);
    *names = (gsa__common_names){0};
}
