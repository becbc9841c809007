/* Files that each version has written (README.md) load, predict what they did, and go on learning to the same bits;
 * those of this version are written again with the same bytes.
 *
 *   test_kept_files DIRECTORY         checks the files of all versions in it
 *   test_kept_files DIRECTORY --make  makes those of this version anew */
#include "base/byte_order.h"
#include "base/hash.h"

#include "unit/learn/bytes.h"

#include <stdbool.h>
#include <stdio.h>

#define VERSION "v3"
enum { N_ROWS = 100, N_FEATURES = 16, MAX_OUTPUTS = 8, PATH = 512 };

static const char *directory;

static const struct {
    const char *name, *loss, *class_weight;
    unsigned n_classes;
} kinds[] = {{"logistic", "logistic", "none", 2}, {"softmax", "softmax", "balanced", 3},
             {"squared", "squared", "none", 0},   {"huber", "huber", "none", 0},
             {"hinge", "hinge", "none", 3},       {"merged", "auto", "none", 2},
             {"waiting", "auto", "none", 2},      {"table", "auto", "none", 2}};

/* ---- files ------------------------------------------------------------------------------------------------------- */

static const char *path_of(const char *version, const char *name, const char *ending)
{
    static char path[PATH];
    snprintf(path, sizeof path, "%s/%s/%s%s", directory, version, name, ending);
    return path;
}

static bytes read_file(const char *path)
{
    bytes out = {0};
    char part[4096];
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
        append(&out, part, n);
    fclose(file);
    return out;
}

static void must_be_bytes(const bytes *expected, bytes *found, const char *what)
{
    if (expected->size != found->size || memcmp(expected->data, found->data, found->size) != 0)
        fail_msg("%s is written with other bytes", what);
    free(found->data);
}

/* ---- digests ----------------------------------------------------------------------------------------------------- */

/* Returns a hash of the margins of some rows. */
static uint64_t digest_of(const gsa_model *model)
{
    static double margin[N_ROWS * MAX_OUTPUTS];
    rows *r = rows_random(1, N_ROWS, N_FEATURES, 0);
    gsa_batch batch = rows_batch(r);
    gsa_error error = {0};
    gsa_model_info info = {.size = sizeof info};
    gsai_hasher hasher;
    gsa_model_get_info(model, &info);
    assert_true(info.n_outputs <= MAX_OUTPUTS);
    must_be_ok(gsa_model_margins(model, &batch, margin, &error), &error);
    gsai_hasher_init(&hasher);
    for (size_t i = 0; i < N_ROWS * info.n_outputs; i++) {
        unsigned char stored[8];
        uint64_t bits;
        memcpy(&bits, &margin[i], sizeof bits);
        gsai_store_u64(bits, stored);
        gsai_hasher_add(&hasher, stored, sizeof stored);
    }
    free(r);
    return gsai_hasher_value(&hasher);
}

static uint64_t digest_of_state(const gsa_state *state)
{
    gsa_model *model = model_of(state);
    uint64_t digest = digest_of(model);
    gsa_model_free(model);
    return digest;
}

/* A model, a state, and the state after more rows. */
typedef struct digests {
    unsigned long long of[3];
} digests;

static digests digests_of(const char *version, size_t kind, bool is_current)
{
    digests out;
    gsa_model *model = NULL;
    gsa_state *state = NULL;
    gsa_error error = {0};
    bytes file = read_file(path_of(version, kinds[kind].name, ".model")), again = {0};
    must_be_ok(gsa_model_read(file.data, file.size, NULL, &model, &error), &error);
    out.of[0] = digest_of(model);
    must_be_ok(gsa_model_write(model, append, &again, &error), &error);
    if (is_current)
        must_be_bytes(&file, &again, kinds[kind].name);
    free(file.data);
    gsa_model_free(model);
    file = read_file(path_of(version, kinds[kind].name, ".model.state"));
    must_be_ok(gsa_state_read(file.data, file.size, NULL, &state, &error), &error);
    again = state_bytes(state);
    if (is_current)
        must_be_bytes(&file, &again, kinds[kind].name);
    free(file.data);
    out.of[1] = digest_of_state(state);
    learn_random(state, 2, N_ROWS, N_FEATURES, kinds[kind].n_classes);
    out.of[2] = digest_of_state(state);
    gsa_state_free(state);
    return out;
}

