import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { BatchApproval } from '../../quorum-protocol/methods/signing.js'
import { codeOf, REFUSAL_CODES, refusalCode } from '../../quorum-protocol/refusal.js'

/**
 * The operator's metrics of approvals, updated once per batch. They name no user, wallet or key.
 */
export interface VaultMetrics {
  readonly registry: Registry
  /**
   * Measures a batch from its arrival to its answer.
   * @returns the same promise
   */
  batch<Answer extends Pick<BatchApproval, 'answers'>>(answering: Promise<Answer>): Promise<Answer>
  /** Sets sources that are read when Prometheus scrapes. */
  watch(sources: VaultSources): void
  /** Called only when there is a journal. */
  watchJournal(read: () => JournalReadings): void
}

interface JournalReadings {
  /** The epoch of this home's leadership; 0 while it is a standby. */
  readonly epoch: number
  /** Writes that are on disk here but not in the journal yet. */
  readonly waiting: number
  /** Entries that this home does not have yet; 0 on the leader. */
  readonly behind: number
  readonly isHindered: boolean
}

interface VaultSources {
  readonly disk: { readonly freeBytes: number | null; readonly floorBytes: number }
  readonly frozen: () => boolean
}

/** In seconds. A batch is answered once its evidence is on disk. */
const BUCKETS_SECONDS = [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const MS_PER_SECOND = 1_000

export function createVaultMetrics(): VaultMetrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const approvals = new Counter({
    name: 'countersign_approvals_total',
    help: 'Signatures that the service requested, by result: approved, or the reason of the refusal.',
    labelNames: ['outcome'],
    registers,
  })
  // A counter that starts at 0 has a rate before its first event.
  for (const outcome of ['approved', ...Object.keys(REFUSAL_CODES)]) approvals.inc({ outcome }, 0)
  const took = new Histogram({
    name: 'countersign_approval_batch_duration_seconds',
    help: 'Time from the arrival of a batch to its answer, with its evidence on disk.',
    buckets: BUCKETS_SECONDS,
    registers,
  })

  return {
    registry,
    batch(answering) {
      const beganMs = performance.now()
      answering.then(
        ({ answers }) => {
          took.observe((performance.now() - beganMs) / MS_PER_SECOND)
          for (const one of answers) {
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
        "Epoch of this node's leadership of the journal; 0 while another node leads.",
        ({ epoch }) => epoch,
      )
      gauge(
        'countersign_journal_writes_waiting',
        'Writes on disk here but not in the journal yet: answers wait for them.',
        ({ waiting }) => waiting,
      )
      gauge(
        'countersign_journal_behind',
        'Journal entries that a standby has not applied yet.',
        ({ behind }) => behind,
      )
      gauge(
        'countersign_journal_hindered',
        '1 when this standby would not take over, for the reason in its log.',
        ({ isHindered }) => (isHindered ? 1 : 0),
      )
    },
    watch({ disk, frozen }) {
      const free = new Gauge({
        name: 'countersign_disk_free_bytes',
        help: "Free bytes on the ledger's disk; 0 while they cannot be read.",
        registers,
        collect() {
          free.set(disk.freeBytes ?? 0)
        },
      })
      new Gauge({
        name: 'countersign_disk_floor_bytes',
        help: 'With fewer free bytes than this, nothing is approved.',
        registers,
      }).set(disk.floorBytes)
      const freezes = new Gauge({
        name: 'countersign_freezes',
        help: 'Freezes in force, by scope; in this domain only the whole instance.',
        labelNames: ['scope'],
        registers,
        collect() {
          freezes.set({ scope: 'instance' }, frozen() ? 1 : 0)
        },
      })
    },
  }
}
