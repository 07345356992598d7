import type { TransactionView } from '../api/transaction.js'
import { WaitTimeoutError } from './errors.js'
import { pause } from './request.js'

export interface WaitOptions {
  /** Default 180,000. */
  readonly timeoutMs?: number
  /** Between two looks. Default 1,000. */
  readonly intervalMs?: number
  readonly signal?: AbortSignal
  /** Called with every record that was read, the final one too. */
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

/** True once people, or its time, have let it through, or it ended without. */
function isDecided({ status }: TransactionView): boolean {
  return status !== 'awaiting_approval'
}

/** True once nothing more becomes of it. */
function isFinal({ status }: TransactionView): boolean {
  return FINAL.has(status)
}

export const UNTIL = { decided: isDecided, final: isFinal }

/**
 * Asks until the transaction has come so far.
 * @throws WaitTimeoutError when it is still under way after `timeoutMs`
 */
export async function waitForTransaction(
  look: (txId: string, signal: AbortSignal | undefined) => Promise<TransactionView>,
  txId: string,
  hasCome: (record: TransactionView) => boolean,
  { timeoutMs = TIMEOUT_MS, intervalMs = INTERVAL_MS, signal, onLook }: WaitOptions = {},
): Promise<TransactionView> {
  const deadlineMs = performance.now() + timeoutMs
  for (;;) {
    const record = await look(txId, signal)
    onLook?.(record)
    if (hasCome(record)) return record
    if (performance.now() + intervalMs > deadlineMs) {
      const message = `${txId} is still ${record.status} after ${timeoutMs} ms`
      throw new WaitTimeoutError(message, txId)
    }
    await pause(intervalMs, signal)
  }
}
