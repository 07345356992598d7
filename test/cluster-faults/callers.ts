import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '../faults/random.js'
import type { Random } from '../faults/service-agents.js'
import { type HttpClient, httpClient } from '../support/http-client.js'
import type { User, World } from './world.js'

/** A key of one sub-wallet, and what it may spend a day. */
export interface Purse {
  readonly user: User
  readonly subWalletId: string
  readonly address: string
  readonly secret: string
  /** Null: more than any run spends. */
  readonly capMicros: bigint | null
  at(url: string): HttpClient
}

/** What a caller was told by one try. `open`: that it is to ask again by the same key. */
export interface Try {
  readonly kind: 'acknowledged' | 'refused' | 'open'
  /** The id of a transaction, or a code; of what did not answer `none`. */
  readonly said: string
  readonly startedMs: number
  readonly endedMs: number
}

/** One send, asked for under one key until the answer was definite. */
export interface Asked {
  readonly purse: Purse
  /** Of its own, so that the chain says how often it was carried out. */
  readonly to: string
  readonly value: bigint
  readonly idempotencyKey: string
  readonly tries: Try[]
}

export interface Load {
  readonly asked: readonly Asked[]
  /** How many were acknowledged. */
  readonly acknowledged: number
  /** Of users of the first cell, at which faults are aimed. */
  readonly acknowledgedThere: number
  /** Each caller ends with what it asks for. */
  stop(): Promise<void>
}

/** Of these a caller waits for no other answer: asked again they are what they were. */
const REFUSALS: ReadonlySet<string> = new Set(['LIMIT_EXCEEDED'])

const WIDE_USD = 1_000_000
const TIGHT_USD = 1
const MICROS = 1_000_000n
/** 3 to 9 cents at the sink's price: a tight cap is met after some twenty. */
const SEND_WEI = 10n ** 13n
const SEND_FACTOR_MAX = 3
/** A caller's own patience, after which it asks the other node. */
const ANSWERED_MS_MAX = 4_000
const ASK_AGAIN_MS = 50
const PAUSE_MS_MAX = 200
/** Once there were as many as are wanted, and the fault is not over. */
const SLOW_PAUSE_MS_MAX = 2_000
const REPEAT_CHANCE = 0.15
/** Of one send: beyond it nothing serves any more. */
const DEFINITE_MS_MAX = 120_000

/** Of each user two sub-wallets with wide caps, and one with a tight cap. */
export async function makePurses({ users, nodes }: World): Promise<Purse[]> {
  const [{ url }] = nodes
  const made = users.flatMap((user) =>
    [WIDE_USD, WIDE_USD, TIGHT_USD].map((usd) => makePurse(user, url, usd)),
  )
  return Promise.all(made)
}

async function makePurse(user: User, url: string, usd: number): Promise<Purse> {
  const leader = user.console(url)
  const wallet = await leader.post('/wallets', { name: 'purse' })
  const subWalletId = String(wallet.json.sub_wallet_id)
  const key = await leader.post('/keys', {
    ...{ name: 'purse', sub_wallet_id: subWalletId, permission: 'trade' },
    ...{ daily_limit_usd: String(usd), monthly_limit_usd: String(WIDE_USD) },
  })
  if (key.status !== 201) throw new Error(`no key: ${wallet.text} ${key.text}`)
  const secret = String(key.json.secret)
  return {
    ...{ user, subWalletId, secret, address: String(wallet.json.addresses?.evm).toLowerCase() },
    capMicros: usd === WIDE_USD ? null : BigInt(usd) * MICROS,
    at: (base) => httpClient(base, { 'x-api-key': secret }),
  }
}

