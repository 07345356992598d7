import { describe, expect, test } from 'vitest'
import { laneOf } from '../../actors/account/core/state.js'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command, Effect, PreparedSend } from '../../actors/sub-wallet/core/messages.js'
import { emptyState, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { unminedCalls } from '../../actors/sub-wallet/core/unmined-calls.js'
import { loadState, recordEvents } from '../../actors/sub-wallet/record.js'
import type { TxId } from '../../src/domain/ids.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { createMemoryEnvironment } from './memory-environment.js'
import {
  apiKey,
  CHAIN_ID,
  preparedSend,
  START_MS,
  txIdOf,
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

type Screening = Extract<Effect, { type: 'screen' }>

/** A wallet that sends calls which are valued by being run; every step is told one by one. */
class Caller {
  state: SubWalletState = emptyState(WALLET_ID)
  readonly #environment = createMemoryEnvironment()
  readonly #sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
  #effects: Effect[] = []
  #refusals: string[] = []
  #sends = 0

  async tell(command: Command): Promise<void> {
    const { events, effects, replies } = decide(this.state, command, 1)
    this.#effects.push(...effects)
    for (const { result } of replies) if (!result.ok) this.#refusals.push(result.fault.code)
    const batch = new WriteBatch()
    recordEvents(batch, this.state, events)
    if (!batch.empty) await localCommits(this.#environment, this.#sequence).commit(batch)
  }

  async begin(): Promise<this> {
    await this.tell({ type: 'create-wallet', wallet })
    await this.tell({ type: 'register-key', key: apiKey({ dailyLimitMicros: 100_000n }) })
    return this
  }

  /** A call as it was valued after the given ones; `null` is a plain transfer. */
  async send(after: readonly TxId[] | null, micros = 100n): Promise<TxId> {
    const n = ++this.#sends
    const { quote, ...prepared } = preparedSend(n, micros)
    await this.tell({ ...prepared, quote: valuedAfter(quote, after) })
    return txIdOf(n)
  }

  async clean(txId: TxId, requoted: PreparedSend['quote'] | null = null): Promise<void> {
    await this.tell({
      ...{ type: 'screened', txId, refusal: null, screenedAgainst: [], requoted },
      nowMs: START_MS,
    })
  }

  /** The answer to being valued again, and the clean screening that follows. */
  async revalued(txId: TxId, micros = 100n): Promise<void> {
    const { unmined } = this.screening(txId)
    const { quote } = preparedSend(0, micros)
    const after = (unmined ?? []).map((it) => it.txId)
    await this.clean(txId, valuedAfter(quote, after))
    if (this.state.drafts.has(txId)) await this.clean(txId)
  }

  async sign(txId: TxId): Promise<void> {
    const hash = `0x${txId.slice(-4)}` as const
    const signed = { txHash: hash, rawTransaction: hash, intentId: hash, signedAtMs: START_MS }
    await this.tell({ type: 'signed', txId, nonce: this.nonceOf(txId), signed, nowMs: START_MS })
  }

  async mine(txId: TxId): Promise<void> {
    const txHash = `0x${txId.slice(-4)}` as const
    const place = { txHash, blockNumber: 7, blockHash: '0xb7', feeWei: 0n } as const
    const mined: MinedIn = { ...place, outcome: 'success' }
    await this.tell({ type: 'mined', txId, mined, nowMs: START_MS })
  }

  async restart(): Promise<void> {
    this.state = loadState(createReader(this.#environment), WALLET_ID)
    this.#effects = []
  }

  phaseOf(txId: TxId): string | undefined {
    return this.state.drafts.get(txId)?.phase
  }

  /** −1 where it has none. */
  nonceOf(txId: TxId): number {
    return this.state.drafts.get(txId)?.nonce ?? this.state.open.get(txId)?.tx.nonce ?? -1
  }

  screening(txId: TxId): Screening {
    const found = this.screenings(txId).at(-1)
    if (found === undefined) throw new Error(`${txId} is not being screened`)
    return found
  }

  screenings(txId: TxId): readonly Screening[] {
    return this.#effects.filter(
      (it): it is Screening => it.type === 'screen' && it.draft.txId === txId,
    )
  }

  get refusals(): readonly string[] {
    return this.#refusals
  }

  unmined(): readonly TxId[] {
    return unminedCalls(this.state, CHAIN_ID).map(({ txId }) => txId)
  }
}

function valuedAfter(
  quote: PreparedSend['quote'],
  after: readonly TxId[] | null,
): PreparedSend['quote'] {
  if (!quote.ok) throw new Error('no quote')
  return { ...quote, basis: { ...quote.basis, after } }
}

describe('a call gets a nonce only behind those that it was valued after', () => {
  test('one that was valued without a call before it is valued again, with that call', async () => {
    const caller = await new Caller().begin()
    const first = await caller.send([])
    const second = await caller.send([])
    await caller.clean(first)
    await caller.clean(second)
    expect([caller.phaseOf(first), caller.phaseOf(second)]).toEqual(['signing', 'screening'])
    expect(caller.screening(second)).toMatchObject({ revalues: true, unmined: [{ txId: first }] })
    await caller.revalued(second)
    expect([caller.nonceOf(first), caller.nonceOf(second)]).toEqual([0, 1])
  })

  test('one that was valued after it goes on at once', async () => {
    const caller = await new Caller().begin()
    const first = await caller.send([])
    await caller.clean(first)
    const second = await caller.send([first])
    await caller.clean(second)
    expect(caller.nonceOf(second)).toBe(1)
    expect(caller.screenings(second)).toHaveLength(1)
  })

  test('what it is worth behind it decides about the cap', async () => {
    const caller = await new Caller().begin()
    const first = await caller.send([])
    const second = await caller.send([], 0n)
    await caller.clean(first)
    await caller.clean(second)
    await caller.revalued(second, 200_000n)
    expect(caller.refusals).toEqual(['LIMIT_EXCEEDED'])
    expect(caller.state.drafts.has(second)).toBe(false)
  })

  test('calls that wait to be valued again are so one by one, each behind the other', async () => {
    const caller = await new Caller().begin()
    const sent: TxId[] = []
    for (let i = 0; i < 4; i++) sent.push(await caller.send([]))
    for (const txId of sent) await caller.clean(txId)
    const [first, second, third, fourth] = sent as [TxId, TxId, TxId, TxId]
    expect(caller.screenings(third)).toHaveLength(1)
    await caller.revalued(second)
    expect(caller.screening(third).unmined?.map(({ txId }) => txId)).toEqual([first, second])
    await caller.revalued(third)
    await caller.revalued(fourth)
    expect(sent.map((txId) => caller.nonceOf(txId))).toEqual([0, 1, 2, 3])
    expect(laneOf(caller.state, CHAIN_ID).line).toEqual([])
  })

  test('one that is refused while it is valued again keeps nobody waiting', async () => {
    const caller = await new Caller().begin()
    const [first, second, third] = [
      ...[await caller.send([]), await caller.send([]), await caller.send([])],
    ] as [TxId, TxId, TxId]
    for (const txId of [first, second, third]) await caller.clean(txId)
    await caller.clean(second, { ok: false, fault: fault('CHAIN_UNAVAILABLE') })
    expect(caller.refusals).toEqual(['CHAIN_UNAVAILABLE'])
    await caller.revalued(third)
    expect(caller.nonceOf(third)).toBe(1)
  })

  test('one whose predecessor could not be signed is valued again without it', async () => {
    const caller = await new Caller().begin()
    const first = await caller.send([])
    await caller.clean(first)
    const second = await caller.send([first])
    await caller.clean(second)
    await caller.sign(second)
    const no = fault('COSIGNER_UNAVAILABLE')
    await caller.tell({ type: 'sign-failed', txId: first, nonce: 0, fault: no, nowMs: START_MS })
    expect(caller.phaseOf(second)).toBe('screening')
    expect(caller.screening(second)).toMatchObject({ revalues: true, unmined: [] })
    await caller.revalued(second)
    expect(caller.nonceOf(second)).toBe(0)
  })

  test('one whose predecessor was mined meanwhile needs no other value', async () => {
    const caller = await new Caller().begin()
    const first = await caller.send([])
    await caller.clean(first)
    await caller.sign(first)
    const second = await caller.send([])
    await caller.mine(first)
    await caller.clean(second)
    expect(caller.nonceOf(second)).toBe(1)
  })

  test('plain transfers wait for nothing, and nothing is valued again for them', async () => {
    const caller = await new Caller().begin()
    const call = await caller.send([])
    const late = await caller.send([])
    await caller.clean(call)
    await caller.clean(late)
    const transfer = await caller.send(null)
    expect(caller.screening(transfer).unmined).toBeNull()
    await caller.clean(transfer)
    expect(caller.nonceOf(transfer)).toBe(1)
    await caller.revalued(late)
    expect(caller.nonceOf(late)).toBe(2)
    expect(caller.screenings(transfer)).toHaveLength(1)
  })
})

describe('a nonce below others', () => {
  test('is not given to a call that the ones above were valued without', async () => {
    const caller = await new Caller().begin()
    const [first, second] = [await caller.send(null), await caller.send([])]
    for (const txId of [first, second]) {
      await caller.clean(txId)
      await caller.sign(txId)
    }
    const refused = fault('CHAIN_REJECTED')
    await caller.tell({
      type: 'broadcast-outcome',
      txId: first,
      txHash: `0x${first.slice(-4)}`,
      outcome: { kind: 'rejected', fault: refused },
      blockNumber: 1,
      nowMs: START_MS,
    })
    expect(laneOf(caller.state, CHAIN_ID).gaps).toEqual([0])
    const third = await caller.send([second])
    await caller.clean(third)
    expect(caller.nonceOf(third)).toBe(2)
    const plain = await caller.send(null)
    await caller.clean(plain)
    expect(caller.nonceOf(plain)).toBe(0)
  })
})

describe('the calls that no block has', () => {
  test('are those with a nonce in its order, then those that wait for one', async () => {
    const caller = await new Caller().begin()
    const first = await caller.send([])
    await caller.clean(first)
    const second = await caller.send([first])
    await caller.clean(second)
    expect(caller.unmined()).toEqual([first, second])
    await caller.sign(first)
    expect(caller.unmined()).toEqual([first, second])
  })

  test('are known after a restart, when nobody knows any more which were plain transfers', async () => {
    const caller = await new Caller().begin()
    const sent = [await caller.send([]), await caller.send(null)]
    for (const txId of sent) {
      await caller.clean(txId)
      await caller.sign(txId)
    }
    expect(caller.unmined()).toEqual(sent.slice(0, 1))
    await caller.restart()
    expect(caller.unmined()).toEqual(sent)
    const next = await caller.send([])
    await caller.clean(next)
    expect(caller.phaseOf(next)).toBe('screening')
    expect(caller.screening(next).unmined).toHaveLength(2)
  })

  test('belong to one chain', async () => {
    const caller = await new Caller().begin()
    await caller.clean(await caller.send([]))
    expect(unminedCalls(caller.state, 1)).toEqual([])
  })
})
