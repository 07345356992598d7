import { createChainWatcherShell } from '../../actors/chain-watcher/shell.js'
import { followDecisions } from '../../actors/custody/decisions.js'
import { createCustodyShell } from '../../actors/custody/shell.js'
import { createFreezesShell } from '../../actors/freezes/shell.js'
import type { GasWalletState } from '../../actors/gas-wallet/core/state.js'
import { openGasWallets } from '../../actors/gas-wallet/open-gas-wallets.js'
import { createGasWalletShell } from '../../actors/gas-wallet/shell.js'
import type { Actors } from '../../actors/protocols.js'
import {
  type ActorKind,
  type ActorShell,
  type AskResult,
  type Envelope,
  eraseShell,
  type ReplyToken,
} from '../../actors/runtime/actor.js'
import { ShardHost } from '../../actors/runtime/shard-host.js'
import type { SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { encodeAnswer } from '../../actors/sub-wallet/send-reply.js'
import { createSubWalletShell } from '../../actors/sub-wallet/shell.js'
import { connectChains } from '../../src/chains/access.js'
import { RpcCallError } from '../../src/chains/rpc/errors.js'
import type { Transport } from '../../src/chains/rpc/transport.js'
import type { ChainConfig } from '../../src/config/chains.js'
import { createExecutionGas } from '../../src/defi/execution-gas.js'
import type { Replan } from '../../src/defi/replan.js'
import type { StoredEvent } from '../../src/domain/event.js'
import { createFreezeBook } from '../../src/domain/freeze-book.js'
import { ENTROPY_BYTES } from '../../src/domain/ids.js'
import { NO_METER } from '../../src/domain/meter.js'
import type { OperationPorts } from '../../src/operations/ports.js'
import type { PriceSource } from '../../src/pricing/price-source.js'
import type { Screener } from '../../src/screening/screener.js'
import { createApprovalPort } from '../../src/service-custody/approval-port.js'
import type { CoSigner, SignRequest } from '../../src/service-custody/co-signer.js'
import { AuditLog } from '../../src/store/audit-log.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { attachVersions, createVersionsBuffer } from '../../src/store/versions.js'
import { createCallQuoter } from '../../src/valuation/call-quoter.js'
import type { Disk } from './disk.js'
import type { Planted } from './planted.js'
import type { Quorum } from './quorum.js'
import type { Draw } from './random.js'
import { type Life, type Scheduler, timersOf } from './scheduler.js'

/** What a start of the service is given of its world. */
export interface ServiceWorld {
  readonly scheduler: Scheduler
  readonly disk: Disk
  readonly quorum: Quorum
  readonly configs: readonly ChainConfig[]
  readonly transportTo: (chainId: number, url: string, life: Life) => Transport
  readonly entropy: Draw
  readonly prices: PriceSource
  readonly screener: Screener
  readonly replan: Replan
  /** What the other domains are about to be asked to sign. */
  readonly signing: (request: SignRequest) => void
  /** Whether calls may wait for people, whose decisions are then looked for. */
  readonly hasApprovals: boolean
  /** A fault to be found; null: none. */
  readonly planted: Planted | null
  /** A line of the trace. */
  readonly note: (line: string) => void
  readonly replied: (token: ReplyToken, result: AskResult) => void
  readonly appended: (events: readonly StoredEvent[]) => void
  /** What must not happen. */
  readonly wrong: (what: string) => void
  /** The process ends by itself, and is started anew. */
  readonly ended: () => void
}

/** Whose answers still hold, which nobody here keeps. */
const ANSWERED_VERSIONS = createVersionsBuffer()

/** States of actors as their host has them, for oracles to look at. */
export interface Resident {
  readonly wallets: Map<string, SubWalletState>
  readonly gasWallets: Map<string, GasWalletState>
}

/** One start of the service: a shard host with the real shells of all that moves money. */
export class Service {
  readonly life: Life = { isAlive: true }
  readonly reader: Reader
  /** As the front end has them, as far as keys and approvals need. */
  readonly operations: OperationPorts
  readonly resident: Resident = { wallets: new Map(), gasWallets: new Map() }
  /** Of these, those that decided something since they were last looked at. */
  readonly changed = { wallets: new Set<SubWalletState>(), gasWallets: new Set<GasWalletState>() }
  /** Commands that were decided. */
  decided = 0
  readonly #host: ShardHost
  readonly #world: ServiceWorld
  readonly #tell: (envelope: Envelope) => void
  #openers = new Map<ReplyToken, (result: AskResult) => void>()
  /** Below 0, and so told from the callers'. */
  #nextOpener = -1

  constructor(world: ServiceWorld) {
    this.#world = world
    const { scheduler, disk, quorum, note, entropy, prices, screener, planted } = world
    const { life } = this
    const timers = timersOf(scheduler, life, entropy)
    const environment = disk.environmentOf(life, planted)
    const reader = createReader(environment)
    this.reader = reader
    const { chains } = connectChains(world.configs, undefined, {
      timers,
      transportTo: (chainId, url) => world.transportTo(chainId, url, life),
    })
    const draw = () => entropy.bytes(ENTROPY_BYTES)
    const sequence = attachEventSequence(
      createEventSequenceBuffer(reader.events.lastSeqs()),
      () => true,
      draw,
    )
    const commits = localCommits(environment, sequence, draw)
    const asked = quorum.coSignerOf(life, planted)
    const coSigner: CoSigner = {
      ...asked,
      sign(request) {
        world.signing(request)
        return asked.sign(request)
      },
    }
    const approvals = createApprovalPort({ ...coSigner, pageOf: () => null })
    const book = createFreezeBook(reader.freezes.all(), () => null)
    let told = 0
    const tell = (envelope: Envelope) => {
      const arriving = planted?.tells?.(envelope, ++told) ?? [envelope]
      for (const one of arriving) this.#host.deliver(one)
    }
    this.#tell = tell
    const log = {
      warn: (_: object, message: string) => note(`warn: ${message}`),
      error: (context: object, message: string) => world.wrong(`${message}: ${causeOf(context)}`),
    }
    const quoter = createCallQuoter(chains, prices, { elapsed: timers.elapsed })
    const isCallError = (error: unknown): error is RpcCallError => error instanceof RpcCallError
    const shared = { reader, chains, coSigner, tell, log, timers }
    const auditLog = new AuditLog({ commits, timers, log: { error: log.warn } })
    let answered = 0
    const headOf = (chainId: number) => chains.get(chainId)?.fees.latest()?.head.number ?? null
    this.#host = new ShardHost({
      meter: NO_METER,
      timers,
      commits,
      log,
      shells: [
        this.#seen(
          createSubWalletShell({
            ...shared,
            ...{ prices, quoter, receipts: quoter, screener },
            ...{ approvals, replan: world.replan },
            freezes: planted?.ignoresFreezes === true ? { of: () => null } : book,
            userBreakers: { of: () => null },
            keyChanged: () => undefined,
            versions: attachVersions(ANSWERED_VERSIONS),
            auditLog,
          }),
          { held: this.resident.wallets, changed: this.changed.wallets },
        ),
        this.#seen(
          createGasWalletShell({
            ...shared,
            freezes: book,
            executionGas: createExecutionGas(isCallError),
          }),
          { held: this.resident.gasWallets, changed: this.changed.gasWallets },
        ),
        this.#seen(createChainWatcherShell({ ...shared, announce: () => undefined })),
        this.#seen(createFreezesShell({ ...shared, book, changed: () => undefined })),
        this.#seen(createCustodyShell(coSigner, auditLog, log, timers, approvals)),
      ],
      reply: (token, result) => {
        if (!life.isAlive) return
        const encoded = encodeAnswer(result, headOf)
        if (token < 0) this.#openers.get(token)?.(encoded)
        else {
          const times = planted?.answers?.(++answered) ?? 1
          for (let i = 0; i < times; i++) world.replied(token, encoded)
        }
      },
      appended: world.appended,
      fatal: () => world.ended(),
    })
    const frontEnd: Partial<OperationPorts> = {
      ...{ reader, timers, environment: 'test', freezes: book, headOf, nowMs: timers.now },
      ...{ keyLastUsedAtMs: () => null, forgetKey: () => undefined, actors: this.#actors() },
    }
    this.operations = frontEnd as OperationPorts
    this.#wake(chains, timers)
    if (world.hasApprovals) {
      void followDecisions({ approvals, reader, tell, timers, log }, () => !life.isAlive)
    }
  }

  get isQuiet(): boolean {
    return this.#host.quiet
  }

  deliver(kind: ActorKind, id: string, command: unknown, token: ReplyToken | null): void {
    this.#host.deliver({ kind, id, command, token })
  }

  /** What a process asked for is answered to nobody once it is gone. */
  #actors(): Actors {
    return {
      ask: (address, command) =>
        new Promise((resolve) => {
          const token = this.#nextOpener--
          this.#openers.set(token, resolve as (result: AskResult) => void)
          this.deliver(address.kind, address.id, command, token)
        }),
      tell: (address, command) => this.#tell({ ...address, command, token: null }),
    }
  }

  /** As `wakeActors` does, over this host alone. */
  #wake(
    chains: Parameters<typeof openGasWallets>[1],
    timers: Parameters<typeof openGasWallets>[2],
  ): void {
    for (const id of chains.keys()) {
      this.#host.deliver({
        ...{ kind: 'chain-watcher', id: String(id) },
        ...{ command: { type: 'start' }, token: null },
      })
    }
    for (const { userId, custody } of this.reader.freezes.all()) {
      if (custody !== 'pending') continue
      this.deliver('freezes', userId, { type: 'load' }, null)
    }
    for (const id of this.reader.approvals.walletsWithWaiting()) {
      this.deliver('sub-wallet', id, { type: 'load' }, null)
    }
    for (const id of this.reader.grants.walletsWithChanges()) {
      this.deliver('sub-wallet', id, { type: 'load' }, null)
    }
    void openGasWallets(this.operations.actors, chains, timers).then(() => {
      for (const id of this.reader.gas.sponsoredWallets()) {
        this.deliver('sub-wallet', id, { type: 'load' }, null)
      }
    })
  }

  /** The same shell, with its states kept for the oracles, and its commands in the trace. */
  #seen<State, Command extends { readonly type: string }, Event, Effect>(
    shell: ActorShell<State, Command, Event, Effect>,
    states?: { readonly held: Map<string, State>; readonly changed: Set<State> },
  ) {
    const { note, planted } = this.#world
    const erased = eraseShell<State, Command, Event, Effect>({
      ...shell,
      load: (id) => {
        const state = shell.load(id)
        const before = states?.held.get(id)
        // What it was before it left memory is nobody's any more.
        if (before !== undefined) states?.changed.delete(before)
        states?.held.set(id, state)
        return state
      },
      decide: (state, command, token) => {
        this.decided++
        states?.changed.add(state)
        note(`${shell.kind} ${command.type}${subjectOf(command)}`)
        return shell.decide(state, command, token)
      },
    })
    return planted?.shell?.(erased) ?? erased
  }
}

/** What of a command says most. */
function subjectOf(command: object): string {
  const { txId, outcome, block } = command as Record<string, unknown>
  const said = [
    typeof txId === 'string' ? txId.slice(-6) : '',
    isKind(outcome) ? outcome.kind : '',
    isNumbered(block) ? String(block.number) : '',
  ]
  return said.map((text) => (text === '' ? '' : ` ${text}`)).join('')
}

function isKind(value: unknown): value is { readonly kind: string } {
  return typeof value === 'object' && value !== null && 'kind' in value
}

function isNumbered(value: unknown): value is { readonly number: number } {
  return typeof value === 'object' && value !== null && 'number' in value
}

function causeOf(context: object): string {
  const { err } = context as { readonly err?: unknown }
  return err instanceof Error ? (err.stack ?? err.message) : String(err)
}
