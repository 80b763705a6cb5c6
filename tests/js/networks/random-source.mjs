/** Random numbers of a seed, the same on every host (a xorshift generator). */
export class RandomSource {
  constructor(seed) {
    this.state = Math.imul(seed + 1, 0x9e3779b1) | 1;
    for (let i = 0; i < 8; i++) this.next();
  }

  /** A number in [0, 1). */
  next() {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return (this.state >>> 0) / 2 ** 32;
  }

  /** An integer from `first` to `last`. */
  int(first, last) {
    return first + Math.floor(this.next() * (last - first + 1));
  }

  pick(list) {
    return list[this.int(0, list.length - 1)];
  }

  chance(probability) {
    return this.next() < probability;
  }

  /** Numbers that float32 holds, in [middle - scale, middle + scale). */
  numbers(count, scale, middle = 0) {
    return Float32Array.from({ length: count }, () => middle + (2 * this.next() - 1) * scale);
  }
}