static void check_version(const char *version, bool is_current)
{
    char name[64];
    digests kept;
    size_t n = 0;
    FILE *list = fopen(path_of(version, "digests", ".txt"), "r");
    assert_non_null(list);
    for (; fscanf(list, "%63s %llx %llx %llx", name, &kept.of[0], &kept.of[1], &kept.of[2]) == 4; n++) {
        assert_true(n < sizeof kinds / sizeof *kinds);
        assert_string_equal(name, kinds[n].name);
        digests now = digests_of(version, n, is_current);
        for (int i = 0; i < 3; i++)
            if (now.of[i] != kept.of[i])
                fail_msg("%s of %s, digest %d: %llx, expected %llx", name, version, i, now.of[i], kept.of[i]);
    }
    fclose(list);
    assert_int_equal(n, sizeof kinds / sizeof *kinds);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void files_of_version_3_are_read_and_written_again(void **unused)
{
    (void)unused;
    check_version(VERSION, true);
}

static void files_of_versions_1_and_2_are_refused_by_name(void **unused)
{
    (void)unused;
    static const char *const old[] = {"v1", "v2"};
    gsa_model *model = NULL;
    gsa_state *state = NULL;
    gsa_error error = {0};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
        char message[64];
        snprintf(message, sizeof message, "of format version %s, which was never published; train it again",
                 old[i] + 1);
        assert_int_equal(gsa_model_load(path_of(old[i], "logistic", ".model"), NULL, NULL, &model, &error), GSA_FORMAT);
        assert_non_null(strstr(error.message, message));
        assert_int_equal(gsa_state_load(path_of(old[i], "logistic", ".model.state"), NULL, NULL, &state, &error),
                         GSA_FORMAT);
        assert_non_null(strstr(error.message, message));
    }
}

/* ---- making them ------------------------------------------------------------------------------------------------- */

static gsa_state *state_of(size_t kind, uint64_t seed, size_t n_rows)
{
    gsa_state *state = state_with("method", "gsa", "loss", kinds[kind].loss, "class_weight", kinds[kind].class_weight,
                                  "max_held_out", "4", NULL);
    learn_random(state, seed, n_rows, N_FEATURES, kinds[kind].n_classes);
    return state;
}

/* Two passes, of which the first is the best so far; two runs merged, and a run that started from them; or rows that
 * wait for their group. */
static gsa_state *make_state(size_t kind)
{
    gsa_error error = {0};
    if (strcmp(kinds[kind].name, "waiting") == 0)
        return state_of(kind, 3, 1001);
    gsa_state *state = state_of(kind, 3, N_ROWS);
    if (strcmp(kinds[kind].name, "merged") == 0) {
        gsa_state *other = state_of(kind, 4, N_ROWS), *both = NULL, *next = NULL;
        const gsa_state *pair[] = {state, other};
        both = merged(pair, 2, NULL);
        next = started_from(both);
        learn_random(next, 5, N_ROWS, N_FEATURES, 2);
        free_states(state, other, both);
        return next;
    }
    must_be_ok(gsa_state_checkpoint_best(state, NULL, &error), &error);
    must_be_ok(gsa_state_end_pass(state, &error), &error);
    learn_random(state, 3, N_ROWS, N_FEATURES, kinds[kind].n_classes);
    return state;
}

static void make_files(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    for (size_t kind = 0; strcmp(kinds[kind].name, "table") != 0; kind++) {
        gsa_state *state = make_state(kind);
        gsa_model *model = model_of(state);
        must_be_ok(gsa_state_save(state, path_of(VERSION, kinds[kind].name, ".model.state"), &error), &error);
        must_be_ok(gsa_model_save(model, path_of(VERSION, kinds[kind].name, ".model"), &error), &error);
        gsa_model_free(model);
        gsa_state_free(state);
    }
    FILE *list = fopen(path_of(VERSION, "digests", ".txt"), "w");
    assert_non_null(list);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        digests now = digests_of(VERSION, kind, true);
        fprintf(list, "%s %016llx %016llx %016llx\n", kinds[kind].name, now.of[0], now.of[1], now.of[2]);
    }
    fclose(list);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_of_version_3_are_read_and_written_again),
                                       cmocka_unit_test(files_of_versions_1_and_2_are_refused_by_name)};
    const struct CMUnitTest making[] = {cmocka_unit_test(make_files)};
    if (argc < 2)
        return 2;
    directory = argv[1];
    return argc > 2 ? cmocka_run_group_tests(making, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
