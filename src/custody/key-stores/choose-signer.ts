import { sameBytes } from '../../quorum-protocol/bytes.js'
import type { P256Signer } from '../../quorum-protocol/p256.js'
import type { Registry, RegistryRole } from '../../quorum-protocol/registry.js'
import type { KeyStore } from './key-store.js'

/**
 * Returns the signing key to use now: of the keys in the store that the registry accepts, the one
 * that it names last. An interrupted rotation therefore leaves either the old key or the new one in
 * use, never neither.
 * @throws Error when the registry names none of them
 */
export async function chooseSigner(
  store: KeyStore,
  role: RegistryRole,
  registry: Registry,
  nowMs: number,
): Promise<P256Signer> {
  const signers = await store.signers()
  const chosen = registry
    .kidsOf(role, nowMs)
    .map((kid) => signers.find((signer) => sameBytes(signer.kid, kid)))
    .findLast((signer) => signer !== undefined)
  if (chosen === undefined) {
    throw new Error(
      `registry version ${registry.version} names none of this domain's ${signers.length} signing ` +
        `keys (${store.kind}) among its ${role.replaceAll('_', ' ')}`,
    )
  }
  return chosen
}
