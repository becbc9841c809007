/* merge [FEATURES [COPIES [RANKS [REPEATS [ONE_IN]]]]]: what a round costs beside learning, in processor nanoseconds
 * per feature of the table (10^7; logistic loss, rows of 20 features). One feature in ONE_IN occurs in rows (1: every
 * one), and a replica sees some 40 % of those. Replicas are spread over ranks, each of which writes one delta of
 * everything; merge_wall is wall time, on all threads. `bare` adds up arrays as large as the tables of all replicas, as
 * a bare allreduce does; a round in memory is a refork and a merge. A repeat begins with what the last one made. Prints
 * a line per measure: name, the minimum of all repeats, unit. */
#include <greedystep/distributed.h>
#include <greedystep/greedystep.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_COPIES 64
#define MOST_REPEATS 21
#define NNZ 20
#define BATCH 4096

static void die(const char *what)
{
    fprintf(stderr, "merge: %s\n", what);
    exit(1);
}

static void must(gsa_status status, const gsa_error *error)
{
    if (status != GSA_OK)
        die(error->message);
}

/* Of the processor: others may be at work on this machine. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------
 */

typedef struct source {
    uint64_t random, n_features, one_in;
    int64_t row_start[BATCH + 1];
    uint32_t index[BATCH * NNZ];
    double label[BATCH];
} source;

static uint64_t draw(source *from)
{
    from->random = from->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return from->random >> 33;
}

/* Returns a feature that occurs: one of every one_in that follow one another, as of hashed names. */
static uint32_t feature_of(const source *from, uint64_t number)
{
    uint64_t mixed = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(number * from->one_in + (mixed >> 40) % from->one_in);
}

/* Each entry in its own twentieth of the features, so that ids ascend. */
static void learn(gsa_state *state, source *from, uint64_t n_rows)
{
    gsa_error error = {0};
    uint64_t width = from->n_features / from->one_in / NNZ;
    for (uint64_t done = 0; done < n_rows; done += BATCH) {
        for (size_t i = 0; i < BATCH; i++) {
            from->row_start[i + 1] = (int64_t)((i + 1) * NNZ);
            for (uint64_t e = 0; e < NNZ; e++)
                from->index[i * NNZ + e] = feature_of(from, e * width + draw(from) % width);
            from->label[i] = (double)((from->index[i * NNZ] + draw(from) % 8) % 16 < 8);
        }
        gsa_batch batch = {.n_rows = BATCH, .row_start = from->row_start, .index = from->index, .label = from->label};
        must(gsa_state_update(state, &batch, &error), &error);
    }
    must(gsa_state_close_group(state, &error), &error);
}

/* ---- measures -----------------------------------------------------------------------------------------------------
 */

typedef struct bytes {
    unsigned char *at;
    size_t size, capacity;
} bytes;

static int append(void *ctx, const void *more, size_t size)
{
    bytes *to = ctx;
    if (to->size + size > to->capacity) {
        to->capacity = 2 * (to->size + size);
        to->at = realloc(to->at, to->capacity);
        if (!to->at)
            return 1;
    }
    memcpy(to->at + to->size, more, size);
    to->size += size;
    return 0;
}

/* On the wall: what threads save. */
static double wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { BARE, FORK, REFORK, MERGE, MERGE_WALL, WRITE, UNITE, JOIN, MEASURES };
static const char *const names[MEASURES] = {"bare",       "fork",        "refork", "merge",
                                            "merge_wall", "write_slice", "unite",  "merge_slices"};

typedef struct task {
    gsa_state *base, *copy[MAX_COPIES], *head[MAX_COPIES];
    size_t n_copies, n_ranks;
    bytes delta[MAX_COPIES], united;
    double spent[MEASURES][MOST_REPEATS];
    float check; /* of the bare sums, so that they are made */
} task;

static double lap(double *since)
{
    double now = seconds(), spent = now - *since;
    *since = now;
    return spent;
}

/* Four floats a feature, as many as a record has, in arrays that follow one another. */
static void add_bare(task *of, uint64_t n_features, size_t r)
{
    size_t n = 4 * (size_t)n_features;
    float *all = malloc((of->n_copies + 1) * n * sizeof *all);
    if (!all)
        die("no memory");
    memset(all, 0, (of->n_copies + 1) * n * sizeof *all);
    double since = seconds();
    for (size_t c = 1; c <= of->n_copies; c++)
        for (size_t i = 0; i < n; i++)
            all[i] += all[c * n + i];
    of->spent[BARE][r] = lap(&since);
    of->check += all[n / 2];
    free(all);
}

static void make_copies(task *of, uint64_t n_features, uint64_t one_in, size_t r)
{
    gsa_error error = {0};
    add_bare(of, n_features, r);
    double since = seconds();
    for (size_t c = 0; c < of->n_copies; c++)
        must(gsa_state_fork(of->base, of->n_copies, &of->copy[c], &error), &error);
    of->spent[FORK][r] = lap(&since);
    for (size_t c = 0; c < of->n_copies; c++)
        must(gsa_state_refresh(of->copy[c], of->base, of->n_copies, &error), &error);
    of->spent[REFORK][r] = lap(&since);
    source *from = calloc(1, sizeof *from);
    if (!from)
        die("no memory");
    from->n_features = n_features;
    from->one_in = one_in;
    for (size_t c = 0; c < of->n_copies; c++) {
        from->random = c + 1;
        learn(of->copy[c], from, n_features / one_in / 2 / NNZ);
    }
    free(from);
}

