/* A reader of files, or of one piece of memory: what reading (files.c) and opening (files_open.c) share. */
#ifndef GSA_DATA_FILES_H
#define GSA_DATA_FILES_H

#include "data/keep.h"
#include "data/reader.h"

typedef struct gsa__files {
    gsa_reader head;
    const gsa__format *format; /* of what is no cache; NULL: what the first file shows */
    bool recognises;           /* it may be any */
    void *parser, *cache;      /* NULL before the first of their format */
    const char *first_name;    /* the file that told the format */
    gsa_reader_options options;
    gsa__schema schema;
    gsa__name_book names;
    gsa__reader_sizes sizes;
    char **paths; /* NULL: memory */
    size_t n_files;
    char *memory_name;
    const void *memory;
    size_t memory_size;
    bool is_stream;
    bool is_arrow; /* memory without bytes: the parser has its rows from elsewhere */
    uint64_t bytes_total;
    bool total_unknown; /* the size of one file is */

    size_t file; /* the one being read, or n_files */
    bool is_open;
    const gsa__format *current; /* its format, NULL while that is not known */
    uint64_t bytes_done;        /* of the files before it */
    gsa__decode stream;
    gsa__format_input input;
    gsa__rows rows;
    gsa__keep keep;
    atomic_uint_fast64_t bytes_kept; /* 0 while rows come from the files themselves */
    bool delivered;                  /* rows are with the caller: cleared by the next call */
    gsa_error failure;
} gsa__files;

const gsa__reader_kind *gsa__files_kind(void);

#endif
