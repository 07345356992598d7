import { randomBytes } from 'node:crypto'
import {
  type AskedMove,
  journalMovePath,
  readAskedMove,
  removeAskedMove,
  writeAskedMove,
} from '../disk/journal-move.js'
import { watchPath } from '../disk/watch-path.js'
import { drainRow, moveRow, noDrainRow, nodeIdOf, noMoveRow } from '../store/journal-move.js'
import type { JournalWriter } from '../store/journal-writer.js'
import type { Row } from '../store/rows.js'
import { encodeRows } from '../store/rows-encoding.js'
import type { NodeLink } from './node-link.js'

interface HandoverOptions {
  readonly home: string
  /** The address by which other nodes know this one. */
  readonly node: string
  readonly role: 'owner' | 'standby'
  readonly writer: Pick<JournalWriter, 'commit' | 'leadership'>
  /** The link on which standbys report that they are ready; null if the service has none. */
  readonly link: Pick<NodeLink, 'anyWaits'> | null
  /**
   * Stops this service as SIGTERM does: it answers the requests under way, then releases the
   * journal.
   */
  readonly end: () => void
  readonly log: {
    warn(context: object, message: string): void
    error(context: object, message: string): void
  }
}

const POLL_MS = 200
/** A standby sees the question within a second, as it sees any entry. */
const WAITS_MS_MAX = 5_000
const QUESTION_BYTES = 16

const TAKES_BACK =
  'COUNTERSIGN_JOURNAL_ROLE of that service is owner, so it would take the journal back at its next start. Set it to standby and restart the service; a standby takes over, and you can move the journal from then on.'

const NO_LINK =
  'That service has no node link (COUNTERSIGN_NODE_LINK_FILE), so it cannot tell whether a standby is ready. Name one with `countersign cluster move --to ADDRESS`, or pass --anyway if you know that one is ready.'

const NO_STANDBY_READY =
  'No standby reported ready within 5 s. Check /readyz of each standby: it must be loaded, not hindered, and have a node link. With --anyway the service stops regardless.'

/**
 * Watches for an operator's request to hand over the journal, to a named node or to any standby
 * that is ready. It writes the request to the journal, where every standby reads it, and ends the
 * service. Requests are handled one at a time, because each could take back the other's row.
 */
export function watchHandoverRequests(options: HandoverOptions): HandoverRequests {
  const { home, log } = options
  let handled = Promise.resolve()
  function poll(): void {
    handled = handled
      .then(() => handOver(options))
      .catch((err: unknown) => log.error({ err }, 'the journal could not be handed over'))
  }
  poll()
  const stop = watchPath(journalMovePath(home), POLL_MS, poll)
  return {
    stop,
    leave(isStillSo) {
      const left = handled.then(() => leaveToReadyStandby(options, isStillSo))
      handled = left.then(
        () => undefined,
        () => undefined,
      )
      return left
    },
  }
}

interface HandoverRequests {
  /** Stops watching for requests. */
  stop(): void
  /**
   * Leaves the journal without an operator's request, if a standby is ready, and ends the service.
   * @param isStillSo called before the service ends; it stays if this returns false
   * @returns whether it ends
   */
  leave(isStillSo: () => boolean): Promise<boolean>
}

async function handOver(options: HandoverOptions): Promise<void> {
  const { home, role, writer, end, log } = options
  const request = readAskedMove(home)
  if (request === null || request.refused !== undefined) return
  if (request.epoch !== writer.leadership.epoch) {
    removeAskedMove(home)
    return
  }
  const written = role === 'owner' ? TAKES_BACK : await writeRequest(options, request)
  // The operator may have withdrawn the request while the journal did not answer.
  const isStillRequested = isSame(readAskedMove(home), request)
  if (typeof written === 'string') {
    if (isStillRequested) writeAskedMove(home, { ...request, refused: written })
    return
  }
  if (!isStillRequested) {
    await commit(writer, written.takenBack)
    return
  }
  removeAskedMove(home)
  log.warn({ to: request.to }, 'the journal is handed over, and this service ends')
  end()
}

async function leaveToReadyStandby(
  options: HandoverOptions,
  isStillSo: () => boolean,
): Promise<boolean> {
  const { role, writer, end } = options
  if (role === 'owner' || !isStillSo()) return false
  const written = await writeRequest(options, { epoch: writer.leadership.epoch, to: null })
  if (typeof written === 'string') return false
  if (!isStillSo()) {
    await commit(writer, written.takenBack)
    return false
  }
  end()
  return true
}

interface WrittenRequest {
  /** The row that withdraws the request. */
  readonly takenBack: Row
}

/**
 * @returns why the journal cannot be handed over, as a message for the operator; no row is left
 * then
 */
async function writeRequest(
  { node, writer, link }: HandoverOptions,
  request: AskedMove,
): Promise<WrittenRequest | string> {
  const { epoch, to, anyway } = request
  if (to !== null) {
    await commit(writer, moveRow({ epoch, to }))
    return { takenBack: noMoveRow() }
  }
  const drain = { epoch, from: nodeIdOf(node) }
  if (anyway === true) {
    await commit(writer, drainRow({ ...drain, asked: '' }))
    return { takenBack: noDrainRow() }
  }
  if (link === null) return NO_LINK
  const question = randomBytes(QUESTION_BYTES).toString('hex')
  await commit(writer, drainRow({ ...drain, asked: question }))
  if (await link.anyWaits(question, WAITS_MS_MAX)) return { takenBack: noDrainRow() }
  await commit(writer, noDrainRow())
  return NO_STANDBY_READY
}

async function commit(writer: HandoverOptions['writer'], row: Row): Promise<void> {
  await writer.commit(encodeRows([row]))
}

function isSame(one: AskedMove | null, { epoch, to, anyway }: AskedMove): boolean {
  if (one === null || one.refused !== undefined) return false
  return one.epoch === epoch && one.to === to && one.anyway === anyway
}
