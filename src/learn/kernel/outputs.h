/* WIDTH outputs from k on of a group that is learned by columns: included once for every width that groups_many.h asks
 * for. Each output of each row has one sum, so that widths make no difference to the bits. */
#define NAME_OF(what, width) what##width
#define NAME_WITH(what, width) NAME_OF(what, width)
#define VECTOR NAME_WITH(floats_, WIDTH)

typedef float VECTOR __attribute__((vector_size(4 * WIDTH)));

static inline void NAME_WITH(add_columns_, WIDTH)(const gsai_columns *columns, const gsai_table *table, size_t k,
                                                  float *margins, size_t stride)
{
    VECTOR m[GSAI_GROUP_ROWS] = {0};
    for (size_t i = 0; i < columns->n; i++) {
        const float *x = columns->x + GSAI_GROUP_ROWS * i;
        const gsai_cell *record = gsai_table_slot(table, columns->slot[i]) + k;
        VECTOR weight;
        memcpy(&weight, record, sizeof weight);
        ask_at(record, 2 * WIDTH - 1); /* the next outputs, of all columns: no machine guesses that */
        for (size_t row = 0; row < GSAI_GROUP_ROWS; row++)
            m[row] += weight * x[row];
    }
    for (size_t row = 0; row < GSAI_GROUP_ROWS; row++)
        memcpy(margins + row * stride + k, &m[row], sizeof m[row]);
}

/* Returns the sum of the steps of the rows. */
static inline VECTOR NAME_WITH(sum_rows_, WIDTH)(const VECTOR *scale, const float *direction)
{
    VECTOR sum = scale[0] * direction[0];
    for (size_t row = 1; row < GSAI_GROUP_ROWS; row++)
        sum += scale[row] * direction[row];
    return sum;
}

static inline void NAME_WITH(move_columns_, WIDTH)(const gsai_columns *columns, const gsai_table *table, size_t k,
                                                   const float *scales, size_t stride, float past_weight)
{
    size_t average = gsai_table_average(table);
    VECTOR scale[GSAI_GROUP_ROWS];
    for (size_t row = 0; row < GSAI_GROUP_ROWS; row++)
        memcpy(&scale[row], scales + row * stride + k, sizeof scale[row]);
    for (size_t i = 0; i < columns->n; i++) {
        gsai_cell *record = gsai_table_slot(table, columns->slot[i]) + k;
        VECTOR weight, late, by = NAME_WITH(sum_rows_, WIDTH)(scale, columns->direction + GSAI_GROUP_ROWS * i);
        memcpy(&weight, record, sizeof weight);
        memcpy(&late, record + average, sizeof late);
        ask_at(record, -WIDTH);
        ask_at(record + average, -WIDTH);
        weight += by;
        late += by * past_weight;
        memcpy(record, &weight, sizeof weight);
        memcpy(record + average, &late, sizeof late);
        if (k == 0)
            count_column(columns, table, i);
    }
}

#undef VECTOR
#undef NAME_WITH
#undef NAME_OF
#undef WIDTH
