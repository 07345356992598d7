import { existsSync } from 'node:fs'
import {
  type DomainName,
  quorumLayout,
  registryPath,
  serviceLayout,
  userSideLayout,
} from '../../custody/domain-keys/layout.js'
import { readRegistryFile, readRootKey } from '../../custody/domain-keys/registry-file.js'
import { lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { type KeyStore, storeFilePath } from '../../custody/key-stores/key-store.js'
import { openKeyStore } from '../../custody/key-stores/open-key-store.js'
import { disownSigners } from '../../custody/key-stores/own-signers.js'
import { type StoreFile, writeStoreFile } from '../../custody/key-stores/store-file.js'
import { makeWrappingKey, readWrappingKey } from '../../custody/key-stores/wrapping-key.js'
import { openRegistry, type RegistryRole } from '../../quorum-protocol/registry.js'
import { bodyOf, type Enrolment } from './registry-draft.js'

export const DOMAIN_NAMES: readonly DomainName[] = ['service', 'user', 'quorum']

const ROLES: Record<DomainName, RegistryRole> = {
  service: 'co_signers',
  user: 'approvers',
  quorum: 'quorum_signers',
}

/**
 * Makes the keys of one domain, run as that domain's own user: a signing key in its store, and for
 * the two domains with shares a wrapping key sealed to it. Existing keys stay, so that it may be
 * repeated after a crash.
 * @param store the store for the P-256 keys; null keeps the present one, or uses files
 * @param isNew service only: removes signing keys that the registry names, because they are another
 * machine's; a key that it does not name yet was made by an earlier attempt and stays
 * @returns what the root needs to know about the domain
 * @throws Error when the domain already has another store
 */
export function provisionDomain(
  home: string,
  domain: DomainName,
  store: StoreFile | null,
  isNew = false,
): Promise<Enrolment> {
  const lock = () => lockMaintenance(home, domain, 'custody provision')
  return holding(lock, async () => {
    if (isNew) await giveUpNamed(home)
    return provision(home, domain, store)
  })
}

async function giveUpNamed(home: string): Promise<void> {
  const { keys: directory, rootKey } = serviceLayout(home)
  const { co_signers } = bodyOf(
    openRegistry(readRegistryFile(registryPath(home)), readRootKey(rootKey)),
  )
  const keys = await openKeyStore(directory, 'allowed')
  try {
    const named = new Set(co_signers.map(({ public_key }) => public_key))
    const signers = await keys.signers()
    if (signers.every(({ publicKey }) => named.has(publicKey.toString('hex'))))
      disownSigners(directory)
  } finally {
    await keys.close()
  }
}

async function provision(
  home: string,
  domain: DomainName,
  store: StoreFile | null,
): Promise<Enrolment> {
  const layout = domainLayout(home, domain)
  if (store !== null && !existsSync(storeFilePath(layout.keys))) writeStoreFile(layout.keys, store)
  const keys = await openKeyStore(layout.keys, 'allowed')
  try {
    // A home that was made from another node's already names its store.
    if (store !== null && keys.kind !== store.kind) {
      throw new Error(`${storeFilePath(layout.keys)}: the keys are already in a ${keys.kind} store`)
    }
    const [present] = await keys.signers()
    const signer = present ?? (await keys.makeSigner())
    if (domain !== 'quorum') {
      const path = domain === 'service' ? serviceLayout(home) : userSideLayout(home)
      await ensureWrappingKey(path.wrappingKey, keys)
    }
    return { role: ROLES[domain], public_key: signer.publicKey.toString('hex') }
  } finally {
    await keys.close()
  }
}

async function ensureWrappingKey(path: string, keys: KeyStore) {
  if (!existsSync(path)) await makeWrappingKey(path, keys)
  ;(await readWrappingKey(path, keys)).fill(0)
}

export function domainLayout(home: string, domain: DomainName) {
  if (domain === 'service') return serviceLayout(home)
  return domain === 'user' ? userSideLayout(home) : quorumLayout(home)
}
