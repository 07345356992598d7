import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from '../../src/domain/ids.js'
import { chainOf, give, newWallet } from '../defi/sponsored-wallet.js'
import { newAddress } from '../e2e/chain.js'
import type { IssuedKey, Stack } from '../e2e/stack.js'
import type { Reply } from '../support/http-client.js'
import type { Random } from './service-agents.js'

/** What becomes of a waiting call if nothing goes wrong: of `contested` either the one or the other. */
export const LIFE_KINDS = [
  'approved',
  'declined',
  'withdrawn',
  'contested',
  'expired',
  'delayed',
] as const
export type LifeKind = (typeof LIFE_KINDS)[number]

/** When in its life the kill comes: while it is asked for, waits, or is decided and signed. */
type LifeStep = 'request' | 'wait' | 'decide'

/** A sub-wallet whose larger sends wait, and its key. */
export interface Waiter {
  readonly key: IssuedKey
  readonly address: Address
  readonly usdc: Address
  readonly wrapped: Address
  readonly lives: Life[]
  /** Sends that wait for nobody, which want the nonces that waiting calls are signed at. */
  readonly others: Payment[]
}

/**
 * To a recipient of its own, or of an amount of its own, so that the chain says how often it was
 * executed.
 */
export interface Payment {
  /** Null of a swap, whose gas the service pays. */
  readonly recipient: Address | null
  /** Wei, or units of USDC. */
  readonly amount: bigint
  readonly idempotencyKey: string
  txId: string | null
}

export interface Life extends Payment {
  readonly waiter: Waiter
  readonly kind: LifeKind
  readonly step: LifeStep
  approvalId: string | null
  /** As the API shows it at last. */
  status: string | null
  error: string | null
}

export const CHAIN_ID = 8453
/** Above these a call waits: for a person, for one who does not come in time, for its time. */
const ASKED_WEI = 10n ** 12n
const SHORT_WEI = 10n ** 13n
const DELAYED_WEI = 10n ** 14n
/** A cent, and each life of a wallet a unit more. */
const SWAP_UNITS = 10_000n
const SWAP_CHANCE = 0.3
const EXPIRES_SECONDS = 5
const DELAY_SECONDS = 3
/** After such a time something becomes of an expiring or delayed call by itself. */
export const BY_CLOCK_MS: Readonly<Partial<Record<LifeKind, number>>> = {
  expired: EXPIRES_SECONDS * 1_000,
  delayed: (DELAY_SECONDS + 1) * 1_000,
}
const FINAL = new Set(['confirmed', 'failed', 'dropped', 'declined', 'expired', 'withdrawn'])
const POLL_MS = 100
const END_MS_MAX = 120_000

const between = (wei: bigint, most: bigint) => ({
  ...{ value_native_gt: wei.toString(), value_native_lte: most.toString() },
})
const POLICY = {
  rules: [
    { name: 'swaps', effect: 'require_approval', when: { operations: ['swap'] } },
    { name: 'asked', effect: 'require_approval', when: between(ASKED_WEI, SHORT_WEI) },
    {
      ...{ name: 'short', effect: 'require_approval', when: between(SHORT_WEI, DELAYED_WEI) },
      approvals: { needed: 1, expires_seconds: EXPIRES_SECONDS },
    },
    {
      ...{ name: 'delayed', effect: 'allow', delay_seconds: DELAY_SECONDS },
      when: { value_native_gt: DELAYED_WEI.toString() },
    },
  ],
  default: 'allow',
}

export async function createWaiters(stack: Stack, count: number): Promise<Waiter[]> {
  const waiters: Waiter[] = []
  const { usdc, wrapped } = chainOf(stack, CHAIN_ID)
  while (waiters.length < count) {
    const { key, address } = await newWallet(stack)
    await give(stack, CHAIN_ID, address, '5', 'native')
    await give(stack, CHAIN_ID, address, '100', 'USDC')
    const body = { policy: POLICY }
    const { status, text } = await stack.owner.call('PATCH', `/keys/${key.keyId}`, { body })
    if (status !== 200) throw new Error(`no policy: ${text}`)
    waiters.push({ key, address, usdc, wrapped, lives: [], others: [] })
  }
  return waiters
}

