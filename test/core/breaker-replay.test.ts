import { encodeFunctionData, erc20Abi } from 'viem'
import { expect, test } from 'vitest'
import type { Effect } from '../../actors/sub-wallet/core/messages.js'
import { payeesToTell } from '../../actors/sub-wallet/effects/read-payees.js'
import { transactionView } from '../../src/api/transaction-view.js'
import { replayLog, watchedOf } from '../../src/cli/breaker-log.js'
import { userLogOf } from '../../src/cli/user-breaker-log.js'
import type { Address, TxId } from '../../src/domain/ids.js'
import { auditView } from '../../src/operations/console/audit.js'
import {
  apiKey,
  KEY_ID,
  preparedSend,
  START_MS,
  txIdOf,
  USER_ID,
} from '../actors/wallet-fixtures.js'
import { seededRandom } from '../faults/random.js'
import { policyOf } from '../policy/random-policies.js'
import { openWallet, type WalletWorld } from './wallet-world.js'

/**
 * What a breaker decides live, over restarts and failed calls, is what everybody works out of the records: the actor
 * that reads them after a restart, and the commands `breaker-log` of a key and of a user.
 */

const HISTORIES = 40
const STEPS = 40
const ADDRESSES = 9
const CAP = 10n ** 9n
const COUNT = 4

const addressOf = (n: number): Address => `0x${n.toString(16).padStart(40, 'B')}`

interface Told {
  readonly txId: TxId
  readonly newPayees: readonly Address[]
}

class Histories {
  readonly told: Told[] = []
  /** By a model that knows what each call named and showed. */
  readonly expected: Told[] = []
  readonly tripsAtMs: number[] = []
  restarts = 0
  readonly #world: WalletWorld
  readonly #random: ReturnType<typeof seededRandom>
  #nowMs = START_MS
  #sends = 0
  readonly #payees = new Map<TxId, readonly Address[]>()
  readonly #paid = new Map<Address, number>()

  private constructor(world: WalletWorld, seed: number) {
    this.#world = world
    this.#random = seededRandom(seed)
  }

  static async draw(seed: number): Promise<Histories> {
    const world = await openWallet(CAP)
    const breakers = [{ kind: 'new_beneficiaries', count: COUNT, per_seconds: 1 }]
    const policy = policyOf({ default: 'allow', breakers })
    const limits = { dailyLimitMicros: CAP, monthlyLimitMicros: CAP }
    await world.handle({ type: 'register-key', key: apiKey({ policy, ...limits }) })
    const drawn = new Histories(world, seed)
    drawn.#watch()
    for (let step = 0; step < STEPS; step++) await drawn.#step()
    return drawn
  }

  /** The log as a member reads it who may read the whole wallet. */
  get log() {
    const { reader } = this.#world
    const page = { limit: 1_000, cursor: null }
    const all = () => true
    return {
      records: reader.audit.ofUser(USER_ID, page, all).items.map(auditView),
      transactions: reader.transactions
        .ofUser(USER_ID, page, all)
        .items.map((tx) => transactionView(tx, null)),
    }
  }

