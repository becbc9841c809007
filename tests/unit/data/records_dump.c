/* Not a test: takes tables apart for one that compares with another program (tests/real/csv_reference.py).
 *
 * Standard input: for each table its separator (one byte), the size of its text (four bytes, little-endian) and the
 * text. Standard output: a line a record with its cells in hexadecimal, "-" for an empty one; then a line "." or, if
 * the table is refused, "!". Buffers are tiny, so that everything falls on their ends. */
#include "data/format/records.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

static void print_record(const gsai_record *record)
{
    for (size_t i = 0; i < record->n_cells; i++) {
        const gsai_text_cell *cell = &record->cell[i];
        if (i > 0)
            putchar(' ');
        if (cell->size == 0)
            putchar('-');
        for (size_t c = 0; c < cell->size; c++)
            printf("%02x", (unsigned)(unsigned char)cell->text[c]);
    }
    putchar('\n');
}

static int dump(const char *text, size_t size, char separator, size_t buffer_size, const gsai_env *env)
{
    gsai_records records;
    gsai_source source;
    gsai_decode stream;
    gsai_record record;
    gsai_source_open_memory(text, size, "text", env, &source);
    source.max = 1 + buffer_size % 7;
    gsa_status status = gsai_decode_open(&stream, &source, env, 0, NULL);
    if (status != GSA_OK || gsai_records_init(&records, buffer_size, env, NULL) != GSA_OK)
        return 1;
    gsai_records_begin(&records, &stream);
    records.separator = separator;
    while ((status = gsai_records_next(&records, &record, NULL)) == GSA_OK)
        print_record(&record);
    puts(status == GSA_END ? "." : "!");
    gsai_records_free(&records);
    gsai_decode_close(&stream);
    return 0;
}

int main(void)
{
    gsai_env env = gsai_env_resolve(NULL);
    unsigned char head[5];
    size_t n_tables = 0;
    while (fread(head, 1, sizeof head, stdin) == sizeof head) {
        size_t size = head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16 | (size_t)head[4] << 24;
        char *text = malloc(size + 1);
        if (!text || fread(text, 1, size, stdin) != size)
            return 1;
        if (dump(text, size, (char)head[0], 1 + n_tables++ % 40, &env) != 0)
            return 1;
        free(text);
    }
    return 0;
}
