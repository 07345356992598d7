import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Database, RootDatabase } from 'lmdb'
import { userSideLayout } from '../../custody/domain-keys/layout.js'
import { openLmdb } from '../../disk/lmdb-file.js'
import {
  beginRecording,
  endRecording,
  isRecorded,
  type RecordedWrite,
  type RecordedWrites,
  recordedWritesOf,
  writerInto,
} from '../../disk/recorded-writes.js'
import { LOGIN_FILE } from '../login/login-store.js'
import { NO_ENTRY } from './entry.js'

/**
 * The identity provider's stores and their writes, as its journal sees them. Each store holds its
 * own position in the journal, so that a copy continues from there even if the stores were copied
 * at different times: applying an entry twice changes nothing.
 */
export interface JournaledStore {
  readonly name: string
  /** True when commands write to it while the process runs. */
  readonly isShared: boolean
  readonly writes: RecordedWrites
  position(): Position | null
  /**
   * Stores the position and the change in one transaction. Resolves once it is on disk.
   * @param change adds writes to that transaction
   */
  commit(position: Position, change?: (into: StoreChange) => void): Promise<void>
}

interface StoreChange {
  /** Applies a write, also to the store's copy if it has one. */
  put(write: RecordedWrite): void
  /** Forgets a recorded write that the journal has. */
  forget(number: number): void
}

/** A store's position in a journal. */
export interface Position {
  readonly journal: string
  /** The last entry that the store has completely. */
  readonly seq: number
  /** That entry's name: a journal that was rolled back has another entry there. */
  readonly last: string
  /**
   * The epoch of this home's last leadership; 0 before the first. A higher epoch means another home
   * has led.
   */
  readonly epoch: number
  /**
   * The claim of an acquisition, stored before it is sent: the journal knows whether it succeeded.
   */
  readonly claim: string
  /** The epoch that the claim follows: this home's own when no other home led in between. */
  readonly after: number
  /** The previous claim, when it succeeded but this home ended before it continued; else ''. */
  readonly landed: string
}

export interface JournaledStores {
  /** Indexed by the store numbers in entries. */
  readonly all: readonly JournaledStore[]
  /** The position that every store has reached; null when they never had a journal. */
  position(): Position | null
  /**
   * Advances the position of stores without writes, at most once per interval, because each waits
   * for the disk. A store must not stay behind: entries are trimmed after a week.
   */
  markAll(position: Position): Promise<void>
  /** Starts recording writes from the next opening on. */
  begin(position: Position): Promise<void>
  /** Detaches the stores from their journal. */
  end(): Promise<void>
  /** Marks a copy as another home, which never led the journal. */
  disown(): Promise<void>
  close(): Promise<void>
}

/** `98-journal`: 0 → Position. Names of databases are never reused. */
const POSITION = 0
const DATABASES_MAX = 32
const MARK_AFTER_MS = 30_000

/**
 * Opens the stores of an existing installation; it creates none.
 * @throws Error when a store is missing; the message tells what to do
 */
