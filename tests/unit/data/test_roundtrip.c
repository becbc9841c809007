/* Rows of all sorts from format to format and back: nothing is lost, or it is refused. */
#include "support.h"

#include "support/arrow_numbers.h"

#include <math.h>

/* ---- random rows ------------------------------------------------------------------------------------------------ */

enum { MOST_ROWS = 60, MOST_ENTRIES = 12 };

typedef struct rows {
    gsa_batch batch;
    int64_t start[MOST_ROWS + 1];
    uint32_t index[MOST_ROWS * MOST_ENTRIES];
    float value[MOST_ROWS * MOST_ENTRIES], weight[MOST_ROWS];
    double label[MOST_ROWS];
    int32_t word[MOST_ROWS];
} rows;

static const char *const words[] = {"yes", "no", "-", "1e", "z\xc3\xbcrich", "a|b", "0x10", "'quoted'", "\\n"};

/* Any finite float: bits at random have all magnitudes, the smallest and both zeros now and then. */
static float any_float(uint64_t *seed)
{
    static const float special[] = {0, -0.0f, 1, -1, 1e-45f, -1e-45f, 1.17549421e-38f, 3.40282347e38f, 0.1f, 16777216};
    uint64_t random = next_random(seed);
    if (random % 4 == 0)
        return special[random / 4 % 10];
    uint32_t bits = (uint32_t)(random >> 20);
    float value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) ? value : 2.5f;
}

static double any_label(uint64_t *seed)
{
    static const double special[] = {0, 1, -1, 5e-324, 1.7976931348623157e308, 0.1, 1e22, 9007199254740993.0};
    uint64_t random = next_random(seed);
    if (random % 3 != 0)
        return special[random / 3 % 8];
    double label;
    random = next_random(seed);
    memcpy(&label, &random, sizeof label);
    return isfinite(label) && label != 0 ? label : 7;
}

/* Ids that ascend, some of them next to each other and some at the end of all ids. */
static size_t add_entries(rows *r, size_t at, uint64_t *seed)
{
    uint64_t id = next_random(seed) % 3 == 0 ? GSA_MAX_ID - 20 : next_random(seed) % 5;
    for (size_t n = next_random(seed) % (MOST_ENTRIES + 1); n > 0 && id <= GSA_MAX_ID; n--) {
        r->index[at] = (uint32_t)id;
        r->value[at++] = any_float(seed);
        id += 1 + (next_random(seed) % 2 ? 0 : next_random(seed) >> (40 + next_random(seed) % 24));
    }
    return at;
}

enum { WITH_WORDS = 1, WITH_WEIGHTS = 2, ONES = 4 };

static void make_rows(rows *r, uint64_t seed, unsigned sort)
{
    seed = seed * 0x9E3779B97F4A7C15u + 1;
    for (int i = 0; i < 8; i++)
        next_random(&seed);
    size_t n = next_random(&seed) % (MOST_ROWS + 1), at = 0;
    for (size_t i = 0; i < n; i++) {
        r->start[i] = (int64_t)at;
        r->label[i] = any_label(&seed);
        r->word[i] = next_random(&seed) % 3 ? (int32_t)(next_random(&seed) % 9) : -1;
        r->weight[i] = next_random(&seed) % 3 ? fabsf(any_float(&seed)) : 1;
        at = add_entries(r, at, &seed);
    }
    r->start[n] = (int64_t)at;
    r->batch = (gsa_batch){.n_rows = n, .row_start = r->start, .index = r->index, .label = r->label};
    r->batch.value = sort & ONES ? NULL : r->value;
    r->batch.weight = sort & WITH_WEIGHTS ? r->weight : NULL;
    r->batch.word = sort & WITH_WORDS ? r->word : NULL;
    r->batch.words = sort & WITH_WORDS ? words : NULL;
    r->batch.n_words = sort & WITH_WORDS ? 9 : 0;
}

/* ---- what rows say, to the bit ---------------------------------------------------------------------------------- */

