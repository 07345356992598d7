import type { Parted } from './parted.js'
import type { Draw } from './random.js'

/** What a run has in it: a subset, drawn, since faults hide one another where all come together. */
export interface Features {
  readonly users: number
  readonly wallets: number
  /** Threads that actors live on. */
  readonly shards: number
  readonly chains: number
  /** Of each chain. */
  readonly nodes: number
  readonly calls: number
  /** Between two calls, at most. */
  readonly pauseMsMax: number
  readonly confirmations: number
  readonly blockTimeMs: number
  readonly hasSponsored: boolean
  readonly hasKeyChanges: boolean
  readonly hasFreezes: boolean
  readonly hasCancels: boolean
  readonly kills: number
  readonly diskRefusals: number
  /** How often the disk has no room for a while. */
  readonly fullDisks: number
  /** Ends of the process just when a commit is asked for, or written and not yet promised. */
  readonly commitKills: number
  /** Ends lose all that the disk was not done with. */
  readonly hasPowerLosses: boolean
  /** Of blocks, how many are followed by a reorg. */
  readonly reorgs: number
  readonly reorgDepthMax: number
  readonly lagMsMax: number
  readonly splits: number
  readonly evictions: number
  readonly ungossiped: number
  readonly unsent: number
  readonly unanswered: number
  readonly refused: number
  /** Of answers of nodes, how many are no answers. */
  readonly garbled: number
  /** Nodes have pools and words of their own. */
  readonly hasDialects: boolean
  readonly quorumUnsent: number
  readonly quorumUnanswered: number
  /** Of calls of the user side and the quorum signer, how many come late, twice, or are overtaken. */
  readonly quorumLate: number
  readonly quorumDoubled: number
  readonly quorumOvertaken: number
  /** Starts of the quorum signer, which then knows no session any more. */
  readonly quorumRestarts: number
  readonly quorumAway: boolean
  /** Ends of the user side, at any moment. */
  readonly userSideKills: number
  readonly userSideRefusals: number
  readonly userSideFull: number
  readonly reverts: number
  /** Of blocks, how many of those in the pool are left out. */
  readonly leftOut: number
  /** Policies that send calls to people, or let them wait. */
  readonly hasApprovals: boolean
  /** Policies that count. */
  readonly hasPolicies: boolean
  /** Keys that keys make. */
  readonly hasSubKeys: boolean
  readonly hasRotations: boolean
  /** What comes to its end in the middle of the run. */
  readonly turn: 'none' | 'day' | 'month'
  /** Part by which a price moves at most, each time. */
  readonly priceMoves: number
  readonly priceGaps: number
  readonly listGaps: number
  /** Somebody whom agents pay comes to be on a list. */
  readonly hasListings: boolean
  /** Programs that want to be told. */
  readonly hasWebhooks: boolean
  readonly receiverRefusals: number
  readonly receiverHangs: number
  readonly receiverLate: number
  readonly receiverGone: number
  readonly deliveriesPerSecond: number
  /** Else stand-ins, under the same protocol. */
  readonly hasRealCurves: boolean
  /** Of each commit, at most. */
  readonly diskLatencyMsMax: number
  /** Starts of the service name the journal that they took, and with which epoch. */
  readonly hasJournal: boolean
  /** How often one from which the journal was taken since announces itself once more. */
  readonly deposed: number
  /** Of liftings of freezes, how many the identity provider turns down. */
  readonly liftsRefused: number
  /** In the end fees do not fall: what is under way has to outbid itself. */
  readonly hasDearEnd: boolean
  /** Of transactions handed to a node, how many it says their account cannot pay for. */
  readonly unpaid: number
  /** Nodes want more gas for what an account sends itself than it is sent with. */
  readonly refusesSelfSends: boolean
  /** Of commits, how many take seconds. */
  readonly diskStalls: number
  /** Of reorgs, how many the service ends and starts in, before all nodes know of them. */
  readonly reorgKills: number
  /** Calls wait for people for days. */
  readonly hasPatience: boolean
  /** Of receipts that are gone, how many an index still has that has yet to hear of the last reorg. */
  readonly strays: number
  /** An index of receipts knows of what a block has so much later than the block, at most. */
  readonly indexLagMsMax: number
  /** Of blocks, how many have a call of one of our accounts that the service knows nothing of. */
  readonly outsiders: number
  /** Machines that take over from one another; null: one, without a journal. */
  readonly cluster: Cluster | null
  /** Of a cluster, what comes between any two of it; null: owners are cut off from the journal alone. */
  readonly parted: Parted | null
}

