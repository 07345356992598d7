import { type Family, type Labels, renderFamily, type Sample } from '../domain/exposition.js'
import {
  type Backlog,
  type LaneBacklog,
  type PathMeter,
  RPC_COUNTS,
  RPC_HAPPENINGS,
  RPC_OUTCOMES,
  type RpcCount,
  TRANSACTION_STEPS,
  type TransactionStep,
} from '../domain/path-meter.js'
import { CATALOGUE } from '../errors/catalogue.js'

/**
 * The counts of the money path, in memory that all threads share: each thread writes only its own
 * row, and the thread that is scraped adds the rows up.
 */

/** Bounded by the catalogue; an unknown code counts as INTERNAL. */
const CODES = Object.keys(CATALOGUE)
const INTERNAL = CODES.indexOf('INTERNAL')

/**
 * A backlog has two cells: its size, and the time of its oldest entry. A chain's backlog has a
 * third: the number of lanes.
 */
const BACKLOG_CELLS = 2
const LANE_BACKLOG_CELLS = BACKLOG_CELLS + 1

interface Layout {
  readonly chainIds: readonly number[]
  readonly chainCells: number
  readonly unconfirmedAt: number
  readonly codesAt: number
  readonly webhooksAt: number
  readonly row: number
}

function layoutOf(chainIds: readonly number[]): Layout {
  const unconfirmedAt = TRANSACTION_STEPS.length + RPC_COUNTS.length
  const chainCells = unconfirmedAt + LANE_BACKLOG_CELLS
  const codesAt = chainIds.length * chainCells
  const webhooksAt = codesAt + CODES.length
  return {
    chainIds,
    chainCells,
    unconfirmedAt,
    codesAt,
    webhooksAt,
    row: webhooksAt + BACKLOG_CELLS,
  }
}

export function createPathBuffer(threads: number, chainIds: readonly number[]): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * layoutOf(chainIds).row * Float64Array.BYTES_PER_ELEMENT)
}

interface ThreadPathMeter extends PathMeter {
  /** Writes the present readings. */
  post(): void
}

/** @param thread the index of the row */
export function attachPathMeter(
  buffer: SharedArrayBuffer,
  thread: number,
  chainIds: readonly number[],
): ThreadPathMeter {
  const layout = layoutOf(chainIds)
  const { row, chainCells, unconfirmedAt, codesAt, webhooksAt } = layout
  const cells = new Float64Array(buffer, thread * row * Float64Array.BYTES_PER_ELEMENT, row)
  const chainAt = new Map(chainIds.map((id, index) => [id, index * chainCells]))
  const stepAt = new Map<TransactionStep, number>(TRANSACTION_STEPS.map((step, at) => [step, at]))
  const rpcAt = new Map<RpcCount, number>(
    RPC_COUNTS.map((count, at) => [count, TRANSACTION_STEPS.length + at]),
  )
  const codeAt = new Map(CODES.map((code, at) => [code, codesAt + at]))
  const backlogs = new Map<number, () => Backlog & Partial<LaneBacklog>>()

  function up(at: number): void {
    cells[at] = (cells[at] ?? 0) + 1
  }

  function ofChain(chainId: number, at: number | undefined): void {
    const begin = chainAt.get(chainId)
    if (begin !== undefined && at !== undefined) up(begin + at)
  }

  return {
    step: (chainId, step) => ofChain(chainId, stepAt.get(step)),
    rpc: (chainId, count) => ofChain(chainId, rpcAt.get(count)),
    refused: (code) => up(codeAt.get(code) ?? codesAt + INTERNAL),
    unconfirmed(chainId, read) {
      const begin = chainAt.get(chainId)
      if (begin !== undefined) backlogs.set(begin + unconfirmedAt, read)
    },
    webhooks: (read) => void backlogs.set(webhooksAt, read),
    post() {
      for (const [at, read] of backlogs) {
        const { count, oldestAtMs, lanes } = read()
        cells[at] = count
        cells[at + 1] = oldestAtMs ?? 0
        if (lanes !== undefined) cells[at + 2] = lanes
      }
    },
  }
}

/** Adds up the rows of all threads. */
function addRows(buffer: SharedArrayBuffer, { row }: Layout) {
  const cells = new Float64Array(buffer)
  const threads = Array.from({ length: cells.length / row }, (_, i) => i * row)

  function sum(at: number): number {
    return threads.reduce((total, begin) => total + (cells[begin + at] ?? 0), 0)
  }

  function backlog(at: number): Backlog {
    const since = threads.map((begin) => cells[begin + at + 1] ?? 0).filter((atMs) => atMs > 0)
    return { count: sum(at), oldestAtMs: since.length === 0 ? null : Math.min(...since) }
  }

  return { sum, backlog }
}

