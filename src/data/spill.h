/* Rows on their way into a cache that has no name and that only this process can read.
 *
 *   1 The file loses its name before the first byte is written: nothing is left behind, also by a killed process.
 *   2 What goes wrong with it costs the file alone: it is dropped, and the reader goes on without. */
#ifndef GSA_DATA_SPILL_H
#define GSA_DATA_SPILL_H

#include "base/memory.h"

#include <greedystep/data.h>

#include <stdatomic.h>
#include <stdbool.h>

/* Zeroed: spills nothing. */
typedef struct gsai_spill {
    bool is_open;
    int fd;
    char *path;         /* opens the file once more, by its number */
    gsa_writer *writer; /* NULL: nothing is spilled for the moment */
    bool begun;         /* rows are */
    uint64_t max_bytes;
    uint64_t size; /* bytes; 0 before the end */
    atomic_bool failed;
} gsai_spill;

/* Makes the file and begins. */
gsa_status gsai_spill_open(gsai_spill *spill, const char *folder, const gsai_env *env, gsa_error *error);
/* Begins a pass: forgets the rows of one that was not read to its end, does nothing after one that was. */
void gsai_spill_begin(gsai_spill *spill, const gsai_env *env);
/* Pauses until a pass begins, because rows do not come in sequence from the first on. */
void gsai_spill_pause(gsai_spill *spill);
/* Adds rows; the schema, or NULL, is that of all rows. */
void gsai_spill_add(gsai_spill *spill, const gsa_batch *rows, const char *schema, const gsai_env *env);
/* Completes the file after the last row. */
void gsai_spill_end(gsai_spill *spill, const gsai_env *env);
void gsai_spill_drop(gsai_spill *spill, const gsai_env *env);

#endif
