import type { RootDatabase } from 'lmdb'
import type { EvidenceEntry, EvidenceLog } from '../../custody/evidence/evidence-log.js'
import type { OwedEntry } from '../../custody/evidence/owed-entry.js'
import { EVIDENCE_HASH_BYTES } from '../../custody/evidence/stored-evidence.js'
import { concat, u8, u64, viewOf } from '../../quorum-protocol/bytes.js'
import { type PutRows, unflushedRows } from './unflushed-rows.js'

/**
 * Entries that the evidence still lacks. An entry goes into the ledger, or an authorizer's into the
 * authorizers' store, in the same transaction as the change that it proves, and is removed once the
 * log has it on disk. After a crash, the next start writes the remaining entries to the log, so
 * that no change is in force without proof.
 */
export interface OwedReader {
  /** Returns the entries by number, oldest first. */
  owed(): readonly (readonly [number, OwedEntry])[]
}

export interface OwedWriter {
  /** @returns the entry's number */
  putOwed(entry: EvidenceEntry): number
  /** Removes an entry that the log has on disk. */
  settleOwed(number: number): void
}

/** @param root the ledger's environment: 15-owed, number → OwedEntry */
export function openOwedRows(root: RootDatabase, evidence: { readonly length: number }) {
  const plain = { encoder: { useRecords: false } }
  const rows = root.openDB<OwedEntry, number>({ name: '15-owed', ...plain })
  const changes = unflushedRows<number, OwedEntry | null>((number, entry) => {
    void (entry === null ? rows.remove(number) : rows.put(number, entry))
  })
  let last = 0
  for (const number of rows.getKeys({ reverse: true, limit: 1 })) last = number
  const reader: OwedReader = {
    owed: () => [...rows.getRange()].map(({ key, value }) => [key, value] as const),
  }
  const writer: OwedWriter = {
    putOwed(entry) {
      changes.set(++last, { ...entry, after: evidence.length })
      return last
    },
    settleOwed: (number) => changes.set(number, null),
  }
  return { reader, writer, put: (): PutRows => changes.put() }
}

/** The parts of the ledger and of the authorizers' store that a start reads. */
interface Owing {
  readonly ledger: OwedReader & {
    commit(write: (writer: OwedWriter) => void): { readonly flushed: Promise<unknown> }
  }
  readonly authorizers: OwedReader & { settleOwed(numbers: readonly number[]): Promise<void> }
}

/**
 * Writes to the log what the previous run still owed it, before the first change of this run.
 * Durable on return.
 */
export async function settleOwed(
  { ledger, authorizers }: Owing,
  evidence: Pick<EvidenceLog, 'append' | 'newestFirst'>,
): Promise<void> {
  const ofAuthorizers = authorizers.owed()
  const ofLedger = ledger.owed()
  const owed = inOrder([ofAuthorizers, ofLedger])
  if (owed.length === 0) return
  const missing = new Map(owed.map((entry) => [nameOf(contentOf(entry)), entry]))
  const since = Math.min(...owed.map(({ after }) => after))
  for (const { index, bytes } of evidence.newestFirst()) {
    if (index < since) break
    missing.delete(nameOf(bytes.subarray(EVIDENCE_HASH_BYTES)))
  }
  await Promise.all([...missing.values()].map((entry) => evidence.append(entry)))
  await authorizers.settleOwed(ofAuthorizers.map(([number]) => number))
  await ledger.commit((writer) => {
    for (const [number] of ofLedger) writer.settleOwed(number)
  }).flushed
}

/**
 * Orders by time, because the authorizers of the moment prove a grant. Each list keeps its own
 * order, even if the clock was set back.
 */
function inOrder(lists: readonly (readonly (readonly [number, OwedEntry])[])[]): OwedEntry[] {
  const dated = lists.flatMap((list) => {
    let latestMs = 0
    return list.map(([, entry]) => {
      latestMs = Math.max(latestMs, entry.timeMs)
      return { entry, latestMs }
    })
  })
  return dated.sort((a, b) => a.latestMs - b.latestMs).map(({ entry }) => entry)
}

function contentOf({ timeMs, kind, body }: EvidenceEntry): Uint8Array {
  return concat(u64(timeMs), u8(kind), body)
}

function nameOf(bytes: Uint8Array): string {
  return viewOf(bytes).toString('latin1')
}
