import type { AddressRule } from '../domain/address-rule.js'
import { type AllowanceEntry, allowanceKey } from '../domain/allowance.js'
import type { ApiKey } from '../domain/api-key.js'
import type { AuditRecord } from '../domain/audit.js'
import type { NewEvent, StoredEvent } from '../domain/event.js'
import type { GrantChange } from '../domain/grant-change.js'
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
import {
  type GasTransaction,
  type GasWallet,
  isSponsored,
  type Sponsorship,
} from '../domain/sponsorship.js'
import { isFinal, type Transaction } from '../domain/transaction.js'
import type { SubWalletHeader } from '../domain/wallet.js'
import type { WebhookEndpoint } from '../domain/webhook.js'
import type { AllowedVerdict } from './allowed-entry.js'
import type { StoreKey } from './checked-space.js'
import { encodeAudit, encodeVerdict } from './encodings/audit.js'
import { encodeEvents } from './encodings/event.js'
import { PRESENT, packedRecord, type Unsealed } from './encodings/sealing.js'
import { encodeSubWallet, encodeSubWalletMarks } from './encodings/sub-wallet.js'
import { encodeTransaction, encodeTransactionState } from './encodings/transaction.js'
import type { Environment } from './environment.js'
import { eventIdAt } from './event-id.js'
import { lastSeqKey } from './event-log.js'
import type { EventSequence } from './event-sequence.js'
import { type KeySpace, LISTED } from './key-spaces.js'
import type { KnownBodies } from './known-bodies.js'
import type { AllowanceLedgerMark, IdempotencyRecord } from './records.js'
import { putOf, REMOVED, type Row, removalOf } from './rows.js'
import { settledBelow, settlementsOf } from './settlements.js'

/**
 * Collects the writes of one batch of commands. Nothing is visible before `commit`, and then all
 * of it is, or nothing. Values must not be changed after they were handed in.
 */
export interface Transactor {
  /** A new one: lists it as its user's besides storing it. */
  addSubWallet(header: SubWalletHeader): void
  /** Of one that was added, which itself never changes. */
  putSubWalletMarks(header: SubWalletHeader): void
  putApiKey(key: ApiKey): void
  /** Takes the place of an earlier one of the same key. */
  putGrantChange(wallet: SubWalletId, change: GrantChange): void
  deleteGrantChange(wallet: SubWalletId, id: KeyId): void
  putKeyUse(id: KeyId, usedAtMs: number): void
  putSharePrices(vaultKey: string, samples: readonly SharePriceSample[]): void
  /**
   * A new one: lists it as its user's besides storing it.
   * @param allowed the audit trail shows it with the transaction; null where an entry of its own does
   */
  addTransaction(tx: Transaction, allowed: AllowedVerdict | null): void
  putTransaction(tx: Transaction): void
  /**
   * Lets a start find an open transaction, or with null a wallet whose record lists some.
   * The header's list comes cheaper, since a header is written anyway, but must stay short.
   */
  markOpen(wallet: SubWalletId, id: TxId | null): void
  unmarkOpen(wallet: SubWalletId, id: TxId | null): void
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
  /** What ended in blocks of the chain below that height need not be found at a start. */
  removeSettlements(chainId: number, below: number): void
  readonly empty: boolean
}

interface TransactionWrite {
  readonly tx: Transaction
  /** The store has no record of it. */
  readonly added: boolean
}

/** Some kilobytes: more would be read for one event, fewer cost a record more often. */
const EVENTS_PER_RECORD_MAX = 64

export class WriteBatch implements Transactor {
  readonly #writes: Row[] = []
  /** Stored whole at each change, often many times in a batch: only the last is written. */
  #deliveries: Map<WebhookId, unknown> | null = null
  /** The same. */
  #marks: Map<SubWalletId, SubWalletHeader> | null = null
  readonly #transactions: TransactionWrite[] = []
  readonly #events: NewEvent[] = []
  /** Transactions that are final and mined. */
  readonly #ended: Transaction[] = []
  /** By chain, the height below which they need not be found any more. */
  #settledBelow: Map<number, number> | null = null

