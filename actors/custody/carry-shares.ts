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
  const { shares, timers, log } = ports
  const carrier = new ShareCarrier(ports, isStopped)
  let failing = false
  while (!isStopped()) {
    let pauseMs = IDLE_MS
    try {
      carrier.markBefore()
      const carried = await carrier.carryAll()
      if (shares.uncarried(1).length > 0) pauseMs = carried > 0 ? BUSY_MS : AGAIN_MS
      else if (carried > 0) pauseMs = BUSY_MS
      else await carrier.level()
      failing = false
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'shares of wallet keys could not be carried')
      failing = true
      pauseMs = AGAIN_MS
    }
    await sleep(timers, pauseMs)
  }
}

/**
 * One pass of it, for a home whose service is stopped: what is here becomes rows.
 * @returns wallets whose share could not be carried; 0: the journal has all
 */
export async function carrySharesOnce(ports: ShareCarrierPorts): Promise<number> {
  const { shares } = ports
  const carrier = new ShareCarrier(ports, () => false)
  carrier.markBefore()
  await carrier.carryAll()
  if (shares.uncarried(1).length === 0) await carrier.noteLevel()
  return carrier.failures
}

class ShareCarrier {
  readonly #ports: ShareCarrierPorts
  readonly #isStopped: () => boolean
  #isMarked = false
  #isAdopted = false
  /** Wallets of which it was said that they cannot. */
  readonly #failed = new Set<string>()

  constructor(ports: ShareCarrierPorts, isStopped: () => boolean) {
    this.#ports = ports
    this.#isStopped = isStopped
  }

  get failures(): number {
    return this.#failed.size
  }

  /** What this home had before it had this journal, or was made of by a copy. */
  markBefore(): void {
    const { shares, journal } = this.#ports
    if (!this.#isMarked && shares.marks.levelWith !== journal) shares.marks.putBefore()
    this.#isMarked = true
  }

  /** One that cannot be carried keeps none of the others back. @returns how many were */
  async carryAll(): Promise<number> {
    const { shares } = this.#ports
    let carried = 0
    let last: Uint8Array | undefined
    do {
      const found = shares.uncarried(AT_ONCE, last)
      const done = await Promise.all(found.map((walletId) => this.#carry(walletId)))
      carried += done.filter(Boolean).length
      last = found.length < AT_ONCE ? undefined : found.at(-1)
    } while (last !== undefined && !this.#isStopped())
    return carried
  }

  /** Once everything of this home is a row. */
  async noteLevel(): Promise<void> {
    const { shares, journal, log } = this.#ports
    if (shares.marks.levelWith === journal) return
    await shares.marks.noteLevelWith(journal)
    log.info({}, 'the journal has the share of every wallet of this home')
  }

  /** What other machines made comes here. */
  async level(): Promise<void> {
    await this.noteLevel()
    if (!this.#isAdopted) this.#isAdopted = await this.#adoptAll()
  }

  async #carry(walletId: Uint8Array): Promise<boolean> {
    try {
      await this.#ports.shares.carry(walletId)
      return true
    } catch (error) {
      this.#tell(walletId, error)
      return false
    }
  }

  /** That wallet signs nothing here, or is on this machine alone; the others go on. */
  #tell(walletId: Uint8Array, err: unknown): void {
    const wallet = Buffer.from(walletId).toString('hex')
    if (this.#failed.has(wallet)) return
    this.#failed.add(wallet)
    this.#ports.log.warn({ err, wallet }, 'the share of a wallet key was not carried')
  }

  /**
   * Of what another machine made. Those that sign before this comes to them are adopted then.
   * @returns false where it was stopped before
   */
  async #adoptAll(): Promise<boolean> {
    const { shares, reader, timers } = this.#ports
    let last = ''
    while (!this.#isStopped()) {
      const names = reader.fresh().sealedShares.wallets(last, AT_ONCE)
      for (const name of names) {
        if (this.#isStopped()) return false
        const walletId = Buffer.from(name, 'hex')
        try {
          if (!shares.adopt(walletId)) continue
        } catch (error) {
          this.#tell(walletId, error)
        }
        await sleep(timers, ADOPTED_EVERY_MS)
      }
      if (names.length < AT_ONCE) return true
      last = names.at(-1) ?? ''
      await sleep(timers, BUSY_MS)
    }
    return false
  }
}
