import type { Connection } from '../../src/quorum-protocol/server.js'

/** So many connections of before, of which late requests may come. */
const KEPT = 64

/**
 * Which owner of the journal each connection of the user side is of, as an oracle remembers it across
 * all its starts: whatever is done for an earlier one than it has heard of is wrong.
 */
export class AnnouncedLeaders {
  readonly #epochs = new Map<Connection, number>()
  readonly #wrong: (what: string) => void
  #latest = 0

  constructor(wrong: (what: string) => void) {
    this.#wrong = wrong
  }

  admitted(epoch: number, connection: Connection): void {
    this.#latest = Math.max(this.#latest, epoch)
    this.#epochs.delete(connection)
    this.#epochs.set(connection, epoch)
    const [oldest] = this.#epochs.keys()
    if (this.#epochs.size > KEPT && oldest !== undefined) this.#epochs.delete(oldest)
  }

  /** To be asked when something is done. */
  requireLatest(method: string, connection: Connection): void {
    const epoch = this.#epochs.get(connection)
    if (epoch === undefined || epoch >= this.#latest) return
    this.#wrong(
      `${method} is done for owner ${epoch}, and owner ${this.#latest} has announced itself`,
    )
  }

  /** Connections of earlier owners than the last. */
  deposed(): Connection[] {
    return [...this.#epochs].flatMap(([connection, epoch]) =>
      epoch < this.#latest ? [connection] : [],
    )
  }
}
