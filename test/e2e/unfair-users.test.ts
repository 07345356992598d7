import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { CONSOLE_WAITING_PER_USER_MAX } from '../../src/service-custody/console-queue.js'
import type { HttpClient } from '../support/http-client.js'
import { type Stack, startStack } from './stack.js'

/** More than may wait, so that the line of the user who floods is full all the time. */
const FLOOD_CONNECTIONS = 2 * CONSOLE_WAITING_PER_USER_MAX
/** After a refusal; a flood that only burns this process would prove nothing. */
const REFUSED_PAUSE_MS = 50
/** Wallets that another makes amid the flood. */
const TURNS = 3
const SENDS = 200
const SEND_CONNECTIONS = 8
const BASE = 8453

let stack: Stack
let flooder: HttpClient

beforeAll(async () => {
  stack = await startStack()
  const user = { email: 'flooder@example.test', password: randomBytes(12).toString('hex') }
  await createUser(join(stack.service.home, 'identity-provider'), user.email, user.password)
  flooder = stack.service.console(await stack.service.token(user))
})
afterAll(() => stack?.service.stop())

interface Flood {
  /** Wallets and keys that were made so far. */
  readonly made: () => number
  /** What the others were answered, by status and code. */
  readonly refused: ReadonlyMap<string, number>
  readonly retryAfter: ReadonlySet<string | null>
  stop(): Promise<void>
}

/** Half of the connections make wallets, half keys of the first of them. */
async function flood(console: HttpClient): Promise<Flood> {
  const first = await console.post('/wallets', { name: 'first' })
  const key = {
    name: 'one of many',
    sub_wallet_id: first.json.sub_wallet_id,
    permission: 'trade',
    daily_limit_usd: '1',
    monthly_limit_usd: '1',
  }
  const refused = new Map<string, number>()
  const retryAfter = new Set<string | null>()
  let made = 0
  let stopped = false
  async function work(index: number): Promise<void> {
    while (!stopped) {
      const answer =
        index % 2 === 0
          ? await console.post('/wallets', { name: 'one of many' })
          : await console.post('/keys', key)
      if (answer.status === 201) made++
      else {
        const fate = `${answer.status} ${answer.code}`
        refused.set(fate, (refused.get(fate) ?? 0) + 1)
        if (fate === '503 OVERLOADED') retryAfter.add(answer.headers.get('retry-after'))
        await delay(REFUSED_PAUSE_MS)
      }
    }
  }
  const working = Array.from({ length: FLOOD_CONNECTIONS }, (_, index) => work(index))
  return {
    made: () => made,
    refused,
    retryAfter,
    async stop() {
      stopped = true
      await Promise.all(working)
    },
  }
}

/** Small transfers of the development user; counts how they were answered. */
async function sendAll(fates: Map<string, number>): Promise<void> {
  const api = stack.service.api()
  let left = SENDS
  const work = async () => {
    while (left-- > 0) {
      const to = `0x${randomBytes(20).toString('hex')}`
      const sent = await api.post('/api/tx/send', { chain_id: BASE, to, value: '1' })
      const fate = `${sent.status} ${sent.code ?? ''}`.trim()
      fates.set(fate, (fates.get(fate) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: SEND_CONNECTIONS }, work))
}

describe('while one user creates wallets and keys from many connections', () => {
  test('all sends of another succeed, and only the excess of the first is refused', async () => {
    const running = await flood(flooder)
    const fates = new Map<string, number>()
    try {
      const refusals = () => running.refused.get('503 OVERLOADED') ?? 0
      await expect.poll(refusals, { timeout: 60_000 }).toBeGreaterThan(0)
      await sendAll(fates)
      // Of what the flooder has waiting at least half a line is behind this one. On a busy machine
      // some are made before it is in the line at all; behind all of a full line it would be each time.
      let madeMeanwhile = Number.POSITIVE_INFINITY
      for (let turn = 0; turn < TURNS; turn++) {
        const before = running.made()
        const own = await stack.owner.post('/wallets', { name: `amid the flood ${turn}` })
        expect(own.status).toBe(201)
        madeMeanwhile = Math.min(madeMeanwhile, running.made() - before)
      }
      expect(madeMeanwhile).toBeLessThan(CONSOLE_WAITING_PER_USER_MAX / 2)
    } finally {
      await running.stop()
    }
    // 202: signed, and its node has not answered yet.
    const succeeded = (fates.get('200') ?? 0) + (fates.get('202') ?? 0)
    expect({ ...Object.fromEntries(fates), succeeded }).toMatchObject({ succeeded: SENDS })
    expect(running.made()).toBeGreaterThan(0)
    // INVALID_REQUEST: a sub-wallet's own bound of live keys.
    const kinds = new Set(['503 OVERLOADED', '429 RATE_LIMITED', '400 INVALID_REQUEST'])
    expect([...running.refused.keys()].filter((fate) => !kinds.has(fate))).toEqual([])
    expect(running.retryAfter).toEqual(new Set(['1']))
  })

  test('what was refused left nothing behind, and what was made works', async () => {
    const [wallet] = (await flooder.get('/wallets?limit=1')).json.wallets as {
      sub_wallet_id: string
    }[]
    const made = await flooder.post('/keys', {
      name: 'afterwards',
      sub_wallet_id: wallet?.sub_wallet_id,
      permission: 'trade',
      daily_limit_usd: '1',
      monthly_limit_usd: '1',
    })
    expect(made.status).toBe(201)
    const limits = await stack.service.api(String(made.json.secret)).get('/api/limits')
    expect(limits.json).toMatchObject({ daily_used_usd: '0.00', reserved_usd: '0.00' })
  })
})
