/* Columns of texts: a cell has the features of its words, and of pairs of neighbouring words. */
#include "data/format/column_stats.h"

#include "base/byte_order.h"
#include "base/hash.h"
#include "base/real.h"
#include "base/text.h"
#include "data/format/input_text.h"
#include "data/format/table_rows.h"

#include <math.h>
#include <string.h>

/* ---- characters ------------------------------------------------------------------------------------------------- */

typedef struct range {
    uint32_t first, last;
} range;

/* Capital letters, and the distance to their lower case; -1: every second character of the range is a capital, and the
 * next one is its lower case. */
static const struct capitals {
    range range;
    int distance;
} capitals[] = {
    {{0xC0, 0xD6}, 32},     {{0xD8, 0xDE}, 32},   {{0x100, 0x12E}, -1},   {{0x132, 0x136}, -1},
    {{0x139, 0x147}, -1},   {{0x14A, 0x176}, -1}, {{0x178, 0x178}, -121}, {{0x179, 0x17D}, -1},
    {{0x386, 0x386}, 38},   {{0x388, 0x38A}, 37}, {{0x38C, 0x38C}, 64},   {{0x38E, 0x38F}, 63},
    {{0x391, 0x3AB}, 32},   {{0x3C2, 0x3C2}, 1},  {{0x400, 0x40F}, 80},   {{0x410, 0x42F}, 32},
    {{0x460, 0x480}, -1},   {{0x48A, 0x4BE}, -1}, {{0x4C0, 0x4C0}, 15},   {{0x4C1, 0x4CD}, -1},
    {{0x4D0, 0x52E}, -1},   {{0x531, 0x556}, 48}, {{0x1E00, 0x1E94}, -1}, {{0x1EA0, 0x1EFE}, -1},
    {{0xFF21, 0xFF3A}, 32},
};

/* Characters between words, above ASCII: marks, spaces, lines and arrows; and U+FFFD, for what is not UTF-8. */
static const range marks[] = {{0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB9},     {0xBB, 0xBF},     {0xD7, 0xD7},
                              {0xF7, 0xF7},     {0x55A, 0x55F},   {0x589, 0x58A},   {0x5BE, 0x5BE},   {0x60C, 0x60D},
                              {0x61B, 0x61F},   {0x66A, 0x66D},   {0x6D4, 0x6D4},   {0x964, 0x965},   {0x2000, 0x206F},
                              {0x2190, 0x25FF}, {0x2E00, 0x2E7F}, {0x3000, 0x303F}, {0x30FB, 0x30FB}, {0xFE00, 0xFE0F},
                              {0xFE30, 0xFE6F}, {0xFF00, 0xFF0F}, {0xFF1A, 0xFF20}, {0xFF3B, 0xFF40}, {0xFF5B, 0xFF65},
                              {0xFFF0, 0xFFFF}};

/* Characters that are words by themselves: of scripts without blanks, and pictures. */
static const range words[] = {
    {0x2600, 0x27BF}, {0x3041, 0x30FF}, {0x3400, 0x9FFF}, {0xF900, 0xFAFF}, {0x1F000, 0x3FFFF}};

static bool is_among(uint32_t c, const range *list, size_t n)
{
    size_t i = 0;
    while (i < n && c > list[i].last)
        i++;
    return i < n && c >= list[i].first;
}

static uint32_t lower(uint32_t c)
{
    size_t i = 0, n = sizeof capitals / sizeof *capitals;
    while (i < n && c > capitals[i].range.last)
        i++;
    if (i == n || c < capitals[i].range.first)
        return c;
    int distance = capitals[i].distance;
    return distance == -1 ? c + ((c - capitals[i].range.first) % 2 == 0) : (uint32_t)((int64_t)c + distance);
}

/* Takes a character; U+FFFD for a byte that does not begin one. */
static uint32_t take_character(const char **text, const char *end)
{
    const unsigned char *p = (const unsigned char *)*text;
    size_t size = gsai_utf8_character(*text, (size_t)(end - *text));
    *text += size > 0 ? size : 1;
    if (size == 0)
        return 0xFFFD;
    uint32_t c = size == 1 ? *p : *p & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++)
        c = c << 6 | (p[i] & 0x3F);
    return c;
}

size_t gsai_text_next_word(const char **text, const char *end, char out[GSAI_WORD_SIZE])
{
    size_t n = 0, is_whole = 1;
    while (*text < end) {
        const char *at = *text;
        unsigned char byte = (unsigned char)*at;
        if (byte < 0x80) {
            bool is_letter = gsai_is_letter(*at) || gsai_is_digit(*at) || byte == '_';
            (*text)++;
            if (is_letter && n < GSAI_WORD_SIZE && is_whole)
                out[n++] = (char)(gsai_is_letter(*at) ? byte | 0x20 : byte);
            else if (!is_letter && n > 0)
                return n;
            continue;
        }
        uint32_t c = lower(take_character(text, end));
        bool is_mark = is_among(c, marks, sizeof marks / sizeof *marks);
        bool is_word = is_among(c, words, sizeof words / sizeof *words);
        if (n > 0 && (is_mark || is_word)) {
            *text = is_word ? at : *text;
            return n;
        }
        char bytes[4];
        size_t size = (size_t)(gsai_put_utf8(c, bytes) - bytes);
        is_whole = is_whole && (is_mark || n + size <= GSAI_WORD_SIZE);
        if (is_mark || !is_whole)
            continue;
        memcpy(out + n, bytes, size);
        n += size;
        if (is_word)
            return n;
    }
    return n;
}

