/** Caches the JSON of values that are answered more than once. */

export interface KeptJson {
  readonly json: string
  /** What an adapter made of `json` for its own answers; null before that. */
  encoded: Uint8Array | null
}

const texts = new WeakMap<object, KeptJson>()

/** Freezes a value, whose parts must not change either, and makes its text once. */
export function keepJson<T extends object>(value: T): T {
  texts.set(Object.freeze(value), { json: JSON.stringify(value), encoded: null })
  return value
}

/** @throws TypeError for a value without a JSON form */
export function jsonText(value: unknown): string {
  return keptJson(value)?.json ?? JSON.stringify(value)
}

/** Undefined for values that were not given to `keepJson`. */
export function keptJson(value: unknown): KeptJson | undefined {
  return typeof value === 'object' && value !== null ? texts.get(value) : undefined
}
