/** JSON of values that are answered more than once. */

const texts = new WeakMap<object, string>()

/** Freezes a value, whose parts nobody changes either, and makes its text once. */
export function keepJson<T extends object>(value: T): T {
  texts.set(Object.freeze(value), JSON.stringify(value))
  return value
}

/** @throws TypeError for what has no JSON form */
export function jsonText(value: unknown): string {
  const kept = typeof value === 'object' && value !== null ? texts.get(value) : undefined
  return kept ?? JSON.stringify(value)
}
