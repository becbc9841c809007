/* Label discovery: words and numbers of any sort as labels, looked at and learned.
 *
 *   L1  every label of rows that were learned is a class of the model, found again by its row;
 *   L2  labels of a model are distinct and sorted: numbers by value, then words by bytes;
 *   L3  a label that contradicts what was decided is refused, and the state is as it was;
 *   L4  with a loss that is decided, pieces do not matter: row by row gives the bytes of all at once. */
#include "states.h"

enum { MOST_LABELS = 40, WORD = 31 };

typedef struct labels {
    gsa_batch batch;
    double number[MOST_LABELS];
    int32_t word[MOST_LABELS];
    char text[MOST_LABELS][WORD + 1];
    const char *words[MOST_LABELS];
    int64_t start[MOST_LABELS + 1];
    uint32_t index[MOST_LABELS];
    float value[MOST_LABELS];
} labels;

/* A label is a word, a number of any bits, or a small one. */
static void take_label(fuzz_input *in, labels *out, size_t i)
{
    uint8_t kind = fuzz_byte(in);
    out->word[i] = -1;
    out->number[i] = kind % 64 / 4.0 - 3;
    out->words[i] = "";
    if (kind >= 192) {
        out->words[i] = fuzz_text(in, out->text[i], WORD);
        out->word[i] = (int32_t)i;
    } else if (kind >= 160) {
        uint64_t bits = fuzz_number(in, 8);
        memcpy(&out->number[i], &bits, sizeof bits);
    } else if (kind >= 64) {
        out->number[i] = kind % 8;
    }
    out->index[i] = fuzz_byte(in) % 8;
    out->value[i] = 1;
    out->start[i] = (int64_t)i;
}

static const gsa_batch *take_labels(fuzz_input *in, labels *out)
{
    size_t n = 0;
    for (; n < MOST_LABELS && in->left > 0; n++)
        take_label(in, out, n);
    out->start[n] = (int64_t)n;
    out->batch = (gsa_batch){.n_rows = n,
                             .row_start = out->start,
                             .index = out->index,
                             .value = out->value,
                             .label = out->number,
                             .word = out->word,
                             .words = out->words,
                             .n_words = n};
    return &out->batch;
}

static gsa_state *new_state(uint8_t how)
{
    static const char *const losses[] = {"auto", "softmax", "logistic", "hinge", "squared_hinge", "squared"};
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    gsa_error error = {0};
    gsa_status status = gsa_config_new(NULL, &config, &error);
    if (status == GSA_OK)
        status = gsa_config_set(config, "loss", losses[how % 6], &error);
    if (status == GSA_OK && (how & 8) && how % 6 < 5)
        status = gsa_config_set(config, "class_weight", "balanced", &error);
    if (status == GSA_OK && (how & 16))
        status = gsa_config_set(config, "method", "paper", &error);
    if (status == GSA_OK)
        status = gsa_state_new(config, &fuzz_state_env.memory, &state, &error);
    fuzz_must(status == GSA_OK, "there is a state", error.message);
    gsa_config_free(config);
    return state;
}

/* L1 and L2. */
static void check_classes(const gsa_state *state, const gsa_batch *learned)
{
    gsa_model *model = NULL;
    gsa_model_info info = {.size = sizeof info};
    gsa_error error = {0};
    if (fuzz_status(gsa_state_finish(state, NULL, &model, &error), &error) != GSA_OK)
        return;
    gsa_model_get_info(model, &info);
    for (size_t r = 0; r < learned->n_rows && info.n_classes > 0; r++) {
        size_t class = SIZE_MAX;
        fuzz_must(gsa_model_class(model, learned, r, &class, &error) == GSA_OK && class < info.n_classes,
                  "a label that was learned is a class", NULL);
        if (learned->word[r] >= 0)
            fuzz_must(strcmp(gsa_model_label(model, class), learned->words[learned->word[r]]) == 0,
                      "a word is its own label", gsa_model_label(model, class));
        else
            fuzz_must(strtod(gsa_model_label(model, class), NULL) == learned->label[r], "a number reads back equal",
                      gsa_model_label(model, class));
    }
    for (size_t k = 1; k < info.n_classes; k++)
        fuzz_must(strcmp(gsa_model_label(model, k - 1), gsa_model_label(model, k)) != 0, "labels are distinct",
                  gsa_model_label(model, k));
    fuzz_check_predictions(model, learned);
    gsa_model_free(model);
}

/* L4. */
static void check_pieces(uint8_t how, const gsa_batch *rows)
{
    static fuzz_bytes at_once, in_pieces;
    gsa_error error = {0}, other = {0};
    gsa_state *whole = new_state(how), *pieces = new_state(how);
    gsa_status status = gsa_state_prepare(whole, rows, &error);
    if (status == GSA_OK && gsa_state_prepare(pieces, rows, &other) == GSA_OK) {
        status = fuzz_status(gsa_state_update(whole, rows, &error), &error);
        gsa_status piece_status = GSA_OK;
        for (size_t r = 0; r < rows->n_rows && piece_status == GSA_OK; r++) {
            gsa_batch one = fuzz_rows_from(rows, r, 1);
            piece_status = fuzz_status(gsa_state_update(pieces, &one, &other), &other);
        }
        fuzz_must(status == piece_status, "row by row is learned or refused alike", error.message);
        fuzz_write_state(whole, &at_once);
        fuzz_write_state(pieces, &in_pieces);
        fuzz_must(fuzz_same(&at_once, &in_pieces), "row by row gives the bytes of all at once", NULL);
    }
    gsa_state_free(whole);
    gsa_state_free(pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static labels drawn;
    static fuzz_bytes before, after;
    before.size = after.size = 0;
    if (size > 2048)
        return -1;
    fuzz_input in = {data, size};
    uint8_t how = fuzz_byte(&in), first = fuzz_byte(&in);
    const gsa_batch *rows = take_labels(&in, &drawn);
    gsa_error error = {0};
    gsa_state *state = new_state(how);
    size_t n = rows->n_rows > 0 ? first % (rows->n_rows + 1) : 0;
    gsa_batch head = fuzz_rows_from(rows, 0, n), rest = fuzz_rows_from(rows, n, rows->n_rows - n);
    if (how & 128)
        fuzz_write_state(state, &before);
    gsa_status status = fuzz_status(gsa_state_prepare(state, &head, &error), &error);
    if (how & 128)
        fuzz_write_state(state, &after);
    fuzz_must(status == GSA_OK || fuzz_same(&before, &after), "a look that fails leaves no trace",
              error.message); /* L3 */
    if (status == GSA_OK)
        status = fuzz_status(gsa_state_update(state, &head, &error), &error);
    if (status == GSA_OK && (how & 64))
        check_classes(state, &head);
    if (status == GSA_OK && !(how & 64)) {
        status = fuzz_status(gsa_state_update(state, &rest, &error), &error);
        size_t n_learned = status == GSA_OK ? rest.n_rows : error.row < rest.n_rows ? (size_t)error.row : 0;
        rest.n_rows = n_learned;
        check_classes(state, &rest);
        if (how & 32)
            fuzz_check_state_file(state);
    }
    gsa_state_free(state);
    if ((how & 96) == 96)
        check_pieces(how, rows);
    return 0;
}
