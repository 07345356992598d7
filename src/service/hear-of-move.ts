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

export interface MoveOptions {
  readonly home: string
  /** What others know this one by. */
  readonly node: string
  readonly role: 'owner' | 'standby'
  readonly writer: Pick<JournalWriter, 'commit' | 'owner'>
  /** By which those that wait say so; null: there is none. */
  readonly link: Pick<NodeLink, 'anyWaits'> | null
  /** Ends this service as whoever stops it does: what is under way is answered, and it leaves. */
  readonly end: () => void
  readonly log: {
    warn(context: object, message: string): void
    error(context: object, message: string): void
  }
}

const LOOK_EVERY_MS = 200
/** One that waits sees the question within a second, as it sees any entry. */
const WAITS_MS_MAX = 5_000
const ASKED_BYTES = 16

const TAKES_BACK =
  'COUNTERSIGN_JOURNAL_ROLE of that service is owner: it would take the journal back at its next start. Say standby there, and restart it: a standby takes the journal over, which may be moved from then on'

const NO_LINK =
  'by which a node that waits would say so, COUNTERSIGN_NODE_LINK_FILE, that service has none: say countersign cluster move --to the address of one, or --anyway where you know that one waits'

const NOBODY_WAITS =
  'no node has said within five seconds that it waits and could go on: look at /readyz of each that is to (standby, loaded, not hindered, with a link). With --anyway the service ends all the same'

/**
 * Has the owner of the journal hear an operator's word to hand it over, to one that is named or to whoever
 * waits: it says so in the journal, where all that wait hear it, and ends. One thing after the other: they
 * would take back each other's words.
 */
export function hearOfMove(options: MoveOptions): Moves {
  const { home, log } = options
  let heard = Promise.resolve()
  function look(): void {
    heard = heard
      .then(() => handOver(options))
      .catch((err: unknown) => log.error({ err }, 'the journal could not be handed over'))
  }
  look()
  const stop = watchPath(journalMovePath(home), LOOK_EVERY_MS, look)
  return {
    stop,
    leave(isStillSo) {
      const left = heard.then(() => leaveToWhoeverWaits(options, isStillSo))
      heard = left.then(
        () => undefined,
        () => undefined,
      )
      return left
    },
  }
}

export interface Moves {
  /** No word of an operator is heard any more. */
  stop(): void
  /**
   * Without an operator's word: leaves the journal where a node waits that could go on, and ends.
   * @param isStillSo asked before it ends
   * @returns whether it does
   */
  leave(isStillSo: () => boolean): Promise<boolean>
}

async function handOver(options: MoveOptions): Promise<void> {
  const { home, role, writer, end, log } = options
  const asked = readAskedMove(home)
  if (asked === null || asked.refused !== undefined) return
  if (asked.epoch !== writer.owner.epoch) {
    removeAskedMove(home)
    return
  }
  const said = role === 'owner' ? TAKES_BACK : await say(options, asked)
  // Whoever asked may have given it up while the journal was away.
  const isStillAsked = isSame(readAskedMove(home), asked)
  if (typeof said === 'string') {
    if (isStillAsked) writeAskedMove(home, { ...asked, refused: said })
    return
  }
  if (!isStillAsked) {
    await commit(writer, said.takenBack)
    return
  }
  removeAskedMove(home)
  log.warn({ to: asked.to }, 'the journal is handed over, and this service ends')
  end()
}

async function leaveToWhoeverWaits(
  options: MoveOptions,
  isStillSo: () => boolean,
): Promise<boolean> {
  const { role, writer, end } = options
  if (role === 'owner' || !isStillSo()) return false
  const said = await say(options, { epoch: writer.owner.epoch, to: null })
  if (typeof said === 'string') return false
  if (!isStillSo()) {
    await commit(writer, said.takenBack)
    return false
  }
  end()
  return true
}

interface Said {
  /** What takes it back. */
  readonly takenBack: Row
}

/** @returns why it cannot be, in words for people; nothing is left of it then */
async function say({ node, writer, link }: MoveOptions, asked: AskedMove): Promise<Said | string> {
  const { epoch, to, anyway } = asked
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
  const question = randomBytes(ASKED_BYTES).toString('hex')
  await commit(writer, drainRow({ ...drain, asked: question }))
  if (await link.anyWaits(question, WAITS_MS_MAX)) return { takenBack: noDrainRow() }
  await commit(writer, noDrainRow())
  return NOBODY_WAITS
}

async function commit(writer: MoveOptions['writer'], row: Row): Promise<void> {
  await writer.commit(encodeRows([row]))
}

function isSame(one: AskedMove | null, { epoch, to, anyway }: AskedMove): boolean {
  if (one === null || one.refused !== undefined) return false
  return one.epoch === epoch && one.to === to && one.anyway === anyway
}
