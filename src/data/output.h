/* The file that a writer writes, compressed if its name ends like that of a compressed one. */
#ifndef GSA_DATA_OUTPUT_H
#define GSA_DATA_OUTPUT_H

#include "data/codec/encode.h"

#include <stdint.h>

typedef struct gsai_output {
    gsai_atomic_file *file;
    gsai_encode *encode;         /* NULL: the bytes are not compressed */
    uint64_t n_bytes, max_bytes; /* before compression: put so far, and allowed; 0: any number */
} gsai_output;

/* Opens the file of a zeroed `output`; whatever this returns, the caller ends it by commit or discard. */
gsa_status gsai_output_open(gsai_output *output, const char *path, const gsai_env *env, gsa_error *error);
/* Appends bytes; one thread at a time. */
gsa_status gsai_output_put(gsai_output *output, const void *bytes, size_t size, gsa_error *error);
/* Gives the file its name. After a failure nothing is left of it. */
gsa_status gsai_output_commit(gsai_output *output, gsa_error *error);
void gsai_output_discard(gsai_output *output);

#endif
