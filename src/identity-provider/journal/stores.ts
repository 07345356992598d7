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
 * All that the user side remembers, as its journal sees it: stores, and what was written there. How far
 * a store is with the journal is in the store itself, so that a copy of it goes on from there, whatever
 * of the others was copied when: what comes twice does no harm.
 */
export interface JournaledStore {
  readonly name: string
  /** Commands write there beside the process that has the home. */
  readonly isShared: boolean
  readonly writes: RecordedWrites
  position(): Position | null
  /**
   * In one transaction; resolves once it is on disk.
   * @param change takes part in it
   */
  commit(position: Position, change?: (into: StoreChange) => void): Promise<void>
}

export interface StoreChange {
  /** Where the store has a copy, in that too, by then. */
  put(write: RecordedWrite): void
  /** Of a write that the journal has. */
  forget(number: number): void
}

/** How far a store is with a journal. */
export interface Position {
  readonly journal: string
  /** Of the last entry that the store has all of. */
  readonly seq: number
  /** Name of that entry: a journal that was set back has another there. */
  readonly last: string
  /** Of this home's own last taking; 0: none. At a higher one, another home has gone on. */
  readonly epoch: number
  /** Of a taking that was begun, written before it: whether it happened, the journal knows. */
  readonly claim: string
  /** The epoch that it was to take it from: this home's own, where nobody had it in between. */
  readonly after: number
  /** Of one before that one which happened, and which this home did not live to go on with; '': none. */
  readonly landed: string
}

export interface JournaledStores {
  /** By the numbers that entries have for them. */
  readonly all: readonly JournaledStore[]
  /** Where all of them are: they have each entry up to it. Null: they never had a journal. */
  position(): Position | null
  /**
   * Has those that nothing was written to say how far they are, too, a while after the last time: each
   * waits for the disk. Entries that one is behind by are trimmed some day.
   */
  markAll(position: Position): Promise<void>
  /** From their next opening on, what is written to them is recorded. */
  begin(position: Position): Promise<void>
  /** From then on they have no journal. */
  end(): Promise<void>
  /** Of a copy: it is another home, which never owned the journal. */
  disown(): Promise<void>
  close(): Promise<void>
}

/** `98-journal`: 0 → Position. Names of databases are never reused. */
const POSITION = 0
const DATABASES_MAX = 32
const MARK_AFTER_MS = 30_000

/**
 * Of an installation there is: nothing is made that is not.
 * @throws Error where a store is lost, with what to do
 */
export function openJournaledStores(home: string): JournaledStores {
  const { shares, sharesCopy, ledger, evidence } = userSideLayout(home)
  const opened: OpenedStore[] = []
  const roots: RootDatabase[] = []
  let markedMs = performance.now()
  function open(path: string, isFile = false): RootDatabase {
    const root = openLmdb({
      ...{ path, noSubdir: isFile, overlappingSync: false, maxDbs: DATABASES_MAX },
      // An option of lmdb-js that its types leave out.
      ...(isFile ? { permissionsMode: 0o600 } : {}),
    })
    roots.push(root)
    return root
  }
  /** Whose position says whether all of them have a journal: with a crash in between they have none. */
  const ledgerLast = () => [...opened].sort((a, b) => Number(a.isLedger) - Number(b.isLedger))
  // The order is that of their numbers, which entries have: never another one.
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
          `${lost?.name ?? 'a store'} of ${home} does not belong to the others of its journal: it was lost, or put back from another home. Put all of them back from one backup, or make the home anew out of the owner's`,
        )
      }
      const furthestBack = others.reduce((a, b) => (b.seq < a.seq ? b : a), first)
      // Of a taking that some of them were told to have happened, that one.
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

/** Number of the ledger. */
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

/** Of a store that is yet to have a journal. */
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

/** Of a home whose identity provider may be at work. @returns null: its stores have no journal */
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

/** Of stores that were copied from another home: what that one owned this one never did. */
export async function disown(home: string): Promise<void> {
  const stores = openJournaledStores(home)
  try {
    await stores.disown()
  } finally {
    await stores.close()
  }
}

/** Lets the stores of a stopped identity provider go on without their journal. */
export async function leaveJournal(home: string): Promise<void> {
  const stores = openJournaledStores(home)
  try {
    await stores.end()
  } finally {
    await stores.close()
  }
}
