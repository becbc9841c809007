/* Environment, readers, models and states, as the verbs need them. */
#include "session.h"

#include "duckdb.h"
#include "interrupt.h"
#include "message.h"
#include "output.h"
#include "views.h"

#include "base/atomic_file.h"
#include "base/workers.h"

#include <greedystep/arrow.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char state_suffix[] = ".state", parquet_suffix[] = ".parquet";

const char *session_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder != NULL && *folder != '\0' ? folder : "/tmp";
}

gsai_env session_env(const cli_arguments *arguments)
{
    static gsa_budget budget = {.size = sizeof budget}; /* a process is one run */
    budget.limit = gsa_machine_memory() / 2;            /* 0, no limit, if the system does not tell */
    if (arguments->verb->reads_data && arguments_given(arguments, "memory-limit"))
        budget.limit = arguments_number(arguments, "memory-limit");
    return (gsai_env){.memory = {.size = sizeof(gsa_memory), .budget = &budget},
                      .call = {.size = sizeof(gsa_call), .should_stop = interrupt_should_stop}};
}

bool session_is_folder(const char *path)
{
    struct stat facts;
    size_t size = strlen(path);
    return size > 0 && (path[size - 1] == '/' || (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)));
}

int session_open_reader(const cli_arguments *arguments, const gsa_reader_options *wanted, const char *const *paths,
                        size_t n_paths, const gsai_env *env, gsa_reader **out)
{
    gsa_error error = {0};
    gsa_reader_options options = *wanted;
    options.size = sizeof options;
    options.skip_bad_rows = strcmp(arguments_text(arguments, "bad-rows"), "skip") == 0;
    const struct {
        const char *name, **value;
        bool has_auto;
    } columns[] = {{"label", &options.label, false},
                   {"weight", &options.weight, false},
                   {"exposure", &options.exposure, false},
                   {"labels", &options.labels, false},
                   {"ignore", &options.ignore, false},
                   {"categorical", &options.categorical, false},
                   {"cross", &options.cross, false},
                   {"decimal", &options.decimal, true},
                   {"dates", &options.dates, true},
                   {"missing", &options.missing, true},
                   {"group", &options.group, false},
                   {"time", &options.time, false},
                   {"text", &options.text, false},
                   {"offset", &options.offset, false},
                   {"increasing", &options.increasing, false},
                   {"decreasing", &options.decreasing, false},
                   {"per", &options.per, false}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const char **value = columns[i].value, *name = columns[i].name;
        /* NULL where the verb has no such option, since the model knows, and where the reader is to find out. */
        *value = arguments_have(arguments, name) ? arguments_text(arguments, name) : NULL;
        if (columns[i].has_auto && *value != NULL && strcmp(*value, "auto") == 0)
            *value = NULL;
    }
    if (arguments_have(arguments, "bits") && arguments_given(arguments, "bits"))
        options.bits = (unsigned)arguments_number(arguments, "bits");
    gsa_status status = GSA_OK;
    gsa_file_source files;
    int code = EXIT_DONE;
    size_t n_parquet = 0, n_elsewhere = 0;
    for (size_t i = 0; i < n_paths; i++) {
        n_parquet += session_is_named(paths[i], parquet_suffix);
        n_elsewhere += strstr(paths[i], "://") != NULL;
    }
    if (n_paths == 0 || n_parquet > 0) { /* the rows of a query */
        struct ArrowArrayStream stream;
        gsa_arrow_again again;
        for (size_t i = 0; i < n_paths; i++)
            if (!session_is_named(paths[i], parquet_suffix))
                return complain_failed("%s does not end in .parquet and other files do; give files of one format",
                                       paths[i]);
        char *query = n_paths == 0 ? strdup(arguments_text(arguments, "sql")) : duckdb_query_of(paths, n_paths);
        code = query == NULL ? complain_failed("out of memory") : duckdb_stream(query, &stream, &again);
        if (code == EXIT_DONE)
            status = gsa_reader_open_arrow(&stream, &again, &options, &env->memory, &env->call, out, &error);
    } else if (n_elsewhere > 0) { /* DuckDB reads the files; their bytes are those of any other */
        duckdb_names names = {0};
        code = duckdb_open_files(paths, n_paths, &files, &names);
        options.files = &files;
        if (code == EXIT_DONE)
            status = gsa_reader_open((const char *const *)names.at, names.n, &options, &env->memory, &env->call, out,
                                     &error);
        duckdb_free_names(&names);
    } else {
        status = gsa_reader_open(paths, n_paths, &options, &env->memory, &env->call, out, &error);
    }
    for (size_t i = 0; status == GSA_IO && options.files == NULL && i < n_paths; i++)
        if (strpbrk(paths[i], "*?[") != NULL && access(paths[i], F_OK) != 0)
            return complain_failed(
                "cannot open %s: no such file; leave out the quotes to let the shell expand a pattern", paths[i]);
    return status == GSA_OK ? code : complain_error(status, &error);
}

