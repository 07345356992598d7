import { sleep } from '../../../src/clock/timers.js'
import type { Command, Effect } from '../core/messages.js'
import type { SubWalletPorts } from '../ports.js'

/**
 * The most reads that find nothing: a node that lags has the block within seconds, and after half
 * an hour it never will.
 */
const EMPTY_READS_MAX = 64
/**
 * The most reads that fail: unreachable nodes say nothing about the receipt, so this allows about a
 * day at the longest pause.
 */
const FAILED_READS_MAX = 2_880
const FIRST_PAUSE_MS = 100
const PAUSE_MS_MAX = 30_000

/** Reads and values the receipt of a mined call. */
export async function valueReceipt(
  { receipts, log, timers }: Pick<SubWalletPorts, 'receipts' | 'log' | 'timers'>,
  { tx, mined }: Extract<Effect, { type: 'value-receipt' }>,
  self: (command: Command) => void,
): Promise<void> {
  const { txId, from } = tx
  const { txHash, blockHash } = mined
  const call = { ...tx.call, from, txHash, blockHash }
  let pauseMs = FIRST_PAUSE_MS
  let empty = 0
  let failed = 0
  while (empty < EMPTY_READS_MAX && failed < FAILED_READS_MAX) {
    try {
      const shown = await receipts.shownBy(call)
      if (shown !== null) {
        self({ type: 'receipt-valued', txId, blockHash, ...shown, nowMs: timers.now() })
        return
      }
      empty++
    } catch (error) {
      failed++
      log.warn({ err: error, txId }, 'a receipt could not be valued yet')
    }
    await sleep(timers, pauseMs)
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)
  }
  const nothing = { shownMicros: 0n, unvalued: 'the receipt could not be read' }
  self({ type: 'receipt-valued', txId, blockHash, ...nothing, nowMs: timers.now() })
}
