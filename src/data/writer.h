/* The inside of a writer: a format behind four functions. Rows reach it checked, with their entries in order. */
#ifndef GSA_DATA_WRITER_H
#define GSA_DATA_WRITER_H

#include "base/batch.h"
#include "data/output.h"

#include <greedystep/data.h>

#include <stdbool.h>

typedef struct gsai_pair {
    uint32_t index;
    float value;
} gsai_pair;

typedef struct gsai_writer_kind {
    const char *name;
    const char *ending; /* of the names of its files, or NULL: it is chosen where no other is */
    size_t size;        /* of the struct that begins with a gsa_writer */
    gsa_status (*open)(gsa_writer *writer, gsa_error *error);
    /* Row r of the batch, with these entries: ids ascend, values are finite and not zero. One that is refused leaves no
     * trace. */
    gsa_status (*write)(gsa_writer *writer, const gsa_batch *batch, size_t r, const gsai_row *row, gsa_error *error);
    gsa_status (*finish)(gsa_writer *writer, gsa_error *error); /* what is still to be written */
    void (*free)(gsa_writer *writer);                           /* what open made, also if it failed */
    /* The name of a feature; NULL: the format has no room for names. */
    gsa_status (*add_name)(gsa_writer *writer, uint32_t feature, const char *text, gsa_error *error);
} gsai_writer_kind;

/* The first member of every writer. */
struct gsa_writer {
    const gsai_writer_kind *kind;
    gsai_env env;       /* resolved */
    gsai_output output; /* a kind may put bytes to it on a thread of its own */
    gsai_pair *pair;    /* to sort a row that is not written as it is, and then its columns */
    uint32_t *index;
    float *value;
    size_t pair_capacity, index_capacity, value_capacity;
    bool failed;      /* some bytes could not be written, says the kind */
    bool begins_file; /* the next row is the first of a file */
    char *schema;     /* of the rows, where a file can keep it; NULL: none */
};

extern const gsai_writer_kind gsai_writer_libsvm, gsai_writer_cache, gsai_writer_vw;

#endif
