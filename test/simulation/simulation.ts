import { createHash } from 'node:crypto'
import type { SignRequest } from '../../src/service-custody/co-signer.js'
import { Callers, USER_ID } from './callers.js'
import { Chain } from './chain.js'
import { Disk } from './disk.js'
import { type Features, featuresOf } from './features.js'
import { Markets } from './markets.js'
import { Network } from './network.js'
import { Node } from './node.js'
import { type Held, isAtRest, mirrors, StoredBytes } from './oracles.js'
import type { Planted } from './planted.js'
import { Quorum } from './quorum.js'
import { type Draw, drawOf } from './random.js'
import { auditAtRest, type World } from './rest-oracles.js'
import { Scheduler } from './scheduler.js'
import { Service } from './service.js'
import { configOf, startOf } from './setting.js'
import { lower, Signatures } from './signatures.js'
import { CHAIN_ID, DELEGATE, ROUTER, replanFrom } from './swaps.js'

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

/** Nothing needs longer to come to rest: intents expire within three minutes. */
const REST_MS_MAX = 12 * 60_000
/** Lines of the trace that are kept. */
const SCRIPT_LINES = 400
const WRONG_MAX = 10

/**
 * One world from one seed.
 * @param planted a fault to be found; null: none
 * @param features absent: as the seed draws them
 */
export async function simulate(
  seed: number,
  planted: Planted | null = null,
  features: Features = featuresOf(drawOf(seed, 'features')),
): Promise<Outcome> {
  return new Simulation(seed, planted, features).run()
}

class Simulation {
  readonly #seed: number
  readonly #planted: Planted | null
  readonly #features: Features
  readonly #startMs: number
  readonly #scheduler: Scheduler
  readonly #draw: Draw
  readonly #chain: Chain
  readonly #nodes: readonly Node[]
  readonly #network: Network
  readonly #quorum: Quorum
  readonly #disk: Disk
  readonly #hash = createHash('sha256')
  readonly #script: string[] = []
  readonly #seen = new Map<string, number>()
  readonly #wrong: string[] = []
  readonly #entropy: Draw
  readonly #venue: Draw
  #service: Service
  readonly #callers: Callers
  readonly #markets: Markets
  readonly #stored = new StoredBytes()
  #commandsBefore = 0
  #isCalm = false
  #checkedCommits = 0
  #starting = false

