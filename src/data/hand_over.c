/* Handing rows over: reader and receiver exchange their arrays. */
#include "data/hand_over.h"

#include "data/files.h"

/* Everything but whose rows they are. */
static void take_arrays(gsai_rows *to, const gsai_rows *from)
{
    const gsai_rows own = *to;
    *to = *from;
    to->env = own.env;
    to->most_rows = own.most_rows;
    to->most_values = own.most_values;
    to->without_labels = own.without_labels;
    to->words = own.words;
}

bool gsai_hand_over(gsa_reader *head, gsai_rows *rows)
{
    gsai_files *reader = (gsai_files *)head;
    const gsa_env *a = &head->env, *b = rows->env;
    if (head->kind != gsai_files_kind() || !reader->delivered || a->budget != b->budget || a->release != b->release ||
        a->alloc_ctx != b->alloc_ctx)
        return false;
    const gsai_rows given = reader->rows;
    take_arrays(&reader->rows, rows);
    take_arrays(rows, &given);
    return true;
}
