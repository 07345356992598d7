import { createHash } from 'node:crypto'
import type { ApiKey } from '../../src/domain/api-key.js'
import {
  type Address,
  ID_PREFIX,
  type KeyId,
  type LineageId,
  type SubWalletId,
  ulidBytes,
  ulidOfBytes,
} from '../../src/domain/ids.js'
import { FaultError, fault } from '../../src/errors/fault.js'
import {
  type RestingIntent,
  requireGas,
} from '../../src/identity-provider/vault/approval-standing.js'
import { judgePath, PolicyDenied } from '../../src/identity-provider/vault/judge-policy.js'
import {
  entryOf,
  isCancel,
  type LedgerEntry,
  NonceTaken,
  relate,
  underApproval,
} from '../../src/identity-provider/vault/nonce-ledger.js'
import { isReplacement, needsGrant } from '../../src/identity-provider/vault/policy.js'
import { NO_POLICY_LEDGER, type PolicyLedger } from '../../src/policy/policy-ledger.js'
import type { Intent } from '../../src/quorum-protocol/intent.js'
import {
  type DecodedPayload,
  decodePayload,
  encodePayload,
} from '../../src/quorum-protocol/payload.js'
import { codeOf, Refusal, type RefusalCode } from '../../src/quorum-protocol/refusal.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import type {
  CoSigner,
  FrozenSubject,
  SignOutcome,
  SignRequest,
} from '../../src/service-custody/co-signer.js'
import { coSignerFault } from '../../src/service-custody/co-signer-fault.js'
import { failed } from '../../src/service-custody/outcome.js'
import type { Planted } from './planted.js'
import { QuorumApprovals } from './quorum-approvals.js'
import { type LiveGrant, QuorumGrants } from './quorum-grants.js'
import type { Draw } from './random.js'
import type { Life, Scheduler } from './scheduler.js'
import { lower, type Signatures } from './signatures.js'

export interface QuorumFaults {
  readonly latencyMsMax: number
  /** Of requests, how many do not reach it. */
  readonly unsent: number
  /** Of requests, how many it did and whose answer is lost. */
  readonly unanswered: number
}

/** Of a lost answer the service knows no more after this long. */
const TIMEOUT_MS = 5_000
const ABSENT = new Uint8Array(32)

/** A key that signs, and of which account. */
export interface QuorumWallet {
  readonly walletId: SubWalletId
  readonly userId: string | null
  readonly address: Address
}

/** What is asked of the other domains to sign, as they read it. */
interface Asked {
  readonly request: SignRequest
  readonly payload: DecodedPayload
  readonly bytes: Uint8Array
  readonly intentId: Uint8Array
}

/**
 * What the service never asks for, whoever was faster: it judged the call by the same rules, and was
 * told of the same people.
 */
const NEVER_ASKED: ReadonlySet<RefusalCode> = new Set([
  'APPROVAL_UNKNOWN',
  'APPROVAL_MISMATCH',
  'APPROVAL_MISSING',
  'APPROVAL_EARLY',
])

/**
 * The other two domains, as the service sees them: what they approved at each nonce, which keys,
 * what people said, and what is frozen. They outlive the service. Payloads, the rule of the nonce
 * ledger, and what judges policies and approvals are real.
 */
export class Quorum {
  faults: QuorumFaults = { latencyMsMax: 20, unsent: 0, unanswered: 0 }
  /** Until then nothing reaches it. */
  awayUntilMs = 0
  readonly #ledger = new Map<string, LedgerEntry>()
  readonly #wallets = new Map<SubWalletId, QuorumWallet>()
  readonly grants = new QuorumGrants()
  readonly approvals = new QuorumApprovals()
  /** What policies counted, by lineage. */
  readonly #usage = new Map<LineageId, PolicyLedger>()
  /** Names of freezes. */
  readonly #frozen = new Set<string>()
  readonly #scheduler: Scheduler
  readonly #draw: Draw
  readonly #signatures: Signatures
  readonly #wrong: (what: string) => void
  #intents = 0

  constructor(
    scheduler: Scheduler,
    draw: Draw,
    signatures: Signatures,
    wrong: (what: string) => void,
  ) {
    this.#scheduler = scheduler
    this.#draw = draw
    this.#signatures = signatures
    this.#wrong = wrong
  }

  register(wallet: QuorumWallet): void {
    this.#wallets.set(wallet.walletId, wallet)
  }

  grant(key: ApiKey, proofKey: Uint8Array): void {
    this.grants.introduce(key, proofKey)
  }

