import { type Cell, formatPartitions, overlaps } from '../../domain/cells.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { Connection } from '../../quorum-protocol/server.js'
import type { JournalLeadership, ServiceStart } from '../../quorum-protocol/service-boot.js'
import { cellOf, type KeyCounts, type LatestStart } from './boot-rows.js'
import type { Lanes } from './lanes.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'

/** The parts of the ledger that remember starts. */
interface BootLedger
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
 * Decides which start of the wallet service is served: one per cell. A start gets a number when it
 * first announces itself. The highest of a cell is served, and the lower ones of that cell are
 * fenced for good, also across restarts of the identity provider: two services may run on copies of
 * one home, but only the later one has anything approved. Starts of other cells are not affected.
 *
 * With a journal, the journal decides which start is later: a start that lost leadership may run
 * again or announce itself late, but takes over from nobody. A service without a journal, or with a
 * different one, is believed: its operator has turned the journal off or begun a new one.
 *
 * No user belongs to two cells. When users are redistributed, a start with partitions of another
 * cell waits for a start of that cell without them.
 *
 * Announcements by a revoked co-signer key are ignored and no longer served: a thief of the key
 * could have named the highest epoch and locked out the rightful service for good.
 */
export interface ServiceBoots {
  /**
   * Admits a start. A new boot takes over at once. Resolves once it is durable.
   * @throws Refusal FENCED when a later start of its cell, or a later leader of its journal, has
   * taken over; CONFLICT while another cell has some of its partitions; NO_SESSION when its
   * connection is gone
   */
  admit(start: ServiceStart, connection: Connection): Promise<void>
  /**
   * @returns the cell whose users the connection may ask for
   * @throws Refusal NO_SESSION when no start announced itself on the connection; FENCED when a
   * later start has taken over; UNAUTHENTIC when the key that announced it has ended
   */
  requireServed(connection: Connection): Cell
}

interface Announced {
  /** The number of the start. */
  readonly number: number
  /** The number of its cell. */
  readonly cell: number
  readonly kid: Uint8Array | null
}

/** @param counts tells whether the present registry still accepts a co-signer key */
export function createServiceBoots(
  ledger: BootLedger,
  lanes: Pick<Lanes, 'fence'>,
  counts: KeyCounts,
): ServiceBoots {
  /** The start announced on each open connection. */
  const announced = new Map<Connection, Announced>()

  function announce(connection: Connection, start: Announced): void {
    for (const other of announced.keys()) if (other.closed) announced.delete(other)
    announced.set(connection, start)
  }

  /** Ends their connections, so that an idle service learns of it too. */
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
        'the co-signer key with which this service announced itself has ended',
      )
    }
    const latest = ledger.latestStart(start.cell)
    if (latest === null || latest.number !== start.number) throw fenced()
    return latest.cell
  }

  /** The refused service keeps retrying until an operator restarts the other cell's service. */
  function requireApart(cell: Cell): void {
    for (const { cell: other, kid } of ledger.latestStarts()) {
      if (other.number === cell.number || !overlaps(other, cell) || !counts(kid)) continue
      const partitions = other.partitions & cell.partitions
      throw new Refusal(
        'CONFLICT',
        `cell ${cell.number} announces the partitions ${formatPartitions(cell)}, but cell ${other.number} has ${formatPartitions({ ...cell, partitions })} of them: restart cell ${other.number} without those, then this one is served`,
      )
    }
  }

  return {
    async admit(start, connection) {
      const { boot, leadership, kid = null } = start
      const cell = cellOf(start)
      const lastEpoch =
        leadership === null ? 0 : ledger.ownerEpoch(cell.number, leadership.journal, counts)
      const known = ledger.bootNumber(boot)
      if (known !== null) {
        const latest = ledger.latestStart(cell.number)
        // A command may have announced it with the service's earlier leadership.
        const isLater =
          leadership !== null && leadership.epoch > Math.max(lastEpoch, epochOf(latest, leadership))
        // Its key was exchanged, and the old one is about to end.
        const isByAnother = kid !== null && (latest?.kid == null || !sameBytes(latest.kid, kid))
        if (latest?.number === known && (isLater || isByAnother)) {
          requireApart(cell)
          const noted = isLater ? start : { ...start, leadership: latest.leadership }
          await ledger.commit((writer) => writer.putBoot(known, noted)).flushed
        }
        announce(connection, { number: known, cell: cell.number, kid })
        requireServed(connection)
        return
      }
      // It ended in between, and its successor may have announced itself first: it takes over from
      // nobody.
      if (connection.closed) throw new Refusal('NO_SESSION', 'its connection is gone')
      if (leadership !== null && leadership.epoch < lastEpoch) throw fenced()
      requireApart(cell)
      const number = ledger.lastBoot + 1
      // No pause here: from now on no batch of an earlier start of the cell is approved.
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

/** Returns the epoch of the latest start in that journal, by whichever key; 0 without one. */
function epochOf(latest: LatestStart | null, { journal }: JournalLeadership): number {
  return latest?.leadership?.journal === journal ? latest.leadership.epoch : 0
}

function fenced(): Refusal {
  return new Refusal('FENCED', 'a wallet service that started later has taken over')
}
