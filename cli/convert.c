/* `greedystep convert`: rows from one format to another, above all from text to a cache of parsed rows. */
#include "interrupt.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "session.h"
#include "style.h"
#include "verbs.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const cli_option convert_options[] = {
    {"output", 'o', OPTION_TEXT, true, "FILE", NULL, 0, 0,
     "write the rows here: .gsac is a cache, .vw Vowpal Wabbit text, any other name libsvm text; .gz or .zst after "
     "that compresses; - is standard output"},
    {"format", 0, OPTION_CHOICE, false, "auto|libsvm|gsac|vw", "auto", 0, 0,
     "output format; auto: by the name of FILE"},
    {"verify", 0, OPTION_FLAG, false, NULL, NULL, 0, 0, "read the cache back and fail unless it has the same rows"},
    {"quiet", 0, OPTION_FLAG, false, NULL, NULL, 0, 0, "show no progress"},
};

typedef struct converting {
    gsa_reader *reader;
    gsa_writer *writer;
    uint64_t n_rows, n_entries, n_features;
    bool verifies;
    gsa_fingerprint rows; /* what was written, if it is verified */
    cli_progress progress;
} converting;

/* Ids of a row ascend: the last is the highest. */
static void count_rows(converting *what, const gsa_batch *batch)
{
    what->n_rows += batch->n_rows;
    what->n_entries += (uint64_t)(batch->row_start[batch->n_rows] - batch->row_start[0]);
    for (size_t r = 0; r < batch->n_rows; r++) {
        int64_t end = batch->row_start[r + 1];
        if (end > batch->row_start[r] && batch->index[end - 1] >= what->n_features)
            what->n_features = (uint64_t)batch->index[end - 1] + 1;
    }
}

/* Rows that there will be if the rest of the bytes is like those before; 0: unknown. */
static uint64_t expected_rows(const converting *what)
{
    gsa_reader_progress reading = progress_of(what->reader);
    if (reading.bytes_total == 0 || reading.bytes_read == 0)
        return 0;
    return (uint64_t)((double)what->n_rows * (double)reading.bytes_total / (double)reading.bytes_read);
}

static gsa_status copy_rows(converting *what, gsa_error *error)
{
    gsa_batch batch;
    gsa_status status;
    while ((status = gsa_reader_next(what->reader, &batch, error)) == GSA_OK) {
        count_rows(what, &batch);
        progress_show_rows(&what->progress, "converted", what->n_rows, expected_rows(what));
        status = interrupt_should_stop(NULL) ? GSA_STOPPED : gsa_writer_write(what->writer, &batch, error);
        if (status != GSA_OK) {
            gsa_reader_locate(what->reader, &batch, error);
            return status;
        }
        if (what->verifies)
            gsa_fingerprint_add(&what->rows, &batch, NULL, batch.n_rows);
    }
    return status == GSA_END ? GSA_OK : status;
}

/* Only a cache has everything that rows have. */
static bool is_cache(const char *path, const char *format)
{
    static const char *const endings[] = {".gsac", ".gsac.gz", ".gsac.zst"};
    bool is_named = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        is_named = is_named || session_is_named(path, endings[i]);
    return strcmp(path, "-") != 0 && (strcmp(format, "gsac") == 0 || (strcmp(format, "auto") == 0 && is_named));
}

/* Reads the file back and compares it with what was written. */
static int verify(converting *what, const char *path, const gsa_env *env)
{
    gsa_error error = {0};
    gsa_reader *reader = NULL;
    gsa_fingerprint rows = {0};
    gsa_batch batch;
    gsa_status status = gsa_reader_open(&path, 1, NULL, env, &reader, &error);
    while (status == GSA_OK && (status = gsa_reader_next(reader, &batch, &error)) == GSA_OK) {
        gsa_fingerprint_add(&rows, &batch, NULL, batch.n_rows);
        progress_show_rows(&what->progress, "verified", rows.n_rows, what->n_rows);
    }
    progress_clear(&what->progress);
    gsa_reader_close(reader);
    if (status != GSA_END)
        return complain_error(status, &error);
    if (rows.n_rows == what->rows.n_rows && rows.sum == what->rows.sum)
        return EXIT_DONE;
    return complain_failed("%s does not hold the rows that were written: %" PRIu64 " with fingerprint %016" PRIx64
                           ", read back %" PRIu64 " with %016" PRIx64 "; check disk and memory, and convert again",
                           path, what->rows.n_rows, what->rows.sum, rows.n_rows, rows.sum);
}

