import type { AddressRule } from '../domain/address-rule.js'
import { type AllowanceEntry, allowanceKey } from '../domain/allowance.js'
import type { ApiKey } from '../domain/api-key.js'
import type { AuditRecord } from '../domain/audit.js'
import type { NewEvent, StoredEvent } from '../domain/event.js'
import type {
  Address,
  EventId,
  KeyId,
  LineageId,
  SubWalletId,
  TxId,
  UserId,
  WebhookId,
} from '../domain/ids.js'
import type { SharePriceSample } from '../domain/share-price.js'
import type { GasTransaction, GasWallet, Sponsorship } from '../domain/sponsorship.js'
import { isFinal, type Transaction } from '../domain/transaction.js'
import type { SubWalletHeader } from '../domain/wallet.js'
import type { WebhookEndpoint } from '../domain/webhook.js'
import { encodeAudit } from './encodings/audit.js'
import { encodeEvent } from './encodings/event.js'
import { encodeSubWallet } from './encodings/sub-wallet.js'
import { encodeTransaction } from './encodings/transaction.js'
import type { Environment, StoreKey } from './environment.js'
import { eventIdAt } from './event-id.js'
import { lastSeqKey } from './event-log.js'
import type { EventSequence } from './event-sequence.js'
import type { KeySpace } from './key-spaces.js'
import type { AllowanceLedgerMark, ChainCursor, IdempotencyRecord } from './records.js'

/**
 * Collects the writes of one batch of commands. Nothing is visible before `commit`, and then all
 * of it is, or nothing. Values must not be changed after they were handed in.
 */
export interface Transactor {
  /** A new one: lists it as its user's besides storing it. */
  addSubWallet(header: SubWalletHeader): void
  putSubWallet(header: SubWalletHeader): void
  putApiKey(key: ApiKey): void
  putKeyUse(id: KeyId, usedAtMs: number): void
  putSharePrices(vaultKey: string, samples: readonly SharePriceSample[]): void
  /** A new transaction, or one that a reorg opened again: lists it besides storing it. */
  openTransaction(tx: Transaction): void
  /** One that is listed already; a final one leaves the lists of the open. */
  putTransaction(tx: Transaction): void
  putIdempotency(lineage: LineageId, key: string, record: IdempotencyRecord): void
  deleteIdempotency(lineage: LineageId, key: string): void
  appendEvent(event: NewEvent): void
  putWebhook(endpoint: WebhookEndpoint): void
  deleteWebhook(id: WebhookId, user: UserId): void
  putDeliveries(id: WebhookId, state: unknown): void
  putDeliveryRecord(id: WebhookId, event: EventId, record: unknown): void
  deleteDeliveryRecord(id: WebhookId, event: EventId): void
  appendAudit(record: AuditRecord): void
  putAddressRules(user: UserId, rules: readonly AddressRule[]): void
  putGasWallet(wallet: GasWallet): void
  putGasTransaction(transaction: GasTransaction): void
  putSponsorship(sponsorship: Sponsorship): void
  deleteSponsorship(wallet: SubWalletId, id: TxId): void
  /** Takes the place of an entry with the same key. */
  putAllowance(owner: Address, entry: AllowanceEntry): void
  deleteAllowance(owner: Address, key: string): void
  putAllowanceLedger(owner: Address, mark: AllowanceLedgerMark): void
  putChainCursor(cursor: ChainCursor): void
  readonly empty: boolean
}

interface Write {
  readonly space: KeySpace
  readonly key: StoreKey
  /** `REMOVED`, or what is put. */
  readonly value: unknown
}

const PRESENT = 1
const REMOVED = Symbol('removed')

export class WriteBatch implements Transactor {
  readonly #writes: Write[] = []
  /** Stored whole at each change, often many times in a batch: only the last is written. */
  #deliveries: Map<WebhookId, unknown> | null = null
  readonly #events: NewEvent[] = []

  get empty(): boolean {
    return this.#writes.length === 0 && this.#events.length === 0 && this.#deliveries === null
  }

  addSubWallet(header: SubWalletHeader): void {
    const { subWalletId, userId } = header.wallet
    this.putSubWallet(header)
    this.#put('walletsByUser', [userId, subWalletId], PRESENT)
  }

  putSubWallet(header: SubWalletHeader): void {
    this.#put('subWallets', header.wallet.subWalletId, encodeSubWallet(header))
  }

  putApiKey(key: ApiKey): void {
    this.#put('apiKeys', key.keyId, key)
    this.#put('keysByHash', key.secretHash, key.keyId)
    this.#put('keysByWallet', [key.subWalletId, key.keyId], PRESENT)
    this.#put('keysByUser', [key.userId, key.keyId], PRESENT)
  }

  putKeyUse(id: KeyId, usedAtMs: number): void {
    this.#put('keyUse', id, usedAtMs)
  }

  putSharePrices(vaultKey: string, samples: readonly SharePriceSample[]): void {
    this.#put('sharePrices', vaultKey, samples)
  }

  openTransaction(tx: Transaction): void {
    this.putTransaction(tx)
    this.#put('transactionsByUser', [tx.userId, tx.txId], PRESENT)
    if (!isFinal(tx.status)) this.#put('openByWallet', [tx.subWalletId, tx.txId], PRESENT)
  }

  putTransaction(tx: Transaction): void {
    this.#put('transactions', tx.txId, encodeTransaction(tx))
    if (isFinal(tx.status)) this.#remove('openByWallet', [tx.subWalletId, tx.txId])
  }

  putIdempotency(lineage: LineageId, key: string, record: IdempotencyRecord): void {
    this.#put('idempotency', [lineage, key], record)
  }

  deleteIdempotency(lineage: LineageId, key: string): void {
    this.#remove('idempotency', [lineage, key])
  }

