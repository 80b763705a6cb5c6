/* Files that are written completely or not at all. A draft has its own name next to the file; publishing it
 * replaces the file in one step, after the bytes are synced. Readers see the old file or the new one,
 * whatever fails in between.
 *
 *   FileDraft draft;
 *   ok = file_draft_begin(path, &draft, status) && file_draft_append(&draft, bytes, size, status) &&
 *        file_draft_publish(&draft, path, status);
 *   file_draft_drop(&draft);
 *
 * The name of a draft says which process writes it: "<path>.tempstate<writer>-<number>". Drafts of processes
 * that ended before they were done are removed by the next draft of the same file.
 */
#ifndef TFCORE_BASE_FILE_DRAFT_H_
#define TFCORE_BASE_FILE_DRAFT_H_

#include "base/file_store.h"

typedef struct FileDraft {
  char path[FILE_PATH_MAX + 1]; /* "": none */
  bool publishing; /* file_draft_publish reached the step that replaces the file, so the file may be replaced
                    * in spite of an error */
} FileDraft;

/* Begins an empty draft of the file `path`. The draft is initialised even if this fails. */
MUST_CHECK bool file_draft_begin(const char *path, FileDraft *draft, Status *status);
MUST_CHECK bool file_draft_append(FileDraft *draft, const void *bytes, int64_t size, Status *status);
/* Replaces `path`, which must be in the draft's folder. An error means that the file was not replaced, or
 * that it was but may be lost if the machine fails. */
MUST_CHECK bool file_draft_publish(FileDraft *draft, const char *path, Status *status);
/* Removes the draft unless it was published. */
void file_draft_drop(FileDraft *draft);
/* Begins, writes and publishes a draft with the given bytes. */
MUST_CHECK bool file_replace(const char *path, const void *bytes, int64_t size, Status *status);

#endif
