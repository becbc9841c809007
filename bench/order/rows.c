/* Prints generated rows in a chosen order, or the loss of the weights that made them.
 *
 *     rows PROBLEM ORDER ROWS [SEED [WEIGHTS [SKIP]]]
 *
 * Row j of a problem is a function of SEED and j alone, so all orders have the same rows, and none is kept in memory:
 * an order by label generates all rows once per class. The first entry of a row grows with j, and time is j / ROWS.
 * Other seeds with the same WEIGHTS give fresh rows of the same problem. SKIP leaves out the first rows of an order by
 * number. gcc -O2 -o rows rows.c -lm; no dependencies. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 64, MAX_CLASSES = 16, BLOCK_ROWS = 100000, N_ROUNDS = 4 };

/* What is generated. A row has n_entries; each is a column, or if n_values is not 0 one of so many features of its
 * own. Frequencies of values are in proportion to 1 / rank. One class: labels are numbers. */
struct problem {
    const char *name;
    unsigned n_entries, n_values, n_classes;
    double size, bias; /* standard deviation of the margin, roughly, and its mean */
    double turn;       /* angle by which the weights turn between the first row and the last */
    double trend;      /* difference of the margin between the first row and the last */
    bool has_weights;  /* entries of features have values other than 1 */
    bool is_table;     /* csv with a column of seconds since 1970 */
};

static const struct problem problems[] = {
    {.name = "dense", .n_entries = 20, .n_classes = 2, .size = 2},
    {.name = "clicks", .n_entries = 20, .n_values = 5000, .n_classes = 2, .size = 2, .bias = -1.5},
    {.name = "classes", .n_entries = 20, .n_classes = 10, .size = 1.5},
    {.name = "numbers", .n_entries = 20, .n_classes = 1, .size = 1},
    {.name = "text", .n_entries = 60, .n_values = 833, .n_classes = 2, .size = 3, .has_weights = true},
    {.name = "drift", .n_entries = 20, .n_values = 5000, .n_classes = 2, .size = 2, .bias = -1.5, .turn = 0.8},
    {.name = "clock", .n_entries = 8, .n_classes = 2, .size = 1.5, .trend = 4, .is_table = true},
};

static const char *orders = "shuffled (random), number (by time and by the first entry), label, blocks (of one label)";

struct row {
    unsigned label, n;
    double y; /* the label of numbers */
    double loss;
    unsigned feature[MAX_ENTRIES];
    int value[MAX_ENTRIES]; /* in thousandths */
};

struct generator {
    const struct problem *problem;
    uint64_t seed, n_rows;
    unsigned half_bits; /* of a row's number, for the permutation */
    unsigned n_features;
    double *weights, *turned;
};

static void fail(const char *message)
{
    fprintf(stderr, "rows: %s\n", message);
    exit(EXIT_FAILURE);
}

/* ---- random numbers ------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t next_bits(uint64_t *at)
{
    return mix(*at += UINT64_C(0x9e3779b97f4a7c15));
}

static double uniform_of(uint64_t bits)
{
    return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

/* Returns a number of mean 0 and variance 1 that is nearly normal: the sum of four uniform ones. */
static double normal_of(uint64_t bits)
{
    double sum = (double)(bits & 0xffff) + (double)(bits >> 16 & 0xffff) + (double)(bits >> 32 & 0xffff);
    return ((sum + (double)(bits >> 48)) / 65535 - 2) * 1.7320508;
}

