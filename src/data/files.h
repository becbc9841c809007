/* A reader of files, or of one piece of memory: what reading (files.c), opening (files_open.c)
 * and beginning in the middle (files_enter.c) share. */
#ifndef GSA_DATA_FILES_H
#define GSA_DATA_FILES_H

#include "data/chunks.h"
#include "data/reader.h"
#include "data/spill.h"

typedef struct gsai_files {
    gsa_reader head;
    const gsai_format *format; /* of what is no cache; NULL: what the first file shows */
    bool recognises;           /* it may be any */
    void *parser, *cache;      /* NULL before the first of their format */
    gsai_chunks *chunks;       /* of the parser's text, which other threads read; NULL: none */
    bool is_alone;             /* there cannot be any */
    const char *first_name;    /* the file that told the format */
    gsa_reader_options options;
    gsai_schema schema;
    gsai_feature_names names;
    gsai_reader_sizes sizes;
    char **paths;       /* NULL: memory */
    uint64_t *file_end; /* bytes of the files up to the end of each; NULL: memory */
    size_t n_files;
    char *memory_name;
    const void *memory;
    size_t memory_size;
    bool is_stream;
    bool is_arrow; /* memory without bytes: the parser has its rows from elsewhere */
    uint64_t bytes_total;
    bool total_unknown; /* the size of one file is */

    size_t file;   /* the one being read, or n_files */
    bool begun;    /* what the input is was found out */
    uint64_t stop; /* of all files' bytes: rows that begin there are not of this share; UINT64_MAX: no share */
    bool is_open;
    const gsai_format *current; /* its format, NULL while that is not known */
    uint64_t bytes_done;        /* of the files before it */
    gsai_decode stream;
    gsai_format_input input;
    gsai_rows rows;
    gsai_spill keep;
    atomic_uint_fast64_t bytes_kept; /* 0 while rows come from the files themselves */
    atomic_bool is_packed;           /* a file was compressed */
    bool delivered;                  /* rows are with the caller: cleared by the next call */
    gsa_error failure;
} gsai_files;

const gsai_reader_kind *gsai_files_kind(void);
/* The first byte of a file, and that behind its last, among those of all. Kept rows are all there is. */
uint64_t gsai_files_start_of(const gsai_files *reader, size_t file);
uint64_t gsai_files_end_of(const gsai_files *reader, size_t file);
/* From now on the rows of this file and those after it, as if nothing had been read. */
void gsai_files_go(gsai_files *reader, size_t file);
gsa_status gsai_files_begin(gsa_reader *head, gsa_error *error);
gsa_status gsai_files_open_source(const gsai_files *reader, size_t file, gsai_source *out, gsa_error *error);
/* Opens the current file and begins its format, unless that is done. */
gsa_status gsai_files_open(gsai_files *reader, gsa_error *error);
/* The current file is over; the next one is its turn. */
void gsai_files_pass(gsai_files *reader);
void *gsai_files_parser(const gsai_files *reader);
/* Opens it and reads as far as its format wants to. */
gsa_status gsai_files_prepare(gsai_files *reader, gsa_error *error);
/* Hands a failure of the current file on, with its place; `keeps`: also to whoever asks for rows from now on. */
gsa_status gsai_files_fail(gsai_files *reader, gsa_error *failure, bool keeps, gsa_error *error);

gsa_status gsai_files_seek(gsa_reader *head, const gsa_place *row, gsa_error *error);
gsa_status gsai_files_share(gsa_reader *head, uint64_t part, uint64_t n_parts, gsa_error *error);
uint64_t gsai_files_line(const gsa_reader *head, const gsa_place *place);
/* Puts file, line and byte in front of a failure of the current file that has a line. */
void gsai_files_locate(const gsai_files *reader, gsa_error *failure);

#endif
