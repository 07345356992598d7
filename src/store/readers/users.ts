import type { AddressRule } from '../../domain/address-rule.js'
import { type ApiKey, isLive } from '../../domain/api-key.js'
import type { UserId } from '../../domain/ids.js'
import type { Quotas } from '../../domain/quotas.js'
import { soundly } from '../checked-space.js'
import type { Environment } from '../environment.js'
import { LAST, newestFirst } from '../pages.js'

/** The number of things under quota that a user has; the actor of address rules counts those. */
export type OwnedCounts = Omit<Quotas, 'rules'>

export interface UserReader {
  addressRules(user: UserId): readonly AddressRule[]
  /**
   * Reads every key that the user ever had, which takes some milliseconds for a thousand, so it is
   * used when the counting actor starts.
   */
  ownedCounts(user: UserId): OwnedCounts
}

export function createUserReader({
  spaces,
  noteDamage,
}: Pick<Environment, 'spaces' | 'noteDamage'>): UserReader {
  const ifSound = soundly(noteDamage)

  function listed(space: 'walletsByUser' | 'webhooksByUser', user: UserId): number {
    return spaces[space].getKeysCount({ start: [user, ''], end: [user, LAST] })
  }

  function liveKeys(user: UserId): number {
    let count = 0
    for (const keyId of newestFirst(spaces, 'keysByUser', user, null)) {
      const stored = ifSound(() => ({ key: spaces.apiKeys.get(keyId) as ApiKey | undefined }))
      // A damaged key counts, because it may be live.
      if (stored === undefined || (stored.key !== undefined && isCounted(stored.key))) count++
    }
    return count
  }

  return {
    addressRules: (user) =>
      (spaces.addressRules.get(user) as readonly AddressRule[] | undefined) ?? [],
    ownedCounts: (user) => ({
      wallets: listed('walletsByUser', user),
      keys: liveKeys(user),
      webhooks: listed('webhooksByUser', user),
    }),
  }
}

/** Keys made by keys have separate bounds and count towards no quota. */
function isCounted(key: ApiKey): boolean {
  return key.parentLineageId === undefined && isLive(key)
}
