import { sleep, sleepUntil } from '../../../src/clock/timers.js'
import type { Command } from '../core/messages.js'
import type { SponsoredEffect } from '../core/sponsored-messages.js'
import type { SubWalletPorts } from '../ports.js'

/** The interval between two polls. */
const RETRY_MS = 2_000

type Check = Extract<SponsoredEffect, { type: 'check-delegation' }>

/**
 * Reads the account's code and nonce until a node answers that has the block with the
 * authorization. Every update of a mined call requests a check, and one running check serves them
 * all.
 * @param underWay the checks of this thread; a check removes itself when it ends
 */
export async function checkDelegation(
  ports: Pick<SubWalletPorts, 'chains' | 'log' | 'timers'>,
  check: Check,
  underWay: Set<string>,
  self: (command: Command) => void,
): Promise<void> {
  const name = `${check.chainId}:${check.account}`
  if (underWay.has(name)) return
  underWay.add(name)
  try {
    await checked(ports, check, self)
  } finally {
    underWay.delete(name)
  }
}

async function checked(
  { chains, log, timers }: Pick<SubWalletPorts, 'chains' | 'log' | 'timers'>,
  { chainId, account, minedAt }: Check,
  self: (command: Command) => void,
): Promise<void> {
  const reads = chains.get(chainId)?.reads
  if (reads === undefined) return
  for (;;) {
    try {
      const at = await reads.account(account, minedAt ?? 0)
      if (at !== null) {
        const { code, nonce: chainNonce } = at
        const delegated = code.kind === 'delegated'
        self({ type: 'delegation-checked', chainId, delegated, chainNonce, nowMs: timers.now() })
        return
      }
    } catch (error) {
      log.warn({ err: error, chainId }, 'a delegation could not be checked')
    }
    await sleep(timers, RETRY_MS)
  }
}

/**
 * Added to the deadline before a call with an unknown outcome is given up: after a reorg, blocks
 * may come again with an earlier timestamp.
 */
const REORG_MARGIN_MS = 60_000

/**
 * Reports when a block's timestamp has passed the deadline: no later block can execute the intent.
 * The store is read after that block was seen, so a transaction that is not in it was not sent
 * before the deadline.
 */
export async function awaitDeadline(
  { chains, timers, reader, log }: Pick<SubWalletPorts, 'chains' | 'timers' | 'reader' | 'log'>,
  { stage, txId, chainId, deadlineSeconds }: Extract<SponsoredEffect, { type: 'await-deadline' }>,
  self: (command: Command) => void,
): Promise<void> {
  const chain = chains.get(chainId)
  if (chain === undefined) return
  let afterMs = deadlineSeconds * 1_000
  if (stage === 'handed') {
    const { confirmations, block_time_ms: blockTimeMs } = chain.config
    afterMs += Math.max(REORG_MARGIN_MS, confirmations * blockTimeMs)
    // Nearly all intents have ended long before that time, so nothing is polled until then.
    await sleepUntil(timers, afterMs)
  }
  for (;;) {
    // Only the thread with the chain's watcher knows the newest head.
    const quote =
      chain.fees.latest() ??
      (await chain.fees.quote().catch((error: unknown) => {
        log.warn({ err: error, chainId }, 'the newest block could not be asked for')
        return null
      }))
    if (quote !== null && quote.head.timestampMs > afterMs) {
      const isCarried = reader.fresh().gas.transaction(txId) !== undefined
      self({ type: 'deadline-passed', txId, isCarried, nowMs: timers.now() })
      return
    }
    await sleep(timers, RETRY_MS)
  }
}
