/* seeds FOLDER: first inputs for every fuzz target, FOLDER/TARGET/NAME, made by the library's own writers. */
#include "rows.h"
#include "states.h"

#include "learn/state.h"

#include "base/hash.h"
#include "base/memory.h"
#include "store/snapshot.h"

#include <errno.h>
#include <sys/stat.h>

static const char *folder;

static void save(const char *target, const char *name, const void *control, size_t control_size, const void *bytes,
                 size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, target);
    fuzz_must(mkdir(path, 0777) == 0 || errno == EEXIST, "a folder can be made", path);
    snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
    FILE *file = fopen(path, "wb");
    fuzz_must(file != NULL, "a seed can be written", path);
    fwrite(control, 1, control_size, file);
    fwrite(bytes, 1, size, file);
    fuzz_must(fclose(file) == 0, "a seed can be written", path);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

typedef struct text {
    const char *name, *bytes;
} text;

static const text svm[] = {
    {"numbers", "1 1:2 3:4.5\n-1 2:1e-3 4294967294:7\n0.5\n"},
    {"words", "red 7:1\ngreen 1:1 2:1 # a comment\n\n# another\nred\n"},
    {"windows", "1 1:1\r\n0 2:-.5\r\n"},
    {"bad", "1 1:1\n1 2:1 1:1\nx:y\n1 0:1\n1 1:nan\n1 1:1\n"},
    {"qid", "1 qid:3 1:1 2:0\n2 qid:4 1:0.25\n"},
    {"long", "1 1:0.1234567890123456789 2:1e308 3:1e-320 4:3.40282347e38 5:16777217 6:-0 7:00012\n"},
};
static const text dense[] = {
    {"f32", "1 1:0.1 2:0.2 3:0.3\n0 1:0.5 3:0.7\n2 1:1 2:-3 3:4\n"},
    {"f16", "a 1:0.5 2:0.25 3:6e-8\nb 1:0.5 3:65504\na 1:1 2:-3 3:4\n"},
    {"bf16", "1 1:1e38 2:1\n0 1:0.5 2:2\n"},
};
static const text csv[] = {
    {"declared", "\xEF\xBB\xBFsep=;\r\na;y;\r\n1;0;\r\ncaf\xE9;1;\r\n"},
    {"bars", "a|b|y\n1,5|x|0\n2,5|y\xFF|1|\n"},
    {"title", "Sales\n\na,b,y\n1,2,3\n4,5,6\n"},
    {"json_lines", "{\"y\": 1, \"a\": 2.5, \"c\": \"x\\u00e9\\n\"}\n{\"y\": 0, \"b\": true, \"c\": null}\n"},
    {"odd", "y;price;when;age\n1;$1.234,50;3/4/2026 8:05;-\n0;$7;31/12/2025 23:59;unknown\n"},
    {"named", "y,a,b\n1,2,red\n0,3.5,\"say \"\"so\"\"\"\n1,,blue\n0,NaN,red\n"},
    {"numbered", "1,2,3\n0,3,4\n1,4,5\n"},
    {"tabs", "y\ta\tb\n1\t2\tx\n0\t1\ty\n"},
    {"semicolons", "y;a;b\r\n1;2,5;x\r\n0;1;\"y;z\r\nz\"\r\n"},
    {"bad", "y,a,b\n1,2,3\n1,2\n1,2,3,4\n\"x\"y,1,2\n,1,2\n0,1,2\n"},
    {"wordy", "label,a,b\nyes,red,1\nno,blue,2\nmaybe,,3\n"},
};
static const text vw[] = {
    {"plain", "1 |a x y:2 |b z\n-1 2.5 'tag|a:0.5 x\n0.5 | price:.23 sqft:.25\n"},
    {"cross", "1 |a x y |b u v:3\n0 |b u |a x\n\n| x\n"},
    {"bad", "1 |a x:y\n1:2 |a x\nshared |a x\n1 2 3 |a\n1 |a x\n"},
};
#define N(array) (sizeof(array) / sizeof *(array))

