import { randomBytes } from 'node:crypto'
import { type CpuSpent, perOperation, startCpuMeter } from './cpu.js'
import { httpHead, type RequestBytes } from './load/connection.js'
import { driveClosed, type LoadFigures } from './load/drive.js'

/** A service that sends can be put through, and the processes that share the work. */
export interface WriteTarget {
  readonly label: string
  readonly port: number
  readonly chainId: number
  /** Keys that may trade, one per wallet. */
  readonly secrets: readonly string[]
  readonly pids: Readonly<Record<string, number>>
}

/** One load driven through the whole write path: HTTP in, broadcast out. */
export interface WritePathFigures extends LoadFigures {
  readonly label: string
  readonly callers: number
  /** Per send and process, microseconds; `load` is the generator itself. */
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

/** A few thousand recipients: agents pay the same ones again and again. */
const RECIPIENTS = 1_000

/** @returns the next request of a caller: wallets take turns, each pays somebody else each time */
export function createSends({
  secrets,
  chainId,
}: Pick<WriteTarget, 'secrets' | 'chainId'>): (caller: number) => RequestBytes {
  const bodies = Array.from({ length: RECIPIENTS }, () => {
    const to = `0x${randomBytes(20).toString('hex')}`
    return JSON.stringify({ chain_id: chainId, to, value: '1' })
  })
  // Joined here from parts that are ready: to make a request must not cost what one does.
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
