import type { LineageId, TxId } from './ids.js'

/** The meaning of an Idempotency-Key: the transaction that its first request made. */
export interface IdempotencyRecord {
  /** Hex SHA-256 of the operation's name and input. */
  readonly bodyHash: string
  readonly txId: TxId
  readonly createdAtMs: number
}

/**
 * A quote that a call executes. It acts as an Idempotency-Key: it stands for the one transaction
 * that executed it, whichever key of the wallet calls and whatever Idempotency-Key the caller
 * sends.
 */
export interface QuoteName {
  /** The lineage of the key that requested the quote. */
  readonly lineageId: LineageId
  readonly quoteId: string
}

/** The key of its record among those of Idempotency-Keys. A caller's key cannot contain a space. */
export function quoteKey({ quoteId }: QuoteName): string {
  return `quote ${quoteId}`
}

/** Idempotency keys are remembered for 24 hours (CONTRACT.md, "Idempotency"). */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1_000

/** Records stay for an hour more, so that a small clock step cannot lose one that counts. */
export const IDEMPOTENCY_KEPT_MS = IDEMPOTENCY_TTL_MS + 60 * 60 * 1_000