static void save_texts(const char *target, const text *of, size_t n, size_t n_controls)
{
    static const unsigned char controls[][4] = {{0, 1, 0, 0},       {1, 2, 0, 0},       {2, 3, 0x41, 0x00},
                                                {3, 7, 0x8a, 0x01}, {4, 7, 0x92, 0x44}, {5, 3, 0, 0},
                                                {6, 4, 0, 0},       {7, 5, 1, 0}};
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < N(controls); c++) {
            char name[64];
            snprintf(name, sizeof name, "%s-%zu", of[i].name, c);
            save(target, name, controls[c], n_controls, of[i].bytes, strlen(of[i].bytes));
        }
}

static void save_any(const char *name, const void *bytes, size_t size)
{
    const unsigned char plain[] = {0, 1, 0, 0, 0},
                        with[] = {3, 3, 1 | 8, 5, 'r', '.', 'c', 's', 'v', 0, 'y', 0, 'a', 0};
    char path[64];
    save("any", name, plain, sizeof plain, bytes, size);
    snprintf(path, sizeof path, "%s-options", name);
    save("any", path, with, sizeof with, bytes, size);
}

/* ---- caches and codecs ------------------------------------------------------------------------------------------- */

static void save_caches(const char *kind, const text *of, size_t n, const gsai_format *format)
{
    static fuzz_bytes file;
    static const unsigned char controls[][3] = {{0, 1, 0}, {3, 2, 7}, {4, 5, 0}, {5, 1, 0}, {6, 2, 7}};
    for (size_t i = 0; i < n; i++) {
        const fuzz_source from = {of[i].bytes, strlen(of[i].bytes), "seed", format, {0}, false};
        gsa_error error = {0};
        if (fuzz_convert(fuzz_open(&from, &fuzz_sizes, true), "gsac", &file, &error) != GSA_OK)
            continue;
        for (size_t c = 0; c < N(controls); c++) {
            char name[64];
            snprintf(name, sizeof name, "%s-%s-%zu", kind, of[i].name, c);
            save("cache", name, controls[c], 3, file.data, file.size);
        }
        save_any("cache", file.data, file.size);
    }
}

/* Arrays, each with labels before it: how many bytes these have, they, and the rows. */
static void save_arrays(void)
{
    static const char *const types[] = {"<f4", ">f2", "<f8", "<V2", "|i1", "<U3", "|S2", "|b1"};
    for (size_t i = 0; i < N(types) * N(types); i++) {
        unsigned char bytes[512] = {0};
        const char *type[] = {types[i / N(types)], types[i % N(types)]};
        size_t size = 3;
        for (size_t f = 0; f < 2; f++) {
            char head[119];
            snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': (2, %zu), }", type[f], 1 + f);
            memset(head + strlen(head), ' ', 117 - strlen(head));
            head[117] = '\n';
            memcpy(bytes + size, "\x93NUMPY\1\0v\0", 10);
            memcpy(bytes + size + 10, head, 118);
            size += 128;
            size_t n = (size_t)(type[f][2] - '0') * (type[f][1] == 'U' ? 4 : 1) * 2 * (1 + f);
            for (size_t k = 0; k < n; k++)
                bytes[size++] = (unsigned char)(type[f][1] == 'U'   ? 'a' * (k % 4 == 0)
                                                : type[f][1] == 'b' ? k % 2
                                                                    : k + 48);
            if (f == 0)
                bytes[1] = (unsigned char)size, bytes[2] = (unsigned char)(size >> 8);
        }
        char name[32];
        snprintf(name, sizeof name, "types-%zu", i);
        bytes[0] = (unsigned char)i;
        save("npy", name, "", 0, bytes, size);
    }
}

