import { createHash } from 'node:crypto'
import type { Timers } from '../../src/clock/timers.js'
import type { ChainConfig } from '../../src/config/chains.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import { ONE_CELL } from '../../src/domain/cells.js'
import type { Address, SubWalletId } from '../../src/domain/ids.js'
import { FaultError, fault } from '../../src/errors/fault.js'
import type { SocketClient, SocketClientOptions } from '../../src/quorum-protocol/client.js'
import { codeOf, Refusal } from '../../src/quorum-protocol/refusal.js'
import type { RegistryHolder } from '../../src/quorum-protocol/registry-holder.js'
import {
  announceStart,
  type JournalLeadership,
  SERVICE_BOOT_BYTES,
  type ServiceStart,
} from '../../src/quorum-protocol/service-boot.js'
import type { CoSigner, SignOutcome, SignRequest } from '../../src/service-custody/co-signer.js'
import { coSignerFault } from '../../src/service-custody/co-signer-fault.js'
import type { Clock } from './clocks.js'
import { type Links, USER_SIDE } from './links.js'
import type { Leader } from './machines.js'
import { Pipe, type PipeFaults, type Serve } from './pipe.js'
import type { Planted } from './planted.js'
import { QuorumApprovals } from './quorum-approvals.js'
import { QuorumFreezes } from './quorum-freezes.js'
import { QuorumGrants } from './quorum-grants.js'
import { type QuorumWallet, QuorumWallets, registryFor, SIGNERS } from './quorum-keys.js'
import { QuorumSigner } from './quorum-signer.js'
import type { Draw } from './random.js'
import { arrive, type Life, type Scheduler } from './scheduler.js'
import { type ServiceSigning, serviceSigning } from './service-signing.js'
import { lower, type Signatures } from './signatures.js'
import { UserSide } from './user-side.js'
import { ASKED_LATE, type Ask, unknown, userSideAsks } from './user-side-asks.js'

export interface QuorumOptions {
  readonly scheduler: Scheduler
  readonly draw: Draw
  readonly signatures: Signatures
  readonly configs: readonly ChainConfig[]
  readonly planted: Planted | null
  /** Starts of the service tell which epoch of a journal is theirs. */
  readonly hasJournal: boolean
  readonly userSideClock: Clock
  /** It may differ from those of machines. */
  readonly hasOwnClock: boolean
  readonly note: (line: string) => void
  readonly wrong: (what: string) => void
  /** A start whose journal another took hears that it is none any more. */
  readonly fenced: (life: Life) => void
}

/** Of a lost answer the service knows no more after this long. */
const TIMEOUT_MS = 5_000
const CALM: PipeFaults = {
  ...{ latencyMsMax: 20, unsent: 0, unanswered: 0, late: 0, doubled: 0, overtaken: 0 },
}
const FLUSH_MS_MAX = 8
const NO_CO_SIGNATURE = { publicKey: new Uint8Array(65), signature: new Uint8Array(64) }
const JOURNAL = '0a'.repeat(16)

/**
 * The other two domains, as the service reaches them. They outlive it. What is asked to be signed goes
 * through the code of all three; what else is asked of the user side is kept by its rules.
 */
export class Quorum {
  faults: PipeFaults = CALM
  /** Until then nothing reaches it. */
  awayUntilMs = 0
  /** Of liftings of freezes, how many it turns down. */
  liftsRefused = 0
  readonly grants = new QuorumGrants()
  readonly approvals = new QuorumApprovals()
  readonly freezes = new QuorumFreezes()
  readonly #wallets = new QuorumWallets()
  readonly #addresses = new Map<SubWalletId, Address>()
  readonly #registry: RegistryHolder
  readonly #userSide: UserSide
  readonly #signer: QuorumSigner
  readonly #options: QuorumOptions
  /** What each start of the service announces itself as. */
  readonly #starts = new WeakMap<Life, ServiceStart>()
  /** Where each runs. */
  readonly #places = new WeakMap<Life, Pick<Leader, 'machine' | 'clock'>>()
  /** What may part machines from the user side; null: nothing does. */
  #links: Links | null = null
  #epoch = 0
  readonly #signerPipes = new Set<Pipe>()
  readonly #userPipes = new Set<Pipe>()

