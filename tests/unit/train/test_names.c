/* Features that are words have the same names by one process and by many, which read a share each. */
#include "ranks.h"

#include <stdio.h>
#include <unistd.h>

enum { N_FILES = 3, PATH_SIZE = 64 };

/* What everyone reads: files, or text in memory. */
struct input {
    char path[N_FILES][PATH_SIZE];
    bytes text;
    gsa_reader_options options;
    const char *passes;
    int stops; /* in the end, when everything is learned */
};

static gsa_reader *open_input(const struct input *input)
{
    gsa_reader *reader;
    gsa_error error = {0};
    const char *const path[N_FILES] = {input->path[0], input->path[1], input->path[2]};
    if (input->text.size > 0)
        must_be_ok(gsa_reader_open_memory(input->text.data, input->text.size, "words.vw", &input->options, NULL,
                                          &reader, &error),
                   &error);
    else
        must_be_ok(gsa_reader_open(path, N_FILES, &input->options, NULL, &reader, &error), &error);
    return reader;
}

static gsa_status stop(void *ctx, const gsa_state *state, gsa_error *error)
{
    (void)ctx, (void)state, (void)error;
    return GSA_STOPPED;
}

static gsa_state *learn_input(const struct input *input, const gsa_comm *comm)
{
    gsa_error error = {0};
    gsa_env env = {.n_threads = 1};
    gsa_train_hooks hooks = {.comm = comm, .pass_ended = input->stops ? stop : NULL};
    gsa_reader *reader = open_input(input);
    gsa_state *state = state_with("method", "auto", "passes", input->passes, "holdout", "2048", NULL);
    gsa_status status = gsa_train(state, reader, &hooks, &env, &error);
    assert_int_equal(status, input->stops ? GSA_STOPPED : GSA_OK);
    gsa_reader_close(reader);
    return state;
}

static void learn_together(struct rank *rank)
{
    gsa_state *state = learn_input(rank->ctx, &rank->comm);
    rank->saved = state_bytes(state);
    gsa_state_free(state);
}

static size_t count_names(const gsa_state *state)
{
    gsa_error error = {0};
    gsa_model *model;
    size_t n = 0;
    gsa_summary summary = state_summary(state);
    must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
    for (uint64_t feature = 0; feature < summary.n_features; feature++)
        n += gsa_model_name(model, feature) != NULL;
    gsa_model_free(model);
    return n;
}

/* Gives the number of names. */
static size_t the_same_for(struct input *input, const size_t *n_ranks, size_t n)
{
    gsa_state *alone = learn_input(input, NULL);
    bytes one = state_bytes(alone);
    for (size_t i = 0; i < n; i++) {
        struct rank rank[MAX_RANKS];
        run_ranks(rank, n_ranks[i], learn_together, input);
        for (size_t r = 0; r < n_ranks[i]; r++) {
            assert_same_bytes(one, rank[r].saved);
            free(rank[r].saved.data);
        }
    }
    size_t n_names = count_names(alone);
    gsa_state_free(alone);
    free(one.data);
    return n_names;
}

/* Everyone reads the first block. Behind it every file has words of its own, so that what comes first for a feature
 * depends on who has read which; and some in the second that have no name, since there is a NUL in them. */
static void write_files(struct input *input)
{
    for (unsigned f = 0; f < N_FILES; f++) {
        snprintf(input->path[f], PATH_SIZE, "/tmp/greedystep-names-%d-%u.csv", (int)getpid(), f);
        FILE *file = fopen(input->path[f], "w");
        assert_non_null(file);
        fputs("label,size,colour,shape\n", file);
        for (unsigned i = 0; i < (f == 0 ? 66000 : 20000); i++) {
            unsigned word = f * 2000 + i * 2654435761u / 65536 % (f == 0 ? 30 : 3000), shape = i % 7;
            if (f == 1 && i < 400)
                fprintf(file, "%u,%u.5,odd%c%u,s%u\n", i % 2, i % 5, 0, i, shape);
            else
                fprintf(file, "%u,%u.5,w%u,s%u\n", (word + shape) % 3 == 0, i % 5, word, shape);
        }
        assert_int_equal(fclose(file), 0);
    }
}

