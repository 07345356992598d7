import type { TransactionView } from '../api/transaction.js'
import { ConnectionError, ServiceError, WaitTimeoutError } from './errors.js'
import { pause } from './request.js'

export interface WaitOptions {
  /** Default 180,000. */
  readonly timeoutMs?: number
  /** Pause between two polls. Default 1,000. */
  readonly intervalMs?: number
  readonly signal?: AbortSignal
  /** Called with every record that was read, including the final one. */
  readonly onLook?: (record: TransactionView) => void
}

const TIMEOUT_MS = 180_000
const INTERVAL_MS = 1_000
const FINAL: ReadonlySet<string> = new Set([
  'confirmed',
  'failed',
  'dropped',
  'declined',
  'expired',
  'withdrawn',
])

/** True once it was approved, its time has come, or it ended without approval. */
function isDecided({ status }: TransactionView): boolean {
  return status !== 'awaiting_approval'
}

/** True once its status is final. */
function isFinal({ status }: TransactionView): boolean {
  return FINAL.has(status)
}

export const UNTIL = { decided: isDecided, final: isFinal }

/** Polls may fail for this long, in which a restarted service is back. */
const OUTAGE_MS_MAX = 300_000

/**
 * Polls until the transaction has reached a state. A service that does not answer for a while tells
 * nothing about it, so the wait continues.
 * @throws WaitTimeoutError if it is still under way after `timeoutMs`, or polls failed for
 * OUTAGE_MS_MAX
 */
export async function waitForTransaction(
  poll: (txId: string, signal: AbortSignal | undefined) => Promise<TransactionView>,
  txId: string,
  hasCome: (record: TransactionView) => boolean,
  { timeoutMs = TIMEOUT_MS, intervalMs = INTERVAL_MS, signal, onLook }: WaitOptions = {},
): Promise<TransactionView> {
  const deadlineMs = performance.now() + timeoutMs
  let failingSinceMs: number | null = null
  for (;;) {
    const seen = await poll(txId, signal).catch(passing)
    const nowMs = performance.now()
    if (seen instanceof Error) failingSinceMs ??= nowMs
    else {
      failingSinceMs = null
      onLook?.(seen)
      if (hasCome(seen)) return seen
    }
    const outageEndsMs = failingSinceMs === null ? deadlineMs : failingSinceMs + OUTAGE_MS_MAX
    if (nowMs + intervalMs > Math.min(deadlineMs, outageEndsMs)) throw gaveUp(txId, seen)
    await pause(intervalMs, signal)
  }
}

function gaveUp(txId: string, seen: TransactionView | Error): WaitTimeoutError {
  return seen instanceof Error
    ? new WaitTimeoutError(`${txId} could not be read: ${seen.message}`, txId, { cause: seen })
    : new WaitTimeoutError(`${txId} is still ${seen.status}`, txId)
}

/** @throws an error that will not pass by the next poll */
function passing(error: unknown): ConnectionError | ServiceError {
  if (error instanceof ConnectionError) return error
  if (error instanceof ServiceError && error.retryable) return error
  throw error
}