/* ---- the first rows --------------------------------------------------------------------------------------------- */

/* Texts have this many words on average, and there are as many of them at least. */
enum { MIN_WORDS = 4, MIN_TEXTS = 10 };

/* Words of texts stand behind blanks and do not begin with a digit: numbers with units, addresses of pages and codes
 * have few. Of scripts without blanks three characters count as one. */
static size_t count_thirds(const char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        bool is_first = i == 0 || text[i - 1] == ' ' || text[i - 1] == '\n' || text[i - 1] == '\t';
        if (is_first && (gsai_is_letter(text[i]) || byte >= 0x80))
            n += 3;
        else if (byte >= 0xE3 && byte <= 0xE9)
            n++;
    }
    return n;
}

void gsai_stats_add_text(gsai_column_stats *stats, const char *text, size_t size)
{
    uint64_t bit = gsai_hash(text, size, 0) % (64 * GSAI_TEXT_BITS);
    stats->n_texts++;
    stats->text_thirds += count_thirds(text, size);
    stats->text_bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* The number of different cells follows from how many of the bits are set (linear counting). */
bool gsai_stats_are_texts(const gsai_column_stats *stats)
{
    const double n_bits = 64 * GSAI_TEXT_BITS;
    size_t n_set = 0;
    for (size_t i = 0; i < GSAI_TEXT_BITS; i++)
        n_set += (size_t)__builtin_popcountll(stats->text_bits[i]);
    double n_different = n_set < 64 * GSAI_TEXT_BITS ? -n_bits * gsai_log1p(-(double)n_set / n_bits) : n_bits;
    return stats->n_texts >= MIN_TEXTS && stats->text_thirds >= 3 * MIN_WORDS * stats->n_texts &&
           2 * n_different > (double)stats->n_texts && stats->words > stats->numbers + stats->odd + stats->dates;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* Adds a feature, and its name if it is new. */
static void add_feature(gsai_tabular *table, size_t i, uint64_t hash, const char *name, size_t size, float value,
                        gsai_features *features)
{
    const uint32_t id = (uint32_t)(hash & table->id_mask);
    const gsai_key *key = &table->column[i].key;
    if (gsai_feature_names_is_new(table->input->names, id))
        gsai_feature_names_enter(table->input->names, id, key->bytes, key->size - 1, name, size);
    gsai_features_add(features, table->first_hashed + id, value);
}

/* The value of a word is 1 + log of how often it is in the text, of a pair PAIR times that, both over the norm of all:
 * long texts count as short ones. How rare it is among rows is not part of it, since a parser has not seen them:
 * learning scales rare features. Pairs are counted below 0 until then. */
static const double PAIR = 0.5;

static const char *add_text(gsai_tabular *table, size_t i, const gsai_text_cell *cell, gsai_features *features)
{
    const gsai_text_cell inner = gsai_cell_trim(*cell);
    const char *text = inner.text, *end = text + inner.size;
    gsai_features own = {.index = features->index + features->n, .value = features->value + features->n};
    char pair[2 * GSAI_WORD_SIZE + 1]; /* the word before, a blank, and the word */
    uint64_t hash[2];
    size_t n_before = 0, n;
    if (gsai_is_missing(inner.text, inner.size))
        return NULL;
    if (table->cells)
        table->cells[i] = gsai_key_hash(&table->column[i].key, inner.text, inner.size);
    while ((n = gsai_text_next_word(&text, end, pair + n_before + (n_before > 0))) > 0) {
        char *word = pair + n_before + (n_before > 0);
        hash[1] = gsai_key_hash(&table->column[i].key, word, n);
        add_feature(table, i, hash[1], word, n, 1, &own);
        if (n_before > 0) {
            unsigned char both[16];
            gsai_store_u64(hash[0], both);
            gsai_store_u64(hash[1], both + 8);
            add_feature(table, i, gsai_hash(both, sizeof both, 0), pair, n_before + 1 + n, -1, &own);
        }
        memmove(pair, word, n);
        pair[n] = ' ';
        n_before = n;
        hash[0] = hash[1];
    }
    (void)gsai_features_finish(&own);
    double squares = 0;
    for (size_t k = 0; k < own.n; k++) {
        double count = (double)own.value[k], value = (count < 0 ? PAIR : 1) * (1 + gsai_log(fabs(count)));
        own.value[k] = (float)value;
        squares += value * value;
    }
    for (size_t k = 0; k < own.n; k++)
        own.value[k] = (float)((double)own.value[k] / sqrt(squares));
    features->n += own.n;
    features->all_ones = features->all_ones && own.n < 2;
    return NULL;
}

const gsai_column_kind gsai_kind_text = {.word = "text", .has_many = true, .add = add_text};
