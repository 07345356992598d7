import type { ApiKey } from '../../domain/api-key.js'
import type { CustodyStatus, GrantChange } from '../../domain/grant-change.js'
import type { KeyId, LineageId, SubWalletId, UserId } from '../../domain/ids.js'
import type { PolicyLedger } from '../../policy/policy-ledger.js'
import type { Environment } from '../environment.js'
import { LAST, newestFirst, type Page, type PageOptions, pageIn } from '../pages.js'

export interface KeyReader {
  byId(id: KeyId): ApiKey | undefined
  /** @param hash hex SHA-256 of the secret */
  byHash(hash: string): ApiKey | undefined
  ofWallet(id: SubWalletId): Generator<ApiKey>
  ofUser(user: UserId, options: PageOptions): Page<ApiKey>
  lastUsedAtMs(id: KeyId): number | null
  /** What a wallet's policies have counted, by lineage. */
  policyLedgersOf(id: SubWalletId): Generator<readonly [LineageId, PolicyLedger]>
}

export function createKeyReader({ spaces }: Pick<Environment, 'spaces'>): KeyReader {
  const byId = (id: KeyId) => spaces.apiKeys.get(id) as ApiKey | undefined

  return {
    byId,
    byHash(hash) {
      const id = spaces.keysByHash.get(hash) as KeyId | undefined
      return id === undefined ? undefined : byId(id)
    },
    *ofWallet(id) {
      for (const keyId of newestFirst(spaces, 'keysByWallet', id, null)) {
        const key = byId(keyId as KeyId)
        if (key !== undefined) yield key
      }
    },
    ofUser: (user, options) =>
      pageIn(spaces, 'keysByUser', user, options, (id) => byId(id as KeyId)),
    lastUsedAtMs: (id) => (spaces.keyUse.get(id) as number | undefined) ?? null,
    *policyLedgersOf(id) {
      const range = spaces.policyLedgers.getRange({ start: [id, ''], end: [id, LAST] })
      for (const { key, value } of range) {
        const [, lineageId] = key as unknown as [SubWalletId, LineageId]
        yield [lineageId, value as PolicyLedger]
      }
    },
  }
}

/** What the identity provider has not acknowledged of what keys may do. */
export interface GrantReader {
  /** Whether it has acknowledged all of one key. */
  statusOf(wallet: SubWalletId, id: KeyId): CustodyStatus
  changesOf(wallet: SubWalletId): Generator<GrantChange>
  walletsWithChanges(): Generator<SubWalletId>
}

export function createGrantReader({ spaces }: Pick<Environment, 'spaces'>): GrantReader {
  return {
    statusOf: (wallet, id) =>
      spaces.grantChanges.get([wallet, id]) === undefined ? 'current' : 'pending',
    *changesOf(wallet) {
      const range = spaces.grantChanges.getRange({ start: [wallet, ''], end: [wallet, LAST] })
      for (const { value } of range) yield value as GrantChange
    },
    *walletsWithChanges() {
      let last: string | null = null
      for (const key of spaces.grantChanges.getKeys({})) {
        const [id] = key as unknown as [SubWalletId, KeyId]
        if (id !== last) yield id
        last = id
      }
    },
  }
}
