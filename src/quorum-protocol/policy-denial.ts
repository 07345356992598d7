/** The part of a policy that refuses a call, described for the caller. */
export interface PolicyDenial {
  /** The rule's name, or the name of a part that is not a rule. */
  readonly rule: string
  readonly field: string
  readonly observed: string
  readonly permitted: string
  /** ISO 8601: when the same call may pass; null when waiting does not help. */
  readonly retryAt: string | null
  readonly suggestion: string
}

/** The bound of a line in an answer; a list of beneficiaries may be longer. */
const TEXT_CHARS_MAX = 512

/** Encodes the denial that accompanies POLICY_DENIED. */
export function denialParts(denial: PolicyDenial): unknown[] {
  const { rule, field, observed, permitted, suggestion, retryAt } = denial
  return [...[rule, field, observed, permitted, suggestion].map(shortened), retryAt]
}

/** @returns null for an invalid denial: the refusal holds without its description */
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

/** Accepts only text that can be shown to callers. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_CHARS_MAX && !/\p{Cc}/u.test(value)
}
