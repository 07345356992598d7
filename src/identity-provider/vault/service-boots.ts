import { Refusal } from '../../quorum-protocol/refusal.js'
import type { Connection } from '../../quorum-protocol/server.js'
import type { ServiceStart } from '../../quorum-protocol/service-boot.js'
import type { Lanes } from './lanes.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'

/** What starts are remembered in. */
export interface BootLedger extends Pick<LedgerStore, 'bootNumber' | 'lastBoot' | 'ownerEpoch'> {
  commit<T>(write: (ledger: Pick<LedgerWriter, 'putBoot'>) => T): {
    result: T
    flushed: Promise<unknown>
  }
}

/**
 * Which start of the wallet service is served. Each is known by the number it got when it first
 * announced itself; the highest is served, and those below it are fenced for good, also across
 * restarts of the user side: two services can run on two copies of a home, but only the one that
 * came later has anything approved.
 *
 * Where their commits go to a journal, which is later is the journal's to say: one that it was taken
 * from may start again, or announce itself late, and takes over from nobody. A service without one,
 * or with another, is taken at its word: its operator has turned the journal off, or begun a new one.
 */
export interface ServiceBoots {
  /**
   * A boot that was never seen takes over at once; durable when it resolves.
   * @throws Refusal FENCED when a later one has, or a later owner of its journal; NO_SESSION when its
   *   connection is gone
   */
  admit(start: ServiceStart, connection: Connection): Promise<void>
  /**
   * @throws Refusal NO_SESSION on a connection on which no start has announced itself; FENCED on
   * one of a start that a later one has taken over from
   */
  requireServed(connection: Connection): void
}

export function createServiceBoots(ledger: BootLedger, lanes: Pick<Lanes, 'fence'>): ServiceBoots {
  /** The number of the start that announced itself on each open connection. */
  const announced = new Map<Connection, number>()

  function announce(connection: Connection, number: number): void {
    for (const other of announced.keys()) if (other.closed) announced.delete(other)
    announced.set(connection, number)
  }

  /** Ended, so that a service that is at rest learns of it, too. */
  function endEarlier(): void {
    for (const [connection, number] of announced) {
      if (number !== ledger.lastBoot) connection.end()
    }
  }

  function requireServed(connection: Connection): void {
    const number = announced.get(connection)
    if (number === undefined) throw new Refusal('NO_SESSION', 'no service has announced itself')
    if (number !== ledger.lastBoot) throw fenced()
  }

  return {
    async admit({ boot, owner }, connection) {
      const known = ledger.bootNumber(boot)
      if (known !== null) {
        // A command may have announced it as the owner that its service was before.
        const isLater = owner !== null && owner.epoch > ledger.ownerEpoch(owner.journal)
        if (known === ledger.lastBoot && isLater) {
          await ledger.commit((writer) => writer.putBoot(known, { boot, owner })).flushed
        }
        announce(connection, known)
        requireServed(connection)
        return
      }
      // It died meanwhile, and its successor may have come before: it takes over from nobody.
      if (connection.closed) throw new Refusal('NO_SESSION', 'its connection is gone')
      if (owner !== null && owner.epoch < ledger.ownerEpoch(owner.journal)) throw fenced()
      const number = ledger.lastBoot + 1
      // Without a pause: from here on no batch of an earlier start is approved.
      const { flushed } = ledger.commit((writer) => writer.putBoot(number, { boot, owner }))
      lanes.fence()
      announce(connection, number)
      endEarlier()
      await flushed
      requireServed(connection)
    },
    requireServed,
  }
}

function fenced(): Refusal {
  return new Refusal('FENCED', 'a wallet service that started later has taken over')
}