static void merge_whole(task *of, size_t r, gsa_state **out)
{
    gsa_error error = {0};
    double since = seconds(), began = wall_seconds();
    must(gsa_state_merge((const gsa_state *const *)of->copy, of->n_copies, of->base, NULL, out, &error), &error);
    of->spent[MERGE][r] = lap(&since);
    of->spent[MERGE_WALL][r] = wall_seconds() - began;
}

static void write_all(task *of, size_t r)
{
    gsa_error error = {0};
    bytes head = {0};
    for (size_t c = 0; c < of->n_copies; c++) {
        head.size = 0;
        must(gsa_state_write_delta_header(of->copy[c], of->base, append, &head, &error), &error);
        must(gsa_state_read(head.at, head.size, NULL, &of->head[c], &error), &error);
    }
    free(head.at);
    double since = seconds();
    for (size_t rank = 0; rank < of->n_ranks; rank++) {
        size_t first = of->n_copies * rank / of->n_ranks, end = of->n_copies * (rank + 1) / of->n_ranks;
        of->delta[rank].size = 0;
        must(gsa_state_write_delta((const gsa_state *const *)of->copy + first, end - first, first, of->base, 0,
                                   GSA_MAX_ID + (uint64_t)1, append, &of->delta[rank], &error),
             &error);
    }
    of->spent[WRITE][r] = lap(&since);
}

static void join(task *of, size_t r, gsa_state **out)
{
    gsa_error error = {0};
    const void *data[MAX_COPIES];
    size_t sizes[MAX_COPIES];
    for (size_t rank = 0; rank < of->n_ranks; rank++) {
        data[rank] = of->delta[rank].at;
        sizes[rank] = of->delta[rank].size;
    }
    of->united.size = 0;
    double since = seconds();
    must(gsa_deltas_reduce(data, sizes, of->n_ranks, NULL, append, &of->united, &error), &error);
    of->spent[UNITE][r] = lap(&since);
    const void *united = of->united.at;
    must(gsa_state_merge_deltas((const gsa_state *const *)of->head, of->n_copies, of->base, &united, &of->united.size,
                                1, NULL, out, &error),
         &error);
    of->spent[JOIN][r] = lap(&since);
}

static void check_same(const gsa_state *a, const gsa_state *b)
{
    gsa_error error = {0};
    bytes x = {0}, y = {0};
    must(gsa_state_write(a, append, &x, &error), &error);
    must(gsa_state_write(b, append, &y, &error), &error);
    if (x.size != y.size || memcmp(x.at, y.at, x.size) != 0)
        die("slices and whole states merge to different bits");
    free(x.at);
    free(y.at);
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void measure(task *of, uint64_t n_features, uint64_t one_in, size_t repeats)
{
    for (size_t r = 0; r < repeats; r++) {
        gsa_state *whole, *joined;
        make_copies(of, n_features, one_in, r);
        merge_whole(of, r, &whole);
        write_all(of, r);
        join(of, r, &joined);
        check_same(whole, joined);
        gsa_state_free(of->base);
        of->base = whole;
        gsa_state_free(joined);
        for (size_t c = 0; c < of->n_copies; c++) {
            gsa_state_free(of->copy[c]);
            gsa_state_free(of->head[c]);
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t n_features = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    task *of = calloc(1, sizeof *of);
    source *from = calloc(1, sizeof *from);
    if (!of || !from)
        die("no memory");
    of->n_copies = argc > 2 ? strtoul(argv[2], NULL, 10) : 8;
    of->n_ranks = argc > 3 ? strtoul(argv[3], NULL, 10) : 2;
    size_t repeats = argc > 4 ? strtoul(argv[4], NULL, 10) : 3;
    uint64_t one_in = argc > 5 ? strtoull(argv[5], NULL, 10) : 1;
    if (one_in == 0 || n_features / one_in < 1000 || of->n_copies < 2 || of->n_copies > MAX_COPIES ||
        of->n_ranks == 0 || of->n_ranks > of->n_copies || repeats == 0 || repeats > MOST_REPEATS)
        die("merge [FEATURES [COPIES [RANKS [REPEATS [ONE_IN]]]]]");
    gsa_error error = {0};
    must(gsa_state_new(NULL, NULL, &of->base, &error), &error);
    from->n_features = n_features;
    from->one_in = one_in;
    learn(of->base, from, n_features / one_in / NNZ);
    measure(of, n_features, one_in, repeats);
    for (int m = 0; m < MEASURES; m++) {
        qsort(of->spent[m], repeats, sizeof **of->spent, ascending);
        printf("%-13s %7.1f ns a feature\n", names[m], 1e9 * of->spent[m][0] / (double)n_features);
    }
    printf("%-13s %7.1f times bare\n", "round",
           (of->spent[REFORK][0] + of->spent[MERGE][0]) / (of->spent[BARE][0] + (double)of->check));
    printf("%-13s %7.1f bytes a feature, a rank\n", "delta", (double)of->delta[0].size / (double)n_features);
    printf("%-13s %7.1f bytes a feature\n", "united", (double)of->united.size / (double)n_features);
    for (size_t rank = 0; rank < of->n_ranks; rank++)
        free(of->delta[rank].at);
    free(of->united.at);
    gsa_state_free(of->base);
    free(from);
    free(of);
    return 0;
}
