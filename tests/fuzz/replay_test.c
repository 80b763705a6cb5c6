/* Replays the kept inputs of the fuzz targets: past findings, and the corpus (README.md). A finding ends the
 * process; TFCORE_FUZZ_TRACE=1 prints the name of each file before it is run. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "harness.h"

BEFORE_EACH() { fuzz_begin(); }
AFTER_EACH() { fuzz_end(); }

static bool replay_file(const FuzzTarget *target, const char *path) {
  if (getenv("TFCORE_FUZZ_TRACE")) printf("%s\n", path), fflush(stdout);
  FILE *file = fopen(path, "rb");
  if (!CHECK(file)) return false;
  bool read = CHECK(fseek(file, 0, SEEK_END) == 0);
  long size = ftell(file);
  /* Of exactly this size, so that a read after the end is detected. */
  uint8_t *bytes = malloc(size > 0 ? (size_t)size : 1);
  rewind(file);
  read = read && CHECK(bytes) && CHECK_INT_EQ(fread(bytes, 1, (size_t)size, file), size);
  fclose(file);
  if (read) fuzz_run(target, bytes, (size_t)size);
  free(bytes);
  return read;
}

/* The number of files, or -1 if there is no such folder. */
static int replay_folder(const FuzzTarget *target, const char *kind) {
  char path[1024];
  snprintf(path, sizeof path, "tests/fuzz/%s/%s", kind, target->name);
  DIR *folder = opendir(path);
  if (!folder) return -1;
  int count = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    char file[2048];
    snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
    CHECK_CONTEXT("%s", entry->d_name);
    count += replay_file(target, file);
  }
  CHECK_CONTEXT("%s", "");
  closedir(folder);
  return count;
}

static void replay(const FuzzTarget *target) {
  replay_folder(target, "findings");
  CHECK(replay_folder(target, "corpus") > 0);
}

TEST(kept_graph_defs_do_no_harm) { replay(&k_graph_def_fuzz); }
TEST(kept_graph_texts_do_no_harm) { replay(&k_graph_text_fuzz); }
TEST(kept_function_texts_do_no_harm) { replay(&k_function_fuzz); }
TEST(kept_checkpoints_do_no_harm) { replay(&k_checkpoint_fuzz); }
TEST(kept_tensor_protos_do_no_harm) { replay(&k_tensor_proto_fuzz); }
TEST(kept_examples_do_no_harm) { replay(&k_example_fuzz); }
TEST(kept_json_examples_do_no_harm) { replay(&k_json_example_fuzz); }
TEST(kept_csv_records_do_no_harm) { replay(&k_csv_fuzz); }
TEST(kept_op_specs_do_no_harm) { replay(&k_op_spec_fuzz); }
TEST(kept_sequences_of_c_api_calls_do_no_harm) { replay(&k_c_api_fuzz); }
TEST(kept_png_files_do_no_harm) { replay(&k_png_fuzz); }
TEST(kept_jpeg_files_do_no_harm) { replay(&k_jpeg_fuzz); }
TEST(kept_gif_files_do_no_harm) { replay(&k_gif_fuzz); }
TEST(kept_bmp_files_do_no_harm) { replay(&k_bmp_fuzz); }
