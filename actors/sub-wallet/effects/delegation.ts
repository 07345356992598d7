import { sleep, sleepUntil } from '../../../src/clock/timers.js'
import type { Command } from '../core/messages.js'
import type { SponsoredEffect } from '../core/sponsored-messages.js'
import type { SubWalletPorts } from '../ports.js'

/** Between two looks. */
const RETRY_MS = 2_000

type Check = Extract<SponsoredEffect, { type: 'check-delegation' }>

/**
 * Reads code and nonce of the account anew, as often as it takes to get an answer of a node that has
 * the block which brought the authorization. Every update of a mined call asks for it, and one check
 * at a time answers them all.
 * @param underWay the checks of this thread; those that end are taken out
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
 * Beyond the deadline, before a call whose fate is unknown is given up: blocks that are taken back
 * may come again with an earlier clock.
 */
const REORG_MARGIN_MS = 60_000

/**
 * Tells when a block's clock has passed the deadline: no later block can execute the intent. The
 * store is read after that block was seen: what is not there then was not sent before the deadline.
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
    // Nearly all of them have ended long before, and nothing need be looked at until then.
    await sleepUntil(timers, afterMs)
  }
  for (;;) {
    // Where the chain's watcher lives it keeps the newest head at hand; elsewhere nobody does.
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
