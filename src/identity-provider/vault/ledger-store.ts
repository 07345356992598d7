import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { LRUCache } from 'lru-cache'
import { requireLmdbFile } from '../../custody/domain-keys/lmdb-file.js'
import { concat, u32, u64, viewOf } from '../../custody/protocol/bytes.js'
import { decodeEntry, encodeEntry, type LedgerEntry } from './nonce-ledger.js'

/**
 * The user side's durable memory: what it granted, and what it must never approve twice.
 *
 * | database | key | value |
 * |---|---|---|
 * | 01-lanes | lane | highest batch sequence taken in it |
 * | 02-intents | batch sequence | expiry and intent ids of the batch, until they expire |
 * | 03-nonces | wallet 16 ‖ chain id 4 ‖ nonce 8 | LedgerEntry |
 * | 04-grants | grant id (16 bytes) | Grant |
 * | 05-keys | key id (16 bytes) | GrantedKey |
 *
 * Names are never reused.
 */
export interface LedgerStore {
  /** The last lane given out, in this or an earlier run. */
  readonly lastLane: number
  /** The highest batch sequence taken in a lane; 0 when that lane is not remembered. */
  highestIn(lane: number): number
  grant(id: Uint8Array): Grant | null
  key(id: Uint8Array): GrantedKey | null
  /**
   * Runs `write` at once and without interruption, so that nothing can happen between a check in
   * it and its puts. What it put is read back by later calls immediately.
   * Nothing that rests on `result` may leave the process before `flushed` resolves: then the puts
   * are on disk. Commits of one moment share a flush.
   */
  commit<T>(write: (ledger: LedgerWriter) => T): { result: T; flushed: Promise<unknown> }
  /** True when that intent was approved and has not expired yet. */
  hasIntent(id: Uint8Array): boolean
  close(): Promise<void>
}

export interface LedgerWriter {
  /** Never lowers what is there. */
  putLane(lane: number, batchSeq: number): void
  entry(walletId: Uint8Array, chainId: number, nonce: number): LedgerEntry | null
  putEntry(walletId: Uint8Array, chainId: number, nonce: number, entry: LedgerEntry): void
  /** Remembers the ids of a batch until the latest of its intents has expired. */
  putIntents(batchSeq: number, expiresAtMs: number, ids: readonly Uint8Array[]): void
  putGrant(id: Buffer, grant: Grant): void
  putKey(id: Buffer, key: GrantedKey): void
}

/** What the keys of one lineage may do. */
export interface Grant {
  readonly walletId: Uint8Array
  readonly userId: string
  readonly permission: 'read' | 'trade'
  readonly chains: readonly number[]
  /** Micro-USD; null is unlimited. The service holds them; here they tell what enlarges. */
  readonly dailyLimitMicros: bigint | null
  readonly monthlyLimitMicros: bigint | null
  readonly unpricedAssets: 'deny' | 'allow'
  /** Counts up with every change. */
  readonly version: number
}

export interface GrantedKey {
  readonly grantId: Uint8Array
  /** Proof key sealed under the domain's data key; null: the key cannot prove itself. */
  readonly sealedProofKey: Uint8Array | null
  /** Milliseconds since the epoch; null does not expire. */
  readonly expiresAtMs: number | null
  readonly revoked: boolean
}

/** MessagePack has integers of 64 bits, and a cap may be larger. */
type StoredGrant = Omit<Grant, 'dailyLimitMicros' | 'monthlyLimitMicros'> & {
  readonly dailyLimitMicros: string | null
  readonly monthlyLimitMicros: string | null
}

interface IntentBatch {
  readonly expiresAtMs: number
  readonly ids: readonly Uint8Array[]
}

/** Batches whose ids are dropped per commit: more than can arrive, so that none are left over. */
const DROPPED_PER_COMMIT = 8
/** Grants, and keys, kept decoded: those of the keys at work. ~300 bytes each. */
const KNOWN_MAX = 4_096

