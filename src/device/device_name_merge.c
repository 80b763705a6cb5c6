/* What two names of devices have to do with each other. */
#include "device/device_name.h"

/* --- parts --- */

static bool same_word(Str a, Str b) { return a.data ? b.data && str_equal(a, b) : !b.data; }
/* `part` is what the pattern asks for, or the pattern leaves it open. */
static bool word_matches(Str part, Str pattern) { return !pattern.data || same_word(part, pattern); }
static bool number_matches(int32_t part, int32_t pattern) {
  return pattern == DEVICE_PART_OPEN || part == pattern;
}
static bool words_differ(Str a, Str b) { return a.data && b.data && !str_equal(a, b); }
static bool numbers_differ(int32_t a, int32_t b) {
  return a != DEVICE_PART_OPEN && b != DEVICE_PART_OPEN && a != b;
}

/* --- relations --- */

bool device_name_equal(const DeviceName *a, const DeviceName *b) {
  return same_word(a->job, b->job) && same_word(a->type, b->type) && a->replica == b->replica &&
         a->task == b->task && a->id == b->id;
}

bool device_name_has_details(const DeviceName *name) {
  DeviceName any = device_name_any();
  return !device_name_equal(name, &any);
}

bool device_name_is_complete(const DeviceName *name) {
  return name->job.data && name->type.data && name->replica != DEVICE_PART_OPEN &&
         name->task != DEVICE_PART_OPEN && name->id != DEVICE_PART_OPEN;
}

bool device_name_matches(const DeviceName *name, const DeviceName *pattern) {
  return word_matches(name->job, pattern->job) && number_matches(name->replica, pattern->replica) &&
         number_matches(name->task, pattern->task) && word_matches(name->type, pattern->type) &&
         number_matches(name->id, pattern->id);
}

bool device_name_compatible(const DeviceName *a, const DeviceName *b) {
  return !words_differ(a->job, b->job) && !numbers_differ(a->replica, b->replica) &&
         !numbers_differ(a->task, b->task) && !words_differ(a->type, b->type) &&
         !numbers_differ(a->id, b->id);
}

bool device_name_same_address_space(const DeviceName *a, const DeviceName *b) {
  return a->job.data && same_word(a->job, b->job) && a->replica != DEVICE_PART_OPEN &&
         a->replica == b->replica && a->task != DEVICE_PART_OPEN && a->task == b->task;
}

/* --- merging --- */

static bool incompatible(const DeviceName *target, const DeviceName *other, const char *parts,
                         Status *status) {
  StrBuf names = {0};
  strbuf_append(&names, "'");
  device_name_print(target, &names);
  strbuf_append(&names, "' and '");
  device_name_print(other, &names);
  strbuf_append(&names, "'");
  if (strbuf_ok(&names, status))
    status_invalid(status, "Cannot merge devices with incompatible %s: %s", parts, strbuf_text(&names));
  strbuf_free(&names);
  return false;
}

static void fill_word(Str *part, Str other) {
  if (!part->data) *part = other;
}
static void fill_number(int32_t *part, int32_t other) {
  if (*part == DEVICE_PART_OPEN) *part = other;
}

bool device_name_merge(DeviceName *target, const DeviceName *other, DeviceMerge how, Status *status) {
  if (words_differ(target->job, other->job)) return incompatible(target, other, "jobs", status);
  fill_word(&target->job, other->job);
  if (numbers_differ(target->replica, other->replica)) return incompatible(target, other, "replicas", status);
  fill_number(&target->replica, other->replica);
  if (numbers_differ(target->task, other->task)) return incompatible(target, other, "tasks", status);
  fill_number(&target->task, other->task);
  if (words_differ(target->type, other->type)) {
    if (how == DEVICE_MERGE_STRICT) return incompatible(target, other, "types", status);
    target->type = how == DEVICE_MERGE_OVERRIDE ? other->type : (Str){0};
    if (how == DEVICE_MERGE_SOFT) {
      target->id = DEVICE_PART_OPEN;
      return true;
    }
  }
  fill_word(&target->type, other->type);
  if (numbers_differ(target->id, other->id)) {
    if (how == DEVICE_MERGE_STRICT) return incompatible(target, other, "ids", status);
    target->id = how == DEVICE_MERGE_OVERRIDE ? other->id : DEVICE_PART_OPEN;
    return true;
  }
  fill_number(&target->id, other->id);
  return true;
}

void device_name_fill(DeviceName *target, const DeviceName *other) {
  fill_word(&target->job, other->job);
  fill_number(&target->replica, other->replica);
  fill_number(&target->task, other->task);
  fill_word(&target->type, other->type);
  fill_number(&target->id, other->id);
}

void device_name_override(DeviceName *target, const DeviceName *other) {
  DeviceName result = *other;
  device_name_fill(&result, target);
  *target = result;
}
