/**
 * Counts what happens to money where it happens: each count is one addition in memory that the
 * thread shares with its reader, and each label has as many values as are listed here, in the
 * catalogue of errors or in the configuration.
 */
export interface PathMeter {
  /** Counts a transaction that has reached this step. */
  step(chainId: number, step: TransactionStep): void
  /**
   * Counts a call that its actor refused.
   * @param code from the catalogue of errors
   */
  refused(code: string): void
  rpc(chainId: number, count: RpcCount): void
  /** Registers a reader for the transactions that are signed and not final. */
  unconfirmed(chainId: number, read: () => LaneBacklog): void
  /** Registers a reader for the events that webhooks have not received. */
  webhooks(read: () => Backlog): void
}

export interface Backlog {
  readonly count: number
  /** Milliseconds since the Unix epoch; null when the backlog is empty. */
  readonly oldestAtMs: number | null
}

export interface LaneBacklog extends Backlog {
  /** The number of wallets and gas wallets that they belong to. */
  readonly lanes: number
}

/**
 * | step | a transaction |
 * |---|---|
 * | reserved | passed every gate; its spend is reserved |
 * | screened | has a clean verdict |
 * | signed | has a signature |
 * | stored | is on disk with it |
 * | broadcast | was taken by a node |
 * | mined | is in a block |
 * | confirmed, failed, dropped | has ended |
 * | reopened | was taken back by a reorg after its end |
 * | refused | was refused: the code gives the reason |
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

/** HTTP requests to nodes, by outcome. */
export const RPC_OUTCOMES = ['ok', 'rate-limited', 'refused', 'unsent', 'unanswered'] as const

/** Changes in the state of endpoints. */
export const RPC_HAPPENINGS = [
  'hedged',
  'breaker-opened',
  'breaker-closed',
  'chain-id-doubted',
  'wrong-chain-id',
  'chain-id-right',
] as const

export const RPC_COUNTS = [...RPC_OUTCOMES, ...RPC_HAPPENINGS] as const
export type RpcCount = (typeof RPC_COUNTS)[number]
