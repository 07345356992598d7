import { freezesAddress, subWalletAddress } from '../../actors/addresses.js'
import type { ActorAddress, AskResult, ReplyToken } from '../../actors/runtime/actor.js'
import { decodeSendReply, type EncodedSendReply } from '../../actors/sub-wallet/send-reply.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import { freezeName } from '../../src/domain/freeze.js'
import {
  type Address,
  ENTROPY_BYTES,
  ID_PREFIX,
  type KeyId,
  type LineageId,
  type SubWalletId,
  type TxId,
  type UserId,
  ulidBody,
} from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import type { SubWallet } from '../../src/domain/wallet.js'
import type { Answer } from '../../src/operations/context.js'
import type { OperationPorts } from '../../src/operations/ports.js'
import type { AskedAnywhere } from './asked-anywhere.js'
import { weiOf } from './coins.js'
import { Endpoints } from './endpoints.js'
import type { Features } from './features.js'
import { type KnownKey, KnownKeys } from './known-keys.js'
import { RECIPIENTS } from './markets.js'
import { Owner } from './owner.js'
import { policyOf } from './policies.js'
import type { Quorum } from './quorum.js'
import type { Draw } from './random.js'
import type { Scheduler } from './scheduler.js'
import type { Service } from './service.js'
import { chainIdsOf, usersOf } from './setting.js'
import { swapOf } from './swaps.js'

/** What a caller knows of a call that it wants once. */
export interface Wanted {
  readonly key: string | null
  readonly kind: 'send' | 'swap'
  readonly madeWith: KnownKey
  readonly chainId: number
  readonly micros: bigint
  /** Of all attempts, and when each was made. */
  readonly txIds: Map<TxId, number>
  /** Attempts whose caller has no answer, and never will. */
  unheard: number
  /** What it was told of. */
  acknowledged: TxId | null
  refusedWith: string | null
}

interface Waiting {
  readonly wanted: Wanted | null
  /** What forbade it when it was asked, and ever since. */
  forbidden: string | null
  readonly done: (() => void) | null
  readonly what: string
}

/** Of what people and agents ask of the front end, what goes on while writes are stopped. */
const TAKES_AWAY = /^(revoke|decline|withdraw)/
const REQUEST_OF_OWNER = 'request-of-owner'
/** Forbids nobody to outbid anything. */
const CAP_OF_THE_RICH = 1_000_000_000_000n
/** While it is being lifted. */
const FROZEN_AGAIN_MS_MAX = 60

/** Agents: they ask, wait, lose their connection and ask again. */
export class Callers {
  readonly wanted: Wanted[] = []
  readonly wallets: SubWallet[] = []
  readonly known = new KnownKeys()
  readonly owner: Owner
  readonly endpoints: Endpoints
  /** Of commands that wait for an answer. */
  readonly waiting = new Map<ReplyToken, Waiting>()
  readonly wrong: string[] = []
  /** One that was taken over from and lives: who repeats a call may have made it there. */
  elsewhere: () => Service | null = () => null
  /** Of a cluster that is asked at any machine. */
  anywhere: AskedAnywhere | null = null
  /** By name, what was ever frozen, and how it is lifted. */
  readonly #frozen = new Map<string, () => void>()
  /** One of each wallet, there from the beginning. */
  readonly #firstKeys: ApiKey[] = []
  readonly #features: Features
  readonly #chainIds: readonly number[]
  readonly #draw: Draw
  readonly #scheduler: Scheduler
  readonly #note: (line: string) => void
  #service: Service
  #tokens = 0
  #sends = 0

  constructor(
    features: Features,
    draw: Draw,
    scheduler: Scheduler,
    quorum: Quorum,
    service: Service,
    note: (line: string) => void,
  ) {
    this.#features = features
    this.#chainIds = chainIdsOf(features)
    this.#draw = draw
    this.#scheduler = scheduler
    this.#service = service
    this.#note = note
    const ports = () => this.#service.operations
    this.owner = new Owner(features, draw, scheduler, this.known, quorum, {
      operation: (what, run, done) => this.#operation(what, run, done),
      get ports() {
        return ports()
      },
      note,
    })
    const reader = () => this.#service.reader
    this.endpoints = new Endpoints(draw, scheduler, {
      tell: (address, command, what) => this.#tell(address, command, what),
      id: (prefix) => this.#id(prefix),
      isStopped: () => this.#isStopped(this.#service),
      get reader() {
        return reader()
      },
    })
    for (let i = 0; i < features.wallets; i++) this.#makeWallet(i, quorum)
    if (features.hasWebhooks) for (const id of usersOf(features)) this.endpoints.register(id)
  }

