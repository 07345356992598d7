/**
 * What happens to money, counted where it happens: each count is one addition in memory that the
 * thread shares with whoever shows it, and each label has as many values as are listed here, in the
 * catalogue of errors or in the configuration.
 */
export interface PathMeter {
  /** A transaction got that far. */
  step(chainId: number, step: TransactionStep): void
  /** A call was refused by its actor. @param code of the catalogue of errors */
  refused(code: string): void
  rpc(chainId: number, count: RpcCount): void
  /** Read when somebody looks: transactions that are signed and not final. */
  unconfirmed(chainId: number, read: () => LaneBacklog): void
  /** The same of events for webhooks. */
  webhooks(read: () => Backlog): void
}

export interface Backlog {
  readonly count: number
  /** Milliseconds since the epoch; null while there is none. */
  readonly oldestAtMs: number | null
}

export interface LaneBacklog extends Backlog {
  /** How many wallets and gas wallets they are of. */
  readonly lanes: number
}

/**
 * | step | a transaction |
 * |---|---|
 * | reserved | passed every gate; its spend is held |
 * | screened | has a clean verdict |
 * | signed | has a signature |
 * | stored | is on disk with it |
 * | broadcast | was taken by a node |
 * | mined | is in a block |
 * | confirmed, failed, dropped | has ended |
 * | reopened | was taken back by a reorg after its end |
 * | refused | will not be: the code says why |
 */
export const TRANSACTION_STEPS = [
  'reserved',
  'screened',
  'signed',
  'stored',
  'broadcast',
  'mined',
  'confirmed',
  'failed',
  'dropped',
  'reopened',
  'refused',
] as const
export type TransactionStep = (typeof TRANSACTION_STEPS)[number]

/** HTTP requests to nodes, by what came of them. */
export const RPC_OUTCOMES = ['ok', 'rate-limited', 'refused', 'unsent', 'unanswered'] as const

/** What became of the endpoints. */
export const RPC_HAPPENINGS = [
  'hedged',
  'breaker-opened',
  'breaker-closed',
  'wrong-chain-id',
] as const

export const RPC_COUNTS = [...RPC_OUTCOMES, ...RPC_HAPPENINGS] as const
export type RpcCount = (typeof RPC_COUNTS)[number]