/* Zeros are no entries; how rows are cut into batches, and where they stood, is not part of it. */
static void tell_batch(FILE *out, const gsa_batch *batch)
{
    for (size_t r = 0; r < batch->n_rows; r++) {
        if (batch->word && batch->word[r] >= 0)
            fprintf(out, "'%s'", batch->words[batch->word[r]]);
        else
            fprintf(out, "%a", batch->label[r]);
        fprintf(out, " *%a", batch->weight ? (double)batch->weight[r] : 1.0);
        gsai_row row = gsai_row_at(batch, r);
        for (size_t i = 0; i < row.n; i++)
            if (gsai_row_value(&row, i) != 0)
                fprintf(out, " %" PRIu32 "=%a", gsai_row_id(&row, i), (double)gsai_row_value(&row, i));
        fputc('\n', out);
    }
}

static char *told_by_batch(const gsa_batch *batch)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    tell_batch(out, batch);
    fprintf(out, "no schema");
    fclose(out);
    return text;
}

/* Closes the reader. */
static char *told_by_reader(gsa_reader *reader)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    gsa_batch batch;
    gsa_error error = {0};
    gsa_status status;
    while ((status = gsa_reader_next(reader, &batch, &error)) == GSA_OK)
        tell_batch(out, &batch);
    if (status != GSA_END)
        fail_msg("%s", error.message);
    fprintf(out, "%s", gsa_reader_schema(reader) ? gsa_reader_schema(reader) : "no schema");
    fclose(out);
    gsa_reader_close(reader);
    return text;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

typedef struct folder {
    char path[PATH_SIZE];
} folder;

static folder make_folder(void)
{
    folder made = {"/tmp/gsa-roundtrip-XXXXXX"};
    assert_non_null(mkdtemp(made.path));
    return made;
}

static const char *in(const folder *where, const char *name, char path[2 * PATH_SIZE])
{
    snprintf(path, 2 * PATH_SIZE, "%s/%s", where->path, name);
    return path;
}

static void remove_file(const folder *where, const char *name)
{
    char path[2 * PATH_SIZE];
    assert_int_equal(unlink(in(where, name, path)), 0);
}

static gsa_reader *open_file(const folder *where, const char *name)
{
    char path[2 * PATH_SIZE];
    const char *paths[] = {in(where, name, path)};
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    if (gsa_reader_open(paths, 1, NULL, NULL, NULL, &reader, &error) != GSA_OK)
        fail_msg("%s", error.message);
    return reader;
}

/* GSA_UNSUPPORTED if this build does not compress like that. */
static gsa_status write_batch(const folder *where, const char *name, const gsa_batch *batch, gsa_error *error)
{
    char path[2 * PATH_SIZE];
    gsa_writer *writer = NULL;
    gsa_status status = gsa_writer_open(in(where, name, path), NULL, NULL, NULL, &writer, error);
    if (status == GSA_OK)
        status = gsa_writer_write(writer, batch, error);
    if (status == GSA_OK)
        return gsa_writer_close(writer, error);
    gsa_writer_discard(writer);
    return status;
}

/* As the command does it. */
static void convert(gsa_reader *reader, const folder *where, const char *to)
{
    char path[2 * PATH_SIZE];
    gsa_writer *writer = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    gsa_status status = gsa_writer_open(in(where, to, path), NULL, NULL, NULL, &writer, &error);
    if (status == GSA_OK)
        status = gsa_reader_begin(reader, &error);
    if (status == GSA_OK)
        status = gsa_writer_set_schema(writer, gsa_reader_schema(reader), &error);
    while (status == GSA_OK && (status = gsa_reader_next(reader, &batch, &error)) == GSA_OK)
        status = gsa_writer_write(writer, &batch, &error);
    if (status == GSA_END)
        status = gsa_writer_close(writer, &error);
    if (status != GSA_OK)
        fail_msg("%s: %s", to, error.message);
    gsa_reader_close(reader);
}

static char *contents(const folder *where, const char *name, size_t *size)
{
    char path[2 * PATH_SIZE];
    return load_file(in(where, name, path), size);
}

