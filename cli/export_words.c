/* The functions of an exported model that make rows of cells, as text of C99. The hash of words is XXH3 (64 bits, seed
 * 0) as its specification has it, written for a text in two parts that is read byte by byte. Words are short. */
#include "export.h"

#include <inttypes.h>

static const char secret[] = "/* The number of a word's feature is made from XXH3, whose constants these are. */\n"
                             "static const uint64_t @_secret[24] = {\n"
                             "    0xbe4ba423396cfeb8u, 0x1cad21f72c81017cu, 0xdb979083e96dd4deu, 0x1f67b3b7a4a44072u,\n"
                             "    0x78e5c0cc4ee679cbu, 0x2172ffcc7dd05a82u, 0x8e2443f7744608b8u, 0x4c263a81e69035e0u,\n"
                             "    0xcb00c391bb52283cu, 0xa32e531b8b65d088u, 0x4ef90da297486471u, 0xd8acdea946ef1938u,\n"
                             "    0x3f349ce33f76faa8u, 0x1d4f0bc7c7bbdcf9u, 0x3159b4cd4be0518au, 0x647378d9c97e9fc8u,\n"
                             "    0xc3ebd33483acc5eau, 0xeb6313faffa081c5u, 0x49daf0b751dd0d17u, 0x9e68d429265516d3u,\n"
                             "    0xfca1477d58be162bu, 0xce31d07ad1b8f88fu, 0x280416958f3acb45u, 0x7e404bbbcafbd7afu\n"
                             "};\n\n";

static const char parts[] =
    "/* A column's name, a NUL and a word; n bytes in all. */\n"
    "typedef struct @_text {\n"
    "    const char *column, *word;\n"
    "    size_t column_size, n;\n"
    "} @_text;\n\n"
    "static uint64_t @_read(const @_text *text, size_t at, size_t size)\n"
    "{\n"
    "    uint64_t x = 0;\n"
    "    for (size_t i = at + size; i-- > at;)\n"
    "        x = x << 8 | (unsigned char)(i <= text->column_size ? text->column[i] : text->word[i - text->column_size "
    "- 1]);\n"
    "    return x;\n"
    "}\n\n"
    "static uint64_t @_key(size_t at)\n"
    "{\n"
    "    uint64_t low = @_secret[at / 8] >> at % 8 * 8;\n"
    "    return at % 8 == 0 ? low : low | @_secret[at / 8 + 1] << (8 - at % 8) * 8;\n"
    "}\n\n"
    "/* The two halves of a product of 128 bits, xor. */\n"
    "static uint64_t @_fold(uint64_t a, uint64_t b)\n"
    "{\n"
    "    const uint64_t half = 0xFFFFFFFFu;\n"
    "    uint64_t p = (a & half) * (b & half), q = (a >> 32) * (b & half) + (p >> 32), r = (a & half) * (b >> 32) + (q "
    "& half);\n"
    "    return ((a >> 32) * (b >> 32) + (q >> 32) + (r >> 32)) ^ (r << 32 | (p & half));\n"
    "}\n\n"
    "static uint64_t @_mix(const @_text *text, size_t at, size_t key)\n"
    "{\n"
    "    return @_fold(@_read(text, at, 8) ^ @_key(key), @_read(text, at + 8, 8) ^ @_key(key + 8));\n"
    "}\n\n"
    "static uint64_t @_avalanche(uint64_t h)\n"
    "{\n"
    "    h = (h ^ h >> 37) * 0x165667919E3779F9u;\n"
    "    return h ^ h >> 32;\n"
    "}\n\n";

static const char short_texts[] =
    "/* Up to 16 bytes. */\n"
    "static uint64_t @_hash_short(const @_text *text)\n"
    "{\n"
    "    size_t n = text->n;\n"
    "    if (n > 8) {\n"
    "        uint64_t low = @_read(text, 0, 8) ^ @_key(24) ^ @_key(32), high = @_read(text, n - 8, 8) ^ @_key(40) ^ "
    "@_key(48);\n"
    "        uint64_t swapped = 0;\n"
    "        for (unsigned i = 0; i < 64; i += 8)\n"
    "            swapped = swapped << 8 | (low >> i & 0xFF);\n"
    "        return @_avalanche(n + swapped + high + @_fold(low, high));\n"
    "    }\n"
    "    if (n > 3) {\n"
    "        uint64_t h = (@_read(text, n - 4, 4) + (@_read(text, 0, 4) << 32)) ^ @_key(8) ^ @_key(16);\n"
    "        h ^= (h << 49 | h >> 15) ^ (h << 24 | h >> 40);\n"
    "        h *= 0x9FB21C651E98DF25u;\n"
    "        h = (h ^ ((h >> 35) + n)) * 0x9FB21C651E98DF25u;\n"
    "        return h ^ h >> 28;\n"
    "    }\n"
    "    uint64_t h = @_read(text, 0, 1) << 16 | @_read(text, n / 2, 1) << 24 | @_read(text, n - 1, 1) | n << 8;\n"
    "    h ^= (@_key(0) ^ @_key(0) >> 32) & 0xFFFFFFFFu;\n"
    "    h = (h ^ h >> 33) * 0xC2B2AE3D27D4EB4Fu;\n"
    "    h = (h ^ h >> 29) * 0x165667B19E3779F9u;\n"
    "    return h ^ h >> 32;\n"
    "}\n\n";