static void print_results(const converting *what, const char *path, double seconds)
{
    gsa_reader_progress reading = progress_of(what->reader);
    report_field("rows", "%" PRIu64, what->n_rows);
    if (reading.n_bad_rows > 0)
        report_field("bad rows", "%" PRIu64 " (skipped)", reading.n_bad_rows);
    report_field("features", "%" PRIu64, what->n_features);
    report_field("entries", "%" PRIu64, what->n_entries);
    report_field("bytes read", "%" PRIu64, reading.bytes_read);
    struct stat facts;
    if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode))
        report_field("bytes written", "%llu", (unsigned long long)facts.st_size);
    seconds = fmax(seconds, 1e-9);
    report_field("time", "%.2f s (%.0f rows/s)", seconds, (double)what->n_rows / seconds);
    report_field("speed", "%.0f MB/s read", (double)reading.bytes_read / seconds * 1e-6);
    if (what->verifies)
        report_field("verified", "%" PRIu64 " rows, fingerprint %016" PRIx64, what->rows.n_rows, what->rows.sum);
    report_field("output", "%s", path);
}

static int convert(const cli_arguments *arguments, converting *what, const char *path, const gsa_env *env)
{
    gsa_error error = {0};
    const char *format = arguments_text(arguments, "format");
    interrupt_catch();
    progress_begin(&what->progress, style_is_on(stderr), NULL);
    double began = progress_clock();
    gsa_status status = gsa_writer_open(path, strcmp(format, "auto") == 0 ? NULL : format, env, &what->writer, &error);
    if (status == GSA_OK)
        status = session_begin_reader(arguments, what->reader, &error);
    if (status == GSA_OK)
        status = gsa_writer_set_schema(what->writer, gsa_reader_schema(what->reader), &error);
    if (status == GSA_OK)
        status = copy_rows(what, &error);
    progress_clear(&what->progress);
    if (status == GSA_OK) {
        status = gsa_writer_close(what->writer, &error);
        what->writer = NULL;
    }
    gsa_writer_discard(what->writer);
    if (status != GSA_OK)
        return complain_error(status, &error);
    double seconds = progress_clock() - began;
    int code = what->verifies ? verify(what, path, env) : EXIT_DONE;
    if (code == EXIT_DONE && strcmp(path, "-") != 0)
        print_results(what, path, seconds);
    return code;
}

static int run_convert(const cli_arguments *arguments)
{
    gsa_env env = session_env(arguments);
    converting what = {.n_rows = 0};
    const char *path = arguments_text(arguments, "output");
    what.verifies = arguments_flag(arguments, "verify");
    if (what.verifies && !is_cache(path, arguments_text(arguments, "format")))
        return complain_usage("--verify is only for a cache in a file; leave it out");
    int code = session_check_not_input(path, "-o", arguments->positional, arguments->n_positional);
    if (code == EXIT_DONE)
        code = session_open_reader(arguments, arguments->positional, arguments->n_positional, &env, &what.reader);
    if (code == EXIT_DONE)
        code = convert(arguments, &what, path, &env);
    gsa_reader_close(what.reader);
    return code;
}

const cli_verb convert_verb = {
    .name = "convert",
    .usage = "DATA... -o FILE [OPTIONS]",
    .summary = "convert rows to a cache that loads without parsing, or to text",
    .details =
        "Reads DATA and writes its rows to one file. A cache (FILE.gsac) holds parsed rows: every verb reads it in "
        "place of text, faster and with the same results. libsvm text loses the columns of a table and row weights; "
        "Vowpal Wabbit text (FILE.vw) is only for rows that came with feature numbers. DATA - is standard input.",
    .examples = "# parse once, train many times\n"
                "greedystep convert train.svm -o train.gsac\n"
                "greedystep train train.gsac -o my.model\n"
                "# the rows of a table as libsvm text, compressed\n"
                "greedystep convert clicks.csv --label clicked -o clicks.svm.gz",
    .options = convert_options,
    .n_options = sizeof convert_options / sizeof *convert_options,
    .reads_data = true,
    .positional = "DATA",
    .min_positional = 1,
    .max_positional = SIZE_MAX,
    .run = run_convert,
};
