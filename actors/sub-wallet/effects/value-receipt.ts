import type { MinedCall, Shown } from '../../../src/valuation/receipt-valuer.js'
import { sleep } from '../../runtime/timers.js'
import type { Command, Effect } from '../core/messages.js'
import type { SubWalletPorts } from '../ports.js'

/**
 * A node that lags behind the one that told of the block has it within seconds; after half an hour
 * it never will.
 */
const READS_MAX = 64
const FIRST_PAUSE_MS = 100
const PAUSE_MS_MAX = 30_000

/** Reads and values the receipt of a call that a block has. */
export async function valueReceipt(
  { receipts, log, timers }: Pick<SubWalletPorts, 'receipts' | 'log' | 'timers'>,
  { tx, mined }: Extract<Effect, { type: 'value-receipt' }>,
  self: (command: Command) => void,
): Promise<void> {
  const { txId, chainId, from, to, value, data } = tx
  const { txHash, blockHash } = mined
  const call = { chainId, from, to, value, data, txHash, blockHash }
  let pauseMs = FIRST_PAUSE_MS
  for (let read = 1; read <= READS_MAX; read++) {
    const shown = await shownBy(receipts, call, (error) =>
      log.warn({ err: error, txId }, 'a receipt could not be valued yet'),
    )
    if (shown !== null) {
      self({ type: 'receipt-valued', txId, blockHash, ...shown, nowMs: timers.now() })
      return
    }
    await sleep(timers, pauseMs)
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)
  }
  const nothing = { shownMicros: 0n, unvalued: 'the receipt could not be read' }
  self({ type: 'receipt-valued', txId, blockHash, ...nothing, nowMs: timers.now() })
}

async function shownBy(
  receipts: SubWalletPorts['receipts'],
  call: MinedCall,
  onFailure: (error: unknown) => void,
): Promise<Shown | null> {
  try {
    return await receipts.shownBy(call)
  } catch (error) {
    onFailure(error)
    return null
  }
}
