/* The verbs in the order of the manual. */
#include "verbs.h"

#include <string.h>

/* greedystep-compare is a program of its own, and has its own table. */
static const cli_verb compare_verb = {.name = "compare", .summary = "compare several optimisers on the same rows"};

const cli_verb *const verbs[] = {&train_verb,   &predict_verb, &evaluate_verb, &inspect_verb, &merge_verb,
                                 &convert_verb, &export_verb,  &generate_verb, &compare_verb, NULL};

const cli_verb *verb_find(const char *name)
{
    for (const cli_verb *const *each = verbs; *each != NULL; each++) {
        if (strcmp((*each)->name, name) == 0)
            return *each;
    }
    return NULL;
}
