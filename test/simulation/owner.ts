import type { Approval } from '../../src/domain/approval.js'
import type { KeyId, LineageId, UserId } from '../../src/domain/ids.js'
import { isoTime } from '../../src/domain/iso-time.js'
import { formatUsd } from '../../src/domain/money.js'
import { createChildKey } from '../../src/operations/agent/create-child-key.js'
import { withdrawTransaction } from '../../src/operations/agent/withdraw-transaction.js'
import { approveCall, declineCall } from '../../src/operations/console/approvals.js'
import { patchKey, revokeKey, rotateKey } from '../../src/operations/console/keys.js'
import type { AgentContext, Answer, ConsoleContext } from '../../src/operations/context.js'
import type { OperationPorts } from '../../src/operations/ports.js'
import { deriveProofKey } from '../../src/service-custody/key-proof.js'
import type { Features } from './features.js'
import type { KnownKey, KnownKeys } from './known-keys.js'
import type { Quorum } from './quorum.js'
import { PEOPLE } from './quorum-approvals.js'
import type { Draw } from './random.js'
import type { Scheduler } from './scheduler.js'

/** What owners and agents ask of the front end, whose own code answers. */
export interface Asking {
  /** @param done once it was answered with success */
  operation<T>(
    what: string,
    run: (ports: OperationPorts) => Answer<T> | Promise<Answer<T>>,
    done: (value: T) => void,
  ): void
  readonly ports: OperationPorts
  readonly note: (line: string) => void
}

const HOUR_MS = 3_600_000
const DECLINE_EVERY_MS = 10_000
const DECLINE_SOON_MS_MAX = 3_000

/** An owner who changes keys and decides about calls, and agents that make keys of their own. */
export class Owner {
  /** Calls that were declined or withdrawn, as somebody was told. */
  readonly stopped = new Set<string>()
  readonly #draw: Draw
  readonly #scheduler: Scheduler
  readonly #known: KnownKeys
  readonly #quorum: Quorum
  readonly #asking: Asking
  /** Calls wait for days. */
  readonly #isPatient: boolean
  #requests = 0

  constructor(
    { hasPatience }: Features,
    draw: Draw,
    scheduler: Scheduler,
    known: KnownKeys,
    quorum: Quorum,
    asking: Asking,
  ) {
    this.#isPatient = hasPatience
    this.#draw = draw
    this.#scheduler = scheduler
    this.#known = known
    this.#quorum = quorum
    this.#asking = asking
  }

