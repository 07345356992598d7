import { mkdirSync } from 'node:fs'
import type { RootDatabase } from 'lmdb'
import { FREEZE_SCOPES } from '../../custody/authorizers/freeze-statement.js'
import { openRecorded } from '../../disk/recorded-writes.js'
import type { FreezeScope } from '../../domain/freeze.js'
import type { PolicyLedger } from '../../policy/policy-ledger.js'
import { concat, u8, u32, u64, viewOf } from '../../quorum-protocol/bytes.js'
import type { ServiceStart } from '../../quorum-protocol/service-boot.js'
import { type ApprovalReader, type ApprovalWriter, openApprovalRows } from './approval-rows.js'
import { type KeyCounts, type LatestStart, openBootRows } from './boot-rows.js'
import {
  type Grant,
  type GrantedKey,
  readGrant,
  readKey,
  type StoredGrant,
  type StoredKey,
  storedGrant,
  storedKey,
} from './granted.js'
import { createLiveIntents } from './live-intents.js'
import { type MemberReader, type MemberWriter, openMemberRows } from './member-rows.js'
import { decodeEntry, encodeEntry, type LedgerEntry } from './nonce-ledger.js'
import { oneAtATime } from './one-at-a-time.js'
import { type OwedReader, type OwedWriter, openOwedRows } from './owed-evidence.js'
import { type PutRows, unflushedRows } from './unflushed-rows.js'
import { openUsageRows } from './usage-rows.js'

/**
 * The user side's durable memory: what it granted, and what it must never approve twice.
 *
 * | database | key | value |
 * |---|---|---|
 * | 01-lanes | lane | highest batch sequence taken in it |
 * | 03-nonces | wallet 16 ‖ chain id 4 ‖ nonce 8 | LedgerEntry |
 * | 04-grants | grant id (16 bytes) | Grant |
 * | 05-keys | key id (16 bytes) | GrantedKey |
 * | 06-covered | 0 | entries of the evidence whose approvals are all in here |
 * | | 1 | sequences of intents that 08 counts already and those entries do not have yet |
 * | 07-boots | number of a start of the service | its boot 16, and with a journal its owner 24, or 29 with a cell of some users (`encodeOwner`) |
 * | 08-usage | grant id (16 bytes) | PolicyLedger: what counts and ceilings of its policy count |
 * | 17-sliding-times | grant id 16 ‖ seconds 4 | one of the sliding times of 08 |
 * | 10-freezes | scope 1 ‖ subject 32 | FreezeRow |
 * | 11 to 14 | | what waits for people (`approval-rows.ts`) |
 * | 15-owed | number | entry that the evidence is owed (`owed-evidence.ts`) |
 * | 18-members | SHA-256 of an account's id (32 bytes) | MemberRow |
 * | 19-member-changes | the same ‖ sequence 4 | MemberChange, by which the service follows |
 * | 20-boot-keys | number of a start | id of the co-signer key that it was announced by (8 bytes) |
 *
 * Names are never reused; 02 held intent ids, which are read from the evidence now.
 *
 * What is approved is in the evidence before the approval leaves, and the evidence is the log that
 * this ledger is an index of: rows of approvals follow in groups, a fifth of a second later, and
 * what a crash kept from following is read from the evidence at the next start (`catch-up.ts`).
 */
