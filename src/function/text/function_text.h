/* The function language: FunctionDefs as text, both ways.
 *
 *   # y = tanh(x), so dx = dy * (1 - y * y)
 *   TanhGrad[T:{half, float, double}](x:T, dy:T) -> (dx:T) {
 *     y = Tanh[T=$T](x)
 *     y2 = Square[T=$T](y:y:0) @ dy
 *     one = Const[dtype=$T, value=1]()
 *     a = Sub[T=$T](one:output:0, y2:y:0)
 *     dx = Mul[T=$T](dy, a:z:0)
 *     return dx = dx:z:0
 *   }
 *
 *   function   Name [ "[" attr, ... "]" ] "(" arg, ... ")" "->" "(" arg, ... ")" "{" statement... "}"
 *   attr       N:int   T:{float, double}   T:type   l:list(type) >= 1   rate:float = 0.5
 *   arg        x:T   x:float   xs:N*T   xs:Tlist   v:Ref(float)
 *              (attrs and args are in the spec language of an OpRegistration)
 *   node       name = Op[attr=value, ...](input, ...) @ control, ...
 *   input      an argument, or node:output:index; "arg:2" and "node:output" (all of a list) work too
 *   result     return y = node:output:0
 *   control    @return name = node
 *   value      1   0.5   true   "text"   float   $T   Name[T=$T]   [1, 2]   {float, int32}   [1,?,3]
 *              Tensor<type: float shape: [2] values: 1 2>   Shape<[1,?]>
 *              Attr<AttrValue in protobuf text format>
 *
 * The value of a Const may be a number, or numbers in rows ([[1, 2], [3, 4]]): a tensor of the node's
 * `dtype`, made as soon as that is known: while parsing, or when the function is instantiated. The device of
 * a node stands last among its attrs, without quotes: `[T=float, device=/device:CPU:0]`.
 *
 * function_print writes what TensorFlow's DebugString(FunctionDef) writes, which cuts long strings, lists and
 * tensors and leaves out defaults. function_print_full cuts nothing, and parsing what it writes gives back an
 * equal FunctionDef. It adds
 *   @attr name = value   an attr of the function itself (_noinline)
 *   @stateful true       the signature's flag, where the ops of the body do not tell
 *   @node <...>          a node that no line can say, in protobuf text format
 *   @def <...>           in the same format everything of the FunctionDef but attrs and nodes, where header
 *                        and results cannot say it
 * Names that are no plain words stand in backquotes with C escapes.
 */
#ifndef TFCORE_FUNCTION_TEXT_FUNCTION_TEXT_H_
#define TFCORE_FUNCTION_TEXT_FUNCTION_TEXT_H_

#include "proto/proto.h"

enum { FUNCTION_TEXT_MAX_BYTES = 64 << 20, FUNCTION_TEXT_MAX_DEPTH = 24 };

/* Parses one function; everything is in `arena`. The signature is stateful when an op of the body is known
 * to be. INVALID_ARGUMENT "function text 3:9: expected '(' after the op 'Mul', found ']'": line and column
 * count from 1. */
MUST_CHECK bool function_parse(Str text, Arena *arena, FunctionDef **function, Status *status);
/* Parses any number of functions, one after the other. */
MUST_CHECK bool function_parse_library(Str text, Arena *arena, FunctionDefLibrary **library, Status *status);

/* As TensorFlow prints it: starts with an empty line. */
void function_print(const FunctionDef *function, StrBuf *out);
/* Loses nothing; does not start with an empty line. Fails only when out of memory. */
MUST_CHECK bool function_print_full(const FunctionDef *function, StrBuf *out, Status *status);

#endif
