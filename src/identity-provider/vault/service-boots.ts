import { type Cell, formatPartitions, overlaps } from '../../domain/cells.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { Connection } from '../../quorum-protocol/server.js'
import type { JournalOwner, ServiceStart } from '../../quorum-protocol/service-boot.js'
import { cellOf, type KeyCounts, type LatestStart } from './boot-rows.js'
import type { Lanes } from './lanes.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'

/** What starts are remembered in. */
export interface BootLedger
  extends Pick<
    LedgerStore,
    'bootNumber' | 'lastBoot' | 'latestStart' | 'latestStarts' | 'ownerEpoch'
  > {
  commit<T>(write: (ledger: Pick<LedgerWriter, 'putBoot'>) => T): {
    result: T
    flushed: Promise<unknown>
  }
}

/**
 * Which starts of the wallet service are served: of each cell one. Each start is known by the number it
 * got when it first announced itself; the highest of a cell is served, and those of that cell below it are
 * fenced for good, also across restarts of the user side: two services can run on two copies of a home,
 * but only the one that came later has anything approved. Of another cell no start is fenced.
 *
 * Where their commits go to a journal, which is later is the journal's to say: one that it was taken
 * from may start again, or announce itself late, and takes over from nobody. A service without one,
 * or with another, is taken at its word: its operator has turned the journal off, or begun a new one.
 *
 * No user is of two cells. Where users are dealt out anew, a start with partitions that another cell has
 * waits for a start of that one with fewer.
 *
 * What was announced by a co-signer key that has ended bounds nobody, and is served no more: whoever stole it
 * could otherwise have named the highest epoch there is, and shut out for good who is to be served.
 */
export interface ServiceBoots {
  /**
   * A boot that was never seen takes over at once; durable when it resolves.
   * @throws Refusal FENCED when a later one of its cell has, or a later owner of its journal; CONFLICT
   *   while another cell has some of its partitions; NO_SESSION when its connection is gone
   */
  admit(start: ServiceStart, connection: Connection): Promise<void>
  /**
   * @returns whose users it may ask for
   * @throws Refusal NO_SESSION on a connection on which no start has announced itself; FENCED on
   * one of a start that a later one has taken over from; UNAUTHENTIC once the key has ended that it was
   * announced by
   */
  requireServed(connection: Connection): Cell
}

interface Announced {
  /** Of the start. */
  readonly number: number
  /** Number of its cell. */
  readonly cell: number
  readonly kid: Uint8Array | null
}

/** @param counts whether a co-signer key is one still, by the registry as it is */
export function createServiceBoots(
  ledger: BootLedger,
  lanes: Pick<Lanes, 'fence'>,
  counts: KeyCounts,
): ServiceBoots {
  /** The start that announced itself on each open connection. */
  const announced = new Map<Connection, Announced>()

  function announce(connection: Connection, start: Announced): void {
    for (const other of announced.keys()) if (other.closed) announced.delete(other)
    announced.set(connection, start)
  }

  /** Ended, so that a service that is at rest learns of it, too. */
  function endEarlier(latest: Announced): void {
    for (const [connection, { number, cell }] of announced) {
      if (cell === latest.cell && number !== latest.number) connection.end()
    }
  }

  function requireServed(connection: Connection): Cell {
    const start = announced.get(connection)
    if (start === undefined) throw new Refusal('NO_SESSION', 'no service has announced itself')
    if (!counts(start.kid)) {
      throw new Refusal(
        'UNAUTHENTIC',
        'the co-signer key has ended that this service announced itself by',
      )
    }
    const latest = ledger.latestStart(start.cell)
    if (latest === null || latest.number !== start.number) throw fenced()
    return latest.cell
  }

  /** The same service goes on trying: it waits for that cell's, which an operator starts anew. */
  function requireApart(cell: Cell): void {
    for (const { cell: other, kid } of ledger.latestStarts()) {
      if (other.number === cell.number || !overlaps(other, cell) || !counts(kid)) continue
      const partitions = other.partitions & cell.partitions
      throw new Refusal(
        'CONFLICT',
        `cell ${cell.number} announces the partitions ${formatPartitions(cell)}, and cell ${other.number} has ${formatPartitions({ ...cell, partitions })} of them: it is served once a start of cell ${other.number} announces itself without those`,
      )
    }
  }

  return {
    async admit(start, connection) {
      const { boot, owner, kid = null } = start
      const cell = cellOf(start)
      const lastEpoch = owner === null ? 0 : ledger.ownerEpoch(cell.number, owner.journal, counts)
      const known = ledger.bootNumber(boot)
      if (known !== null) {
        const latest = ledger.latestStart(cell.number)
        // A command may have announced it as the owner that its service was before.
        const isLater = owner !== null && owner.epoch > Math.max(lastEpoch, epochOf(latest, owner))
        // Its key was exchanged, and is to end.
        const isByAnother = kid !== null && (latest?.kid == null || !sameBytes(latest.kid, kid))
        if (latest?.number === known && (isLater || isByAnother)) {
          requireApart(cell)
          const noted = isLater ? start : { ...start, owner: latest.owner }
          await ledger.commit((writer) => writer.putBoot(known, noted)).flushed
        }
        announce(connection, { number: known, cell: cell.number, kid })
        requireServed(connection)
        return
      }
      // It died meanwhile, and its successor may have come before: it takes over from nobody.
      if (connection.closed) throw new Refusal('NO_SESSION', 'its connection is gone')
      if (owner !== null && owner.epoch < lastEpoch) throw fenced()
      requireApart(cell)
      const number = ledger.lastBoot + 1
      // Without a pause: from here on no batch of an earlier start of the cell is approved.
      const { flushed } = ledger.commit((writer) => writer.putBoot(number, start))
      lanes.fence(cell.number)
      const latest = { number, cell: cell.number, kid }
      announce(connection, latest)
      endEarlier(latest)
      await flushed
      requireServed(connection)
    },
    requireServed,
  }
}

/** With which the latest took that journal, whatever key said so; 0 where it did not. */
function epochOf(latest: LatestStart | null, { journal }: JournalOwner): number {
  return latest?.owner?.journal === journal ? latest.owner.epoch : 0
}

function fenced(): Refusal {
  return new Refusal('FENCED', 'a wallet service that started later has taken over')
}
