/* The bytes of a container as they stand in a file, with the checksum made to fit: whatever is refused is refused with
 * a message; what opens as a container is written again to a bundle of the same names. Both loaders see the same bytes.
 */
#include "states.h"

#include "base/byte_order.h"
#include "base/hash.h"

static void check_container(const unsigned char *file, size_t size)
{
    static fuzz_bytes again;
    gsai_env env = fuzz_state_env;
    gsai_container *container = NULL, *back = NULL;
    gsa_error error = {0};
    if (fuzz_status(gsai_container_open(NULL, file, size, &env, &container, &error), &error) != GSA_OK)
        return;
    const gsai_bundle *bundle = gsai_container_bundle(container);
    again.size = 0;
    fuzz_must(gsai_container_write(bundle, fuzz_write, &again, &error) == GSA_OK, "a container can be written again",
              error.message);
    fuzz_must(gsai_container_open(NULL, again.data, again.size, &env, &back, &error) == GSA_OK,
              "a container that was written opens", error.message);
    fuzz_must(gsai_container_bundle(back)->n_tensors == bundle->n_tensors, "it has the same tensors", NULL);
    fuzz_must(gsai_container_bundle(back)->n_notes == bundle->n_notes, "it has the same notes", NULL);
    gsai_container_close(back);
    gsai_container_close(container);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_MAX || size < 1)
        return -1;
    uint8_t how = data[0];
    size_t n = size - 1;
    unsigned char *file = malloc(n > 0 ? n : 1);
    fuzz_must(file != NULL, "there is memory", NULL);
    memcpy(file, data + 1, n);
    if ((how & 1) && n >= 16) { /* the header's size, for a header that begins where it should */
        const unsigned char *end = memchr(file + 8, how & 2 ? '\0' : '}', n - 8);
        size_t header = end ? (size_t)(end - (file + 8)) / 8 * 8 : 0;
        if (how & 4)
            gsai_store_u64(header, file);
    }
    if ((how & 8) == 0 && n >= 8)
        gsai_store_u64(gsai_hash(file, n - 8, 0), file + n - 8);
    check_container(file, n);
    gsa_state *state = NULL;
    gsa_model *model = NULL;
    gsa_error error = {0};
    if (fuzz_status(gsa_state_read(file, n, &fuzz_state_env.memory, &state, &error), &error) == GSA_OK)
        fuzz_check_state_file(state);
    if (fuzz_status(gsa_model_read(file, n, &fuzz_state_env.memory, &model, &error), &error) == GSA_OK)
        fuzz_check_weights(model);
    fuzz_must(!state || !model, "a file is not a state and a model", NULL);
    gsa_state_free(state);
    gsa_model_free(model);
    free(file);
    return 0;
}
