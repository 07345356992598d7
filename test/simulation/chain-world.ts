import { RECENT_BLOCKS_MAX } from '../../actors/chain-watcher/core/state.js'
import type { ChainConfig } from '../../src/config/chains.js'
import { chainFacts } from '../../src/domain/chains.js'
import { type Block, Chain } from './chain.js'
import type { Features } from './features.js'
import { CALM, Node } from './node.js'
import { GETH_RULES, poolRulesFrom } from './node-rules.js'
import { Outsiders } from './outsiders.js'
import { type Draw, drawOf } from './random.js'
import type { Scheduler } from './scheduler.js'
import { BASE_FEES_WEI, configOf, type SimulatedChainId } from './setting.js'
import { lower, type Signatures } from './signatures.js'
import { DELEGATE, ROUTER } from './swaps.js'

/** Most reorgs take back a few blocks, and some of these many. */
const SHALLOW_BLOCKS_MAX = 6
const DEEP_CHANCE = 0.2
/** Each makes hundreds of blocks. */
const DEEP_REORGS_MAX = 2

export interface ChainWorldOptions {
  readonly chainId: SimulatedChainId
  readonly features: Features
  readonly seed: number
  readonly scheduler: Scheduler
  readonly signatures: Signatures
  readonly note: (line: string) => void
  readonly reorged: () => void
}

/** All that a run has, by their ids. */
export type ChainWorlds = ReadonlyMap<number, ChainWorld>

/** A chain, its nodes, and what they do by themselves: blocks at their times, and reorgs. */
export class ChainWorld {
  readonly config: ChainConfig
  readonly chain: Chain
  readonly nodes: readonly Node[]
  readonly outsiders: Outsiders
  readonly #options: ChainWorldOptions
  readonly #draw: Draw
  #isCalm = false
  #deepReorgs = 0

  constructor(options: ChainWorldOptions) {
    const { chainId, features, seed, scheduler, signatures } = options
    this.#options = options
    const name = `chain ${chainId}`
    this.#draw = drawOf(seed, `blocks of ${name}`)
    this.config = configOf(chainId, features, drawOf(seed, `setting of ${name}`))
    this.chain = new Chain({
      ...{ chainId, router: lower(ROUTER), delegate: lower(DELEGATE), signatures },
      ...{ draw: drawOf(seed, name), startMs: scheduler.nowMs },
      baseFeeWei: BASE_FEES_WEI[chainId],
      hasL1Fees: chainFacts(chainId).feeModel === 'op-stack',
      confirmations: this.config.confirmations,
    })
    this.chain.reverts = features.reverts
    this.outsiders = new Outsiders(
      this.chain,
      drawOf(seed, `outsiders of ${name}`),
      features.outsiders,
    )
    this.nodes = this.config.rpc_urls.map(
      (_, i) => new Node(this.chain, scheduler, drawOf(seed, `node ${i} of ${name}`)),
    )
    const { lagMsMax, splits, evictions, ungossiped, unpaid, strays, hasDialects } = features
    const { refusesSelfSends, indexLagMsMax } = features
    const rules = drawOf(seed, `rules of ${name}`)
    for (const node of this.nodes) {
      node.peers = this.nodes
      node.faults = { lagMsMax, splits, evictions, ungossiped, unpaid, strays, indexLagMsMax }
      node.rules = { ...(hasDialects ? poolRulesFrom(rules) : GETH_RULES), refusesSelfSends }
    }
  }

  start(): void {
    this.#options.scheduler.after(this.config.block_time_ms, () => this.#block())
  }

  /** Nothing goes wrong from here on. */
  calm(): void {
    this.#isCalm = true
    this.chain.reverts = 0
    const { hasDearEnd } = this.#options.features
    this.chain.settledFeeWei = hasDearEnd ? this.chain.dearFeeWei : this.chain.lowestFeeWei
    for (const node of this.nodes) {
      node.faults = CALM
      node.rules = { ...node.rules, refusesSelfSends: false }
    }
  }

  /** By then every node has seen the last reorg, and the watcher what it took back. */
  get settleMs(): number {
    return this.#options.features.lagMsMax + 3 * this.config.block_time_ms
  }

  #block(): void {
    const draw = this.#draw
    const { scheduler, note, features, reorged } = this.#options
    const { reorgs, leftOut } = features
    const blockTimeMs = this.config.block_time_ms
    let orphaned: ReturnType<Chain['fork']> = []
    if (!this.#isCalm && draw.chance(reorgs)) {
      const depth = this.#remembered(this.#depth())
      orphaned = this.chain.fork(depth)
      note(`reorg of ${depth} on ${this.chain.options.chainId}: ${orphaned.length} transactions`)
      for (let i = 0; i < depth; i++) this.#mine(1)
      reorged()
    }
    this.#mine(this.#isCalm ? 0 : leftOut)
    for (const node of this.nodes) node.announce(orphaned)
    scheduler.after(draw.between(blockTimeMs / 2, (3 * blockTimeMs) / 2), () => this.#block())
  }

  #depth(): number {
    const draw = this.#draw
    const { reorgDepthMax } = this.#options.features
    const isDeep = this.#deepReorgs < DEEP_REORGS_MAX && draw.chance(DEEP_CHANCE)
    const depth = draw.between(
      1,
      isDeep ? reorgDepthMax : Math.min(reorgDepthMax, SHALLOW_BLOCKS_MAX),
    )
    if (depth > SHALLOW_BLOCKS_MAX) this.#deepReorgs++
    return depth
  }

  /** What landed deeper than the service promises to look stays where it is. */
  #remembered(depth: number): number {
    let at: Block | null = this.chain.head
    for (let deep = 1; deep <= depth && at !== null; deep++, at = at.parent) {
      if (deep > RECENT_BLOCKS_MAX && at.landed.length > 0) return deep - 1
    }
    return depth
  }

  #mine(leftOut: number): void {
    const draw = this.#draw
    const { scheduler, note } = this.#options
    const offered = leftOut < 1 ? draw.pick(this.nodes).offered() : []
    const taken = offered.filter(() => !draw.chance(leftOut))
    const theirs = this.outsiders.take(offered, this.#isCalm)
    if (theirs.length > 0) note(`outsiders made ${theirs.length} calls`)
    const { number, landed } = this.chain.extend(scheduler.nowMs, [...theirs, ...taken])
    if (landed.length === 0) return
    const { chainId } = this.chain.options
    note(`landed ${landed.length > 1 ? 'several' : 'one'} in ${number} of ${chainId}`)
  }
}
