/* Decimal numbers in texts. */
#ifndef TFCORE_BASE_DECIMAL_H_
#define TFCORE_BASE_DECIMAL_H_

/* The double that is nearest to a number such as "-12", "+.5" or "1.25e-3"; infinite beyond the largest one,
 * and NaN if the text is not a number. The text has only digits, signs, points and the letters e and E, and
 * at least one of them. */
double decimal_parse(const char *text);

#endif