/* Returns the place of a row in a random order: a Feistel network, repeated until the result is in range. */
static uint64_t permute(const struct generator *g, uint64_t row)
{
    uint64_t mask = (UINT64_C(1) << g->half_bits) - 1;
    do {
        uint64_t left = row >> g->half_bits, right = row & mask;
        for (uint64_t round = 1; round <= N_ROUNDS; round++) {
            uint64_t old = left;
            left = right;
            right = old ^ (mix(right + (round << 40) + mix(g->seed)) & mask);
        }
        row = left << g->half_bits | right;
    } while (row >= g->n_rows);
    return row;
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

static void make_weights(struct generator *g, uint64_t seed)
{
    const struct problem *p = g->problem;
    g->n_features = p->n_entries * (p->n_values ? p->n_values : 1);
    unsigned n_outputs = p->n_classes > 2 ? p->n_classes : 1;
    size_t n = (size_t)g->n_features * n_outputs;
    g->weights = malloc(n * sizeof *g->weights);
    g->turned = malloc(n * sizeof *g->turned);
    if (!g->weights || !g->turned)
        fail("out of memory");
    uint64_t at = mix(seed + 1);
    double size = p->size / sqrt(p->n_entries);
    for (size_t i = 0; i < n; i++) {
        g->weights[i] = size * normal_of(next_bits(&at));
        g->turned[i] = size * normal_of(next_bits(&at));
    }
}

/* Draws the entries. Columns are correlated; words of texts have values from 0.05 to 0.25. */
static void draw_entries(const struct generator *g, struct row *row, double share, uint64_t *at)
{
    const struct problem *p = g->problem;
    double common = p->n_values ? 0 : 0.5 * normal_of(next_bits(at)), log_values = log(p->n_values + 1.0);
    row->n = p->n_entries;
    for (unsigned k = 0; k < p->n_entries; k++) {
        uint64_t bits = next_bits(at);
        bool is_first = k == 0 && !p->is_table;
        if (p->n_values) {
            double u = is_first ? share : uniform_of(bits);
            unsigned rank = (unsigned)exp(u * log_values) - 1;
            row->feature[k] = k * p->n_values + (rank < p->n_values ? rank : p->n_values - 1);
            row->value[k] = p->has_weights ? 50 + (int)(mix(bits) % 201) : 1000;
        } else {
            double z = is_first ? 3.4641016 * (share - 0.5) : 0.8660254 * normal_of(bits) + common;
            row->feature[k] = k;
            row->value[k] = (int)lrint(1000 * z);
        }
    }
}

/* Returns the margin of an output. A text's row has a length of about 1. */
static double margin_of(const struct generator *g, const struct row *row, double share, unsigned output)
{
    const struct problem *p = g->problem;
    const double *weights = g->weights + (size_t)output * g->n_features;
    const double *turned = g->turned + (size_t)output * g->n_features;
    double sum = 0, unit = p->has_weights ? 0.007 : 0.001;
    for (unsigned k = 0; k < row->n; k++)
        sum += unit * row->value[k] * weights[row->feature[k]];
    if (p->turn != 0) {
        double other = 0;
        for (unsigned k = 0; k < row->n; k++)
            other += unit * row->value[k] * turned[row->feature[k]];
        sum = cos(p->turn * share) * sum + sin(p->turn * share) * other;
    }
    return sum + p->bias + p->trend * (share - 0.5);
}

static void draw_label(const struct generator *g, struct row *row, double share, uint64_t *at)
{
    const struct problem *p = g->problem;
    uint64_t bits = next_bits(at);
    double u = uniform_of(bits);
    if (p->n_classes == 1) {
        double m = margin_of(g, row, share, 0);
        row->y = rint(1000 * (m + 0.5 * normal_of(bits))) / 1000;
        row->loss = (row->y - m) * (row->y - m);
    } else if (p->n_classes == 2) {
        double m = margin_of(g, row, share, 0);
        row->label = u * (1 + exp(-m)) < 1;
        row->loss = log1p(exp(row->label ? -m : m));
    } else {
        double e[MAX_CLASSES] = {0}, sum = 0;
        for (unsigned c = 0; c < p->n_classes; c++)
            sum += e[c] = exp(margin_of(g, row, share, c));
        double rest = u * sum;
        for (row->label = 0; row->label + 1 < p->n_classes && rest >= e[row->label]; row->label++)
            rest -= e[row->label];
        row->loss = log(sum / e[row->label]);
    }
}

static void draw(const struct generator *g, uint64_t number, struct row *row)
{
    uint64_t at = mix(g->seed * UINT64_C(0xd1342543de82ef95) + mix(number));
    double share = ((double)number + 0.5) / (double)g->n_rows;
    draw_entries(g, row, share, &at);
    draw_label(g, row, share, &at);
}

/* ---- text ----------------------------------------------------------------------------------------------------- */

static char *print_whole(char *to, uint64_t value)
{
    char digits[20];
    unsigned n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (n > 0)
        *to++ = digits[--n];
    return to;
}

static char *print_thousandths(char *to, int64_t value)
{
    if (value < 0)
        *to++ = '-';
    uint64_t size = (uint64_t)(value < 0 ? -value : value);
    to = print_whole(to, size / 1000);
    if (size % 1000 == 0)
        return to;
    *to++ = '.';
    *to++ = (char)('0' + size / 100 % 10);
    *to++ = (char)('0' + size / 10 % 10);
    *to++ = (char)('0' + size % 10);
    return to;
}

static void print_row(const struct generator *g, uint64_t number, const struct row *row)
{
    char line[MAX_ENTRIES * 24 + 32], *to = line;
    if (g->problem->is_table) {
        /* three years from 2020 on */
        to = print_whole(to, UINT64_C(1577836800) + (uint64_t)(94608000.0 * (double)number / (double)g->n_rows));
        for (unsigned k = 0; k < row->n; k++) {
            *to++ = ',';
            to = print_thousandths(to, row->value[k]);
        }
        *to++ = ',';
        to = print_whole(to, row->label);
    } else {
        to = g->problem->n_classes == 1 ? print_thousandths(to, llrint(1000 * row->y)) : print_whole(to, row->label);
        for (unsigned k = 0; k < row->n; k++) {
            *to++ = ' ';
            to = print_whole(to, row->feature[k] + 1);
            *to++ = ':';
            to = print_thousandths(to, row->value[k]);
        }
    }
    *to++ = '\n';
    if (fwrite(line, 1, (size_t)(to - line), stdout) != (size_t)(to - line))
        fail("cannot write"); /* the reader has gone */
}

static void print_header(const struct problem *p)
{
    printf("time");
    for (unsigned k = 0; k < p->n_entries; k++)
        printf(",x%u", k + 1);
    printf(",label\n");
}

/* ---- orders --------------------------------------------------------------------------------------------------- */

static void print_all(const struct generator *g, bool is_shuffled, uint64_t skip)
{
    struct row row = {0};
    for (uint64_t i = skip; i < g->n_rows; i++) {
        uint64_t number = is_shuffled ? permute(g, i) : i;
        draw(g, number, &row);
        print_row(g, number, &row);
    }
}

/* Prints up to `most` rows of a label, from the place `*at` of the random order on. */
static void print_label(const struct generator *g, unsigned label, uint64_t most, uint64_t *at)
{
    struct row row = {0};
    for (uint64_t n = 0; n < most && *at < g->n_rows; ++*at) {
        uint64_t number = permute(g, *at);
        draw(g, number, &row);
        if (row.label != label)
            continue;
        print_row(g, number, &row);
        n++;
    }
}

static void print_by_label(const struct generator *g)
{
    for (unsigned label = 0; label < g->problem->n_classes; label++)
        print_label(g, label, UINT64_MAX, &(uint64_t){0});
}

/* Prints blocks of one label, always of that label of which the smallest share has been printed. */
static void print_blocks(const struct generator *g)
{
    uint64_t count[MAX_CLASSES] = {0}, printed[MAX_CLASSES] = {0}, at[MAX_CLASSES] = {0};
    struct row row = {0};
    for (uint64_t i = 0; i < g->n_rows; i++) {
        draw(g, i, &row);
        count[row.label]++;
    }
    for (uint64_t n = 0; n < g->n_rows;) {
        unsigned next = 0;
        double least = INFINITY;
        for (unsigned label = 0; label < g->problem->n_classes; label++) {
            double share = ((double)printed[label] + BLOCK_ROWS) / (double)count[label];
            if (printed[label] < count[label] && share < least) {
                least = share;
                next = label;
            }
        }
        uint64_t rest = count[next] - printed[next], most = rest < BLOCK_ROWS ? rest : BLOCK_ROWS;
        print_label(g, next, most, &at[next]);
        printed[next] += most;
        n += most;
    }
}

/* Prints the mean log loss of the weights that made the rows, or of numbers the root of the mean squared error. */
static void print_loss(const struct generator *g, uint64_t skip)
{
    struct row row = {0};
    double sum = 0;
    for (uint64_t i = skip; i < g->n_rows; i++) {
        draw(g, i, &row);
        sum += row.loss;
    }
    double mean = sum / (double)(g->n_rows - skip);
    printf("%.9f\n", g->problem->n_classes == 1 ? sqrt(mean) : mean);
}

static const struct problem *find(const char *name)
{
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        if (strcmp(problems[i].name, name) == 0)
            return &problems[i];
    fail("no such problem");
    return NULL;
}

static uint64_t argument(int count, char **words, int at, uint64_t otherwise)
{
    return at < count ? strtoull(words[at], NULL, 10) : otherwise;
}

int main(int count, char **words)
{
    if (count < 4) {
        fprintf(stderr, "usage: rows PROBLEM ORDER ROWS [SEED [WEIGHTS [SKIP]]]\norders: %s; or loss\n", orders);
        return 2;
    }
    struct generator g = {.problem = find(words[1]), .n_rows = strtoull(words[3], NULL, 10)};
    g.seed = argument(count, words, 4, 1);
    uint64_t skip = argument(count, words, 6, 0);
    if (g.n_rows == 0 || skip >= g.n_rows)
        fail("no rows");
    while (UINT64_C(1) << (2 * g.half_bits) < g.n_rows)
        g.half_bits++;
    make_weights(&g, argument(count, words, 5, 1));
    if (g.problem->is_table && strcmp(words[2], "loss") != 0)
        print_header(g.problem);
    if (strcmp(words[2], "shuffled") == 0 || strcmp(words[2], "number") == 0)
        print_all(&g, words[2][0] == 's', skip);
    else if (strcmp(words[2], "label") == 0 && g.problem->n_classes > 1)
        print_by_label(&g);
    else if (strcmp(words[2], "blocks") == 0 && g.problem->n_classes > 1)
        print_blocks(&g);
    else if (strcmp(words[2], "loss") == 0)
        print_loss(&g, skip);
    else
        fail("no such order of this problem");
    free(g.weights);
    free(g.turned);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
