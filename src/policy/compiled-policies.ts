import { canonicalText } from './canonical-policy.js'
import { type CompiledPolicy, compilePolicy } from './judge-policy.js'
import type { Policy } from './policy.js'

/** Texts whose compiled policy later keys share, up to 16 KiB each; of others each key has its own. */
const SHARED_MAX = 256
const shared = new Map<string, CompiledPolicy>()
const compiledPolicies = new WeakMap<Policy, CompiledPolicy>()

/**
 * A key's policy is the same object for as long as the key is in memory. The keys of a fleet have few
 * policies between them: one compiled policy for all that say the same stays where the processor has
 * it at hand.
 */
export function compiledOf(policy: Policy): CompiledPolicy {
  const known = compiledPolicies.get(policy)
  if (known !== undefined) return known
  const compiled = sharedBy(policy)
  compiledPolicies.set(policy, compiled)
  return compiled
}

function sharedBy(policy: Policy): CompiledPolicy {
  const text = canonicalText(policy)
  const compiled = shared.get(text) ?? compilePolicy(policy)
  shared.delete(text)
  shared.set(text, compiled)
  const [oldest] = shared.keys()
  if (shared.size > SHARED_MAX && oldest !== undefined) shared.delete(oldest)
  return compiled
}