  appendEvent(event: NewEvent): void {
    this.#events.push(event)
  }

  putWebhook(endpoint: WebhookEndpoint): void {
    this.#put('webhooks', endpoint.webhookId, endpoint)
    this.#put('webhooksByUser', [endpoint.userId, endpoint.webhookId], PRESENT)
  }

  deleteWebhook(id: WebhookId, user: UserId): void {
    this.#remove('webhooks', id)
    this.#remove('webhooksByUser', [user, id])
    this.#setDeliveries(id, REMOVED)
  }

  putDeliveries(id: WebhookId, state: unknown): void {
    this.#setDeliveries(id, state)
  }

  putDeliveryRecord(id: WebhookId, event: EventId, record: unknown): void {
    this.#put('deliveryRecords', [id, event], record)
  }

  deleteDeliveryRecord(id: WebhookId, event: EventId): void {
    this.#remove('deliveryRecords', [id, event])
  }

  appendAudit(record: AuditRecord): void {
    this.#put('audit', [record.userId, record.auditId], encodeAudit(record))
  }

  putAddressRules(user: UserId, rules: readonly AddressRule[]): void {
    this.#put('addressRules', user, rules)
  }

  putGasWallet(wallet: GasWallet): void {
    this.#put('gasWallets', wallet.gasWalletId, wallet)
  }

  putGasTransaction(transaction: GasTransaction): void {
    const { gasWalletId, tx } = transaction
    this.#put('gasTransactions', tx.txId, transaction)
    if (isFinal(tx.status)) this.#remove('openByGasWallet', [gasWalletId, tx.txId])
    else this.#put('openByGasWallet', [gasWalletId, tx.txId], PRESENT)
  }

  putSponsorship(sponsorship: Sponsorship): void {
    this.#put('sponsorships', [sponsorship.subWalletId, sponsorship.txId], sponsorship)
  }

  deleteSponsorship(wallet: SubWalletId, id: TxId): void {
    this.#remove('sponsorships', [wallet, id])
  }

  putAllowance(owner: Address, entry: AllowanceEntry): void {
    this.#put('allowances', [owner.toLowerCase(), allowanceKey(entry)], entry)
  }

  deleteAllowance(owner: Address, key: string): void {
    this.#remove('allowances', [owner.toLowerCase(), key])
  }

  putAllowanceLedger(owner: Address, mark: AllowanceLedgerMark): void {
    this.#put('allowanceLedgers', owner.toLowerCase(), mark)
  }

  putChainCursor(cursor: ChainCursor): void {
    this.#put('chainCursors', cursor.chainId, cursor)
  }

  /** Takes over what another batch collected. */
  absorb(other: WriteBatch): void {
    for (const write of other.#writes) this.#writes.push(write)
    for (const event of other.#events) this.#events.push(event)
    if (other.#deliveries === null) return
    for (const [id, state] of other.#deliveries) this.#setDeliveries(id, state)
  }

  #setDeliveries(id: WebhookId, state: unknown): void {
    this.#deliveries ??= new Map()
    this.#deliveries.set(id, state)
  }

  #put(space: KeySpace, key: StoreKey, value: unknown): void {
    this.#writes.push({ space, key, value })
  }

  #remove(space: KeySpace, key: StoreKey): void {
    this.#writes.push({ space, key, value: REMOVED })
  }

  /**
   * Writes everything in one LMDB transaction. Resolves when it is synced to disk.
   * @returns the stored events, each with its place in the log
   */
  async commit(
    { root, spaces, recordVersions }: Environment,
    sequence: EventSequence,
    pending: PendingPlaces,
  ): Promise<readonly StoredEvent[]> {
    const stored = this.#events.map((event) => placed(event, sequence.take()))
    const namedBefore = stored.filter((_, index) => this.#events[index]?.eventId !== null)
    const first = stored[0]?.seq ?? null
    if (first !== null) pending.add(first)
    try {
      // `batch` is atomic, and queued in call order behind earlier batches of this thread.
      await root.batch(() => {
        for (const { space, key, value } of this.#writes) {
          if (value === REMOVED) void spaces[space].remove(key)
          else void spaces[space].put(key, value)
        }
        for (const [id, state] of this.#deliveries ?? []) {
          if (state === REMOVED) void spaces.deliveries.remove(id)
          else void spaces.deliveries.put(id, state)
        }
        for (const { eventId, seq } of namedBefore) void spaces.eventsById.put(eventId, seq)
        for (const event of stored) {
          void spaces.userEvents.put([event.userId, event.seq], encodeEvent(event))
        }
        const last = stored.at(-1)
        if (last !== undefined) void spaces.meta.put(lastSeqKey(sequence.thread), last.seq)
      })
    } finally {
      // Before the events can be seen: whoever reads one then finds its transaction as it says.
      for (const { space, key } of this.#writes) {
        if (space === 'transactions') recordVersions.countUp(key as TxId)
        else if (space === 'webhooksByUser') recordVersions.countUp((key as [UserId, string])[0])
      }
      if (first !== null) {
        pending.delete(first)
        sequence.settled(pending.size === 0 ? null : Math.min(...pending))
      }
    }
    return stored
  }
}

function placed(event: NewEvent, seq: number): StoredEvent {
  const { eventId, userId, type, atMs, subWalletId, laneKey, data, moment } = event
  const named = eventId ?? eventIdAt(seq, atMs)
  // Two literals: a spread would give each event a hidden class of its own.
  return moment === undefined
    ? { eventId: named, userId, type, atMs, subWalletId, laneKey, data, seq }
    : { eventId: named, userId, type, atMs, subWalletId, laneKey, data, moment, seq }
}

/** First event places of this thread's commits under way. */
export type PendingPlaces = Set<number>
