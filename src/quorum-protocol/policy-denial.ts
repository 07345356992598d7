/** Which part of a policy refuses a call, in words for the caller. */
export interface PolicyDenial {
  /** Name of the rule, or of what is no rule. */
  readonly rule: string
  readonly field: string
  readonly observed: string
  readonly permitted: string
  /** ISO 8601: when the same call may pass; null when time does not heal it. */
  readonly retryAt: string | null
  readonly suggestion: string
}

/** What a line of an answer holds; a list of payees may be longer. */
const TEXT_CHARS_MAX = 512

/** As it goes along with POLICY_DENIED. */
export function denialParts(denial: PolicyDenial): unknown[] {
  const { rule, field, observed, permitted, suggestion, retryAt } = denial
  return [...[rule, field, observed, permitted, suggestion].map(shortened), retryAt]
}

/** @returns null for what is none: a refusal holds without its words */
export function parseDenial(parts: unknown): PolicyDenial | null {
  if (!Array.isArray(parts) || parts.length !== 6) return null
  const [rule, field, observed, permitted, suggestion, retryAt] = parts as unknown[]
  if (!isText(rule) || !isText(field) || !isText(observed)) return null
  if (!isText(permitted) || !isText(suggestion)) return null
  if (retryAt !== null && !isText(retryAt)) return null
  return { rule, field, observed, permitted, suggestion, retryAt }
}

function shortened(text: string): string {
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX - 1)}…`
}

/** Callers are shown it. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_CHARS_MAX && !/\p{Cc}/u.test(value)
}
