import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { codeOf, REFUSAL_CODES, refusalCode } from '../../quorum-protocol/refusal.js'

/**
 * What the user side of every signature counts, for whoever runs it: paid once a batch. Whoever is
 * scraped for it says nothing of a user, a wallet or a key.
 */
export interface VaultMetrics {
  readonly registry: Registry
  /** Follows a batch from its arrival to its answer. @returns the same promise */
  batch<Answer extends readonly unknown[]>(answering: Promise<Answer>): Promise<Answer>
  /** Read when Prometheus asks. */
  watch(sources: VaultSources): void
  /** Only where there is a journal. */
  watchJournal(read: () => JournalReadings): void
}

export interface JournalReadings {
  /** Of this home's own taking; 0 while it waits. */
  readonly epoch: number
  /** Writes that are on disk here and not in the journal yet. */
  readonly waiting: number
  /** Entries that this home does not have yet; 0 of the owner. */
  readonly behind: number
  readonly isHindered: boolean
}

export interface VaultSources {
  readonly disk: { readonly freeBytes: number | null; readonly floorBytes: number }
  readonly frozen: () => boolean
}

/** Of an approval's fields, see `approve-batch.ts`. */
const ANSWERS_AT = 3
/** Seconds; a batch is answered once its evidence is on disk. */
const BUCKETS_SECONDS = [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const MS_PER_SECOND = 1_000

export function createVaultMetrics(): VaultMetrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const approvals = new Counter({
    name: 'countersign_approvals_total',
    help: 'Signatures that the service asked for, by what came of it: approved, or why not.',
    labelNames: ['outcome'],
    registers,
  })
  // A rate of what has not happened yet is nought, and not unknown.
  for (const outcome of ['approved', ...Object.keys(REFUSAL_CODES)]) approvals.inc({ outcome }, 0)
  const took = new Histogram({
    name: 'countersign_approval_batch_duration_seconds',
    help: 'From the arrival of a batch to its answer, with its evidence on disk.',
    buckets: BUCKETS_SECONDS,
    registers,
  })

  return {
    registry,
    batch(answering) {
      const beganMs = performance.now()
      answering.then(
        (answer) => {
          took.observe((performance.now() - beganMs) / MS_PER_SECOND)
          const answers = answer[ANSWERS_AT]
          if (!Array.isArray(answers)) return
          for (const one of answers as readonly unknown[]) {
            const outcome = Array.isArray(one) ? refusalCode(one[0]) : 'approved'
            approvals.inc({ outcome })
          }
        },
        (error: unknown) => approvals.inc({ outcome: codeOf(error) }),
      )
      return answering
    },
    watchJournal(read) {
      const gauge = (name: string, help: string, value: (readings: JournalReadings) => number) => {
        const made: Gauge = new Gauge({
          name,
          help,
          registers,
          collect: () => made.set(value(read())),
        })
      }
      gauge(
        'countersign_journal_epoch',
        'Of this taking of the journal; 0 while another owns it.',
        ({ epoch }) => epoch,
      )
      gauge(
        'countersign_journal_writes_waiting',
        'Written here and not in the journal yet: answers wait for them.',
        ({ waiting }) => waiting,
      )
      gauge(
        'countersign_journal_behind',
        'Entries of the journal that a standby does not have yet.',
        ({ behind }) => behind,
      )
      gauge(
        'countersign_journal_hindered',
        '1: a standby that would not take over, for the reason in its log.',
        ({ isHindered }) => (isHindered ? 1 : 0),
      )
    },
    watch({ disk, frozen }) {
      const free = new Gauge({
        name: 'countersign_disk_free_bytes',
        help: 'Free where the ledger is; 0 while it cannot be looked at.',
        registers,
        collect() {
          free.set(disk.freeBytes ?? 0)
        },
      })
      new Gauge({
        name: 'countersign_disk_floor_bytes',
        help: 'With less than that free, nothing is approved.',
        registers,
      }).set(disk.floorBytes)
      const freezes = new Gauge({
        name: 'countersign_freezes',
        help: 'What is frozen now, by scope; of this domain, that is all of it or nothing.',
        labelNames: ['scope'],
        registers,
        collect() {
          freezes.set({ scope: 'instance' }, frozen() ? 1 : 0)
        },
      })
    },
  }
}
