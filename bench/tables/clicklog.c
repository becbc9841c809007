/* clicklog ROWS [FIRST [tsv|vw|planted|loss]]: rows of a click log in the layout of Criteo's, as tab-separated text
 * without a header: the label, 13 counts, 26 words. The same rows as Vowpal Wabbit text; or the planted words with
 * their weights; or the mean log loss of the planted model itself on these rows.
 *
 * A row depends on its number alone, so rows from FIRST on are new rows of the same planted model. Words are drawn by
 * Zipf's law from vocabularies of 4 to a million and are missing in some rows; counts are long-tailed, and missing in
 * more rows. Two dozen words have large weights: a good model ranks them highest. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 13, WORDS = 26, PLANTED = 24 };
static const double vocabulary[WORDS] = {1400, 550, 1e6, 3e5, 300, 20,  12000, 600, 4,  9e4, 5000, 8e5, 3200,
                                         27,   1e4, 5e5, 11,  5e3, 2e3, 5,     7e5, 18, 15,  2e5,  80,  1e5};
static const double missing_counts[NUMBERS] = {.45, 0, .2, .2, .03, .2, .04, .001, .04, .45, .04, .75, .2};

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static double unit(uint64_t *key)
{
    *key = mix(*key);
    return (double)(*key >> 11) * 0x1p-53;
}

/* Ranks 0 .. n-1 in proportion to about 1 / (rank + 1). */
static uint64_t draw_rank(double n, uint64_t *key)
{
    return (uint64_t)exp(unit(key) * log(n + 1)) - 1;
}

/* The planted words are of middling ranks: seen often enough to be learned, in one row of thirty to three hundred. */
static int planted_column(int number)
{
    static const int columns[] = {0, 1, 4, 6, 7, 10, 12, 17};
    return columns[number % 8];
}

static double weight_of(int column, uint64_t rank)
{
    for (int i = 0; i < PLANTED; i++)
        if (planted_column(i) == column && rank == 2 + 3 * (uint64_t)(i / 8))
            return (i % 2 == 0 ? 1 : -1) * (1.5 + 0.05 * i);
    return 0.4 * ((double)(mix((uint64_t)column << 40 | rank) >> 11) * 0x1p-53 - 0.5);
}

static uint32_t word_of(int column, uint64_t rank)
{
    return (uint32_t)(mix(~((uint64_t)column << 40 | rank)) >> 32);
}

typedef struct row {
    double margin; /* planted */
    int label;
    int64_t count[NUMBERS]; /* -1: missing */
    int64_t rank[WORDS];
} row;

static void make_row(uint64_t number, row *out)
{
    uint64_t key = mix(number * UINT64_C(0xd6e8feb86659fd93) + 17);
    double margin = -1.2;
    for (int i = 0; i < NUMBERS; i++) {
        int is_missing = unit(&key) < missing_counts[i];
        double count = floor(exp(unit(&key) * (2 + 0.5 * i)) - 1);
        out->count[i] = is_missing ? -1 : (int64_t)count;
        margin += is_missing ? 0 : (i % 3 - 1) * 0.08 * log1p(count);
    }
    for (int i = 0; i < WORDS; i++) {
        int is_missing = unit(&key) < (i % 7 == 5 ? 0.12 : 0);
        uint64_t rank = draw_rank(vocabulary[i], &key);
        out->rank[i] = is_missing ? -1 : (int64_t)rank;
        margin += is_missing ? 0 : weight_of(i, rank);
    }
    out->margin = margin;
    out->label = unit(&key) < 1 / (1 + exp(-margin));
}

static char *put_count(char *at, uint64_t count)
{
    char digits[24];
    int n = 0;
    do
        digits[n++] = (char)('0' + count % 10);
    while (count /= 10);
    while (n > 0)
        *at++ = digits[--n];
    return at;
}

static char *put_word(char *at, uint32_t word)
{
    for (int shift = 28; shift >= 0; shift -= 4)
        *at++ = "0123456789abcdef"[word >> shift & 15];
    return at;
}

static char *put_tsv(char *at, const row *of)
{
    *at++ = (char)('0' + of->label);
    for (int i = 0; i < NUMBERS; i++) {
        *at++ = '\t';
        if (of->count[i] >= 0)
            at = put_count(at, (uint64_t)of->count[i]);
    }
    for (int i = 0; i < WORDS; i++) {
        *at++ = '\t';
        if (of->rank[i] >= 0)
            at = put_word(at, word_of(i, (uint64_t)of->rank[i]));
    }
    return at;
}

static char *put_vw(char *at, const row *of)
{
    at += sprintf(at, "%s |", of->label ? "1" : "-1");
    for (int i = 0; i < NUMBERS; i++)
        if (of->count[i] > 0)
            at += sprintf(at, " i%d:%" PRId64, i + 1, of->count[i]);
    for (int i = 0; i < WORDS; i++)
        if (of->rank[i] >= 0) {
            at += sprintf(at, " c%d=", i + 1);
            at = put_word(at, word_of(i, (uint64_t)of->rank[i]));
        }
    return at;
}

/* As `greedystep inspect` names them: number of the column from 1, and the word. */
static int print_planted(void)
{
    for (int i = 0; i < PLANTED; i++) {
        int column = planted_column(i);
        uint64_t rank = 2 + 3 * (uint64_t)(i / 8);
        printf("%d=%08x %g\n", column + NUMBERS + 2, word_of(column, rank), weight_of(column, rank));
    }
    return 0;
}

static int print_loss(uint64_t n, uint64_t first)
{
    double sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        row of;
        make_row(first + i, &of);
        sum += log1p(exp(of.label ? -of.margin : of.margin));
    }
    printf("%.6f\n", sum / (double)n);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: clicklog ROWS [FIRST [tsv|vw|planted|loss]]\n");
        return 2;
    }
    uint64_t n = strtoull(argv[1], NULL, 10), first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    const char *format = argc > 3 ? argv[3] : "tsv";
    if (strcmp(format, "planted") == 0)
        return print_planted();
    if (strcmp(format, "loss") == 0)
        return print_loss(n, first);
    char(*const line)[2048] = malloc(sizeof *line);
    char *(*const put)(char *, const row *) = strcmp(format, "vw") == 0 ? put_vw : put_tsv;
    for (uint64_t i = 0; i < n && line; i++) {
        row of;
        make_row(first + i, &of);
        char *end = put(*line, &of);
        *end++ = '\n';
        if (fwrite(*line, 1, (size_t)(end - *line), stdout) != (size_t)(end - *line))
            return 1;
    }
    free(line);
    return fflush(stdout) == 0 && line ? 0 : 1;
}
