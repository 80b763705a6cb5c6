/* The C library calls that change files on the disk, which tests replace to make them fail. */
#ifndef TFCORE_BASE_FILE_DISK_H_
#define TFCORE_BASE_FILE_DISK_H_

#include <stddef.h>
#include <sys/types.h>

/* Like the POSIX functions of the same names: -1 with errno after an error. */
typedef struct DiskCalls {
  int (*open)(const char *path, int flags);
  ssize_t (*write)(int file, const void *bytes, size_t size);
  int (*fsync)(int file);
  int (*close)(int file);
  int (*rename)(const char *from, const char *to);
  int (*link)(const char *from, const char *to);
  int (*unlink)(const char *path);
} DiskCalls;

extern const DiskCalls kDiskCalls;
/* Replaces kDiskCalls (NULL: restores it). No file may be in use. */
void disk_calls_use(const DiskCalls *calls);

#endif
