/* Splits records of comma-separated values into fields (RFC 4180). */
#ifndef TFCORE_OPS_PARSING_CSV_H_
#define TFCORE_OPS_PARSING_CSV_H_

#include "base/str.h"

typedef struct CsvFormat {
  char delimiter;
  bool has_quotes;        /* a field in '"' may contain delimiters, ends of lines, and '"' as two */
  const int64_t *columns; /* increasing: the fields to keep; none: all */
  int64_t num_columns;
} CsvFormat;

/* The fields of a record. Zero-initialise. */
typedef struct CsvFields {
  StrBuf text;   /* of all fields */
  int64_t *ends; /* where they end in `text` */
  int64_t count, capacity;
} CsvFields;

/* Replaces the fields by those of a record; an empty record has none. INVALID_ARGUMENT in TensorFlow's words
 * for a quote or an end of a line in the wrong place. */
MUST_CHECK bool csv_read(const CsvFormat *format, Str record, CsvFields *fields, Status *status);
/* Field `i`, borrowed until the fields change. */
Str csv_field(const CsvFields *fields, int64_t i);
void csv_fields_free(CsvFields *fields);

#endif
