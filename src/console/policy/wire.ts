import type { CallPolicy } from '../keys/policy-templates.js'
import type { JsonObject } from './draft.js'

/** Sends the text to the service unchanged, which validates it as a policy. */
export function asPolicy(value: JsonObject | null): CallPolicy | null {
  return value as unknown as CallPolicy | null
}

export const EFFECT_WORDS: Readonly<Record<string, string>> = {
  allow: 'Allow',
  require_approval: 'Ask me',
  deny: 'Refuse',
}
