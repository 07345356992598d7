/**
 * The key spaces of the service's LMDB environment. A number is given once and never used
 * again: a reader of an old backup must not take one thing for another.
 *
 * | space | key | value |
 * |---|---|---|
 * | meta | name | schema version, and the one that the store was made with; of each thread the last place in the event log it filled |
 * | subWallets | sub-wallet id | SubWallet; up to schema 11 with its marks as they were when it was put |
 * | walletsByUser | [user id, sub-wallet id] | 1 |
 * | apiKeys | key id | ApiKey |
 * | keysByHash | hex SHA-256 of the secret | key id |
 * | keysByWallet | [sub-wallet id, key id] | 1 |
 * | keysByUser | [user id, key id] | 1 |
 * | transactions | tx id | Transaction, as it stood when it was put |
 * | openByWallet | [sub-wallet id, tx id] | 1; with `LISTED` for a tx id, the sub-wallet's record lists some |
 * | transactionsByUser | [user id, tx id] | AllowedVerdict; 1 where there is none, as up to schema 4 |
 * | idempotency | [lineage id, key] | IdempotencyRecord |
 * | events | seq | StoredEvent, up to schema 3 |
 * | eventsByUser | [user id, seq] | 1, up to schema 3 |
 * | webhooks | webhook id | WebhookEndpoint |
 * | webhooksByUser | [user id, webhook id] | 1 |
 * | deliveries | webhook id | state of the endpoint's deliveries |
 * | keyUse | key id | milliseconds of the last use, to the minute |
 * | eventsById | event id | seq; only of ids that do not hold it (event-id.ts) |
 * | deliveryRecords | [webhook id, event id] | DeliveryRecord of the endpoint's actor |
 * | audit | [user id, audit id] | AuditRecord; up to schema 4 those of verdicts too |
 * | addressRules | user id | AddressRule[] |
 * | gasWallets | gas wallet id | GasWallet |
 * | gasTransactions | tx id | GasTransaction |
 * | openByGasWallet | [gas wallet id, tx id] | 1 |
 * | sponsorships | [sub-wallet id, tx id] | Sponsorship, while its intent could be executed |
 * | allowances | [lower-case wallet address, allowance key] | AllowanceEntry |
 * | allowanceLedgers | lower-case wallet address | AllowanceLedgerMark |
 * | sharePrices | chain id and vault | SharePriceSample[] of a day |
 * | userEvents | [user id, last seq] | up to 64 StoredEvent of one commit; one alone up to schema 4 |
 * | transactionStates | tx id | how the transaction stands since, if it changed |
 * | subWalletMarks | sub-wallet id | what the sub-wallet's header holds besides it; up to schema 11 if it changed |
 * | grantChanges | [sub-wallet id, key id] | GrantChange that the identity provider has not acknowledged |
 * | settlements | [chain id, block number, block hash, tx id, ms] | ids of transactions that one commit ended in that block |
 * | retained | [user id, what] | where what is kept of theirs begins: after `events` (seq) and `verdicts` (tx id) |
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
  events: '13-events',
  eventsByUser: '14-events-by-user',
  webhooks: '15-webhooks',
  webhooksByUser: '16-webhooks-by-user',
  deliveries: '17-deliveries',
  // 18 was for where a chain's watcher stands, and was never written.
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
} as const

export type KeySpace = keyof typeof KEY_SPACES

/** In place of a tx id in `openByWallet`. Sorts before every id. */
export const LISTED = ''

/**
 * Raised by every change of a stored shape, together with a migration.
 *
 * | version | shape |
 * |---|---|
 * | 1 | an event of a transaction keeps all of its `data` |
 * | 2 | it keeps a `moment`; events of version 1 are read as they are |
 * | 3 | space 10 is left as it was: a build that reads it would miss what is open |
 * | 4 | what a send writes is stored as lists (encodings/), and events in one space instead of three |
 * | 5 | events of a commit share a record, as do a transaction's index and its verdict, a wallet and its open |
 * | 6 | what changes of a transaction or a sub-wallet is put beside it, in 32 and 33; of a verdict only what its transaction does not say |
 * | 7 | 34 says in which blocks transactions ended; of those that ended before it says nothing |
 * | 8 | an approval says who paid for it, and a transaction what it used of that; older ones say nothing |
 * | 9 | 35 says what the identity provider has not acknowledged; of changes before it says nothing |
 * | 10 | 36 says where a user's event log begins: a build that does not read it would show a gap as none |
 * | 11 | a lane says from which nonce on they were handed out here; of older ones all counts as a node's word |
 * | 12 | records are sealed with a checksum (encodings/sealing.ts), and a new sub-wallet's marks are in 33 from the first; records of before are read as they are |
 */
export const SCHEMA_VERSION = 12

/**
 * Older versions that this build reads and goes on from without changing a record. Up to 7 the
 * secrets of webhooks were in the clear; none of those was ever released.
 */
export const SCHEMA_VERSIONS_READ: readonly unknown[] = [8, 9, 10, 11]
