import { existsSync } from 'node:fs'
import { rewrapDataKeys } from '../../custody/domain-keys/data-keys.js'
import { serviceLayout, userSideLayout } from '../../custody/domain-keys/layout.js'
import { openShareCopies } from '../../custody/domain-keys/share-copies.js'
import { lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { openKeyStore } from '../../custody/key-stores/open-key-store.js'
import {
  makeWrappingKey,
  nextWrappingKeyPath,
  readWrappingKeys,
} from '../../custody/key-stores/wrapping-key.js'
import { moveDurably } from '../../disk/put-file.js'

/**
 * Wraps the data keys of one domain under a new wrapping key; the shares stay unchanged, and the
 * domain may run during the rotation. Until the last step both keys exist and both are tried, so
 * that after a crash at any point the domain still opens. An interrupted rotation continues with
 * the key that it made.
 * @returns number of data keys
 * @throws Error that names the file and the reason
 */
export function rotateWrappingKey(home: string, domain: 'service' | 'user'): Promise<number> {
  const lock = () => lockMaintenance(home, domain, 'custody rotate-wrapping-keys')
  return holding(lock, () => rotate(home, domain))
}

async function rotate(home: string, domain: 'service' | 'user'): Promise<number> {
  const layout = domain === 'service' ? serviceLayout(home) : userSideLayout(home)
  const store = await openKeyStore(layout.keys, 'allowed')
  try {
    const next = nextWrappingKeyPath(layout.wrappingKey)
    if (!existsSync(layout.shares)) throw new Error(`${layout.shares} does not exist`)
    if (!existsSync(next)) await makeWrappingKey(next, store)
    const wrappingKeys = await readWrappingKeys(layout.wrappingKey, store)
    const copies = openShareCopies(layout)
    try {
      rewrapDataKeys(domain, wrappingKeys, copies.dataKeys)
      moveDurably(next, layout.wrappingKey)
      return copies.dataKeys.list().length
    } finally {
      await copies.close()
    }
  } finally {
    await store.close()
  }
}