/**
 * Endpoints of each chain that are paused because they named another chain id. Each thread checks
 * for itself, so the thread with the most paused endpoints counts.
 */
export function readDoubtedEndpoints(
  buffer: SharedArrayBuffer,
  chainIds: readonly number[],
): (chainId: number) => number {
  const { row, chainCells } = layoutOf(chainIds)
  const cells = new Float64Array(buffer)
  const at = (chainId: number, count: RpcCount) =>
    chainIds.indexOf(chainId) * chainCells + TRANSACTION_STEPS.length + RPC_COUNTS.indexOf(count)
  return (chainId) => {
    const [doubted, right] = [at(chainId, 'chain-id-doubted'), at(chainId, 'chain-id-right')]
    let most = 0
    for (let begin = 0; begin < cells.length; begin += row) {
      most = Math.max(most, (cells[begin + doubted] ?? 0) - (cells[begin + right] ?? 0))
    }
    return most
  }
}

/** The backlogs as numbers, for readers other than Prometheus; from each thread's last reading. */
export function readBacklogs(buffer: SharedArrayBuffer, chainIds: readonly number[]) {
  const layout = layoutOf(chainIds)
  const { sum, backlog } = addRows(buffer, layout)
  return {
    unconfirmed: () =>
      chainIds.map((chainId, chain) => {
        const at = chain * layout.chainCells + layout.unconfirmedAt
        return { chainId, ...backlog(at), lanes: sum(at + BACKLOG_CELLS) }
      }),
    webhooks: () => backlog(layout.webhooksAt),
  }
}

/** @returns a function that renders all rows with their present values */
export function showPath(
  buffer: SharedArrayBuffer,
  chainIds: readonly number[],
  nowMs: () => number,
): () => string {
  const layout = layoutOf(chainIds)
  const { sum, backlog } = addRows(buffer, layout)

  /** Seconds; 0 for an empty backlog. */
  function oldestSeconds(at: number): number {
    const { oldestAtMs } = backlog(at)
    return oldestAtMs === null ? 0 : Math.max(0, nowMs() - oldestAtMs) / 1_000
  }

  function byChain<Name extends string>(
    label: string,
    names: readonly Name[],
    firstAt: number,
  ): Sample[] {
    return chainIds.flatMap((chain_id, chain) =>
      names.map((name, i): Sample => {
        const labels: Labels = { chain_id, [label]: name.replaceAll('-', '_') }
        return [labels, sum(chain * layout.chainCells + firstAt + i)]
      }),
    )
  }

  const steps = TRANSACTION_STEPS.length
  const unconfirmedOf = (chain: number) => chain * layout.chainCells + layout.unconfirmedAt
  const family = (
    name: string,
    type: Family['type'],
    help: string,
    samples: () => readonly Sample[],
  ) => ({ name, type, help, samples })
  const families = [
    family(
      'countersign_transactions_total',
      'counter',
      'Transactions, by the steps that they reached.',
      () => byChain('state', TRANSACTION_STEPS, 0),
    ),
    family('countersign_rpc_requests_total', 'counter', 'HTTP requests to nodes, by outcome.', () =>
      byChain('outcome', RPC_OUTCOMES, steps),
    ),
    family(
      'countersign_rpc_endpoint_events_total',
      'counter',
      'Changes in the state of chain endpoints.',
      () => byChain('event', RPC_HAPPENINGS, steps + RPC_OUTCOMES.length),
    ),
    family(
      'countersign_unconfirmed_transactions',
      'gauge',
      'Transactions that are signed and not final.',
      () => chainIds.map((chain_id, chain) => [{ chain_id }, sum(unconfirmedOf(chain))]),
    ),
    family(
      'countersign_oldest_unconfirmed_seconds',
      'gauge',
      'Age of the oldest of them; 0 without any.',
      () => chainIds.map((chain_id, chain) => [{ chain_id }, oldestSeconds(unconfirmedOf(chain))]),
    ),
    family('countersign_refusals_total', 'counter', 'Calls that were refused, by code.', () =>
      CODES.map((code, at) => [{ code }, sum(layout.codesAt + at)]),
    ),
    family(
      'countersign_webhook_backlog_events',
      'gauge',
      'Events taken from the log and not yet delivered to webhooks.',
      () => [[{}, sum(layout.webhooksAt)]],
    ),
    family(
      'countersign_webhook_oldest_seconds',
      'gauge',
      'Age of the oldest of them; 0 without any.',
      () => [[{}, oldestSeconds(layout.webhooksAt)]],
    ),
  ]
  return () =>
    families.map(({ samples, ...rest }) => renderFamily({ ...rest, samples: samples() })).join('')
}