export function newLife(waiter: Waiter, kind: LifeKind, random: Random): Life {
  const step = random.pick(['request', 'wait', 'decide', 'decide', 'decide', 'decide'] as const)
  // What the clock ends or releases is told by what it sends.
  const isSwap = random.chance(SWAP_CHANCE) && !(kind in BY_CLOCK_MS)
  const above = { expired: SHORT_WEI, delayed: DELAYED_WEI }[kind as string] ?? ASKED_WEI
  const life: Life = {
    ...(isSwap ? newSwap(waiter) : newPayment(above + 1n + BigInt(random.integer(1_000)))),
    // What nobody decides goes on by itself.
    ...{ waiter, kind, step: kind in BY_CLOCK_MS ? 'wait' : step },
    ...{ approvalId: null, status: null, error: null },
  }
  waiter.lives.push(life)
  return life
}

export function newOther(waiter: Waiter, random: Random): Payment {
  const other = newPayment(1n + BigInt(random.integer(1_000)))
  waiter.others.push(other)
  return other
}

function newPayment(amount: bigint): Payment {
  return { recipient: newAddress(), amount, idempotencyKey: randomUUID(), txId: null }
}

function newSwap({ lives }: Waiter): Payment {
  const amount = SWAP_UNITS + BigInt(lives.length)
  return { recipient: null, amount, idempotencyKey: randomUUID(), txId: null }
}

/** One attempt; the same request each time. Never rejects. */
export async function request(waiter: Waiter, payment: Payment | Life): Promise<void> {
  const headers = { 'idempotency-key': payment.idempotencyKey }
  const [path, body] = bodyOf(waiter, payment)
  const reply = await waiter.key.api.post(path, body, headers).catch(() => null)
  if (reply === null || reply.status >= 300 || reply.json.tx_id === undefined) return
  payment.txId = reply.json.tx_id
  const asked = reply.json.approval as { readonly approval_id: string } | undefined
  if ('approvalId' in payment && asked !== undefined) payment.approvalId = asked.approval_id
}

function bodyOf({ usdc, wrapped }: Waiter, { recipient, amount }: Payment) {
  const common = { chain_id: CHAIN_ID }
  if (recipient !== null) {
    return ['/api/tx/send', { ...common, to: recipient, value: amount.toString() }] as const
  }
  const tokens = { token_in: usdc, token_out: wrapped }
  return ['/api/swap/execute', { ...common, ...tokens, amount_in: amount.toString() }] as const
}

/** Asks until it is acknowledged. @throws Error when it is not in time */
export async function requested(waiter: Waiter, payment: Payment): Promise<void> {
  await until(`a request of ${payment.amount} for ${payment.recipient}`, async () => {
    await request(waiter, payment)
    return payment.txId !== null
  })
}

/** One attempt of what people, or the agent, do to it. Never rejects. */
export async function decide({ owner }: Stack, life: Life): Promise<void> {
  const { approvalId, txId, kind, waiter } = life
  if (approvalId === null || txId === null) return
  const say = (how: 'approve' | 'decline') => owner.post(`/approvals/${approvalId}/${how}`, {})
  const said: Promise<Reply>[] = []
  if (kind === 'approved' || kind === 'contested') said.push(say('approve'))
  if (kind === 'declined' || kind === 'contested') said.push(say('decline'))
  if (kind === 'withdrawn') said.push(waiter.key.api.post(`/api/tx/${txId}/withdraw`, {}))
  await Promise.allSettled(said)
}

/** Goes on with it until it has ended. @throws Error when it does not in time */
export async function ended(stack: Stack, life: Life): Promise<void> {
  const { waiter } = life
  await requested(waiter, life)
  await until(`${life.kind} ${life.txId}`, async () => {
    const reply = await waiter.key.api.get(`/api/tx/${life.txId}`).catch(() => null)
    life.status = reply?.json.status ?? life.status
    life.error = JSON.stringify(reply?.json.error ?? null)
    if (life.status !== null && FINAL.has(life.status)) return true
    if (life.status === 'awaiting_approval') await decide(stack, life)
    return false
  })
}

export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + END_MS_MAX
  while (!(await isSo())) {
    if (Date.now() > deadlineMs) throw new Error(`${what} did not end`)
    await delay(POLL_MS)
  }
}
