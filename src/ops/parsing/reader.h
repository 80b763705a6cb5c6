/* Readers: resources that make records of pieces of work, which are the names of files in a queue (for
 * IdentityReader: any strings). The kinds of readers differ in how they make records:
 * ops/parsing/reader_kinds.c.
 *
 * A record has a key, such as "file:7", and a value. When a piece of work has no further record, the reader
 * takes the next one from the queue of the op that reads, and waits while that is empty.
 */
#ifndef TFCORE_OPS_PARSING_READER_H_
#define TFCORE_OPS_PARSING_READER_H_

#include "base/sync.h"
#include "op/kernel.h"

extern const char kReader[]; /* the type name of the resource */

/* The attrs of the op that makes a reader; those that it does not have are 0. */
typedef struct ReaderSpec {
  int64_t skipped_lines;
  int64_t header_bytes, record_bytes, footer_bytes, hop_bytes;
} ReaderSpec;

typedef struct Reader Reader;

typedef struct ReaderRecord {
  TString key, value;
} ReaderRecord;

typedef struct ReaderKind {
  const char *op;
  bool opens_file; /* when work begins; else a record shows that the file is missing */
  bool saves;      /* its state can be serialized */
  /* Prepares for the first record of the file. NULL: nothing to do. */
  bool (*start)(Reader *reader, Status *status);
  /* Makes the next record, or sets *made to false; *ends: there is no further one. */
  bool (*read)(Reader *reader, ReaderRecord *record, bool *made, bool *ends, Status *status);
} ReaderKind;

struct Reader {
  Resource resource;
  Mutex lock;
  const ReaderKind *kind;
  ReaderSpec spec;
  char *name;   /* of the node, for messages */
  bool is_busy; /* a kernel reads, which may be paused; the others wait */
  /* The state, under the lock: */
  char *work; /* the last piece, of `work_length` bytes; NULL: none */
  int64_t work_length;
  int64_t work_started, work_finished, records_produced;
  char *bytes; /* of the file, or NULL */
  int64_t size, position;
  int64_t number; /* of lines or records read from the file */
};

/* A reader with one reference; NULL with status when out of memory. */
Reader *reader_new(const ReaderKind *kind, const ReaderSpec *spec, Str name, Status *status);

/* --- the caller holds the lock --- */

static inline bool reader_is_working(const Reader *reader) {
  return reader->work_finished < reader->work_started;
}
/* Begins a piece of work. */
MUST_CHECK bool reader_start(Reader *reader, Str work, Status *status);
/* Makes one record of the work in progress. *made is false at its end. */
MUST_CHECK bool reader_read(Reader *reader, ReaderRecord *record, bool *made, Status *status);
void reader_reset(Reader *reader);
/* The next piece of work could not be had. */
void reader_forget_work(Reader *reader);
/* Reads the whole file of the work in progress. */
MUST_CHECK bool reader_open(Reader *reader, Status *status);
/* Sets the key to "work:number". */
MUST_CHECK bool reader_set_key(const Reader *reader, int64_t number, ReaderRecord *record, Status *status);

/* UNIMPLEMENTED for kinds that do not save their state. */
MUST_CHECK bool reader_serialize(const Reader *reader, StrBuf *bytes, Status *status);
/* After an error the reader is reset. */
MUST_CHECK bool reader_restore(Reader *reader, Str bytes, Status *status);

extern const ReaderKind kTextLineReader, kWholeFileReader, kFixedLengthRecordReader, kTFRecordReader,
    kIdentityReader;

#endif
