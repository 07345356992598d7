/** JSON of values that are answered more than once. */

interface KeptTexts {
  readonly json: string
  /** `json` as a JSON string, made when it is first asked for; null until then. */
  quoted: string | null
}

const texts = new WeakMap<object, KeptTexts>()

/** Freezes a value, whose parts nobody changes either, and makes its text once. */
export function keepJson<T extends object>(value: T): T {
  texts.set(Object.freeze(value), { json: JSON.stringify(value), quoted: null })
  return value
}

/** @throws TypeError for what has no JSON form */
export function jsonText(value: unknown): string {
  return keptTexts(value)?.json ?? JSON.stringify(value)
}

/**
 * A value's JSON as a JSON string: MCP gives each answer in that form too.
 * @param json what `jsonText` makes of the value
 */
export function quotedJsonText(value: object, json: string): string {
  const kept = keptTexts(value)
  if (kept === undefined) return JSON.stringify(json)
  kept.quoted ??= JSON.stringify(kept.json)
  return kept.quoted
}

function keptTexts(value: unknown): KeptTexts | undefined {
  return typeof value === 'object' && value !== null ? texts.get(value) : undefined
}
