import type { KeyObject } from 'node:crypto'
import { Refusal } from './refusal.js'
import { openRegistry, type Registry, type RegistryEnvelope } from './registry.js'

/** A process's present registry, which only moves to higher versions. */
export interface RegistryHolder {
  readonly current: Registry
  /**
   * Offers a registry that another domain passed on.
   * @returns true when it was newer and is now in force
   * @throws Refusal when the root did not sign it, or signed it for another environment
   */
  offer(envelope: RegistryEnvelope): boolean
}

/** @throws Refusal when the root did not sign the first registry */
export function holdRegistry(root: KeyObject, first: RegistryEnvelope): RegistryHolder {
  let current = openRegistry(first, root)
  return {
    get current() {
      return current
    },
    offer(envelope) {
      const offered = openRegistry(envelope, root)
      // A registry of a trial under the same root, whose keys are unprotected.
      if (offered.environment !== current.environment) {
        throw new Refusal('UNAUTHENTIC', `registry for ${offered.environment}`)
      }
      if (offered.version <= current.version) return false
      current = offered
      return true
    },
  }
}
