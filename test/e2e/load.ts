import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from '../../src/domain/ids.js'
import { erc20Transfer } from './chain.js'
import type { IssuedKey } from './stack.js'

/** Sends of one US dollar each, from many connections, repeated until each has its answer. */
export interface Load {
  readonly key: IssuedKey
  readonly chainId: number
  readonly usdc: Address
  readonly recipient: Address
  readonly sends: number
  readonly connections: number
  /** Called with the number of sends that have their final answer. */
  readonly onAnswered?: (count: number) => void
  /** Called with each answer or failure on the way, as `seen` names them. */
  readonly onSeen?: (fate: string) => void
}

export interface LoadResult {
  /** Transaction ids that were answered with success, one per send. */
  readonly sent: readonly string[]
  readonly refused: number
  /** Answers and failures on the way, by status and code; `no answer` for a broken connection. */
  readonly seen: ReadonlyMap<string, number>
}

const USD = 1_000_000n
const RETRY_MS = 100
/** The service is back within seconds; a send that is still unanswered then never will be. */
const GIVE_UP_MS = 100_000
/** Fates of a request that are worth another try under the same Idempotency-Key. */
const RETRIED = new Set([409, 429, 500, 502, 503, 504])

/** @throws Error when a send gets no final answer in time, or an unexpected one */
export async function runLoad(load: Load): Promise<LoadResult> {
  const { key, chainId, usdc, recipient } = load
  const sent: string[] = []
  const seen = new Map<string, number>()
  let refused = 0
  let left = load.sends
  let answered = 0

  async function sendOne(): Promise<void> {
    const headers = { 'idempotency-key': randomUUID() }
    const body = { chain_id: chainId, to: usdc, data: erc20Transfer(recipient, USD) }
    const deadlineMs = Date.now() + GIVE_UP_MS
    while (Date.now() < deadlineMs) {
      const answer = await key.api.post('/api/tx/send', body, headers).catch(() => null)
      const fate = answer === null ? 'no answer' : `${answer.status} ${answer.code ?? ''}`.trim()
      seen.set(fate, (seen.get(fate) ?? 0) + 1)
      load.onSeen?.(fate)
      if (answer === null || RETRIED.has(answer.status)) {
        await delay(RETRY_MS)
        continue
      }
      if (answer.json.tx_id !== undefined) sent.push(answer.json.tx_id)
      else if (answer.code === 'LIMIT_EXCEEDED') refused++
      else throw new Error(`unexpected answer: ${answer.text}`)
      return
    }
    throw new Error('a send was never answered')
  }

  await Promise.all(
    Array.from({ length: load.connections }, async () => {
      while (left > 0) {
        left--
        await sendOne()
        answered++
        load.onAnswered?.(answered)
      }
    }),
  )
  return { sent, refused, seen }
}
