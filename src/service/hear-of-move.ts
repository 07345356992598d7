import {
  type AskedMove,
  journalMovePath,
  readAskedMove,
  removeAskedMove,
  writeAskedMove,
} from '../disk/journal-move.js'
import { watchPath } from '../disk/watch-path.js'
import { moveRow, noMoveRow } from '../store/journal-move.js'
import type { JournalWriter } from '../store/journal-writer.js'
import { encodeRows } from '../store/rows-encoding.js'

export interface MoveOptions {
  readonly home: string
  readonly role: 'owner' | 'standby'
  readonly writer: Pick<JournalWriter, 'commit' | 'owner'>
  /** Ends this service as whoever stops it does: what is under way is answered, and it leaves. */
  readonly end: () => void
  readonly log: {
    warn(context: object, message: string): void
    error(context: object, message: string): void
  }
}

const LOOK_EVERY_MS = 200

const TAKES_BACK =
  'COUNTERSIGN_JOURNAL_ROLE of that service is owner: it would take the journal back at its next start. Say standby there, and restart it: a standby takes the journal over, which may be moved from then on'

/**
 * Has the owner of the journal hear an operator's word to hand it over: it says so in the journal, where
 * all that wait hear it, and ends.
 * @returns ends that
 */
export function hearOfMove(options: MoveOptions): () => void {
  const { home, log } = options
  let heard = Promise.resolve()
  function look(): void {
    heard = heard
      .then(() => handOver(options))
      .catch((err: unknown) => log.error({ err }, 'the journal could not be handed over'))
  }
  look()
  return watchPath(journalMovePath(home), LOOK_EVERY_MS, look)
}

async function handOver({ home, role, writer, end, log }: MoveOptions): Promise<void> {
  const asked = readAskedMove(home)
  if (asked === null || asked.refused !== undefined) return
  if (asked.epoch !== writer.owner.epoch) {
    removeAskedMove(home)
    return
  }
  if (role === 'owner') {
    writeAskedMove(home, { ...asked, refused: TAKES_BACK })
    return
  }
  await writer.commit(encodeRows([moveRow(asked)]))
  // Whoever asked may have given it up while the journal was away.
  if (!isSame(readAskedMove(home), asked)) {
    await writer.commit(encodeRows([noMoveRow()]))
    return
  }
  removeAskedMove(home)
  log.warn({ to: asked.to }, 'the journal is handed over, and this service ends')
  end()
}

function isSame(one: AskedMove | null, { epoch, to }: AskedMove): boolean {
  return one !== null && one.epoch === epoch && one.to === to && one.refused === undefined
}
