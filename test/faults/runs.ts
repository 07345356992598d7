/**
 * How long a mix runs, how often, and from which seeds. `npm run test:long -- faults` makes three long runs;
 * `FAULTS_SEED=… FAULTS_RUNS=1` makes one of them again.
 */
export interface Runs {
  readonly transactions: number
  readonly wallets: number
  readonly seeds: readonly number[]
  /** For the last transactions of a run to end. */
  readonly settleMs: number
  /** Longest life of the test of one run. */
  readonly timeoutMs: number
  /** Where the logs of a run go that found something (`FAULTS_LOGS`); null: nowhere. */
  readonly logs: string | null
  /** Says at once how far a long run is, and not only when its test ends. */
  readonly progress: (sentence: string) => void
}

const SETTLE_MS = 90_000
const SETTLE_MS_PER_TRANSACTION = 100
const START_MS = 300_000
/** From so many on, chance evens out, and the run takes minutes. */
export const LONG = 400

export function runsOf(short: { readonly transactions: number; readonly wallets: number }): Runs {
  const { FAULTS_TRANSACTIONS, FAULTS_WALLETS, FAULTS_RUNS, FAULTS_SEED } = process.env
  const transactions = Number(FAULTS_TRANSACTIONS ?? short.transactions)
  const first = Number(FAULTS_SEED ?? Date.now() % 1_000_000)
  const settleMs = SETTLE_MS + transactions * SETTLE_MS_PER_TRANSACTION
  return {
    transactions,
    wallets: Number(FAULTS_WALLETS ?? short.wallets),
    seeds: Array.from({ length: Number(FAULTS_RUNS ?? 1) }, (_, run) => first + run),
    settleMs,
    timeoutMs: 3 * settleMs + START_MS,
    logs: process.env.FAULTS_LOGS ?? null,
    progress(sentence) {
      if (transactions >= LONG) process.stdout.write(`${sentence}\n`)
    },
  }
}
