import type { CallPolicy } from '../keys/policy-templates.js'
import type { JsonObject } from './draft.js'

/** What the text says goes to the service as it is: whether it is a policy, the service says. */
export function asPolicy(value: JsonObject | null): CallPolicy | null {
  return value as unknown as CallPolicy | null
}

export const EFFECT_WORDS: Readonly<Record<string, string>> = {
  allow: 'Allow',
  require_approval: 'Ask me',
  deny: 'Refuse',
}