  /** Its connections are gone with it, and with them answers. */
  restarted(service: Service): void {
    for (const { wanted } of this.waiting.values()) if (wanted !== null) wanted.unheard++
    this.waiting.clear()
    this.#service = service
    // What was not acknowledged is asked for again.
    for (const [i, wallet] of this.wallets.entries()) {
      if (service.reader.wallets.header(wallet.subWalletId) === undefined) this.#create(i)
      else if (service.reader.keys.byId(this.#firstKeys[i]?.keyId as KeyId) === undefined)
        this.#key(i)
    }
    this.endpoints.restarted()
  }

  replied(token: ReplyToken, result: AskResult): void {
    const waiting = this.waiting.get(token)
    if (waiting === undefined) {
      this.wrong.push(`token ${token} was answered without being asked, or twice`)
      return
    }
    this.waiting.delete(token)
    const { wanted, what, forbidden, done } = waiting
    if (result.ok) done?.()
    this.#note(`answer ${what} ${result.ok ? 'ok' : result.fault.code}`)
    if (wanted !== null) this.heard(wanted, what, forbidden, result)
  }

  /** @param forbidden what forbade it when it was asked, and ever since */
  heard(wanted: Wanted, what: string, forbidden: string | null, result: AskResult): void {
    if (!result.ok) {
      wanted.refusedWith = result.fault.code
      return
    }
    const { txId } = decodeSendReply(result.value as EncodedSendReply)
    if (this.#service.reader.transactions.byId(txId) === undefined) {
      this.wrong.push(`${txId} was acknowledged and is not on disk`)
    }
    if (wanted.key !== null && wanted.acknowledged !== null && wanted.acknowledged !== txId) {
      this.wrong.push(`${wanted.key} was acknowledged as ${wanted.acknowledged} and as ${txId}`)
    }
    // It may have waited for nodes until what forbade it was lifted, and be forbidden once more.
    const isStill = forbidden !== null && this.known.whyForbidden(wanted.madeWith) !== null
    if (isStill && wanted.txIds.size === 1) {
      this.wrong.push(`${what} was taken, of a key that was ${forbidden}`)
    }
    wanted.acknowledged = txId
    wanted.refusedWith = null
  }

  /** Something that somebody wants. */
  act(): void {
    const draw = this.#draw
    const {
      hasKeyChanges,
      hasFreezes,
      hasCancels,
      hasApprovals,
      hasSubKeys,
      hasRotations,
      hasWebhooks,
    } = this.#features
    const drawn = draw.integer(100)
    const again = this.wanted.filter(({ key }) => key !== null).slice(-6)
    if (drawn < 20 && again.length > 0) this.#ask(draw.pick(again))
    else if (drawn < 24 && hasKeyChanges) this.owner.changeKey()
    else if (drawn < 30 && hasFreezes) this.#freeze()
    else if (drawn < 36 && hasCancels) this.#cancel()
    else if (drawn < 44 && hasSubKeys) this.owner.makeKey()
    else if (drawn < 48 && hasRotations) this.owner.rotate()
    else if (drawn < 51 && hasWebhooks) this.endpoints.act()
    else if (drawn >= 72 && hasApprovals && this.owner.decide()) return
    else this.#want()
  }

  #want(): void {
    const draw = this.#draw
    const { hasSponsored } = this.#features
    const madeWith = draw.pick(this.known.keys)
    const n = ++this.#sends
    const wanted: Wanted = {
      key: draw.chance(0.6) ? `idempotent-${n}` : null,
      kind: hasSponsored && draw.chance(0.4) ? 'swap' : 'send',
      madeWith,
      chainId: draw.pick(this.#chainIds),
      micros: BigInt(draw.between(1, 900_000)),
      txIds: new Map(),
      unheard: 0,
      acknowledged: null,
      refusedWith: null,
    }
    this.wanted.push(wanted)
    this.#ask(wanted)
  }

  #ask(wanted: Wanted): void {
    const { madeWith, kind, key } = wanted
    // The front end knows no key before it is on disk, which may be slow.
    if (this.#service.reader.keys.byId(madeWith.keyId) === undefined) return
    if (this.anywhere !== null) {
      this.anywhere.ask(wanted)
      return
    }
    if (this.#isStopped(this.#service)) return
    const command = this.#commandOf(wanted)
    const again = wanted.txIds.size > 1 ? ' again' : ''
    const name = `${kind} ${command.txId.slice(-6)} ${key ?? '-'}${again}`
    this.#tell(subWalletAddress(madeWith), command, name, wanted)
    const zombie = key === null ? null : this.elsewhere()
    const other = zombie === null || this.#isStopped(zombie) ? null : zombie
    // Nobody there answered in time, and what is heard from there now says nothing any more.
    other?.deliver(subWalletAddress(madeWith), this.#commandOf(wanted), ++this.#tokens)
  }

  /** Nothing that moves value is begun there, as the front end says where clocks may be wrong. */
  #isStopped(service: Service): boolean {
    return this.#features.parted !== null && service.refusal() !== null
  }

  /** @returns what is sent to whoever is asked for it once more, and what forbids it now */
  attempt(wanted: Wanted): { command: { readonly txId: TxId }; forbidden: string | null } {
    const forbidden = this.known.whyForbidden(wanted.madeWith)
    return { command: this.#commandOf(wanted), forbidden }
  }

  get isWaiting(): boolean {
    return this.waiting.size + (this.anywhere?.waiting.size ?? 0) > 0
  }

  /** Each time with an id of its own, as the front end gives it one. */
  #commandOf(wanted: Wanted): { readonly txId: TxId } {
    const { madeWith, kind, chainId, micros, key } = wanted
    const { keyId, proofKey } = madeWith
    const txId = this.#id<TxId>(ID_PREFIX.tx)
    wanted.txIds.set(txId, this.#scheduler.nowMs)
    const common = {
      ...{ txId, requestId: `request-${txId}`, keyId, proofKey },
      idempotency: key === null ? null : { key, bodyHash: `${kind} ${chainId} ${micros}` },
    }
    const to = RECIPIENTS[Number(micros % 2n)] as Address
    const call = { chainId, to, value: weiOf(chainId, micros), data: '0x' }
    return kind === 'send'
      ? { ...common, ...{ type: 'send', kind, call } }
      : {
          ...{ ...common, ...swapOf(chainId, micros) },
          ...{ type: 'sponsor-call', kind, fingerprint: `${txId}` },
        }
  }

  #makeWallet(i: number, quorum: Quorum): void {
    const subWalletId = this.#id<SubWalletId>(ID_PREFIX.subWallet)
    const keyId = this.#id<KeyId>(ID_PREFIX.key)
    const address: Address = `0x${(0xa000 + i).toString(16).padStart(40, '1')}`
    const createdAtMs = this.#scheduler.nowMs
    const users = usersOf(this.#features)
    const userId = users[i % users.length] as UserId
    this.wallets.push({
      ...{ subWalletId, userId, name: `wallet ${i}`, address, epoch: 0, createdAtMs },
    })
    const cap = this.#draw.pick([3_000_000n, 60_000_000n])
    const dailyLimitMicros = this.#features.hasDearEnd ? CAP_OF_THE_RICH : cap
    const policy = policyOf(this.#features, this.#draw)
    const key: ApiKey = {
      ...INITIAL_POLICY,
      ...{ keyId, lineageId: keyId as string as LineageId, subWalletId, userId },
      ...{ name: 'agent', permission: 'trade', dailyLimitMicros },
      allowedChains: [...this.#chainIds],
      ...{ environment: 'test', secretHash: keyId, secretPrefix: 'sk_test_aaaa', createdAtMs },
      ...{ rotatedFrom: null, rotatedAtMs: null, revokedAtMs: null },
      ...{ policy, mayDelegate: this.#features.hasSubKeys },
      ...(policy === null ? {} : { policyVersion: 1 }),
    }
    this.#firstKeys.push(key)
    const proofKey = new Uint8Array(32).fill(i + 1)
    this.known.add(key, proofKey)
    quorum.register({ walletId: subWalletId, userId, address })
    quorum.grant(key, proofKey)
    this.#create(i)
  }

  #create(i: number): void {
    const wallet = this.wallets[i] as SubWallet
    this.#tell(subWalletAddress(wallet), { type: 'create-wallet', wallet }, 'create-wallet')
    this.#key(i)
  }

  #key(i: number): void {
    const key = this.#firstKeys[i] as ApiKey
    this.#tell(subWalletAddress(key), { type: 'register-key', key }, 'register-key')
  }

  #freeze(): void {
    const { keyId, lineageId, subWalletId, userId } = this.#draw.pick(this.known.keys)
    const scope = this.#draw.pick(['user', 'wallet', 'key'] as const)
    const id = scope === 'user' ? null : scope === 'wallet' ? subWalletId : lineageId
    const isOfKey = scope === 'key'
    const target = {
      ...{ scope, name: freezeName(scope, id) },
      subWalletId: scope === 'user' ? null : subWalletId,
      lineageId: isOfKey ? lineageId : null,
      keyId: isOfKey ? keyId : null,
    }
    // Names of freezes are a user's own.
    const name = scope === 'user' ? `user:${userId}` : target.name
    if (this.#draw.chance(0.5)) {
      this.#askToFreeze(name, userId, target)
      return
    }
    this.#lift(name, userId, target)
    // Another person of the user's, or a breaker.
    if (this.#features.liftsRefused === 0 || this.#draw.chance(0.5)) return
    const afterMs = this.#draw.integer(FROZEN_AGAIN_MS_MAX)
    this.#scheduler.after(afterMs, () => this.#askToFreeze(name, userId, target))
  }

  #askToFreeze(name: string, userId: UserId, target: object): void {
    this.#frozen.set(name, () => this.#lift(name, userId, target))
    const nowMs = this.#scheduler.nowMs
    const of = { target, reason: null, by: 'user', requestId: REQUEST_OF_OWNER, nowMs }
    this.#tell(freezesAddress(userId), { type: 'freeze', ...of }, `freeze ${name}`, null, () =>
      this.#noteFrozen(name),
    )
  }

  /** What waits for somebody goes on: a lane with a hole below a frozen call, an endpoint that is off. */
  liftAll(): void {
    for (const lift of this.#frozen.values()) lift()
    this.endpoints.switchOn()
  }

  #lift(name: string, userId: UserId, target: object): void {
    // From when its end is asked for, it may be over.
    this.#allow(name)
    const of = { target, requestId: REQUEST_OF_OWNER, consoleToken: 'token', authorization: null }
    this.#tell(freezesAddress(userId), { type: 'unfreeze', ...of }, `unfreeze ${name}`)
  }

  #allow(name: string): void {
    this.known.allow(name)
    for (const one of this.waiting.values()) {
      if (one.wanted === null) continue
      if (this.known.whyForbidden(one.wanted.madeWith) === null) one.forbidden = null
    }
  }

  #noteFrozen(name: string): void {
    const isBeingLifted = [...this.waiting.values()].some(({ what }) => what === `unfreeze ${name}`)
    if (!isBeingLifted) this.known.forbid(name, 'frozen')
  }

  #cancel(): void {
    const acknowledged = this.wanted.filter((it) => it.acknowledged !== null).slice(-5)
    if (acknowledged.length === 0) return
    const { madeWith, acknowledged: txId } = this.#draw.pick(acknowledged)
    const nowMs = this.#scheduler.nowMs
    const command = { type: 'cancel-transaction', txId, nowMs }
    this.#tell(subWalletAddress(madeWith), command, `cancel ${txId?.slice(-6)}`)
  }

