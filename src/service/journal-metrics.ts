import { Gauge, Histogram, type Registry } from 'prom-client'
import type { JournalWriter } from '../store/journal-writer.js'
import type { SnapshotKeeper } from '../store/snapshots/snapshot-keeper.js'

const APPEND_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]
const MS_PER_SECOND = 1_000

interface JournalMetrics {
  appended(elapsedMs: number): void
  /** @param snapshots null if the engine keeps none */
  show(
    writer: Pick<JournalWriter, 'leadership' | 'readings'>,
    snapshots: Pick<SnapshotKeeper, 'readings'> | null,
  ): void
}

/** Called only in an installation with a journal; others do not have these metrics. */
export function createJournalMetrics(registry: Registry): JournalMetrics {
  const registers = [registry]
  const appends = new Histogram({
    name: 'countersign_journal_append_seconds',
    help: 'Time from the first attempt of an append until the entry was stored.',
    buckets: APPEND_SECONDS,
    registers,
  })
  return {
    appended: (elapsedMs) => appends.observe(elapsedMs / MS_PER_SECOND),
    show({ leadership, readings }, snapshots) {
      const gauge = (name: string, help: string, read: () => number) => {
        const shown: Gauge = new Gauge({ name, help, registers, collect: () => shown.set(read()) })
      }
      gauge(
        'countersign_journal_epoch',
        'The epoch in which this service leads the journal; each change of leader raises it.',
        () => leadership.epoch,
      )
      gauge(
        'countersign_journal_entries',
        'Journal entries that the store has applied.',
        () => readings.stored,
      )
      gauge(
        'countersign_journal_commits_waiting',
        'Commits that wait for the journal, including those of an append under way.',
        () => readings.waiting,
      )
      if (snapshots === null) return
      const { readings: kept } = snapshots
      gauge(
        'countersign_journal_snapshot_entry',
        'The entry up to which the last snapshot of the store goes; 0 without a snapshot.',
        () => kept.newest?.seq ?? 0,
      )
      gauge(
        'countersign_journal_snapshot_timestamp_seconds',
        'When the last snapshot was made, as Unix time; 0 without a snapshot.',
        () => (kept.newest?.atMs ?? 0) / MS_PER_SECOND,
      )
      gauge(
        'countersign_journal_snapshot_bytes',
        'Size of the last snapshot.',
        () => kept.newest?.bytes ?? 0,
      )
      gauge(
        'countersign_journal_tail_bytes',
        'Size of the entries after the last snapshot, which a returning node has to apply.',
        () => kept.tailBytes,
      )
      gauge(
        'countersign_journal_snapshot_failures',
        'Snapshots that could not be made since the start.',
        () => kept.failures,
      )
    },
  }
}
