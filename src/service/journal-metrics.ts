import { Gauge, Histogram, type Registry } from 'prom-client'
import type { JournalWriter } from '../store/journal-writer.js'

const APPEND_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]
const MS_PER_SECOND = 1_000

export interface JournalMetrics {
  appended(elapsedMs: number): void
  show(writer: Pick<JournalWriter, 'owner' | 'readings'>): void
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
    show({ owner, readings }) {
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
    },
  }
}
