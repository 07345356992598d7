/** @returns whether each value of `inner` is in `outer` */
export function isSubset<T>(inner: readonly T[], outer: readonly T[]): boolean {
  return inner.every((value) => outer.includes(value))
}

/** Compares two values in canonical form. */
export function isSame(one: unknown, other: unknown): boolean {
  return text(one) === text(other)
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}n` : one))
}
