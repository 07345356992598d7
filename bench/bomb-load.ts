import { randomBytes } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { type Connection, httpRequest, openConnection } from './load/connection.js'

/**
 * The hostile client, in a separate thread, so that the cost of sending is not mistaken for that of
 * receiving. On `start` it sends bombs at a fixed rate until `stop`, then reports the answers.
 */
export interface BombLoad {
  readonly port: number
  readonly secret: string
  readonly chainId: number
  readonly perSecond: number
}

export interface BombAnswers {
  /** Counts by status and error code. */
  readonly answers: Readonly<Record<string, number>>
  readonly worstMs: number
}

export type BombCommand = 'start' | 'stop' | 'end'

const BOMB_BYTES = 128_000
/** A bomb that finds all connections waiting for answers opens another. */
const CONNECTIONS_AT_START = 8

const word = (value: number) => value.toString(16).padStart(64, '0')

/** `multicall(bytes[])` whose offsets all point to one blob. */
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
 * Calldata that is costly to examine; `0x`-prefixed hex of some 128 kB each. Calldata that no layer
 * refuses is not included, because that is an honest send whose sender pays the gas.
 */
const BOMBS: readonly string[] = [
  sharedBlob(1_900),
  sharedBlob(3_000),
  nested(40),
  `0xac9650d8${randomBytes(BOMB_BYTES - 4).toString('hex')}`,
  `${sharedBlob(1_900)}f`,
]

const { port, secret, chainId, perSecond } = workerData as BombLoad
const headers = { 'x-api-key': secret, 'content-type': 'application/json' }
const requests = BOMBS.map((data, i) => {
  const to = `0x${(0xb0_4b + i).toString(16).padStart(40, '5')}`
  return httpRequest(
    'POST',
    '/api/tx/send',
    headers,
    JSON.stringify({ chain_id: chainId, to, data }),
  )
})
let idle: Connection[] = []
let answers: Record<string, number> = {}
let worstMs = 0
let sent = 0
let dueAtMs = 0
let timer: NodeJS.Timeout | null = null
const underWay = new Set<Promise<void>>()

async function sendOne(): Promise<void> {
  const request = requests[sent++ % requests.length]
  if (request === undefined) return
  const startedAt = performance.now()
  let what: string
  try {
    const connection = idle.pop() ?? (await openConnection('127.0.0.1', port))
    const { status, body } = await connection.request(request)
    idle.push(connection)
    what = `${status} ${/"code": ?"([A-Z_]+)"/.exec(body)?.[1] ?? ''}`.trim()
  } catch (error) {
    what = error instanceof Error ? error.name : 'failed'
  }
  answers[what] = (answers[what] ?? 0) + 1
  worstMs = Math.max(worstMs, performance.now() - startedAt)
}

function sendNext(): void {
  const one = sendOne().finally(() => underWay.delete(one))
  underWay.add(one)
  // Gaps vary from half to one and a half. With even gaps each bomb would come at the same moment
  // between two honest sends, which come evenly.
  dueAtMs += (1_000 / perSecond) * (0.5 + Math.random())
  timer = setTimeout(sendNext, Math.max(0, dueAtMs - performance.now()))
}

async function start(): Promise<void> {
  answers = {}
  worstMs = 0
  idle = await Promise.all(
    Array.from({ length: CONNECTIONS_AT_START }, () => openConnection('127.0.0.1', port)),
  )
  dueAtMs = performance.now()
  sendNext()
}

async function stop(): Promise<void> {
  if (timer !== null) clearTimeout(timer)
  timer = null
  await Promise.allSettled([...underWay])
  // The service closes silent connections while the other phase runs.
  for (const connection of idle.splice(0)) connection.close()
}

parentPort?.on('message', (command: BombCommand) => {
  if (command === 'start') void start()
  else if (command === 'end') process.exit(0)
  else {
    void stop().then(() => {
      const said: BombAnswers = { answers, worstMs }
      parentPort?.postMessage(said)
    })
  }
})
