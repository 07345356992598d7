import { mkdirSync } from 'node:fs'
import type { RootDatabase } from 'lmdb'
import { openRecorded } from '../../disk/recorded-writes.js'
import type { FreezeScope } from '../../domain/freeze.js'
import type { PolicyLedger } from '../../policy/policy-ledger.js'
import { concat, u8, u32, u64, viewOf } from '../../quorum-protocol/bytes.js'
import { FREEZE_SCOPES } from '../../quorum-protocol/freeze-scopes.js'
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
import type { KeylessLedger } from './keyless.js'
import { openKeylessRows } from './keyless-rows.js'
import { createLiveIntents } from './live-intents.js'
import { type MemberReader, type MemberWriter, openMemberRows } from './member-rows.js'
import { decodeEntry, encodeEntry, type LedgerEntry } from './nonce-ledger.js'
import { oneAtATime } from './one-at-a-time.js'
import { type OwedReader, type OwedWriter, openOwedRows } from './owed-evidence.js'
import { type PutRows, unflushedRows } from './unflushed-rows.js'
import { openUsageRows } from './usage-rows.js'

/**
 * The identity provider's durable memory: what it granted, and what it must never approve twice.
 *
 * | database | key | value |
 * |---|---|---|
 * | 01-lanes | lane | highest batch sequence taken in it |
 * | 03-nonces | wallet 16 ‖ chain id 4 ‖ nonce 8 | LedgerEntry |
 * | 04-grants | grant id (16 bytes) | Grant |
 * | 05-keys | key id (16 bytes) | GrantedKey |
 * | 06-covered | 0 | entries of the evidence whose approvals are all in here |
 * | | 1 | sequences of intents that 08 already counts but those entries lack |
 * | 07-boots | number of a start of the service | its boot 16, and with a journal its owner 24, or 29 with a cell of some users (`encodeOwner`) |
 * | 08-usage | grant id (16 bytes) | PolicyLedger: what counts and ceilings of its policy count |
 * | 17-sliding-times | grant id 16 ‖ seconds 4 | one of the sliding times of 08 |
 * | 10-freezes | scope 1 ‖ subject 32 | FreezeRow |
 * | 11 to 14 | | what waits for people (`approval-rows.ts`) |
 * | 15-owed | number | entry that the evidence is owed (`owed-evidence.ts`) |
 * | 18-members | SHA-256 of an account's id (32 bytes) | MemberRow |
 * | 19-member-changes | the same ‖ sequence 4 | MemberChange, by which the service follows |
 * | 21-keyless | wallet 16 | UTC day, and how many payloads were signed without a key |
 * | 20-boot-keys | number of a start | id of the co-signer key that it was announced by (8 bytes) |
 *
 * Names are never reused; 02 held intent ids, which are read from the evidence now.
 *
 * Approvals are in the evidence before they leave; this ledger is an index of that log. Rows of
 * approvals follow in groups a fifth of a second later, and the next start reads from the evidence
 * what a crash kept from following (`catch-up.ts`).
 */
export interface LedgerStore extends OwedReader, MemberReader {
  /** The last lane given out, in this run or an earlier one. */
  readonly lastLane: number
  /** The number of the latest start of the service in any cell; 0 before the first. */
  readonly lastBoot: number
  /** Returns a cell's latest start, by the cell's number; null before its first. */
  latestStart(cell: number): LatestStart | null
  /** Returns the latest start of each cell. */
  latestStarts(): Iterable<LatestStart>
  /** Returns the number of a start of the service; null when it never announced itself. */
  bootNumber(boot: Uint8Array): number | null
  /**
   * Returns the highest epoch with which a start of this cell led this journal, announced by a key
   * that counts; 0 without any.
   */
  ownerEpoch(cell: number, journal: string, counts: KeyCounts): number
  /** How many entries of the evidence have all their approvals here, on disk. */
  readonly covered: number
  /** Returns the highest batch sequence taken in a lane; 0 when the lane is not remembered. */
  highestIn(lane: number): number
  grant(id: Uint8Array): Grant | null
  freeze(scope: FreezeScope, subject: Uint8Array): FreezeRow
  /** False when no freeze is in force. */
  readonly anyFrozen: boolean
  key(id: Uint8Array): GrantedKey | null
  /** Returns what a grant's keys have had signed, as far as their policy counts it. */
  usage(grantId: Uint8Array): PolicyLedger
  /** The waiting calls, and where each approval was used. */
  readonly approvals: ApprovalReader
  /** Tells whether an intent of an uncovered evidence entry was already counted. */
  isCounted(seq: number): boolean
  /** Called once a counted sequence is in the evidence, or never will be. */
  recorded(seq: number): void
  /**
   * Runs `write` at once and without interruption, so that nothing happens between its checks and
   * its puts. Later reads see its puts immediately. Nothing that depends on `result` may leave the
   * process before `flushed` resolves: then these puts and all earlier ones are on disk. Commits of
   * the same moment share a flush.
   */
  commit<T>(write: (ledger: LedgerWriter) => T): { result: T; flushed: Promise<unknown> }
  /**
   * Resolves once everything committed is on disk, for a caller that reads what another call is
   * writing; null when it already is.
   */
  flushing(): Promise<unknown> | null
  /**
   * The same for approvals: nothing that depends on the result may leave the process before they
   * are on disk in the evidence. The rows follow later.
   */
  decide<T>(write: (ledger: LedgerWriter) => T): T
  /** True when the intent was approved and has not expired. */
  hasIntent(id: Uint8Array): boolean
  close(): Promise<void>
}

