import { sleep, type Timers } from '../../src/clock/timers.js'
import type { ConnectedCoSigner } from '../../src/service-custody/connect-co-signer.js'
import type { Reader } from '../../src/store/reader.js'

/** Between two looks: who refreshes shares waits for each to be carried. */
const IDLE_MS = 250
const BUSY_MS = 25
const AGAIN_MS = 5_000
const AT_ONCE = 64
/** An adoption waits for the disk, and this thread with it, twice. */
const ADOPTED_EVERY_MS = 50

export interface ShareCarrierPorts {
  readonly shares: ConnectedCoSigner['shares']
  readonly reader: Pick<Reader, 'fresh'>
  /** Name of the journal. */
  readonly journal: string
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: {
    info(context: object, message: string): void
    warn(context: object, message: string): void
  }
}

/**
 * Keeps the shares of wallet keys and their rows level, for as long as this thread lives. What another
 * machine made comes to this one's disk; what was there before the journal, or was refreshed by a command,
 * becomes a row. A wallet that is made carries its own share by itself, before it has an address.
 */
export async function carryShares(
  ports: ShareCarrierPorts,
  isStopped: () => boolean,
): Promise<void> {
  const { shares, journal, timers, log } = ports
  let isAdopted = false
  let isMarked = false
  let failing = false
  while (!isStopped()) {
    let pauseMs = IDLE_MS
    try {
      if (!isMarked) markBefore(ports)
      isMarked = true
      if (await carrySome(ports)) pauseMs = BUSY_MS
      else if (shares.marks.levelWith !== journal) {
        await shares.marks.noteLevelWith(journal)
        log.info({}, 'the journal has the share of every wallet of this home')
      }
      if (pauseMs === IDLE_MS && !isAdopted) isAdopted = await adoptAll(ports, isStopped)
      failing = false
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'shares of wallet keys could not be carried')
      failing = true
      pauseMs = AGAIN_MS
    }
    await sleep(timers, pauseMs)
  }
}

/** What this home had before it had this journal, or was made of by a copy. */
function markBefore({ shares, journal }: ShareCarrierPorts): void {
  if (shares.marks.levelWith !== journal) shares.marks.putAll('before', 'none')
}

/** @returns whether there was something to carry */
async function carrySome({ shares }: ShareCarrierPorts): Promise<boolean> {
  const found = shares.uncarried(AT_ONCE)
  await Promise.all(found.map((walletId) => shares.carry(walletId)))
  return found.length > 0
}

/**
 * Of what another machine made. Those that sign before this comes to them are adopted then.
 * @returns false where it was stopped before
 */
async function adoptAll(ports: ShareCarrierPorts, isStopped: () => boolean): Promise<boolean> {
  const { shares, reader, timers, log } = ports
  let last = ''
  while (!isStopped()) {
    const names = reader.fresh().sealedShares.wallets(last, AT_ONCE)
    for (const name of names) {
      if (isStopped()) return false
      try {
        if (!shares.adopt(Buffer.from(name, 'hex'))) continue
      } catch (error) {
        // That wallet signs nothing; the others do.
        log.warn({ err: error, wallet: name }, 'a share that was carried here does not fit')
      }
      await sleep(timers, ADOPTED_EVERY_MS)
    }
    if (names.length < AT_ONCE) return true
    last = names.at(-1) ?? ''
    await sleep(timers, BUSY_MS)
  }
  return false
}