gsa_status session_begin_reader(gsa_reader *reader, gsa_error *error)
{
    gsa_status status = gsa_reader_begin(reader, error);
    if (status == GSA_OK && gsa_reader_description(reader) != NULL)
        note("%s", gsa_reader_description(reader));
    return status;
}

void session_tell_recoded(const gsa_reader *reader)
{
    uint64_t n = progress_of(reader).n_recoded;
    if (n > 0)
        note("%" PRIu64 " cell%s not UTF-8, read as Windows-1252", n, n == 1 ? " is" : "s are");
}

int session_match(gsa_reader *reader, const char *schema, const char *keep)
{
    gsa_error error = {0};
    gsa_status status = gsa_reader_set_schema(reader, schema, &error);
    if (status == GSA_OK)
        status = gsa_reader_begin(reader, &error);
    if (status != GSA_OK && strcmp(error.param, "keep") == 0)
        snprintf(error.param, sizeof error.param, "%s", keep);
    if (status != GSA_OK)
        return complain_error(status, &error);
    if (schema == NULL && gsa_reader_schema(reader) != NULL)
        return complain_failed("%s is a table, and the model was trained on feature numbers; give rows that have them",
                               gsa_reader_file(reader, 0));
    return EXIT_DONE;
}

int session_load_model(const char *path, const gsai_env *env, gsa_model **out)
{
    gsa_error error = {0};
    gsa_status status = gsa_model_load(path, &env->memory, &env->call, out, &error);
    return status == GSA_OK ? EXIT_DONE : complain_error(status, &error);
}

bool session_is_named(const char *path, const char *ending)
{
    size_t length = strlen(path), ending_length = strlen(ending);
    return length > ending_length && strcmp(path + length - ending_length, ending) == 0;
}

char *session_state_path(const char *model_path)
{
    size_t size = strlen(model_path) + sizeof state_suffix;
    char *path = malloc(size);
    if (path == NULL)
        complain("out of memory");
    else
        snprintf(path, size, "%s%s", model_path, session_is_named(model_path, state_suffix) ? "" : state_suffix);
    return path;
}

bool session_has_state(const char *model_path)
{
    char *path = session_state_path(model_path);
    bool exists = path != NULL && access(path, F_OK) == 0;
    free(path);
    return exists;
}

int session_load_state(const char *model_path, const gsai_env *env, gsa_state **out)
{
    gsa_error error = {0};
    char *path = session_state_path(model_path);
    if (path == NULL)
        return EXIT_FAILED;
    int code = EXIT_DONE;
    if (access(path, F_OK) != 0)
        code = complain_failed("cannot open %s: %s; keep the state that `train` writes beside a model", path,
                               strerror(errno));
    gsa_status status = code == EXIT_DONE ? gsa_state_load(path, &env->memory, &env->call, out, &error) : GSA_OK;
    free(path);
    return status == GSA_OK ? code : complain_error(status, &error);
}

/* Held-out rows times classes: about half a second on a machine that is busy. */
enum { SCORED_AT_ONCE = 1 << 21 };

bool session_skips_calibration(const gsa_state *state)
{
    gsa_summary summary = summary_of(state);
    return interrupt_signal() != 0 && summary.n_held_out * summary.n_classes > SCORED_AT_ONCE;
}

