import type { GasWalletState } from '../../actors/gas-wallet/core/state.js'
import type { Actors } from '../../actors/protocols.js'
import type { ActorAddress, AskResult, Envelope, ReplyToken } from '../../actors/runtime/actor.js'
import { workerOf } from '../../actors/runtime/routing.js'
import type { SubWalletState } from '../../actors/sub-wallet/core/state.js'
import type { Holder as EndpointHolder } from '../../actors/webhook-endpoint/record.js'
import type { Transport } from '../../src/chains/rpc/transport.js'
import type { ServiceClock } from '../../src/clock/service-clock.js'
import type { ChainConfig } from '../../src/config/chains.js'
import type { Replan } from '../../src/defi/replan.js'
import type { Freeze } from '../../src/domain/freeze.js'
import { createFreezeBook } from '../../src/domain/freeze-book.js'
import type { UserId } from '../../src/domain/ids.js'
import type { Fault } from '../../src/errors/fault.js'
import type { OperationPorts } from '../../src/operations/ports.js'
import type { PriceSource } from '../../src/pricing/price-source.js'
import type { Screener } from '../../src/screening/screener.js'
import { wakeActors } from '../../src/service/wake-actors.js'
import type { SignRequest } from '../../src/service-custody/co-signer.js'
import { createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { createVersionsBuffer } from '../../src/store/versions.js'
import type { Deliverer } from '../../src/webhooks/deliver.js'
import type { Watching } from './about.js'
import { checkedTime } from './checked-clock.js'
import type { Disk } from './disk.js'
import type { Leader } from './machines.js'
import type { Planted } from './planted.js'
import type { Quorum } from './quorum.js'
import type { Draw } from './random.js'
import { type Life, newLife, type Scheduler, timersOf } from './scheduler.js'
import { type ChangedStates, Shard } from './shard.js'
import { Wire } from './wire.js'

/** What a start of the service is given of its world. */
export interface ServiceWorld {
  readonly scheduler: Scheduler
  readonly disk: Disk
  /** The start of a process that has the journal of a cluster; null: there is none. */
  readonly leader: Leader | null
  readonly quorum: Quorum
  /** Worker threads. */
  readonly shards: number
  readonly configs: readonly ChainConfig[]
  readonly transportTo: (chainId: number, url: string, life: Life) => Transport
  readonly entropy: Draw
  readonly prices: PriceSource
  readonly screener: Screener
  readonly replan: Replan
  /** What the other domains are about to be asked to sign. */
  readonly signing: (request: SignRequest) => void
  /** Asked before each decision of an actor; what it returns is told the events. */
  readonly deciding: (
    kind: string,
    state: unknown,
    command: unknown,
  ) => (events: readonly unknown[]) => void
  /** Whether calls may wait for people, whose decisions are then looked for. */
  readonly hasApprovals: boolean
  /** A fault to be found; null: none. */
  readonly planted: Planted | null
  /** A line of the trace. */
  readonly note: (line: string) => void
  readonly watching: Watching | null
  readonly replied: (by: Service, token: ReplyToken, result: AskResult) => void
  readonly delivererOf: (life: Life) => Deliverer
  /** Attempts of one user's endpoints on a thread. */
  readonly deliveriesPerSecond: number
  /** What must not happen. */
  readonly wrong: (what: string) => void
  /** The process ends by itself, and is started anew. */
  readonly ended: (life: Life) => void
}

/** States of actors as their hosts have them, for oracles to look at. */
export interface Resident {
  readonly wallets: Map<string, SubWalletState>
  readonly gasWallets: Map<string, GasWalletState>
  readonly endpoints: Map<string, EndpointHolder>
}

interface Thread {
  readonly shard: Shard
  readonly to: Wire
  readonly from: Wire
}

/** As the disk's: of all worlds. */
const WALLET_VERSIONS = createVersionsBuffer()

/** One start of the service: worker threads, and a main thread that hands over between them. */
export class Service {
  readonly life: Life
  /** For those outside, who look at what is on disk. */
  readonly reader: Reader
  /** As the front end has them, as far as keys and approvals need. */
  readonly operations: OperationPorts
  readonly resident: Resident = {
    ...{ wallets: new Map(), gasWallets: new Map(), endpoints: new Map() },
  }
  readonly changed: ChangedStates = { wallets: new Set(), gasWallets: new Set() }
  /** Commands that were decided. */
  decided = 0
  readonly #threads: readonly Thread[]
  readonly #world: ServiceWorld
  readonly #openers = new Map<ReplyToken, (result: AskResult) => void>()
  /** Null: nobody compares it with the chains. */
  readonly #clock: ServiceClock | null
  readonly #leader: Leader | null
  readonly #answers: (nth: number) => number
  #answered = 0
  /** Below 0, and so told from the callers'. */
  #nextOpener = -1

  constructor(world: ServiceWorld) {
    this.#world = world
    const { scheduler, disk, entropy, planted, leader, shards: count } = world
    const life = leader?.life ?? newLife()
    const trusts = planted?.parted?.trustsMachineClock === true
    this.life = life
    const machineTimers = leader?.timers ?? timersOf(scheduler, life, entropy)
    const time = leader?.clock ? checkedTime(leader.clock, scheduler, life, entropy, trusts) : null
    const timers = time?.mainTimers ?? machineTimers
    this.#clock = time?.main ?? null
    this.#leader = leader
    const environment = leader?.environment ?? disk.environmentOf(life, planted)
    const reader = createReader(environment)
    this.reader = createReader(disk.lookedAt)
    const book = createFreezeBook(reader.freezes.all(), () => null)
    const shared = {
      sequence: createEventSequenceBuffer(reader.events.lastSeqs()),
      walletVersions: WALLET_VERSIONS,
    }
    this.#answers = planted?.answers ?? (() => 1)
    this.#threads = Array.from({ length: count }, (_, index) => {
      const from = new Wire(scheduler, entropy, life)
      const to = new Wire(scheduler, entropy, life)
      const shard = new Shard({
        ...{ index, count, world, life, machineTimers },
        timers: time?.threadTimers() ?? machineTimers,
        ...{ environment: disk.threadOf(environment), shared },
        ...{ resident: this.resident, changed: this.changed, decided: () => this.decided++ },
        outside: {
          envelope(envelope) {
            // Other threads are handed a copy, which only plain data survives.
            const copy = structuredClone(envelope)
            from.post(() => send(copy, copy.token, copy.command))
          },
          head: (head) => {
            if (time !== null) from.post(() => time.onHead(head))
          },
          reply: (token, result) => from.post(() => this.#settle(token, result)),
          commit:
            leader === null
              ? null
              : (rows) =>
                  new Promise((resolve) => {
                    from.post(() => void leader.writer.commit(rows).then(() => to.post(resolve)))
                  }),
          freezes: (userId, standing) =>
            from.post(() => {
              book.put(userId, standing)
              this.#toldFreezes(userId, standing)
            }),
        },
      })
      return { shard, from, to }
    })
    const send = (address: ActorAddress, token: ReplyToken | null, command: unknown) =>
      this.#send(address, token, command)
    const chains = this.#threads[0]?.shard.chains ?? new Map()
    const frontEnd: Partial<OperationPorts> = {
      ...{ reader, timers, environment: 'test', freezes: book, nowMs: timers.now },
      chains,
      headOf: (chainId) => chains.get(chainId)?.fees.latest()?.head.number ?? null,
      ...{ keyLastUsedAtMs: () => null, forgetKey: () => undefined, actors: this.#actors() },
    }
    this.operations = frontEnd as OperationPorts
    void wakeActors({ actors: this.operations.actors, reader, chains, timers })
  }

  /** Of its taking of the journal; 0: there is none. */
  get epoch(): number {
    return this.#leader?.writer.leadership.epoch ?? 0
  }

  /** Why nothing that moves value may begin, as the main thread has it. */
  refusal(): Fault | null {
    return this.#clock?.refusal() ?? this.#leader?.writer.refusal() ?? null
  }

  /** True when everything that was decided is on disk. */
  get isQuiet(): boolean {
    return this.#threads.every(({ shard }) => shard.isQuiet)
  }

  deliver(address: ActorAddress, command: unknown, token: ReplyToken | null): void {
    this.#send(address, token, command)
  }

  #send(address: ActorAddress, token: ReplyToken | null, command: unknown): void {
    const thread = this.#threads[workerOf(address, this.#threads.length)]
    const { kind, id } = address
    thread?.to.post(() => thread.shard.deliver({ kind, id, command, token }))
  }

  /** What a process asked for is answered to nobody once it is gone. */
  #actors(): Actors {
    const tells = this.#world.planted?.tells?.() ?? null
    return {
      ask: (address, command) =>
        new Promise((resolve) => {
          const token = this.#nextOpener--
          this.#openers.set(token, resolve as (result: AskResult) => void)
          this.#send(address, token, command)
        }),
      tell: (address, command) => {
        const envelope = { ...address, command, token: null } as Envelope
        for (const one of tells?.(envelope) ?? [envelope]) this.#send(one, one.token, one.command)
      },
    }
  }

  #settle(token: ReplyToken, result: AskResult): void {
    if (token < 0) {
      this.#openers.get(token)?.(result)
      return
    }
    const times = this.#answers(++this.#answered)
    for (let i = 0; i < times; i++) this.#world.replied(this, token, result)
  }

  #toldFreezes(userId: UserId, standing: readonly Freeze[]): void {
    for (const { shard, to } of this.#threads) to.post(() => shard.noteFreezes(userId, standing))
  }
}
