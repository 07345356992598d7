import { sleep, type Timers } from '../../src/clock/timers.js'
import type { ConnectedCoSigner } from '../../src/service-custody/connect-co-signer.js'
import type { Commits } from '../../src/store/commits.js'
import type { Reader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'

/** Between two looks: who refreshes shares waits for each to be carried. */
const IDLE_MS = 250
const BUSY_MS = 25
const AGAIN_MS = 5_000
const AT_ONCE = 64

export interface ShareCarrierPorts {
  readonly shares: ConnectedCoSigner['shares']
  readonly reader: Pick<Reader, 'fresh'>
  readonly commits: Commits
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
  const { shares, reader, commits, timers, log } = ports
  let failing = false

  /** Of what another machine made: those that sign before are adopted when they do. */
  async function adoptAll(): Promise<void> {
    let last = ''
    while (!isStopped()) {
      const names = reader.fresh().sealedShares.wallets(last, AT_ONCE)
      for (const name of names) adopt(name)
      last = names.at(-1) ?? ''
      if (names.length < AT_ONCE) return
      await sleep(timers, 0)
    }
  }

  function adopt(name: string): void {
    try {
      shares.adopt(Buffer.from(name, 'hex'))
    } catch (error) {
      // That wallet signs nothing; the others do.
      log.warn({ err: error, wallet: name }, 'a share that was carried here does not fit')
    }
  }

  /** @returns whether there was something to carry */
  async function carrySome(): Promise<boolean> {
    const found = shares.uncarried(AT_ONCE)
    await Promise.all(found.map((walletId) => shares.carry(walletId)))
    return found.length > 0
  }

  async function noteAllCarried(): Promise<void> {
    const batch = new WriteBatch()
    batch.markSharesCarried()
    await commits.commit(batch)
    log.info({}, 'the journal has the share of every wallet')
  }

  await adoptAll()
  let areAll = reader.fresh().sealedShares.areCarried()
  if (!areAll) shares.markAllUncarried()
  while (!isStopped()) {
    let pauseMs = IDLE_MS
    try {
      if (await carrySome()) pauseMs = BUSY_MS
      else if (!areAll) {
        await noteAllCarried()
        areAll = true
      }
      failing = false
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'shares of wallet keys could not be carried')
      failing = true
      pauseMs = AGAIN_MS
    }
    await sleep(timers, pauseMs)
  }
}
