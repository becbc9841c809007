/* Bundles: sizes, lengths, looking things up. */
#include "base/bundle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void element_types_have_their_sizes(void **state)
{
    (void)state;
    assert_int_equal(gsai_dtype_size(GSAI_U8), 1);
    assert_int_equal(gsai_dtype_size(GSAI_I32), 4);
    assert_int_equal(gsai_dtype_size(GSAI_U32), 4);
    assert_int_equal(gsai_dtype_size(GSAI_I64), 8);
    assert_int_equal(gsai_dtype_size(GSAI_U64), 8);
    assert_int_equal(gsai_dtype_size(GSAI_F32), 4);
    assert_int_equal(gsai_dtype_size(GSAI_F64), 8);
}

static gsai_tensor tensor_of(const char *name, unsigned n_dims, uint64_t rows, uint64_t columns)
{
    return (gsai_tensor){name, GSAI_F32, n_dims, {rows, columns}, NULL, NULL, NULL};
}

static void length_is_the_product_of_the_dimensions(void **state)
{
    (void)state;
    gsai_tensor scalar = tensor_of("s", 0, 7, 7), vector = tensor_of("v", 1, 5, 7), table = tensor_of("t", 2, 5, 7);
    gsai_tensor empty = tensor_of("e", 2, 5, 0), large = tensor_of("l", 2, (uint64_t)1 << 32, 1000);
    assert_true(gsai_tensor_len(&scalar) == 1);
    assert_true(gsai_tensor_len(&vector) == 5);
    assert_true(gsai_tensor_len(&table) == 35);
    assert_true(gsai_tensor_len(&empty) == 0);
    assert_true(gsai_tensor_len(&large) == (uint64_t)1000 << 32);
}

static void a_bundle_finds_by_whole_names(void **state)
{
    (void)state;
    const gsai_tensor tensors[] = {tensor_of("weights", 1, 3, 0), tensor_of("weight", 1, 4, 0)};
    const gsai_note notes[] = {{"loss", "softmax"}, {"lo", ""}};
    gsai_bundle bundle = {tensors, 2, notes, 2};
    assert_ptr_equal(gsai_bundle_tensor(&bundle, "weight"), &tensors[1]);
    assert_ptr_equal(gsai_bundle_tensor(&bundle, "weights"), &tensors[0]);
    assert_null(gsai_bundle_tensor(&bundle, "Weight"));
    assert_null(gsai_bundle_tensor(&bundle, ""));
    assert_string_equal(gsai_bundle_note(&bundle, "loss"), "softmax");
    assert_string_equal(gsai_bundle_note(&bundle, "lo"), "");
    assert_null(gsai_bundle_note(&bundle, "los"));
}

static void an_empty_bundle_has_nothing(void **state)
{
    (void)state;
    gsai_bundle bundle = {NULL, 0, NULL, 0};
    assert_null(gsai_bundle_tensor(&bundle, "weight"));
    assert_null(gsai_bundle_note(&bundle, "loss"));
}

static void a_file_of_a_model_is_known_by_nine_bytes(void **state)
{
    (void)state;
    static const char model[] = "\x40\x01\0\0\0\0\0\0{\"", longest[] = "\xF8\xFF\xFF\0\0\0\0\0{";
    assert_true(gsa_model_matches(model, sizeof model));
    assert_true(gsa_model_matches(model, 9));
    assert_false(gsa_model_matches(model, 8));
    assert_false(gsa_model_matches(model, 0));
    assert_true(gsa_model_matches(longest, 9)); /* too long, but no text either */
    for (size_t i = 3; i < 9; i++) {
        char other[9];
        memcpy(other, model, sizeof other);
        other[i] = i < 8 ? 1 : '[';
        assert_false(gsa_model_matches(other, sizeof other));
    }
    assert_false(gsa_model_matches("1 1:1 2:1\n", 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(element_types_have_their_sizes),
        cmocka_unit_test(length_is_the_product_of_the_dimensions),
        cmocka_unit_test(a_bundle_finds_by_whole_names),
        cmocka_unit_test(an_empty_bundle_has_nothing),
        cmocka_unit_test(a_file_of_a_model_is_known_by_nine_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
