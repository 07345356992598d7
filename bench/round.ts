import { httpRequest } from './load/connection.js'
import { driveClosed } from './load/drive.js'
import type { PlainStack } from './plain.js'
import { QUORUM_LOADS, type Quorum, type QuorumLoad } from './quorum.js'
import { measureReads, type ReadFigures, type ReadTarget } from './reads.js'
import type { SinkStack } from './sink-stack.js'
import { measureWritePath, type WritePathFigures } from './write-path.js'

/** Everything that runs while rounds are measured; it idles except for what is driven. */
export interface Bench {
  readonly quorum: Quorum
  readonly sink: SinkStack
  readonly plain: PlainStack
  readonly reads: Readonly<Record<'bareUws' | 'limits' | 'transaction' | 'mcpLimits', ReadTarget>>
}

export interface RoundTimes {
  readonly quorumMs: number
  readonly writeMs: number
  readonly readMs: number
}

/** One pass over everything, in an order that keeps compared figures close together. */
export interface Round {
  readonly quorum: Readonly<Record<string, QuorumLoad>>
  /** Signatures per second of the quorum at full load, between the loads of the write path. */
  readonly quorumBeside: number
  readonly write: Readonly<Record<string, WritePathFigures>>
  readonly plain: Readonly<Record<string, WritePathFigures>>
  readonly reads: Readonly<Record<keyof Bench['reads'], ReadFigures>>
  /** Time that the chain sink takes to answer one caller, in milliseconds. */
  readonly nodeP50Ms: number
  /** p50 of a single caller's sends, minus that answer. */
  readonly oneCallerOverNodeMs: number
  readonly ratios: Ratios
}

export type Ratios = Readonly<
  Record<
    | 'quorum_vs_bare_signing'
    | 'write_path_vs_quorum'
    /** Only for the loads with p99 ≤ 100 ms; 0 without one. */
    | 'write_path_within_100ms_vs_quorum'
    | 'write_path_vs_plain'
    | 'write_path_within_100ms_vs_plain'
    | 'reads_vs_uws'
    | 'limits_vs_uws'
    | 'transaction_vs_uws'
    | 'mcp_vs_rest',
    number
  >
>

/** Dense where the latency meets its bar, up to the load of the quorum's own measurement. */
const WRITE_CALLERS = [1, 32, 64, 128, 160, 192, 224, 256] as const
const PLAIN_CALLERS = [1, 32, 128, 256] as const
const P99_BAR_MS = 100

export async function measureRound(bench: Bench, times: RoundTimes): Promise<Round> {
  const { quorumMs, writeMs, readMs } = times
  const quorum: Record<string, QuorumLoad> = {}
  for (const load of QUORUM_LOADS) quorum[load.label] = await bench.quorum.measure(load, quorumMs)
  const write: Record<string, WritePathFigures> = {}
  // Alternating, because a core of a shared machine changes its speed by half within seconds.
  const loaded: number[] = []
  for (const callers of WRITE_CALLERS) {
    write[String(callers)] = await measureWritePath(bench.sink, { callers, runMs: writeMs })
    loaded.push(await bench.quorum.rateNow(quorumMs))
  }
  const quorumBeside = mean(loaded)
  const plain: Record<string, WritePathFigures> = {}
  for (const callers of PLAIN_CALLERS) {
    plain[String(callers)] = await measureWritePath(bench.plain, { callers, runMs: writeMs })
  }
  const reads = {
    bareUws: await measureReads(bench.reads.bareUws, readMs),
    limits: await measureReads(bench.reads.limits, readMs),
    transaction: await measureReads(bench.reads.transaction, readMs),
    mcpLimits: await measureReads(bench.reads.mcpLimits, readMs),
  }
  const nodeP50Ms = await nodeAnswerMs(bench.sink.sinkPort, readMs / 2)
  return {
    quorum,
    quorumBeside,
    write,
    plain,
    reads,
    nodeP50Ms,
    oneCallerOverNodeMs: (write['1']?.p50Ms ?? 0) - nodeP50Ms,
    ratios: ratiosOf({ quorum, quorumBeside, write, plain, reads }),
  }
}

function ratiosOf({
  quorum,
  quorumBeside: signing,
  write,
  plain,
  reads,
}: Pick<Round, 'quorum' | 'quorumBeside' | 'write' | 'plain' | 'reads'>): Ratios {
  const writes = Object.values(write)
  const inTime = best(writes.filter(({ p99Ms }) => p99Ms <= P99_BAR_MS))
  const plainBest = best(Object.values(plain))
  const bare = reads.bareUws.perSecond
  const limits = reads.limits.perSecond / bare
  const transaction = reads.transaction.perSecond / bare
  return {
    quorum_vs_bare_signing: Math.max(...Object.values(quorum).map(({ vsBare }) => vsBare)),
    write_path_vs_quorum: best(writes) / signing,
    write_path_within_100ms_vs_quorum: inTime / signing,
    write_path_vs_plain: best(writes) / plainBest,
    write_path_within_100ms_vs_plain: inTime / plainBest,
    reads_vs_uws: Math.min(limits, transaction),
    limits_vs_uws: limits,
    transaction_vs_uws: transaction,
    mcp_vs_rest: reads.mcpLimits.perSecond / reads.limits.perSecond,
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function best(loads: readonly { readonly perSecond: number }[]): number {
  return Math.max(0, ...loads.map(({ perSecond }) => perSecond))
}

async function nodeAnswerMs(port: number, runMs: number): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
  const request = httpRequest('POST', '/', { 'content-type': 'application/json' }, body)
  const { p50Ms } = await driveClosed({ port, callers: 1, runMs, next: () => request })
  return p50Ms
}
