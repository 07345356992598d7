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
import type { AccountTransaction, Transaction } from '../domain/transaction.js'
import type { SubWalletHeader } from '../domain/wallet.js'
import type { WebhookEndpoint } from '../domain/webhook.js'
import type { PolicyLedger } from '../policy/policy-ledger.js'
import type { AllowedVerdict } from './allowed-entry.js'
import type { UserBreakersRecord } from './readers/user-breakers.js'

/**
 * Collects the writes of one batch of commands. Nothing is visible before the commit; then
 * everything is, or nothing. Values must not change after they were handed in.
 */
export interface Writer {
  /** Adds a new sub-wallet and lists it under its user. */
  addSubWallet(header: SubWalletHeader): void
  /** Replaces the marks of a sub-wallet, which itself never changes. */
  putSubWalletMarks(header: SubWalletHeader): void
  putApiKey(key: ApiKey): void
  /** Replaces an earlier change of the same key. */
  putGrantChange(wallet: SubWalletId, change: GrantChange): void
  deleteGrantChange(wallet: SubWalletId, id: KeyId): void
  /** Replaces an earlier freeze of the same name. */
  putFreeze(freeze: Freeze): void
  deleteFreeze(user: UserId, name: string): void
  putUserBreakers(record: UserBreakersRecord): void
  deleteUserBreakers(user: UserId): void
  /** Replaces an earlier approval with the same id. */
  putApproval(approval: Approval): void
  /** Lets a start find a call that waits. */
  markWaiting(wallet: SubWalletId, id: ApprovalId): void
  unmarkWaiting(wallet: SubWalletId, id: ApprovalId): void
  /**
   * @param before as it was last written or read; windows that both have are already in the store
   */
  putPolicyLedger(
    wallet: SubWalletId,
    lineage: LineageId,
    ledger: PolicyLedger,
    before: PolicyLedger,
  ): void
  deletePolicyLedger(wallet: SubWalletId, lineage: LineageId, before: PolicyLedger): void
  /** Replaces the lineage's earlier record. */
  putSpentDays(wallet: SubWalletId, lineage: LineageId, days: readonly SpentDay[]): void
  putKeyUse(id: KeyId, usedAtMs: number): void
  putSharePrices(vaultKey: string, samples: readonly SharePriceSample[]): void
  /**
   * Adds a new transaction and lists it under its user.
   * @param allowed stored with the transaction; null if the audit trail has a separate entry
   */
  addTransaction(tx: Transaction, allowed: AllowedVerdict | null): void
  putTransaction(tx: Transaction): void
  /** Marks a transaction as not fully indexed: a reorg undid its outcome, or it came too late. */
  noteUnindexed(user: UserId, id: TxId): void
  /**
   * Lets a start find an open transaction, or with null a wallet whose record lists some. The
   * header's list is cheaper, because a header is written anyway, but it must stay short.
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
  /** Replaces an entry with the same key. */
  putAllowance(owner: Address, entry: AllowanceEntry): void
  deleteAllowance(owner: Address, key: string): void
  putAllowanceLedger(owner: Address, mark: AllowanceLedgerMark): void
  /** Keeps it on watch from that height on, after a start too. */
  noteGivenUp(tx: AccountTransaction, height: number): void
  /**
   * Transactions that ended in blocks of the chain below that height need not be found at a start.
   */
  removeSettlements(chainId: number, below: number): void
  readonly empty: boolean
}
