import { canonicalText } from './canonical-policy.js'
import { type CompiledPolicy, compilePolicy } from './judge-policy.js'
import type { Policy } from './policy.js'

/**
 * The most texts whose compiled policy is shared between keys, up to 16 KiB each; beyond this each
 * key has a compiled policy of its own.
 */
const SHARED_MAX = 256
const shared = new Map<string, CompiledPolicy>()
const compiledPolicies = new WeakMap<Policy, CompiledPolicy>()

/**
 * Returns a policy's compiled form. A key's policy is the same object for as long as the key is in
 * memory. The keys of a fleet have few different policies: sharing one compiled policy between
 * equal texts keeps it in the processor's cache.
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