export interface LedgerStore extends OwedReader, MemberReader {
  /** The last lane given out, in this or an earlier run. */
  readonly lastLane: number
  /** Number of the latest start of the service, of whichever cell; 0 before the first. */
  readonly lastBoot: number
  /** Of the cell with that number; null before the first. */
  latestStart(cell: number): LatestStart | null
  /** Of each cell that has one. */
  latestStarts(): Iterable<LatestStart>
  /** The number that a start of the service got; null: it never announced itself. */
  bootNumber(boot: Uint8Array): number | null
  /** The highest that a start of this cell owned this journal with, by a key that counts; 0 where none did. */
  ownerEpoch(cell: number, journal: string, counts: KeyCounts): number
  /** Entries of the evidence whose approvals are all here, on disk. */
  readonly covered: number
  /** The highest batch sequence taken in a lane; 0 when that lane is not remembered. */
  highestIn(lane: number): number
  grant(id: Uint8Array): Grant | null
  freeze(scope: FreezeScope, subject: Uint8Array): FreezeRow
  /** False: no freeze is in force. */
  readonly anyFrozen: boolean
  key(id: Uint8Array): GrantedKey | null
  /** What the keys of a grant have had signed, as far as their policy counts it. */
  usage(grantId: Uint8Array): PolicyLedger
  /** What waits for people, and where each approval was used. */
  readonly approvals: ApprovalReader
  /** Whether an intent of the evidence that is not covered was counted all the same. */
  isCounted(seq: number): boolean
  /** To be called once what was counted with a sequence is in the evidence, or never will be. */
  recorded(seq: number): void
  /**
   * Runs `write` at once and without interruption, so that nothing can happen between a check in
   * it and its puts. What it put is read back by later calls immediately.
   * Nothing that rests on `result` may leave the process before `flushed` resolves: then the puts
   * are on disk, and all earlier ones. Commits of one moment share a flush.
   */
  commit<T>(write: (ledger: LedgerWriter) => T): { result: T; flushed: Promise<unknown> }
  /**
   * Resolves once all that was committed is on disk, for whoever reads what another call is about to
   * put there; null: it is.
   */
  flushing(): Promise<unknown> | null
  /**
   * The same for approvals: nothing that rests on the result may leave the process before they are
   * in the evidence, on disk. The rows follow by themselves.
   */
  decide<T>(write: (ledger: LedgerWriter) => T): T
  /** True when that intent was approved and has not expired yet. */
  hasIntent(id: Uint8Array): boolean
  close(): Promise<void>
}

export interface LedgerWriter extends ApprovalWriter, MemberWriter, OwedWriter {
  /** Never lowers what is there. */
  putLane(lane: number, batchSeq: number): void
  /** @param number above that of every start before, or of the latest of its cell */
  putBoot(number: number, start: ServiceStart): void
  entry(walletId: Uint8Array, chainId: number, nonce: number): LedgerEntry | null
  putEntry(walletId: Uint8Array, chainId: number, nonce: number, entry: LedgerEntry): void
  /** Remembers the ids of a batch until the latest of its intents has expired. */
  rememberIntents(expiresAtMs: number, ids: readonly Uint8Array[]): void
  putFreeze(scope: FreezeScope, subject: Uint8Array, row: FreezeRow): void
  putGrant(id: Buffer, grant: Grant): void
  putKey(id: Buffer, key: GrantedKey): void
  putUsage(grantId: Uint8Array, usage: PolicyLedger): void
  /** Of an intent that usage counts; to be recorded, so that no later start counts it again. */
  awaitRecord(seq: number): void
}

/** Of what was frozen once: it stays, so that its sequence goes on. */
export interface FreezeRow {
  /** Counts freezes and their ends; 0 of what was never frozen. */
  readonly sequence: number
  /** Milliseconds since the epoch; null: it is not frozen. */
  readonly sinceMs: number | null
}

/**
 * Rows of approvals wait this long for others, which is what a start after a crash reads again. A
 * commit of 32 rows costs half a millisecond of another core: pages of 4 KiB for rows of 200 bytes.
 */
const CHECKPOINT_AFTER_MS = 200
/** Or until there are this many: 700 KB. */
const CHECKPOINT_ROWS = 2_048
const COVERED = 0
const COUNTED = 1
const NEVER_FROZEN: FreezeRow = { sequence: 0, sinceMs: null }

/** When rows that wait are written: by the machine's clock, but for a simulator. */
export interface LedgerTimers {
  /** Milliseconds since the epoch. */
  now(): number
  at(atMs: number, task: () => void): { cancel(): void }
}

const MACHINE_TIMERS: LedgerTimers = {
  now: Date.now,
  at(atMs, task) {
    const timer = setTimeout(task, Math.max(0, atMs - Date.now()))
    return { cancel: () => clearTimeout(timer) }
  },
}

/** @param evidence the log of what is approved here; its length tells what the ledger covers */
export function openLedgerStore(path: string, evidence: { readonly length: number }): LedgerStore {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const root = openRecorded({ path, overlappingSync: false, maxDbs: 32 })
  return ledgerStoreIn(root, evidence, MACHINE_TIMERS)
}

