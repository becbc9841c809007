/* The files of a reader, or one piece of memory that stands for a file. */
#ifndef GSA_DATA_FILES_H
#define GSA_DATA_FILES_H

#include "data/chunks.h"
#include "data/reader.h"
#include "data/spill.h"

typedef struct gsai_files {
    gsa_reader head;
    const gsai_format *format; /* of files that are not caches; NULL: what the first file shows */
    bool recognises;           /* it may be any */
    void *parser, *cache;      /* NULL before the first of their format */
    gsai_chunks *chunks;       /* of the parser's text, which other threads read; NULL: none */
    bool is_alone;             /* there cannot be any */
    const char *first_name;    /* the file that told the format */
    gsa_reader_options options;
    gsa_file_source given; /* opens the paths; all zero: the file system does */
    gsai_schema schema;
    gsai_feature_names names;
    gsai_reader_sizes sizes;
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
    bool begun;  /* what the input is was found out */
    bool is_open;
    const gsai_format *current; /* its format, NULL while that is not known */
    uint64_t bytes_done;        /* of the files before it */
    gsai_decode stream;
    gsai_format_input input;
    gsai_rows rows;
    gsai_spill spill;
    atomic_uint_fast64_t bytes_spilled; /* 0 while rows come from the files themselves */
    bool delivered;                     /* rows are with the caller: cleared by the next call */
    bool begins_file;                   /* they are the first of a file, as it was before it was converted */
    uint32_t last_file;                 /* whose they are */
    gsa_error failure;
} gsai_files;

/* Returns the name of a file for messages; NULL if not found. */
const char *gsai_files_name(const gsa_reader *head, uint32_t file);

/* Opens the current file, without looking at its format. */
gsa_status gsai_files_open_current(gsai_files *reader, gsa_error *error);
/* Opens the current file and begins its format, unless that is done. */
gsa_status gsai_files_open(gsai_files *reader, gsa_error *error);
void gsai_files_close(gsai_files *reader);
/* Returns the parser of the current file. */
void *gsai_files_parser(const gsai_files *reader);
/* Returns whether there is a file to be read. */
bool gsai_files_has_next(const gsai_files *reader);
/* Closes the current file and goes to the next one. */
void gsai_files_next(gsai_files *reader);
/* Goes to a file, as if nothing had been read. */
void gsai_files_restart(gsai_files *reader, size_t file);
/* Reads up to the first file that tells the schema; files without rows are skipped. */
gsa_status gsai_files_begin(gsa_reader *head, gsa_error *error);
/* Goes on with the block of a cache that begins there. */
gsa_status gsai_files_seek(gsa_reader *head, const gsa_place *block, gsa_error *error);

/* Puts file, line and byte in front of a failure of the current file that has a line. */
void gsai_files_locate(const gsai_files *reader, gsa_error *failure);
/* Returns the failure that ended the reading. */
gsa_status gsai_files_fail_again(const gsai_files *reader, gsa_error *error);

#endif
