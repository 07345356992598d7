import type { CallShown } from './call-shown.js'
import { FAILS, type Facts, testAll } from './condition.js'
import type { CompiledPolicy, CompiledRule } from './judge-policy.js'

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
  let strictest: ApprovalAsked | null = null
  for (const one of asking(compiled)) {
    if ((testAll(one.conditions, call, facts) & FAILS) !== 0) continue
    strictest = stricter(strictest, askedBy(one))
  }
  return strictest ?? BY_DEFAULT
}

/**
 * The same for a judge that leaves conditions to the other domain: what the other one asks for is at
 * least one of these. More than one where no rule asks for certain: then it is the default that
 * does, or one of the rules that the other domain may find to match.
 */
export function approvalsPossible(
  compiled: CompiledPolicy,
  call: CallShown,
  facts: Facts,
): readonly ApprovalAsked[] {
  const open: ApprovalAsked[] = []
  let isCertain = false
  for (const one of asking(compiled)) {
    const result = testAll(one.conditions, call, facts)
    if ((result & FAILS) === 0) isCertain = true
    else if (result !== FAILS) open.push(askedBy(one))
  }
  return isCertain ? [approvalAsked(compiled, call, facts)] : [BY_DEFAULT, ...open]
}

function asking({ rules }: CompiledPolicy): CompiledRule[] {
  return rules.filter(({ effect }) => effect === 'require_approval')
}

/** What two rules ask for together. */
export function stricter(one: ApprovalAsked | null, other: ApprovalAsked): ApprovalAsked {
  if (one === null) return other
  return {
    rule: one.rule,
    needed: Math.max(one.needed, other.needed),
    delaySeconds: Math.max(one.delaySeconds, other.delaySeconds),
    expiresSeconds: Math.min(one.expiresSeconds, other.expiresSeconds),
  }
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
