import { setImmediate as nextTick } from 'node:timers/promises'
import { expect } from 'vitest'
import type { AskResult, ReplyToken } from '../../actors/runtime/actor.js'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command, Effect } from '../../actors/sub-wallet/core/messages.js'
import type { SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { putGrant } from '../../actors/sub-wallet/effects/put-grant.js'
import type { SubWalletPorts } from '../../actors/sub-wallet/ports.js'
import { loadState, recordEvents } from '../../actors/sub-wallet/record.js'
import { systemTimers } from '../../src/clock/timers.js'
import { NO_AUTHORIZERS } from '../../src/custody/authorizers/authorizer-set.js'
import type { ShareStore } from '../../src/custody/domain-keys/share-store.js'
import type { EvidenceLog } from '../../src/custody/evidence/evidence-log.js'
import { createPersons } from '../../src/custody/members/persons.js'
import { keyStatus } from '../../src/domain/api-key.js'
import { createFreezeBook } from '../../src/domain/freeze-book.js'
import type { GrantChange } from '../../src/domain/grant-change.js'
import {
  commonTerms,
  enlargements,
  type GrantTerms,
  grantedOf,
  grantTermsOf,
} from '../../src/domain/grant-terms.js'
import { ID_PREFIX, type KeyId, ulidBytes, ulidOfBytes } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import { FaultError, fault } from '../../src/errors/fault.js'
import type { Authorizer } from '../../src/identity-provider/vault/authorizer.js'
import { type Grant, type GrantedKey, termsIn } from '../../src/identity-provider/vault/granted.js'
import { createGrants, type Grants } from '../../src/identity-provider/vault/grants.js'
import type { LedgerStore } from '../../src/identity-provider/vault/ledger-store.js'
import { createRecordedChanges } from '../../src/identity-provider/vault/recorded-changes.js'
import { patchKey, revokeKey, rotateKey } from '../../src/operations/console/keys.js'
import { createPendingGrants } from '../../src/operations/console/pending-grants.js'
import type { ConsoleContext } from '../../src/operations/context.js'
import type { OperationPorts } from '../../src/operations/ports.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import type { GrantOutcome, GrantUpdate } from '../../src/service-custody/co-signer.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { grantAsked } from '../custody/grants.js'
import { createMemoryEnvironment } from './memory-environment.js'
import { apiKey, KEY_ID, START_MS, USER_ID, WALLET_ID, wallet } from './wallet-fixtures.js'

/** A question on its way to the identity provider, or its answer on the way back. */
interface Message {
  readonly carry: () => Promise<void>
  /** Its sender hears nothing; what was not carried yet may still arrive. */
  readonly lose: () => void
}

/**
 * The console's handlers, the sub-wallet's actor and the identity provider's grants as they are,
 * with a network between the two domains that delays, loses, and lets one thing pass another, and
 * a service that dies at any point. After every step an auditor holds both domains' books against
 * each other.
 */
export class GrantWorld {
  readonly #environment = createMemoryEnvironment()
  readonly #reader = createReader(this.#environment)
  readonly #sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
  readonly #ledger = new MemoryLedger()
  readonly #grants: Grants = grantsOn(this.#ledger)
  #state: SubWalletState = loadState(this.#reader, WALLET_ID)
  #life = 0
  #lastToken = 0
  #callers = new Map<ReplyToken, (result: AskResult) => void>()
  #messages: Message[] = []
  /** Questions given up by who asked them, which may arrive after whatever was asked since. */
  readonly #late: (() => Promise<void>)[] = []
  #resting: (() => void)[] = []
  #mailbox: Promise<void> = Promise.resolve()
  #isUp = true
  /** Of the handlers' answers: how many were given, by outcome. */
  readonly answers = new Map<string, number>()

  static async create(): Promise<GrantWorld> {
    const world = new GrantWorld()
    const key = apiKey({ dailyLimitMicros: 300_000_000n as never, allowedChains: [1, 8453] })
    await world.#handle({ type: 'create-wallet', wallet }, null)
    const first = grantAsked(updateOfNew(key.allowedChains), 0, null)
    await world.#grants.put(first, HOLDER)
    await world.#handle({ type: 'register-key', key }, null)
    return world
  }

  /** Asks the console without waiting for its answer. @param nth picks the key */
  patch(nth: number, change: { daily_limit_usd?: string; allowed_chains?: number[] }): void {
    this.#note(patchKey(this.#ports())(CONTEXT, { key_id: this.#keyAt(nth), ...change }))
  }

  rotate(nth: number): void {
    this.#note(rotateKey(this.#ports())(CONTEXT, { key_id: this.#keyAt(nth) }))
  }

  revoke(nth: number): void {
    this.#note(revokeKey(this.#ports())(CONTEXT, { key_id: this.#keyAt(nth) }))
  }

  /** Carries one message a step further. */
  async carry(nth: number): Promise<void> {
    const message = this.#take(nth)
    await message?.carry()
  }

  lose(nth: number): void {
    this.#take(nth)?.lose()
  }

  /** What was given up arrives anyway. */
  async arriveLate(nth: number): Promise<void> {
    const [question] = this.#late.splice(nth % Math.max(this.#late.length, 1), 1)
    await question?.()
  }

  rest(): void {
    this.#resting.shift()?.()
  }

  userSide(state: 'up' | 'down'): void {
    this.#isUp = state === 'up'
  }

  /** The service ends and starts again; what it had sent may still arrive. */
  async die(): Promise<void> {
    this.#life++
    this.#callers.clear()
    this.#resting = []
    this.#mailbox = Promise.resolve()
    this.#state = loadState(this.#reader, WALLET_ID)
    await this.#handle({ type: 'resume', nowMs: START_MS }, null)
  }

  /** What says "current" is current, whatever is on its way; and at no time has a key more there. */
  async audit(): Promise<void> {
    await this.#quiet()
    for (const key of this.#reader.keys.ofWallet(WALLET_ID)) {
      if (this.#reader.grants.statusOf(WALLET_ID, key.keyId) === 'pending') continue
      const revoked = key.revokedAtMs !== null
      const view = this.#grants.view(ulidBytes(key.keyId))
      expect({ revoked: view?.key.revoked }, key.keyId).toEqual({ revoked })
      if (revoked) continue
      const here = grantTermsOf(key)
      const there = this.#termsOf(key.keyId)
      // What its successor is losing under a claim, it has lost there already.
      const isOpen = ({ lineageId }: GrantChange) => lineageId === key.lineageId
      const open = [...this.#reader.grants.changesOf(WALLET_ID)].some(isOpen)
      if (!open) expect(there, key.keyId).toEqual(here)
      else if (there !== null) expect(enlargements(here, there), key.keyId).toEqual([])
    }
    this.#auditLines()
  }

  /** Until nothing goes on by itself: what is left waits for a message or for time. */
  async #quiet(): Promise<void> {
    for (let mailbox = null; mailbox !== this.#mailbox; ) {
      mailbox = this.#mailbox
      await mailbox
      await nextTick()
    }
  }

  /** No key of a line has what its successor has not, here or there. */
  #auditLines(): void {
    for (const key of this.#reader.keys.ofWallet(WALLET_ID)) {
      const before = key.rotatedFrom === null ? undefined : this.#reader.keys.byId(key.rotatedFrom)
      if (before === undefined || before.revokedAtMs !== null) continue
      expect(key.revokedAtMs, `${before.keyId} outlives its successor`).toBeNull()
      const [one, other] = [grantTermsOf(before), grantTermsOf(key)]
      const shared = { ...commonTerms(one, other), expiresAtMs: one.expiresAtMs }
      expect(one, `${before.keyId} has more than its successor`).toEqual(shared)
    }
  }

  /** Everything arrives; then both domains say the same of every key. */
  async settle(): Promise<void> {
    this.#isUp = true
    for (let i = 0; i < 2_000; i++) {
      await this.audit()
      if (this.#messages.length > 0) await this.carry(0)
      else if (this.#resting.length > 0) this.rest()
      else if (this.#late.length > 0) await this.arriveLate(0)
      else break
    }
    await this.audit()
    expect([...this.#reader.grants.changesOf(WALLET_ID)]).toEqual([])
    expect(this.#state.grants.byKey.size).toBe(0)
    const strangers = this.#ledger.keyIds().filter((id) => this.#reader.keys.byId(id) === undefined)
    const alive = strangers.filter((id) => this.#ledger.key(ulidBytes(id))?.revoked !== true)
    expect(alive, 'successors that were given up').toEqual([])
  }

  /** All keys of the wallet, oldest first. */
  get keys() {
    return [...this.#reader.keys.ofWallet(WALLET_ID)].reverse()
  }

  #keyAt(nth: number): KeyId {
    const live = this.keys.filter((key) => keyStatus(key, START_MS) !== 'revoked')
    return live[nth % Math.max(live.length, 1)]?.keyId ?? KEY_ID
  }

  #termsOf(keyId: KeyId): GrantTerms | null {
    const view = this.#grants.view(ulidBytes(keyId))
    return view === null ? null : termsIn(view)
  }

  #note(answering: unknown): void {
    const count = (name: string) => this.answers.set(name, (this.answers.get(name) ?? 0) + 1)
    Promise.resolve(answering as Promise<{ ok: boolean; fault?: { code: string } }>).then(
      (answer) => count(answer.ok ? 'ok' : (answer.fault?.code ?? 'none')),
      (error: unknown) => count(String(error)),
    )
  }

  #take(nth: number): Message | undefined {
    return this.#messages.splice(nth % Math.max(this.#messages.length, 1), 1)[0]
  }

  async #handle(command: Command, token: ReplyToken | null): Promise<void> {
    const life = this.#life
    const { events, effects, replies } = decide(this.#state, command, token)
    const batch = new WriteBatch()
    recordEvents(batch, this.#state, events)
    if (!batch.empty) await localCommits(this.#environment, this.#sequence).commit(batch)
    if (life !== this.#life) return
    for (const reply of replies) {
      this.#callers.get(reply.token)?.(reply.result)
      this.#callers.delete(reply.token)
    }
    for (const effect of effects) this.#run(effect)
  }

  #deliver(command: Command, token: ReplyToken | null): void {
    const life = this.#life
    this.#mailbox = this.#mailbox.then(() =>
      life === this.#life ? this.#handle(command, token) : undefined,
    )
  }

  #run(effect: Effect): void {
    const life = this.#life
    const self = (command: Command) => {
      if (life === this.#life) this.#deliver(command, null)
    }
    if (effect.type === 'rest-grants') this.#resting.push(() => self({ type: 'grants-rested' }))
    if (effect.type === 'put-grant') void putGrant(this.#walletPorts(), effect, self)
  }

  #walletPorts(): SubWalletPorts {
    return {
      coSigner: { putGrant: (update: GrantUpdate) => this.#putGrant(update) },
      auditLog: { note() {} },
      log: { warn() {} },
      timers: systemTimers(() => START_MS),
    } as unknown as SubWalletPorts
  }

  #ports(): OperationPorts {
    const life = this.#life
    return {
      reader: this.#reader,
      freezes: createFreezeBook([], () => null),
      userBreakers: { of: () => null },
      pendingGrants: createPendingGrants(systemTimers()),
      environment: 'test',
      forgetKey() {},
      keyLastUsedAtMs: () => null,
      timers: systemTimers(() => START_MS),
      nowMs: () => START_MS,
      actors: {
        ask: ({ kind }: { kind: string }, command: Command & { grant: GrantUpdate }) => {
          if (life !== this.#life) return new Promise<AskResult>(() => {})
          if (kind === 'custody') return this.#askCustody(command.grant)
          const token = ++this.#lastToken
          const answered = new Promise<AskResult>((resolve) => this.#callers.set(token, resolve))
          this.#deliver(command, token)
          return answered
        },
        tell: (_address: object, command: Command) => {
          if (life === this.#life) this.#deliver(command, null)
        },
      },
    } as unknown as OperationPorts
  }

  async #askCustody(grant: GrantUpdate): Promise<AskResult> {
    try {
      return { ok: true, value: await this.#putGrant(grant) }
    } catch (error) {
      if (error instanceof FaultError) return { ok: false, fault: error.fault }
      throw error
    }
  }

  /** As the service's end of the socket does it: first the version, then the change made for it. */
  async #putGrant(update: GrantUpdate): Promise<GrantOutcome> {
    const about = ulidBytes(update.rotatedFrom ?? update.keyId)
    const basedOn = update.revoked
      ? 0
      : await this.#call(() => this.#grants.view(about)?.grant.version ?? 0)
    const request = grantAsked(update, 0, null, basedOn)
    const by = update.consoleToken === null ? null : HOLDER
    await this.#call(() => this.#grants.put(request, by))
    return { authorizedBy: update.effect === 'enlarges' ? 'software' : null }
  }

  /** One question and its answer; each waits until it is carried. */
  #call<T>(question: () => T | Promise<T>): Promise<T> {
    const life = this.#life
    return new Promise<T>((resolve, reject) => {
      const alive = () => life === this.#life
      const lose = () => void (alive() && reject(unavailable()))
      const answer = (settle: () => void) =>
        this.#messages.push({ carry: async () => void (alive() && settle()), lose })
      const carry = async () => {
        if (!this.#isUp) return lose()
        try {
          const value = await question()
          answer(() => resolve(value))
        } catch (error) {
          answer(() => reject(faultOf(error)))
        }
      }
      // Lost is an answer that takes too long: the question may still come.
      const loseQuestion = () => {
        lose()
        this.#late.push(() => late(question))
      }
      this.#messages.push({ carry, lose: loseQuestion })
    })
  }
}

const CONTEXT = { userId: USER_ID, requestId: 'request', token: 'jwt' } as ConsoleContext

async function late(question: () => unknown): Promise<void> {
  try {
    await question()
  } catch {
    // Nobody hears what it answers.
  }
}

function unavailable(): FaultError {
  return new FaultError(fault('COSIGNER_UNAVAILABLE'))
}

/** As the service's end of the socket maps them. */
function faultOf(error: unknown): FaultError {
  const code = (error as { code?: string }).code
  if (code === undefined) throw error
  if (code === 'STALE_GRANT') return unavailable()
  return new FaultError(fault('PERMISSION_DENIED', { reason: code }))
}

function updateOfNew(allowedChains: readonly number[]): GrantUpdate {
  return {
    ...grantedOf(INITIAL_POLICY),
    keyId: KEY_ID,
    rotatedFrom: null,
    walletId: WALLET_ID,
    userId: USER_ID,
    permission: 'trade',
    allowedChains,
    proofKey: new Uint8Array(32).fill(1),
    expiresAt: null,
    revoked: false,
    consoleToken: 'jwt',
    dailyLimitMicros: 300_000_000n,
    effect: 'enlarges',
    authorization: null,
  }
}

const HOLDER = { personId: USER_ID, accountId: USER_ID }

/** The identity provider's grants; its user confirms whatever is asked. */
function grantsOn(ledger: MemoryLedger): Grants {
  const wallet = { proofs: {}, certificate: { ownerHash: sha256(Buffer.from(USER_ID)) } }
  const dataKeys = { seal: (bytes: Uint8Array) => Buffer.from(bytes), open: Buffer.from }
  const shares = { get: () => wallet, dataKeys } as unknown as ShareStore
  const confirmed = { proof: Buffer.of(1), authorizerId: null, signCount: 0 }
  const authorizer: Authorizer = {
    announcement: '',
    confirm: async () => confirmed,
    requireStanding: () => {},
    spend: async () => {},
  }
  const evidence = { append: async () => {} } as unknown as EvidenceLog
  const store = ledger as unknown as LedgerStore
  const persons = createPersons({ members: () => null }, { setOf: () => NO_AUTHORIZERS })
  const changes = createRecordedChanges(store, evidence)
  return createGrants(store, shares, authorizer, persons, changes)
}

class MemoryLedger {
  readonly #grants = new Map<string, Grant>()
  readonly #keys = new Map<string, GrantedKey>()

  grant(id: Uint8Array): Grant | null {
    return this.#grants.get(nameOf(id)) ?? null
  }

  key(id: Uint8Array): GrantedKey | null {
    return this.#keys.get(nameOf(id)) ?? null
  }

  keyIds(): KeyId[] {
    return [...this.#keys.keys()].map((name) => {
      return `${ID_PREFIX.key}${ulidOfBytes(Buffer.from(name, 'hex'))}` as KeyId
    })
  }

  commit<T>(write: (writer: unknown) => T): { result: T; flushed: Promise<unknown> } {
    const result = write({
      putGrant: (id: Buffer, grant: Grant) => this.#grants.set(nameOf(id), grant),
      putKey: (id: Buffer, key: GrantedKey) => this.#keys.set(nameOf(id), key),
      putOwed: () => 0,
    })
    return { result, flushed: Promise.resolve() }
  }

  decide(): void {}
}

function nameOf(id: Uint8Array): string {
  return Buffer.from(id).toString('hex')
}
