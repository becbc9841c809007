/* Labels, rows and names that processes exchange. */
#include "train/share.h"

#include "learn/names.h"
#include "learn/state.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/* ---- labels ----------------------------------------------------------------------------------------------------- */

/* A label on its way; its text follows. */
typedef struct label_head {
    double number;
    uint64_t is_number;
} label_head;

/* Lists the labels of `from` that the job's state does not know, each with its NUL. */
static gsa_status list_labels(const gsai_job *job, const gsa_state *from, gsai_bytes *to, gsa_error *error)
{
    size_t n = (size_t)gsai_summary_of(from).n_classes;
    for (size_t i = (size_t)gsai_summary_of(job->state).n_classes; i < n; i++) {
        const gsai_label *label = &gsai_state_labels(from)->at[i];
        label_head head = {label->number, label->is_number};
        if (gsai_bytes_add(to, &head, sizeof head) != 0 ||
            gsai_bytes_add(to, label->text, strlen(label->text) + 1) != 0)
            return gsai_fail_memory(to->env, error, "no memory for %zu labels", n);
    }
    return GSA_OK;
}

/* Adds listed labels to the job's state, each as a row without features. */
static gsa_status add_labels(gsai_job *job, const unsigned char *all, size_t size, gsa_error *error)
{
    static const int64_t no_entries[] = {0, 0};
    static const uint32_t no_index[1];
    for (size_t at = 0; at < size;) {
        label_head head;
        memcpy(&head, all + at, sizeof head);
        const char *text = (const char *)all + at + sizeof head;
        const int32_t word = head.is_number ? -1 : 0;
        const gsa_batch row = {.n_rows = 1,
                               .row_start = no_entries,
                               .index = no_index,
                               .label = &head.number,
                               .word = &word,
                               .words = &text,
                               .n_words = 1};
        GSA_TRY(gsa_state_prepare(job->state, &row, error));
        at += sizeof head + strlen(text) + 1;
    }
    return GSA_OK;
}

gsa_status gsai_labels_share(gsai_job *job, const gsa_state *from, gsa_error *error)
{
    gsai_bytes mine = {.env = &job->env};
    const unsigned char *all;
    const size_t *sizes;
    gsa_status status = list_labels(job, from, &mine, error);
    status = gsai_comm_allgather(job, status, mine.at, mine.size, &all, &sizes, error);
    if (status == GSA_OK)
        status = add_labels(job, all, gsai_comm_total(job, sizes), error);
    gsai_bytes_free(&mine);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

gsa_status gsai_rows_add_frame(gsai_bytes *to, const gsa_batch *rows, size_t n_rows, gsa_error *error)
{
    size_t start = gsai_frame_begin(to);
    GSAI_TRY_MEMORY(gsai_rows_pack(rows, 0, n_rows, gsai_bytes_add, to) == 0, to->env, error,
                    "no memory for the first %zu rows", n_rows);
    return gsai_frame_end(to, start, error);
}

gsa_status gsai_rows_share(gsai_job *job, gsa_status status, const gsai_bytes *mine, gsai_rows *to, gsa_error *error)
{
    const unsigned char *all, *frame;
    const size_t *sizes;
    size_t size;
    GSA_TRY(gsai_comm_allgather(job, status, mine->at, mine->size, &all, &sizes, error));
    for (size_t left = gsai_comm_total(job, sizes); gsai_frame_next(&all, &left, &frame, &size);)
        GSA_TRY(gsai_rows_unpack(to, frame, size, error));
    return GSA_OK;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

typedef struct names_of_ranks {
    gsai_names *at;
    size_t n;
} names_of_ranks;

static const char *find_name(const void *ctx, uint64_t feature)
{
    const names_of_ranks *names = ctx;
    const char *name = NULL;
    for (size_t r = 0; r < names->n && !name; r++)
        name = gsai_names_find(&names->at[r], feature);
    return name;
}

/* Reads the next names: a frame of features, then one of texts. */
static gsa_status read_names(gsai_names *names, const unsigned char **from, size_t *left, const gsai_env *env,
                             gsa_error *error)
{
    const unsigned char *ids, *text;
    size_t ids_size, text_size;
    if (!gsai_frame_next(from, left, &ids, &ids_size) || !gsai_frame_next(from, left, &text, &text_size))
        return gsai_comm_protocol_error(error);
    if (ids_size == 0)
        return GSA_OK;
    uint32_t *id = gsai_alloc(env, ids_size, 1); /* aligned, as a frame need not be */
    GSAI_TRY_MEMORY(id, env, error, "no memory for names");
    memcpy(id, ids, ids_size);
    gsa_status status = gsai_names_read(names, id, ids_size / sizeof *id, (const char *)text, text_size, env, error);
    gsai_free(env, id);
    return status;
}

gsa_status gsai_names_share(gsai_job *job, gsa_status status, gsa_error *error)
{
    const gsai_env *env = &job->env;
    const gsai_names *own = gsai_state_names(job->state);
    names_of_ranks names = {.n = gsai_comm_size(job)};
    gsai_bytes mine = {.env = env};
    const unsigned char *all;
    const size_t *sizes;
    size_t start = gsai_frame_begin(&mine);
    (void)gsai_bytes_add(&mine, own->id, own->n * sizeof *own->id);
    gsa_status packed = gsai_frame_end(&mine, start, error);
    start = gsai_frame_begin(&mine);
    (void)gsai_bytes_add(&mine, own->text, own->n > 0 ? (size_t)own->start[own->n] : 0);
    packed = packed == GSA_OK ? gsai_frame_end(&mine, start, error) : packed;
    names.at = gsai_alloc_zeroed(env, names.n, sizeof *names.at);
    if (packed == GSA_OK && !names.at)
        packed = gsai_fail_memory(env, error, "no memory for names");
    status = gsai_comm_allgather(job, status == GSA_OK ? packed : status, mine.at, mine.size, &all, &sizes, error);
    size_t left = status == GSA_OK ? gsai_comm_total(job, sizes) : 0;
    for (size_t r = 0; r < names.n && status == GSA_OK; r++)
        status = read_names(&names.at[r], &all, &left, env, error);
    if (status == GSA_OK)
        status = gsa_state_set_names(job->state, find_name, &names, error);
    for (size_t r = 0; r < names.n && names.at; r++)
        gsai_names_release(&names.at[r], env);
    gsai_free(env, names.at);
    gsai_bytes_free(&mine);
    return status;
}