/* Compressed by the library's own encoder, where it has one. */
static void save_packed(const gsai_codec_entry *entry, const char *bytes)
{
    char target[32];
    unsigned char packed[4096];
    static const unsigned char controls[][2] = {{0x80, 1}, {0x83, 1}};
    snprintf(target, sizeof target, "codec_%s", entry->name);
    save(target, "text", "\0\1", 2, bytes, strlen(bytes));
    save(target, "text-cut", "\x40\7", 2, bytes, strlen(bytes));
    save(target, "text-twice", "\x20\6", 2, bytes, strlen(bytes));
    if (!entry->codec || !entry->codec->can_encode)
        return;
    size_t size = fuzz_pack(entry->codec, bytes, strlen(bytes), packed, sizeof packed);
    for (size_t c = 0; c < N(controls); c++)
        save(target, c ? "packed" : "packed-all", controls[c], 2, packed, size);
    save_any(entry->name, packed, size);
}

/* What other programs made of "1 1:2\n0 2:1\n", of libraries that only read here. */
static void save_foreign(void)
{
    static const unsigned char xz[] = {0x80, 1, 0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36};
    static const unsigned char bzip2[] = {0x80, 1, 0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59};
    save("codec_xz", "packed-head", xz, sizeof xz, "", 0);
    save("codec_bzip2", "packed-head", bzip2, sizeof bzip2, "", 0);
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

typedef struct setting {
    const char *name, *loss, *method, *scale, *average, *class_weight, *holdout;
    uint8_t how; /* of rows: fuzz_take_batch */
    enum { TWO_PASSES, FIRST_PASS, NEW_RUN, WITH_CURVES, WITH_PAIRS } life;
} setting;

static const setting settings[] = {
    {"auto", "auto", "auto", "auto", "recent", "none", "auto", 0, TWO_PASSES},
    {"paper", "logistic", "paper", "none", "full", "none", "none", 0, TWO_PASSES},
    {"softmax", "softmax", "auto", "standard", "last", "balanced", "auto", 2, TWO_PASSES},
    {"words", "auto", "gsa", "auto", "recent", "none", "auto", 4, TWO_PASSES},
    {"squared", "squared", "auto", "auto", "last", "none", "auto", 9, TWO_PASSES},
    {"hinge", "hinge", "paper", "none", "full", "none", "none", 2, TWO_PASSES},
    {"ones", "squared_hinge", "auto", "none", "recent", "none", "auto", 16, TWO_PASSES},
    {"scaling", "softmax", "auto", "auto", "recent", "none", "auto", 2, FIRST_PASS},
    {"steep", "squared", "paper", "none", "full", "none", "none", 1, TWO_PASSES},
    {"again", "squared", "auto", "standard", "recent", "none", "none", 9, NEW_RUN},
    {"curves", "squared", "gsa", "auto", "recent", "none", "auto", 9, WITH_CURVES},
    {"pairs", "squared", "gsa", "auto", "recent", "none", "auto", 9, WITH_PAIRS},
};

/* Lets the first two features bend, and has a surface over the first and the third. */
static gsa_status bend(gsa_state *state, bool has_pairs, gsa_error *error)
{
    gsai_curve curve[] = {{0, 0, 4}, {1, 4, 3}}, side[] = {{0, 0, 3}, {2, 3, 2}};
    gsai_surface surface = {{0, 1}, 7};
    float knot[] = {-4, -1, 0, 5, -1, 2, 3}, share[13] = {0, 0.5F, 0.5F, 0, 0, 1, 0, 0.25F, 0.25F, 0.5F};
    float side_knot[] = {-4, 0, 5, 0, 1};
    gsai_basis basis = {.at = 300, .curve = curve, .n = 2, .knot = knot, .share = share, .n_knots = 7, .n_ids = 7};
    if (has_pairs) {
        basis.side = side;
        basis.n_sides = 2;
        basis.side_knot = side_knot;
        basis.n_side_knots = 5;
        basis.surface = &surface;
        basis.n_surfaces = 1;
        basis.n_ids = 13;
    }
    gsa_status status = gsai_state_set_basis(state, &basis, error);
    return status == GSA_OK ? gsai_table_grow(gsai_state_own_table(state), (size_t)basis.at + basis.n_ids + 1,
                                              gsai_state_env(state), error)
                            : status;
}

static const unsigned char rows_bytes[] = "\0\1\2\3\x50\1\x44\2\x38\0\0\3\1\x40\2\1\5\2\x60\1\x23\1\0\1\4\x51\2\x33\1"
                                          "\x77\3\x10\0\0\2\4\1\x42\1\x45\3\1\1\2\x61\1\x62";

static gsa_state *make_state(const setting *of, uint8_t salt)
{
    static fuzz_batch drawn;
    unsigned char bytes[sizeof rows_bytes];
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    gsa_error error = {0};
    memcpy(bytes, rows_bytes, sizeof bytes);
    bytes[0] = of->how;
    for (size_t i = 1; salt && i < sizeof bytes; i += 5)
        bytes[i] ^= salt;
    fuzz_input in = {bytes, sizeof bytes};
    const gsa_batch *rows = fuzz_take_batch(&in, &drawn);
    gsa_status status = gsa_config_new(NULL, &config, &error);
    const char *const values[][2] = {{"loss", of->loss},       {"method", of->method},
                                     {"scale", of->scale},     {"average", of->average},
                                     {"holdout", of->holdout}, {"class_weight", of->class_weight}};
    for (size_t i = 0; i < N(values) && status == GSA_OK; i++)
        status = gsa_config_set(config, values[i][0], values[i][1], &error);
    if (status == GSA_OK)
        status = gsa_state_new(config, NULL, &state, &error);
    for (int pass = 0; pass < (of->life == FIRST_PASS ? 1 : 2) && status == GSA_OK; pass++) {
        status = gsa_state_update(state, rows, &error);
        if (status == GSA_OK && pass == 0 && of->life >= WITH_CURVES)
            status = bend(state, of->life == WITH_PAIRS, &error);
        if (status == GSA_OK && pass == 0 && of->life != FIRST_PASS) {
            status = gsa_state_end_pass(state, &error);
            if (status == GSA_OK)
                status = gsa_state_checkpoint_best(state, NULL, &error);
        }
    }
    gsa_state *before = state;
    if (status == GSA_OK && of->life == NEW_RUN) {
        status = gsa_state_start_from(before, config, &state, &error);
        gsa_state_free(before);
    }
    if (status == GSA_OK && of->life == NEW_RUN)
        status = gsa_state_update(state, rows, &error);
    fuzz_must(status == GSA_OK, "a seed of a state can be learned", error.message);
    gsa_config_free(config);
    return state;
}

static void put_loose_state(const gsa_state *state, fuzz_bytes *out)
{
    gsai_snapshot snapshot;
    gsa_error error = {0};
    fuzz_must(gsai_state_snapshot(state, NULL, &snapshot, &error) == GSA_OK, "a state has a snapshot", error.message);
    fuzz_put_bundle(&snapshot.bundle, out);
    gsai_arena_release(&snapshot.owned);
}

static void put_rows(uint8_t how, fuzz_bytes *out)
{
    const unsigned char head[] = {7, sizeof rows_bytes - 1};
    fuzz_put(out, head, 2);
    fuzz_put(out, rows_bytes, sizeof rows_bytes);
    out->data[out->size - sizeof rows_bytes] = how;
}

static void save_model(const setting *of, const gsa_state *state)
{
    static fuzz_bytes loose, file;
    gsai_snapshot snapshot;
    gsa_model *model = NULL;
    gsa_error error = {0};
    fuzz_must(gsa_state_finish(state, NULL, &model, &error) == GSA_OK, "a seed of a model", error.message);
    fuzz_must(gsai_model_snapshot(model, &snapshot, &error) == GSA_OK, "a model has a snapshot", error.message);
    loose.size = file.size = 0;
    put_rows(of->how, &loose);
    fuzz_put_bundle(&snapshot.bundle, &loose);
    save("model", of->name, "", 0, loose.data, loose.size);
    fuzz_must(gsa_model_write(model, fuzz_write, &file, &error) == GSA_OK, "a model can be written", error.message);
    char name[64];
    snprintf(name, sizeof name, "model-%s", of->name);
    save("container", name, "\0", 1, file.data, file.size);
    gsai_arena_release(&snapshot.owned);
    gsa_model_free(model);
}

static void save_states(void)
{
    static fuzz_bytes loose, pair, file;
    for (size_t i = 0; i < N(settings); i++) {
        const setting *of = &settings[i];
        gsa_state *state = make_state(of, 0), *other = make_state(of, 1);
        loose.size = pair.size = 0;
        put_rows(of->how, &loose);
        put_loose_state(state, &loose);
        save("state", of->name, "", 0, loose.data, loose.size);
        fuzz_write_state(state, &file);
        save("container", of->name, "\0", 1, file.data, file.size);
        put_rows(of->how, &pair);
        size_t at = pair.size;
        fuzz_put(&pair, "\0\0", 2);
        put_loose_state(state, &pair);
        pair.data[at] = (unsigned char)((pair.size - at - 2) >> 8);
        pair.data[at + 1] = (unsigned char)(pair.size - at - 2);
        put_loose_state(other, &pair);
        save("merge", of->name, "", 0, pair.data, pair.size);
        save_model(of, state);
        gsa_state_free(state);
        gsa_state_free(other);
    }
}

/* ---- small ones -------------------------------------------------------------------------------------------------- */

static void save_small(void)
{
    static const text numbers[] = {{"whole", "12345678"},
                                   {"decimal", "-0.1234567890123456789e-12,"},
                                   {"large", "1.7976931348623157e308"},
                                   {"denormal", "4.9406564584124654e-324"},
                                   {"half", "9007199254740993"},
                                   {"floats", "\1\2\3\x3f\0\0\x80\x7f\xff\xff\x7f\x7f"}};
    for (size_t i = 0; i < N(numbers); i++)
        save("number", numbers[i].name, "", 0, numbers[i].bytes, strlen(numbers[i].bytes));
    static const text schemas[] = {
        {"named", "greedystep schema 2\ncolumns named\nbits 24\nlabel y\nnumber a\nwords b\nignored c\nweight w\n"},
        {"offset",
         "greedystep schema 2\ncolumns named\nbits 24\nlabel y\nnumber a\toffset=1700000000\tmean=-1.5\tunit=$\n"},
        {"cross", "greedystep schema 2\ncolumns named\nbits 4\nnumber a\nwords b\ncross a\tb\n"},
        {"namespaces", "greedystep schema 2\ncolumns namespaces\nbits 24\ncross u\ti\n"}};
    for (size_t i = 0; i < N(schemas); i++)
        save("schema", schemas[i].name, "", 0, schemas[i].bytes, strlen(schemas[i].bytes));
    static const char config[] =
        "\1\0softmax\0loss\0squared\0class-weight\0balanced\0passes\0auto\0seed\00018446744073709551615";
    save("config", "many", "", 0, config, sizeof config);
    static const char known[] = "\xff\0hinge\0\1gsa\0\2free\0\3last\0\10007\0\11x";
    save("config", "known", "", 0, known, sizeof known);
    static const char labels[] = "\x80\3\xc0red\0\1\xc1"
                                 "blue\0\2\x41\3\x42\4\xa0\x3f\xf0\0\0\0\0\0\0\1";
    for (int how = 0; how < 6; how++) {
        char name[32], control[] = {(char)(how | (how % 3 == 0 ? 0x80 : how % 3 == 1 ? 0x60 : 0x20))};
        snprintf(name, sizeof name, "labels-%d", how);
        save("labels", name, control, 1, labels + 1, sizeof labels - 1);
    }
    for (size_t i = 0; i < N(settings); i++)
        for (unsigned char way = 0; way < 4; way++) {
            unsigned char control[12] = {(unsigned char)(way | (i % 3) << 6), (unsigned char)i, way & 1, way >> 1,
                                         (unsigned char)i};
            char name[64];
            unsigned char bytes[sizeof rows_bytes];
            memcpy(bytes, rows_bytes, sizeof bytes);
            bytes[0] = settings[i].how;
            snprintf(name, sizeof name, "%s-%d", settings[i].name, way);
            save("learn", name, control, sizeof control, bytes, sizeof bytes);
            /* The same with a weight, an id, an offset or a word of raw bits. */
            unsigned char raw[sizeof control + 24] = {0};
            memcpy(raw, control, sizeof control);
            memset(raw + sizeof control, (int)(0x5F + 0x30 * (i % 4)), sizeof raw - sizeof control);
            raw[0] |= 32;
            raw[sizeof control] = 0;
            raw[sizeof control + 1] = way;
            snprintf(name, sizeof name, "raw-%s-%d", settings[i].name, way);
            save("learn", name, raw, sizeof raw, bytes, sizeof bytes);
        }
}

/* Tables and rounds: any bytes are a table, so that a few of all sorts are enough. */
static void save_large(void)
{
    unsigned char bytes[200];
    for (unsigned s = 0; s < 24; s++) {
        char name[32];
        for (unsigned i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(gsai_mix(s * 1000 + i / (s % 3 + 1)) >> 20);
        bytes[0] = (unsigned char)s;
        bytes[1] &= 9;
        bytes[2] &= 31;
        snprintf(name, sizeof name, "drawn-%u", s);
        save("arrow", name, "", 0, bytes, sizeof bytes);
    }
    const struct {
        const text *of;
        size_t n;
        unsigned char how;
    } sorts[] = {{svm, N(svm), 0}, {csv, N(csv), 128}, {vw, N(vw), 64}};
    for (size_t s = 0; s < N(sorts); s++)
        for (size_t i = 0; i < sorts[s].n; i++)
            for (unsigned char k = 0; k < 3; k++) {
                const unsigned char control[12] = {(unsigned char)(sorts[s].how | k | k << 3), k, k & 1, k};
                char name[64];
                snprintf(name, sizeof name, "%zu-%s-%d", s, sorts[s].of[i].name, k);
                save("round", name, control, sizeof control, sorts[s].of[i].bytes, strlen(sorts[s].of[i].bytes));
            }
    save("exchange", "slices", "\3\0\0\107", 4, "", 0);
    save("exchange", "united", "\1GSAUNIT2\1\0\0\0\0\0\0\0", 17, bytes, 90);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "seeds FOLDER: writes first inputs for the fuzz targets\n");
        return 2;
    }
    folder = argv[1];
    fuzz_must(mkdir(folder, 0777) == 0 || errno == EEXIST, "a folder can be made", folder);
    save_texts("libsvm", svm, N(svm), 2);
    save_texts("csv", csv, N(csv), 4);
    save_texts("vw", vw, N(vw), 3);
    for (size_t i = 0; i < N(svm); i++)
        save_any(svm[i].name, svm[i].bytes, strlen(svm[i].bytes));
    for (size_t i = 0; i < N(csv); i++)
        save_any(csv[i].name, csv[i].bytes, strlen(csv[i].bytes));
    for (size_t i = 0; i < N(vw); i++)
        save_any(vw[i].name, vw[i].bytes, strlen(vw[i].bytes));
    save_caches("libsvm", svm, N(svm), &gsai_format_libsvm);
    save_caches("csv", csv, N(csv), &gsai_format_table);
    save_caches("vw", vw, N(vw), &gsai_format_vw);
    save_caches("dense", dense, N(dense), &gsai_format_libsvm);
    save_arrays();
    save_packed(gsai_codec_named("rows.gz"), svm[0].bytes);
    save_packed(gsai_codec_named("rows.zst"), svm[0].bytes);
    save_packed(gsai_codec_named("rows.xz"), svm[0].bytes);
    save_packed(gsai_codec_named("rows.bz2"), svm[0].bytes);
    save_foreign();
    save_states();
    save_small();
    save_large();
    return 0;
}
