import { expect } from 'vitest'
import type { Reply } from '../../actors/runtime/actor.js'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command, Effect } from '../../actors/sub-wallet/core/messages.js'
import { Sent } from '../../actors/sub-wallet/core/sent.js'
import type {
  PreparedSponsored,
  SponsoredJudgedAgain,
} from '../../actors/sub-wallet/core/sponsored-messages.js'
import type { SponsoredDraft } from '../../actors/sub-wallet/core/sponsored-state.js'
import { countersOf, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { unminedCalls } from '../../actors/sub-wallet/core/unmined-calls.js'
import { loadState, recordEvents } from '../../actors/sub-wallet/record.js'
import { type Approval, approvalIdOf } from '../../src/domain/approval.js'
import type { Exchange } from '../../src/domain/exchange.js'
import type { Freezes } from '../../src/domain/freeze.js'
import type { Hex, TxId } from '../../src/domain/ids.js'
import type { Sponsorship } from '../../src/domain/sponsorship.js'
import { type Fault, fault } from '../../src/errors/fault.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import type { CallQuote, UnminedCall } from '../../src/valuation/quoter.js'
import type { SponsoredQuote } from '../../src/valuation/sponsored-quote.js'
import { LOSSLESS, preparedSwap } from '../core/wallet-world.js'
import { createMemoryEnvironment } from './memory-environment.js'
import {
  ATTEMPT,
  CHAIN_ID,
  KEY_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  txIdOf,
  USER_ID,
  WALLET_ID,
} from './wallet-fixtures.js'

export const ALICE = `aut_${'a'.repeat(32)}`
export const BOB = `aut_${'b'.repeat(32)}`

/** A wallet with its store; what is in memory is held to what a start would have, after each commit. */
export class WaitingWallet {
  readonly #environment = createMemoryEnvironment()
  readonly reader = createReader(this.#environment)
  readonly #commits = localCommits(
    this.#environment,
    attachEventSequence(createEventSequenceBuffer(), () => true),
  )
  state: SubWalletState = loadState(this.reader, WALLET_ID)
  nowMs = START_MS
  effects: Effect[] = []
  #replies: Reply[] = []
  #token = 0

  async run(command: Command): Promise<Reply['result'] | undefined> {
    const token = ++this.#token
    this.state.freezes = this.freezes
    const { events, effects, replies } = decide(this.state, command, token)
    const batch = new WriteBatch()
    recordEvents(batch, this.state, events)
    if (!batch.empty) await this.#commits.commit(batch)
    this.effects.push(...effects)
    this.#replies.push(...replies)
    this.#mirror()
    return replies.find((reply) => reply.token === token)?.result
  }

  /** Lets everything that was asked for answer, but for the quorum and the clock. */
  async settle({ told = true, quote }: { told?: boolean; quote?: CallQuote } = {}): Promise<void> {
    while (await this.answerOne(told, quote)) {
      // Each may ask for more.
    }
  }

  /** @returns false once nothing more is to be answered */
  async answerOne(told = true, quote?: CallQuote): Promise<boolean> {
    const at = this.effects.findIndex(({ type }) => ANSWERED.has(type))
    const [effect] = at < 0 ? [] : this.effects.splice(at, 1)
    if (effect === undefined) return false
    const { nowMs } = this
    if (effect.type === 'ready-approval') {
      const { txId } = effect
      await this.run({
        type: 'approval-ready',
        txId,
        keyProof: '0x01',
        url: 'https://u/approve',
        userWaiting: this.others,
        nowMs,
      })
    } else if (effect.type === 'register-approval') {
      const { txId, maxNativeWei } = effect.approval
      await this.run({ type: 'approval-registered', txId, maxNativeWei, taken: told, nowMs })
      return told
    } else if (effect.type === 'screen') {
      const { txId } = effect.draft
      const requoted = effect.revalues ? (quote ?? this.#quoteNow(effect)) : null
      await this.run({
        ...{ type: 'screened', txId, refusal: this.screening, screenedAgainst: [], requoted },
        ...{ chainNonce: 0, nowMs },
      })
    } else if (effect.type === 'screen-sponsored') {
      const { draft } = effect
      const { txId } = draft
      const screened = { refusal: this.screening, screenedAgainst: [], nowMs }
      const judgedAgain =
        draft.approval === undefined || this.screening !== null
          ? {}
          : { judgedAgain: this.judgedAgain(draft) }
      await this.run({ type: 'sponsored-screened', txId, ...screened, ...judgedAgain })
    }
    return true
  }

  /** Micro-USD that calls are worth by now, where that is not what they were sent for. */
  readonly worth = new Map<TxId, bigint>()

  #quoteNow({ draft, unmined }: Extract<Effect, { type: 'screen' }>): CallQuote {
    const { txId, call } = draft
    const quote = quoteOf(this.worth.get(txId) ?? call.value)
    return call.data === '0x' ? quote : valuedAfter(quote, unmined ?? [])
  }

  /** A call of a contract, whose screening has yet to answer. @param after as it was valued */
  callContract(n: number, micros: bigint, after = unminedCalls(this.state, CHAIN_ID)) {
    const quote = valuedAfter(quoteOf(micros), after)
    return this.run({ ...preparedSend(n, micros, { data: '0x01' }), nowMs: this.nowMs, quote })
  }

  screening: Fault | null = null
  /** What venues, prices and the chain say of sponsored calls that are judged again. */
  now: Partial<SponsoredJudgedAgain> & {
    readonly offered?: bigint
    readonly micros?: bigint
    readonly exchange?: Exchange | null
  } = {}

  /** As the effect would find it: a minimum as far below the offer as before. */
  judgedAgain({ terms, offered: before, valuation }: SponsoredDraft): SponsoredJudgedAgain {
    const { offered = before, exchange = LOSSLESS, ...others } = this.now
    const { micros = valuation.valueMicros, ...said } = others
    if (!terms.ok) throw new Error('no terms')
    const minOut = (offered * terms.value.minOut) / before
    const data: Hex = offered === before ? terms.value.data : '0xbb'
    const quote: SponsoredQuote = {
      ...{ ok: true, unpriced: false, parties: [], offered, exchange },
      valuation: { ...valuation, valueMicros: micros },
      terms: { ok: true, value: { ...terms.value, minOut, data } },
    }
    return { quote, delegated: true, chainNonce: null, gasMicros: 1n, ...said }
  }

  /** A swap that a venue offers 100 for, of which at least 98 are to come. */
  async swap(n: number, micros: bigint, said: Partial<PreparedSponsored> = {}) {
    const swap = preparedSwap(n, micros)
    const { quote } = swap
    if (!quote.ok || !quote.terms.ok) throw new Error('no quote')
    const value = { ...quote.terms.value, minOut: 98n, data: '0xaa' as const }
    const offer = { ...quote, offered: 100n, terms: { ok: true, value } as const }
    const { nowMs } = this
    const refused = await this.run({ ...swap, quote: offer, nowMs, ...said })
    if (refused !== undefined) return refused
    await this.settle()
    return this.#replies.find(({ result }) => result.ok && isSent(result.value, txIdOf(n)))?.result
  }

  /** Intents that the quorum was asked for and has not answered. */
  intents() {
    return this.effects.flatMap((effect) => (effect.type === 'sign-intent' ? [effect] : []))
  }

  async signIntent(n: number): Promise<void> {
    const at = this.effects.findIndex(
      (it) => it.type === 'sign-intent' && it.draft.txId === txIdOf(n),
    )
    if (at < 0) throw new Error('not asked for')
    this.effects.splice(at, 1)
    const deadlineSeconds = this.nowMs / 1_000 + 180
    const signed = { calldata: '0xcc', authorization: null, deadlineSeconds } as const
    await this.run({ type: 'intent-signed', txId: txIdOf(n), signed, nowMs: this.nowMs })
  }

  jobs() {
    return this.effects.flatMap((effect) => (effect.type === 'submit-job' ? [effect] : []))
  }

  freezes: Freezes | null = null
  /** Calls that wait in other wallets of the user. */
  others = 0

  async send(n: number, micros: bigint, said: object = {}) {
    const { nowMs } = this
    const first = this.run({ ...preparedSend(n, micros), nowMs, ...said })
    const refused = await first
    if (refused !== undefined) return refused
    await this.settle()
    const token = this.#token
    return (
      this.#replies.find(({ result }) => result.ok && isSent(result.value, txIdOf(n)))?.result ??
      token
    )
  }

  approve(n: number, authorizerId = ALICE) {
    return this.#say(n, 'approve', authorizerId)
  }

  decline(n: number, comment: string | null = null) {
    return this.#say(n, 'decline', null, comment)
  }

  #say(
    n: number,
    said: 'approve' | 'decline',
    authorizerId: string | null,
    comment?: string | null,
  ) {
    const { nowMs } = this
    const proof = said === 'approve' ? ('0x02' as const) : null
    return this.run({
      type: 'decide-approval',
      txId: txIdOf(n),
      decision: { authorizerId, decision: said, comment: comment ?? null, atMs: nowMs, proof },
      maxNativeWei: said === 'approve' ? (this.#asked(n)?.maxNativeWei ?? 0n) : null,
      requestId: null,
      nowMs,
    })
  }

  withdraw(n: number, keyId = KEY_ID) {
    const { nowMs } = this
    return this.run({ type: 'withdraw-call', txId: txIdOf(n), keyId, requestId: 'r', nowMs })
  }

  /** The clock goes on, and brings what was asked of it. */
  async due(afterMs: number): Promise<void> {
    this.nowMs += afterMs
    const { nowMs } = this
    for (;;) {
      const at = this.effects.findIndex((it) => it.type === 'wake-approvals' && it.atMs <= nowMs)
      const [effect] = at < 0 ? [] : this.effects.splice(at, 1)
      if (effect?.type !== 'wake-approvals') return
      await this.run({ type: 'approvals-due', atMs: effect.atMs, nowMs })
    }
  }

  /** Those that the clock has yet to bring, in the order in which they were asked for. */
  wakes(): readonly number[] {
    return this.effects.flatMap((it) => (it.type === 'wake-approvals' ? [it.atMs] : []))
  }

  /** What the identity provider was told to forget. */
  forgotten(): readonly string[] {
    return this.effects.flatMap((it) => (it.type === 'forget-approval' ? [it.approvalId] : []))
  }

  /** What the quorum was asked for and has not answered. */
  asked() {
    return this.effects.flatMap((effect) => (effect.type === 'sign' ? [effect] : []))
  }

  async fail(n: number, code: 'COSIGNER_UNAVAILABLE'): Promise<void> {
    const nonce = this.#takeAsked(n)
    const { nowMs } = this
    await this.run({ type: 'sign-failed', txId: txIdOf(n), nonce, fault: fault(code), nowMs })
  }

  /** The nonce at which the quorum was asked for it. */
  #takeAsked(n: number): number {
    const at = this.effects.findIndex((it) => it.type === 'sign' && it.draft.txId === txIdOf(n))
    const [effect] = this.effects.splice(at, 1)
    if (effect?.type !== 'sign') throw new Error('not asked for')
    return effect.nonce
  }

  async sign(n: number): Promise<void> {
    const nonce = this.#takeAsked(n)
    const { nowMs } = this
    await this.run({ type: 'signed', txId: txIdOf(n), nonce, signed: ATTEMPT, nowMs })
  }

  restart(): void {
    this.state = loadState(this.reader.fresh(), WALLET_ID)
    this.effects = []
  }

  resume() {
    return this.run({ type: 'resume', nowMs: this.nowMs })
  }

  record(n: number) {
    return this.reader.fresh().transactions.byId(txIdOf(n))
  }

  approval(n: number): Approval {
    const found = this.#asked(n)
    if (found === undefined) throw new Error('nobody is asked')
    return found
  }

  #asked(n: number): Approval | undefined {
    return this.reader.fresh().approvals.byId(USER_ID, approvalIdOf(txIdOf(n)))
  }

  get reserved(): bigint {
    return countersOf(this.state, LINEAGE_ID, this.nowMs).reservedMicros
  }

  /** Memory equals what a start would have, drafts apart; and nothing is held twice or by nobody. */
  #mirror(): void {
    const { state } = this
    const stored = loadState(this.reader.fresh(), WALLET_ID)
    expect(stored.spend).toEqual(state.spend)
    const durable = ({ waiting }: SubWalletState) =>
      new Map([...waiting.byTx].map(([txId, { tx, approval }]) => [txId, { tx, approval }]))
    expect(durable(stored)).toEqual(durable(state))
    let held = 0n
    for (const { tx } of [...state.open.values(), ...state.waiting.byTx.values()]) {
      held += tx.reservation.micros
    }
    for (const { draft } of state.drafts.values()) {
      if (draft.approval === undefined) held += draft.reservation.micros
    }
    for (const { draft, sponsorship } of state.sponsored.values()) {
      if (sponsorship !== null) held += sponsorship.reservation.micros
      else if (draft !== null && draft.approval === undefined) held += draft.reservation.micros
    }
    expect(handedOf(stored)).toEqual(handedOf(state))
    // Each is sooner than those before it, so no time is waited for twice.
    expect(this.wakes()).toEqual([...new Set(this.wakes())].sort((a, b) => b - a))
    expect(this.reserved).toBe(held)
    for (const { draft } of this.asked()) {
      const waits = draft.approval?.proofs.length ?? null
      if (state.waiting.byTx.has(draft.txId)) expect(waits).not.toBeNull()
    }
  }
}

const ANSWERED: ReadonlySet<Effect['type']> = new Set([
  'screen',
  'screen-sponsored',
  'ready-approval',
  'register-approval',
])

function handedOf({ sponsored }: SubWalletState): Map<TxId, Sponsorship> {
  const found = new Map<TxId, Sponsorship>()
  for (const { sponsorship } of sponsored.values()) {
    if (sponsorship !== null) found.set(sponsorship.txId, sponsorship)
  }
  return found
}

function isSent(value: unknown, txId: TxId): boolean {
  return value instanceof Sent && value.tx.txId === txId
}

/** Calls of contracts are valued after those that will be mined before them. */
export function valuedAfter(
  quote: Extract<CallQuote, { ok: true }>,
  after: readonly Pick<UnminedCall, 'txId'>[],
): CallQuote {
  return { ...quote, basis: { ...quote.basis, after: after.map(({ txId }) => txId) } }
}

export function quoteOf(micros: bigint): Extract<CallQuote, { ok: true }> {
  const { quote } = preparedSend(1, micros)
  if (!quote.ok) throw new Error('no quote')
  return quote
}
