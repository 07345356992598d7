import { policyEnlarges } from './enlarges.js'
import { candidates } from './example-candidates.js'
import { callOf, circumstancesOf, type Signatures } from './example-points.js'
import { type Example, isFreer, judgeOf, PASSAGE } from './judged-call.js'
import type { Policy } from './policy.js'

/**
 * Calls that a policy lets through and the one before did not, looked for among those that lie where
 * the two differ: each rule's own calls, and what is at its bounds. It takes milliseconds and no
 * solver, for pages that people read before they sign. What it shows the judge has judged; that it
 * finds nothing proves nothing (`countersign policy diff` decides it).
 */
export interface Found {
  readonly examples: readonly Example[]
  /** The new policy is provably within the old one: there is none to be found. */
  readonly isNarrower: boolean
}

/** More than people read before they sign. */
export const EXAMPLES_SHOWN_MAX = 3
/** Of which the gravest are shown: whoever writes a policy decides on the order of its rules. */
const EXAMPLES_FOUND_MAX = 64
/** Rules asked, all calls together: it goes on where wallets' calls are signed, which wait for it. */
const RULES_ASKED_MAX = 12_000
/** What a call costs beyond its rules, in these. */
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

/** What goes through at once before what waits, what was refused before what waited, others to pay last. */
function gravity({ before, next, call }: Example): number {
  const paysAnybody = call.beneficiaries === null ? 1 : 0
  return PASSAGE[next.effect] * 4 - PASSAGE[before.effect] * 2 + paysAnybody
}
