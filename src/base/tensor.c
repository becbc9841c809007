/* Finding tensors and texts in a bundle. */
#include "base/tensor.h"

#include <string.h>

const gsai_tensor *gsai_bundle_tensor(const gsai_bundle *bundle, const char *name)
{
    for (size_t i = 0; i < bundle->n_tensors; i++)
        if (strcmp(bundle->tensors[i].name, name) == 0)
            return &bundle->tensors[i];
    return NULL;
}

const char *gsai_bundle_note(const gsai_bundle *bundle, const char *key)
{
    for (size_t i = 0; i < bundle->n_notes; i++)
        if (strcmp(bundle->notes[i].key, key) == 0)
            return bundle->notes[i].text;
    return NULL;
}

/* The size of a header, below 16 MiB, and the brace that it begins with (docs/formats/model.md). */
int gsa_model_matches(const void *start, size_t size)
{
    return size > 8 && memcmp((const char *)start + 3, "\0\0\0\0\0{", 6) == 0;
}
