const TRUNCATED = ' ... [truncated]';

/** A text, or its first characters. Half a surrogate pair, which nothing carries, is not left at its end. */
export const shortened = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '') + TRUNCATED;
