/* Learns the rows of a partition of a Kafka topic for as long as there are any, and publishes a model every few
 * seconds.
 *
 *   cc kafka.c -o kafka $(pkg-config --cflags --libs greedystep rdkafka) -lm
 *   ./kafka localhost:9092 clicks 0 clicks.model 60
 *
 * A message is a row: a label, 0 or 1, and WIDTH numbers, in text: "1 0.25 0.5 0 0.75". Every row is scored by what was
 * learned from the rows before it, and then learned. clicks.model.state holds what was learned together with the offset
 * of the last row, in one file that is replaced atomically. The offsets that brokers keep for a group are not used:
 * they are committed at another moment than the weights are saved, so a crash between the two would lose or repeat
 * rows. A program that was killed and is started again continues after the offset in the state, with the same bytes as
 * if it had never stopped. SIGTERM and SIGINT publish a last time. */
#define _POSIX_C_SOURCE 200809L
#include <greedystep/greedystep.h>
#include <librdkafka/rdkafka.h>

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 4, ROW_SIZE = 256, PATH_SIZE = 1024, POLL_MILLISECONDS = 100 };

typedef struct trainer {
    gsa_state *state;
    const char *model_path;
    char state_path[PATH_SIZE], partition[512]; /* partition: "TOPIC/PARTITION/", the offset follows it */
    double seconds, last;                       /* between two models, and when the last was published */
    double loss;                                /* sum over the rows of this process */
    uint64_t n_rows, n_bad;                     /* learned and skipped by this process */
    int due;                                    /* the files may be older than the state in memory */
} trainer;

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    stopped = signal_number;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "kafka: %s: %s\n", what, why);
    return 1;
}

/* Loads the saved state, or makes a new one that knows the labels. */
static gsa_status open_state(trainer *run, gsa_error *error)
{
    static const double labels[] = {0, 1};
    if ((run->due = access(run->state_path, F_OK) == 0)) /* it may have been killed between state and model */
        return gsa_state_load(run->state_path, NULL, NULL, &run->state, error);
    gsa_status status = gsa_state_new(NULL, NULL, &run->state, error);
    return status == GSA_OK ? gsa_state_add_labels(run->state, labels, NULL, 2, error) : status;
}

/* Returns the offset after the one in the state; -1 if the state is that of another partition. */
static int64_t next_offset(const trainer *run)
{
    const char *position = gsa_state_position(run->state);
    size_t size = strlen(run->partition);
    if (*position == '\0')
        return RD_KAFKA_OFFSET_BEGINNING;
    return strncmp(position, run->partition, size) == 0 ? strtoll(position + size, NULL, 10) + 1 : -1;
}

/* Replaces the state and then the model, each atomically: a reader finds the old file or the new one. */
static gsa_status publish(trainer *run, gsa_error *error)
{
    gsa_model *model = NULL;
    gsa_status status = gsa_state_finish(run->state, NULL, &model, error);
    if (status == GSA_OK)
        status = gsa_state_save(run->state, run->state_path, error);
    if (status == GSA_OK)
        status = gsa_model_save(model, run->model_path, error);
    gsa_model_free(model);
    run->last = now();
    run->due = 0;
    if (status == GSA_OK)
        printf("%s: %" PRIu64 " rows, progressive log loss %.4f, %" PRIu64 " bad rows\n",
               gsa_state_position(run->state), run->n_rows, run->loss / fmax((double)run->n_rows, 1), run->n_bad);
    fflush(stdout);
    return status;
}

/* Reads the label and the numbers of a message; returns 0 if it is no row. */
static int parse(const rd_kafka_message_t *message, double *label, float *x)
{
    char text[ROW_SIZE], *at = text, *end = NULL;
    if (message->len >= sizeof text)
        return 0;
    memcpy(text, message->payload, message->len);
    text[message->len] = '\0';
    *label = strtod(at, &end);
    for (size_t i = 0; i < WIDTH && end != at; i++) {
        at = end;
        x[i] = strtof(at, &end);
    }
    return end != at && (*label == 0 || *label == 1);
}

