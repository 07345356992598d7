import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from '../messages.js'
import type { SubWalletPorts } from '../ports.js'
import type { SponsoredEffect } from '../sponsored-messages.js'

/** Between two looks. */
const RETRY_MS = 2_000
/** Reads code and nonce of the account anew, as often as it takes to get an answer. */
export async function checkDelegation(
  { chains, log, nowMs }: SubWalletPorts,
  { chainId, account }: Extract<SponsoredEffect, { type: 'check-delegation' }>,
  self: (command: Command) => void,
): Promise<void> {
  const reads = chains.get(chainId)?.reads
  if (reads === undefined) return
  for (;;) {
    try {
      reads.forgetCode(account)
      const [code, chainNonce] = await Promise.all([
        reads.code(account),
        reads.transactionCount(account, 'latest'),
      ])
      const delegated = code.kind === 'delegated'
      self({ type: 'delegation-checked', chainId, delegated, chainNonce, nowMs: nowMs() })
      return
    } catch (error) {
      log.warn({ err: error, chainId }, 'a delegation could not be checked')
      await delay(RETRY_MS, undefined, { ref: false })
    }
  }
}

/** Tells when a block's clock has passed the deadline: no later block can execute the intent. */
export async function awaitDeadline(
  { chains, nowMs }: SubWalletPorts,
  { txId, chainId, deadlineSeconds }: Extract<SponsoredEffect, { type: 'await-deadline' }>,
  self: (command: Command) => void,
): Promise<void> {
  const chain = chains.get(chainId)
  if (chain === undefined) return
  for (;;) {
    // The watcher keeps the newest head at hand, so looking costs nothing.
    const head = chain.fees.latest()?.head
    if (head !== undefined && head.timestampMs > deadlineSeconds * 1_000) {
      self({ type: 'deadline-passed', txId, nowMs: nowMs() })
      return
    }
    await delay(RETRY_MS, undefined, { ref: false })
  }
}