  constructor(seed: number, planted: Planted | null, features: Features) {
    this.#seed = seed
    this.#planted = planted
    this.#features = features
    this.#draw = drawOf(seed, 'world')
    this.#startMs = startOf(features, drawOf(seed, 'turn'))
    this.#scheduler = new Scheduler(this.#startMs)
    this.#entropy = drawOf(seed, 'entropy')
    this.#venue = drawOf(seed, 'venue')
    const signatures = new Signatures()
    const note = (line: string) => this.#note(line)
    this.#chain = new Chain({
      ...{ chainId: CHAIN_ID, router: lower(ROUTER), delegate: lower(DELEGATE), signatures },
      ...{ draw: drawOf(seed, 'chain'), startMs: this.#startMs },
    })
    this.#chain.reverts = features.reverts
    this.#nodes = Array.from(
      { length: features.nodes },
      (_, i) => new Node(this.#chain, this.#scheduler, drawOf(seed, `node ${i}`)),
    )
    const { lagMsMax, splits, evictions, ungossiped } = features
    for (const node of this.#nodes) {
      node.peers = this.#nodes
      node.faults = { lagMsMax, splits, evictions, ungossiped }
    }
    this.#network = new Network(this.#scheduler, drawOf(seed, 'network'), note)
    const { unsent, unanswered, refused } = features
    this.#network.faults = { latencyMsMax: 40, unsent, unanswered, refused }
    this.#quorum = new Quorum(this.#scheduler, drawOf(seed, 'quorum'), signatures, (what) =>
      this.#fail(what),
    )
    this.#quorum.faults = {
      latencyMsMax: 20,
      unsent: features.quorumUnsent,
      unanswered: features.quorumUnanswered,
    }
    this.#disk = new Disk(this.#scheduler, drawOf(seed, 'disk'))
    this.#disk.faults = { latencyMsMax: 8, refusals: features.diskRefusals }
    this.#markets = new Markets(features, drawOf(seed, 'markets'), this.#scheduler, note)
    this.#service = this.#start()
    this.#callers = new Callers(
      ...([features, drawOf(seed, 'callers'), this.#scheduler, this.#quorum] as const),
      ...([this.#service, note] as const),
    )
  }

  async run(): Promise<Outcome> {
    this.#scheduler.after(this.#features.blockTimeMs, () => this.#block())
    this.#plan()
    try {
      await this.#advance(() => this.#callersLeft === 0)
      this.#calm()
      const untilMs = this.#scheduler.nowMs + REST_MS_MAX
      let quietSinceMs: number | null = null
      await this.#advance(() => {
        const { nowMs } = this.#scheduler
        const isQuiet = isAtRest(this.#service, this.#callers) && this.#callers.waiting.size === 0
        if (!isQuiet) quietSinceMs = null
        else quietSinceMs ??= nowMs
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
      traceHash: this.#hash.digest('hex').slice(0, 16),
      commands: this.#commandsBefore + this.#service.decided,
      durationMs: this.#scheduler.nowMs - this.#startMs,
      seen: this.#seen,
      script: this.#script,
      features: this.#features,
    }
  }

  /** By then every node has seen the last reorg, and the watcher what it took back. */
  get #settleMs(): number {
    const { lagMsMax, blockTimeMs } = this.#features
    return lagMsMax + 3 * blockTimeMs
  }

  /** What the service is held against. */
  get #world(): World {
    return {
      ...{ callers: this.#callers, chain: this.#chain },
      ...{ quorum: this.#quorum, markets: this.#markets },
    }
  }

  #audit(): void {
    if (this.#wrong.length + this.#callers.wrong.length > 0) return
    const { waiting } = this.#callers
    for (const { what } of waiting.values()) this.#fail(`nobody answered ${what}`)
    if (!isAtRest(this.#service, this.#callers)) this.#fail('it does not come to rest')
    const { wallets, gasWallets } = this.#service.resident
    this.#check({ wallets: wallets.values(), gasWallets: gasWallets.values() })
    const { nowMs } = this.#scheduler
    for (const what of auditAtRest(this.#service, this.#world, nowMs)) this.#fail(what)
  }

  async #advance(isDone: () => boolean): Promise<void> {
    await this.#scheduler.run(() => {
      if (this.#disk.commits !== this.#checkedCommits && this.#service.isQuiet) {
        this.#check(this.#service.changed)
      }
      return this.#wrong.length + this.#callers.wrong.length > 0 || isDone()
    })
  }

  /** Whenever all that was decided is on disk. */
  #check(held: Held): void {
    this.#checkedCommits = this.#disk.commits
    const { changed, reader } = this.#service
    for (const what of mirrors(held, reader, this.#scheduler.nowMs)) this.#fail(what)
    changed.wallets.clear()
    changed.gasWallets.clear()
  }

  #callersLeft = 0

  /** What people and accidents do, at moments drawn now. */
  #plan(): void {
    const { calls, pauseMsMax, kills, quorumAway } = this.#features
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
    for (let i = 0; i < kills; i++) {
      this.#scheduler.at(this.#startMs + 500 + draw.integer(spanMs + 20_000), () => this.#kill())
    }
    if (quorumAway) {
      this.#scheduler.at(this.#startMs + draw.integer(spanMs), () => {
        this.#quorum.awayUntilMs = this.#scheduler.nowMs + draw.integer(60_000)
        this.#note('the quorum is away')
      })
    }
  }

  /** Nothing goes wrong from here on. */
  #calm(): void {
    this.#note('calm')
    this.#isCalm = true
    this.#markets.calm()
    this.#chain.reverts = 0
    for (const node of this.#nodes) {
      node.faults = { lagMsMax: 0, splits: 0, evictions: 0, ungossiped: 0 }
    }
    this.#network.faults = { latencyMsMax: 40, unsent: 0, unanswered: 0, refused: 0 }
    this.#quorum.faults = { latencyMsMax: 20, unsent: 0, unanswered: 0 }
    this.#quorum.awayUntilMs = 0
    this.#disk.faults = { latencyMsMax: 8, refusals: 0 }
  }

  #block(): void {
    const draw = this.#draw
    const { reorgs, reorgDepthMax, leftOut, blockTimeMs } = this.#features
    let orphaned: ReturnType<Chain['fork']> = []
    if (!this.#isCalm && draw.chance(reorgs)) {
      const depth = draw.between(1, reorgDepthMax)
      orphaned = this.#chain.fork(depth)
      this.#note(`reorg of ${depth}: ${orphaned.length} transactions`)
      for (let i = 0; i < depth; i++) this.#mine(1)
    }
    this.#mine(this.#isCalm ? 0 : leftOut)
    for (const node of this.#nodes) node.announce(orphaned)
    this.#scheduler.after(draw.between(blockTimeMs / 2, (3 * blockTimeMs) / 2), () => this.#block())
  }

  #mine(leftOut: number): void {
    const draw = this.#draw
    const offered = draw.pick(this.#nodes).offered()
    const taken = offered.filter(() => !draw.chance(leftOut))
    const { number, landed } = this.#chain.extend(this.#scheduler.nowMs, taken)
    if (landed.length > 0)
      this.#note(`landed ${landed.length > 1 ? 'several' : 'one'} in ${number}`)
  }

  #kill(): void {
    if (this.#starting) return
    this.#stop('kill')
  }

  #stop(why: string): void {
    const lost = this.#disk.kill(this.#service.life)
    this.#note(`${why}: ${lost} commits lost`)
    this.#starting = true
    this.#scheduler.after(this.#draw.integer(3_000), () => {
      this.#starting = false
      this.#commandsBefore += this.#service.decided
      this.#note('start')
      this.#service = this.#start()
      this.#callers.restarted(this.#service)
    })
  }

  #start(): Service {
    const { prices, screener } = this.#markets
    return new Service({
      scheduler: this.#scheduler,
      disk: this.#disk,
      quorum: this.#quorum,
      configs: [configOf(this.#features)],
      transportTo: (_, url, life) => {
        const at = Number(new URL(url).hostname.slice('node'.length))
        const node = this.#nodes[at]
        if (node === undefined) throw new Error(`no node at ${url}`)
        const transport = this.#network.transportTo(node, `node ${at}`, life)
        return {
          close: transport.close,
          post: (body) => {
            this.#checkSent(body)
            return transport.post(body)
          },
        }
      },
      entropy: this.#entropy,
      replan: replanFrom(this.#venue),
      signing: (request) => this.#checkBound(request),
      hasApprovals: this.#features.hasApprovals,
      planted: this.#planted,
      prices: this.#planted?.prices?.(prices) ?? prices,
      screener: this.#planted?.screener?.(screener) ?? screener,
      note: (line) => this.#note(line),
      replied: (token, result) => this.#callers.replied(token, result),
      appended: () => undefined,
      wrong: (what) => this.#fail(what),
      ended: () => {
        if (!this.#starting) this.#stop('the disk refused a commit')
      },
    })
  }

  /** Nothing is handed to a node that the disk does not hold. */
  #checkSent(body: string): void {
    for (const [, raw] of body.matchAll(/"eth_sendRawTransaction","params":\["(0x[0-9a-f]+)"\]/g)) {
      if (raw === undefined || this.#stored.has(raw, this.#service.reader, this.#callers)) continue
      this.#fail(`${raw.slice(0, 40)} went out before the disk had it`)
    }
  }

  /** What people approved is good for one nonce, which the disk has before anybody else hears of it. */
  #checkBound({ approval, payload }: SignRequest): void {
    if (approval === undefined || payload.type !== 'transaction') return
    const stored = this.#service.reader.fresh().approvals.byId(USER_ID, approval.approvalId)
    if (stored?.boundNonce === payload.nonce) return
    this.#fail(`${approval.approvalId} is to be signed at ${payload.nonce}, which is not on disk`)
  }

  #note(line: string): void {
    const text = `${this.#scheduler.nowMs - this.#startMs} ${line}`
    this.#hash.update(`${text}\n`)
    const [who = '', what = ''] = line.split(/[ :]+/, 2)
    const kind = `${who} ${what}`
    this.#seen.set(kind, (this.#seen.get(kind) ?? 0) + 1)
    if (this.#script.push(text) > SCRIPT_LINES) this.#script.shift()
  }

  #fail(what: string): void {
    this.#note(`WRONG ${what}`)
    this.#wrong.push(what)
  }
}
