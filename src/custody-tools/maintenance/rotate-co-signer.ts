import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { registryPath, serviceLayout } from '../../custody/domain-keys/layout.js'
import { lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import type { KeyStore } from '../../custody/key-stores/key-store.js'
import { openKeyStore } from '../../custody/key-stores/open-key-store.js'
import type { P256Signer } from '../../quorum-protocol/p256.js'
import type { Registry, RegistryBody } from '../../quorum-protocol/registry.js'
import { installRegistry, verified } from '../provisioning/install-registry.js'
import { bodyOf, idOf, isPemOf, withNextCoSigner } from '../provisioning/registry-draft.js'
import { openRegistryRoot, signRegistry } from '../provisioning/registry-root.js'

interface CoSignerRotation {
  /** How long the present key continues to sign; 0 in an emergency. */
  readonly overlapMs: number
  /**
   * `sign`: the root's private key is on this machine, so the registry is signed and installed at
   * once. `draft`: the next registry is written to a file for the root's owner to sign on another
   * machine.
   */
  readonly root:
    | { readonly kind: 'sign'; readonly privateKeyPath: string }
    | { readonly kind: 'draft'; readonly path: string }
}

interface RotatedCoSigner {
  readonly version: number
  /** Hex of the new key's id, and of its point, which the Routers must be given. */
  readonly kid: string
  readonly x: string
  readonly y: string
  /** Hex of the ids of other machines' keys, which stay valid. */
  readonly others: readonly string[]
}

/**
 * Replaces this service's co-signer key; keys of other machines' services stay valid. The order
 * makes every crash harmless: the key is durable before a registry names it, the registry changes
 * by one rename, and the service uses its last key that the registry accepts. An interrupted
 * rotation continues with its key.
 * @throws Error that names the file and the reason
 */
export function rotateCoSigner(home: string, rotation: CoSignerRotation): Promise<RotatedCoSigner> {
  const lock = () => lockMaintenance(home, 'service', 'custody rotate-cosigner')
  return holding(lock, () => rotate(home, rotation))
}

async function rotate(home: string, rotation: CoSignerRotation): Promise<RotatedCoSigner> {
  const layout = serviceLayout(home)
  const path = registryPath(home)
  const present = verified(path, [layout.rootKey])
  // Opened before anything is made: a wrong root must change nothing.
  const root = rotation.root.kind === 'sign' ? matchingRoot(rotation.root, layout.rootKey) : null
  const body = bodyOf(present)
  const store = await openKeyStore(layout.keys, 'allowed')
  try {
    const nowMs = Date.now()
    await removeExpired(store, present, body, nowMs)
    const next = (await unusedSigner(store, body)) ?? (await store.makeSigner())
    const own = (await store.signers()).map(({ publicKey }) => publicKey)
    const draft = withNextCoSigner(body, next.publicKey, own, nowMs, rotation.overlapMs)
    if (rotation.root.kind === 'draft') {
      writeFileSync(rotation.root.path, `${JSON.stringify(draft, null, 2)}\n`, { flag: 'wx' })
    } else if (root !== null) {
      const signed = `${path}.signed`
      await signRegistry(signed, root, draft)
      installRegistry(home, signed, [layout.rootKey])
      rmSync(signed)
    }
    const point = next.publicKey.toString('hex')
    return {
      version: draft.version,
      kid: next.kid.toString('hex'),
      x: `0x${point.slice(2, 66)}`,
      y: `0x${point.slice(66)}`,
      others: draft.co_signers
        .filter((row) => row.not_after_ms === null && row.public_key !== point)
        .map(idOf),
    }
  } finally {
    await store.close()
  }
}

/** @throws Error when it is not the root that the domains pin */
function matchingRoot({ privateKeyPath }: { privateKeyPath: string }, pinned: string): P256Signer {
  const root = openRegistryRoot(privateKeyPath)
  if (!isPemOf(readFileSync(pinned), root.publicKey)) {
    throw new Error(`${privateKeyPath} is not the root that ${pinned} pins`)
  }
  return root
}

/** Returns a key that no registry has named yet: an interrupted rotation made it. */
async function unusedSigner(store: KeyStore, body: RegistryBody): Promise<P256Signer | undefined> {
  const named = new Set(body.co_signers.map(({ public_key }) => public_key))
  return (await store.signers()).find(({ publicKey }) => !named.has(publicKey.toString('hex')))
}

/** Removes keys that have expired; they can no longer sign, so they need not exist. */
async function removeExpired(
  store: KeyStore,
  present: Registry,
  body: RegistryBody,
  nowMs: number,
): Promise<void> {
  for (const signer of await store.signers()) {
    const row = body.co_signers.find((each) => each.public_key === signer.publicKey.toString('hex'))
    const isOver = row !== undefined && row.not_after_ms !== null && row.not_after_ms <= nowMs
    if (isOver && present.keyById('co_signers', signer.kid, nowMs) === null) {
      await store.removeSigner(signer.kid)
    }
  }
}
