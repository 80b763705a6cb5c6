#include "ops/strings/unicode.h"

#include <string.h>

/* --- UTF-8 --- */

int32_t utf8_decode(Str text, int *length) {
  const unsigned char *bytes = (const unsigned char *)text.data;
  int32_t point = bytes[0];
  *length = 1;
  if (point < 0x80) return point;
  if (point < 0xC2 || point > 0xF4) return UNICODE_INVALID;
  int more = point < 0xE0 ? 1 : point < 0xF0 ? 2 : 3;
  /* The second byte excludes long forms, surrogates and points above the maximum. */
  int low = point == 0xE0 ? 0xA0 : point == 0xF0 ? 0x90 : 0x80;
  int high = point == 0xED ? 0x9F : point == 0xF4 ? 0x8F : 0xBF;
  point &= 0x3F >> more;
  for (int i = 1; i <= more; i++, low = 0x80, high = 0xBF) {
    if ((size_t)i >= text.length || bytes[i] < low || bytes[i] > high) return UNICODE_INVALID;
    point = point << 6 | (bytes[i] & 0x3F);
    *length = i + 1;
  }
  return point;
}

void utf8_append(StrBuf *buffer, int32_t point) {
  if (point < 0x80) {
    strbuf_append_char(buffer, (char)point);
    return;
  }
  int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  int head = more == 1 ? 0xC0 : more == 2 ? 0xE0 : 0xF0;
  strbuf_append_char(buffer, (char)(head | point >> 6 * more));
  for (int i = more - 1; i >= 0; i--) strbuf_append_char(buffer, (char)(0x80 | (point >> 6 * i & 0x3F)));
}

/* --- tables --- */

static int32_t varint(const unsigned char **p) {
  int32_t value = 0;
  int shift = 0;
  for (; **p & 0x80; (*p)++, shift += 7) value |= (**p & 0x7F) << shift;
  return value | *(*p)++ << shift;
}

bool unicode_each_category(UnicodeRunFn visit, void *arg) {
  int32_t point = 0;
  for (const unsigned char *p = kUnicodeCategories; p < kUnicodeCategories + kUnicodeCategoriesSize;) {
    int category = *p & 0x1F, length = *p++ >> 5;
    if (length == 0) length = varint(&p);
    if (!visit(arg, point, point + length - 1, category)) return false;
    point += length;
  }
  return true;
}

bool unicode_each_script(UnicodeRunFn visit, void *arg) {
  int32_t point = 0;
  for (const unsigned char *p = kUnicodeScripts; p < kUnicodeScripts + kUnicodeScriptsSize;) {
    int script = *p++, length = varint(&p);
    if (!visit(arg, point, point + length - 1, script)) return false;
    point += length;
  }
  return true;
}

typedef struct Search {
  int32_t point, found;
} Search;

static bool find_category(void *arg, int32_t first, int32_t last, int value) {
  Search *search = arg;
  (void)first;
  if (search->point > last) return true;
  search->found = value;
  return false;
}

UnicodeCategory unicode_category(int32_t point) {
  Search search = {point, UNICODE_CN};
  (void)unicode_each_category(find_category, &search);
  return (UnicodeCategory)search.found;
}

int unicode_script_number(Str name) {
  for (int i = 0; i < kUnicodeScriptNameCount; i++) {
    if (str_equal_text(name, kUnicodeScriptNames[i].name)) return kUnicodeScriptNames[i].script;
  }
  return -1;
}

bool unicode_each_case(bool upper, UnicodeCaseFn visit, void *arg) {
  const unsigned char *p = upper ? kUnicodeUpper : kUnicodeLower;
  const unsigned char *end = p + (upper ? kUnicodeUpperSize : kUnicodeLowerSize);
  int32_t last = 0;
  while (p < end) {
    UnicodeCaseRun run = {.first = last + varint(&p)};
    int32_t count = varint(&p), offset = varint(&p);
    run.step = (count & 1) + 1;
    run.last = last = run.first + (count >> 1) * run.step;
    run.offset = offset & 1 ? -(offset >> 1) - 1 : offset >> 1;
    if (!visit(arg, &run)) return false;
  }
  return true;
}

/* --- case --- */

