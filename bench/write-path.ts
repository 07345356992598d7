import { randomBytes } from 'node:crypto'
import { Pool } from 'undici'
import { cpuMicros, quantileMs } from './figures.js'
import type { Stack } from './stack.js'

/** One load driven through the whole write path: HTTP in, broadcast out. */
export interface WritePathFigures {
  readonly label: string
  readonly callers: number
  readonly sent: number
  /** Answers other than 200 and 202, by status and code. */
  readonly refused: Readonly<Record<string, number>>
  readonly perSecond: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  /** CPU per send, by process. */
  readonly cpuMicros: {
    readonly service: number
    readonly identityProvider: number
    readonly quorumSigner: number
    readonly chain: number
  }
}

export async function measureWritePath(
  stack: Stack,
  options: { label: string; callers: number; chainId: number; runMs: number },
): Promise<WritePathFigures> {
  const { label, callers, chainId, runMs } = options
  const pool = new Pool(stack.baseUrl, { connections: callers, pipelining: 1 })
  const { service, identity_provider, quorum_signer, chains } = stack.pids
  const pids = [service, identity_provider, quorum_signer, chains[chainId] ?? service]
  const latenciesMs: number[] = []
  const refused: Record<string, number> = {}
  try {
    const before = pids.map(cpuMicros)
    const startedAt = performance.now()
    const deadline = startedAt + runMs
    await Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        for (let i = 0; performance.now() < deadline; i++) {
          const secret = stack.secrets[(caller + i * callers) % stack.secrets.length] ?? ''
          const from = performance.now()
          const { statusCode, body } = await pool.request({
            method: 'POST',
            path: '/api/tx/send',
            headers: { 'x-api-key': secret, 'content-type': 'application/json' },
            body: JSON.stringify({ chain_id: chainId, to: recipient(), value: '1' }),
          })
          if (statusCode === 200 || statusCode === 202) {
            await body.dump()
            latenciesMs.push(performance.now() - from)
            continue
          }
          const { error } = (await body.json()) as { error?: { code?: string } }
          const what = `${statusCode} ${error?.code ?? ''}`
          refused[what] = (refused[what] ?? 0) + 1
        }
      }),
    )
    const elapsedMs = performance.now() - startedAt
    const sent = latenciesMs.length
    const [s = 0, u = 0, q = 0, c = 0] = pids.map(
      (pid, i) => (cpuMicros(pid) - (before[i] ?? 0)) / Math.max(1, sent),
    )
    latenciesMs.sort((a, b) => a - b)
    return {
      label,
      callers,
      sent,
      refused,
      perSecond: (sent / elapsedMs) * 1_000,
      p50Ms: quantileMs(latenciesMs, 0.5),
      p95Ms: quantileMs(latenciesMs, 0.95),
      p99Ms: quantileMs(latenciesMs, 0.99),
      cpuMicros: { service: s, identityProvider: u, quorumSigner: q, chain: c },
    }
  } finally {
    await pool.close()
  }
}

/** A few thousand recipients: agents pay the same ones again and again. */
const RECIPIENTS = Array.from({ length: 1_000 }, () => `0x${randomBytes(20).toString('hex')}`)

function recipient(): string {
  return RECIPIENTS[Math.floor(Math.random() * RECIPIENTS.length)] ?? '0x'
}
