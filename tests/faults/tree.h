/* The files below a folder and their bytes, kept in memory: what was there before a run, and what is after it. */
#ifndef TESTS_FAULTS_TREE_H
#define TESTS_FAULTS_TREE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tree_file {
    char *path; /* below the folder */
    char *bytes;
    size_t size;
} tree_file;

typedef struct tree {
    tree_file *file;
    size_t n;
} tree;

/* All regular files and links below the working folder; ends the process if one cannot be read. */
tree tree_read(void);

void tree_free(tree *files);

/* NULL: there is none of that name. */
const tree_file *tree_find(const tree *files, const char *path);

/* Two files of one name, each perhaps NULL. */
bool tree_same(const tree_file *a, const tree_file *b);

/* Makes the files below the working folder those of `wanted`, given that those of `now` are there. */
void tree_restore(const tree *wanted, const tree *now);

#endif