  /** Everything counts for the user, too. */
  #watch(): void {
    this.#world.state.userWatch = { refused: false, signed: true, payees: true }
  }

  async #step(): Promise<void> {
    this.#nowMs += 1 + this.#random.integer(300)
    const drawn = this.#random.integer(10)
    if (drawn < 6) await this.#send()
    else if (drawn < 9) await this.#end()
    else {
      this.restarts++
      this.#world.restart()
      this.#watch()
    }
  }

  async #send(): Promise<void> {
    const { state, reader } = this.#world
    const [n, nowMs] = [++this.#sends, this.#nowMs]
    const [to, payee] = [this.#address(), this.#address()]
    const args = [payee.toLowerCase() as Address, 1n] as const
    const call = this.#random.pick([
      { to, value: 1n, data: '0x' },
      { to, value: 0n, data: '0xdeadbeef' },
      {
        to,
        value: 0n,
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }),
      },
    ] as const)
    const recipients = Array.from({ length: this.#random.integer(4) }, () => ({
      ...{ address: this.#address(), path: 'simulated transfer' },
    }))
    const named = call.data.startsWith('0xa9059cbb') ? payee : to
    const all = [named, ...recipients.map(({ address }) => address)]
    this.#expect(txIdOf(n), [...new Set(all.map((one) => one.toLowerCase() as Address))])
    const payees = payeesToTell(reader, state, KEY_ID)
    const plain = preparedSend(n, 1n, { nowMs, ...call })
    if (!plain.quote.ok || plain.quote.basis === null) throw new Error('a quote has a basis')
    const basis = { ...plain.quote.basis, simulated: recipients.length > 0, recipients }
    const known = payees === null ? {} : { payees }
    await this.#world.handle({ ...plain, quote: { ...plain.quote, basis }, ...known }, n)
    const txId = txIdOf(n)
    const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
    await this.#world.handle({ type: 'screened', txId, ...screened, nowMs })
    const hex = `0x${n.toString(16).padStart(64, '0')}` as const
    const bytes = { txHash: hex, rawTransaction: '0x01', intentId: hex, signedAtMs: nowMs } as const
    await this.#world.handle({ type: 'signed', txId, nonce: n - 1, signed: bytes, nowMs })
    if (!this.#world.state.open.has(txId)) throw new Error(`${txId} was not signed`)
    this.#hear(txId)
  }

  #expect(txId: TxId, payees: readonly Address[]): void {
    const newPayees = payees.filter((one) => (this.#paid.get(one) ?? 0) === 0)
    this.expected.push({ txId, newPayees })
    this.#payees.set(txId, payees)
    for (const one of payees) this.#paid.set(one, (this.#paid.get(one) ?? 0) + 1)
  }

  #hear(txId: TxId): void {
    const heard = this.#world.pending.splice(0)
    for (const effect of heard) {
      if (effect.type === 'trip') this.tripsAtMs.push(effect.nowMs)
      if (effect.type === 'watched') this.told.push({ txId, newPayees: payeesIn(effect) })
    }
  }

  async #end(): Promise<void> {
    const open = [...this.#world.state.open.values()].filter(({ tx }) => tx.mined === null)
    if (open.length === 0) return
    const { tx } = this.#random.pick(open)
    const txHash = tx.attempts.at(-1)?.txHash ?? '0x'
    const outcome = this.#random.chance(0.5) ? 'success' : 'reverted'
    if (outcome === 'reverted') {
      for (const one of this.#payees.get(tx.txId) ?? []) {
        this.#paid.set(one, (this.#paid.get(one) ?? 0) - 1)
      }
    }
    const block = { blockNumber: this.#sends, blockHash: txHash, feeWei: 1n }
    const [{ txId }, nowMs] = [tx, this.#nowMs]
    await this.#world.handle({
      ...{ type: 'confirmed', txId, nowMs },
      mined: { txHash, outcome, ...block },
    })
    if (this.#world.state.open.has(txId)) {
      const shown = { shownMicros: 0n, unvalued: null } as const
      const { blockHash } = block
      await this.#world.handle({ type: 'receipt-valued', txId, blockHash, ...shown, nowMs })
    }
    this.#world.pending = []
  }

  #address(): Address {
    return addressOf(this.#random.integer(ADDRESSES))
  }
}

function payeesIn({ seen }: Extract<Effect, { type: 'watched' }>): readonly Address[] {
  return seen.type === 'signed' ? seen.newPayees : []
}

test('a breaker counts live, after restarts and from the records the same payees', async () => {
  let [restarts, news, trips] = [0, 0, 0]
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const drawn = await Histories.draw(seed)
    const { log, told } = drawn
    const sorted = (payees: readonly Address[]) => [...payees].sort()
    const live = told.map(({ newPayees }) => sorted(newPayees))
    const expected = drawn.expected.map(({ newPayees }) => sorted(newPayees))
    expect(live, `seed ${seed}: what was decided`).toEqual(expected)
    const byUser = userLogOf(log).map((one) => ('newPayees' in one ? sorted(one.newPayees) : []))
    expect(byUser, `seed ${seed}: the user's log`).toEqual(live)
    const breakers = [
      { kind: 'new_beneficiaries', count: COUNT, factor: null, perSeconds: 1 },
    ] as const
    const ofKey = { ...log, breakers, keyIds: new Set([KEY_ID]), idsBelow: new Set<string>() }
    const counts = watchedOf(ofKey).map((one) =>
      'newBeneficiaries' in one ? one.newBeneficiaries : 0,
    )
    expect(counts, `seed ${seed}: the key's log`).toEqual(live.map(({ length }) => length))
    const replayed = replayLog(ofKey).trips.map(({ atMs }) => atMs)
    expect(replayed, `seed ${seed}: trips`).toEqual(drawn.tripsAtMs)
    restarts += drawn.restarts
    news += live.flat().length
    trips += drawn.tripsAtMs.length
  }
  expect([restarts > HISTORIES, news > HISTORIES, trips > HISTORIES / 10]).toEqual([
    true,
    true,
    true,
  ])
})