/* A state that is saved with its model. */
typedef struct saving {
    const gsa_state *state;
    const char *state_path;
    const gsa_call *call;
    gsa_model *model;
    gsai_atomic_file *file; /* of the state */
    gsa_error *error;       /* of writing */
} saving;

static int put_bytes(void *ctx, const void *bytes, size_t size)
{
    saving *what = ctx;
    return gsai_atomic_file_write(what->file, bytes, size, what->error) != GSA_OK;
}

/* Makes the model, and writes the state, which takes its place later. */
static gsa_status save_part(void *ctx, size_t number, gsa_error *error)
{
    saving *what = ctx;
    gsa_error other = {0};
    if (number == 0)
        return gsa_state_finish(what->state, what->call, &what->model, error);
    what->error = error;
    gsa_status status = gsai_atomic_file_open(what->state_path, NULL, &what->file, error);
    if (status == GSA_OK)
        status = gsa_state_write(what->state, put_bytes, what, &other);
    if (status != GSA_OK && *error->message == '\0')
        *error = other;
    return status;
}

int session_save(const gsa_state *state, const char *model_path, const gsai_env *env, gsa_model **out)
{
    gsa_error error = {0};
    char *state_path = session_state_path(model_path);
    if (state_path == NULL)
        return EXIT_FAILED;
    gsai_env patient = *env; /* a signal that has already come must not spoil the saving that it asks for */
    if (!session_skips_calibration(state))
        patient.call.should_stop = NULL;
    saving what = {state, state_path, &patient.call, NULL, NULL, NULL};
    gsa_status status = GSA_MEMORY;
    for (size_t n = gsai_workers_count(env); (status == GSA_MEMORY || status == GSA_LIMIT) && n > 0; n = n > 1) {
        gsai_atomic_file_discard(what.file); /* one after the other takes less memory */
        gsa_model_free(what.model);
        what.file = NULL;
        what.model = NULL;
        status = gsai_workers_run(n, 2, save_part, &what, env, &error);
    }
    if (status == GSA_OK)
        status = gsai_atomic_file_commit(what.file, &error);
    else
        gsai_atomic_file_discard(what.file);
    if (status == GSA_OK)
        status = gsa_model_save(what.model, model_path, &error);
    if (status == GSA_OK && out != NULL)
        *out = what.model;
    else
        gsa_model_free(what.model);
    free(state_path);
    return status == GSA_OK ? EXIT_DONE : complain_error(status, &error);
}

bool session_is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    if (strcmp(a, b) == 0)
        return true;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino && S_ISREG(first.st_mode);
}

int session_check_not_input(const cli_arguments *arguments, const char *option, const char *path)
{
    const char *test = arguments_have(arguments, "test") ? arguments_text(arguments, "test") : NULL;
    bool is_input = test != NULL && session_is_same_file(path, test);
    for (size_t i = 0; i < arguments->n_positional && !is_input; i++)
        is_input = session_is_same_file(path, arguments->positional[i]);
    return is_input && strcmp(path, "-") != 0
               ? complain_failed("%s is an input and would be overwritten; give %s another name", path, option)
               : EXIT_DONE;
}

int session_check_model_path(const cli_arguments *arguments, const char *path)
{
    if (strcmp(path, "-") == 0)
        return complain_usage("cannot write a model to standard output; give -o a file name");
    if (session_is_named(path, state_suffix))
        return complain_usage("-o %s: the ending %s is reserved for states; give another name", path, state_suffix);
    char *state_path = session_state_path(path);
    if (state_path == NULL)
        return EXIT_FAILED;
    const char *const outputs[] = {path, state_path};
    int code = EXIT_DONE;
    for (size_t i = 0; i < 2 && code == EXIT_DONE; i++) {
        if (arguments != NULL)
            code = session_check_not_input(arguments, "-o", outputs[i]);
        if (code == EXIT_DONE)
            code = output_check_place(outputs[i]);
    }
    free(state_path);
    return code;
}