export function openJournaledStores(home: string): JournaledStores {
  const { shares, sharesCopy, ledger, evidence } = userSideLayout(home)
  const opened: OpenedStore[] = []
  const roots: RootDatabase[] = []
  let markedMs = performance.now()
  function open(path: string, isFile = false): RootDatabase {
    const root = openLmdb({
      ...{ path, noSubdir: isFile, overlappingSync: false, maxDbs: DATABASES_MAX },
      // lmdb-js has this option, but its types omit it.
      ...(isFile ? { permissionsMode: 0o600 } : {}),
    })
    roots.push(root)
    return root
  }
  /**
   * The ledger's position decides whether all have a journal: after a crash in between, they have
   * none.
   */
  const ledgerLast = () => [...opened].sort((a, b) => Number(a.isLedger) - Number(b.isLedger))
  // Entries refer to stores by this order; never change it.
  const login = join(home, 'identity-provider', LOGIN_FILE)
  opened.push({ ...storeOf('login', login, open(login, true)), isShared: true })
  opened.push(storeOf('vault/shares', shares, open(shares), open(sharesCopy)))
  opened.push({ ...storeOf('vault/ledger', ledger, open(ledger)), isLedger: true })
  opened.push(storeOf('vault/evidence', evidence, open(evidence)))
  return {
    all: opened,
    position() {
      const first = opened[LEDGER]?.position() ?? null
      if (first === null) return null
      const positions = opened.map((store) => store.position())
      const others = positions.filter((position) => position !== null)
      const lost = opened.find((_, place) => positions[place] === null)
      const other = others.find(({ journal }) => journal !== first.journal)
      if (lost !== undefined || other !== undefined) {
        throw new Error(
          `${lost?.name ?? 'a store'} of ${home} does not belong to the other stores of its journal: it was lost, or restored from another home. Restore all stores from one backup, or make the home again from the leader's`,
        )
      }
      const furthestBack = others.reduce((a, b) => (b.seq < a.seq ? b : a), first)
      // If only some stores recorded an acquisition that succeeded, that one counts.
      const latest = others.reduce((a, b) => (b.epoch > a.epoch ? b : a), first)
      const { epoch, claim, after, landed } = latest
      return { ...furthestBack, epoch, claim, after, landed }
    },
    async markAll(position) {
      if (performance.now() - markedMs < MARK_AFTER_MS) return
      markedMs = performance.now()
      for (const store of opened) {
        if ((store.position()?.seq ?? position.seq) < position.seq) await store.commit(position)
      }
    },
    async begin(position) {
      for (const store of ledgerLast()) await store.begin(position)
    },
    async end() {
      for (const store of ledgerLast()) await store.end()
    },
    async disown() {
      const position = this.position()
      if (position === null) return
      for (const store of opened) {
        const own = store.position() ?? position
        await store.commit({ ...own, epoch: 0, claim: '', after: 0, landed: '' })
      }
    },
    async close() {
      for (const root of roots) await root.close()
    },
  }
}

/** The ledger's index in `all`. */
const LEDGER = 2

interface OpenedStore extends JournaledStore {
  readonly isLedger: boolean
  begin(position: Position): Promise<void>
  end(): Promise<void>
}

function positionsOf(root: RootDatabase): Database<Position, number> {
  const plain = { encoder: { useRecords: false } }
  return root.openDB<Position, number>({ name: '98-journal', ...plain })
}

function storeOf(
  name: string,
  path: string,
  root: RootDatabase,
  copy: RootDatabase | null = null,
): OpenedStore {
  const positions = positionsOf(root)
  const put = writerInto(root)
  const putInCopy = copy === null ? null : writerInto(copy)
  const writes = isRecorded(root) ? recordedWritesOf(root, path) : NOT_RECORDED
  return {
    ...{ name, writes, isLedger: false, isShared: false },
    position: () => positions.get(POSITION) ?? null,
    async begin(position) {
      beginRecording(root)
      await positions.put(POSITION, position)
    },
    async end() {
      await positions.remove(POSITION)
      await endRecording(root)
    },
    async commit(position, change = () => undefined) {
      const copied: RecordedWrite[] = []
      await root.batch(() => {
        change({
          put(write) {
            put(write)
            copied.push(write)
          },
          forget: writes.forget,
        })
        void positions.put(POSITION, position)
      })
      if (copy === null || putInCopy === null || copied.length === 0) return
      await copy.batch(() => {
        for (const write of copied) putInCopy(write)
      })
    },
  }
}

/** The recorder of a store that does not have a journal yet. */
const NOT_RECORDED: RecordedWrites = {
  made: new Set(),
  all: () => [],
  numbers: () => [],
  get: () => undefined,
  forget: () => undefined,
}

export function beginning(journal: string, claim: string): Position {
  return { journal, seq: 0, last: NO_ENTRY, epoch: 0, claim, after: 0, landed: '' }
}

/**
 * Reads the position of a home, even while its identity provider runs.
 * @returns null when its stores have no journal
 */
export async function positionIn(home: string): Promise<Position | null> {
  const { ledger } = userSideLayout(home)
  if (!existsSync(ledger)) return null
  const root = openLmdb({ path: ledger, readOnly: true, maxDbs: DATABASES_MAX })
  try {
    return isRecorded(root) ? (positionsOf(root).get(POSITION) ?? null) : null
  } finally {
    await root.close()
  }
}

/** Removes the leadership of another home from copied stores. */
export async function disown(home: string): Promise<void> {
  const stores = openJournaledStores(home)
  try {
    await stores.disown()
  } finally {
    await stores.close()
  }
}

/** Detaches the stores of a stopped identity provider from their journal. */
export async function leaveJournal(home: string): Promise<void> {
  const stores = openJournaledStores(home)
  try {
    await stores.end()
  } finally {
    await stores.close()
  }
}
