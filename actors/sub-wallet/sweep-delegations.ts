import type { Alarm, Timers } from '../../src/clock/timers.js'
import type { SubWalletId } from '../../src/domain/ids.js'
import type { Reader } from '../../src/store/reader.js'
import { subWalletAddress } from '../addresses.js'
import type { SponsoredCommand } from './core/sponsored-messages.js'

/**
 * Finds accounts that have delegated and made no sponsored call for long, and has their wallets end
 * the delegation. When the last call was made is stored with the wallet, so a start forgets nothing.
 */

/** Wallets that one look reads: some milliseconds of its thread. */
const WALLETS_AT_ONCE = 500
/** Transactions of gas wallets that one look leads to at most: some three a second. */
const TOLD_AT_ONCE = 16
/** Between two looks: a million wallets are gone through in three hours. */
export const LOOK_MS = 5_000

export interface IdlePorts {
  readonly reader: Reader
  readonly tell: (wallet: ReturnType<typeof subWalletAddress>, command: UndelegateCommand) => void
  /** Null while no time can be relied on: then nothing is idle. */
  readonly borneOutMs: () => number | null
}

type UndelegateCommand = Extract<SponsoredCommand, { type: 'undelegate' }>

/**
 * @param idleMs without a sponsored call; null: delegations are left as they are
 * @returns what ends it
 */
export function startDelegationSweep(
  timers: Timers,
  ports: IdlePorts,
  idleMs: number | null,
): () => void {
  if (idleMs === null) return () => {}
  let alarm: Alarm
  function after(next: SubWalletId | null, idle: number): void {
    alarm = timers.at(timers.now() + LOOK_MS, () => after(lookOnce(ports, idle, next), idle))
  }
  after(null, idleMs)
  return () => alarm.cancel()
}

/** @returns the wallet behind which the next look goes on; null: from the first */
export function lookOnce(
  { reader, tell, borneOutMs }: IdlePorts,
  idleMs: number,
  from: SubWalletId | null,
): SubWalletId | null {
  const nowMs = borneOutMs()
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
