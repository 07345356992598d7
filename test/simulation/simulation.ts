import { createReader } from '../../src/store/reader.js'
import type { Watching } from './about.js'
import { planAccidents } from './accidents.js'
import { AskedAnywhere } from './asked-anywhere.js'
import { Callers } from './callers.js'
import { ChainWorld, type ChainWorlds } from './chain-world.js'
import type { SkewedClock } from './clocks.js'
import { chooseCurves } from './curves/choice.js'
import {
  confirmedAtDepth,
  countedUntilFinal,
  minedBefore,
  passesCapOnPath,
} from './decision-oracles.js'
import type { Disk } from './disk.js'
import { type Features, featuresOf } from './features.js'
import { FrontDoors } from './front-doors.js'
import { History } from './history.js'
import { NODES } from './links.js'
import { Lives } from './lives.js'
import type { Leader } from './machines.js'
import { Markets } from './markets.js'
import { Network } from './network.js'
import { frozenThere, type Held, isAtRest, mirrors } from './oracles.js'
import { boundEarly, StoredBytes } from './outgoing-oracles.js'
import { clocksOf, userSideClockOf } from './parted.js'
import type { Planted } from './planted.js'
import { Quorum } from './quorum.js'
import { type Draw, drawOf } from './random.js'
import { Receivers } from './receivers.js'
import { auditAtRest, type World } from './rest-oracles.js'
import { type Life, Scheduler } from './scheduler.js'
import { Service } from './service.js'
import { chainIdsOf, startOf, usersOf } from './setting.js'
import { Signatures } from './signatures.js'
import { replanFrom } from './swaps.js'

export interface Outcome {
  readonly seed: number
  /** What must not happen and did; empty: nothing. */
  readonly wrong: readonly string[]
  /** Of all that happened, in order: the same for the same seed and the same code. */
  readonly traceHash: string
  readonly commands: number
  /** Virtual. */
  readonly durationMs: number
  /** What happened, without numbers and names, and how often. */
  readonly seen: ReadonlyMap<string, number>
  /** The last of what happened, for people. */
  readonly script: readonly string[]
  readonly features: Features
}

/**
 * Nothing needs longer to come to rest, or one call longer to land behind another: intents expire
 * within three minutes. A delegated account sends one at a time, each outbid where fees stay high.
 */
const REST_MS_MAX = 12 * 60_000
const WRONG_MAX = 10
/** To so many looks at those to which something happened comes one at all that are in memory. */
const CHECKS_TO_ALL = 32
const REORG_KILL_MS_MAX = 3_000
/**
 * What a node was asked before nothing goes wrong any more may have no answer for as long, and a reorg
 * may be what it would tell: two tries of the client's.
 */
const GIVEN_UP_MS = 16_000
/** From when nothing goes wrong any more: what is not at rest by then may wait for a freeze to end. */
const LIFT_MS = 5 * 60_000

/**
 * One world from one seed.
 * @param planted a fault to be found; null: none
 * @param features absent: as the seed draws them
 */
export async function simulate(
  seed: number,
  planted: Planted | null = null,
  features: Features = featuresOf(drawOf(seed, 'features')),
  told: Told = {},
): Promise<Outcome> {
  return new Simulation(seed, planted, features, told).run()
}

/** What of a world is for people; nothing in it depends on that. */
export interface Told {
  /** How many lines of its history are kept: the last. */
  readonly lines?: number
  readonly watching?: Watching
}

const LINES_KEPT = 60

class Simulation {
  readonly #seed: number
  readonly #planted: Planted | null
  readonly #features: Features
  readonly #startMs: number
  readonly #scheduler: Scheduler
  readonly #draw: Draw
  readonly #chains: ChainWorlds
  readonly #network: Network
  readonly #quorum: Quorum
  readonly #userSideClock: SkewedClock
  #doors: FrontDoors | null = null
  readonly #history: History
  readonly #watching: Watching | null
  readonly #wrong: string[] = []
  readonly #entropy: Draw
  readonly #venue: Draw
  readonly #lives: Lives
  readonly #callers: Callers
  readonly #markets: Markets
  readonly #receivers: Receivers
  readonly #stored = new StoredBytes()
  #isCalm = false
  #checkedCommits = 0
  #checks = 0

