import { sleep, type Timers } from '../../src/clock/timers.js'
import type { ConnectedCoSigner } from '../../src/service-custody/connect-co-signer.js'
import type { Reader } from '../../src/store/reader.js'

/** The interval between two polls; short while a refresh of shares is waiting for each share. */
const IDLE_MS = 250
const BUSY_MS = 25
const AGAIN_MS = 5_000
const AT_ONCE = 64
/** An adoption waits twice for the disk, and this thread with it. */
const ADOPTED_EVERY_MS = 50

interface ShareCarrierPorts {
  readonly shares: ConnectedCoSigner['shares']
  readonly reader: Pick<Reader, 'fresh'>
  /** The name of the journal. */
  readonly journal: string
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: {
    info(context: object, message: string): void
    warn(context: object, message: string): void
  }
}

/**
 * Keeps the shares of wallet keys and their rows in step for as long as this thread lives. Shares
 * made by another machine are written to this machine's disk; shares that predate the journal, or
 * that a command refreshed, become rows. A new wallet carries its own share before it has an
 * address.
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
 * Makes one pass for a home whose service is stopped: its shares become rows.
 * @returns the number of wallets whose share could not be carried; 0 means that the journal has
 * them all
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
  /** Wallets whose failure has been logged. */
  readonly #failed = new Set<string>()

  constructor(ports: ShareCarrierPorts, isStopped: () => boolean) {
    this.#ports = ports
    this.#isStopped = isStopped
  }

  get failures(): number {
    return this.#failed.size
  }

  /**
   * Marks the shares that this home had before it had this journal, or that came with a copied
   * home.
   */
  markBefore(): void {
    const { shares, journal } = this.#ports
    if (!this.#isMarked && shares.marks.levelWith !== journal) shares.marks.putBefore()
    this.#isMarked = true
  }

  /**
   * Carries every share; a failing one does not hold up the others.
   * @returns the number of failures
   */
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

  /** Records that the journal has every share of this home. */
  async noteLevel(): Promise<void> {
    const { shares, journal, log } = this.#ports
    if (shares.marks.levelWith === journal) return
    await shares.marks.noteLevelWith(journal)
    log.info({}, 'the journal has the share of every wallet of this home')
  }

  /** Adopts the shares that other machines made. */
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

  /**
   * Logs the failure: that wallet signs nothing here, or only this machine has its share. The
   * others continue.
   */
  #tell(walletId: Uint8Array, err: unknown): void {
    const wallet = Buffer.from(walletId).toString('hex')
    if (this.#failed.has(wallet)) return
    this.#failed.add(wallet)
    this.#ports.log.warn({ err, wallet }, 'the share of a wallet key was not carried')
  }

  /**
   * Adopts the shares that another machine made. A wallet that signs before this reaches it adopts
   * its share then.
   * @returns false when it was stopped before the end
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