/** A caller for each purse, and a second one for each with a tight cap, which race for it. */
export function beginLoad(
  world: World,
  purses: readonly Purse[],
  wanted: number,
  random: Random,
): Load {
  const asked: Asked[] = []
  let acknowledged = 0
  let acknowledgedThere = 0
  let isOver = false
  const tight = purses.filter(({ capMicros }) => capMicros !== null)
  const callers = [...purses, ...tight].map(async (purse) => {
    const own = seededRandom(random.integer(2 ** 31))
    while (!isOver) {
      const value = SEND_WEI * BigInt(1 + own.integer(SEND_FACTOR_MAX))
      const [to, idempotencyKey] = [`0x${hex(20)}`, hex(16)]
      const one: Asked = { purse, to, value, idempotencyKey, tries: [] }
      asked.push(one)
      if ((await askUntilDefinite(world, one, own)).kind === 'acknowledged') {
        acknowledged++
        if (purse.user.cell === 0) acknowledgedThere++
      }
      // As of a caller that did not hear the answer.
      if (own.chance(REPEAT_CHANCE)) await askUntilDefinite(world, one, own)
      await delay(own.integer(acknowledgedThere < wanted ? PAUSE_MS_MAX : SLOW_PAUSE_MS_MAX))
    }
  })
  const all = Promise.all(callers)
  // Thrown to whoever stops it.
  all.catch(() => undefined)
  return {
    asked,
    get acknowledged() {
      return acknowledged
    },
    get acknowledgedThere() {
      return acknowledgedThere
    },
    async stop() {
      isOver = true
      await all
    },
  }
}

function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}

/** At one node after the other. */
async function askUntilDefinite({ all, chainId }: World, one: Asked, own: Random): Promise<Try> {
  const beganMs = performance.now()
  for (let turn = own.integer(all.length); ; turn++) {
    const made = await ask(all[turn % all.length]?.url ?? '', chainId, one)
    one.tries.push(made)
    if (made.kind !== 'open') return made
    if (performance.now() - beganMs > DEFINITE_MS_MAX) {
      const codes = one.tries.slice(-6).map(({ said }) => said)
      throw new Error(`no definite answer any more: ${codes.join(', ')}`)
    }
    await delay(ASK_AGAIN_MS)
  }
}

async function ask(url: string, chainId: number, one: Asked): Promise<Try> {
  const startedMs = performance.now()
  const { purse, to, value, idempotencyKey } = one
  const said = await answered(`${url}/api/tx/send`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', 'x-api-key': purse.secret },
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({ chain_id: chainId, to, value: String(value) }),
    signal: AbortSignal.timeout(ANSWERED_MS_MAX),
  })
  return { ...said, startedMs, endedMs: performance.now() }
}

async function answered(url: string, init: RequestInit): Promise<Pick<Try, 'kind' | 'said'>> {
  try {
    const answer = await fetch(url, init)
    const json = (await answer.json()) as { tx_id?: string; error?: { code: string } }
    if (answer.ok && json.tx_id !== undefined) return { kind: 'acknowledged', said: json.tx_id }
    const code = json.error?.code ?? String(answer.status)
    return { kind: REFUSALS.has(code) ? 'refused' : 'open', said: code }
  } catch {
    return { kind: 'open', said: 'none' }
  }
}

/** How long callers were without an answer. What is refused, or was answered before, needs no commit. */
export interface Pauses {
  /** From the fault to the first acknowledgement of what nobody had asked for before it. */
  readonly firstAnswerMs: number
  /** Between any two first acknowledgements from the fault on, of whichever caller. */
  readonly longestMs: number
}

export function pausesSince(faultMs: number, asked: readonly Asked[]): Pauses {
  const first = asked.flatMap(({ tries }) => {
    const answer = tries.find(({ kind }) => kind === 'acknowledged')
    const askedMs = tries[0]?.startedMs ?? 0
    return answer === undefined ? [] : [{ askedMs, endedMs: answer.endedMs }]
  })
  const after = first.filter(({ endedMs }) => endedMs >= faultMs)
  const fresh = after.filter(({ askedMs }) => askedMs >= faultMs)
  const ends = after.map(({ endedMs }) => endedMs).sort((one, other) => one - other)
  const gaps = ends.map((ms, index) => ms - (ends[index - 1] ?? faultMs))
  return {
    firstAnswerMs: Math.round(Math.min(...fresh.map(({ endedMs }) => endedMs)) - faultMs),
    longestMs: Math.round(Math.max(...gaps)),
  }
}