static void assert_same_bytes(const folder *where, const char *a, const char *b)
{
    size_t a_size, b_size;
    char *a_bytes = contents(where, a, &a_size), *b_bytes = contents(where, b, &b_size);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a_bytes, b_bytes, a_size);
    free(a_bytes);
    free(b_bytes);
}

static void assert_tells(const folder *where, const char *name, const char *expected)
{
    char *told = told_by_reader(open_file(where, name));
    assert_string_equal(told, expected);
    free(told);
}

/* ---- the laws --------------------------------------------------------------------------------------------------- */

enum { N_SETS = 150 };

static void libsvm_and_caches_give_each_other_back(void **state)
{
    (void)state;
    static const char *const packed[] = {"", ".gz", ".zst"};
    folder where = make_folder();
    rows *r = calloc(1, sizeof *r);
    for (uint64_t set = 0; set < N_SETS; set++) {
        char text[32], cache[32], back[32], again[32];
        const char *pack = packed[set % 3];
        gsa_error error = {0};
        make_rows(r, set, (set / 3 % 2 ? WITH_WORDS : 0) | (set / 6 % 5 == 0 ? ONES : 0));
        snprintf(text, sizeof text, "a.svm%s", pack);
        snprintf(cache, sizeof cache, "b.gsac%s", pack);
        snprintf(back, sizeof back, "c.svm%s", pack);
        snprintf(again, sizeof again, "d.gsac%s", pack);
        gsa_status status = write_batch(&where, text, &r->batch, &error);
        if (status == GSA_UNSUPPORTED && *pack)
            continue;
        if (status != GSA_OK)
            fail_msg("set %" PRIu64 ": %s", set, error.message);
        char *expected = told_by_batch(&r->batch);
        convert(open_file(&where, text), &where, cache);
        convert(open_file(&where, cache), &where, back);
        convert(open_file(&where, back), &where, again);
        assert_tells(&where, text, expected);
        assert_tells(&where, cache, expected);
        assert_same_bytes(&where, text, back);
        assert_same_bytes(&where, cache, again);
        free(expected);
        remove_file(&where, text);
        remove_file(&where, cache);
        remove_file(&where, back);
        remove_file(&where, again);
    }
    free(r);
    assert_int_equal(rmdir(where.path), 0);
}

static void caches_keep_weights_and_libsvm_text_refuses_them(void **state)
{
    (void)state;
    folder where = make_folder();
    rows *r = calloc(1, sizeof *r);
    size_t n_refused = 0;
    for (uint64_t set = 0; set < N_SETS; set++) {
        gsa_error error = {0};
        make_rows(r, set, WITH_WEIGHTS | (set % 2 ? WITH_WORDS : 0));
        assert_int_equal(write_batch(&where, "a.gsac", &r->batch, &error), GSA_OK);
        convert(open_file(&where, "a.gsac"), &where, "b.gsac");
        char *expected = told_by_batch(&r->batch);
        assert_tells(&where, "a.gsac", expected);
        assert_same_bytes(&where, "a.gsac", "b.gsac");
        free(expected);
        bool has_other = false;
        for (size_t i = 0; i < r->batch.n_rows; i++)
            has_other = has_other || r->weight[i] != 1;
        assert_int_equal(write_batch(&where, "a.svm", &r->batch, &error), has_other ? GSA_UNSUPPORTED : GSA_OK);
        if (has_other) {
            assert_non_null(strstr(error.message, "libsvm text has no place for weights"));
            n_refused++;
        } else {
            remove_file(&where, "a.svm");
        }
        remove_file(&where, "a.gsac");
        remove_file(&where, "b.gsac");
    }
    assert_true(n_refused > N_SETS / 2);
    free(r);
    assert_int_equal(rmdir(where.path), 0);
}

