import type { SubWalletId, UserId } from '../../domain/ids.js'
import type { SubWallet, SubWalletHeader } from '../../domain/wallet.js'
import { decodeHeader, decodeSpend, decodeSubWallet } from '../encodings/sub-wallet.js'
import type { Environment } from '../environment.js'
import { pageNamed } from '../name-search.js'
import { LAST, type Page, type PageOptions, pageIn } from '../pages.js'

export interface WalletReader {
  byId(id: SubWalletId): SubWallet | undefined
  /** The sub-wallet with the fields that its actor keeps. */
  header(id: SubWalletId): SubWalletHeader | undefined
  /** What each of the wallet's lineages has spent. */
  spendOf(id: SubWalletId): SubWalletHeader['spend']
  /** A user's sub-wallets, oldest first. */
  idsOfUser(user: UserId): readonly SubWalletId[]
  /**
   * Changes with a sub-wallet's spend, its spend by day and its keys; for a user, with the set of
   * sub-wallets. Read it before `fresh` and the record.
   */
  versionOf(id: SubWalletId | UserId): number
  /** All sub-wallets, by id. */
  all(): Generator<SubWallet>
  /** Sub-wallets by id, after a given one or from the first. */
  after(id: SubWalletId | null, limit: number): Generator<SubWallet>
  ofUser(user: UserId, options: PageOptions): Page<SubWalletHeader>
  /**
   * A user's sub-wallets whose names match a text; pages as `ofUser` does, and may be short with a
   * cursor.
   */
  named(user: UserId, text: string, options: PageOptions): Page<SubWalletHeader>
}

export function createWalletReader({
  spaces,
  recordVersions,
}: Pick<Environment, 'spaces' | 'recordVersions'>): WalletReader {
  function header(id: SubWalletId): SubWalletHeader | undefined {
    const stored = spaces.subWallets.get(id)
    if (stored === undefined) return undefined
    const marks = spaces.subWalletMarks.get(id)
    // A bit of the record's key may have flipped. Without this check the wallet's spend and nonces
    // would start again from zero.
    if (marks === undefined) throw spaces.subWalletMarks.lost(id)
    return decodeHeader(stored, marks)
  }

  return {
    byId(id) {
      const stored = spaces.subWallets.get(id)
      return stored === undefined ? undefined : decodeSubWallet(stored)
    },
    header,
    spendOf(id) {
      const marks = spaces.subWalletMarks.get(id)
      if (marks === undefined) throw spaces.subWalletMarks.lost(id)
      return decodeSpend(marks)
    },
    idsOfUser(user) {
      const range = { start: [user, ''], end: [user, LAST] }
      return [...spaces.walletsByUser.getKeys(range)].map(
        (key) => (key as unknown as [UserId, SubWalletId])[1],
      )
    },
    versionOf: (id) => recordVersions.versionOf(id),
    *all() {
      for (const { value } of spaces.subWallets.getSound({})) yield decodeSubWallet(value)
    },
    *after(id, limit) {
      const from = id === null ? {} : { start: id, exclusiveStart: true }
      let left = limit
      for (const { value } of spaces.subWallets.getSound(from)) {
        if (left-- === 0) return
        yield decodeSubWallet(value)
      }
    },
    ofUser: (user, options) =>
      pageIn(spaces, 'walletsByUser', user, options, (id) => header(id as SubWalletId)),
    named: (user, text, options) =>
      pageNamed(spaces, 'subWallets', user, options, text, (id) => {
        const found = header(id as SubWalletId)
        return found === undefined ? undefined : { name: found.wallet.name, value: found }
      }),
  }
}
