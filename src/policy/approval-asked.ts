import type { CallShown } from './call-shown.js'
import { FAILS, type Facts, HOLDS, testAll } from './condition.js'
import { type CompiledPolicy, type CompiledRule, isDelay } from './judge-policy.js'

/** The approval or delay that a call waits for when its verdict is `require_approval`. */
export interface ApprovalAsked {
  /** The name of the first rule that requires it, or `default`. */
  readonly rule: string
  /** The number of people who must approve; 0 when the call only has a delay. */
  readonly needed: number
  /** The delay before the call may be sent, seconds; 0 for none. */
  readonly delaySeconds: number
  /** The time that people have to decide, seconds. */
  readonly expiresSeconds: number
}

/** The time to decide when the policy sets none. */
export const APPROVAL_SECONDS_DEFAULT = 3_600

const BY_DEFAULT: ApprovalAsked = {
  rule: 'default',
  needed: 1,
  delaySeconds: 0,
  expiresSeconds: APPROVAL_SECONDS_DEFAULT,
}

/** The base for a call that a rule or the default allows: a delay is added to it. */
const UNASKED: ApprovalAsked = { ...BY_DEFAULT, needed: 0 }

/**
 * Combines all rules that require approval of a call, so that no rule weakens another: the most
 * people, the longest delay, the shortest time to decide.
 * @param compiled a policy whose verdict for this call is `require_approval`
 */
export function approvalAsked(
  compiled: CompiledPolicy,
  call: CallShown,
  facts: Facts,
): ApprovalAsked {
  const [mildest = BY_DEFAULT] = approvalsPossible(compiled, call, facts)
  return mildest
}

/**
 * The same for a judge that leaves conditions to the other domain: the other domain requires at
 * least one of these. There are several when no rule is certain to require people: then each is one
 * of the ways in which the call may pass, by the rules that may require approval or a delay, or by
 * the default.
 */
export function approvalsPossible(
  compiled: CompiledPolicy,
  call: CallShown,
  facts: Facts,
): readonly ApprovalAsked[] {
  let certain: ApprovalAsked | null = null
  let isAsked = false
  const ways: ApprovalAsked[] = []
  for (const one of compiled.rules) {
    if (one.effect === 'deny') continue
    const result = testAll(one.conditions, call, facts)
    const isCertain = (result & FAILS) === 0
    if (one.effect === 'allow') {
      if ((result & HOLDS) !== 0) ways.push(UNASKED)
    } else if (isDelay(one)) {
      if (isCertain) certain = stricter(certain, askedBy(one))
      if ((result & HOLDS) !== 0) ways.push(askedBy(one))
    } else if (isCertain) {
      certain = stricter(certain, askedBy(one))
      isAsked = true
    } else if (result !== FAILS) ways.push(askedBy(one))
  }
  if (isAsked && certain !== null) return [certain]
  const { fallback } = compiled.policy
  if (fallback === 'require_approval') ways.push(BY_DEFAULT)
  if (fallback === 'allow') ways.push(UNASKED)
  return ways.map((way) => stricter(certain, way))
}

/** Combines the requirements of two rules. */
export function stricter(one: ApprovalAsked | null, other: ApprovalAsked): ApprovalAsked {
  if (one === null) return other
  return {
    rule: one.needed === 0 && other.needed > 0 ? other.rule : one.rule,
    needed: Math.max(one.needed, other.needed),
    delaySeconds: Math.max(one.delaySeconds, other.delaySeconds),
    expiresSeconds: timeOfBoth(one, other),
  }
}

/** A rule that only sets a delay does not shorten the time of people whom the other rule asks. */
function timeOfBoth(one: ApprovalAsked, other: ApprovalAsked): number {
  if (one.needed > 0 && other.needed === 0) return one.expiresSeconds
  if (one.needed === 0 && other.needed > 0) return other.expiresSeconds
  return Math.min(one.expiresSeconds, other.expiresSeconds)
}

function askedBy({ rule }: CompiledRule): ApprovalAsked {
  const { name, approvals, delaySeconds } = rule
  const asks = rule.effect === 'require_approval'
  return {
    rule: name,
    needed: asks ? (approvals?.needed ?? 1) : 0,
    delaySeconds,
    expiresSeconds: approvals?.expiresSeconds ?? APPROVAL_SECONDS_DEFAULT,
  }
}
