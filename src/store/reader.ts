import type { AddressRule } from '../domain/address-rule.js'
import type { AllowanceEntry, AllowanceLedgerMark } from '../domain/allowance.js'
import type { ApiKey } from '../domain/api-key.js'
import type { CustodyStatus, GrantChange } from '../domain/grant-change.js'
import type { IdempotencyRecord } from '../domain/idempotency.js'
import type {
  Address,
  EventId,
  GasWalletId,
  KeyId,
  LineageId,
  SubWalletId,
  TxId,
  UserId,
  WebhookId,
} from '../domain/ids.js'
import type { SharePriceSample } from '../domain/share-price.js'
import {
  type GasTransaction,
  type GasWallet,
  isSponsored,
  type Sponsorship,
} from '../domain/sponsorship.js'
import type { Transaction } from '../domain/transaction.js'
import type { SubWallet, SubWalletHeader } from '../domain/wallet.js'
import type { WebhookEndpoint } from '../domain/webhook.js'
import { createAuditReader } from './audit-trail.js'
import { type StoreKey, soundly } from './checked-space.js'
import { decodeHeader, decodeSubWallet } from './encodings/sub-wallet.js'
import { decodeTransaction } from './encodings/transaction.js'
import type { Environment } from './environment.js'
import { createEventReader } from './event-log.js'
import { type KeySpace, LISTED } from './key-spaces.js'
import { createOwnedCounts } from './owned-counts.js'
import { LAST, newestFirst, type Page, type PageOptions, pageOf } from './pages.js'
import { createSettlementReader } from './settlements.js'

/** Everything that reads the store gets one of these; it cannot write. All reads are synchronous. */
export type Reader = ReturnType<typeof createReader>

