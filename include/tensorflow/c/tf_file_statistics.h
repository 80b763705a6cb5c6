/* TF_FileStatistics: what TF_FileStat tells, TensorFlow's C API. */
#ifndef TENSORFLOW_C_TF_FILE_STATISTICS_H_
#define TENSORFLOW_C_TF_FILE_STATISTICS_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct TF_FileStatistics {
  int64_t length;     /* in bytes; -1 if unknown */
  int64_t mtime_nsec; /* the time of the last change, since 1970 */
  bool is_directory;
} TF_FileStatistics;

#endif
