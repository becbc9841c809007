/* Rows to a learner, with progress, positions and places in errors. */
#include "train/job.h"

#include "base/error.h"
#include "learn/names.h"
#include "learn/prepare.h"
#include "learn/state.h"

#include <greedystep/distributed.h>

#include <inttypes.h>

#define ROWS_BETWEEN_CHECKS 256u
#define CLASSES_BETWEEN_CHECKS ((size_t)1 << 20) /* of all these rows together */

gsa_status gsai_job_prepare(const gsai_job *job, gsa_state *state, const gsa_batch *first, gsa_error *error)
{
    gsa_status status = gsa_state_prepare(state, first, error);
    if (status != GSA_OK)
        gsa_reader_locate(job->reader, first, error);
    return status;
}

void gsai_job_tell_task(const gsai_job *job, const gsa_state *state)
{
    gsa_error note;
    if (job->hooks.notice && gsai_state_describe_task(state, &note))
        job->hooks.notice(job->hooks.ctx, gsai_summary_of(state).n_classes > 0 ? GSA_NOTICE_CLASSES : GSA_NOTICE_NUMBER,
                          note.message);
}

/* The name of the first word that became the feature, which may have come before the reader's first row. */
static const char *name_of(const void *ctx, uint64_t feature)
{
    const gsai_job *job = ctx;
    const char *known = job->keeps_names ? gsai_names_find(gsai_state_names(job->state), feature) : NULL;
    return known ? known : gsa_reader_name(job->reader, feature);
}

gsa_status gsai_job_take_names(const gsai_job *job, gsa_error *error)
{
    return gsa_reader_schema(job->reader) ? gsa_state_set_names(job->state, name_of, job, error) : GSA_OK;
}

gsa_status gsai_job_learn(const gsai_job *job, gsa_state *learner, const gsa_batch *batch, const uint32_t *rows,
                          size_t n_rows, int tells, gsa_error *error)
{
    gsa_status status = GSA_OK;
    size_t n_classes = (size_t)gsai_summary_of(learner).n_classes;
    size_t max = n_classes > CLASSES_BETWEEN_CHECKS / ROWS_BETWEEN_CHECKS ? CLASSES_BETWEEN_CHECKS / n_classes + 1
                                                                          : ROWS_BETWEEN_CHECKS;
    for (size_t done = 0; done < n_rows && status == GSA_OK;) {
        size_t n = n_rows - done < max ? n_rows - done : max, last = rows[done + n - 1];
        if (gsai_should_stop(&job->env))
            return gsai_fail(error, GSA_STOPPED, "stopped on request");
        status = gsa_state_update_rows(learner, batch, rows + done, n, error);
        if (status == GSA_OK && job->hooks.is_live) { /* the first text that the reader keeps of a row, else its line */
            gsa_error line = {0};                     /* for its text */
            if (batch->place)
                (void)gsai_fail(&line, GSA_OK, "%" PRIu64, job->lines_before + batch->place[last].line);
            const char *position = batch->kept ? batch->kept + batch->kept_start[last] : line.message;
            status = gsa_state_set_position(job->state, position, error);
        }
        if (status != GSA_OK && job->reader)
            gsa_reader_locate(job->reader, batch, error);
        else if (status == GSA_OK && tells && job->hooks.progress)
            job->hooks.progress(job->hooks.ctx, learner, job->reader);
        done += n;
    }
    return status;
}
