import type { Timers } from '../clock/timers.js'
import { instanceFreezePath, readInstanceFreeze } from '../custody/instance-freeze.js'
import { carriedFreezeOf } from '../store/carried-freeze.js'
import type { Commits } from '../store/commits.js'
import type { Reader } from '../store/reader.js'
import { WriteBatch } from '../store/write-batch.js'

const AGAIN_MS = 1_000

interface FreezeMirrorPorts {
  readonly home: string
  readonly reader: Pick<Reader, 'fresh'>
  readonly commits: Commits
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: {
    warn(context: object, message: string): void
    error(context: object, message: string): void
  }
}

export interface FreezeMirror {
  /** Reads the file again after it changed or was removed. */
  poll(): void
  /** Closes after a last read, so that the next leader knows of a recent freeze. */
  close(): Promise<void>
}

/**
 * Keeps the row of the operator's freeze equal to the file in this home, whose service leads: the
 * freeze then binds every later leader. The file applies at once, the row once it is stored.
 */
export function mirrorFreeze(ports: FreezeMirrorPorts): FreezeMirror {
  const { timers, log } = ports
  let isClosed = false
  let polled = Promise.resolve()

  function poll(): void {
    polled = polled.then(() => level(ports)).catch(fail)
  }

  function fail(err: unknown): void {
    log.error({ err }, 'the freeze of the service could not be put into the journal')
    if (!isClosed) timers.at(timers.now() + AGAIN_MS, poll)
  }

  poll()
  return {
    poll,
    close() {
      isClosed = true
      poll()
      return polled
    },
  }
}

async function level({ home, reader, commits, log }: FreezeMirrorPorts): Promise<void> {
  const frozen = readInstanceFreeze(instanceFreezePath(home, 'service'))
  const carried = carriedFreezeOf(reader.fresh().freezes)
  if (frozen === null && carried === null) return
  const batch = new WriteBatch()
  if (frozen === null) batch.deleteInstanceFreeze()
  else {
    const { sinceMs, reason } = frozen
    const isSame = carried !== null && carried !== 'unread' && carried.sinceMs === sinceMs
    if (isSame && carried.reason === reason) return
    batch.putInstanceFreeze(sinceMs, reason)
  }
  await commits.commit(batch)
  log.warn(
    { frozen },
    frozen === null
      ? 'the journal no longer has the freeze'
      : 'the journal has the freeze, which binds the next leader',
  )
}
