import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fault } from '../../src/errors/fault.js'
import { policyOf } from '../policy/random-policies.js'
import { ALICE, BOB, WaitingWallet } from './waiting-wallet.js'
import { apiKey, txIdOf, wallet } from './wallet-fixtures.js'

/** Longer: MODEL_RUNS=2000. */
const RUNS = Number(process.env.MODEL_RUNS ?? 60)
const STEPS = { minLength: 10, maxLength: 60, size: 'max' } as const
/** Micro-USD, and wei: above it people are asked, and twice it two of them. */
const ASKED = 40
const EXPIRES_SECONDS = 600

const RULES = [
  {
    ...{ name: 'large', effect: 'require_approval', when: { value_native_gt: String(ASKED) } },
    approvals: { needed: 1, expires_seconds: EXPIRES_SECONDS },
  },
  {
    ...{ name: 'huge', effect: 'require_approval', when: { value_native_gt: String(ASKED * 2) } },
    approvals: { needed: 2, expires_seconds: EXPIRES_SECONDS },
  },
  {
    ...{ name: 'slow', effect: 'allow', when: { value_native_gt: String(ASKED * 3) } },
    delay_seconds: 60,
  },
  {
    ...{ name: 'swaps', effect: 'require_approval', when: { operations: ['swap'] } },
    approvals: { needed: 1, expires_seconds: EXPIRES_SECONDS },
  },
  {
    ...{ name: 'costly', effect: 'require_approval', when: { spend_usd_gt: '0.01' } },
    approvals: { needed: 1, expires_seconds: EXPIRES_SECONDS },
  },
]
/** Micro-USD: what was sent for less is asked about as well. */
const COSTLY = 20_000n

/** What the wallet and its people do, in any order; the wallet's own oracles look after each commit. */
class World {
  readonly wallet = new WaitingWallet()
  readonly approvers = new Map<number, Set<string>>()
  readonly stopped = new Set<number>()
  readonly sizes = new Map<number, number>()

  async send(micros: number): Promise<void> {
    const n = this.sizes.size + 1
    this.sizes.set(n, micros)
    await this.wallet.send(n, BigInt(micros), { chainNonce: 0 })
  }

  /** It is valued after what will be mined before it, or after what was when it was asked for. */
  async callContract(micros: number, isLate: boolean): Promise<void> {
    const n = this.sizes.size + 1
    this.sizes.set(n, micros)
    await this.wallet.callContract(n, BigInt(micros), isLate ? [] : undefined)
  }

  async swap(micros: number): Promise<void> {
    const n = this.sizes.size + 1
    this.sizes.set(n, 0)
    await this.wallet.swap(n, BigInt(micros))
  }

  /** The quorum signs an intent, or does not answer. */
  async intent(which: number, signs: boolean): Promise<void> {
    const asked = this.wallet.intents()
    const one = asked[which % Math.max(1, asked.length)]
    if (one === undefined) return
    const { txId, approval, terms } = one.draft
    const n = Number(txId.slice(3))
    expect(approval?.proofs.length, `${n} is signed`).toBeGreaterThan(0)
    expect(terms).toEqual({ ok: true, value: this.wallet.approval(n).sponsored?.terms })
    expect(this.stopped.has(n), `${n} was stopped`).toBe(false)
    if (signs) return this.wallet.signIntent(n)
    this.wallet.effects.splice(this.wallet.effects.indexOf(one), 1)
    await this.wallet.run({
      ...{ type: 'intent-failed', txId, chainNonce: null, nowMs: this.wallet.nowMs },
      fault: fault('COSIGNER_UNAVAILABLE'),
    })
  }

  async approve(which: number, by: string): Promise<void> {
    const n = this.#one(which)
    const answer = await this.wallet.approve(n, by)
    if (answer?.ok !== true) return
    const known = this.approvers.get(n) ?? new Set()
    this.approvers.set(n, known.add(by))
  }

  async stop(which: number, how: 'decline' | 'withdraw'): Promise<void> {
    const n = this.#one(which)
    const answer = await this.wallet[how](n)
    if (answer?.ok === true) this.stopped.add(n)
  }

