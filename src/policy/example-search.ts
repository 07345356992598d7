import { policyEnlarges } from './enlarges.js'
import { candidates } from './example-candidates.js'
import { callOf, circumstancesOf, type Signatures } from './example-points.js'
import { type Example, isFreer, judgeOf, PASSAGE } from './judged-call.js'
import type { Policy } from './policy.js'

/**
 * Finds calls that a policy allows and the one before did not, among those where the two may
 * differ: each rule's own calls, and those at its bounds. It takes milliseconds and no solver, for
 * pages that people read before they sign. The judge has judged each result; an empty result proves
 * nothing (`countersign policy diff` decides it).
 */
export interface Found {
  readonly examples: readonly Example[]
  /** True when the new policy is provably within the old one, so that no example exists. */
  readonly isNarrower: boolean
}

/** People read no more than this before they sign. */
export const EXAMPLES_SHOWN_MAX = 3
/**
 * The number found before the gravest are chosen: a policy's author decides the order of its rules.
 */
const EXAMPLES_FOUND_MAX = 64
/**
 * The most rules evaluated over all calls: the search runs on the thread that signs wallets' calls,
 * which wait for it.
 */
const RULES_ASKED_MAX = 12_000
/** The cost of a call beyond its rules, counted in rules. */
const RULES_A_CALL = 8

export function findExamples(before: Policy | null, next: Policy | null): Found {
  if (!policyEnlarges(before, next)) return { examples: [], isNarrower: true }
  const [judgeBefore, judgeNext] = [judgeOf(before), judgeOf(next)]
  const found = new Map<string, Example>()
  const rules = (before?.rules.length ?? 0) + (next?.rules.length ?? 0) + RULES_A_CALL
  const signatures: Signatures = new Map()
  let left = RULES_ASKED_MAX
  for (const point of candidates(before, next)) {
    left -= rules
    if (found.size === EXAMPLES_FOUND_MAX || left < 0) break
    const call = callOf(point, signatures)
    const circumstances = circumstancesOf(point, call)
    const judged = {
      before: judgeBefore(call, circumstances),
      next: judgeNext(call, circumstances),
    }
    const pair = `${judged.before.by}\n${judged.next.by}`
    if (found.has(pair) || !isFreer(judged.before, judged.next)) continue
    found.set(pair, { call, circumstances, ...judged })
  }
  const gravest = [...found.values()].sort((one, other) => gravity(other) - gravity(one))
  return { examples: gravest.slice(0, EXAMPLES_SHOWN_MAX), isNarrower: false }
}

/**
 * Ranks an example: calls that are allowed at once rank above those that wait, calls that were
 * denied above those that waited, and calls that pay others come last.
 */
function gravity({ before, next, call }: Example): number {
  const paysAnybody = call.beneficiaries === null ? 1 : 0
  return PASSAGE[next.effect] * 4 - PASSAGE[before.effect] * 2 + paysAnybody
}