static const char long_texts[] =
    "static void @_stripe(const @_text *text, size_t at, size_t key, uint64_t sum[8])\n"
    "{\n"
    "    for (size_t i = 0; i < 8; i++) {\n"
    "        uint64_t x = @_read(text, at + 8 * i, 8), y = x ^ @_key(key + 8 * i);\n"
    "        sum[i ^ 1] += x;\n"
    "        sum[i] += (y & 0xFFFFFFFFu) * (y >> 32);\n"
    "    }\n"
    "}\n\n"
    "/* Above 240 bytes. */\n"
    "static uint64_t @_hash_long(const @_text *text)\n"
    "{\n"
    "    uint64_t sum[8] = {0xC2B2AE3Du, 0x9E3779B185EBCA87u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u,\n"
    "                       0x85EBCA77C2B2AE63u, 0x85EBCA77u, 0x27D4EB2F165667C5u, 0x9E3779B1u};\n"
    "    uint64_t h = text->n * 0x9E3779B185EBCA87u;\n"
    "    for (size_t at = 0; at + 64 < text->n; at += 64) {\n"
    "        @_stripe(text, at, at / 64 % 16 * 8, sum);\n"
    "        for (size_t i = 0; i < 8 && at % 1024 == 960; i++)\n"
    "            sum[i] = ((sum[i] ^ sum[i] >> 47) ^ @_key(128 + 8 * i)) * 0x9E3779B1u;\n"
    "    }\n"
    "    @_stripe(text, text->n - 64, 121, sum);\n"
    "    for (size_t i = 0; i < 8; i += 2)\n"
    "        h += @_fold(sum[i] ^ @_key(11 + 8 * i), sum[i + 1] ^ @_key(19 + 8 * i));\n"
    "    return @_avalanche(h);\n"
    "}\n\n";

static const char all_texts[] =
    "static uint64_t @_hash(const @_text *text)\n"
    "{\n"
    "    size_t n = text->n;\n"
    "    uint64_t h = n * 0x9E3779B185EBCA87u;\n"
    "    if (n <= 16)\n"
    "        return @_hash_short(text);\n"
    "    if (n > 240)\n"
    "        return @_hash_long(text);\n"
    "    for (size_t i = 0; n <= 128 && i <= (n - 1) / 32; i++)\n"
    "        h += @_mix(text, 16 * i, 32 * i) + @_mix(text, n - 16 * (i + 1), 32 * i + 16);\n"
    "    for (size_t i = 0; n > 128 && i < 8; i++)\n"
    "        h += @_mix(text, 16 * i, 16 * i);\n"
    "    h = n > 128 ? @_avalanche(h) : h;\n"
    "    for (size_t i = 8; n > 128 && i < n / 16; i++)\n"
    "        h += @_mix(text, 16 * i, 16 * (i - 8) + 3);\n"
    "    return @_avalanche(n > 128 ? h + @_mix(text, n - 16, 119) : h);\n"
    "}\n\n"
    "uint32_t @_word(const char *column, const char *word)\n"
    "{\n"
    "    @_text text = {column, word, 0, 1};\n"
    "    for (; column[text.column_size] != '\\0'; text.column_size++)\n"
    "        text.n++;\n"
    "    while (word[text.n - text.column_size - 1] != '\\0')\n"
    "        text.n++;\n";

static const char missing[] = "size_t @_missing(uint32_t number, uint32_t *index, float *value)\n"
                              "{\n"
                              "    index[0] = number;\n"
                              "    value[0] = @_mean[number];\n";

static const char tidy[] = "size_t @_tidy(uint32_t *index, float *value, size_t n)\n"
                           "{\n"
                           "    size_t n_kept = 0;\n"
                           "    for (size_t i = 0; i < n; i++) {\n"
                           "        uint32_t id = index[i];\n"
                           "        float x = value[i];\n"
                           "        size_t at = n_kept;\n"
                           "        while (at > 0 && index[at - 1] > id)\n"
                           "            at--;\n"
                           "        if (at > 0 && index[at - 1] == id) {\n"
                           "            value[at - 1] += x;\n"
                           "            continue;\n"
                           "        }\n"
                           "        for (size_t k = n_kept++; k > at; k--) {\n"
                           "            index[k] = index[k - 1];\n"
                           "            value[k] = value[k - 1];\n"
                           "        }\n"
                           "        index[at] = id;\n"
                           "        value[at] = x;\n"
                           "    }\n"
                           "    return n_kept;\n"
                           "}\n\n";

void export_put_cells(const exported *what, FILE *stream)
{
    static const char *const texts[] = {secret, parts, short_texts, long_texts, all_texts};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        export_put(what, texts[i], stream);
    fprintf(stream, "    return %" PRIu64 "u + (uint32_t)(", what->schema.first_word);
    export_put(what, "@_hash(&text)", stream);
    fprintf(stream, " & 0x%" PRIX64 "u);\n}\n\n", (UINT64_C(1) << what->schema.bits) - 1);
    export_put(what, missing, stream);
    fprintf(stream, "    index[1] = %" PRIu64 "u + number;\n    value[1] = 1;\n    return 2;\n}\n\n",
            what->schema.n_numbers);
    export_put(what, tidy, stream);
}