/** Services over one journal, of which one is its owner, and what comes between them. */
export interface Cluster {
  readonly machines: number
  readonly engineLatencyMsMax: number
  /** Of requests to the journal, how many never arrive, how many answers get lost, how many arrive twice. */
  readonly engineUnsent: number
  readonly engineUnanswered: number
  readonly engineDoubled: number
  /** How often its owner is cut off from it for a while, and it is away for all. */
  readonly cuts: number
  readonly engineAway: number
  /** How often the owner says that it leaves, and ends. */
  readonly leaves: number
  /** How often one, mostly the owner, stands still for a while. */
  readonly freezes: number
  /** As far as a machine's clock is ahead of the world's, or behind it, at most. */
  readonly clocksApartMs: number
}

/** Of runs, how many have as many calls as several others: setting up costs as much as dozens of calls. */
const LONG_RUNS = 0.2
/** Of runs, how many sign by the real curves, which takes longer than all else that they do. */
const REAL_CURVES = 1 / 16
const LONG_TIMES = 10
/** Longer than any chain here takes to make final what it has. */
const INDEX_LAG_MS_MAX = 300_000
/** Ends of processes, in a run that long. */
const LONG_ENDS = 4
/** Of runs, how many have any of what was thought of last; the others are as they were before. */
const LAST_THOUGHT_OF = 0.5

export function featuresOf(draw: Draw): Features {
  const drawn = shortOf(draw)
  const isLong = draw.chance(LONG_RUNS)
  const hasRealCurves = draw.chance(REAL_CURVES)
  const hasJournal = draw.chance(0.3)
  const deposed = hasJournal ? draw.between(0, 3) : 0
  const diskLatencyMsMax = draw.pick([8, 8, 8, 400])
  const features = {
    ...{ ...drawn, hasRealCurves, hasJournal, deposed, diskLatencyMsMax },
    ...lastOf(draw, drawn),
    ...{ outsiders: 0, cluster: null, parted: null },
  }
  if (!isLong) return features
  const { calls, kills, commitKills, quorumRestarts, userSideKills } = features
  return {
    ...features,
    calls: calls * LONG_TIMES,
    kills: kills * LONG_ENDS,
    commitKills: commitKills * LONG_ENDS,
    quorumRestarts: quorumRestarts * LONG_ENDS,
    userSideKills: userSideKills * LONG_ENDS,
  }
}

const OUTSIDERS_MAX = 0.3

/** A world in which nonces are used from outside, as by a service that was restored and a copy of it. */
export function withOutsiders(features: Features, draw: Draw): Features {
  return { ...features, outsiders: draw.fraction() * OUTSIDERS_MAX }
}

/** A world of several machines: what else happens in it is drawn as in one of a single machine. */
export function inCluster(features: Features, draw: Draw): Features {
  const some = (most: number) => (draw.chance(0.5) ? draw.fraction() * most : 0)
  return {
    ...features,
    ...{ hasJournal: true, deposed: 0 },
    cluster: {
      machines: draw.pick([2, 2, 3]),
      engineLatencyMsMax: draw.pick([5, 20, 200]),
      engineUnsent: some(0.1),
      engineUnanswered: some(0.1),
      engineDoubled: some(0.1),
      cuts: draw.chance(0.7) ? draw.between(1, 5) : 0,
      engineAway: draw.chance(0.4) ? draw.between(1, 2) : 0,
      leaves: draw.chance(0.5) ? draw.between(1, 3) : 0,
      freezes: draw.chance(0.5) ? draw.between(1, 3) : 0,
      clocksApartMs: draw.chance(0.5) ? draw.pick([50, 500, 2_000]) : 0,
    },
  }
}

/** What is drawn later leaves to older seeds what they have. */
type Later =
  | 'hasRealCurves'
  | 'hasJournal'
  | 'deposed'
  | 'diskLatencyMsMax'
  | 'outsiders'
  | 'cluster'
  | 'parted'
  | Last
type Last =
  | 'liftsRefused'
  | 'hasDearEnd'
  | 'unpaid'
  | 'refusesSelfSends'
  | 'diskStalls'
  | 'reorgKills'
  | 'hasPatience'
  | 'strays'
  | 'indexLagMsMax'

