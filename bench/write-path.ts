import { randomBytes } from 'node:crypto'
import { type CpuSpent, perOperation, startCpuMeter } from './cpu.js'
import { httpHead, type RequestBytes } from './load/connection.js'
import { driveClosed, type LoadFigures } from './load/drive.js'

/** A service to which sends can be made, and the processes that share the work. */
export interface WriteTarget {
  readonly label: string
  readonly port: number
  readonly chainId: number
  /** Keys that may trade, one per wallet. */
  readonly secrets: readonly string[]
  readonly pids: Readonly<Record<string, number>>
}

/** One load through the whole write path: HTTP in, broadcast out. */
export interface WritePathFigures extends LoadFigures {
  readonly label: string
  readonly callers: number
  /** CPU per send and process, in microseconds; `load` is the generator itself. */
  readonly cpuMicros: Readonly<Record<string, CpuSpent>>
}

export async function measureWritePath(
  target: WriteTarget,
  options: { readonly callers: number; readonly runMs: number },
): Promise<WritePathFigures> {
  const { callers, runMs } = options
  const sends = createSends(target)
  const meter = startCpuMeter({ ...target.pids, load: process.pid })
  const figures = await driveClosed({ port: target.port, callers, runMs, next: sends })
  const spent = Object.entries(meter()).map(
    ([name, micros]) => [name, perOperation(micros, figures.done)] as const,
  )
  return { ...figures, label: target.label, callers, cpuMicros: Object.fromEntries(spent) }
}

/** A few thousand recipients, because agents pay the same ones repeatedly. */
const RECIPIENTS = 1_000

/**
 * @returns the next request of a caller: wallets alternate, and each pays another recipient each
 * time
 */
export function createSends({
  secrets,
  chainId,
}: Pick<WriteTarget, 'secrets' | 'chainId'>): (caller: number) => RequestBytes {
  const bodies = Array.from({ length: RECIPIENTS }, () => {
    const to = `0x${randomBytes(20).toString('hex')}`
    return JSON.stringify({ chain_id: chainId, to, value: '1' })
  })
  // Assembled from prepared parts, because making a request must not cost as much as handling it.
  const heads = secrets.map((secret) => {
    const headers = { 'x-api-key': secret, 'content-type': 'application/json' }
    return httpHead('POST', '/api/tx/send', headers)
  })
  const tails = bodies.map((body) => `content-length: ${body.length}\r\n\r\n${body}`)
  let turn = 0
  return () => {
    const head = heads[turn % heads.length] ?? ''
    const tail = tails[(turn * 7) % tails.length] ?? ''
    turn++
    return head + tail
  }
}
