import type { Logger } from 'pino'
import { systemTimers, type Timers } from '../clock/timers.js'
import { cellsOf, readJournalFile } from '../config/journal.js'
import { NODE_LINK_VARIABLE, nodeAt, readNodeLinkFile } from '../config/node-link.js'
import { type Cell, cellOf, ONE_CELL } from '../domain/cells.js'
import type { Elsewhere } from '../http/deal-out.js'
import { createForwarder, type Forwarder, type ForwardOptions } from '../http/forward-to-owner.js'
import type { OwnerPlace } from '../http/owner-place.js'
import { partitionOfRequest } from '../http/partition-of-request.js'
import { readRequestHead } from '../http/request-head.js'
import type { Journal } from '../journal/journal.js'
import { openEngine } from '../journal/open-engine.js'
import { prove } from '../journal/proven.js'
import { LinkAgent } from '../link/link-agent.js'

/** Which users this node is for, and its way to the owners of all others. */
export interface OtherCells {
  readonly own: Cell
  /** Null: there are no others. */
  readonly elsewhere: Elsewhere | null
  /**
   * From now on each answer closes its connection. Resolves once what was passed on was answered, or in time, which
   * is counted from the first call.
   */
  drain(): Promise<void>
  close(): Promise<void>
}

export interface OtherCellsOptions {
  /** COUNTERSIGN_JOURNAL_FILE; null: there is no journal, and one cell. */
  readonly journalFile: string | null
  /** COUNTERSIGN_NODE_LINK_FILE */
  readonly nodeLinkFile: string | null
  readonly clientAddress: ForwardOptions['clientAddress']
  readonly log: Logger
  /** Default: the machine's. */
  readonly timers?: Pick<Timers, 'at' | 'now' | 'elapsed'>
}

/** As long as a service that ends waits for what it answers itself. */
const DRAIN_MS = 10_000
/** Between two looks at who owns each of them: a row each. */
const LOOK_MS = 250
/** Between two questions whether what is read is of now: by a commit, which a server that was replaced has not. */
const PROVEN_EVERY_MS = 30_000
/** Between two lines about an engine that does not answer. */
const SAID_EVERY_MS = 10_000

const NO_LINK = `the journal's file names cells, and ${NODE_LINK_VARIABLE} no file: a node passes on by it what is of another cell's users`

/**
 * Follows who owns the other cells, and passes on to them what is of their users. While the engine does
 * not answer, whoever was last seen is asked.
 * @throws Error for cells without a link between nodes; as `readJournalFile` and `readNodeLinkFile`
 */
export async function openOtherCells(options: OtherCellsOptions): Promise<OtherCells> {
  const { journalFile, nodeLinkFile, log, timers = systemTimers() } = options
  if (journalFile === null) return alone(ONE_CELL)
  const settings = readJournalFile(journalFile)
  const cells = cellsOf(settings)
  const others = cells.all.filter(({ number }) => number !== cells.own.number)
  if (others.length === 0) return alone(cells.own)
  if (nodeLinkFile === null) throw new Error(NO_LINK)
  const agent = new LinkAgent(readNodeLinkFile(nodeLinkFile).credentials)
  const journal = await openEngine(settings, log)
  const ways = new Map(others.map(({ number }) => [number, wayTo(number, options, agent)]))
  let untilMs: number | null = null
  const stopLooking = lookEvery(others, journal, ways, timers, log)

  return {
    own: cells.own,
    elsewhere(request) {
      const partition = partitionOfRequest(request.getUrl(), readRequestHead(request))
      if (partition === null) return null
      return ways.get(cellOf(cells, partition).number)?.forwarder.serve ?? null
    },
    async drain() {
      untilMs ??= timers.elapsed() + DRAIN_MS
      const leftMs = Math.max(0, untilMs - timers.elapsed())
      await Promise.all([...ways.values()].map(({ forwarder }) => forwarder.drain(leftMs)))
    },
    async close() {
      stopLooking()
      agent.destroy()
      await journal.close()
    },
  }
}

function alone(own: Cell): OtherCells {
  const nothing = async (): Promise<void> => undefined
  return { own, elsewhere: null, drain: nothing, close: nothing }
}

interface Way {
  readonly forwarder: Forwarder
  seen(place: OwnerPlace | null): void
}

function wayTo(cell: number, { clientAddress, log }: OtherCellsOptions, agent: LinkAgent): Way {
  let place: OwnerPlace | null = null
  const forwarder = createForwarder({
    ...{ agent, clientAddress, owner: () => place },
    // Nobody asks it: how this node is, it says by itself.
    report: () => ({ status: 'up' }),
    log: log.child({ cell }),
  })
  return {
    forwarder,
    seen(next) {
      const isSame = next?.epoch === place?.epoch
      place = next
      if (!isSame) forwarder.ownerChanged()
    },
  }
}

/** @returns ends it */
function lookEvery(
  others: readonly Cell[],
  journal: Pick<Journal, 'look' | 'trim'>,
  ways: ReadonlyMap<number, Way>,
  timers: Pick<Timers, 'at' | 'now' | 'elapsed'>,
  log: Logger,
): () => void {
  let isOver = false
  let saidMs = Number.NEGATIVE_INFINITY
  const wakes = new Map<number, () => void>()

  async function look({ number }: Cell): Promise<void> {
    try {
      const { epoch, owner } = await journal.look(number)
      const at = owner === null ? null : nodeAt(owner.node)
      ways.get(number)?.seen(at === null ? null : { ...at, epoch })
    } catch (err) {
      if (isOver || timers.elapsed() - saidMs < SAID_EVERY_MS) return
      saidMs = timers.elapsed()
      log.warn({ err, cell: number }, 'who owns another cell could not be looked up')
    }
  }

  /** Each by itself: one that is slow to be looked up holds up no other. */
  async function run(cell: Cell): Promise<void> {
    let provenMs = timers.elapsed()
    while (!isOver) {
      await look(cell)
      if (timers.elapsed() - provenMs >= PROVEN_EVERY_MS) {
        await prove(journal, cell.number).catch(() => undefined)
        provenMs = timers.elapsed()
      }
      await new Promise<void>((done) => {
        wakes.set(cell.number, done)
        timers.at(timers.now() + LOOK_MS, done)
      })
    }
  }

  for (const cell of others) void run(cell)
  return () => {
    isOver = true
    for (const wake of wakes.values()) wake()
  }
}
