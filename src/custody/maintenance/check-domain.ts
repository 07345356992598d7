import { existsSync } from 'node:fs'
import { checkShares } from '../domain-keys/check-shares.js'
import { serviceLayout, userSideLayout } from '../domain-keys/layout.js'
import { openShareStore } from '../domain-keys/share-store.js'
import { lockMaintenance } from '../home-lock/domain-lock.js'
import { holding } from '../home-lock/kernel-lock.js'
import { openKeyStore } from '../key-stores/open-key-store.js'
import { readWrappingKeys } from '../key-stores/wrapping-key.js'

/** @returns number of wallets whose share fits @throws Error that names the file and the reason */
export function checkDomain(home: string, domain: 'service' | 'user'): Promise<number> {
  return holding(
    () => lockMaintenance(home, domain, 'custody check'),
    () => check(home, domain),
  )
}

async function check(home: string, domain: 'service' | 'user'): Promise<number> {
  const layout = domain === 'service' ? serviceLayout(home) : userSideLayout(home)
  if (!existsSync(layout.shares)) throw new Error(`${layout.shares} does not exist`)
  const keyStore = openKeyStore(layout.keys, 'allowed')
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