/* Found by fuzz_any: the first pass had left the schema behind, and the second did not compare any more. */
static void a_cache_that_contradicts_an_option_does_so_in_every_pass(void **state)
{
    (void)state;
    static const char table[] = "y,a\n1,red\n0,blue\n";
    folder where = make_folder();
    char path[2 * PATH_SIZE];
    const char *paths[] = {in(&where, "a.gsac", path)};
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    assert_int_equal(gsa_reader_open_memory(table, strlen(table), "t.csv", NULL, NULL, NULL, &reader, &error), GSA_OK);
    convert(reader, &where, "a.gsac");
    const gsa_reader_options options = {.size = sizeof options, .bits = 5};
    assert_int_equal(gsa_reader_open(paths, 1, &options, NULL, NULL, &reader, &error), GSA_OK);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_ARGUMENT);
        assert_non_null(strstr(error.message, "5 bits"));
        assert_string_equal(error.param, "bits");
        assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    }
    gsa_reader_close(reader);
    remove_file(&where, "a.gsac");
    assert_int_equal(rmdir(where.path), 0);
}

/* A line of Vowpal Wabbit text taken apart with strtod, told as a batch is. */
static const char *tell_vw_line(FILE *out, const char *line)
{
    char *end;
    fprintf(out, "%a", strtod(line, &end));
    assert_memory_equal(end, " ", 1);
    double weight = end[1] == '|' ? 1.0 : (double)strtof(end + 1, &end);
    fprintf(out, " *%a", weight);
    assert_memory_equal(end, " |", 2);
    for (end += 2; *end == ' ';) {
        fprintf(out, " %lu", strtoul(end + 1, &end, 10) - 1);
        assert_int_equal(*end, ':');
        fprintf(out, "=%a", (double)strtof(end + 1, &end));
    }
    assert_int_equal(*end, '\n');
    fputc('\n', out);
    return end + 1;
}

static void vowpal_wabbit_text_has_labels_weights_and_values_to_the_bit(void **state)
{
    (void)state;
    folder where = make_folder();
    rows *r = calloc(1, sizeof *r);
    for (uint64_t set = 0; set < N_SETS; set++) {
        gsa_error error = {0};
        make_rows(r, set, (set % 2 ? WITH_WEIGHTS : 0) | (set / 2 % 5 == 0 ? ONES : 0));
        assert_int_equal(write_batch(&where, "a.vw", &r->batch, &error), GSA_OK);
        size_t size, told_size = 0;
        char *text = contents(&where, "a.vw", &size), *told = NULL, *expected = told_by_batch(&r->batch);
        FILE *out = open_memstream(&told, &told_size);
        for (const char *line = text; *line;)
            line = tell_vw_line(out, line);
        fprintf(out, "no schema");
        fclose(out);
        assert_string_equal(told, expected);
        free(text);
        free(told);
        free(expected);
        remove_file(&where, "a.vw");
    }
    free(r);
    assert_int_equal(rmdir(where.path), 0);
}

/* Reading hashes the features, so that only what is before them, and how many there are, can be compared. */
static void vowpal_wabbit_text_is_read_as_it_was_written(void **state)
{
    (void)state;
    folder where = make_folder();
    const int64_t start[] = {0, 2, 2, 3};
    const uint32_t index[] = {0, GSA_MAX_ID, 4};
    const float value[] = {0.1f, -1e-45f, 3.40282347e38f}, weight[] = {0, 1, 2.5f};
    const double label[] = {5e-324, -1, 1e22};
    gsa_batch batch = {.n_rows = 3, .row_start = start, .index = index, .value = value, .label = label};
    batch.weight = weight;
    gsa_error error = {0};
    assert_int_equal(write_batch(&where, "a.vw", &batch, &error), GSA_OK);
    size_t size;
    char *text = contents(&where, "a.vw", &size);
    assert_string_equal(text, "5e-324 0 | 1:0.1 4294967294:-1e-45\n-1 |\n1e22 2.5 | 5:3.4028235e38\n");
    free(text);
    gsa_reader *reader = open_file(&where, "a.vw");
    gsa_batch read;
    assert_int_equal(gsa_reader_next(reader, &read, &error), GSA_OK);
    assert_int_equal(read.n_rows, 3);
    assert_memory_equal(read.row_start, start, sizeof start);
    assert_memory_equal(read.label, label, sizeof label);
    assert_memory_equal(read.weight, weight, sizeof weight);
    assert_memory_equal(read.value + 2, value + 2, sizeof *value);
    assert_true(read.value[0] == value[0] ? read.value[1] == value[1]
                                          : read.value[0] == value[1] && read.value[1] == value[0]);
    gsa_reader_close(reader);
    remove_file(&where, "a.vw");
    assert_int_equal(rmdir(where.path), 0);
}

