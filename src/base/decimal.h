/* Decimal numbers in texts. */
#ifndef TFCORE_BASE_DECIMAL_H_
#define TFCORE_BASE_DECIMAL_H_

#include <stdbool.h>
#include <stddef.h>

/* The double that is nearest to a number such as "-12", "+.5" or "1.25e-3"; infinite beyond the largest one,
 * and NaN if the text is not a number. The text has only digits, signs, points and the letters e and E, and
 * at least one of them. */
double decimal_parse(const char *text);

/* The nearest double, or float, to such a number, if it is easy to find: most numbers of up to 19 digits
 * without zeros in front, from 1e-22 to 1e22 or so.
 * False for others, and for texts that are not numbers. */
bool decimal_easy(const char *text, size_t length, double *value);
bool decimal_easy_float(const char *text, size_t length, float *value);

#endif
