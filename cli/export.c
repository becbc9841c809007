/* `greedystep export`: a model as a C file that needs nothing else. */
#include "export.h"

#include "interrupt.h"
#include "message.h"
#include "output.h"
#include "session.h"
#include "verbs.h"
#include "views.h"

#include "base/text.h"

#include <string.h>

static const cli_option export_options[] = {
    {"output", 'o', OPTION_TEXT, false, "FILE", "-", 0, 0, "write the source here; - is standard output"},
    {"name", 0, OPTION_TEXT, false, "NAME", "that of MODEL", 0, 0, "prefix of names in the file, as in NAME_predict"},
};

enum { NAME_SIZE = 64 };

/* By hand, since isalpha asks the locale. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name_part(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

/* dir/click-model.v2 becomes click_model, and what begins with no letter gets one. */
static const char *name_of_file(const char *path, char buffer[NAME_SIZE])
{
    const char *base = path + gsai_directory_len(path), *dot = strrchr(base, '.');
    size_t length = dot != NULL && dot > base ? (size_t)(dot - base) : strlen(base), n = 0;
    if (!is_letter(base[0])) {
        memcpy(buffer, "model_", 6);
        n = 6;
    }
    for (size_t i = 0; i < length && n + 1 < NAME_SIZE; i++)
        buffer[n++] = (char)(is_name_part(base[i]) ? base[i] : '_');
    buffer[n] = '\0';
    return buffer;
}

/* Whichever of the two forms has fewer bytes: a number of a feature is as large as a weight. */
static int describe(exported *what)
{
    gsa_error error = {0};
    what->info = info_of(what->model);
    const char *schema = gsa_model_schema(what->model);
    what->schema.size = sizeof what->schema;
    gsa_status status = schema != NULL ? gsa_schema_get_info(schema, &what->schema, &error) : GSA_OK;
    if (status != GSA_OK)
        return complain_error(status, &error);
    what->has_offsets = schema != NULL && strstr(schema, "\toffset=") != NULL;
    what->is_constant = what->info.has_probabilities && what->info.n_classes < 2;
    what->n_features = what->info.n_features > 0 ? what->info.n_features : 1;
    for (uint64_t i = 0; i < what->n_features; i++)
        what->n_kept += export_has_weight(what, i);
    what->is_dense = what->n_features * what->info.n_outputs <= what->n_kept * (what->info.n_outputs + 1);
    if (what->is_dense)
        what->n_kept = what->n_features;
    else if (what->n_kept == 0)
        what->n_kept = 1;
    return EXIT_DONE;
}

static int run_export(const cli_arguments *arguments)
{
    char buffer[NAME_SIZE];
    gsa_model *model = NULL;
    cli_output output = {0};
    gsai_env env = session_env(arguments);
    const char *model_path = arguments->positional[0], *path = arguments_text(arguments, "output");
    exported what = {.name = name_of_file(model_path, buffer)};
    int code = EXIT_DONE;
    if (arguments_given(arguments, "name")) {
        what.name = arguments_text(arguments, "name");
        bool is_good = is_letter(what.name[0]) && strlen(what.name) < NAME_SIZE;
        for (const char *at = what.name; *at != '\0'; at++)
            is_good = is_good && is_name_part(*at);
        if (!is_good)
            return complain_usage("--name %s: expected a C identifier: a letter, then letters, digits and _, at most "
                                  "%d",
                                  what.name, NAME_SIZE - 1);
    }
    if (code == EXIT_DONE)
        code = session_check_not_input(path, "-o", arguments->positional, arguments->n_positional);
    if (code == EXIT_DONE)
        code = session_load_model(model_path, &env, &model);
    what.model = model;
    if (code == EXIT_DONE)
        code = describe(&what);
    if (code == EXIT_DONE)
        code = output_open(path, &output);
    if (code == EXIT_DONE) {
        interrupt_catch();
        if (!export_write_c(&what, output.stream))
            code = complain_interrupted();
        else if (ferror(output.stream))
            code = output_complain(&output);
    }
    if (code == EXIT_DONE)
        code = output_commit(&output);
    output_discard(&output);
    gsa_model_free(model);
    return code;
}

const cli_verb export_verb = {
    .name = "export",
    .usage = "MODEL [-o FILE] [--name NAME]",
    .summary = "write a model as a C file that predicts without this library",
    .details = "Writes one C99 file with the weights, the labels and a function that predicts a row. The function "
               "allocates no memory, calls no library and gives the same bits as `predict`. The caller passes feature "
               "numbers; a comment at the top of the file lists them, and another function computes those of "
               "categories (docs/export.md).",
    .examples = "# its function is my_model_predict\n"
                "greedystep export my.model --name my_model -o my_model.c\n"
                "cc -std=c99 -O2 -c my_model.c",
    .options = export_options,
    .n_options = sizeof export_options / sizeof *export_options,
    .positional = "MODEL",
    .min_positional = 1,
    .max_positional = 1,
    .run = run_export,
};