  get empty(): boolean {
    if (this.#writes.length > 0 || this.#events.length > 0) return false
    return (
      this.#transactions.length === 0 &&
      this.#marks === null &&
      this.#deliveries === null &&
      this.#settledBelow === null
    )
  }

  addSubWallet(header: SubWalletHeader): void {
    const { subWalletId, userId } = header.wallet
    this.#put('subWallets', subWalletId, encodeSubWallet(header))
    this.#put('walletsByUser', [userId, subWalletId], PRESENT)
    this.putSubWalletMarks(header)
  }

  putSubWalletMarks(header: SubWalletHeader): void {
    this.#marks ??= new Map()
    this.#marks.set(header.wallet.subWalletId, header)
  }

  putApiKey(key: ApiKey): void {
    this.#put('apiKeys', key.keyId, packedRecord(key))
    this.#put('keysByHash', key.secretHash, packedRecord(key.keyId))
    this.#put('keysByWallet', [key.subWalletId, key.keyId], PRESENT)
    this.#put('keysByUser', [key.userId, key.keyId], PRESENT)
  }

  putGrantChange(wallet: SubWalletId, change: GrantChange): void {
    this.#put('grantChanges', [wallet, change.keyId], packedRecord(change))
  }

  deleteGrantChange(wallet: SubWalletId, id: KeyId): void {
    this.#remove('grantChanges', [wallet, id])
  }

  putKeyUse(id: KeyId, usedAtMs: number): void {
    this.#put('keyUse', id, packedRecord(usedAtMs))
  }

  putSharePrices(vaultKey: string, samples: readonly SharePriceSample[]): void {
    this.#put('sharePrices', vaultKey, packedRecord(samples))
  }

  addTransaction(tx: Transaction, allowed: AllowedVerdict | null): void {
    this.#transactions.push({ tx, added: true })
    const entry = allowed === null ? PRESENT : encodeVerdict(allowed)
    this.#put('transactionsByUser', [tx.userId, tx.txId], entry)
  }

  putTransaction(tx: Transaction): void {
    this.#transactions.push({ tx, added: false })
    // A sponsored call is on chain as its gas wallet's transaction, and ends as that.
    if (!isSponsored(tx.kind)) this.#noteEnd(tx)
  }

  markOpen(wallet: SubWalletId, id: TxId | null): void {
    this.#put('openByWallet', [wallet, id ?? LISTED], PRESENT)
  }

  unmarkOpen(wallet: SubWalletId, id: TxId | null): void {
    this.#remove('openByWallet', [wallet, id ?? LISTED])
  }

  putIdempotency(lineage: LineageId, key: string, record: IdempotencyRecord): void {
    this.#put('idempotency', [lineage, key], packedRecord(record))
  }

  deleteIdempotency(lineage: LineageId, key: string): void {
    this.#remove('idempotency', [lineage, key])
  }

  appendEvent(event: NewEvent): void {
    this.#events.push(event)
  }

  putWebhook(endpoint: WebhookEndpoint): void {
    this.#put('webhooks', endpoint.webhookId, packedRecord(endpoint))
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
    this.#put('deliveryRecords', [id, event], packedRecord(record))
  }

  deleteDeliveryRecord(id: WebhookId, event: EventId): void {
    this.#remove('deliveryRecords', [id, event])
  }

  appendAudit(record: AuditRecord): void {
    this.#put('audit', [record.userId, record.auditId], encodeAudit(record))
  }

  putAddressRules(user: UserId, rules: readonly AddressRule[]): void {
    this.#put('addressRules', user, packedRecord(rules))
  }

  putGasWallet(wallet: GasWallet): void {
    this.#put('gasWallets', wallet.gasWalletId, packedRecord(wallet))
  }

  putGasTransaction(transaction: GasTransaction): void {
    const { gasWalletId, tx } = transaction
    this.#put('gasTransactions', tx.txId, packedRecord(transaction))
    if (isFinal(tx.status)) this.#remove('openByGasWallet', [gasWalletId, tx.txId])
    else this.#put('openByGasWallet', [gasWalletId, tx.txId], PRESENT)
    this.#noteEnd(tx)
  }

  putSponsorship(sponsorship: Sponsorship): void {
    this.#put(
      'sponsorships',
      [sponsorship.subWalletId, sponsorship.txId],
      packedRecord(sponsorship),
    )
  }

  deleteSponsorship(wallet: SubWalletId, id: TxId): void {
    this.#remove('sponsorships', [wallet, id])
  }

  putAllowance(owner: Address, entry: AllowanceEntry): void {
    this.#put('allowances', [owner.toLowerCase(), allowanceKey(entry)], packedRecord(entry))
  }

  deleteAllowance(owner: Address, key: string): void {
    this.#remove('allowances', [owner.toLowerCase(), key])
  }

  putAllowanceLedger(owner: Address, mark: AllowanceLedgerMark): void {
    this.#put('allowanceLedgers', owner.toLowerCase(), packedRecord(mark))
  }

  removeSettlements(chainId: number, below: number): void {
    this.#settledBelow ??= new Map()
    this.#settledBelow.set(chainId, below)
  }

