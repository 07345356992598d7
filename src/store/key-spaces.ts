/**
 * The key spaces of the service's LMDB environment. A number is given once and never used
 * again, so that a reader of an old backup never takes one thing for another.
 *
 * | space | key | value |
 * |---|---|---|
 * | meta | name | schema version; the last place in the event log for each partition of users; with a journal, the position in it and the operator's freeze of the service |
 * | subWallets | sub-wallet id | SubWallet |
 * | walletsByUser | [user id, sub-wallet id] | 1 |
 * | apiKeys | key id | ApiKey |
 * | keysByHash | hex SHA-256 of the secret | key id |
 * | keysByWallet | [sub-wallet id, key id] | 1 |
 * | keysByUser | [user id, key id] | 1 |
 * | transactions | tx id | Transaction, as it was when it was written |
 * | openByWallet | [sub-wallet id, tx id] | 1; with `LISTED` as the tx id, the sub-wallet's record lists some |
 * | transactionsByUser | [user id, tx id] | AllowedVerdict, or 1 without a verdict |
 * | idempotency | [lineage id, key] | IdempotencyRecord |
 * | webhooks | webhook id | WebhookEndpoint |
 * | webhooksByUser | [user id, webhook id] | 1 |
 * | deliveries | webhook id | state of the endpoint's deliveries |
 * | keyUse | key id | milliseconds of the last use, to the minute |
 * | eventsById | event id | seq; only for ids that do not contain it (event-id.ts) |
 * | deliveryRecords | [webhook id, event id] | DeliveryRecord of the endpoint's actor |
 * | audit | [user id, audit id] | AuditRecord other than the verdict on a transaction |
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
 * | subWalletMarks | sub-wallet id | the other fields of the sub-wallet's header |
 * | grantChanges | [sub-wallet id, key id] | GrantChange that the identity provider has not acknowledged |
 * | settlements | [chain id, block number, block hash, tx id, ms] | ids of transactions that one commit ended in that block; [`given up` with the chain id, height, empty, tx id, ms]: one that was given up |
 * | policyLedgers | [sub-wallet id, lineage id] | PolicyLedger without its sliding windows: earlier use, as far as policies count it |
 * | policyWindows | [sub-wallet id, lineage id, seconds] | Slide: one of the ledger's sliding windows |
 * | retained | [user id, what] | the last pruned entry of `events` (seq) or `verdicts` (tx id); what follows is kept |
 * | freezes | [user id, name] | Freeze in force |
 * | approvals | [user id, approval id] | Approval |
 * | waitingCalls | [sub-wallet id, approval id] | 1, while its call waits |
 * | transactionSegments | [user id, part, first tx id] | a part of the index of consecutive transactions (transaction-index/segment.ts) |
 * | unindexedByUser | [user id, tx id] | 1; a reorg undid its outcome, or it was committed late |
 * | userBreakers | user id | the user's breakers, and what they have counted of signed calls |
 * | spentDays | [sub-wallet id, lineage id] | SpentDay[]: what the lineage spent on days before that of its counters |
 * | keysByName | [user id, prefix of a word of the name, key id] | 1 |
 * | walletsByName | [user id, prefix of a word of the name, sub-wallet id] | 1 |
 * | sealedShares | wallet id, 32 hex digits | with a journal, the service's part of the wallet's key with its share sealed |
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
  // 10 was a list of open transactions by chain; a start finds them in the list by wallet.
  transactionsByUser: '11-transactions-by-user',
  idempotency: '12-idempotency',
  // 13 and 14 were single events and their index by user.
  webhooks: '15-webhooks',
  webhooksByUser: '16-webhooks-by-user',
  deliveries: '17-deliveries',
  // 18 was meant for the position of a chain's watcher and was never written.
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

/** Stands for a tx id in `openByWallet`. It sorts before every id. */
export const LISTED = ''

/**
 * Raised by every change of a stored shape. No record is migrated: a build opens stores of its own
 * schema, and older ones in which it reads every record the same way.
 */
export const SCHEMA_VERSION = 29

/**
 * The oldest schema that this build opens. Later ones only added spaces (27 and 29). An opened
 * store has this build's schema from then on.
 */
export const OPENED_SINCE = 26

/** The first schema with an index of names. For older stores it is built from the records. */
export const NAMES_INDEXED_SINCE = 28

/** @param version as stored in a store or a backup */
export function isOpened(version: unknown): boolean {
  return Number(version) >= OPENED_SINCE && Number(version) <= SCHEMA_VERSION
}
