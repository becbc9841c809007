/* `greedystep generate`: rows with planted weights, to try things out. */
#include "interrupt.h"
#include "message.h"
#include "progress.h"
#include "session.h"
#include "style.h"
#include "verbs.h"

#include <inttypes.h>
#include <string.h>

static const cli_option generate_options[] = {
    {"output", 'o', OPTION_TEXT, true, "FILE", NULL, 0, 0,
     "write the rows here; the name decides: cache (.gsac), Vowpal Wabbit (.vw) or libsvm text, compressed with .gz or "
     ".zst"},
    {"rows", 0, OPTION_COUNT, false, "N", "10000", 0, UINT64_MAX, "number of rows"},
    {"features", 0, OPTION_COUNT, false, "N", "1000", 1, (uint64_t)GSA_MAX_ID + 1, "number of features"},
    {"nnz", 0, OPTION_COUNT, false, "N", "20", 1, (uint64_t)GSA_MAX_ID + 1,
     "non-zero features per row, all with value 1"},
    {"classes", 0, OPTION_COUNT, false, "N", "2", 1, 1000, "number of classes, labelled from 0; 1 for regression"},
    {"noise", 0, OPTION_REAL, false, "P", "0", 0, 1000000,
     "share of rows with a random label; with --classes 1 the standard deviation of the noise (0: 0.3)"},
    {"skew", 0, OPTION_REAL, false, "S", "0", 0, 10,
     "make features unequally frequent: the r-th in proportion to 1 / r^S; 1: like words of a language"},
    {"seed", 0, OPTION_COUNT, false, "N", "0", 0, UINT64_MAX, "seed of weights and rows"},
    {"format", 0, OPTION_CHOICE, false, "auto|libsvm|gsac|vw", "auto", 0, 0,
     "output format; auto: by the name of FILE"},
};

static int run_generate(const cli_arguments *arguments)
{
    gsai_env env = session_env(arguments);
    gsa_generator what = {.size = sizeof what,
                          .n_rows = arguments_number(arguments, "rows"),
                          .n_features = arguments_number(arguments, "features"),
                          .nnz = arguments_number(arguments, "nnz"),
                          .n_classes = arguments_number(arguments, "classes"),
                          .seed = arguments_number(arguments, "seed"),
                          .skew = arguments_real(arguments, "skew"),
                          .noise = arguments_real(arguments, "noise")};
    if (what.nnz > what.n_features)
        return complain_usage("--nnz %" PRIu64 ": more than the %" PRIu64 " of --features; raise --features", what.nnz,
                              what.n_features);
    gsa_error error = {0};
    gsa_reader *reader = NULL;
    gsa_writer *writer = NULL;
    gsa_batch batch;
    uint64_t n_done = 0;
    cli_progress progress;
    interrupt_catch();
    progress_begin(&progress, style_is_on(stderr), NULL);
    gsa_status status = gsa_reader_open_generated(&what, &env.memory, &env.call, &reader, &error);
    const char *path = arguments_text(arguments, "output"), *format = arguments_text(arguments, "format");
    if (status == GSA_OK)
        status =
            gsa_writer_open(path, strcmp(format, "auto") == 0 ? NULL : format, &env.memory, &env.call, &writer, &error);
    while (status == GSA_OK && (status = gsa_reader_next(reader, &batch, &error)) == GSA_OK) {
        n_done += batch.n_rows;
        progress_show_rows(&progress, "generated", n_done, what.n_rows);
        status = interrupt_should_stop(NULL) ? GSA_STOPPED : gsa_writer_write(writer, &batch, &error);
    }
    status = status == GSA_END ? GSA_OK : status;
    progress_clear(&progress);
    if (status == GSA_OK) {
        status = gsa_writer_close(writer, &error);
        writer = NULL;
    }
    gsa_writer_discard(writer);
    gsa_reader_close(reader);
    return status == GSA_OK ? EXIT_DONE : complain_error(status, &error);
}

const cli_verb generate_verb = {
    .name = "generate",
    .usage = "-o FILE [OPTIONS]",
    .summary = "generate rows with known weights, to try things out",
    .details = "Writes random rows whose labels follow a random linear model. The same options give the same rows on "
               "every machine.",
    .examples = "# two classes, to train and to test on\ngreedystep generate --rows 12000 -o all.svm\nhead -n 10000 "
                "all.svm > train.svm\ntail -n 2000 all.svm > test.svm\n# numbers instead of classes, "
                "compressed\ngreedystep generate --classes 1 --features 50 --nnz 10 -o values.svm.gz",
    .options = generate_options,
    .n_options = sizeof generate_options / sizeof *generate_options,
    .run = run_generate,
};
