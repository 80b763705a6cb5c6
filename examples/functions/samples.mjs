// Functions as text, to view and to edit. If there are several, the last one is shown and may call the
// others.
export const samples = {
  polynomial: {
    title: 'Polynomial',
    values: { x: '[-1, 0, 2]' },
    text: `Polynomial[T:{float, double, int32}](x:T) -> (y:T) {
  two = Const[dtype=$T, value=2]()
  three = Const[dtype=$T, value=3]()
  x2 = Square[T=$T](x)
  a = Mul[T=$T](three:output:0, x2:y:0)
  b = Mul[T=$T](two:output:0, x)
  y = Add[T=$T](a:z:0, b:z:0)
  return y = y:z:0
}
`,
  },
  calls: {
    title: 'Calls',
    values: { x: '[1, 2, 3]' },
    text: `TimesTwo[T:{float, double, int32}](x:T) -> (y:T) {
  two = Const[dtype=$T, value=2]()
  y = Mul[T=$T](x, two:output:0)
  return y = y:z:0
}

TimesFour[T:{float, double, int32}](x:T) -> (y:T) {
  x2 = TimesTwo[T=$T](x)
  y = TimesTwo[T=$T](x2:y:0)
  return y = y:y:0
}
`,
  },
  layer: {
    title: 'A layer',
    values: { x: '[[1, -1], [0.5, 2]]', w: '[[1, 0, -1], [2, 1, 0]]', b: '[0, -1, 1]' },
    text: `Layer[T:{float, double}](x:T, w:T, b:T) -> (y:T) {
  product = MatMul[T=$T](x, w)
  sum = BiasAdd[T=$T](product:product:0, b)
  y = Tanh[T=$T](sum:output:0)
  return y = y:y:0
}
`,
  },
  branches: {
    title: 'Branches',
    values: { x: '-3' },
    text: `Same(x:float) -> (y:float) {
  return y = x
}

Opposite(x:float) -> (y:float) {
  y = Neg[T=float](x)
  return y = y:y:0
}

Distance(x:float) -> (y:float) {
  zero = Const[dtype=float, value=0.0]()
  positive = Greater[T=float](x, zero:output:0)
  y = StatelessIf[Tcond=bool, Tin={float}, Tout={float}, then_branch=Same, else_branch=Opposite](positive:z:0, x)
  return y = y:output:0
}
`,
  },
  recursion: {
    title: 'Recursion',
    values: { n: '5' },
    text: `One(n:float) -> (y:float) {
  one = Const[dtype=float, value=1.0]()
  return y = one:output:0
}

TimesFactorial(n:float) -> (y:float) {
  one = Const[dtype=float, value=1.0]()
  less = Sub[T=float](n, one:output:0)
  rest = Factorial(less:z:0)
  y = Mul[T=float](n, rest:y:0)
  return y = y:z:0
}

Factorial(n:float) -> (y:float) {
  two = Const[dtype=float, value=2.0]()
  small = Less[T=float](n, two:output:0)
  y = StatelessIf[Tcond=bool, Tin={float}, Tout={float}, then_branch=One, else_branch=TimesFactorial](small:z:0, n)
  return y = y:output:0
}
`,
  },
};
