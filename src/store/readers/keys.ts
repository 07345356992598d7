import type { ApiKey } from '../../domain/api-key.js'
import type { CustodyStatus, GrantChange } from '../../domain/grant-change.js'
import type { KeyId, LineageId, SubWalletId, UserId } from '../../domain/ids.js'
import type { PolicyLedger } from '../../policy/policy-ledger.js'
import { closedAt } from '../../policy/slide-bytes.js'
import type { Slide } from '../../policy/sliding-buckets.js'
import { decodePolicyLedger, decodeSlide } from '../encodings/policy-ledger.js'
import type { Environment } from '../environment.js'
import { pageNamed } from '../name-search.js'
import { LAST, newestFirst, type Page, type PageOptions, pageIn } from '../pages.js'

export interface KeyReader {
  byId(id: KeyId): ApiKey | undefined
  /** @param hash hex SHA-256 of the secret */
  byHash(hash: string): ApiKey | undefined
  ofWallet(id: SubWalletId): Generator<ApiKey>
  ofUser(user: UserId, options: PageOptions): Page<ApiKey>
  /**
   * A user's keys whose names match a text; pages as `ofUser` does, and may be short with a cursor.
   */
  named(user: UserId, text: string, options: PageOptions): Page<ApiKey>
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
    named: (user, text, options) =>
      pageNamed(spaces, 'apiKeys', user, options, text, (id) => {
        const key = byId(id as KeyId)
        return key === undefined ? undefined : { name: key.name, value: key }
      }),
    lastUsedAtMs: (id) => (spaces.keyUse.get(id) as number | undefined) ?? null,
    *policyLedgersOf(id) {
      const range = spaces.policyLedgers.getRange({ start: [id, ''], end: [id, LAST] })
      for (const { key, value } of range) {
        const [, lineageId] = key as unknown as [SubWalletId, LineageId]
        const slideOf = (perSeconds: number, closedAtCount: number) =>
          slideAt(spaces, [id, lineageId, perSeconds], closedAtCount)
        yield [lineageId, decodePolicyLedger(value, slideOf)]
      }
    },
  }
}

/**
 * @throws DamagedRecord if the window does not match its ledger, because no call may be judged on
 * half of it
 */
function slideAt(
  { policyWindows }: Pick<Environment['spaces'], 'policyWindows'>,
  key: [SubWalletId, LineageId, number],
  closedAtCount: number,
): Slide {
  const stored = policyWindows.get(key)
  const slide = stored === undefined ? null : decodeSlide(stored)
  if (slide === null || closedAt(slide) !== closedAtCount) throw policyWindows.lost(key)
  return slide
}

/** Reads the changes of grants that the identity provider has not acknowledged. */
export interface GrantReader {
  /** Whether it has acknowledged all changes of a key. */
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
