import { existsSync } from 'node:fs'
import { serviceLayout, userSideLayout } from '../../custody/domain-keys/layout.js'
import { openShareStore } from '../../custody/domain-keys/share-store.js'
import { lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { openKeyStore } from '../../custody/key-stores/open-key-store.js'
import { readWrappingKeys } from '../../custody/key-stores/wrapping-key.js'
import { checkShares } from './check-shares.js'

/**
 * @returns number of wallets whose share fits its certificate
 * @throws Error that names the file and the reason
 */
export function checkDomain(home: string, domain: 'service' | 'user'): Promise<number> {
  return holding(
    () => lockMaintenance(home, domain, 'custody check'),
    () => check(home, domain),
  )
}

async function check(home: string, domain: 'service' | 'user'): Promise<number> {
  const layout = domain === 'service' ? serviceLayout(home) : userSideLayout(home)
  if (!existsSync(layout.shares)) throw new Error(`${layout.shares} does not exist`)
  const keyStore = await openKeyStore(layout.keys, 'allowed')
  try {
    const wrappingKeys = await readWrappingKeys(layout.wrappingKey, keyStore)
    const shares = openShareStore(domain, layout, wrappingKeys)
    try {
      return checkShares(domain, layout.shares, shares)
    } finally {
      await shares.close()
    }
  } finally {
    await keyStore.close()
  }
}
