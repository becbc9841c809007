/* Dates that ascend or descend in the order of rows that wait. The features of a table begin with the numbers and dates
 * of its columns, followed by a feature for each that it is missing. */
#include "learn/order.h"

#include "learn/inside.h"

#include "base/schema_text.h"

#include <math.h>

/* Fewer dates may be in order by chance, or tell too little. */
#define MIN_DATES 100u
#define LATEST_SHARE 8u

/* Takes the date of a row; false if it is missing. */
static bool take_date(const gsai_row *row, uint32_t feature, uint32_t n_numbers, float *date)
{
    *date = 0;
    for (size_t t = 0; t < row->n && row->index[t] < 2 * n_numbers; t++) {
        if (row->index[t] == feature)
            *date = gsai_row_value(row, t);
        if (row->index[t] == feature + n_numbers)
            return false;
    }
    return true;
}

/* Returns whether the rows, beginning with the latest, are in the order of a date; finds the latest as
 * gsai_waiting_latest does. */
static bool is_ordered(const gsai_waiting *rows, uint32_t n_numbers, bool ascends, gsai_order *out)
{
    size_t n = 0, n_rows = rows->csr.n_rows;
    float date, last = 0;
    out->n_latest = 0;
    for (size_t i = 0; i < n_rows; i++) {
        const gsai_row row = gsai_waiting_at(rows, ascends ? n_rows - 1 - i : i).row;
        if (!take_date(&row, out->feature, n_numbers, &date))
            continue;
        if (n > 0 && date > last)
            return false;
        if (n > 0 && date < last && (n <= n_rows / LATEST_SHARE || out->n_latest == 0)) {
            out->n_latest = n;
            out->after = ((double)date + (double)last) / 2; /* the solver rounds them otherwise */
        }
        last = date;
        n++;
    }
    return n >= MIN_DATES && out->n_latest > 0;
}

gsai_order gsai_order_find(const gsai_waiting *rows, const char *schema)
{
    gsai_order order = {.loss = NAN, .error = NAN};
    gsai_schema_line line;
    uint32_t n_numbers = 0;
    if (!rows || !schema || gsai_waiting_held_by(rows) != GSAI_BY_FEATURES)
        return order;
    for (const char *next = schema; gsai_schema_next_line(&next, &line);)
        n_numbers += gsai_schema_line_is(&line, "number") || gsai_schema_line_is(&line, "date") ||
                     gsai_schema_line_is(&line, "offset");
    while (gsai_schema_next_line(&schema, &line)) {
        bool is_date = gsai_schema_line_is(&line, "date");
        if (is_date && (is_ordered(rows, n_numbers, true, &order) || is_ordered(rows, n_numbers, false, &order)))
            return order;
        order.feature += is_date || gsai_schema_line_is(&line, "number") || gsai_schema_line_is(&line, "offset");
    }
    order.n_latest = 0;
    return order;
}

void gsai_state_set_dates(gsa_state *state, const gsai_order *order)
{
    state->dates = *order;
}
