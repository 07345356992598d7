import type { Timers } from '../clock/timers.js'
import { instanceFreezePath, readInstanceFreeze } from '../custody/instance-freeze.js'
import { carriedFreezeOf } from '../store/carried-freeze.js'
import type { Commits } from '../store/commits.js'
import type { Reader } from '../store/reader.js'
import { WriteBatch } from '../store/write-batch.js'

const AGAIN_MS = 1_000

export interface FreezeMirrorPorts {
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
  /** The file is another one, or gone. */
  look(): void
  /** After a last look: what was frozen a moment ago goes to whoever takes over. */
  close(): Promise<void>
}

/**
 * Keeps the row of the operator's freeze level with the file of this home, which owns the journal:
 * whoever takes it over is frozen by it. The file is in force at once, the row once it is stored.
 */
export function mirrorFreeze(ports: FreezeMirrorPorts): FreezeMirror {
  const { timers, log } = ports
  let isClosed = false
  let looked = Promise.resolve()

  function look(): void {
    looked = looked.then(() => level(ports)).catch(fail)
  }

  function fail(err: unknown): void {
    log.error({ err }, 'the freeze of the service could not be put into the journal')
    if (!isClosed) timers.at(timers.now() + AGAIN_MS, look)
  }

  look()
  return {
    look,
    close() {
      isClosed = true
      look()
      return looked
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
      ? 'the journal has the freeze no more'
      : 'the journal has the freeze, for whoever takes it over',
  )
}
