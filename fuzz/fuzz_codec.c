/* A codec around text; which one is FUZZ_CODEC, as one target a codec is made of this file.
 *
 * PACKED: the input is what a file would hold, damaged as it comes. Else it is a text that the codec's own library
 * packs, and then
 *   P1  the rows are those of the plain text, and so is their failure;
 *   P2  cut short anywhere, it is not taken for whole;
 *   P3  several members after one another are one text. */
#include "rows.h"

#include <bzlib.h>
#include <lzma.h>

enum { PACKED = 128, CUT = 64, TWICE = 32 };

size_t pack_gzip(const uint8_t *text, size_t size, unsigned char *out, size_t room);
size_t pack_zstd(const uint8_t *text, size_t size, unsigned char *out, size_t room);
size_t pack_xz(const uint8_t *text, size_t size, unsigned char *out, size_t room);
size_t pack_bzip2(const uint8_t *text, size_t size, unsigned char *out, size_t room);

size_t pack_gzip(const uint8_t *text, size_t size, unsigned char *out, size_t room)
{
    return fuzz_pack(&gsai_codec_gzip, text, size, out, room);
}

size_t pack_zstd(const uint8_t *text, size_t size, unsigned char *out, size_t room)
{
    return fuzz_pack(&gsai_codec_zstd, text, size, out, room);
}

/* The smallest dictionary: the usual ones take longer to be cleared than anything else here. */
size_t pack_xz(const uint8_t *text, size_t size, unsigned char *out, size_t room)
{
    lzma_options_lzma options;
    size_t used = 0;
    fuzz_must(!lzma_lzma_preset(&options, 0), "there is a preset", NULL);
    options.dict_size = 4096;
    lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    lzma_ret result = lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL, text, size, out, &used, room);
    fuzz_must(result == LZMA_OK, "xz packs", NULL);
    return used;
}

size_t pack_bzip2(const uint8_t *text, size_t size, unsigned char *out, size_t room)
{
    unsigned used = (unsigned)room;
    int result = BZ2_bzBuffToBuffCompress((char *)out, &used, (char *)(uintptr_t)text, (unsigned)size, 1, 0, 0);
    fuzz_must(result == BZ_OK, "bzip2 packs", NULL);
    return used;
}

/* P1 and P3. */
static void check_text(const fuzz_source *plain, const fuzz_source *packed, uint8_t choice)
{
    static fuzz_told wanted, got;
    const gsai_reader_sizes sizes = {.buffer = 1 + choice % 200, .read = 1 + choice % 50, .batch_rows = 5};
    fuzz_tell(plain, &fuzz_sizes, false, &wanted);
    fuzz_tell(packed, choice & 1 ? &fuzz_sizes : &sizes, false, &got);
    fuzz_must_be_same(&wanted, &got, "packed text is the text");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char room[8 * FUZZ_MAX];
    static fuzz_bytes text;
    static fuzz_told cut;
    if (size > FUZZ_MAX)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in), choice = fuzz_byte(&in);
    if (what & PACKED) {
        const fuzz_source from = {in.at, in.left, "rows", &gsai_format_libsvm, {0}, false};
        fuzz_check_reading(&from, (what & 31u) % FUZZ_PROPERTIES, choice);
        return 0;
    }
    if (in.left >= 2 && gsai_codec_detect(in.at, in.left))
        return 0; /* the text would be packed twice */
    size_t packed = FUZZ_CODEC(in.at, in.left, room, sizeof room / 2);
    text.size = 0;
    fuzz_put(&text, in.at, in.left);
    if (what & TWICE) {
        packed += FUZZ_CODEC(in.at, in.left, room + packed, sizeof room / 2);
        fuzz_put(&text, in.at, in.left);
    }
    const fuzz_source plain = {text.data, text.size, "rows", &gsai_format_libsvm, {0}, false};
    fuzz_source from = {room, packed, "rows", &gsai_format_libsvm, {0}, false};
    if (!(what & CUT)) {
        check_text(&plain, &from, choice);
    } else if (!(what & TWICE)) {
        from.size = GSAI_CODEC_MAGIC + choice % (packed - GSAI_CODEC_MAGIC);
        fuzz_tell(&from, &fuzz_sizes, true, &cut);
        fuzz_must(cut.status == GSA_FORMAT || cut.status == GSA_ARGUMENT, "what was cut short is not whole", NULL);
    }
    return 0;
}
