/* Tokens of protobuf's text format; private to text_parse.c. */
#ifndef TFCORE_PROTO_TEXT_LEXER_H_
#define TFCORE_PROTO_TEXT_LEXER_H_

#include "base/status.h"
#include "base/str.h"

typedef enum TokenKind {
  TOKEN_END,
  TOKEN_IDENTIFIER,
  TOKEN_INTEGER, /* 12, 0x1f, 017 */
  TOKEN_FLOAT,   /* 1.5, .5, 1e5, 2f */
  TOKEN_STRING,  /* with its quotes; escapes are checked */
  TOKEN_SYMBOL,  /* any other single character */
} TokenKind;

typedef struct Lexer {
  const char *at, *end;
  int64_t line, column; /* of `at`, from 0 */
  TokenKind kind;       /* the current token */
  Str text;
  int64_t token_line, token_column;
  Status *status;
} Lexer;

/* Starts at the first token. */
MUST_CHECK bool lexer_start(Lexer *lexer, Str text, Status *status);
/* Advances to the next token. */
MUST_CHECK bool lexer_next(Lexer *lexer);
/* INVALID_ARGUMENT "line:column: message" at the current token. Returns false. */
bool lexer_error(Lexer *lexer, const char *format, ...) PRINTF_LIKE(2, 3);
/* Whether the current token is this symbol. */
bool lexer_at(const Lexer *lexer, char symbol);
/* Appends the decoded content of a string token. */
void lexer_unquote(Str token, StrBuf *out);
/* The value of an integer token; false when it exceeds 64 bits. */
bool lexer_integer(Str token, uint64_t *value);

#endif