export interface LedgerWriter
  extends ApprovalWriter,
    MemberWriter,
    OwedWriter,
    Pick<KeylessLedger, 'keyless' | 'putKeyless'> {
  /** Never lowers the stored sequence. */
  putLane(lane: number, batchSeq: number): void
  /** @param number above every earlier start's, or the latest of its cell */
  putBoot(number: number, start: ServiceStart): void
  entry(walletId: Uint8Array, chainId: number, nonce: number): LedgerEntry | null
  putEntry(walletId: Uint8Array, chainId: number, nonce: number, entry: LedgerEntry): void
  /** Remembers a batch's ids until the last of its intents expires. */
  rememberIntents(expiresAtMs: number, ids: readonly Uint8Array[]): void
  putFreeze(scope: FreezeScope, subject: Uint8Array, row: FreezeRow): void
  putGrant(id: Buffer, grant: Grant): void
  putKey(id: Buffer, key: GrantedKey): void
  putUsage(grantId: Uint8Array, usage: PolicyLedger): void
  /**
   * Marks an intent that usage counts. It is stored, so that a later start does not count it again.
   */
  awaitRecord(seq: number): void
}

/** A freeze, past or present: the row stays, so that its sequence continues. */
export interface FreezeRow {
  /** Counts freezes and their ends; 0 for a subject that was never frozen. */
  readonly sequence: number
  /** Milliseconds since the epoch; null when it is not frozen. */
  readonly sinceMs: number | null
}

/**
 * How long rows of approvals wait for others; a start after a crash reads this much again. A commit
 * of 32 rows costs half a millisecond of another core: pages of 4 KiB for rows of 200 bytes.
 */
const CHECKPOINT_AFTER_MS = 200
/** The number of rows that ends the wait early: 700 KB. */
const CHECKPOINT_ROWS = 2_048
const COVERED = 0
const COUNTED = 1
const NEVER_FROZEN: FreezeRow = { sequence: 0, sinceMs: null }

/** Decides when waiting rows are written; a simulator replaces the machine's clock. */
interface LedgerTimers {
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

/** @param root an empty environment, or one with such a ledger */
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

  // There are at most 2^24 lanes, in practice one per connection: they fit in memory.
  const highest = new Map<number, number>()
  for (const { key, value } of lanes.getRange()) highest.set(key, value)
  let lastLane = [...highest.keys()].at(-1) ?? 0
  // A ledger without the mark is from a build that wrote every row before its approval left. The
  // mark may be ahead of the log: it counted an entry whose write failed, and another entry took
  // that place.
  const mark = marks.get(COVERED)
  const covered = Math.min(typeof mark === 'number' ? mark : evidence.length, evidence.length)
  const counted = marks.get(COUNTED)
  const countedBefore = new Set(Array.isArray(counted) ? counted : [])

  const boots = openBootRows(root)

  // One row of 100 bytes for each subject that was ever frozen; each signature reads them.
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
  const keyless = openKeylessRows(root)
  /** Sequences that this run counted and that are not in the evidence yet. */
  const unrecorded = new Set<number>()
  const approvals = openApprovalRows(root)
  const owed = openOwedRows(root, evidence)
  const members = openMemberRows(root)
  const allRows = [laneRows, nonceRows, grantRows, keyRows, ...boots.rows, freezeRows, keyless.rows]
  const writer: LedgerWriter = {
    ...approvals.writer,
    ...owed.writer,
    ...members.writer,
    ...keyless.writer,
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

  /** Puts all waiting rows, and how much of the evidence they cover, in one transaction. */
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
        // Their approvals enter the evidence after these rows are written.
        void marks.put(COVERED, evidence.length)
        void marks.put(COUNTED, [...unrecorded])
      })
    } catch (error) {
      // The decisions hold for this process, and are written again with the next rows.
      for (const rows of taken) rows.failed()
      scheduleCheckpoint()
      throw error
    }
    for (const rows of taken) rows.flushed()
  })

  function checkpoint(): Promise<unknown> {
    const flushed = putWaiting()
    // A caller that awaits it sees a failure; until then it must not count as unhandled.
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
