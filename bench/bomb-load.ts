import { randomBytes } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { Pool } from 'undici'

/**
 * The hostile client, in a thread of its own so that what it costs to send is not taken for what
 * it costs to receive. Told `start` it sends bombs at a fixed rate until told `stop`, then answers
 * with what came back.
 */
export interface BombLoad {
  readonly baseUrl: string
  readonly secret: string
  readonly chainId: number
  readonly perSecond: number
}

export interface BombAnswers {
  /** By status and error code. */
  readonly answers: Readonly<Record<string, number>>
  readonly worstMs: number
}

const BOMB_BYTES = 128_000
const CONNECTIONS = 8

const word = (value: number) => value.toString(16).padStart(64, '0')

/** `multicall(bytes[])` whose offsets all lead to one blob. */
function sharedBlob(offsets: number): string {
  const blobBytes = BOMB_BYTES - 4 - 32 * (offsets + 3)
  return `0xac9650d8${word(32)}${word(offsets)}${word(offsets * 32).repeat(offsets)}${word(blobBytes)}${'ff'.repeat(blobBytes)}`
}

/** `multicall` within `multicall`, each with its own padding. */
function nested(depth: number): string {
  let inner = 'ff'.repeat(1_000)
  for (let i = 0; i < depth; i++) {
    const bytes = inner.length / 2
    const padded = inner.padEnd(Math.ceil(bytes / 32) * 64, '0')
    inner = `ac9650d8${word(32)}${word(1)}${word(32)}${word(bytes)}${padded}`
  }
  return `0x${inner.padEnd(BOMB_BYTES * 2, '0')}`
}

/**
 * What is dear to look into; `0x`-prefixed hex of some 128 kB each. Calldata that no layer objects
 * to is not among it: that is an honest send, of which its sender pays the gas.
 */
const BOMBS: readonly string[] = [
  sharedBlob(1_900),
  sharedBlob(3_000),
  nested(40),
  `0xac9650d8${randomBytes(BOMB_BYTES - 4).toString('hex')}`,
  `${sharedBlob(1_900)}f`,
]

const { baseUrl, secret, chainId, perSecond } = workerData as BombLoad
const bodies = BOMBS.map((data, i) => {
  const to = `0x${(0xb0_4b + i).toString(16).padStart(40, '5')}`
  return Buffer.from(JSON.stringify({ chain_id: chainId, to, data }))
})
const pool = new Pool(baseUrl, { connections: CONNECTIONS, pipelining: 1 })
let answers: Record<string, number> = {}
let worstMs = 0
let sent = 0
let timer: NodeJS.Timeout | null = null
const underWay = new Set<Promise<void>>()

async function sendOne(): Promise<void> {
  const body = bodies[sent++ % bodies.length]
  if (body === undefined) return
  const startedAt = performance.now()
  let what: string
  try {
    const headers = { 'x-api-key': secret, 'content-type': 'application/json' }
    const reply = await pool.request({ method: 'POST', path: '/api/tx/send', headers, body })
    const { error } = (await reply.body.json()) as { error?: { code?: string } }
    what = `${reply.statusCode} ${error?.code ?? ''}`.trim()
  } catch (error) {
    what = error instanceof Error ? error.name : 'failed'
  }
  answers[what] = (answers[what] ?? 0) + 1
  worstMs = Math.max(worstMs, performance.now() - startedAt)
}

parentPort?.on('message', (message: 'start' | 'stop' | 'end') => {
  if (message === 'start') {
    answers = {}
    worstMs = 0
    timer = setInterval(() => {
      const one = sendOne().finally(() => underWay.delete(one))
      underWay.add(one)
    }, 1_000 / perSecond)
    return
  }
  if (timer !== null) clearInterval(timer)
  timer = null
  if (message === 'end') void pool.destroy().then(() => process.exit(0))
  else {
    void Promise.allSettled([...underWay]).then(() => {
      const said: BombAnswers = { answers, worstMs }
      parentPort?.postMessage(said)
    })
  }
})
