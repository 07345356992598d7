/**
 * The key spaces of the service's LMDB environment. A number is given once and never used
 * again: a reader of an old backup must not take one thing for another.
 *
 * | space | key | value |
 * |---|---|---|
 * | meta | name | schema version; of each partition of users the last place in the event log it filled; how far the journal is applied; the operator's freeze of the service, where there is a journal |
 * | subWallets | sub-wallet id | SubWallet |
 * | walletsByUser | [user id, sub-wallet id] | 1 |
 * | apiKeys | key id | ApiKey |
 * | keysByHash | hex SHA-256 of the secret | key id |
 * | keysByWallet | [sub-wallet id, key id] | 1 |
 * | keysByUser | [user id, key id] | 1 |
 * | transactions | tx id | Transaction, as it stood when it was put |
 * | openByWallet | [sub-wallet id, tx id] | 1; with `LISTED` for a tx id, the sub-wallet's record lists some |
 * | transactionsByUser | [user id, tx id] | AllowedVerdict; 1 where there is none |
 * | idempotency | [lineage id, key] | IdempotencyRecord |
 * | webhooks | webhook id | WebhookEndpoint |
 * | webhooksByUser | [user id, webhook id] | 1 |
 * | deliveries | webhook id | state of the endpoint's deliveries |
 * | keyUse | key id | milliseconds of the last use, to the minute |
 * | eventsById | event id | seq; only of ids that do not hold it (event-id.ts) |
 * | deliveryRecords | [webhook id, event id] | DeliveryRecord of the endpoint's actor |
 * | audit | [user id, audit id] | AuditRecord of what is no verdict on a transaction |
 * | addressRules | user id | AddressRule[] |
 * | gasWallets | gas wallet id | GasWallet |
 * | gasTransactions | tx id | GasTransaction |
 * | openByGasWallet | [gas wallet id, tx id] | 1 |
 * | sponsorships | [sub-wallet id, tx id] | Sponsorship, while its intent could be executed |
 * | allowances | [lower-case wallet address, allowance key] | AllowanceEntry |
 * | allowanceLedgers | lower-case wallet address | AllowanceLedgerMark |
 * | sharePrices | chain id and vault | SharePriceSample[] of a day |
 * | userEvents | [user id, last seq] | up to 64 StoredEvent of one commit |
 * | transactionStates | tx id | the state of the transaction since, if it changed |
 * | subWalletMarks | sub-wallet id | what the sub-wallet's header holds besides it |
 * | grantChanges | [sub-wallet id, key id] | GrantChange that the identity provider has not acknowledged |
 * | settlements | [chain id, block number, block hash, tx id, ms] | ids of transactions that one commit ended in that block |
 * | policyLedgers | [sub-wallet id, lineage id] | PolicyLedger but for its sliding times: what went before, as far as policies ask |
 * | policyWindows | [sub-wallet id, lineage id, seconds] | Slide: one of the ledger's sliding times |
 * | retained | [user id, what] | where what is kept of theirs begins: after `events` (seq) and `verdicts` (tx id) |
 * | freezes | [user id, name] | Freeze in force |
 * | approvals | [user id, approval id] | Approval |
 * | waitingCalls | [sub-wallet id, approval id] | 1, while its call waits |
 * | transactionSegments | [user id, part, first tx id] | a part of the index of transactions that follow one another (transaction-index/segment.ts) |
 * | unindexedByUser | [user id, tx id] | 1; a reorg took back how it had ended, or it was committed late |
 * | userBreakers | user id | what freezes the user by itself, and what that has counted of signed calls |
 * | spentDays | [sub-wallet id, lineage id] | SpentDay[]: what the lineage spent on days before the one that its counters are in |
 * | keysByName | [user id, how a word of the name begins, key id] | 1 |
 * | walletsByName | [user id, how a word of the name begins, sub-wallet id] | 1 |
 * | sealedShares | wallet id, 32 hex digits | what the service has of the wallet's key, its share sealed; where there is a journal |
 */
export const KEY_SPACES = {
  meta: '01-meta',
  subWallets: '02-sub-wallets',
  walletsByUser: '03-wallets-by-user',
  apiKeys: '04-api-keys',
  keysByHash: '05-keys-by-hash',
  keysByWallet: '06-keys-by-wallet',
  keysByUser: '07-keys-by-user',
  transactions: '08-transactions',
  openByWallet: '09-open-by-wallet',
  // 10 was a list of open transactions by chain, which a start finds in the one by wallet.
  transactionsByUser: '11-transactions-by-user',
  idempotency: '12-idempotency',
  // 13 and 14 were events one by one, and their index by user.
  webhooks: '15-webhooks',
  webhooksByUser: '16-webhooks-by-user',
  deliveries: '17-deliveries',
  // 18 was for where a chain's watcher was, and was never written.
  keyUse: '19-key-use',
  eventsById: '20-events-by-id',
  deliveryRecords: '21-delivery-records',
  audit: '22-audit',
  addressRules: '23-address-rules',
  gasWallets: '24-gas-wallets',
  gasTransactions: '25-gas-transactions',
  openByGasWallet: '26-open-by-gas-wallet',
  sponsorships: '27-sponsorships',
  allowances: '28-allowances',
  allowanceLedgers: '29-allowance-ledgers',
  sharePrices: '30-share-prices',
  userEvents: '31-user-events',
  transactionStates: '32-transaction-states',
  subWalletMarks: '33-sub-wallet-marks',
  settlements: '34-settlements',
  grantChanges: '35-grant-changes',
  retained: '36-retained',
  policyLedgers: '37-policy-ledgers',
  freezes: '40-freezes',
  approvals: '41-approvals',
  waitingCalls: '42-waiting-calls',
  userBreakers: '43-user-breakers',
  transactionSegments: '44-transaction-segments',
  unindexedByUser: '45-unindexed-by-user',
  policyWindows: '46-policy-windows',
  spentDays: '47-spent-days',
  keysByName: '48-keys-by-name',
  walletsByName: '49-wallets-by-name',
  sealedShares: '50-sealed-shares',
} as const

export type KeySpace = keyof typeof KEY_SPACES

/** In place of a tx id in `openByWallet`. Sorts before every id. */
export const LISTED = ''

/**
 * Raised by every change of a stored shape. No record is migrated: a build opens stores of its own
 * schema, and older ones that have nothing it would read otherwise.
 */
export const SCHEMA_VERSION = 29

/**
 * The oldest schema whose stores are those of this one, as they would be without what has no record
 * yet: 27 and 29 have a space more. They are opened, and are of this schema from then on.
 */
export const OPENED_SINCE = 26

/** The first schema with an index of names. It is made of the records of a store that is older. */
export const NAMES_INDEXED_SINCE = 28

/** @param version as a store or a backup says it */
export function isOpened(version: unknown): boolean {
  return Number(version) >= OPENED_SINCE && Number(version) <= SCHEMA_VERSION
}
