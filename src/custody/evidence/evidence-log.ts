import { mkdirSync } from 'node:fs'
import { type Database, open } from 'lmdb'
import { concat, u64 } from '../protocol/bytes.js'
import { TAG, taggedHash } from '../protocol/tagged.js'

/**
 * An append-only log in which each entry's hash covers the entry before: what was written cannot
 * be changed or taken out without breaking every hash after it. The service and the user side
 * each keep one and neither can write the other's.
 */
export interface EvidenceLog {
  /** 32 bytes: hash of the newest entry; zeros for an empty log. */
  readonly head: Uint8Array
  readonly length: number
  /** Chains at once, in the order of the calls; resolves when it is on disk. */
  append(entry: EvidenceEntry): Promise<void>
  /** Oldest first. */
  entries(): Iterable<StoredEvidence>
  newestFirst(): Iterable<StoredEvidence>
  close(): Promise<void>
}

export interface EvidenceEntry {
  readonly timeMs: number
  readonly kind: EvidenceKind
  /** The same bytes in both logs for the same event. */
  readonly body: Uint8Array
}

/** Numbers are never given a second meaning. */
export const EVIDENCE_KIND = { batch: 1, wallet: 2, grant: 3 } as const
export type EvidenceKind = (typeof EVIDENCE_KIND)[keyof typeof EVIDENCE_KIND]

/** As it is on disk: `hash 32 | time 8 | kind 1 | body`. */
export interface StoredEvidence {
  readonly index: number
  readonly bytes: Uint8Array
}

export const EVIDENCE_HASH_BYTES = 32

/**
 * Reads a log without being able to write it, also while its owner is at work.
 * @throws Error when there is none
 */
export function openEvidenceReader(path: string): Pick<EvidenceLog, 'entries' | 'close'> {
  const root = open({ path, readOnly: true, maxDbs: 4 })
  const log = root.openDB<Buffer, number>({ name: '01-evidence', encoding: 'binary' })
  return {
    *entries() {
      for (const { key, value } of log.getRange()) yield { index: key, bytes: value }
    },
    async close() {
      await root.close()
    },
  }
}

/** @param path LMDB directory; one database: 01-evidence, index → stored bytes */
export function openEvidenceLog(path: string): EvidenceLog {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const root = open({ path, overlappingSync: false, maxDbs: 4 })
  const log: Database<Buffer, number> = root.openDB({ name: '01-evidence', encoding: 'binary' })
  let head: Uint8Array = Buffer.alloc(EVIDENCE_HASH_BYTES)
  let length = 0
  for (const { key, value } of log.getRange({ reverse: true, limit: 1 })) {
    head = Buffer.from(value.subarray(0, EVIDENCE_HASH_BYTES))
    length = key + 1
  }
  return {
    get head() {
      return head
    },
    get length() {
      return length
    },
    async append(entry) {
      const content = concat(u64(entry.timeMs), Buffer.of(entry.kind), entry.body)
      const index = length++
      head = chainHash(head, index, content)
      await log.put(index, concat(head, content))
    },
    *entries() {
      for (const { key, value } of log.getRange()) yield { index: key, bytes: value }
    },
    *newestFirst() {
      for (const { key, value } of log.getRange({ reverse: true })) {
        yield { index: key, bytes: value }
      }
    },
    async close() {
      await root.close()
    },
  }
}

/** @param content `time | kind | body` */
export function chainHash(before: Uint8Array, index: number, content: Uint8Array): Buffer {
  return taggedHash(TAG.evidence, before, u64(index), content)
}
