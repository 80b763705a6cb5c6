/* The bytes of the Unicode tables; ops/strings/unicode.h reads them. */
#ifndef TFCORE_OPS_STRINGS_UNICODE_TABLES_H_
#define TFCORE_OPS_STRINGS_UNICODE_TABLES_H_

#include <stdint.h>

typedef struct UnicodeSpecial {
  int32_t point;
  const char *text; /* UTF-8 */
} UnicodeSpecial;

typedef struct UnicodeScriptName {
  const char *name;
  int32_t script; /* ICU's number */
} UnicodeScriptName;

/* Runs of code points from 0: a byte whose low 5 bits are the category. The high 3 bits are the length of the
 * run, or 0 if a varint with the length follows. */
extern const unsigned char kUnicodeCategories[];
extern const int kUnicodeCategoriesSize;
/* Runs of code points from 0: a byte with ICU's number of the script, a varint with the length. */
extern const unsigned char kUnicodeScripts[];
extern const int kUnicodeScriptsSize;
/* Runs of code points that change to a single other: varints gap from the last point of the run before,
 * (count - 1) * 2 + step - 1, and the zigzag of the offset to the other. */
extern const unsigned char kUnicodeLower[];
extern const int kUnicodeLowerSize;
extern const unsigned char kUnicodeUpper[];
extern const int kUnicodeUpperSize;
/* Code points whose upper case has several, sorted. */
extern const UnicodeSpecial kUnicodeUpperSpecial[];
extern const int kUnicodeUpperSpecialCount;
/* Sorted by name. */
extern const UnicodeScriptName kUnicodeScriptNames[];
extern const int kUnicodeScriptNameCount;

#endif