static void vowpal_wabbit_text_refuses_words_and_what_was_hashed(void **state)
{
    (void)state;
    folder where = make_folder();
    char path[2 * PATH_SIZE];
    gsa_writer *writer = NULL;
    gsa_error error = {0};
    const int64_t start[] = {0, 0};
    const double label[] = {0};
    const int32_t word[] = {0};
    const float weight[] = {-1};
    gsa_batch batch = {.n_rows = 1, .row_start = start, .index = (const uint32_t *)start, .label = label, .word = word};
    batch.words = words;
    batch.n_words = 1;
    assert_int_equal(write_batch(&where, "a.vw", &batch, &error), GSA_INPUT);
    assert_string_equal(error.message,
                        "label 'yes': labels of Vowpal Wabbit text are numbers; write a cache (.gsac) or libsvm text");
    batch.word = NULL;
    batch.weight = weight;
    assert_int_equal(write_batch(&where, "a.vw", &batch, &error), GSA_INPUT);
    assert_string_equal(error.message, "the weight is -1: expected a finite one of at least 0");
    assert_int_equal(gsa_writer_open(in(&where, "a.vw.gz", path), NULL, NULL, NULL, &writer, NULL) == GSA_OK ||
                         gsa_writer_open(in(&where, "a.vw", path), NULL, NULL, NULL, &writer, NULL) == GSA_OK,
                     1);
    assert_int_equal(gsa_writer_set_schema(writer, NULL, &error), GSA_OK);
    assert_int_equal(gsa_writer_set_schema(writer, "greedystep schema 2\ncolumns namespaces\nbits 24\n", &error),
                     GSA_UNSUPPORTED);
    assert_non_null(strstr(error.message, "would be hashed again"));
    gsa_writer_discard(writer);
    assert_int_equal(rmdir(where.path), 0);
}

/* What a reader tells, and a cache of its rows, and a cache of that. */
static void assert_cached(gsa_reader *reader, gsa_reader *again, const folder *where)
{
    char *expected = told_by_reader(reader);
    assert_null(strstr(expected, "no schema"));
    convert(again, where, "a.gsac");
    convert(open_file(where, "a.gsac"), where, "b.gsac");
    assert_tells(where, "a.gsac", expected);
    assert_same_bytes(where, "a.gsac", "b.gsac");
    free(expected);
    remove_file(where, "a.gsac");
    remove_file(where, "b.gsac");
}

static gsa_reader *open_table(const char *text, const char *name, const gsa_reader_options *options)
{
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    if (gsa_reader_open_memory(text, strlen(text), name, options, NULL, NULL, &reader, &error) != GSA_OK)
        fail_msg("%s", error.message);
    return reader;
}

static char *random_csv(uint64_t seed)
{
    static const char *const word[] = {"oslo", "\"a,b\"", "\"say \"\"so\"\"\"", "NA", "", "z\xc3\xbcrich", "12"};
    static const char *const label[] = {"yes", "no", "1", "0.5"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "w,a,city,\"b \"\"2\"\"\",y\n1,1,berlin,1,yes\n");
    seed = seed * 2654435761u + 12345;
    for (uint64_t n = 1 + next_random(&seed) % 40; n > 0; n--) {
        fprintf(out, "%.9g,", (double)fabsf(any_float(&seed)));
        if (next_random(&seed) % 4)
            fprintf(out, "%.9g", (double)any_float(&seed));
        fprintf(out, ",%s,", word[next_random(&seed) % 7]);
        fprintf(out, "%.9g,%s\n", (double)any_float(&seed), label[next_random(&seed) % 4]);
    }
    fclose(out);
    return text;
}

