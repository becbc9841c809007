/* `greedystep train`: learns a model and leaves it with the state from which learning can go on. Nothing is written
 * before the learning has succeeded or was stopped on request. */
#include "train.h"

#include "cluster.h"
#include "inspect_data.h"
#include "interrupt.h"
#include "message.h"
#include "printable.h"
#include "report.h"
#include "session.h"
#include "trace.h"
#include "verbs.h"
#include "views.h"

#include <greedystep/train.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_option train_options[] = {
    {"output", 'o', OPTION_TEXT, false, "MODEL", NULL, 0, 0,
     "write the model here, and the state of the run to MODEL.state"},
    {"publish", 0, OPTION_TEXT, false, "MODEL", NULL, 0, 0,
     "instead of -o, for an endless stream: replace the model and its state while training"},
    {"test", 0, OPTION_TEXT, false, "FILE", NULL, 0, 0, "evaluate the model on this file after every pass"},
    {"start-from", 0, OPTION_TEXT, false, "MODEL", NULL, 0, 0,
     "start from this model instead of from nothing (needs its .state file)"},
    {"resume", 0, OPTION_FLAG, false, NULL, NULL, 0, 0,
     "continue an interrupted run on the same data, to the same model"},
    {"checkpoint", 0, OPTION_TEXT, false, "DIR", NULL, 0, 0,
     "save the state in this folder while training, for --resume after a crash"},
    {"every", 0, OPTION_TIME, false, "TIME", "60s", 0, 0, "time between two models of --publish or two checkpoints"},
    {"position", 0, OPTION_TEXT, false, "COLUMN", NULL, 0, 0,
     "with --publish: save the last value of this column in the state as the position in the stream; it is not a "
     "feature"},
    {"from-position", 0, OPTION_FLAG, false, NULL, NULL, 0, 0,
     "with --publish and --resume: the input starts after the saved position, not at its first row"},
    {"threads", 'j', OPTION_COUNT, false, "auto|N", "auto", 1, 256,
     "number of threads; auto: one per processor; never changes the result"},
    {"local", 0, OPTION_FLAG, false, NULL, NULL, 0, 0,
     "with mpirun: each process has its own DATA files; one replica learns each file, and replicas are merged after "
     "every pass"},
    {"trace", 0, OPTION_TEXT, false, "FILE", NULL, 0, 0,
     "log the run to this file as JSON lines; `python -m greedystep.report FILE` draws it"},
    {"json", 0, OPTION_FLAG, false, NULL, NULL, 0, 0, "print the summary as one JSON object"},
};

typedef struct training {
    const cli_arguments *arguments;
    cli_cluster cluster;
    gsai_env env;
    train_outcome out;
    const char *spill_folder; /* NULL: rows are not kept, or it was told */
    uint64_t first_pass;
    train_checkpoint checkpoint;
    cli_progress progress;
    cli_trace trace;
    bool test_failed;
    bool has_shards; /* --local or --shards: it cannot be resumed */
} training;

/* Passes over compressed text take as long as decompressing it does, so that its rows are kept in a temporary cache
 * after the first; docs/decisions/0014 has the figures. Less than this many compressed bytes, where their number is
 * known, are read in a moment, or kept in memory by the engine. */
static const uint64_t min_bytes_kept = 4000000;

/* Keeps rows where that pays; does not fail if they cannot be kept. */
static void begin_spill(training *run)
{
    gsa_error error = {0};
    gsa_reader_progress reading = progress_of(run->out.reader);
    uint64_t passes = parameter_of(run->out.state, "passes");
    bool is_little = reading.bytes_total > 0 && reading.bytes_total < min_bytes_kept;
    run->first_pass = summary_of(run->out.state).pass;
    if (reading.is_stream || is_little || (passes > 0 && passes < run->first_pass + 2))
        return;
    if (gsa_reader_spill(run->out.reader, session_temporary_folder(), &error) == GSA_OK)
        run->spill_folder = session_temporary_folder();
    else
        progress_say(&run->progress, "note: %s (set by TMPDIR): every pass reads the input", error.message);
}