  /** Takes over what another batch collected. */
  absorb(other: WriteBatch): void {
    for (const write of other.#writes) this.#writes.push(write)
    for (const event of other.#events) this.#events.push(event)
    for (const header of other.#marks?.values() ?? []) this.putSubWalletMarks(header)
    for (const write of other.#transactions) this.#transactions.push(write)
    for (const tx of other.#ended) this.#ended.push(tx)
    for (const [chainId, below] of other.#settledBelow ?? []) this.removeSettlements(chainId, below)
    for (const [id, state] of other.#deliveries ?? []) this.#setDeliveries(id, state)
  }

  #noteEnd(tx: Transaction): void {
    if (tx.mined !== null && isFinal(tx.status)) this.#ended.push(tx)
  }

  #setDeliveries(id: WebhookId, state: unknown): void {
    this.#deliveries ??= new Map()
    this.#deliveries.set(id, state)
  }

  #put(space: KeySpace, key: StoreKey, value: Unsealed): void {
    this.#writes.push(putOf(space, key, value))
  }

  #remove(space: KeySpace, key: StoreKey): void {
    this.#writes.push(removalOf(space, key))
  }

  /**
   * Writes everything in one LMDB transaction. Resolves when it is synced to disk. LMDB takes each
   * put as it is made, and takes none back: so all that can fail is done before the first.
   * @returns the stored events, each with its place in the log
   */
  async commit(
    { root, spaces, recordVersions, knownBodies }: Environment,
    sequence: EventSequence,
    pending: PendingPlaces,
  ): Promise<readonly StoredEvent[]> {
    const count = this.#events.length
    let first: number | null = null
    let isQueued = false
    try {
      const rows = this.#writes
      this.#addStates(rows, knownBodies)
      this.#addSettlements(rows, spaces.settlements)
      first = count === 0 ? null : sequence.take(count)
      if (first !== null) pending.add(first)
      const stored = this.#addEvents(rows, first ?? 0, sequence)
      // `batch` is atomic, and queued in call order behind earlier batches of this thread.
      isQueued = true
      await root.batch(() => {
        for (const { space, key, value } of rows) {
          if (value === REMOVED) void spaces[space].remove(key)
          else void spaces[space].put(key, value)
        }
      })
      return stored
    } catch (error) {
      knownBodies.forgetAll()
      if (first !== null && !isQueued) sequence.giveBack(first, count)
      throw error
    } finally {
      // Before the events can be seen: whoever reads one then finds its transaction as it says.
      for (const { space, key } of this.#writes) {
        if (space === 'webhooksByUser') recordVersions.countUp((key as [UserId, string])[0])
      }
      for (const { tx } of this.#transactions) recordVersions.countUp(tx.txId)
      if (first !== null) {
        pending.delete(first)
        sequence.settled(pending.size === 0 ? null : Math.min(...pending))
      }
    }
  }

  /** What is put once a commit, however often it changed. */
  #addStates(rows: Row[], knownBodies: KnownBodies): void {
    for (const [id, header] of this.#marks ?? []) {
      rows.push(putOf('subWalletMarks', id, encodeSubWalletMarks(header)))
    }
    for (const { tx, added } of this.#transactions) {
      const known = knownBodies.note(tx)
      if (!known) rows.push(putOf('transactions', tx.txId, encodeTransaction(tx)))
      // Even of one put whole: an earlier state would be taken for the latest.
      if (!added) rows.push(putOf('transactionStates', tx.txId, encodeTransactionState(tx)))
    }
    for (const [id, state] of this.#deliveries ?? []) {
      rows.push(
        state === REMOVED
          ? removalOf('deliveries', id)
          : putOf('deliveries', id, packedRecord(state)),
      )
    }
  }

  #addSettlements(rows: Row[], settlements: Environment['spaces']['settlements']): void {
    for (const row of settlementsOf(this.#ended)) rows.push(row)
    for (const [chainId, below] of this.#settledBelow ?? []) {
      for (const row of settledBelow(settlements, chainId, below)) rows.push(row)
    }
  }

  /** @param first place of the first of them */
  #addEvents(rows: Row[], first: number, { thread }: EventSequence): readonly StoredEvent[] {
    const stored = this.#events.map((event, index) => placed(event, first + index))
    for (const [index, { eventId, seq }] of stored.entries()) {
      const isNamed = this.#events[index]?.eventId !== null
      if (isNamed) rows.push(putOf('eventsById', eventId, packedRecord(seq)))
    }
    for (const block of blocksOf(stored)) {
      const { userId, seq } = block.at(-1) as StoredEvent
      rows.push(putOf('userEvents', [userId, seq], encodeEvents(block)))
    }
    const last = stored.at(-1)
    if (last !== undefined) rows.push(putOf('meta', lastSeqKey(thread), packedRecord(last.seq)))
    return stored
  }
}

/** In order of their places, so that no two blocks of a user overlap. */
function blocksOf(events: readonly StoredEvent[]): StoredEvent[][] {
  const blocks: StoredEvent[][] = []
  const unfilled = new Map<UserId, StoredEvent[]>()
  for (const event of events) {
    const block = unfilled.get(event.userId)
    if (block !== undefined && block.length < EVENTS_PER_RECORD_MAX) block.push(event)
    else {
      const next = [event]
      unfilled.set(event.userId, next)
      blocks.push(next)
    }
  }
  return blocks
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