  constructor(options: QuorumOptions) {
    this.#options = options
    const { scheduler, draw, configs, planted, wrong } = options
    this.#registry = registryFor(configs)
    this.#userSide = new UserSide({
      ...{ scheduler, draw, registry: this.#registry, wallets: this.#wallets, wrong },
      ...{ grants: this.grants, approvals: this.approvals, freezes: this.freezes },
      approvesEarly: planted?.approvesEarly === true,
      forgetsEvidence: planted?.forgetsEvidence === true,
      takesDeadStarts: planted?.takesDeadStarts === true,
      ignoresLeaders: planted?.ignoresLeaders === true,
      servesEarlier: planted?.parted?.servesEarlier === true,
      ...{ clock: options.userSideClock, hasOwnClock: options.hasOwnClock },
      note: options.note,
      ended: () => {
        for (const pipe of this.#userPipes) pipe.reset()
      },
    })
    this.#signer = new QuorumSigner(this.#registry, this.#userSide, wrong)
  }

  /** Of a cluster: which epoch of the journal a start of the service has. To be said before it serves. */
  owns({ life, machine, clock }: Leader, leader: JournalLeadership): void {
    this.#places.set(life, { machine, clock })
    this.#starts.set(life, {
      boot: this.#options.draw.bytes(SERVICE_BOOT_BYTES),
      leadership: leader,
    })
    this.#epoch = Math.max(this.#epoch, leader.epoch)
  }

  /** Another has taken the journal since: it may be fenced, and is told nothing more. */
  #isDeposed(life: Life): boolean {
    const leader = this.#starts.get(life)?.leadership ?? null
    return leader !== null && leader.epoch < this.#epoch
  }

  /** From now on the user side is on a machine of its own. */
  isReachedBy(links: Links): void {
    this.#links = links
  }

  /** One from which the journal was taken, and which does not know, asks for something that is no signature. */
  askDeposed(): void {
    const { draw, note } = this.#options
    const asking = this.#userSide.askDeposed(draw, draw.pick(ASKED_LATE))
    void asking?.then((said) => note(`a deposed-owner is told ${said}`))
  }

  register(wallet: QuorumWallet): void {
    this.#wallets.register(wallet)
    this.#addresses.set(wallet.walletId, wallet.address)
  }

  grant(key: ApiKey, proofKey: Uint8Array): void {
    this.grants.introduce(key, proofKey)
  }

  calm(): void {
    this.faults = CALM
    this.awayUntilMs = 0
    this.liftsRefused = 0
    this.#userSide.calm()
  }

  /** Of the user side. */
  set diskRefusals(refusals: number) {
    this.#userSide.diskFaults = { ...{ latencyMsMax: FLUSH_MS_MAX }, refusals }
  }

  /** Of the same, how many commits take seconds. */
  set diskStalls(stalls: number) {
    this.#userSide.diskStalls = stalls
  }

  fillUserSideDisk(untilMs: number): void {
    this.#options.note("the user side's disk is full")
    this.#userSide.fullUntilMs = untilMs
  }

  wrongAtRest(): string[] {
    return this.#userSide.wrongAtRest()
  }

  killUserSide(isPowerLoss: boolean): void {
    this.#userSide.kill(isPowerLoss)
  }

  /** It forgets its sessions, which live in memory alone. */
  restartSigner(): void {
    this.#options.note('the quorum signer starts anew')
    this.#signer.restart()
    for (const pipe of this.#signerPipes) pipe.reset()
  }

  /** A start from which the journal was taken, and that hung meanwhile, announces itself. */
  announceDeposed(): void {
    const { draw, note } = this.#options
    if (!this.#userSide.isServing) return
    const start = {
      boot: draw.bytes(SERVICE_BOOT_BYTES),
      leadership: this.#leaderAt(this.#epoch - 1),
    }
    const announced = async () => {
      const statement = await announceStart(start, SIGNERS.service)
      const { body, signature } = this.#registry.current.envelope
      const connection = { closed: false, end: () => undefined }
      return this.#userSide.serve('hello', [body, signature, 0, statement], connection)
    }
    announced().then(
      () => note('a deposed start is taken'),
      (error: unknown) => note(`a deposed start is refused: ${codeOf(error)}`),
    )
  }

  /** As one thread of a start of the service reaches it. @param timers by its machine's clock */
  coSignerOf(life: Life, timers: Timers): CoSigner {
    const { sign, refuseWaiting, userSide } = this.#signing(life, timers)
    const ask: Ask = (method, work) =>
      this.#links === null ? this.#ask(life, work) : askThere(userSide, method, work)
    return {
      ...{ ready: true, close: async () => undefined, createWallet: unknown },
      ...{ sign, refuseWaiting, followMembers: async () => {} },
      ...{ changeMember: unknown, authorizersOf: unknown },
      ...userSideAsks(ask, {
        ...{ grants: this.grants, approvals: this.approvals, freezes: this.freezes },
        nowMs: () => this.nowMs,
        ignoresFreezes: this.#options.planted?.ignoresFreezes === true,
        isProven: () => this.#isProven(),
        serviceWallet: (walletId) => this.#serviceWallet(walletId),
      }),
    }
  }

  #signing(life: Life, timers: Timers): ServiceSigning {
    const { wrong, fenced } = this.#options
    const isDeposed = () => this.#isDeposed(life)
    return serviceSigning({
      ...{ registry: this.#registry, shares: this.#wallets.sharesOf('service'), timers, wrong },
      start: this.#startOf(life),
      connect: (options) => this.#pipe(life, options),
      flushed: () => this.#later(life, FLUSH_MS_MAX),
      signed: (request, outcome) => this.#noted(request, outcome),
      refused: (message) => {
        if (!isDeposed()) wrong(`a start is refused: ${message}`)
      },
      fenced: () => {
        if (!life.isAlive) return
        if (isDeposed()) fenced(life)
        else wrong('the service was fenced by itself')
      },
    })
  }

  #startOf(life: Life): ServiceStart {
    const start = this.#starts.get(life) ?? {
      boot: this.#options.draw.bytes(SERVICE_BOOT_BYTES),
      leadership: this.#leaderAt(++this.#epoch),
    }
    this.#starts.set(life, start)
    return start
  }

  #leaderAt(epoch: number): JournalLeadership | null {
    return this.#options.hasJournal ? { journal: JOURNAL, epoch, cell: ONE_CELL } : null
  }

  #pipe(life: Life, options: SocketClientOptions): Pipe {
    const { scheduler, draw, wrong } = this.#options
    const isSigner = 'path' in options.endpoint && options.endpoint.path === 'quorum'
    const { machine = '', clock = null } = this.#places.get(life) ?? {}
    // The quorum signer is on the machine of who asks it.
    const nowMs = clock?.now ?? (() => scheduler.nowMs)
    const serve: Serve = isSigner
      ? (method, parameters) => this.#signer.serve(method, parameters, nowMs())
      : (method, parameters, connection) => this.#userSide.serve(method, parameters, connection)
    const pipe = new Pipe(
      {
        ...{ scheduler, draw, life, serve, wrong },
        faults: () => this.faults,
        isAway: () => scheduler.nowMs < this.awayUntilMs || !(isSigner || this.#userSide.isServing),
        serving: () => (isSigner ? null : this.#userSide.serving),
        way: isSigner ? null : (this.#links?.way(machine, USER_SIDE) ?? null),
      },
      options,
    )
    const pipes = isSigner ? this.#signerPipes : this.#userPipes
    pipes.add(pipe)
    return pipe
  }

  /** Chains know by it whose signature it is. */
  #noted({ walletId, payload }: SignRequest, outcome: SignOutcome): SignOutcome {
    const address = this.#addresses.get(walletId)
    if (!outcome.ok || address === undefined) return outcome
    const from = lower(address)
    const { signatures } = this.#options
    const { signature, rawTransaction, txHash } = outcome
    if (payload.type === 'authorization') signatures.noteAuthorization(from, payload, signature)
    else if (payload.type === 'router-intent') {
      const { nonce, deadline } = payload.intent
      const { chainId } = payload
      signatures.noteIntent({ chainId, account: from, nonce, deadline }, signature)
      // P-256 draws a nonce for each signature, and a history is to be the same each time.
      return { ...outcome, coSignature: NO_CO_SIGNATURE }
    } else if (rawTransaction !== undefined && txHash !== undefined) {
      signatures.noteTransaction(from, payload, rawTransaction, txHash)
    }
    return outcome
  }

  #later(life: Life, delayMsMax: number): Promise<void> {
    const { scheduler, draw } = this.#options
    return new Promise((resolve) => {
      scheduler.after(draw.integer(delayMsMax + 1), () => arrive(scheduler, life, resolve))
    })
  }

  /** @throws FaultError COSIGNER_UNAVAILABLE where it is away, or its answer is lost */
  #ask<T>(life: Life, work: () => T): Promise<T> {
    const { scheduler, draw } = this.#options
    return new Promise<T>((resolve, reject) => {
      const lost = () =>
        arrive(scheduler, life, () => reject(new FaultError(fault('COSIGNER_UNAVAILABLE'))))
      const { latencyMsMax, unsent, unanswered } = this.faults
      const there = 1 + draw.integer(latencyMsMax)
      const back = 1 + draw.integer(latencyMsMax)
      const drawn = draw.fraction()
      scheduler.after(there, () => {
        const isAway =
          scheduler.nowMs < this.awayUntilMs || !this.#userSide.isServing || this.#isDeposed(life)
        if (drawn < unsent || isAway) {
          scheduler.after(back, lost)
          return
        }
        try {
          const done = work()
          if (drawn < unsent + unanswered) scheduler.after(TIMEOUT_MS, lost)
          else scheduler.after(back, () => arrive(scheduler, life, () => resolve(done)))
        } catch (error) {
          const refused = error instanceof Refusal ? coSignerFault(error) : error
          scheduler.after(back, () => arrive(scheduler, life, () => reject(refused)))
        }
      })
    })
  }

  /** Of whoever wants a freeze lifted. */
  #isProven(): boolean {
    if (this.liftsRefused === 0 || !this.#options.draw.chance(this.liftsRefused)) return true
    this.#options.note('a lifting is turned down')
    return false
  }

  /** By the user side's clock. */
  get nowMs(): number {
    return this.#options.userSideClock.now()
  }

  #serviceWallet(walletId: SubWalletId) {
    const digits = createHash('sha256').update(walletId).digest('hex').slice(0, 40)
    const address: Address = `0x${digits}`
    this.register({ walletId, userId: null, address })
    return { walletId, address, epoch: 0 }
  }
}

/** By the same connection as all else, and through the same doors. */
async function askThere<T>(userSide: SocketClient, method: string, work: () => T): Promise<T> {
  // What is a fault already crosses as an answer, which a pipe loses as it loses all others.
  const answer = () => {
    try {
      return work()
    } catch (error) {
      if (error instanceof FaultError) return error
      throw error
    }
  }
  const said = await userSide.call(method, [answer]).catch((error: unknown) => coSignerFault(error))
  if (said instanceof FaultError) throw said
  return said as T
}