/* Prints, once, that a later pass reads the spill file, or that rows could not be spilled. */
static void tell_spill(training *run, uint64_t pass, const gsa_reader_progress *reading)
{
    if (run->spill_folder == NULL || pass == run->first_pass)
        return;
    if (reading->bytes_kept > 0)
        progress_say(&run->progress, "note: pass %" PRIu64 " reads from a temporary cache of the rows (%.0f MB in %s)",
                     pass + 1, (double)reading->bytes_kept / 1e6, run->spill_folder);
    else if (reading->keep_failed)
        progress_say(&run->progress,
                     "note: no space for a temporary cache of the rows in %s (set by TMPDIR): every pass reads the "
                     "input",
                     run->spill_folder);
    run->spill_folder = NULL;
}

static void show_progress(void *ctx, const gsa_state *learner, const gsa_reader *reader)
{
    training *run = ctx;
    gsa_summary summary = summary_of(learner), base = summary_of(run->out.state);
    gsa_reader_progress reading = progress_of(reader);
    /* In a round some copies learn after others, so one copy does not know how far all are; the reader does, unless it
     * reads only the blocks of one process. */
    if (learner != run->out.state && run->cluster.comm == NULL && base.n_rows > 0 && reading.n_rows >= base.pass_rows)
        summary.n_rows_all = base.n_rows_all + (reading.n_rows - base.pass_rows);
    run->checkpoint.has_new = true;
    tell_spill(run, summary.pass, &reading);
    progress_show_training(&run->progress, learner, &summary, run->out.state, reader);
    trace_progress(&run->trace, learner, &summary, run->out.state);
}

static void show_notice(void *ctx, gsa_notice what, const char *text)
{
    training *run = ctx;
    progress_clear(&run->progress);
    if (what == GSA_NOTICE_NUMBER)
        note("%s; --loss softmax makes them classes", text);
    else if (what == GSA_NOTICE_CLASSES)
        note("%s; --loss squared predicts a number", text);
    else if (what == GSA_NOTICE_ORDER) /* beside the loss that it is about */
        report_append(run->out.note, sizeof run->out.note, "%s", text);
    else
        note("note: %s", text);
    run->out.is_sorted = run->out.is_sorted || what == GSA_NOTICE_SORTED;
    trace_notice(&run->trace, text);
}

static void show_penalty(void *ctx, uint64_t n_tried, uint64_t n_about, const char *loss, double best_loss)
{
    training *run = ctx;
    progress_show_penalty(&run->progress, n_tried, n_about, loss, best_loss);
}

static gsa_status report_pass(void *ctx, const gsa_state *state, gsa_error *error)
{
    training *run = ctx;
    double began = progress_clock();
    gsa_status status = train_test_run(&run->out.test, state, &run->env, &run->progress, error);
    if (status != GSA_OK && status != GSA_STOPPED) {
        /* The model is worth more than its test: the run continues, and the exit code reports the failure. */
        progress_clear(&run->progress);
        complain_error(status, error);
        complain("cannot evaluate --test %s; training continues without it", run->out.test.path);
        gsa_reader_close(run->out.test.reader);
        run->out.test.reader = NULL;
        run->test_failed = true;
        status = GSA_OK;
    }
    size_t n_results = json_array_size(run->out.test.results);
    bool has_result = status == GSA_OK && run->out.test.reader != NULL && n_results > 0;
    trace_pass(&run->trace, state, has_result ? json_array_get(run->out.test.results, n_results - 1) : NULL, began);
    return status;
}

static void note_round(void *ctx, const gsa_round_report *report)
{
    trace_round(&((training *)ctx)->trace, report);
}

static gsa_status keep_state(void *ctx, const gsa_state *state, gsa_error *error)
{
    training *run = ctx;
    (void)error;
    double began = progress_clock();
    if (train_checkpoint_keep(&run->checkpoint, state, &run->env, &run->progress) && run->checkpoint.model != NULL)
        trace_published(&run->trace, state, began);
    return GSA_OK;
}