static void caches_of_tables_have_their_rows_and_schema(void **state)
{
    (void)state;
    folder where = make_folder();
    for (uint64_t set = 0; set < N_SETS; set++) {
        gsa_reader_options options = {
            .size = sizeof options, .weight = "w", .cross = set % 3 == 0 ? "a:city" : NULL, .bits = set % 2 ? 5 : 0};
        options.categorical = set % 5 == 0 ? "a" : NULL;
        char *text = random_csv(set);
        assert_cached(open_table(text, "t.csv", &options), open_table(text, "t.csv", &options), &where);
        free(text);
    }
    assert_int_equal(rmdir(where.path), 0);
}

static char *random_vw(uint64_t seed)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    seed = seed * 2654435761u + 54321;
    for (uint64_t n = 1 + next_random(&seed) % 40; n > 0; n--) {
        fprintf(out, "%.17g", any_label(&seed));
        if (next_random(&seed) % 2)
            fprintf(out, " %.9g", (double)fabsf(any_float(&seed)));
        for (uint64_t k = next_random(&seed) % 3 + 1; k > 0; k--) {
            fprintf(out, " |%c", (char)('a' + next_random(&seed) % 3));
            for (uint64_t i = next_random(&seed) % 5; i > 0; i--) {
                fprintf(out, " f%u", (unsigned)(next_random(&seed) % 50));
                if (next_random(&seed) % 2)
                    fprintf(out, ":%.3g", (double)(next_random(&seed) % 1000) / 64);
            }
        }
        fputc('\n', out);
    }
    fclose(out);
    return text;
}

static void caches_of_vowpal_wabbit_text_have_its_rows_and_schema(void **state)
{
    (void)state;
    folder where = make_folder();
    for (uint64_t set = 0; set < N_SETS; set++) {
        gsa_reader_options options = {
            .size = sizeof options, .cross = set % 3 == 0 ? "a:b" : NULL, .bits = set % 2 ? 7 : 0};
        char *text = random_vw(set);
        assert_cached(open_table(text, "t.vw", &options), open_table(text, "t.vw", &options), &where);
        free(text);
    }
    assert_int_equal(rmdir(where.path), 0);
}

static gsa_reader *open_arrow(arrow_numbers *table)
{
    const gsa_reader_options options = {.size = sizeof options, .weight = "w"};
    struct ArrowArrayStream stream = arrow_stream(table);
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    if (gsa_reader_open_arrow(&stream, NULL, &options, NULL, NULL, &reader, &error) != GSA_OK)
        fail_msg("%s", error.message);
    return reader;
}

static void caches_of_arrow_streams_have_their_rows_and_schema(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "w", "y", "b"};
    static double column[4][40];
    const double *const columns[] = {column[0], column[1], column[2], column[3]};
    folder where = make_folder();
    uint64_t seed = 99;
    for (uint64_t set = 0; set < N_SETS; set++) {
        arrow_numbers table = {names, columns, 4, (int64_t)(next_random(&seed) % 40 + 1), 7, 0};
        arrow_numbers again = table;
        for (size_t i = 0; i < (size_t)table.n_rows; i++) {
            column[0][i] = next_random(&seed) % 3 ? (double)any_float(&seed) : (double)NAN;
            column[1][i] = (double)fabsf(any_float(&seed));
            column[2][i] = any_label(&seed);
            column[3][i] = (double)any_float(&seed);
        }
        assert_cached(open_arrow(&table), open_arrow(&again), &where);
    }
    assert_int_equal(rmdir(where.path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libsvm_and_caches_give_each_other_back),
        cmocka_unit_test(caches_keep_weights_and_libsvm_text_refuses_them),
        cmocka_unit_test(a_cache_that_contradicts_an_option_does_so_in_every_pass),
        cmocka_unit_test(vowpal_wabbit_text_has_labels_weights_and_values_to_the_bit),
        cmocka_unit_test(vowpal_wabbit_text_is_read_as_it_was_written),
        cmocka_unit_test(vowpal_wabbit_text_refuses_words_and_what_was_hashed),
        cmocka_unit_test(caches_of_tables_have_their_rows_and_schema),
        cmocka_unit_test(caches_of_vowpal_wabbit_text_have_its_rows_and_schema),
        cmocka_unit_test(caches_of_arrow_streams_have_their_rows_and_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