  /** As one start of the service reaches it. */
  coSignerOf(life: Life, planted: Planted | null = null): CoSigner {
    const ask = <T>(work: () => T) => this.#ask(life, work)
    const unknown = () => Promise.reject(new FaultError(fault('COSIGNER_UNAVAILABLE')))
    return {
      ready: true,
      close: async () => undefined,
      createWallet: unknown,
      createServiceWallet: (walletId) => ask(() => this.#serviceWallet(walletId)),
      sign: (request) =>
        ask(() => this.#sign(request)).catch(
          (): SignOutcome => ({ ok: false, reason: 'UNAVAILABLE' }),
        ),
      putGrant: (update) => ask(() => this.grants.put(update, this.#nowMs)),
      freeze: (subject) =>
        ask(() => {
          if (planted?.ignoresFreezes !== true) this.#frozen.add(nameOf(subject))
        }),
      unfreeze: (subject) =>
        ask(() => {
          this.#frozen.delete(nameOf(subject))
          return { authorizedBy: 'software' }
        }),
      refuseWaiting: () => undefined,
      registerApproval: (registration) =>
        ask(() => {
          const keyId = keyIdOf(registration.term.keyId)
          this.approvals.ask(registration, this.grants.proofKeyOf(keyId), this.#nowMs)
        }),
      approve: (update) => ask(() => this.approvals.approve(update, this.#nowMs)),
      endApproval: (ended) => ask(() => this.approvals.end(ended, this.#nowMs)),
      approvalDecisions: (after) => ask(() => this.approvals.decisionsAfter(after)),
      followMembers: async () => {},
      changeMember: unknown,
      authorizersOf: unknown,
    }
  }

  /** @throws FaultError COSIGNER_UNAVAILABLE where it is away, or its answer is lost */
  #ask<T>(life: Life, work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const lost = () => {
        if (life.isAlive) reject(new FaultError(fault('COSIGNER_UNAVAILABLE')))
      }
      const { latencyMsMax, unsent, unanswered } = this.faults
      const there = 1 + this.#draw.integer(latencyMsMax)
      const back = 1 + this.#draw.integer(latencyMsMax)
      const drawn = this.#draw.fraction()
      this.#scheduler.after(there, () => {
        if (drawn < unsent || this.#scheduler.nowMs < this.awayUntilMs) {
          this.#scheduler.after(back, lost)
          return
        }
        try {
          const done = work()
          if (drawn < unsent + unanswered) this.#scheduler.after(TIMEOUT_MS, lost)
          else
            this.#scheduler.after(back, () => {
              if (life.isAlive) resolve(done)
            })
        } catch (error) {
          const refused = error instanceof Refusal ? coSignerFault(error) : error
          this.#scheduler.after(back, () => {
            if (life.isAlive) reject(refused)
          })
        }
      })
    })
  }

  get #nowMs(): number {
    return this.#scheduler.nowMs
  }

  #sign(request: SignRequest): SignOutcome {
    const wallet = this.#wallets.get(request.walletId)
    if (wallet === undefined) return failed('UNKNOWN_WALLET')
    const intentId = createHash('sha256')
      .update(`intent ${++this.#intents}`)
      .digest()
    try {
      const { type, bytes } = encodePayload(request.payload)
      const payload = decodePayload(type, bytes)
      this.#judge(wallet, { request, payload, bytes, intentId })
      return this.#signed(wallet, request, intentId)
    } catch (error) {
      return this.#refused(error)
    }
  }

  #refused(error: unknown): SignOutcome {
    if (error instanceof NonceTaken) return failed('NONCE_TAKEN', error.heldBy)
    if (error instanceof FrozenHere) return error.outcome
    if (error instanceof PolicyDenied) return { ...failed('POLICY_DENIED'), denial: error.denial }
    if (!(error instanceof Refusal)) throw error
    return failed(error.code)
  }

  /** In the order of `approve-batch.ts`. @throws Refusal */
  #judge(wallet: QuorumWallet, asked: Asked): void {
    const { request, payload, bytes, intentId } = asked
    const { walletId, replaces, keyId } = request
    const kind = keyId === null ? 'service' : 'user'
    if (payload.kind === 'router-intent') {
      this.#requireThawed(wallet, keyId)
      this.#checkKey(wallet, asked)
      return
    }
    const key = `${walletId} ${payload.chainId} ${payload.nonce}`
    const held = this.#ledger.get(key) ?? null
    const cancels = isCancel(payload, Buffer.from(lower(wallet.address).slice(2), 'hex'))
    const rests = payload.kind === 'authorization' ? null : approvalOf(request)
    const fresh = entryOf(intentId, payload, bytes, rests)
    const relation = relate(held, fresh, replaces ?? ABSENT, cancels)
    const entry = relation === 'new' ? fresh : underApproval(held, fresh, relation)
    if (relation === 'fee-bump' && entry.approval !== null) {
      requireGas(payload, entry.approval.maxNativeWei)
    }
    if (!isReplacement(relation, held, cancels)) this.#requireThawed(wallet, keyId)
    if (needsGrant(relation, kind)) this.#checkKey(wallet, asked)
    this.#ledger.set(key, entry)
  }

  #checkKey({ walletId, userId }: QuorumWallet, { request, payload }: Asked): void {
    const { keyId, proofKey } = request
    if (keyId === null) return
    const live = this.grants.live(keyId, walletId, payload.chainId, this.#nowMs)
    const { key } = live
    const approval = approvalOf(request)
    const isProven = key.proofKey !== null && proofKey !== null && isSame(key.proofKey, proofKey)
    // Without a live key nothing new is signed.
    if (!isProven && (proofKey !== null || approval === null)) {
      throw new Refusal('KEY_PROOF_MISSING', 'no proof of the API key')
    }
    const ids = { walletId: ulidBytes(walletId), keyId: ulidBytes(keyId) }
    const ownerHash = sha256(Buffer.from(userId ?? ''))
    const resting = {
      intent: { ...ids, approval },
      ...{ payload, wallet: { certificate: { ownerHash } } },
    }
    try {
      this.#judgePolicies(resting, approval !== null, live)
    } catch (error) {
      if (NEVER_ASKED.has(codeOf(error))) this.#wrong(`a signature was asked for: ${String(error)}`)
      throw error
    }
    this.approvals.bind(resting)
  }

  /** @throws Refusal */
  #judgePolicies(resting: RestingIntent, rests: boolean, { key, path }: LiveGrant): void {
    const standing = rests ? this.approvals.standingOf(resting, this.#nowMs) : null
    const bound = path.map(({ lineageId, terms: { policy } }, above) => {
      const own = above === 0 ? (key.ceiling?.policy ?? null) : null
      const policies = [policy, own].filter((one) => one !== null)
      return { policies, usage: this.#usage.get(lineageId) ?? NO_POLICY_LEDGER }
    })
    if (bound.every(({ policies }) => policies.length === 0)) return
    const usages = judgePath(bound, resting.payload, this.#nowMs, standing)
    for (const [at, after] of usages.entries()) {
      const lineageId = path[at]?.lineageId
      if (after !== null && lineageId !== undefined) this.#usage.set(lineageId, after)
    }
  }

  #signed(wallet: QuorumWallet, { payload }: SignRequest, intentId: Uint8Array): SignOutcome {
    const from = lower(wallet.address)
    if (payload.type === 'router-intent') {
      const { nonce, deadline } = payload.intent
      const { chainId } = payload
      const signature = this.#signatures.intent({ chainId, account: from, nonce, deadline })
      return { ok: true, signature, intentId, coSignature: new Uint8Array(64) }
    }
    if (payload.type === 'authorization') {
      return { ok: true, signature: this.#signatures.authorization(from, payload), intentId }
    }
    const { raw, hash } = this.#signatures.transaction(from, payload)
    const signature = new Uint8Array(65)
    return { ok: true, signature, intentId, rawTransaction: raw, txHash: hash }
  }

  #serviceWallet(walletId: SubWalletId) {
    const digits = createHash('sha256').update(walletId).digest('hex').slice(0, 40)
    const address: Address = `0x${digits}`
    this.register({ walletId, userId: null, address })
    return { walletId, address, epoch: 0 }
  }

  /** @throws FrozenHere */
  #requireThawed({ walletId, userId }: QuorumWallet, keyId: KeyId | null): void {
    const lineageId = keyId === null ? null : this.grants.lineageOf(keyId)
    const path = lineageId === null ? [] : this.grants.pathOf(lineageId)
    for (const [scope, name] of [
      ['user', `user ${userId}`],
      ['wallet', `wallet ${walletId}`],
      ...path.map((above) => ['key', `key ${above.lineageId}`] as const),
    ] as const) {
      if (this.#frozen.has(name)) throw new FrozenHere(scope, this.#nowMs)
    }
  }
}

class FrozenHere extends Refusal {
  readonly outcome: SignOutcome

  constructor(scope: FrozenSubject['scope'], sinceMs: number) {
    super('FROZEN', scope)
    this.outcome = { ok: false, reason: 'FROZEN', frozen: { scope, sinceMs } }
  }
}

function approvalOf({ approval }: SignRequest): Intent['approval'] {
  if (approval === undefined) return null
  const { approvalId, expiresAtMs, maxNativeWei } = approval
  return { approvalId: ulidBytes(approvalId), expiresAtMs, maxNativeWei }
}

function keyIdOf(bytes: Uint8Array): KeyId {
  return `${ID_PREFIX.key}${ulidOfBytes(bytes)}` as KeyId
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0
}

function nameOf({ scope, userId, walletId, lineageId }: FrozenSubject): string {
  return `${scope} ${scope === 'user' ? userId : scope === 'wallet' ? walletId : lineageId}`
}
