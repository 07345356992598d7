import { soundly } from './checked-space.js'
import type { Environment } from './environment.js'
import { type AllowanceReader, createAllowanceReader } from './readers/allowances.js'
import { type ApprovalReader, createApprovalReader } from './readers/approvals.js'
import { type AuditReader, createAuditReader } from './readers/audit.js'
import { createEventReader, type EventReader } from './readers/events.js'
import { createFreezeReader, type FreezeReader } from './readers/freezes.js'
import { createGasReader, type GasReader } from './readers/gas.js'
import { createIdempotencyReader, type IdempotencyReader } from './readers/idempotency.js'
import {
  createGrantReader,
  createKeyReader,
  type GrantReader,
  type KeyReader,
} from './readers/keys.js'
import { createMarketReader, type MarketReader } from './readers/markets.js'
import { createSealedShareReader, type SealedShareReader } from './readers/sealed-shares.js'
import { createSpentDaysReader, type SpentDaysReader } from './readers/spent-days.js'
import { createTransactionReader, type TransactionReader } from './readers/transactions.js'
import { createUserBreakersReader, type UserBreakersReader } from './readers/user-breakers.js'
import { createUserReader, type UserReader } from './readers/users.js'
import { createWalletReader, type WalletReader } from './readers/wallets.js'
import {
  createDeliveryReader,
  createWebhookReader,
  type DeliveryReader,
  type WebhookReader,
} from './readers/webhooks.js'

/** Reads the store; it cannot write. All reads are synchronous. */
export interface Reader {
  /**
   * Returns the same reader, which sees every commit made so far. Reads in one tick share a
   * snapshot, which this call drops.
   */
  fresh(): Reader
  /**
   * Runs a read and returns undefined if it finds a damaged record. For callers that go through the
   * records of many users.
   */
  ifSound<T>(read: () => T): T | undefined
  readonly wallets: WalletReader
  readonly keys: KeyReader
  readonly grants: GrantReader
  readonly freezes: FreezeReader
  readonly userBreakers: UserBreakersReader
  readonly users: UserReader
  readonly spentDays: SpentDaysReader
  readonly transactions: TransactionReader
  readonly idempotency: IdempotencyReader
  readonly events: EventReader
  readonly audit: AuditReader
  readonly webhooks: WebhookReader
  readonly deliveries: DeliveryReader
  readonly gas: GasReader
  readonly allowances: AllowanceReader
  readonly approvals: ApprovalReader
  readonly markets: MarketReader
  readonly sealedShares: SealedShareReader
}

export function createReader(environment: Environment): Reader {
  const { root, noteDamage } = environment
  const wallets = createWalletReader(environment)
  const transactions = createTransactionReader(environment, wallets)
  const reader: Reader = {
    fresh() {
      root.resetReadTxn()
      return reader
    },
    ifSound: soundly(noteDamage),
    wallets,
    keys: createKeyReader(environment),
    grants: createGrantReader(environment),
    freezes: createFreezeReader(environment),
    userBreakers: createUserBreakersReader(environment),
    users: createUserReader(environment),
    spentDays: createSpentDaysReader(environment),
    transactions,
    idempotency: createIdempotencyReader(environment),
    events: createEventReader(environment),
    audit: createAuditReader(environment, transactions),
    webhooks: createWebhookReader(environment),
    deliveries: createDeliveryReader(environment),
    gas: createGasReader(environment),
    allowances: createAllowanceReader(environment),
    approvals: createApprovalReader(environment),
    markets: createMarketReader(environment),
    sealedShares: createSealedShareReader(environment),
  }
  return reader
}
