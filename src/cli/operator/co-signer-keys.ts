import { registryPath, serviceLayout } from '../../custody/domain-keys/layout.js'
import { verified } from '../../custody-tools/provisioning/install-registry.js'
import { bodyOf } from '../../custody-tools/provisioning/registry-draft.js'
import type { RegisteredKey } from '../../defi/router-plan.js'

const MS_PER_SECOND = 1_000

/**
 * Returns the registry's co-signer keys in the form that Routers need, including each wallet
 * service's own.
 * @throws Error that names the file when the home has no registry, or the root did not sign it
 */
export function coSignerKeysOf(home: string, nowMs: number): RegisteredKey[] {
  const { co_signers } = bodyOf(verified(registryPath(home), [serviceLayout(home).rootKey]))
  return co_signers.map(({ public_key: hex, not_after_ms }) => ({
    x: `0x${hex.slice(2, 66)}`,
    y: `0x${hex.slice(66)}`,
    endsInSeconds:
      not_after_ms === null ? null : Math.max(0, Math.ceil((not_after_ms - nowMs) / MS_PER_SECOND)),
  }))
}