/** @param root has nothing in it, or such a ledger */
export function ledgerStoreIn(
  root: RootDatabase,
  evidence: { readonly length: number },
  timers: LedgerTimers,
): LedgerStore {
  const plain = { encoder: { useRecords: false } }
  const lanes = root.openDB<number, number>({ name: '01-lanes', ...plain })
  const nonces = root.openDB<Buffer, Buffer>({
    name: '03-nonces',
    keyEncoding: 'binary',
    encoding: 'binary',
  })
  const grants = root.openDB<StoredGrant, Buffer>({
    name: '04-grants',
    keyEncoding: 'binary',
    ...plain,
  })
  const keys = root.openDB<StoredKey, Buffer>({ name: '05-keys', keyEncoding: 'binary', ...plain })
  const marks = root.openDB<number | number[], number>({ name: '06-covered', ...plain })

  // 2^24 lanes at the most, in practice as many as there were connections: they fit in memory.
  const highest = new Map<number, number>()
  for (const { key, value } of lanes.getRange()) highest.set(key, value)
  let lastLane = [...highest.keys()].at(-1) ?? 0
  // A ledger without the mark is of a time when every row was on disk before its approval left. The
  // mark may be ahead of the log: it counted an entry whose write failed, and another one's takes
  // its place.
  const mark = marks.get(COVERED)
  const covered = Math.min(typeof mark === 'number' ? mark : evidence.length, evidence.length)
  const counted = marks.get(COUNTED)
  const countedBefore = new Set(Array.isArray(counted) ? counted : [])

  const boots = openBootRows(root)

  // A row for each of a user's things that was frozen once, 100 bytes: asked at each signature.
  const freezes = root.openDB<FreezeRow, Buffer>({
    name: '10-freezes',
    keyEncoding: 'binary',
    ...plain,
  })
  const freezeByName = new Map<string, FreezeRow>()
  for (const { key, value } of freezes.getRange()) freezeByName.set(latin1(key), value)
  const standing = new Set<string>()
  for (const [name, { sinceMs }] of freezeByName) if (sinceMs !== null) standing.add(name)

  const liveIntents = createLiveIntents()

  const laneRows = unflushedRows<number, number>((lane, batchSeq) => void lanes.put(lane, batchSeq))
  const nonceRows = unflushedRows<Buffer, LedgerEntry>(
    (key, entry) => void nonces.put(key, encodeEntry(entry)),
  )
  const grantRows = unflushedRows<Buffer, Grant>(
    (id, grant) => void grants.put(id, storedGrant(grant)),
  )
  const keyRows = unflushedRows<Buffer, GrantedKey>((id, key) => void keys.put(id, storedKey(key)))
  const freezeRows = unflushedRows<Buffer, FreezeRow>((key, row) => void freezes.put(key, row))
  const usageRows = openUsageRows(root)
  /** Sequences that were counted in this run and are not in the evidence yet. */
  const unrecorded = new Set<number>()
  const approvals = openApprovalRows(root)
  const owed = openOwedRows(root, evidence)
  const members = openMemberRows(root)
  const allRows = [laneRows, nonceRows, grantRows, keyRows, ...boots.rows, freezeRows]
  const writer: LedgerWriter = {
    ...approvals.writer,
    ...owed.writer,
    ...members.writer,
    putLane(lane, batchSeq) {
      lastLane = Math.max(lastLane, lane)
      if (batchSeq <= (highest.get(lane) ?? 0)) return
      highest.set(lane, batchSeq)
      laneRows.set(lane, batchSeq)
    },
    putBoot: boots.put,
    entry(walletId, chainId, nonce) {
      const key = nonceKey(walletId, chainId, nonce)
      const fresh = nonceRows.get(key)
      if (fresh !== undefined) return fresh
      const bytes = nonces.get(key)
      return bytes === undefined ? null : decodeEntry(bytes)
    },
    putEntry(walletId, chainId, nonce, entry) {
      nonceRows.set(nonceKey(walletId, chainId, nonce), entry)
    },
    rememberIntents(expiresAtMs, ids) {
      liveIntents.remember(ids, expiresAtMs, timers.now())
    },
    putFreeze(scope, subject, row) {
      const key = freezeKey(scope, subject)
      freezeByName.set(latin1(key), row)
      if (row.sinceMs === null) standing.delete(latin1(key))
      else standing.add(latin1(key))
      freezeRows.set(key, row)
    },
    putGrant(id, grant) {
      grantRows.set(id, grant)
    },
    putKey(id, key) {
      keyRows.set(id, key)
    },
    putUsage: usageRows.putUsage,
    awaitRecord: (seq) => void unrecorded.add(seq),
  }

  let timer: ReturnType<LedgerTimers['at']> | null = null
  let lastCheckpoint: Promise<unknown> = Promise.resolve()
  let committing: Promise<unknown> | null = null

  /** Puts all rows that wait, and how much of the evidence they cover, in one transaction. */
  const putWaiting = oneAtATime(async () => {
    timer?.cancel()
    timer = null
    let taken: PutRows[] = []
    try {
      await root.batch(() => {
        taken = [
          ...allRows.map((rows) => rows.put()),
          ...usageRows.put(),
          ...approvals.put(),
          owed.put(),
          members.put(),
        ]
        // Their approvals enter the evidence after they came here.
        void marks.put(COVERED, evidence.length)
        void marks.put(COUNTED, [...unrecorded])
      })
    } catch (error) {
      // What was decided holds for this process, and is tried again with the next rows.
      for (const rows of taken) rows.failed()
      scheduleCheckpoint()
      throw error
    }
    for (const rows of taken) rows.flushed()
  })

  function checkpoint(): Promise<unknown> {
    const flushed = putWaiting()
    // Whoever awaits it sees a failure; until then it must not count as unhandled.
    lastCheckpoint = flushed.catch(() => {})
    return flushed
  }

  function scheduleCheckpoint(): void {
    if (nonceRows.waiting + laneRows.waiting >= CHECKPOINT_ROWS) void checkpoint()
    else timer ??= timers.at(timers.now() + CHECKPOINT_AFTER_MS, () => void checkpoint())
  }

  return {
    ...owed.reader,
    ...members.reader,
    highestIn: (lane) => highest.get(lane) ?? 0,
    covered,
    get lastBoot() {
      return boots.last
    },
    bootNumber: boots.numberOf,
    latestStart: boots.latestOf,
    latestStarts: boots.latest,
    ownerEpoch: boots.ownerEpoch,
    get lastLane() {
      return lastLane
    },
    freeze: (scope, subject) => freezeByName.get(latin1(freezeKey(scope, subject))) ?? NEVER_FROZEN,
    get anyFrozen() {
      return standing.size > 0
    },
    grant: (id) => grantRows.get(viewOf(id)) ?? readIfAny(grants.get(viewOf(id)), readGrant),
    key: (id) => keyRows.get(viewOf(id)) ?? readIfAny(keys.get(viewOf(id)), readKey),
    usage: usageRows.usage,
    approvals: approvals.reader,
    isCounted: (seq) => countedBefore.has(seq),
    recorded: (seq) => void unrecorded.delete(seq),
    commit(write) {
      const result = write(writer)
      const flushed = checkpoint()
      committing = flushed
      const over = () => {
        if (committing === flushed) committing = null
      }
      flushed.then(over, over)
      return { result, flushed }
    },
    flushing: () => committing,
    decide(write) {
      try {
        return write(writer)
      } finally {
        scheduleCheckpoint()
      }
    },
    hasIntent: liveIntents.has,
    async close() {
      if (timer !== null) await checkpoint()
      await lastCheckpoint
      await root.close()
    },
  }
}

function readIfAny<Stored, T>(stored: Stored | undefined, read: (stored: Stored) => T): T | null {
  return stored === undefined ? null : read(stored)
}

function latin1(bytes: Uint8Array): string {
  return viewOf(bytes).toString('latin1')
}

function freezeKey(scope: FreezeScope, subject: Uint8Array): Buffer {
  return concat(u8(FREEZE_SCOPES[scope]), subject)
}

function nonceKey(walletId: Uint8Array, chainId: number, nonce: number): Buffer {
  return concat(walletId, u32(chainId), u64(nonce))
}
