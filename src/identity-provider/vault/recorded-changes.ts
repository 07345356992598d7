import type { EvidenceEntry, EvidenceLog } from '../../custody/evidence/evidence-log.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'

/** Changes of the ledger with the evidence that proves them: neither exists without the other. */
export interface RecordedChanges {
  /**
   * Runs `write` at once and without interruption, as the ledger's own `commit` does. The log gets
   * the entry once the change is on disk, in the order of the changes.
   * @returns `recorded`, which resolves when both are on disk
   */
  commit<T>(write: (ledger: LedgerWriter) => Recorded<T>): {
    result: T
    recorded: Promise<void>
  }
  /** Resolves once every change so far is on disk. */
  settled(): Promise<void>
}

interface Recorded<T> {
  readonly result: T
  /** Null when nothing changed. */
  readonly entry: EvidenceEntry | null
}

export function createRecordedChanges(
  ledger: Pick<LedgerStore, 'commit' | 'decide'>,
  evidence: Pick<EvidenceLog, 'append'>,
): RecordedChanges {
  /** Resolves once the earlier entries have their places in the log. */
  let placed: Promise<unknown> = Promise.resolve()
  let last: Promise<unknown> = Promise.resolve()

  async function record(number: number, entry: EvidenceEntry, flushed: Promise<unknown>) {
    // A change that failed to reach the disk still holds in this process and is written with the
    // next one, so it is proved too.
    const place = Promise.allSettled([placed, flushed]).then(() => ({
      written: evidence.append(entry),
    }))
    placed = place
    const { written } = await place
    await written
    ledger.decide((writer) => writer.settleOwed(number))
    await flushed
  }

  return {
    commit(write) {
      const { result: made, flushed } = ledger.commit((writer) => {
        const { result, entry } = write(writer)
        return { result, owed: entry === null ? null : { entry, number: writer.putOwed(entry) } }
      })
      const { result, owed } = made
      const recorded =
        owed === null ? flushed.then(() => {}) : record(owed.number, owed.entry, flushed)
      last = Promise.allSettled([last, recorded])
      return { result, recorded }
    },
    async settled() {
      await last
    },
  }
}