export function openLedgerStore(path: string): LedgerStore {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  requireLmdbFile(join(path, 'data.mdb'))
  const root = open({ path, overlappingSync: false, maxDbs: 16 })
  const plain = { encoder: { useRecords: false } }
  const lanes = root.openDB<number, number>({ name: '01-lanes', ...plain })
  const intents = root.openDB<IntentBatch, number>({ name: '02-intents', ...plain })
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
  const keys = root.openDB<GrantedKey, Buffer>({ name: '05-keys', keyEncoding: 'binary', ...plain })

  const liveIds = new Set<string>()
  /** Oldest first; the mirror of 02-intents. */
  const liveBatches: { seq: number; batch: IntentBatch }[] = []
  for (const { key, value } of intents.getRange()) {
    liveBatches.push({ seq: key, batch: value })
    for (const id of value.ids) liveIds.add(latin1(id))
  }
  // 2^24 lanes at the most, in practice as many as there were connections: they fit in memory.
  const highest = new Map<number, number>()
  for (const { key, value } of lanes.getRange()) highest.set(key, value)
  let lastLane = [...highest.keys()].at(-1) ?? 0

  function dropExpired(nowMs: number): void {
    for (let i = 0; i < DROPPED_PER_COMMIT; i++) {
      const oldest = liveBatches[0]
      if (oldest === undefined || oldest.batch.expiresAtMs > nowMs) return
      liveBatches.shift()
      for (const id of oldest.batch.ids) liveIds.delete(latin1(id))
      begun.push(intents.remove(oldest.seq))
    }
  }

  const unflushed = new Map<string, LedgerEntry>()
  const unflushedGrants = new Map<string, Grant>()
  const unflushedKeys = new Map<string, GrantedKey>()
  // This process alone writes them, so what was read once holds until the next put.
  const knownGrants = new LRUCache<string, Grant>({ max: KNOWN_MAX })
  const knownKeys = new LRUCache<string, GrantedKey>({ max: KNOWN_MAX })

  /** Writes since the last commit. lmdb makes one transaction of all that one event turn begins. */
  let begun: Promise<unknown>[] = []
  /** What drops this commit's values from the maps of the unflushed. */
  let kept: (() => void)[] = []
  /** Readers see what was written before it is on disk. */
  function keepUntilFlushed<T>(map: Map<string, T>, key: Buffer, value: T): void {
    const name = latin1(key)
    map.set(name, value)
    kept.push(() => {
      if (map.get(name) === value) map.delete(name)
    })
  }
  const writer: LedgerWriter = {
    putLane(lane, batchSeq) {
      lastLane = Math.max(lastLane, lane)
      if (batchSeq <= (highest.get(lane) ?? 0)) return
      highest.set(lane, batchSeq)
      begun.push(lanes.put(lane, batchSeq))
    },
    entry(walletId, chainId, nonce) {
      const key = nonceKey(walletId, chainId, nonce)
      const fresh = unflushed.get(latin1(key))
      if (fresh !== undefined) return fresh
      const bytes = nonces.get(key)
      return bytes === undefined ? null : decodeEntry(bytes)
    },
    putEntry(walletId, chainId, nonce, entry) {
      const key = nonceKey(walletId, chainId, nonce)
      keepUntilFlushed(unflushed, key, entry)
      begun.push(nonces.put(key, encodeEntry(entry)))
    },
    putIntents(batchSeq, expiresAtMs, ids) {
      dropExpired(Date.now())
      const batch = { expiresAtMs, ids: ids.map((id) => Buffer.from(id)) }
      begun.push(intents.put(batchSeq, batch))
      liveBatches.push({ seq: batchSeq, batch })
      for (const id of ids) liveIds.add(latin1(id))
    },
    putGrant(id, grant) {
      knownGrants.delete(latin1(id))
      keepUntilFlushed(unflushedGrants, id, grant)
      begun.push(grants.put(id, storedGrant(grant)))
    },
    putKey(id, key) {
      knownKeys.delete(latin1(id))
      keepUntilFlushed(unflushedKeys, id, key)
      begun.push(keys.put(id, key))
    },
  }

  return {
    highestIn: (lane) => highest.get(lane) ?? 0,
    get lastLane() {
      return lastLane
    },
    grant(id) {
      const name = latin1(id)
      const read = () => grantOf(grants.get(viewOf(id)))
      return unflushedGrants.get(name) ?? readOnce(knownGrants, name, read)
    },
    key(id) {
      const name = latin1(id)
      const read = () => keys.get(viewOf(id)) ?? null
      return unflushedKeys.get(name) ?? readOnce(knownKeys, name, read)
    },
    commit(write) {
      const result = write(writer)
      const writes = begun
      begun = []
      const drops = kept
      kept = []
      // After a failure the values stay: what was decided holds for this process, and no approval
      // has left.
      const flushed = Promise.all(writes).then(() => {
        for (const drop of drops) drop()
      })
      // Whoever awaits it sees a failure; until then it must not count as unhandled.
      flushed.catch(() => {})
      return { result, flushed }
    },
    hasIntent: (id) => liveIds.has(latin1(id)),
    async close() {
      await root.close()
    },
  }
}

/** What is absent is asked for again: it may come. */
function readOnce<T extends object>(
  known: LRUCache<string, T>,
  name: string,
  read: () => T | null,
): T | null {
  const found = known.get(name) ?? read()
  if (found !== null) known.set(name, found)
  return found
}

function storedGrant(grant: Grant): StoredGrant {
  return {
    ...grant,
    dailyLimitMicros: grant.dailyLimitMicros?.toString() ?? null,
    monthlyLimitMicros: grant.monthlyLimitMicros?.toString() ?? null,
  }
}

function grantOf(stored: StoredGrant | undefined): Grant | null {
  if (stored === undefined) return null
  const { dailyLimitMicros, monthlyLimitMicros } = stored
  return {
    ...stored,
    // Grants of a time before caps were recorded have none: any cap then takes away.
    dailyLimitMicros: dailyLimitMicros ? BigInt(dailyLimitMicros) : null,
    monthlyLimitMicros: monthlyLimitMicros ? BigInt(monthlyLimitMicros) : null,
  }
}

function latin1(bytes: Uint8Array): string {
  return viewOf(bytes).toString('latin1')
}

function nonceKey(walletId: Uint8Array, chainId: number, nonce: number): Buffer {
  return concat(walletId, u32(chainId), u64(nonce))
}
