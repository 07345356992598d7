import type { CallShown } from './call-shown.js'
import { FAILS, type Facts, HOLDS, testAll } from './condition.js'
import { type CompiledPolicy, type CompiledRule, isDelay } from './judge-policy.js'

/** What a call waits for when its verdict is `require_approval`. */
export interface ApprovalAsked {
  /** Name of the first rule that asks, or `default`. */
  readonly rule: string
  /** How many people must approve; 0 where it only has to wait. */
  readonly needed: number
  /** How long it must wait before it may be sent; 0: not at all. */
  readonly delaySeconds: number
  /** How long people have to decide. */
  readonly expiresSeconds: number
}

/** Where the policy names no time to decide. */
export const APPROVAL_SECONDS_DEFAULT = 3_600

const BY_DEFAULT: ApprovalAsked = {
  rule: 'default',
  needed: 1,
  delaySeconds: 0,
  expiresSeconds: APPROVAL_SECONDS_DEFAULT,
}

/** What a call waits for by itself that a rule or the default allows: a delay is added to it. */
const UNASKED: ApprovalAsked = { ...BY_DEFAULT, needed: 0 }

/**
 * The strictest of all rules that require approval of a call, so that no rule weakens another: the
 * most people, the longest delay, the shortest time to decide.
 * @param compiled with the verdict `require_approval` for this call
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
 * The same for a judge that leaves conditions to the other domain: what the other one asks for is at
 * least one of these. More than one where no rule asks people for certain: then it is one of the
 * ways on which the call may pass, the rules that may ask or let wait, or the default.
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

/** What two rules ask for together. */
export function stricter(one: ApprovalAsked | null, other: ApprovalAsked): ApprovalAsked {
  if (one === null) return other
  return {
    rule: one.needed === 0 && other.needed > 0 ? other.rule : one.rule,
    needed: Math.max(one.needed, other.needed),
    delaySeconds: Math.max(one.delaySeconds, other.delaySeconds),
    expiresSeconds: timeOfBoth(one, other),
  }
}

/** What only has to wait takes no time from people whom the other asks. */
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
