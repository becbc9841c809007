/* The runs test, on the indicator of one label: among n rows of which a have the label, mixed rows change between
 * having it and not having it about 2 a (n - a) / n times. */
#include "train/mixing.h"

/* Fewer expected changes than this prove nothing. */
#define MIN_EXPECTED 100.0

static int is_first_label(const gsai_mixing *mixing, const gsa_batch *rows, size_t row)
{
    int32_t word = rows->word ? rows->word[row] : -1;
    return word == mixing->word && (word >= 0 || rows->label[row] == mixing->label);
}

void gsai_mixing_add(gsai_mixing *mixing, const gsa_batch *rows)
{
    for (size_t row = 0; row < rows->n_rows; row++) {
        if (mixing->n_rows == 0) {
            mixing->label = rows->label[row];
            mixing->word = rows->word ? rows->word[row] : -1;
            mixing->last_is_first = 1;
        }
        int is_first = is_first_label(mixing, rows, row);
        mixing->n_changes += is_first != mixing->last_is_first;
        mixing->last_is_first = is_first;
        mixing->n_first += (uint64_t)is_first;
        mixing->n_rows++;
    }
}

int gsai_mixing_is_poor(const gsai_mixing *mixing)
{
    double n = (double)mixing->n_rows, a = (double)mixing->n_first;
    double expected = n > 0 ? 2 * a * (n - a) / n : 0;
    return expected >= MIN_EXPECTED && (double)mixing->n_changes < expected / 10;
}