/* Scores the row, learns it, and sets the position of the state, also after a message that is no row. */
static gsa_status take(trainer *run, const rd_kafka_message_t *message, gsa_error *error)
{
    float x[WIDTH];
    double label, probability[2];
    char position[GSA_MAX_POSITION];
    const gsa_batch row = {.n_rows = 1, .width = WIDTH, .value = x, .label = &label};
    gsa_status status = GSA_OK;
    if (parse(message, &label, x)) {
        status = gsa_state_predict(run->state, &row, probability, error);
        if (status == GSA_OK)
            status = gsa_state_update(run->state, &row, error);
        if (status == GSA_OK)
            run->loss -= log(fmax(probability[label > 0.5], 1e-15));
        run->n_rows++;
    } else {
        run->n_bad++;
    }
    run->due = 1;
    snprintf(position, sizeof position, "%s%" PRId64, run->partition, message->offset);
    return status == GSA_OK ? gsa_state_set_position(run->state, position, error) : status;
}

/* Learns until a signal comes. Polls a silent topic, so that a model that is due does not wait for the next row. */
static gsa_status learn(trainer *run, rd_kafka_t *kafka, gsa_error *error)
{
    gsa_status status = GSA_OK;
    while (status == GSA_OK && !stopped) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(kafka, POLL_MILLISECONDS);
        if (message != NULL && message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
            status = take(run, message, error);
        else if (message != NULL) /* librdkafka asks absent brokers again; deleted rows end the run */
            fail("the topic", rd_kafka_message_errstr(message));
        if (message != NULL && message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
            stopped = SIGTERM;
        if (message != NULL)
            rd_kafka_message_destroy(message);
        if (status == GSA_OK && run->due && now() - run->last >= run->seconds)
            status = publish(run, error);
    }
    return status == GSA_OK && run->due ? publish(run, error) : status;
}

/* Returns a consumer of this partition from this offset on; NULL, with the reason in `why`, if there is none. */
static rd_kafka_t *open_kafka(char **argv, int64_t offset, char *why, size_t size)
{
    const char *const settings[][2] = {{"bootstrap.servers", argv[1]},
                                       {"group.id", "greedystep"}, /* required, but not used */
                                       {"enable.auto.commit", "false"},
                                       {"auto.offset.reset", "error"}};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (rd_kafka_conf_set(conf, settings[i][0], settings[i][1], why, size) != RD_KAFKA_CONF_OK)
            return NULL;
    rd_kafka_t *kafka = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, size);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, argv[2], (int32_t)strtol(argv[3], NULL, 10))->offset = offset;
    if (kafka != NULL && rd_kafka_assign(kafka, list) != RD_KAFKA_RESP_ERR_NO_ERROR)
        stopped = fail(argv[2], "the partition cannot be assigned");
    rd_kafka_topic_partition_list_destroy(list);
    return kafka;
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return fail("usage", "kafka BROKERS TOPIC PARTITION MODEL SECONDS");
    char why[512] = "";
    gsa_error error = {0};
    trainer run = {.model_path = argv[4], .seconds = strtod(argv[5], NULL), .last = now()};
    snprintf(run.state_path, sizeof run.state_path, "%s.state", argv[4]);
    snprintf(run.partition, sizeof run.partition, "%s/%s/", argv[2], argv[3]);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = stop}, NULL);
    sigaction(SIGINT, &(struct sigaction){.sa_handler = stop}, NULL);
    gsa_status status = open_state(&run, &error);
    int64_t offset = status == GSA_OK ? next_offset(&run) : 0;
    rd_kafka_t *kafka = status == GSA_OK && offset != -1 ? open_kafka(argv, offset, why, sizeof why) : NULL;
    if (kafka != NULL) {
        status = learn(&run, kafka, &error);
        rd_kafka_destroy(kafka);
    }
    gsa_state_free(run.state);
    if (status != GSA_OK)
        return fail(argv[4], error.message);
    return offset == -1 ? fail(run.state_path, "it is of another topic") : kafka == NULL ? fail("Kafka", why) : 0;
}
