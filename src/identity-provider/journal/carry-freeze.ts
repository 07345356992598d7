import { setTimeout as delay } from 'node:timers/promises'
import type { Database, RootDatabase } from 'lmdb'
import { userSideLayout } from '../../custody/domain-keys/layout.js'
import {
  bringFreeze,
  followInstanceFreeze,
  instanceFreezePath,
  readInstanceFreeze,
} from '../../custody/instance-freeze.js'
import { openLmdb } from '../../disk/lmdb-file.js'
import { openRecorded, recordedWritesOf } from '../../disk/recorded-writes.js'
import type { Freezing } from '../../domain/freeze.js'
import { positionIn } from './stores.js'

/**
 * Carries the operator's freeze of the identity provider through its journal, so that the next
 * leader is frozen before it signs anything. In each home, the file states what is in force.
 *
 * `97-instance-freeze` beside the ledger's databases: 0 → time and reason of the freeze.
 */
export interface CarriedFreeze {
  close(): Promise<void>
}

interface Row {
  readonly sinceMs: number
  readonly reason: string | null
}

const ROW = 0

interface Log {
  warn(context: object, message: string): void
  error(context: object, message: string): void
}

/** The leader reads the file five times a second and stores the change in the journal. */
const CARRIED_MS = 3_000
const POLL_MS = 50

/**
 * Waits until the journal of a home states what its file does.
 * @returns null when the home has no journal
 */
export async function isFreezeCarried(home: string, isFrozen: boolean): Promise<boolean | null> {
  if ((await positionIn(home)) === null) return null
  const { ledger } = userSideLayout(home)
  const root = openLmdb({ path: ledger, overlappingSync: false, maxDbs: 32 })
  try {
    const rows = openRows(root)
    const { numbers } = recordedWritesOf(root, ledger)
    for (const endMs = performance.now() + CARRIED_MS; performance.now() < endMs; ) {
      root.resetReadTxn()
      const isThere = rows.doesExist(ROW) === isFrozen
      if (isThere && [...numbers()].length === 0) return true
      await delay(POLL_MS)
    }
    return false
  } finally {
    await root.close()
  }
}

/**
 * Writes the journaled freeze of a stopped home to its file, before the home leaves its journal.
 */
export async function bringCarriedFreeze(home: string, log: Pick<Log, 'warn'>): Promise<void> {
  const root = openLmdb({ path: userSideLayout(home).ledger, overlappingSync: false, maxDbs: 32 })
  try {
    const rows = openRows(root)
    bringFreeze(home, 'user', readRow(rows), Date.now(), log)
    await rows.remove(ROW)
  } finally {
    await root.close()
  }
}

/** Called by the leader before anything can be signed. */
export function carryFreeze(home: string, log: Log): CarriedFreeze {
  const root = openRecorded({
    ...{ path: userSideLayout(home).ledger, overlappingSync: false, maxDbs: 32 },
  })
  const rows = openRows(root)
  let last: Promise<unknown> = Promise.resolve()

  function put(freezing: Pick<Freezing, 'sinceMs' | 'reason'> | null): void {
    const write = () =>
      root.transaction(() => {
        if (freezing !== null) {
          void rows.put(ROW, { sinceMs: freezing.sinceMs, reason: freezing.reason })
        } else if (rows.get(ROW) !== undefined) void rows.remove(ROW)
      })
    last = last.then(write).catch((err: unknown) => {
      log.error(
        { err },
        'the freeze is in force in this home but not in the journal: run the freeze command in each home',
      )
    })
  }

  bringFreeze(home, 'user', readRow(rows), Date.now(), log)
  const path = instanceFreezePath(home, 'user')
  const standing = readInstanceFreeze(path)
  if (standing !== null) put(standing)
  const following = followInstanceFreeze(path, put)
  return {
    async close() {
      following.close()
      await last
      await root.close()
    },
  }
}

function openRows(root: RootDatabase): Database<Row, number> {
  const plain = { encoder: { useRecords: false } }
  return root.openDB<Row, number>({ name: '97-instance-freeze', ...plain })
}

/** An unreadable row counts as a freeze. */
function readRow(rows: Database<Row, number>): Row | null | 'unread' {
  try {
    return rows.get(ROW) ?? null
  } catch {
    return 'unread'
  }
}
