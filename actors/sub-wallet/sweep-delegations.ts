import type { Alarm, Timers } from '../../src/clock/timers.js'
import type { SubWalletId } from '../../src/domain/ids.js'
import type { Reader } from '../../src/store/reader.js'
import { subWalletAddress } from '../addresses.js'
import type { SponsoredCommand } from './core/sponsored-messages.js'

/**
 * Finds delegated accounts that have made no sponsored call for a long time, and tells their
 * wallets to end the delegation. The time of the last call is stored with the wallet, so it
 * survives a restart.
 */

/** The most wallets that one poll reads: some milliseconds of its thread. */
const WALLETS_AT_ONCE = 500
/** The most gas wallet transactions that one poll can cause: about three a second. */
const TOLD_AT_ONCE = 16
/** The interval between two polls: a million wallets take three hours. */
const POLL_MS = 5_000

interface IdlePorts {
  readonly reader: Reader
  readonly tell: (wallet: ReturnType<typeof subWalletAddress>, command: UndelegateCommand) => void
  /** Null while the clock is not verified: then no account counts as idle. */
  readonly verifiedNowMs: () => number | null
}

type UndelegateCommand = Extract<SponsoredCommand, { type: 'undelegate' }>

/**
 * @param idleMs the time without a sponsored call after which delegations end; null to leave them
 * @returns a function that stops the sweep
 */
export function startDelegationSweep(
  timers: Timers,
  ports: IdlePorts,
  idleMs: number | null,
): () => void {
  if (idleMs === null) return () => {}
  let alarm: Alarm
  function after(next: SubWalletId | null, idle: number): void {
    alarm = timers.at(timers.now() + POLL_MS, () =>
      after(sweepDelegationsOnce(ports, idle, next), idle),
    )
  }
  after(null, idleMs)
  return () => alarm.cancel()
}

/** @returns the wallet after which the next poll continues; null to start over */
export function sweepDelegationsOnce(
  { reader, tell, verifiedNowMs }: IdlePorts,
  idleMs: number,
  from: SubWalletId | null,
): SubWalletId | null {
  const nowMs = verifiedNowMs()
  if (nowMs === null) return from
  const idleSinceMs = nowMs - idleMs
  let told = 0
  let last: SubWalletId | null = null
  for (const wallet of reader.fresh().wallets.after(from, WALLETS_AT_ONCE)) {
    if (told >= TOLD_AT_ONCE) return last
    last = wallet.subWalletId
    const header = reader.ifSound(() => reader.wallets.header(wallet.subWalletId))
    for (const { chainId, atMs } of header?.sponsored?.lastCalls ?? []) {
      if (atMs > idleSinceMs) continue
      tell(subWalletAddress(wallet), { type: 'undelegate', chainId, idleSinceMs })
      told++
    }
  }
  return last
}