static void tables_in_several_files_give_the_names_of_one_process(void **unused)
{
    (void)unused;
    static const size_t n_ranks[] = {1, 2, 3, 5};
    struct input input = {.options = {.remember_names = 1, .bits = 12}, .passes = "1"};
    write_files(&input);
    size_t n_names = the_same_for(&input, n_ranks, 4);
    assert_true(n_names > 2000 && n_names <= 4097); /* most features of 12 bits, and a number */
    for (unsigned f = 0; f < N_FILES; f++)
        unlink(input.path[f]);
}

/* Behind the first block words that collide, others in every part of the text, and n_unique more a row that do not come
 * again. */
static bytes vw_text(size_t n_rows, size_t n_unique)
{
    bytes text = {malloc(n_rows * (24 + 10 * n_unique)), 0};
    char *at = (char *)text.data;
    assert_non_null(at);
    for (size_t i = 0; i < n_rows; i++) {
        size_t number = i * 2654435761u >> 8, word = i < 66000 ? number % 30 : i / 20000 * 700 + number % 2000;
        at += sprintf(at, "%d |a w%zu", word % 3 == 0 ? 1 : -1, word);
        for (size_t k = 0; k < n_unique && i >= 66000; k++)
            at += sprintf(at, " u%zu", i * n_unique + k);
        *at++ = '\n';
    }
    text.size = (size_t)(at - (char *)text.data);
    return text;
}

static void text_that_is_divided_gives_the_names_of_one_process(void **unused)
{
    (void)unused;
    static const size_t n_ranks[] = {2, 5};
    struct input input = {.text = vw_text(130000, 0), .options = {.remember_names = 1, .bits = 11}, .passes = "2"};
    for (input.stops = 0; input.stops < 2; input.stops++)
        assert_true(the_same_for(&input, n_ranks, 2) > 1500);
    free(input.text.data);
}

static void rounds_give_the_names_of_one_process(void **unused)
{
    (void)unused;
    static const size_t n_ranks[] = {3};
    struct input input = {.text = vw_text(1150000, 0), .options = {.remember_names = 1, .bits = 11}, .passes = "1"};
    assert_true(gsa_plan_round(1000000, 1 << 11, 1, 1).n_shards > 1);
    assert_true(the_same_for(&input, n_ranks, 1) > 1500);
    free(input.text.data);
}

static void more_words_than_a_book_has_names_for_give_the_names_of_one_process(void **unused)
{
    (void)unused;
    static const size_t n_ranks[] = {3};
    struct input input = {.text = vw_text(132000, 23), .options = {.remember_names = 1, .bits = 22}, .passes = "1"};
    gsa_reader *reader = open_input(&input);
    gsa_error error = {0};
    gsa_batch batch;
    uint64_t feature;
    while (gsa_reader_next(reader, &batch, &error) == GSA_OK)
        ;
    assert_non_null(gsa_reader_name_at(reader, GSA_MAX_NAMES - 1, &feature));
    assert_ptr_equal(gsa_reader_name_at(reader, GSA_MAX_NAMES, &feature), NULL);
    assert_true(gsa_reader_collision_rate(reader) * (1 << 22) > 1.1 * (double)GSA_MAX_NAMES);
    gsa_reader_close(reader);
    assert_int_equal(the_same_for(&input, n_ranks, 1), 65536);
    free(input.text.data);
}

static void nothing_is_sent_for_rows_without_words(void **unused)
{
    (void)unused;
    struct input with = {.text = vw_text(70000, 0), .options = {.remember_names = 1}, .passes = "1"};
    struct input without = {.text = {malloc(70000 * 16), 0}, .passes = "1"};
    for (size_t i = 0; i < 70000; i++)
        without.text.size +=
            (size_t)sprintf((char *)without.text.data + without.text.size, "%zu %zu:1\n", i % 2, i % 50 + 1);
    struct rank words[2], numbers[2];
    run_ranks(words, 2, learn_together, &with);
    run_ranks(numbers, 2, learn_together, &without);
    assert_int_equal(words[0].n_meetings, numbers[0].n_meetings + 8); /* four, each after asking whether all is well */
    for (size_t r = 0; r < 2; r++) {
        free(words[r].saved.data);
        free(numbers[r].saved.data);
    }
    free(with.text.data);
    free(without.text.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_in_several_files_give_the_names_of_one_process),
        cmocka_unit_test(text_that_is_divided_gives_the_names_of_one_process),
        cmocka_unit_test(rounds_give_the_names_of_one_process),
        cmocka_unit_test(more_words_than_a_book_has_names_for_give_the_names_of_one_process),
        cmocka_unit_test(nothing_is_sent_for_rows_without_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
