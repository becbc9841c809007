/* The public doors of store, over a core of the test's own. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/store/bytes.h"
#include "unit/store/fake_core.h"

typedef struct place {
    char directory[64];
    char state_path[96];
    char model_path[96];
} place;

static int setup(void **test_state)
{
    place *p = calloc(1, sizeof *p);
    strcpy(p->directory, "/tmp/gsa-files-XXXXXX");
    assert_non_null(mkdtemp(p->directory));
    snprintf(p->state_path, sizeof p->state_path, "%s/state", p->directory);
    snprintf(p->model_path, sizeof p->model_path, "%s/model", p->directory);
    *test_state = p;
    return 0;
}

static int teardown(void **test_state)
{
    place *p = *test_state;
    unlink(p->state_path);
    unlink(p->model_path);
    assert_int_equal(rmdir(p->directory), 0);
    free(p);
    return 0;
}

static void a_state_is_saved_and_loaded(void **test_state)
{
    place *p = *test_state;
    const gsa_state state = {1.5f};
    gsa_state *back;
    gsa_error error;
    assert_int_equal(gsa_state_save(&state, p->state_path, &error), GSA_OK);
    assert_int_equal(gsa_state_load(p->state_path, NULL, NULL, &back, &error), GSA_OK);
    assert_true(back->number == 1.5f);
    gsa_state_free(back);
}

static void a_state_is_written_and_read(void **test_state)
{
    (void)test_state;
    const gsa_state state = {-0.0f};
    gsa_state *back;
    bytes b = {0};
    assert_int_equal(gsa_state_write(&state, bytes_append, &b, NULL), GSA_OK);
    assert_int_equal(gsa_state_read(b.at, b.size, NULL, &back, NULL), GSA_OK);
    bytes_free(&b);
    assert_memory_equal(&back->number, &state.number, sizeof(float));
    gsa_state_free(back);
}

static void a_loaded_model_lives_in_the_mapped_file(void **test_state)
{
    place *p = *test_state;
    gsa_model model = {.own = 2.5f};
    model.number = &model.own;
    gsa_model *back;
    assert_int_equal(gsa_model_save(&model, p->model_path, NULL), GSA_OK);
    assert_int_equal(gsa_model_load(p->model_path, NULL, NULL, &back, NULL), GSA_OK);
    assert_non_null(back->close);
    assert_int_equal(unlink(p->model_path), 0);
    assert_true(*back->number == 2.5f);
    gsa_model_free(back); /* the sanitizer sees whether the container is closed */
}

static void a_model_read_from_bytes_needs_them_no_longer(void **test_state)
{
    (void)test_state;
    gsa_model model = {.own = 3.5f};
    model.number = &model.own;
    gsa_model *back;
    bytes b = {0};
    assert_int_equal(gsa_model_write(&model, bytes_append, &b, NULL), GSA_OK);
    assert_int_equal(gsa_model_read(b.at, b.size, NULL, &back, NULL), GSA_OK);
    memset(b.at, 0xAA, b.size);
    bytes_free(&b);
    assert_true(*back->number == 3.5f);
    gsa_model_free(back);
}

static void saved_and_written_are_the_same_bytes(void **test_state)
{
    place *p = *test_state;
    const gsa_state state = {4.5f};
    bytes b = {0};
    assert_int_equal(gsa_state_write(&state, bytes_append, &b, NULL), GSA_OK);
    assert_int_equal(gsa_state_save(&state, p->state_path, NULL), GSA_OK);
    unsigned char *read_back = malloc(b.size + 1);
    int fd = open(p->state_path, O_RDONLY);
    assert_int_equal(read(fd, read_back, b.size + 1), b.size);
    close(fd);
    assert_memory_equal(read_back, b.at, b.size);
    free(read_back);
    bytes_free(&b);
}

static void one_kind_given_for_the_other_is_refused_by_name(void **test_state)
{
    place *p = *test_state;
    const gsa_state state = {1};
    gsa_state *no_state;
    gsa_model *no_model;
    gsa_model model = {.own = 1};
    model.number = &model.own;
    gsa_error error = {.message = ""};
    bytes b = {0};
    assert_int_equal(gsa_state_save(&state, p->state_path, NULL), GSA_OK);
    assert_int_equal(gsa_model_load(p->state_path, NULL, NULL, &no_model, &error), GSA_FORMAT);
    assert_null(no_model);
    assert_non_null(strstr(error.message, p->state_path));
    assert_non_null(strstr(error.message, "this is a state, expected a model"));
    assert_int_equal(gsa_model_write(&model, bytes_append, &b, NULL), GSA_OK);
    assert_int_equal(gsa_state_read(b.at, b.size, NULL, &no_state, &error), GSA_FORMAT);
    assert_null(no_state);
    assert_string_equal(error.message, "the bytes given: this is a model, expected a state");
    bytes_free(&b);
}

static void a_missing_file_is_named(void **test_state)
{
    place *p = *test_state;
    gsa_model *model = (gsa_model *)(uintptr_t)1;
    gsa_state *state = (gsa_state *)(uintptr_t)1;
    gsa_error error = {.message = ""};
    assert_int_equal(gsa_model_load(p->model_path, NULL, NULL, &model, &error), GSA_IO);
    assert_null(model);
    assert_non_null(strstr(error.message, p->model_path));
    assert_int_equal(gsa_state_load(p->state_path, NULL, NULL, &state, NULL), GSA_IO);
    assert_null(state);
}

static void a_state_that_cannot_be_described_leaves_no_file(void **test_state)
{
    place *p = *test_state;
    const gsa_state state = {-1};
    bytes b = {0};
    assert_int_equal(gsa_state_save(&state, p->state_path, NULL), GSA_MEMORY);
    assert_int_equal(access(p->state_path, F_OK), -1);
    assert_int_equal(gsa_state_write(&state, bytes_append, &b, NULL), GSA_MEMORY);
    assert_int_equal(b.size, 0);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_state_is_saved_and_loaded),
        IN_PLACE(a_state_is_written_and_read),
        IN_PLACE(a_loaded_model_lives_in_the_mapped_file),
        IN_PLACE(a_model_read_from_bytes_needs_them_no_longer),
        IN_PLACE(saved_and_written_are_the_same_bytes),
        IN_PLACE(one_kind_given_for_the_other_is_refused_by_name),
        IN_PLACE(a_missing_file_is_named),
        IN_PLACE(a_state_that_cannot_be_described_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
