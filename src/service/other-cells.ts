import type { Logger } from 'pino'
import { systemTimers, type Timers } from '../clock/timers.js'
import { cellsOf, readJournalFile } from '../config/journal.js'
import { NODE_LINK_VARIABLE, nodeAt, readNodeLinkFile } from '../config/node-link.js'
import { type Cell, cellOf, ONE_CELL } from '../domain/cells.js'
import { createForwarder, type Forwarder, type ForwardOptions } from '../http/forward-to-leader.js'
import type { LeaderPlace } from '../http/leader-place.js'
import { partitionOfRequest } from '../http/partition-of-request.js'
import { readRequestHead } from '../http/request-head.js'
import type { Elsewhere } from '../http/route-by-partition.js'
import type { Journal } from '../journal/journal.js'
import { openEngine } from '../journal/open-engine.js'
import { prove } from '../journal/proven.js'
import { LinkAgent } from '../link/link-agent.js'

/**
 * Tells which users this node serves, and forwards requests for other users to the leaders of their
 * cells.
 */
export interface OtherCells {
  readonly own: Cell
  /** Null in an installation with one cell. */
  readonly elsewhere: Elsewhere | null
  /**
   * Closes the connection after each answer from now on. Resolves once all forwarded requests are
   * answered, or when the time since the first call is up.
   */
  drain(): Promise<void>
  close(): Promise<void>
}

interface OtherCellsOptions {
  /** The value of COUNTERSIGN_JOURNAL_FILE; null without a journal, and then there is one cell. */
  readonly journalFile: string | null
  /** The value of COUNTERSIGN_NODE_LINK_FILE. */
  readonly nodeLinkFile: string | null
  readonly clientAddress: ForwardOptions['clientAddress']
  readonly log: Logger
  /** Defaults to the machine's timers. */
  readonly timers?: Pick<Timers, 'at' | 'now' | 'elapsed'>
}

/** As long as an ending service waits for the requests that it answers itself. */
const DRAIN_MS = 10_000
/** Pause between two polls of a cell's leader; each poll reads one row. */
const POLL_MS = 250
/**
 * Pause between two write fence probes. A probe commits, which a replaced server cannot, so reads
 * are known to be current.
 */
const PROVEN_EVERY_MS = 30_000
/** Pause between two log lines about an engine that does not answer. */
const SAID_EVERY_MS = 10_000

const NO_LINK = `The journal file names several cells, but ${NODE_LINK_VARIABLE} is not set. Nodes forward requests for other cells' users over that link; set the variable to the link's file.`

/**
 * Polls who leads the other cells, and forwards requests for their users. While the engine does not
 * answer, requests go to the last known leader.
 * @throws Error if there are several cells and no link between nodes; as `readJournalFile` and
 * `readNodeLinkFile`
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
  const stopPolling = pollEvery(others, journal, ways, timers, log)

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
      stopPolling()
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
  seen(place: LeaderPlace | null): void
}

function wayTo(cell: number, { clientAddress, log }: OtherCellsOptions, agent: LinkAgent): Way {
  let place: LeaderPlace | null = null
  const forwarder = createForwarder({
    ...{ agent, clientAddress, leader: () => place },
    // Nothing reads this report: the node reports its own state.
    report: () => ({ status: 'up' }),
    log: log.child({ cell }),
  })
  return {
    forwarder,
    seen(next) {
      const isSame = next?.epoch === place?.epoch
      place = next
      if (!isSame) forwarder.leaderChanged()
    },
  }
}

/** @returns a function that stops the polling */
function pollEvery(
  others: readonly Cell[],
  journal: Pick<Journal, 'readHead' | 'trim'>,
  ways: ReadonlyMap<number, Way>,
  timers: Pick<Timers, 'at' | 'now' | 'elapsed'>,
  log: Logger,
): () => void {
  let isOver = false
  let saidMs = Number.NEGATIVE_INFINITY
  const wakes = new Map<number, () => void>()

  async function poll({ number }: Cell): Promise<void> {
    try {
      const { epoch, owner: leader } = await journal.readHead(number)
      const at = leader === null ? null : nodeAt(leader.node)
      ways.get(number)?.seen(at === null ? null : { ...at, epoch })
    } catch (err) {
      if (isOver || timers.elapsed() - saidMs < SAID_EVERY_MS) return
      saidMs = timers.elapsed()
      log.warn(
        { err, cell: number },
        'the leader of another cell could not be read from the journal',
      )
    }
  }

  /** Cells are polled independently, so a slow answer holds up no other cell. */
  async function run(cell: Cell): Promise<void> {
    let provenMs = timers.elapsed()
    while (!isOver) {
      await poll(cell)
      if (timers.elapsed() - provenMs >= PROVEN_EVERY_MS) {
        await prove(journal, cell.number).catch(() => undefined)
        provenMs = timers.elapsed()
      }
      await new Promise<void>((done) => {
        wakes.set(cell.number, done)
        timers.at(timers.now() + POLL_MS, done)
      })
    }
  }

  for (const cell of others) void run(cell)
  return () => {
    isOver = true
    for (const wake of wakes.values()) wake()
  }
}
