import { type Child, numberOf } from './child-process.js'
import { type CpuSpent, perOperation, startCpuMeter } from './cpu.js'
import { httpRequest, openConnection } from './load/connection.js'
import { driveClosed, type LoadFigures } from './load/drive.js'
import { createSends, type WriteTarget } from './write-path.js'

/** One kind of read, as fast as callers can request it. */
export interface ReadFigures extends LoadFigures {
  readonly label: string
  /** CPU per read, of the process that answers and of the load generator. */
  readonly cpuMicros: { readonly server: CpuSpent; readonly load: CpuSpent }
}

export interface ReadTarget {
  readonly label: string
  readonly port: number
  /** Pid of the process that answers. */
  readonly pid: number
  /** Turns take them in order. */
  readonly requests: readonly Buffer[]
}

const CALLERS = 32

export async function measureReads(target: ReadTarget, runMs: number): Promise<ReadFigures> {
  const { label, port, pid, requests } = target
  const meter = startCpuMeter({ server: pid, load: process.pid })
  let turn = 0
  const next = () => requests[turn++ % requests.length] ?? Buffer.alloc(0)
  const figures = await driveClosed({ port, callers: CALLERS, runMs, next })
  const { server, load } = meter()
  const n = figures.done
  return {
    ...figures,
    label,
    cpuMicros: { server: perOperation(server, n), load: perOperation(load, n) },
  }
}

/** The yardstick: the same request, answered by uWebSockets.js with nothing behind it. */
export function bareUwsTarget(bare: Child, { secrets }: WriteTarget): ReadTarget {
  return {
    label: 'bare uWebSockets.js',
    port: numberOf(bare, 'port'),
    pid: bare.pid,
    requests: [httpRequest('GET', '/api/limits', { 'x-api-key': secrets[0] ?? '' })],
  }
}

/** The reads of a service: limits and transactions over REST, limits over MCP. */
export async function readTargets(
  stack: WriteTarget & { readonly pids: { readonly service: number } },
): Promise<Record<'limits' | 'transaction' | 'mcpLimits', ReadTarget>> {
  const { port, secrets } = stack
  const pid = stack.pids.service
  const ids = await sendSome(stack)
  const get = (path: string, secret: string) => httpRequest('GET', path, { 'x-api-key': secret })
  const call = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'get_limits', arguments: {} },
  })
  const mcpHeaders = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-06-18',
  }
  return {
    limits: {
      label: 'GET /api/limits',
      port,
      pid,
      requests: secrets.map((secret) => get('/api/limits', secret)),
    },
    transaction: {
      label: 'GET /api/tx/{id}',
      port,
      pid,
      requests: ids.map(({ txId, secret }) => get(`/api/tx/${txId}`, secret)),
    },
    mcpLimits: {
      label: 'MCP get_limits',
      port,
      pid,
      requests: secrets.map((secret) =>
        httpRequest('POST', '/mcp', { 'x-api-key': secret, ...mcpHeaders }, call),
      ),
    },
  }
}

/** Sends one transaction per wallet. */
async function sendSome(
  target: WriteTarget,
): Promise<readonly { readonly txId: string; readonly secret: string }[]> {
  const next = createSends(target)
  const connection = await openConnection('127.0.0.1', target.port)
  try {
    const sent = []
    for (const secret of target.secrets) {
      const { status, body } = await connection.request(next(0))
      if (status !== 200 && status !== 202) throw new Error(`a send was answered ${status} ${body}`)
      sent.push({ txId: (JSON.parse(body) as { tx_id: string }).tx_id, secret })
    }
    return sent
  } finally {
    connection.close()
  }
}
