/* kafka_cluster N_ROWS FILE: librdkafka's mock cluster, with a topic "clicks" of one partition. Writes its address to
 * FILE, sends rows for examples/c/kafka.c some dozens at a time (every thousandth is no row), and serves them until it
 * is killed. */
#define _POSIX_C_SOURCE 200809L
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 4, ROWS_AT_ONCE = 40 };

static double uniform(uint64_t *seed) /* 0 .. 1 */
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 40) / (1 << 24);
}

static int make_row(uint64_t *seed, long number, char *out, size_t size)
{
    static const double planted[WIDTH] = {4, -3, 2, 0};
    double margin = -1.5, x[WIDTH];
    for (size_t j = 0; j < WIDTH; j++)
        margin += planted[j] * (x[j] = uniform(seed));
    int label = uniform(seed) < 1 / (1 + exp(-margin));
    return number % 1000 == 999 ? snprintf(out, size, "no row")
                                : snprintf(out, size, "%d %.4f %.4f %.4f %.4f", label, x[0], x[1], x[2], x[3]);
}

int main(int argc, char **argv)
{
    char why[512], row[128];
    uint64_t seed = 1;
    if (argc != 3)
        return 2;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", why, sizeof why);
    rd_kafka_conf_set(conf, "linger.ms", "1", why, sizeof why);
    rd_kafka_t *kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    rd_kafka_mock_cluster_t *cluster = kafka != NULL ? rd_kafka_handle_mock_cluster(kafka) : NULL;
    FILE *file = fopen(argv[2], "w");
    if (cluster == NULL || file == NULL || rd_kafka_mock_topic_create(cluster, "clicks", 1, 1) != 0)
        return fprintf(stderr, "kafka_cluster: no cluster\n"), 1;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(kafka, "clicks", NULL);
    fprintf(file, "%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    fclose(file);
    for (long i = 0, n = strtol(argv[1], NULL, 10); i < n; i++) {
        int size = make_row(&seed, i, row, sizeof row);
        if (rd_kafka_produce(topic, 0, RD_KAFKA_MSG_F_COPY, row, (size_t)size, NULL, 0, NULL) != 0)
            return fprintf(stderr, "kafka_cluster: row %ld was not sent\n", i), 1;
        if (i % ROWS_AT_ONCE == 0)
            rd_kafka_poll(kafka, 12);
    }
    if (rd_kafka_flush(kafka, 60000) != 0)
        return fprintf(stderr, "kafka_cluster: not all rows were sent\n"), 1;
    for (;;)
        pause();
}
