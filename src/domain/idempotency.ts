import type { TxId } from './ids.js'

/** What an Idempotency-Key means: the transaction that its first request made. */
export interface IdempotencyRecord {
  /** Hex SHA-256 of the operation's name and input. */
  readonly bodyHash: string
  readonly txId: TxId
  readonly createdAtMs: number
}

/** Idempotency keys are remembered for 24 hours (CONTRACT.md, "Idempotency"). */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1_000

/** Their records stay for an hour more, so that no small step of a clock loses one that counts. */
export const IDEMPOTENCY_KEPT_MS = IDEMPOTENCY_TTL_MS + 60 * 60 * 1_000