/** Each new one is drawn behind the others. */
function lastOf(draw: Draw, drawn: Omit<Features, Later>): Pick<Features, Last> {
  const hasThem = draw.chance(LAST_THOUGHT_OF)
  const some = (most: number) => (draw.chance(0.5) && hasThem ? draw.fraction() * most : 0)
  const liftsRefused = some(0.6)
  const { hasApprovals, hasPolicies, hasKeyChanges, hasSubKeys } = drawn
  // Neither cap nor approval is to forbid it.
  const mayOutbid = !(hasApprovals || hasPolicies || hasKeyChanges || hasSubKeys)
  const hasDearEnd = draw.chance(0.5) && hasThem && mayOutbid
  const unpaid = some(0.3)
  const refusesSelfSends = draw.chance(0.3) && hasThem
  const diskStalls = some(0.1)
  const reorgKills = some(0.5)
  const hasPatience = draw.chance(0.5) && hasThem && hasApprovals
  const strays = some(0.5)
  const indexLagMsMax =
    draw.chance(0.1) && hasThem ? Math.floor(draw.fraction() * INDEX_LAG_MS_MAX) : 0
  return {
    ...{ liftsRefused, hasDearEnd, unpaid, refusesSelfSends },
    ...{ diskStalls, reorgKills, hasPatience, strays, indexLagMsMax },
  }
}

function shortOf(draw: Draw): Omit<Features, Later> {
  const some = (most: number) => (draw.chance(0.5) ? draw.fraction() * most : 0)
  return {
    users: draw.pick([1, 1, 2, 3]),
    wallets: draw.between(1, 4),
    shards: draw.pick([1, 1, 2, 3]),
    chains: draw.pick([1, 1, 1, 2, 3, 6]),
    nodes: draw.between(1, 3),
    calls: draw.between(10, 60),
    pauseMsMax: draw.pick([50, 1_000, 8_000]),
    confirmations: draw.between(1, 4),
    blockTimeMs: draw.pick([2_000, 12_000]),
    hasSponsored: draw.chance(0.5),
    hasKeyChanges: draw.chance(0.4),
    hasFreezes: draw.chance(0.3),
    hasCancels: draw.chance(0.3),
    kills: draw.chance(0.6) ? draw.between(1, 5) : 0,
    diskRefusals: draw.chance(0.2) ? 0.01 : 0,
    reorgs: some(0.2),
    reorgDepthMax: draw.pick([1, 2, 6, 6, 40, 300]),
    lagMsMax: draw.pick([0, 500, 20_000]),
    splits: some(0.2),
    evictions: some(0.05),
    ungossiped: some(0.5),
    unsent: some(0.1),
    unanswered: some(0.2),
    refused: some(0.1),
    garbled: some(0.05),
    hasDialects: draw.chance(0.4),
    quorumUnsent: some(0.15),
    quorumUnanswered: some(0.15),
    quorumAway: draw.chance(0.3),
    reverts: some(0.2),
    leftOut: some(0.5),
    hasApprovals: draw.chance(0.35),
    hasPolicies: draw.chance(0.35),
    hasSubKeys: draw.chance(0.3),
    hasRotations: draw.chance(0.25),
    turn: draw.chance(0.3) ? draw.pick(['day', 'month'] as const) : 'none',
    priceMoves: draw.chance(0.4) ? draw.pick([0.004, 0.04, 0.3]) : 0,
    priceGaps: draw.chance(0.2) ? 0.1 : 0,
    listGaps: draw.chance(0.2) ? 0.1 : 0,
    hasListings: draw.chance(0.25),
    hasWebhooks: draw.chance(0.35),
    receiverRefusals: some(0.4),
    receiverHangs: some(0.2),
    receiverLate: some(0.2),
    receiverGone: draw.chance(0.2) ? 0.02 : 0,
    deliveriesPerSecond: draw.pick([1, 20, 100]),
    fullDisks: draw.chance(0.2) ? draw.between(1, 2) : 0,
    commitKills: draw.chance(0.5) ? draw.between(1, 5) : 0,
    hasPowerLosses: draw.chance(0.4),
    quorumLate: some(0.02),
    quorumDoubled: some(0.1),
    quorumOvertaken: some(0.05),
    quorumRestarts: draw.chance(0.3) ? draw.between(1, 3) : 0,
    userSideKills: draw.chance(0.3) ? draw.between(1, 6) : 0,
    userSideRefusals: draw.chance(0.2) ? 0.02 : 0,
    userSideFull: draw.chance(0.2) ? draw.between(1, 2) : 0,
  }
}
