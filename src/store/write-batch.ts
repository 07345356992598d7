import type { AddressRule } from '../domain/address-rule.js'
import { type AllowanceEntry, type AllowanceLedgerMark, allowanceKey } from '../domain/allowance.js'
import type { ApiKey } from '../domain/api-key.js'
import type { Approval } from '../domain/approval.js'
import type { NewAuditRecord } from '../domain/audit.js'
import type { NewEvent } from '../domain/event.js'
import type { Freeze } from '../domain/freeze.js'
import type { GrantChange } from '../domain/grant-change.js'
import type { IdempotencyRecord } from '../domain/idempotency.js'
import {
  type Address,
  type ApprovalId,
  type AuditId,
  type EventId,
  ID_PREFIX,
  type KeyId,
  type LineageId,
  type SubWalletId,
  type TxId,
  type UserId,
  type WebhookId,
} from '../domain/ids.js'
import type { SharePriceSample } from '../domain/share-price.js'
import type { SpentDay } from '../domain/spent-days.js'
import {
  type GasTransaction,
  type GasWallet,
  isSponsored,
  type Sponsorship,
} from '../domain/sponsorship.js'
import { type AccountTransaction, isFinal, type Transaction } from '../domain/transaction.js'
import type { SubWalletHeader } from '../domain/wallet.js'
import type { WebhookEndpoint } from '../domain/webhook.js'
import type { PolicyLedger } from '../policy/policy-ledger.js'
import type { AllowedVerdict } from './allowed-entry.js'
import type { StoreKey } from './checked-space.js'
import { encodeAudit, encodeVerdict } from './encodings/audit.js'
import { PRESENT, packedRecord, type Unsealed } from './encodings/sealing.js'
import { encodeSpentDays } from './encodings/spent-days.js'
import { encodeSubWallet, encodeSubWalletMarks } from './encodings/sub-wallet.js'
import { encodeTransaction, encodeTransactionState } from './encodings/transaction.js'
import type { Environment } from './environment.js'
import { addEvents, type PlacedEvents } from './event-rows.js'
import { type KeySpace, LISTED } from './key-spaces.js'
import { type DrawEntropy, drawEntropy, idAt } from './new-id.js'
import { addLedger, removeLedger } from './policy-ledger-rows.js'
import { INSTANCE_FREEZE } from './readers/freezes.js'
import type { UserBreakersRecord } from './readers/user-breakers.js'
import { putOf, type Row, removalOf } from './rows.js'
import { givenUpRow, settledBelow, settlementsOf } from './settlements.js'
import type { Writer } from './writer.js'
import type { WrittenBodies } from './written-bodies.js'

interface TransactionWrite {
  readonly tx: Transaction
  /** Whether the store has no record of it. */
  readonly added: boolean
}

/** Replaces the state of an endpoint's deliveries once the endpoint is removed. */
const GONE = Symbol('gone')

/** What turns a batch into rows, besides what was handed in. */
interface BatchContext {
  /** What the store already has of open transactions. */
  readonly writtenBodies: WrittenBodies
  readonly spaces: Pick<Environment['spaces'], 'settlements'>
}

/** Collects writes until `Commits` stores them. */
export class WriteBatch implements Writer {
  #writes: Row[] = []
  /**
   * The state is stored whole at each change, often many times in a batch, so only the last is
   * written.
   */
  #deliveries: Map<WebhookId, unknown> | null = null
  /** The last marks of each sub-wallet, for the same reason. */
  #marks: Map<SubWalletId, SubWalletHeader> | null = null
  readonly #transactions: TransactionWrite[] = []
  readonly #events: NewEvent[] = []
  /** Entries get their ids when they are committed. */
  #audit: NewAuditRecord[] | null = null
  /** Transactions that are final and mined. */
  readonly #ended: AccountTransaction[] = []
  /** By chain, the height below which transactions need not be found at a start. */
  #settledBelow: Map<number, number> | null = null
  /** Ids whose versions are raised besides those of marks and transactions. */
  #changed: Set<UserId | SubWalletId> | null = null