  #tell(
    address: ActorAddress,
    command: object,
    what: string,
    wanted: Wanted | null = null,
    done: (() => void) | null = null,
  ): void {
    const token = ++this.#tokens
    const forbidden = wanted === null ? null : this.known.whyForbidden(wanted.madeWith)
    this.waiting.set(token, { wanted, what, forbidden, done })
    this.#note(`ask ${what}`)
    this.#service.deliver(address, command, token)
  }

  /** Through the front end, which goes with its process. */
  #operation<T>(
    what: string,
    run: (ports: OperationPorts) => Answer<T> | Promise<Answer<T>>,
    done: (value: T) => void,
  ): void {
    if (this.#isStopped(this.#service) && !TAKES_AWAY.test(what)) {
      this.#note(`stopped ${what}`)
      return
    }
    const token = ++this.#tokens
    this.waiting.set(token, { wanted: null, what, forbidden: null, done: null })
    this.#note(`ask ${what}`)
    const answered = async () => {
      const answer = await run(this.#service.operations)
      if (!this.waiting.delete(token)) return
      this.#note(`answer ${what} ${answer.ok ? 'ok' : answer.fault.code}`)
      if (answer.ok) done(answer.value)
    }
    answered().catch((error: unknown) => {
      this.wrong.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
    })
  }

  #id<Id extends string>(prefix: string): Id {
    return (prefix + ulidBody(this.#scheduler.nowMs, this.#draw.bytes(ENTROPY_BYTES))) as Id
  }
}