  constructor(seed: number, planted: Planted | null, features: Features, told: Told) {
    this.#history = new History(told.lines ?? LINES_KEPT)
    this.#watching = told.watching ?? null
    this.#seed = seed
    this.#planted = planted
    this.#features = features
    chooseCurves(features.hasRealCurves)
    this.#draw = drawOf(seed, 'world')
    this.#startMs = startOf(features, drawOf(seed, 'turn'))
    this.#scheduler = new Scheduler(this.#startMs)
    this.#userSideClock = userSideClockOf(
      features,
      drawOf(seed, 'user side clock'),
      this.#scheduler,
    )
    this.#entropy = drawOf(seed, 'entropy')
    this.#venue = drawOf(seed, 'venue')
    const signatures = new Signatures()
    const note = (line: string) => this.#note(line)
    const common = {
      ...{ features, seed, scheduler: this.#scheduler, signatures, note },
      reorged: () => this.#reorged(),
    }
    this.#chains = new Map(
      chainIdsOf(features).map((chainId) => [chainId, new ChainWorld({ ...common, chainId })]),
    )
    this.#network = new Network(this.#scheduler, drawOf(seed, 'network'), note)
    const { unsent, unanswered, refused, garbled } = features
    this.#network.faults = { latencyMsMax: 40, unsent, unanswered, refused, garbled }
    this.#quorum = new Quorum({
      ...{ scheduler: this.#scheduler, draw: drawOf(seed, 'quorum'), signatures, planted, note },
      configs: [...this.#chains.values()].map(({ config }) => config),
      hasJournal: features.hasJournal,
      userSideClock: this.#userSideClock,
      hasOwnClock: features.parted !== null,
      wrong: (what) => this.#fail(what),
      fenced: (life) => this.#lives.ended(life, 'fenced'),
    })
    this.#quorum.faults = {
      latencyMsMax: 20,
      unsent: features.quorumUnsent,
      unanswered: features.quorumUnanswered,
      late: features.quorumLate,
      doubled: features.quorumDoubled,
      overtaken: features.quorumOvertaken,
    }
    this.#quorum.diskRefusals = features.userSideRefusals
    this.#quorum.liftsRefused = features.liftsRefused
    this.#quorum.diskStalls = features.diskStalls
    this.#markets = new Markets(features, drawOf(seed, 'markets'), this.#scheduler, note)
    this.#receivers = new Receivers(this.#scheduler, drawOf(seed, 'receivers'), note)
    this.#receivers.faults = {
      refusals: features.receiverRefusals,
      hangs: features.receiverHangs,
      late: features.receiverLate,
      gone: features.receiverGone,
    }
    this.#lives = new Lives({
      ...{ seed, features, planted, scheduler: this.#scheduler, draw: this.#draw },
      entropy: this.#entropy,
      serve: (disk, owner) => this.#serve(disk, owner),
      took: (owner) => this.#quorum.owns(owner, owner.writer.leadership),
      processEnded: (life) => this.#doors?.ended(life),
      restarted: (service) => {
        if (features.cluster !== null) this.#checkedCommits = -1
        this.#callers.restarted(service)
      },
      note,
      wrong: (what) => this.#fail(what),
    })
    this.#callers = new Callers(
      ...([features, drawOf(seed, 'callers'), this.#scheduler, this.#quorum] as const),
      ...([this.#service, note] as const),
    )
    this.#callers.elsewhere = () => this.#lives.zombie
    this.#part()
  }

  async run(): Promise<Outcome> {
    for (const chain of this.#chains.values()) chain.start()
    this.#lives.machines?.start()
    this.#plan()
    try {
      await this.#advance(() => this.#callersLeft === 0)
      this.#calm()
      let confirmed = 0
      let untilMs = 0
      let quietSinceMs: number | null = null
      const givenUpMs = this.#scheduler.nowMs + GIVEN_UP_MS
      await this.#advance(() => {
        const { nowMs } = this.#scheduler
        const isQuiet = nowMs > givenUpMs && this.#isAtRest() && !this.#callers.isWaiting
        if (!isQuiet) quietSinceMs = null
        else quietSinceMs ??= nowMs
        if (untilMs === 0 || this.#confirmedCount() !== confirmed) {
          confirmed = this.#confirmedCount()
          untilMs = nowMs + REST_MS_MAX
        }
        // Reorgs are over by then, and what they took back would be under way again.
        return nowMs > untilMs || (quietSinceMs !== null && nowMs > quietSinceMs + this.#settleMs)
      })
      this.#audit()
    } catch (error) {
      this.#fail(error instanceof Error ? (error.stack ?? error.message) : String(error))
    }
    const wrong = [...new Set([...this.#wrong, ...this.#callers.wrong])].slice(0, WRONG_MAX)
    return {
      seed: this.#seed,
      wrong,
      traceHash: this.#history.digest(),
      commands: this.#lives.decided,
      durationMs: this.#scheduler.nowMs - this.#startMs,
      seen: this.#history.seen,
      script: this.#history.script,
      features: this.#features,
    }
  }

  get #settleMs(): number {
    return Math.max(...[...this.#chains.values()].map(({ settleMs }) => settleMs))
  }

  /** What the service is held against. */
  get #world(): World {
    return {
      ...{ callers: this.#callers, chains: this.#chains },
      clocks: clocksOf(this.#features, this.#scheduler.nowMs),
      ...{ quorum: this.#quorum, markets: this.#markets, receivers: this.#receivers },
    }
  }

  /** How often an owner heard that a block is final. */
  #confirmedCount(): number {
    const { seen } = this.#history
    return (seen.get('sub-wallet confirmed') ?? 0) + (seen.get('gas-wallet confirmed') ?? 0)
  }

  /** Looked at anew only where somebody decided meanwhile, or started. */

  #isAtRest(): boolean {
    const { decided, life } = this.#service
    if (!life.isAlive) return false
    const { commits } = this.#disk
    const seen = this.#restSeen
    const isKnown = seen.life === life && seen.decided === decided && seen.commits === commits
    if (!isKnown) {
      const isSo = isAtRest(this.#service, this.#callers)
      this.#restSeen = { life, decided, commits, isSo }
    }
    return this.#restSeen.isSo && this.#lives.areLevel
  }

  #audit(): void {
    if (this.#wrong.length + this.#callers.wrong.length > 0) return
    const { waiting } = this.#callers
    for (const { what } of waiting.values()) this.#fail(`nobody answered ${what}`)
    this.#failOf(this.#callers.anywhere?.wrongAtRest(this.#service.reader) ?? [])
    if (!isAtRest(this.#service, this.#callers)) this.#fail('it does not come to rest')
    this.#check(this.#resident)
    const { nowMs } = this.#scheduler
    this.#failOf(auditAtRest(this.#service, this.#world, nowMs))
    this.#failOf(this.#lives.machines?.wrongAtRest() ?? [])
  }

  get #resident(): Held {
    const { wallets, gasWallets } = this.#service.resident
    return { wallets: wallets.values(), gasWallets: gasWallets.values() }
  }

  async #advance(isDone: () => boolean): Promise<void> {
    await this.#scheduler.run(() => {
      const { isQuiet, life } = this.#service
      // A process that has ended may follow on its disk already, in its next start.
      if (life.isAlive && isQuiet && this.#disk.commits !== this.#checkedCommits) {
        const isOfAll = ++this.#checks % CHECKS_TO_ALL === 0
        this.#check(isOfAll ? this.#resident : this.#service.changed)
      }
      return this.#wrong.length + this.#callers.wrong.length > 0 || isDone()
    })
  }

  /** Whenever all that was decided is on disk. */
  #check(held: Held): void {
    this.#checkedCommits = this.#disk.commits
    const { changed, reader } = this.#service
    const { nowMs } = this.#scheduler
    this.#failOf(mirrors(held, reader, nowMs))
    this.#failOf(countedUntilFinal(held.wallets, reader, this.#callers.known, nowMs))
    if (this.#features.hasFreezes) {
      this.#failOf(frozenThere(usersOf(this.#features), reader, this.#quorum))
    }
    changed.wallets.clear()
    changed.gasWallets.clear()
  }

  #callersLeft = 0
  #restSeen: { life: Life | null; decided: number; commits: number; isSo: boolean } = {
    ...{ life: null, decided: 0, commits: 0, isSo: false },
  }

  /** What people and accidents do, at moments drawn now. */
  #plan(): void {
    const { calls, pauseMsMax } = this.#features
    const draw = this.#draw
    let atMs = this.#startMs + 1_000
    this.#callersLeft = calls
    for (let i = 0; i < calls; i++) {
      atMs += draw.integer(pauseMsMax)
      this.#scheduler.at(atMs, () => {
        this.#callersLeft--
        this.#callers.act()
      })
    }
    const spanMs = atMs - this.#startMs
    this.#markets.start(spanMs, () => this.#isCalm)
    planAccidents(this.#features, spanMs, {
      ...{ draw, scheduler: this.#scheduler, quorum: this.#quorum },
      ...{ machines: this.#lives.machines, disks: this.#lives.disks },
      kill: () => this.#lives.kill(),
      note: (line) => this.#note(line),
    })
  }

  /** Nothing goes wrong from here on. */
  #calm(): void {
    this.#note('calm')
    this.#isCalm = true
    this.#markets.calm()
    this.#receivers.calm()
    this.#callers.endpoints.calm()
    if (this.#features.hasPatience) this.#callers.owner.declineAll()
    this.#scheduler.after(GIVEN_UP_MS, () => this.#callers.endpoints.switchOn())
    this.#scheduler.after(LIFT_MS, () => this.#callers.liftAll())
    for (const chain of this.#chains.values()) chain.calm()
    this.#network.faults = { latencyMsMax: 40, unsent: 0, unanswered: 0, refused: 0, garbled: 0 }
    this.#quorum.calm()
    this.#userSideClock.calm()
    this.#lives.calm()
  }

  get #service(): Service {
    return this.#lives.service
  }

  get #disk(): Disk {
    return this.#lives.disk
  }

  /** Who starts before all nodes know of it asks some that do and some that do not. */
  #reorged(): void {
    const { reorgKills } = this.#features
    if (reorgKills === 0 || !this.#draw.chance(reorgKills)) return
    this.#scheduler.after(this.#draw.integer(REORG_KILL_MS_MAX), () => this.#lives.kill())
  }

  #serve(disk: Disk, owner: Leader | null): Service {
    const reader = createReader(disk.lookedAt)
    const { prices, screener } = this.#markets
    return new Service({
      ...{ scheduler: this.#scheduler, disk, leader: owner, quorum: this.#quorum },
      shards: this.#features.shards,
      configs: [...this.#chains.values()].map(({ config }) => config),
      transportTo: (chainId, url, life) => {
        const at = Number(new URL(url).hostname.slice('node'.length))
        const node = this.#chains.get(chainId)?.nodes[at]
        if (node === undefined) throw new Error(`no node of ${chainId} at ${url}`)
        const isParted = this.#features.parted !== null && owner !== null
        const links = isParted ? this.#lives.machines?.links : undefined
        const way = links?.way(owner?.machine ?? '', NODES) ?? null
        const transport = this.#network.transportTo(node, `node ${at} of ${chainId}`, life, way)
        return {
          close: transport.close,
          post: (body) => {
            this.#failOf(this.#stored.sentEarly(body, reader, this.#callers))
            return transport.post(body)
          },
        }
      },
      entropy: this.#entropy,
      replan: replanFrom(this.#venue),
      signing: (request) => this.#failOf(boundEarly(request, reader, this.#callers)),
      deciding: (kind, state, command) => {
        const before = minedBefore(kind, state, command)
        return (events) => {
          if (events.length === 0) return
          const nowMs = nowOf(command) ?? this.#scheduler.nowMs
          const decided = { kind, state, nowMs, events }
          this.#failOf(passesCapOnPath(decided, this.#callers.known))
          this.#failOf(confirmedAtDepth(decided, before, this.#chains))
        }
      },
      hasApprovals: this.#features.hasApprovals,
      planted: this.#planted,
      prices: this.#planted?.prices?.(prices) ?? prices,
      screener: this.#planted?.screener?.(screener) ?? screener,
      note: (line) => this.#note(line),
      watching: this.#watching,
      // Who was cut off may answer still, and nobody listens to it any more.
      replied: (by, token, result) => {
        if (by === this.#service) this.#callers.replied(token, result)
      },
      delivererOf: (life) => this.#receivers.delivererOf(life),
      deliveriesPerSecond: this.#features.deliveriesPerSecond,
      wrong: (what) => this.#fail(what),
      ended: (life) => this.#lives.ended(life, 'the disk refused a commit'),
    })
  }

  /** From here on any two may be cut off from one another, and callers ask any of them. */
  #part(): void {
    const { machines } = this.#lives
    const { parted } = this.#features
    if (machines === null || parted === null) return
    this.#quorum.isReachedBy(machines.links)
    if (!parted.hasManyDoors) return
    this.#doors = new FrontDoors({
      ...{ seed: this.#seed, scheduler: this.#scheduler, machines },
      servedBy: (life) => this.#lives.servedBy(life),
      unheard: () => (this.#isCalm ? 0 : parted.unheard),
      faults: this.#planted?.parted?.forwards ?? null,
    })
    this.#callers.anywhere = new AskedAnywhere({
      ...{ seed: this.#seed, scheduler: this.#scheduler, machines, doors: this.#doors },
      ...{ callers: this.#callers, wrong: (what) => this.#fail(what) },
      note: (line) => this.#note(line),
    })
  }

  #note(line: string): void {
    this.#history.note(this.#scheduler.nowMs - this.#startMs, line)
  }

  #failOf(all: readonly string[]): void {
    for (const what of all) this.#fail(what)
  }

  #fail(what: string): void {
    this.#note(`WRONG ${what}`)
    this.#wrong.push(what)
  }
}

/** By which the actor decided; absent: the command says no time. */
function nowOf(command: unknown): number | undefined {
  return (command as { readonly nowMs?: number }).nowMs
}