static bool find_case(void *arg, const UnicodeCaseRun *run) {
  Search *search = arg;
  if (search->point < run->first) return false;
  if (search->point <= run->last && (search->point - run->first) % run->step == 0)
    search->found = search->point + run->offset;
  return true;
}

static int32_t simple_case(bool upper, int32_t point) {
  Search search = {point, point};
  if (point < 0x80) {
    bool changes = upper ? point >= 'a' && point <= 'z' : point >= 'A' && point <= 'Z';
    return changes ? point ^ 0x20 : point;
  }
  (void)unicode_each_case(upper, find_case, &search);
  return search.found;
}

static bool is_cased(int32_t point) {
  UnicodeCategory category = unicode_category(point);
  return category == UNICODE_LU || category == UNICODE_LL || category == UNICODE_LT;
}

/* Unicode's Case_Ignorable: marks, modifiers, formats, and punctuation inside of words. */
static bool is_case_ignorable(int32_t point) {
  static const uint16_t kInsideWords[] = {0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,
                                          0x5F4,  0x2018, 0x2019, 0x2024, 0x2027, 0xFE13,
                                          0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
  for (size_t i = 0; i < sizeof kInsideWords / sizeof kInsideWords[0]; i++) {
    if (kInsideWords[i] == point) return true;
  }
  UnicodeCategory category = unicode_category(point);
  return category == UNICODE_MN || category == UNICODE_ME || category == UNICODE_CF ||
         category == UNICODE_LM || category == UNICODE_SK;
}

static bool cased_after(Str text, size_t at) {
  int length;
  for (; at < text.length; at += (size_t)length) {
    int32_t point = utf8_decode((Str){text.data + at, text.length - at}, &length);
    if (point == UNICODE_INVALID) return false;
    if (!is_case_ignorable(point)) return is_cased(point);
  }
  return false;
}

static bool cased_before(Str text, size_t at) {
  int length;
  while (at > 0) {
    size_t end = at--;
    while (at > 0 && end - at < 4 && ((unsigned char)text.data[at] & 0xC0) == 0x80) at--;
    int32_t point = utf8_decode((Str){text.data + at, end - at}, &length);
    if (point == UNICODE_INVALID) return false;
    if (!is_case_ignorable(point)) return is_cased(point);
  }
  return false;
}

void unicode_lower(Str text, StrBuf *out) {
  enum { CAPITAL_SIGMA = 0x3A3, SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2, CAPITAL_I_WITH_DOT = 0x130 };
  int length;
  for (size_t at = 0; at < text.length; at += (size_t)length) {
    int32_t point = utf8_decode((Str){text.data + at, text.length - at}, &length);
    if (point == UNICODE_INVALID) {
      utf8_append(out, UNICODE_REPLACEMENT);
    } else if (point == CAPITAL_I_WITH_DOT) {
      strbuf_append(out, "i\xCC\x87");
    } else if (point == CAPITAL_SIGMA) {
      bool is_final = cased_before(text, at) && !cased_after(text, at + (size_t)length);
      utf8_append(out, is_final ? FINAL_SIGMA : SIGMA);
    } else {
      utf8_append(out, simple_case(false, point));
    }
  }
}

/* The upper case that has several code points, or NULL. */
static const char *special_upper(int32_t point) {
  int low = 0, high = kUnicodeUpperSpecialCount;
  while (low < high) {
    int middle = (low + high) / 2;
    if (kUnicodeUpperSpecial[middle].point < point) low = middle + 1;
    else high = middle;
  }
  bool found = low < kUnicodeUpperSpecialCount && kUnicodeUpperSpecial[low].point == point;
  return found ? kUnicodeUpperSpecial[low].text : NULL;
}

void unicode_upper(Str text, StrBuf *out) {
  int length;
  for (size_t at = 0; at < text.length; at += (size_t)length) {
    int32_t point = utf8_decode((Str){text.data + at, text.length - at}, &length);
    const char *special = point < 0x80 ? NULL : special_upper(point);
    if (special) strbuf_append(out, special);
    else utf8_append(out, point == UNICODE_INVALID ? UNICODE_REPLACEMENT : simple_case(true, point));
  }
}
