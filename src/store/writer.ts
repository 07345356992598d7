import type { AddressRule } from '../domain/address-rule.js'
import type { AllowanceEntry, AllowanceLedgerMark } from '../domain/allowance.js'
import type { ApiKey } from '../domain/api-key.js'
import type { Approval } from '../domain/approval.js'
import type { NewAuditRecord } from '../domain/audit.js'
import type { NewEvent } from '../domain/event.js'
import type { Freeze } from '../domain/freeze.js'
import type { GrantChange } from '../domain/grant-change.js'
import type { IdempotencyRecord } from '../domain/idempotency.js'
import type {
  Address,
  ApprovalId,
  EventId,
  KeyId,
  LineageId,
  SubWalletId,
  TxId,
  UserId,
  WebhookId,
} from '../domain/ids.js'
import type { SharePriceSample } from '../domain/share-price.js'
import type { SpentDay } from '../domain/spent-days.js'
import type { GasTransaction, GasWallet, Sponsorship } from '../domain/sponsorship.js'
import type { Transaction } from '../domain/transaction.js'
import type { SubWalletHeader } from '../domain/wallet.js'
import type { WebhookEndpoint } from '../domain/webhook.js'
import type { PolicyLedger } from '../policy/policy-ledger.js'
import type { AllowedVerdict } from './allowed-entry.js'
import type { UserBreakersRecord } from './readers/user-breakers.js'

/**
 * Collects the writes of one batch of commands. Nothing is visible before it is committed, and then
 * all of it is, or nothing. Values must not be changed after they were handed in.
 */
export interface Writer {
  /** A new one: lists it as its user's besides storing it. */
  addSubWallet(header: SubWalletHeader): void
  /** Of one that was added, which itself never changes. */
  putSubWalletMarks(header: SubWalletHeader): void
  putApiKey(key: ApiKey): void
  /** Takes the place of an earlier one of the same key. */
  putGrantChange(wallet: SubWalletId, change: GrantChange): void
  deleteGrantChange(wallet: SubWalletId, id: KeyId): void
  /** Takes the place of an earlier one of the same name. */
  putFreeze(freeze: Freeze): void
  deleteFreeze(user: UserId, name: string): void
  putUserBreakers(record: UserBreakersRecord): void
  deleteUserBreakers(user: UserId): void
  /** Takes the place of an earlier one of the same name. */
  putApproval(approval: Approval): void
  /** Lets a start find a call that waits. */
  markWaiting(wallet: SubWalletId, id: ApprovalId): void
  unmarkWaiting(wallet: SubWalletId, id: ApprovalId): void
  /**
   * @param before as it was put, or read, last: sliding times that both have are in the store already
   */
  putPolicyLedger(
    wallet: SubWalletId,
    lineage: LineageId,
    ledger: PolicyLedger,
    before: PolicyLedger,
  ): void
  deletePolicyLedger(wallet: SubWalletId, lineage: LineageId, before: PolicyLedger): void
  /** Takes the place of what was put of the lineage before. */
  putSpentDays(wallet: SubWalletId, lineage: LineageId, days: readonly SpentDay[]): void
  putKeyUse(id: KeyId, usedAtMs: number): void
  putSharePrices(vaultKey: string, samples: readonly SharePriceSample[]): void
  /**
   * A new one: lists it as its user's besides storing it.
   * @param allowed the audit trail shows it with the transaction; null where an entry of its own does
   */
  addTransaction(tx: Transaction, allowed: AllowedVerdict | null): void
  putTransaction(tx: Transaction): void
  /** The index does not tell all of it: a reorg took back how it had ended, or it came too late. */
  noteUnindexed(user: UserId, id: TxId): void
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
  appendAudit(record: NewAuditRecord): void
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
