import type { Features } from './features.js'
import type { Planted } from './planted.js'
import { type Outcome, simulate } from './simulation.js'

/** What each feature is where it plays no part. */
const CALM: Readonly<Features> = {
  users: 1,
  wallets: 1,
  shards: 1,
  chains: 1,
  nodes: 1,
  calls: 1,
  pauseMsMax: 1_000,
  confirmations: 1,
  blockTimeMs: 2_000,
  hasSponsored: false,
  hasKeyChanges: false,
  hasFreezes: false,
  hasCancels: false,
  kills: 0,
  diskRefusals: 0,
  fullDisks: 0,
  commitKills: 0,
  hasPowerLosses: false,
  reorgs: 0,
  reorgDepthMax: 1,
  lagMsMax: 0,
  splits: 0,
  evictions: 0,
  ungossiped: 0,
  unsent: 0,
  unanswered: 0,
  refused: 0,
  garbled: 0,
  hasDialects: false,
  quorumUnsent: 0,
  quorumUnanswered: 0,
  quorumLate: 0,
  quorumDoubled: 0,
  quorumOvertaken: 0,
  quorumRestarts: 0,
  quorumAway: false,
  userSideKills: 0,
  userSideRefusals: 0,
  userSideFull: 0,
  reverts: 0,
  leftOut: 0,
  hasApprovals: false,
  hasPolicies: false,
  hasSubKeys: false,
  hasRotations: false,
  turn: 'none',
  priceMoves: 0,
  priceGaps: 0,
  listGaps: 0,
  hasListings: false,
  hasWebhooks: false,
  receiverRefusals: 0,
  receiverHangs: 0,
  receiverLate: 0,
  receiverGone: 0,
  deliveriesPerSecond: 100,
  hasRealCurves: false,
  hasJournal: false,
  deposed: 0,
  diskLatencyMsMax: 8,
  liftsRefused: 0,
  hasDearEnd: false,
  unpaid: 0,
  refusesSelfSends: false,
  diskStalls: 0,
  reorgKills: 0,
  hasPatience: false,
  strays: 0,
  indexLagMsMax: 0,
  outsiders: 0,
  parted: null,
  cluster: null,
}

/** Calls are left out in halves, quarters and so on, at the end of the run. */
const CALL_STEPS = 6

/**
 * A world of a seed that still fails, with as little in it as can be found by taking out one thing
 * after another.
 * @returns null where it does not fail
 */
export async function shrink(
  seed: number,
  planted: Planted | null,
  features: Features,
): Promise<Outcome | null> {
  let least = await simulate(seed, planted, features)
  if (least.wrong.length === 0) return null
  const kind = kindOf(least)
  async function isStillWrong(said: Partial<Features>): Promise<boolean> {
    const outcome = await simulate(seed, planted, { ...least.features, ...said })
    if (kindOf(outcome) !== kind) return false
    least = outcome
    return true
  }
  let step = Math.ceil(least.features.calls / 2)
  for (let i = 0; i < CALL_STEPS && step > 0; i++) {
    const calls = least.features.calls - step
    const isFewer = calls > 0 && (await isStillWrong({ calls }))
    if (!isFewer) step = Math.floor(step / 2)
  }
  for (const name of Object.keys(CALM) as (keyof Features)[]) {
    if (name === 'calls' || least.features[name] === CALM[name]) continue
    await isStillWrong({ [name]: CALM[name] })
  }
  return least
}

/** What went wrong first, without names and numbers. */
function kindOf({ wrong: [first = ''] }: Outcome): string {
  return first.replaceAll(/[0-9A-Z]{6,}|\d+/g, '#')
}

/** Of a world: what is in it that need not be. */
export function notCalm(features: Features): Partial<Features> {
  const kept = Object.entries(features).filter(([name, value]) => CALM[name as never] !== value)
  return Object.fromEntries(kept)
}