  get empty(): boolean {
    if (this.#writes.length > 0 || this.#events.length > 0) return false
    return (
      this.#transactions.length === 0 &&
      this.#marks === null &&
      this.#audit === null &&
      this.#deliveries === null &&
      this.#settledBelow === null
    )
  }

  addSubWallet(header: SubWalletHeader): void {
    const { subWalletId, userId } = header.wallet
    this.#put('subWallets', subWalletId, encodeSubWallet(header))
    this.#put('walletsByUser', [userId, subWalletId], PRESENT)
    this.putSubWalletMarks(header)
    this.#noteChange(userId)
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
    this.#noteChange(key.subWalletId)
  }

  putGrantChange(wallet: SubWalletId, change: GrantChange): void {
    this.#put('grantChanges', [wallet, change.keyId], packedRecord(change))
  }

  deleteGrantChange(wallet: SubWalletId, id: KeyId): void {
    this.#remove('grantChanges', [wallet, id])
  }

  putFreeze(freeze: Freeze): void {
    this.#put('freezes', [freeze.userId, freeze.name], packedRecord(freeze))
  }

  deleteFreeze(user: UserId, name: string): void {
    this.#remove('freezes', [user, name])
  }

  putUserBreakers(record: UserBreakersRecord): void {
    this.#put('userBreakers', record.userId, packedRecord(record))
  }

  deleteUserBreakers(user: UserId): void {
    this.#remove('userBreakers', user)
  }

  putApproval(approval: Approval): void {
    this.#put('approvals', [approval.userId, approval.approvalId], packedRecord(approval))
  }

  markWaiting(wallet: SubWalletId, id: ApprovalId): void {
    this.#put('waitingCalls', [wallet, id], PRESENT)
  }

  unmarkWaiting(wallet: SubWalletId, id: ApprovalId): void {
    this.#remove('waitingCalls', [wallet, id])
  }

  putPolicyLedger(
    wallet: SubWalletId,
    lineage: LineageId,
    ledger: PolicyLedger,
    before: PolicyLedger,
  ): void {
    addLedger(this.#writes, [wallet, lineage], ledger, before)
  }

  deletePolicyLedger(wallet: SubWalletId, lineage: LineageId, before: PolicyLedger): void {
    removeLedger(this.#writes, [wallet, lineage], before)
  }

  putSpentDays(wallet: SubWalletId, lineage: LineageId, days: readonly SpentDay[]): void {
    this.#put('spentDays', [wallet, lineage], encodeSpentDays(days))
    this.#noteChange(wallet)
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

  noteUnindexed(user: UserId, id: TxId): void {
    this.#put('unindexedByUser', [user, id], PRESENT)
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
    this.#noteChange(endpoint.userId)
  }

  deleteWebhook(id: WebhookId, user: UserId): void {
    this.#remove('webhooks', id)
    this.#remove('webhooksByUser', [user, id])
    this.#noteChange(user)
    this.#setDeliveries(id, GONE)
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

  appendAudit(record: NewAuditRecord): void {
    this.#audit ??= []
    this.#audit.push(record)
  }

  putAddressRules(user: UserId, rules: readonly AddressRule[]): void {
    this.#put('addressRules', user, packedRecord(rules))
  }

  putGasWallet(wallet: GasWallet): void {
    this.#put('gasWallets', wallet.gasWalletId, packedRecord(wallet))
  }

  /** @param wallet 32 hex digits @param record of which every secret is sealed */
  putSealedShare(wallet: string, record: unknown): void {
    this.#put('sealedShares', wallet, packedRecord(record))
  }

  /** Sets the operator's freeze of the whole service; it replaces an earlier one. */
  putInstanceFreeze(sinceMs: number, reason: string | null): void {
    this.#put('meta', INSTANCE_FREEZE, packedRecord({ sinceMs, reason }))
  }

  deleteInstanceFreeze(): void {
    this.#remove('meta', INSTANCE_FREEZE)
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

  noteGivenUp(tx: AccountTransaction, height: number): void {
    this.#writes.push(givenUpRow(tx, height))
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
    for (const record of other.#audit ?? []) this.appendAudit(record)
    for (const write of other.#transactions) this.#transactions.push(write)
    for (const tx of other.#ended) this.#ended.push(tx)
    for (const [chainId, below] of other.#settledBelow ?? []) this.removeSettlements(chainId, below)
    for (const [id, state] of other.#deliveries ?? []) this.#setDeliveries(id, state)
    for (const id of other.#changed ?? []) this.#noteChange(id)
  }

  /** Events have no place in the log yet; the commit assigns it. */
  get events(): readonly NewEvent[] {
    return this.#events
  }

  /**
   * Returns everything that was collected, once. All that can fail fails here, so that the rows are
   * then written either all or not at all.
   * @param placed the batch's `events` with their places
   * @param draw draws the random part of new ids
   */
  rows(
    { writtenBodies, spaces }: BatchContext,
    placed: PlacedEvents,
    draw: DrawEntropy = drawEntropy,
  ): Row[] {
    const rows = this.#writes
    this.#writes = []
    this.#addStates(rows, writtenBodies)
    for (const entry of this.#audit ?? []) {
      const { userId, auditId, atMs } = entry
      const named = auditId ?? idAt<AuditId>(ID_PREFIX.audit, atMs, draw)
      rows.push(putOf('audit', [userId, named], encodeAudit({ ...entry, auditId: named })))
    }
    for (const row of settlementsOf(this.#ended)) rows.push(row)
    for (const [chainId, below] of this.#settledBelow ?? []) {
      for (const row of settledBelow(spaces.settlements, chainId, below)) rows.push(row)
    }
    addEvents(rows, this.#events, placed)
    return rows
  }

  /** Raises the versions under which readers cache, once the rows are in the store. */
  countUp(versions: Environment['recordVersions']): void {
    for (const id of this.#changed ?? []) versions.countUp(id)
    for (const id of this.#marks?.keys() ?? []) versions.countUp(id)
    for (const { tx } of this.#transactions) versions.countUp(tx.txId)
  }

  #noteEnd(tx: AccountTransaction): void {
    if (tx.mined !== null && isFinal(tx.status)) this.#ended.push(tx)
  }

  #noteChange(id: UserId | SubWalletId): void {
    this.#changed ??= new Set()
    this.#changed.add(id)
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

  /** Adds what is written once for each batch, however often it changed. */
  #addStates(rows: Row[], writtenBodies: WrittenBodies): void {
    for (const [id, header] of this.#marks ?? []) {
      rows.push(putOf('subWalletMarks', id, encodeSubWalletMarks(header)))
    }
    for (const { tx, added } of this.#transactions) {
      const known = writtenBodies.note(tx)
      if (!known) rows.push(putOf('transactions', tx.txId, encodeTransaction(tx)))
      // A transaction written whole needs its state too, or an earlier state would be taken for the
      // latest.
      if (!added) rows.push(putOf('transactionStates', tx.txId, encodeTransactionState(tx)))
    }
    for (const [id, state] of this.#deliveries ?? []) {
      rows.push(
        state === GONE ? removalOf('deliveries', id) : putOf('deliveries', id, packedRecord(state)),
      )
    }
  }
}
