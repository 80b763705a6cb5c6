/* The number that a text is (base/decimal.h). */
addToLibrary({
  parse_decimal__deps: ['$UTF8ToString'],
  parse_decimal: (text) => Number(UTF8ToString(text)),
});
