import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { TxId } from '../../src/domain/ids.js'
import { isFinal } from '../../src/domain/transaction.js'
import { apiKey, CHAIN_ID, KEY_ID, txIdOf, WALLET_ID, wallet } from '../actors/wallet-fixtures.js'
import { SEEDS } from './drive-many.js'
import { CONSOLE_TOKENS_FROM, ProcessModel } from './process-model.js'

const CAP_MICROS = 5_000n
const STEPS = 250
const RECIPIENT = '0x2222222222222222222222222222222222222222'

/** Sends in random order with kills between; every other one repeats an earlier Idempotency-Key. */
class KilledProcess {
  readonly model: ProcessModel
  readonly #keyOf = new Map<TxId, string>()
  #sends = 0

  constructor(seed: number) {
    this.model = new ProcessModel(seed)
  }

  async run(): Promise<void> {
    const { model } = this
    model.tell({ type: 'create-wallet', wallet }, CONSOLE_TOKENS_FROM)
    const key = apiKey({ dailyLimitMicros: CAP_MICROS })
    model.tell({ type: 'register-key', key }, CONSOLE_TOKENS_FROM + 1)
    await nextTurn()
    model.flush()
    await nextTurn()
    for (let step = 0; step < STEPS; step++) {
      this.#step()
      if (model.random.chance(0.7)) await nextTurn()
    }
    if (model.random.chance(0.5)) model.kill()
    await model.settle()
    this.#check()
  }

  #step(): void {
    const { random, questions } = this.model
    const drawn = random.integer(100)
    if (drawn < 20) this.#send()
    else if (drawn < 45) this.model.flush()
    else if (drawn < 80) {
      const [question] = questions.splice(random.integer(questions.length), 1)
      question?.(random.chance(0.15) ? 'is lost' : 'comes')
    } else if (drawn < 88) this.model.block()
    else if (drawn < 90) this.model.kill()
  }

  #send(): void {
    const { random } = this.model
    const n = ++this.#sends
    const repeats = n > 5 && random.chance(0.5)
    const key = `key-${repeats ? n - 1 - random.integer(4) : n}`
    this.#keyOf.set(txIdOf(n), key)
    this.model.tell(
      {
        ...{ type: 'send', txId: txIdOf(n), requestId: `request-${n}`, keyId: KEY_ID },
        kind: 'send',
        call: { chainId: CHAIN_ID, to: RECIPIENT, value: 20n, data: '0x' },
        proofKey: new Uint8Array(32),
        idempotency: { key, bodyHash: 'body' },
        guardsDuplicates: false,
      },
      n,
    )
  }

  #check(): void {
    const { chain, wrong, acknowledged, reader } = this.model
    const owners = chain.map((hash) => this.model.ownerOf(hash))
    if (owners.includes(undefined)) wrong.push('something is on chain and in no record')
    for (const txId of acknowledged.values()) {
      const status = reader.transactions.byId(txId)?.status
      const landed = owners.filter((owner) => owner === txId).length
      if (landed !== (status === 'dropped' ? 0 : 1)) {
        wrong.push(`${txId} is ${status} and landed ${landed} times`)
      }
    }
    const keys = owners.flatMap((owner) => (owner && this.#keyOf.get(owner)) ?? [])
    if (new Set(keys).size !== keys.length) wrong.push('an Idempotency-Key landed twice')
    const all = this.model.transactions()
    if (!all.every(({ status }) => isFinal(status))) wrong.push('something is still open')
    const counters = reader.wallets.header(WALLET_ID)?.spend[0]?.counters
    const spent = all.reduce((sum, { spentMicros }) => sum + spentMicros, 0n)
    if (counters !== undefined && counters.reservedMicros !== 0n) wrong.push('some stays reserved')
    if (counters !== undefined && counters.dayMicros !== spent) wrong.push('used is not spent')
  }
}

test('whatever commit a kill falls on, what was acknowledged lands once, and a key once', async () => {
  let acknowledged = 0
  for (let seed = 1; seed <= SEEDS; seed++) {
    const killed = new KilledProcess(seed)
    await killed.run()
    expect(killed.model.wrong, `seed ${seed}`).toEqual([])
    acknowledged += killed.model.acknowledged.size
  }
  expect(acknowledged).toBeGreaterThan(SEEDS)
})