/* For the reader: a publication that is due, while the stream may be silent, interrupts it. */
static int reading_should_stop(void *ctx)
{
    return interrupt_should_stop(NULL) || train_checkpoint_is_due(&((training *)ctx)->checkpoint);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Fills in the results, before the reader reads anything else. */
static void describe(training *run, const gsa_model *model)
{
    train_outcome *out = &run->out;
    const char *schema = gsa_reader_schema(out->reader);
    out->model = model;
    out->summary = summary_of(out->state);
    out->reading = progress_of(out->reader);
    out->peak_memory = run->trace.peak_memory;
    out->constant_loss = gsa_state_constant_loss(out->state);
    out->collision_rate = gsa_reader_collision_rate(out->reader);
    out->schema.size = sizeof out->schema; /* the rest stays 0 without a schema */
    if (schema != NULL && gsa_schema_get_info(schema, &out->schema, NULL) != GSA_OK)
        out->schema = (gsa_schema_info){.size = sizeof out->schema};
    out->n_rows = out->summary.n_rows;
    if (strcmp(gsa_state_get(out->state, "method"), "paper") != 0)
        out->n_rows += out->summary.n_held_out;                               /* which are learned in the end */
    if (run->cluster.comm == NULL && parameter_of(out->state, "shards") == 0) /* else a reader does not read all */
        out->n_input_rows = out->reading.n_rows;
    if (strcmp(gsa_train_method(out->state, &out->chosen_by), out->summary.method) != 0)
        out->chosen_by = arguments_flag(run->arguments, "local") ? "local" : NULL; /* NULL: the rows decided */
    out->is_live = run->checkpoint.model != NULL;
    if (out->is_live && out->chosen_by != NULL && strcmp(out->chosen_by, "order") == 0) /* which follows from that */
        out->chosen_by = NULL;
    out->passes_asked = parameter_of(out->state, "passes");
    out->held_out_loss = report_result(model, "held_out_loss");
    if (isnan(out->held_out_loss) && !session_skips_calibration(out->state))
        out->held_out_loss = gsa_state_held_out_loss(out->state); /* of very many classes */
}

/* ---- stopping --------------------------------------------------------------------------------------------------- */

/* The command as it was typed, with --resume in place of what a resumed run does not take. */
static void print_resuming_command(const cli_arguments *arguments)
{
    fprintf(stderr, "%s %s --resume", arguments->argv[0], arguments->argv[1]);
    for (int i = 2; i < arguments->argc; i++) {
        const char *word = arguments->argv[i];
        bool names_start = strncmp(word, "--start", 7) == 0;
        if (names_start && strchr(word, '=') == NULL)
            i++;
        if (!names_start && strcmp(word, "--resume") != 0) {
            fputc(' ', stderr);
            printable_put_word(stderr, word);
        }
    }
    fputc('\n', stderr);
}

/* ---- the verb --------------------------------------------------------------------------------------------------- */

static int save_and_report(training *run)
{
    gsa_summary summary = summary_of(run->out.state);
    if (run->out.stopped && summary.n_rows + summary.n_held_out == 0) {
        const char *text = progress_of(run->out.reader).n_rows > 0
                               ? "stopped before the optimum was found; nothing was saved"
                               : "stopped before the first row; nothing was saved";
        complain("%s", text);
        trace_fail(&run->trace, text);
        return interrupt_exit_code();
    }
    if (!cluster_is_root(&run->cluster)) /* every process has the same model */
        return run->out.stopped ? interrupt_exit_code() : EXIT_DONE;
    if (arguments_flag(run->arguments, "resume") && summary.n_rows == run->progress.rows_at_start && !run->out.stopped)
        note("nothing left to learn: this run has completed pass %" PRIu64 "; raise --passes to continue",
             summary.pass);
    gsa_model *model = NULL;
    double began = progress_clock();
    int code = session_save(run->out.state, run->out.model_path, &run->env, &model);
    if (code != EXIT_DONE) {
        trace_fail(&run->trace, "the model could not be saved");
        return code;
    }
    if (run->checkpoint.model != NULL)
        trace_published(&run->trace, run->out.state, began);
    train_checkpoint_remove(&run->checkpoint); /* the state beside the model is ahead of it now */
    trace_stage(&run->trace, "save");
    if (run->out.stopped) {
        bool is_solved = strcmp(summary.method, "optimum") == 0; /* what had arrived of a stream */
        if (is_solved)
            fprintf(stderr,
                    "greedystep: stopped; the %" PRIu64 " rows that had arrived are solved; model and state saved\n",
                    summary.n_rows);
        else
            fprintf(stderr, "greedystep: stopped at row %" PRIu64 " of pass %" PRIu64 "; model%s and state saved%s",
                    summary.pass_rows, summary.pass + 1,
                    session_skips_calibration(run->out.state) ? " (not calibrated)" : "",
                    run->has_shards ? "\n" : "; continue with: ");
        if (!is_solved && !run->has_shards)
            print_resuming_command(run->arguments);
    }
    session_tell_recoded(run->out.reader);
    train_outcome *out = &run->out;
    describe(run, model);
    bool as_json = arguments_flag(run->arguments, "json"), prints = as_json || !message_is_quiet();
    const char *description = gsa_reader_description(run->out.reader);
    /* Columns to warn of, in files that are cheap to read again, which a query ("columns with types") is not. */
    if (prints && out->schema.n_numbers + out->schema.n_words > 0 && description != NULL && !run->out.stopped &&
        !out->reading.is_stream && run->arguments->n_positional > 0 &&
        strstr(description, "columns with types") == NULL)
        out->n_warnings = inspect_first_rows(run->arguments, out->warning, TRAIN_WARNINGS);
    code = prints ? train_summary_print(out, as_json) : EXIT_DONE;
    for (size_t i = 0; i < out->n_warnings; i++) {
        trace_notice(&run->trace, out->warning[i]);
        free(out->warning[i]);
    }
    trace_end(&run->trace, out);
    gsa_model_free(model);
    if (run->out.stopped)
        return interrupt_exit_code();
    return run->test_failed ? EXIT_FAILED : code;
}

/* Processes that train together read caches. */
static int complain_text(const char *reason)
{
    return complain_failed("%s; make caches first: mpirun greedystep convert DATA... -o FOLDER/", reason);
}

static int learn(training *run)
{
    gsa_error error = {0};
    gsa_train_hooks hooks = {.size = sizeof hooks,
                             .ctx = run,
                             .progress = show_progress,
                             .pass_ended =
                                 run->out.test.reader != NULL || run->trace.stream != NULL ? report_pass : NULL,
                             .notice = cluster_is_root(&run->cluster) ? show_notice : NULL,
                             .state_is_whole = run->checkpoint.path != NULL ? keep_state : NULL,
                             .is_live = run->checkpoint.model != NULL,
                             .starts_at_position = arguments_flag(run->arguments, "from-position"),
                             .round_ended = note_round,
                             .comm = run->cluster.comm,
                             .files_are_own = arguments_flag(run->arguments, "local"),
                             .strength_tried = show_penalty};
    interrupt_catch();
    progress_begin(&run->progress, true, run->out.state);
    begin_spill(run);
    /* All ranks agree on the columns, and that each can read its input. */
    int code = cluster_agree(&run->cluster, EXIT_DONE);
    if (code != EXIT_DONE)
        return code;
    char *schema = cluster_broadcast(&run->cluster, gsa_state_schema(run->out.state)); /* a resumed run has one */
    gsa_status status = gsa_reader_set_schema(run->out.reader, schema, &error);
    free(schema);
    if (status == GSA_OK)
        status = session_begin_reader(run->out.reader, &error);
    trace_start(&run->trace, run->arguments, run->out.state, run->out.reader);
    if (status == GSA_OK && run->out.test.reader != NULL)
        code = session_match(run->out.test.reader, gsa_reader_schema(run->out.reader), "");
    if (status == GSA_OK && code == EXIT_DONE)
        code = cluster_agree(&run->cluster, EXIT_DONE);
    if (code != EXIT_DONE)
        return code;
    if (status == GSA_OK)
        status = gsa_train(run->out.state, run->out.reader, &hooks, &run->env.call, &error);
    run->out.seconds = progress_clock() - run->progress.began;
    run->out.stopped = status == GSA_STOPPED;
    progress_clear(&run->progress);
    trace_learned(&run->trace);
    if (status != GSA_OK && !run->out.stopped) {
        trace_fail(&run->trace, message_of(status, &error));
        return status == GSA_UNSUPPORTED && run->cluster.comm != NULL ? complain_text(error.message)
                                                                      : complain_error(status, &error);
    }
    return save_and_report(run);
}

/* Options that need others, or exclude them. */
static int check_options(const training *run)
{
    const cli_arguments *arguments = run->arguments;
    bool publishes = arguments_given(arguments, "publish"), keeps = arguments_given(arguments, "checkpoint");
    bool goes_on = arguments_flag(arguments, "from-position"), resumes = arguments_flag(arguments, "resume");
    if (run->out.model_path == NULL)
        return complain_usage("train needs -o MODEL; usage: greedystep train %s", arguments->verb->usage);
    if ((goes_on && !resumes) || ((goes_on || arguments_given(arguments, "position")) && !publishes))
        return complain_usage("--position needs --publish, --from-position needs --publish and --resume");
    if (arguments_given(arguments, "every") && !publishes && !keeps)
        return complain_usage("--every is the time between models of --publish or checkpoints; give one of these");
    if (publishes && keeps)
        return complain_usage("--publish keeps the state beside the model; leave out --checkpoint");
    int code = EXIT_DONE;
    if (cluster_is_root(&run->cluster))
        code = session_check_model_path(arguments, run->out.model_path);
    if (code == EXIT_DONE && cluster_is_root(&run->cluster))
        code = trace_check(arguments);
    if (code == EXIT_DONE && arguments_flag(arguments, "local") && arguments_given(arguments, "shards"))
        code = complain_usage("--local and --shards exclude each other: with --local every file is a shard");
    if (code == EXIT_DONE && run->has_shards && (resumes || keeps))
        code = complain_usage("a run with --local or --shards cannot be resumed; leave out --resume and --checkpoint");
    return code;
}

static int open_input(training *run)
{
    const cli_arguments *arguments = run->arguments;
    gsai_env env = run->env;
    env.call.ctx = run;
    if (arguments_given(arguments, "publish"))
        env.call.should_stop = reading_should_stop;
    /* Algorithm 1 of the paper sees values as they are; rows that are not the first to be learned have the offsets of
     * the model, if it has any. */
    gsa_reader_options wanted = {.remember_names = true,
                                 .keep = arguments_text(arguments, "position"),
                                 .without_offsets = strcmp(arguments_text(arguments, "method"), "paper") == 0 ||
                                                    arguments_given(arguments, "start-from") ||
                                                    arguments_flag(arguments, "resume")};
    int code =
        session_open_reader(arguments, &wanted, arguments->positional, arguments->n_positional, &env, &run->out.reader);
    if (code == EXIT_DONE && arguments_given(arguments, "publish") && !progress_of(run->out.reader).is_stream)
        return complain_usage("--publish is for a stream (-, or a pipe); give -o for files");
    return code;
}

static int run_with(training *run)
{
    const cli_arguments *arguments = run->arguments;
    int code = check_options(run);
    if (code == EXIT_DONE)
        code = open_input(run);
    if (code == EXIT_DONE && run->cluster.comm != NULL && progress_of(run->out.reader).is_stream)
        code = complain_text("several processes cannot read a stream");
    if (code == EXIT_DONE)
        code = train_test_open(arguments, &run->env, &run->out.test);
    if (code == EXIT_DONE)
        code = train_checkpoint_open(arguments, &run->checkpoint);
    if (code == EXIT_DONE)
        code = train_start(arguments, &run->checkpoint, &run->env, &run->out.state);
    if (code == EXIT_DONE)
        code = trace_open(&run->trace, arguments);
    if (code == EXIT_DONE)
        code = learn(run);
    code = trace_close(&run->trace, code);
    train_checkpoint_close(&run->checkpoint);
    gsa_state_free(run->out.state);
    train_test_close(&run->out.test);
    gsa_reader_close(run->out.reader);
    return code;
}

static int run_train(const cli_arguments *arguments)
{
    /* A rank that does not print writes and evaluates nothing, and starts with the state of rank 0. */
    static const char *const of_rank_0[] = {"trace", "checkpoint", "every", "resume", "test"};
    training run = {.arguments = arguments};
    int code = cluster_join(&run.cluster, !message_is_quiet());
    if (code != EXIT_DONE)
        return code;
    if (!cluster_is_root(&run.cluster))
        message_quieten();
    cli_arguments own = *arguments;
    for (size_t i = 0; i < own.n_options && !cluster_is_root(&run.cluster); i++)
        for (size_t k = 0; k < sizeof of_rank_0 / sizeof *of_rank_0; k++)
            if (strcmp(own.options[i].name, of_rank_0[k]) == 0)
                own.value[i] = NULL;
    if (arguments_given(&own, "publish") && arguments_given(&own, "output"))
        return cluster_leave(&run.cluster, complain_usage("--publish is in place of -o; leave one out"));
    arguments_stand_in(&own, "publish", "output");
    run.arguments = &own;
    run.out.model_path = arguments_text(&own, "output");
    run.has_shards = arguments_flag(&own, "local") || arguments_given(&own, "shards");
    run.env = session_env(&own);
    run.env.call.n_threads = (unsigned)arguments_number(&own, "threads");
    if (run.env.call.n_threads == 0)
        run.env.call.n_threads = cluster_threads(&run.cluster);
    return cluster_leave(&run.cluster, run_with(&run));
}

const cli_verb train_verb = {
    .name = "train",
    .usage = "DATA... -o MODEL [OPTIONS]",
    .summary = "train a model",
    .details =
        "Trains on the rows of all DATA files. Writes the model to MODEL and the training state, for later updates, "
        "to MODEL.state. The labels decide the task: text and few different whole numbers are classes; "
        "fractions and, in tables and arrays, many whole numbers are numbers to predict. The summary says "
        "which.\n\nNothing needs tuning; the parameters are for experiments. If the data fits in memory, "
        "an L2-regularised model is solved to convergence, and Ctrl-C saves nothing. Otherwise rows are learned one "
        "by one, by greedy step averaging; Ctrl-C then saves both files, and --resume continues the run.\n\nThe "
        "summary says which model was trained, how good it is, what was chosen on held-out rows, how long it took, "
        "what limits it, and what to do next.",
    .examples =
        "# a table; predict the column clicked\ngreedystep train clicks.csv --label clicked -o clicks.model\n# libsvm "
        "text, evaluated on other rows\ngreedystep train train.svm --test test.svm -o my.model\n# the next day: new "
        "rows, starting from that model\ngreedystep train tuesday.svm --start-from my.model -o tuesday.model\n# from a "
        "pipe\nzcat rows.svm.gz | greedystep train - -o piped.model\n# an endless stream: a new model every "
        "minute\nzcat rows.svm.gz | greedystep train - --publish live.model --every 60s",
    .common = ",output,test,start-from,threads,json,quiet,label,ignore,loss,",
    .options = train_options,
    .n_options = sizeof train_options / sizeof *train_options,
    .reads_data = true,
    .takes_parameters = true,
    .positional = "DATA",
    .run = run_train,
};
