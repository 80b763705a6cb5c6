/** MatMul -> matMul, LRN -> lrn, transpose_a -> transposeA: TensorFlow's names as those of methods and options. */
export function camelCase(name: string): string {
  return name
    .replace(/^[A-Z]+(?![a-z])|^[A-Z]/, (head) => head.toLowerCase())
    .replace(/_+([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** MatMul -> matMul: the camelCase name of a name without underscores that does not begin with an acronym. */
export const lowerFirst = (name: string): string => name[0]!.toLowerCase() + name.slice(1);
