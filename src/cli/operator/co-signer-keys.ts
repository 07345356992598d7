import { registryPath, serviceLayout } from '../../custody/domain-keys/layout.js'
import { readRegistryFile, readRootKey } from '../../custody/domain-keys/registry-file.js'
import { bodyOf } from '../../custody-tools/provisioning/registry-draft.js'
import type { CoSignerKey } from '../../defi/router-reads.js'
import { openRegistry } from '../../quorum-protocol/registry.js'

/**
 * The co-signer keys of the signed registry that were not ended, as Routers want them: of each wallet service
 * its own.
 * @throws Error when the home has no registry, it is not signed by the root, or it names no such key
 */
export function coSignerKeysOf(home: string): CoSignerKey[] {
  const root = readRootKey(serviceLayout(home).rootKey)
  const { co_signers } = bodyOf(openRegistry(readRegistryFile(registryPath(home)), root))
  const keys = co_signers
    .filter(({ not_after_ms }) => not_after_ms === null)
    .map(
      ({ public_key: hex }): CoSignerKey => ({
        x: `0x${hex.slice(2, 66)}`,
        y: `0x${hex.slice(66)}`,
      }),
    )
  if (keys.length === 0) throw new Error('the registry names no co-signer that goes on')
  return keys
}
