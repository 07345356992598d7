import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { SinkStack } from '../../bench/sink-stack.js'
import { httpClient } from '../support/http-client.js'

/** Sends of callers that ask on until each is taken, over some spells of load. */
export interface SendsUntilFailover {
  /** How many were acknowledged so far. */
  readonly count: number
  /** Each send is asked for under its key, of whoever answers, until somebody takes it. */
  begin(): { stop(): Promise<void> }
  /** Each that was acknowledged is there, and is one. */
  expectNoneLost(url: string): Promise<void>
}

const AGAIN_MS = 20

/** @param urls of the nodes that may be asked, by then; each caller begins with another one */
export function sendsUntilFailover(
  { secrets, chainId }: Pick<SinkStack, 'secrets' | 'chainId'>,
  urls: () => readonly string[],
): SendsUntilFailover {
  const acknowledged: { readonly caller: number; readonly id: string }[] = []
  const apiOf = (url: string, caller: number) =>
    httpClient(url, { 'x-api-key': secrets[caller] ?? '' })

  async function sendOne(caller: number): Promise<string> {
    const key = randomBytes(16).toString('hex')
    const body = { chain_id: chainId, to: `0x${key}${'00'.repeat(4)}`, value: '1' }
    for (let tries = 0; ; tries++) {
      const url = urls()[(caller + tries) % urls().length] ?? ''
      const reply = await apiOf(url, caller)
        .post('/api/tx/send', body, { 'idempotency-key': key })
        .catch(() => null)
      const id = reply?.json.tx_id
      if ((reply?.status === 200 || reply?.status === 202) && typeof id === 'string') return id
      await sleep(AGAIN_MS)
    }
  }

  return {
    get count() {
      return acknowledged.length
    },
    begin() {
      let isOver = false
      const callers = secrets.map(async (_, caller) => {
        while (!isOver) acknowledged.push({ caller, id: await sendOne(caller) })
      })
      return {
        async stop() {
          isOver = true
          await Promise.all(callers)
        },
      }
    },
    async expectNoneLost(url) {
      for (const { caller, id } of acknowledged) {
        expect((await apiOf(url, caller).get(`/api/tx/${id}`)).status).toBe(200)
      }
      expect(new Set(acknowledged.map(({ id }) => id)).size).toBe(acknowledged.length)
    },
  }
}