  /** @returns false where nobody is asked about anything */
  decide(): boolean {
    const waiting = this.#waiting()
    if (waiting.length === 0) return false
    const draw = this.#draw
    const approval = draw.pick(waiting)
    const { approvalId, txId, userId } = approval
    const person = draw.pick(PEOPLE)
    const drawn = draw.integer(100)
    const name = `${txId.slice(-6)} by ${person}`
    const input = { approval_id: approvalId }
    const context = this.#context(userId, person)
    if (drawn < 40) {
      this.#asking.operation(
        `approve ${name}`,
        (ports) => approveCall(ports)(context, input),
        () => this.#declineSoon(approval),
      )
    } else if (drawn < 75) {
      const { nowMs } = this.#quorum
      const decision = draw.chance(0.85) ? 'approve' : 'decline'
      const isTaken = this.#quorum.approvals.decideAtPage(approvalId, person, decision, nowMs)
      this.#asking.note(`page ${decision} ${name}${isTaken ? '' : ' too late'}`)
      if (decision === 'approve') this.#declineSoon(approval)
    } else if (drawn < 88) {
      const decline = (ports: OperationPorts) => declineCall(ports)(context, input)
      this.#asking.operation(`decline ${name}`, decline, () => void this.stopped.add(txId))
    } else this.#withdraw(approval)
    return true
  }

  /** Whatever is shown at the page, as long as anything comes to be. */
  declineAll(): void {
    for (const approval of this.#waiting()) this.#declineAtPage(approval)
    this.#scheduler.after(DECLINE_EVERY_MS, () => this.declineAll())
  }

  /** Somebody is against what another one approved, and it may be under way already. */
  #declineSoon(approval: Approval): void {
    if (!this.#isPatient || !this.#draw.chance(0.5)) return
    const afterMs = this.#draw.integer(DECLINE_SOON_MS_MAX)
    this.#scheduler.after(afterMs, () => this.#declineAtPage(approval))
  }

  #declineAtPage({ approvalId, txId }: Approval): void {
    const { nowMs } = this.#quorum
    const isTaken = this.#quorum.approvals.decideAtPage(approvalId, 'alice', 'decline', nowMs)
    if (isTaken) this.#asking.note(`page decline ${txId.slice(-6)} by alice`)
  }

  #withdraw({ txId, keyId }: Approval): void {
    const key = this.#known.keys.find((one) => one.keyId === keyId)
    const known = this.#asking.ports.reader.keys.byId(keyId)
    if (key === undefined || known === undefined) return
    const context = { ...this.#agent(key), key: known }
    this.#asking.operation(
      `withdraw ${txId.slice(-6)}`,
      (ports) => withdrawTransaction(ports)(context, { tx_id: txId }),
      () => void this.stopped.add(txId),
    )
  }

  changeKey(): void {
    const draw = this.#draw
    const { keyId, lineageId, userId } = draw.pick(this.#known.keys)
    if (draw.chance(0.3)) {
      const revoke = (ports: OperationPorts) =>
        revokeKey(ports)(this.#context(userId), { key_id: keyId })
      this.#asking.operation(`revoke-key ${keyId.slice(-6)}`, revoke, () =>
        this.#noteRevoked(keyId),
      )
      return
    }
    const micros = BigInt(draw.pick([1_000_000, 2_500_000, 80_000_000]))
    // Whether it is taken or not, from here on it may have it.
    this.#known.noteCap(lineageId, micros)
    const input = { key_id: keyId, daily_limit_usd: formatUsd(micros) }
    const patch = (ports: OperationPorts) => patchKey(ports)(this.#context(userId), input)
    this.#asking.operation(`patch-key ${keyId.slice(-6)}`, patch, NOTHING)
  }

  rotate(): void {
    const { keyId, userId } = this.#draw.pick(this.#known.keys)
    this.#asking.operation(
      `rotate-key ${keyId.slice(-6)}`,
      (ports) => rotateKey(ports)(this.#context(userId), { key_id: keyId }),
      ({ key_id, secret }) => this.#learn(key_id as KeyId, secret, null),
    )
  }

  /** An agent makes a key for another. */
  makeKey(): void {
    const draw = this.#draw
    const maker = draw.pick(this.#known.keys)
    const key = this.#asking.ports.reader.keys.byId(maker.keyId)
    if (key === undefined) return
    const micros = BigInt(draw.pick([300_000, 1_000_000, 2_000_000]))
    const input = {
      ...{ name: 'of a key', permission: 'trade' as const, allowed_chains: [...key.allowedChains] },
      ...{ daily_limit_usd: formatUsd(micros), monthly_limit_usd: formatUsd(micros * 2n) },
      may_delegate: draw.chance(0.6),
      expires_at: isoTime(this.#scheduler.nowMs + draw.pick([0.02, 1, 24]) * HOUR_MS),
    }
    const context = { ...this.#agent(maker), key }
    this.#asking.operation(
      `make-key ${maker.keyId.slice(-6)}`,
      (ports) => createChildKey(ports)(context, input),
      ({ key_id, secret }) => this.#learn(key_id as KeyId, secret, maker.lineageId),
    )
  }

  /** Its successors, and what it made, end with it; what it is the predecessor of goes on. */
  #noteRevoked(keyId: KeyId): void {
    this.#known.forbid(keyId, 'revoked')
    const stored = this.#asking.ports.reader.fresh().keys.byId(keyId)
    if (stored?.rotatedAtMs === null) this.#known.forbid(`lineage:${stored.lineageId}`, 'revoked')
  }

  /** @param madeBy null: it takes the place of another */
  #learn(keyId: KeyId, secret: string, madeBy: LineageId | null): void {
    const key = this.#asking.ports.reader.fresh().keys.byId(keyId)
    if (key === undefined) throw new Error(`${keyId} was answered and is not on disk`)
    this.#known.add(key, deriveProofKey(secret), madeBy)
  }

  #waiting(): Approval[] {
    const { approvals, wallets } = this.#asking.ports.reader.fresh()
    const of = new Map(this.#known.keys.map(({ subWalletId, userId }) => [subWalletId, userId]))
    return [...of].flatMap(([id, userId]) =>
      wallets.header(id) === undefined ? [] : [...approvals.waitingOf(id, userId)],
    )
  }

  #context(userId: UserId, person = 'token'): ConsoleContext {
    const requestId = `request-of-owner-${++this.#requests}`
    const of = { userId, personId: userId, role: 'owner' as const }
    return { requestId, ...of, email: null, token: person, presentedKey: null }
  }

  #agent({ proofKey }: KnownKey): Omit<AgentContext, 'key'> {
    const requestId = `request-of-agent-${++this.#requests}`
    return { requestId, proofKey, idempotency: null, guardsDuplicates: false }
  }
}

const NOTHING = () => undefined