export function createReader(environment: Environment) {
  const { spaces, root, recordVersions, noteDamage } = environment
  const ifSound = soundly(noteDamage)
  const get = <T>(space: KeySpace, key: StoreKey) => spaces[space].get(key) as T | undefined

  function wallet(id: SubWalletId): SubWallet | undefined {
    const stored = spaces.subWallets.get(id)
    return stored === undefined ? undefined : decodeSubWallet(stored)
  }

  function subWallet(id: SubWalletId): SubWalletHeader | undefined {
    const stored = spaces.subWallets.get(id)
    if (stored === undefined) return undefined
    const marks = spaces.subWalletMarks.get(id)
    // A bit of its key may have flipped. Without it the wallet would begin anew, spend and nonces.
    if (marks === undefined) throw spaces.subWalletMarks.lost(id)
    return decodeHeader(stored, marks)
  }

  function transaction(id: TxId): Transaction | undefined {
    const stored = spaces.transactions.get(id)
    if (stored === undefined) return undefined
    return decodeTransaction(id, stored, spaces.transactionStates.get(id))
  }

  function page<T>(
    space: KeySpace,
    owner: string,
    { limit, cursor }: PageOptions,
    load: (id: string) => T | undefined,
  ): Page<T> {
    return pageOf(newestFirst(spaces, space, owner, cursor), limit, load)
  }

  /** Of a wallet's own and sponsored ones. */
  function openIds(id: SubWalletId): TxId[] {
    const listed = subWallet(id)?.open ?? []
    const indexed = [...newestFirst(spaces, 'openByWallet', id, null)].filter((it) => it !== LISTED)
    return [...listed, ...(indexed as TxId[])].sort().reverse()
  }

  return {
    /** Drops the snapshot that reads of this tick share, so that later commits are seen. */
    refresh(): void {
      root.resetReadTxn()
    },

    /** For whoever goes through the records of many: gives nothing where a read finds one damaged. */
    ifSound,

    wallet,
    /** With what its actor keeps besides. */
    subWallet,
    /** All there are, by id. */
    *wallets(): Generator<SubWallet> {
      for (const { value } of spaces.subWallets.getSound({})) yield decodeSubWallet(value)
    },
    apiKey: (id: KeyId) => get<ApiKey>('apiKeys', id),
    apiKeyByHash(hash: string): ApiKey | undefined {
      const id = get<KeyId>('keysByHash', hash)
      return id === undefined ? undefined : get<ApiKey>('apiKeys', id)
    },
    /** Whether the identity provider has acknowledged what the key may do. */
    custodyOf: (wallet: SubWalletId, id: KeyId): CustodyStatus =>
      spaces.grantChanges.get([wallet, id]) === undefined ? 'current' : 'pending',
    *grantChanges(wallet: SubWalletId): Generator<GrantChange> {
      const range = spaces.grantChanges.getRange({ start: [wallet, ''], end: [wallet, LAST] })
      for (const { value } of range) yield value as GrantChange
    },
    /** Sub-wallets with a key of whose grant that is not said. */
    *grantChangeWallets(): Generator<SubWalletId> {
      let last: string | null = null
      for (const key of spaces.grantChanges.getKeys({})) {
        const [id] = key as unknown as [SubWalletId, KeyId]
        if (id !== last) yield id
        last = id
      }
    },
    keyLastUsedAtMs: (id: KeyId) => get<number>('keyUse', id) ?? null,
    /** By chain id and vault, oldest sample first. */
    *sharePrices(): Generator<readonly [string, readonly SharePriceSample[]]> {
      for (const { key, value } of spaces.sharePrices.getSound({})) {
        yield [String(key), value as SharePriceSample[]]
      }
    },
    *keysOfWallet(id: SubWalletId): Generator<ApiKey> {
      for (const keyId of newestFirst(spaces, 'keysByWallet', id, null)) {
        const key = get<ApiKey>('apiKeys', keyId)
        if (key !== undefined) yield key
      }
    },
    ownedCounts: createOwnedCounts(environment),
    transaction,
    /**
     * Changes with the record. To be taken before `refresh` and the look at the record, which is
     * then good for as long as the version is the same.
     */
    transactionVersion: (id: TxId) => recordVersions.versionOf(id),
    /** The same of what `webhooksOfUser` gives. */
    webhooksVersion: (user: UserId) => recordVersions.versionOf(user),
    /** Every transaction whose id is not before `first`, oldest first. */
    *transactionsFrom(first: string): Generator<Transaction> {
      for (const { key, value } of spaces.transactions.getSound({ start: first })) {
        const later = ifSound(() => ({ state: spaces.transactionStates.get(key) }))
        if (later !== undefined) yield decodeTransaction(key as TxId, value, later.state)
      }
    },
    *openTransactionsOfWallet(id: SubWalletId): Generator<Transaction> {
      for (const txId of openIds(id)) {
        const tx = transaction(txId)
        if (tx !== undefined) yield tx
      }
    },
    /** Those that wallets sent themselves; looks at all that is open, so it is for a start. */
    *openTransactionsOfChain(chainId: number): Generator<Transaction> {
      for (const key of spaces.openByWallet.getKeys({})) {
        const [wallet, txId] = key as unknown as [SubWalletId, TxId | typeof LISTED]
        for (const id of txId === LISTED
          ? (ifSound(() => subWallet(wallet)?.open) ?? [])
          : [txId]) {
          const tx = ifSound(() => transaction(id))
          // A sponsored call is on chain as its gas wallet's transaction, and watched as that.
          if (tx !== undefined && tx.chainId === chainId && !isSponsored(tx.kind)) yield tx
        }
      }
    },
    idempotency: (lineage: LineageId, key: string) =>
      get<IdempotencyRecord>('idempotency', [lineage, key]),
    /** In the order of their keys, those after one of them, or from the first. */
    *idempotencyAfter(
      place: readonly [LineageId, string] | null,
      limit: number,
    ): Generator<{ lineageId: LineageId; key: string; record: IdempotencyRecord }> {
      const from = place === null ? {} : { start: [...place], exclusiveStart: true }
      let left = limit
      for (const { key, value } of spaces.idempotency.getSound(from)) {
        if (left-- === 0) return
        const [lineageId, name] = key as unknown as [LineageId, string]
        yield { lineageId, key: name, record: value as IdempotencyRecord }
      }
    },

    walletsOfUser: (user: UserId, options: PageOptions) =>
      page('walletsByUser', user, options, (id) => subWallet(id as SubWalletId)),
    keysOfUser: (user: UserId, options: PageOptions) =>
      page('keysByUser', user, options, (id) => get<ApiKey>('apiKeys', id)),
    webhooksOfUser: (user: UserId, options: PageOptions) =>
      page('webhooksByUser', user, options, (id) => get<WebhookEndpoint>('webhooks', id)),
    /** `wanted` filters; the page is filled by reading on, up to PAGE_SCAN_MAX records. */
    transactionsOfUser(
      user: UserId,
      options: PageOptions,
      wanted: (tx: Transaction) => boolean,
    ): Page<Transaction> {
      return page('transactionsByUser', user, options, (id) => {
        const tx = transaction(id as TxId)
        return tx !== undefined && wanted(tx) ? tx : undefined
      })
    },

    /** A user's transactions after `afterId`, oldest first. */
    *transactionsOfUserOldestFirst(user: UserId, afterId: TxId | null): Generator<Transaction> {
      const range = spaces.transactionsByUser.getKeys({
        start: [user, afterId ?? ''],
        end: [user, LAST],
        exclusiveStart: true,
      })
      for (const key of range) {
        const tx = transaction((key as unknown as [string, TxId])[1])
        if (tx !== undefined) yield tx
      }
    },
    addressRules: (user: UserId) => get<readonly AddressRule[]>('addressRules', user) ?? [],

    webhook: (id: WebhookId) => get<WebhookEndpoint>('webhooks', id),
    *webhooks(): Generator<WebhookEndpoint> {
      for (const { value } of spaces.webhooks.getSound({})) yield value as WebhookEndpoint
    },
    /** The first of a user's, without those whose records are damaged. */
    soundWebhooksOfUser: (user: UserId, limit: number) =>
      page('webhooksByUser', user, { limit, cursor: null }, (id) =>
        ifSound(() => get<WebhookEndpoint>('webhooks', id)),
      ).items,
    deliveries: <T>(id: WebhookId) => get<T>('deliveries', id),
    deliveryRecord: <T>(id: WebhookId, event: EventId) => get<T>('deliveryRecords', [id, event]),
    /** Event ids of an endpoint's delivery records, oldest first. */
    *deliveryRecordIds(id: WebhookId, limit: number): Generator<EventId> {
      const range = spaces.deliveryRecords.getKeys({ start: [id, ''], end: [id, LAST], limit })
      for (const key of range) yield (key as unknown as [string, EventId])[1]
    },
    deliveryRecords: <T>(id: WebhookId, options: PageOptions) =>
      page('deliveryRecords', id, options, (event) => get<T>('deliveryRecords', [id, event])),

    ...createEventReader(environment),
    ...createAuditReader(environment, transaction),
    ...createSettlementReader(spaces.settlements),
    gasWallet: (id: GasWalletId) => get<GasWallet>('gasWallets', id),
    *gasWallets(): Generator<GasWallet> {
      for (const { value } of spaces.gasWallets.getSound({})) {
        yield value as GasWallet
      }
    },
    gasTransaction: (id: TxId) => get<GasTransaction>('gasTransactions', id),
    *openGasTransactions(id: GasWalletId): Generator<GasTransaction> {
      for (const txId of newestFirst(spaces, 'openByGasWallet', id, null)) {
        const found = get<GasTransaction>('gasTransactions', txId)
        if (found !== undefined) yield found
      }
    },
    /** The same without those that are damaged. */
    *soundOpenGasTransactions(id: GasWalletId): Generator<GasTransaction> {
      for (const txId of newestFirst(spaces, 'openByGasWallet', id, null)) {
        const found = ifSound(() => get<GasTransaction>('gasTransactions', txId))
        if (found !== undefined) yield found
      }
    },
    *sponsorshipsOfWallet(id: SubWalletId): Generator<Sponsorship> {
      const range = spaces.sponsorships.getRange({ start: [id, ''], end: [id, LAST] })
      for (const { value } of range) yield value as Sponsorship
    },
    /** Sub-wallets with a sponsored call under way. */
    *sponsoredWallets(): Generator<SubWalletId> {
      let last: string | null = null
      for (const key of spaces.sponsorships.getKeys({})) {
        const [id] = key as unknown as [SubWalletId, TxId]
        if (id !== last) yield id
        last = id
      }
    },
    /** What a wallet ever approved, on one chain or on all; not in order of age. */
    *allowances(owner: Address, chainId?: number): Generator<AllowanceEntry> {
      const wallet = owner.toLowerCase()
      const prefix = chainId === undefined ? '' : `${chainId}:`
      const range = { start: [wallet, prefix], end: [wallet, `${prefix}${LAST}`] }
      for (const { value } of spaces.allowances.getRange(range)) {
        yield value as AllowanceEntry
      }
    },
    allowanceLedger: (owner: Address) =>
      get<AllowanceLedgerMark>('allowanceLedgers', owner.toLowerCase()),
  }
}