  /** The quorum signs one, or does not answer. */
  async quorum(which: number, signs: boolean): Promise<void> {
    const asked = this.wallet.asked()
    const one = asked[which % Math.max(1, asked.length)]
    if (one === undefined) return
    const n = Number(one.draft.txId.slice(3))
    const size = this.sizes.get(n) ?? 0
    const needed = size > ASKED * 2 ? 2 : size > ASKED ? 1 : 0
    expect(this.approvers.get(n)?.size ?? 0, `${n} is signed`).toBeGreaterThanOrEqual(needed)
    expect(this.stopped.has(n), `${n} was stopped`).toBe(false)
    if (signs) await this.wallet.sign(n)
    else {
      this.wallet.effects.splice(this.wallet.effects.indexOf(one), 1)
      await this.wallet.run({
        ...{ type: 'sign-failed', txId: txIdOf(n), nonce: one.nonce, nowMs: this.wallet.nowMs },
        fault: fault('COSIGNER_UNAVAILABLE'),
      })
    }
  }

  async restart(): Promise<void> {
    this.wallet.restart()
    await this.wallet.resume()
  }

  /** Nothing waits any more, and nothing but what is signed holds anything. */
  async end(): Promise<void> {
    await this.wallet.settle()
    while (this.wallet.asked().length > 0) await this.quorum(0, true)
    while (this.wallet.intents().length > 0) await this.intent(0, true)
    for (let round = 0; round < 5; round++) {
      await this.wallet.due(EXPIRES_SECONDS * 1_000)
      await this.wallet.settle()
      while (this.wallet.asked().length > 0) await this.quorum(0, true)
      while (this.wallet.intents().length > 0) await this.intent(0, true)
    }
    expect(this.wallet.state.waiting.byTx.size).toBe(0)
    expect([...this.wallet.state.drafts.keys()], 'every line moves on').toEqual([])
    let held = 0n
    for (const { tx } of this.wallet.state.open.values()) held += tx.reservation.micros
    for (const { sponsorship } of this.wallet.state.sponsored.values()) {
      held += sponsorship?.reservation.micros ?? 0n
    }
    expect(this.wallet.reserved).toBe(held)
    for (const n of this.stopped) {
      expect(['declined', 'withdrawn']).toContain(this.wallet.record(n)?.status)
    }
  }

  #one(which: number): number {
    return 1 + (which % Math.max(1, this.sizes.size))
  }
}

type Step = (world: World) => Promise<unknown>

const pick = fc.nat(20)
function step(kind: string, make: (a: number) => Step, weight: number) {
  const arbitrary = pick.map((a) => ({ run: make(a), toString: () => `${kind}(${a})` }))
  return { arbitrary, weight }
}

const steps = fc.oneof(
  step('send', (a) => (world) => world.send(1 + a * 8), 5),
  step('call a contract', (a) => (world) => world.callContract(1 + a * 8, a % 3 === 0), 5),
  step(
    'cost more',
    (a) => async (world) => world.wallet.worth.set(txIdOf(world.sizes.size - (a % 3)), COSTLY),
    1,
  ),
  step('answer one', () => (world) => world.wallet.answerOne(), 6),
  step('swap', (a) => (world) => world.swap(1 + a * 8), 2),
  step(
    'move the offer',
    (a) => async (world) => {
      world.wallet.now = { offered: 90n + BigInt(a), micros: BigInt(1 + a * 8) }
    },
    1,
  ),
  step('sign an intent', (a) => (world) => world.intent(a, true), 3),
  step('fail to sign an intent', (a) => (world) => world.intent(a, false), 1),
  step('approve by Alice', (a) => (world) => world.approve(a, ALICE), 4),
  step('approve by Bob', (a) => (world) => world.approve(a, BOB), 3),
  step('decline', (a) => (world) => world.stop(a, 'decline'), 1),
  step('withdraw', (a) => (world) => world.stop(a, 'withdraw'), 1),
  step('settle', () => (world) => world.wallet.settle(), 5),
  step('sign', (a) => (world) => world.quorum(a, true), 5),
  step('fail to sign', (a) => (world) => world.quorum(a, false), 1),
  step('wait', (a) => (world) => world.wallet.due(a * 5_000), 2),
  step('restart', () => (world) => world.restart(), 1),
)

test('nothing is signed without approval or after a stop, nothing is lost, no reservation leaks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, STEPS), async (sequence) => {
      const world = new World()
      await world.wallet.run({ type: 'create-wallet', wallet })
      const policy = policyOf({ default: 'allow', rules: RULES })
      const key = apiKey({ dailyLimitMicros: null, monthlyLimitMicros: null, policy })
      await world.wallet.run({ type: 'register-key', key })
      for (const { run } of sequence) await run(world)
      await world.end()
    }),
    { numRuns: RUNS },
  )
})
