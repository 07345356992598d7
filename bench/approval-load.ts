import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { WriteTarget } from './write-path.js'

/** Calls of the sending wallets that wait for people. */
export interface WaitingCalls {
  /**
   * Makes this many calls wait, spread over the wallets; resolves once the identity provider had
   * time to learn of them.
   */
  ask(count: number): Promise<void>
  /** Ends all of them. */
  withdrawAll(): Promise<void>
}

interface Asked {
  readonly secret: string
  readonly txId: string
}

const AT_ONCE = 16
/** The identity provider learns of them one by one, with a flush each. */
const TOLD_PER_SECOND = 200
const SETTLE_MS_MIN = 1_000

export function startWaitingCalls({
  stack: { port, chainId, secrets },
  value,
}: {
  readonly stack: WriteTarget
  /** Wei, more than the keys' policy allows without approval. */
  readonly value: string
}): WaitingCalls {
  let waiting: Asked[] = []

  async function post(secret: string, path: string, body: object): Promise<Response> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }

  async function askOne(secret: string): Promise<void> {
    const to = `0x${randomBytes(20).toString('hex')}`
    const response = await post(secret, '/api/tx/send', { chain_id: chainId, to, value })
    const { tx_id: txId, status } = (await response.json()) as Record<string, string>
    if (txId === undefined || status !== 'awaiting_approval')
      throw new Error(`${txId} is ${status}`)
    waiting.push({ secret, txId })
  }

  return {
    async ask(count) {
      const of = Array.from({ length: count }, (_, n) => secrets[n % secrets.length] ?? '')
      await inTurns(of, askOne)
      await delay(Math.max(SETTLE_MS_MIN, (count / TOLD_PER_SECOND) * 1_000))
    },
    async withdrawAll() {
      const all = waiting
      waiting = []
      await inTurns(all, ({ secret, txId }) => post(secret, `/api/tx/${txId}/withdraw`, {}))
    },
  }
}

/** Works on a few items at a time. */
async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0
  const one = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}
