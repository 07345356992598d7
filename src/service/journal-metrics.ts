import { Gauge, Histogram, type Registry } from 'prom-client'
import type { JournalWriter } from '../store/journal-writer.js'
import type { SnapshotKeeper } from '../store/snapshots/snapshot-keeper.js'

const APPEND_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]
const MS_PER_SECOND = 1_000

export interface JournalMetrics {
  appended(elapsedMs: number): void
  /** @param snapshots null where the engine keeps none */
  show(
    writer: Pick<JournalWriter, 'owner' | 'readings'>,
    snapshots: Pick<SnapshotKeeper, 'readings'> | null,
  ): void
}

/** Only where there is a journal: nobody else is shown any of it. */
export function createJournalMetrics(registry: Registry): JournalMetrics {
  const registers = [registry]
  const appends = new Histogram({
    name: 'countersign_journal_append_seconds',
    help: 'From the first try of an append until it was stored.',
    buckets: APPEND_SECONDS,
    registers,
  })
  return {
    appended: (elapsedMs) => appends.observe(elapsedMs / MS_PER_SECOND),
    show({ owner, readings }, snapshots) {
      const gauge = (name: string, help: string, read: () => number) => {
        const shown: Gauge = new Gauge({ name, help, registers, collect: () => shown.set(read()) })
      }
      gauge(
        'countersign_journal_epoch',
        'With which this service owns the journal: each taking raises it.',
        () => owner.epoch,
      )
      gauge(
        'countersign_journal_entries',
        'Of the journal, that the store has as well.',
        () => readings.stored,
      )
      gauge(
        'countersign_journal_commits_waiting',
        'To be stored in the journal, those of an append under way included.',
        () => readings.waiting,
      )
      if (snapshots === null) return
      const { readings: kept } = snapshots
      gauge(
        'countersign_journal_snapshot_entry',
        'That the last snapshot of the store is as of; 0: there is none.',
        () => kept.newest?.seq ?? 0,
      )
      gauge(
        'countersign_journal_snapshot_timestamp_seconds',
        'When it was made, since the epoch of Unix; 0: there is none.',
        () => (kept.newest?.atMs ?? 0) / MS_PER_SECOND,
      )
      gauge('countersign_journal_snapshot_bytes', 'That it has.', () => kept.newest?.bytes ?? 0)
      gauge(
        'countersign_journal_tail_bytes',
        'Of the entries after it, which whoever comes back has to follow.',
        () => kept.tailBytes,
      )
      gauge(
        'countersign_journal_snapshot_failures',
        'Of the makings of a snapshot, since the start.',
        () => kept.failures,
      )
    },
  }
}
