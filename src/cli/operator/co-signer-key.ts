import { registryPath, serviceLayout } from '../../custody/domain-keys/layout.js'
import { readRegistryFile, readRootKey } from '../../custody/domain-keys/registry-file.js'
import type { Hex } from '../../domain/ids.js'
import { openRegistry, type RegistryBody } from '../../quorum-protocol/registry.js'

/**
 * The newest co-signer key of the signed registry, as a Router wants it.
 * @throws Error when the home has no registry, or it is not signed by the root
 */
export function newestCoSigner(home: string): { readonly x: Hex; readonly y: Hex } {
  const root = readRootKey(serviceLayout(home).rootKey)
  const { envelope } = openRegistry(readRegistryFile(registryPath(home)), root)
  const { co_signers } = JSON.parse(Buffer.from(envelope.body).toString('utf8')) as RegistryBody
  const hex = co_signers.at(-1)?.public_key
  if (hex === undefined) throw new Error('the registry names no co-signer')
  return { x: `0x${hex.slice(2, 66)}`, y: `0x${hex.slice(66)}` }
}
