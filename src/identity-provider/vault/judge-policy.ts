import { type ApprovalAsked, approvalsPossible } from '../../policy/approval-asked.js'
import type { CallShown } from '../../policy/call-shown.js'
import {
  ceilingBreach,
  ceilingDenial,
  UNREADABLE_UNITS,
  type UnitsTaken,
  unitsTaken,
} from '../../policy/ceilings.js'
import { compiledOf } from '../../policy/compiled-policies.js'
import { ELSEWHERE, type Facts } from '../../policy/condition.js'
import { type CompiledPolicy, explain, judge, retryAt } from '../../policy/judge-policy.js'
import type { Ceiling, Policy } from '../../policy/policy.js'
import {
  addToLedger,
  countedWithin,
  freesAt,
  type PolicyLedger,
  unitsUsed,
} from '../../policy/policy-ledger.js'
import { isZero } from '../../quorum-protocol/bytes.js'
import type { DecodedPayload } from '../../quorum-protocol/payload.js'
import type { PolicyDenial } from '../../quorum-protocol/policy-denial.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { type ApprovalStanding, tooEarly, tooFew } from './approval-standing.js'
import { callsIn } from './calls-in-payload.js'
import {
  allowsDelegation,
  compileForApprovedDelegations,
  compileForDelegations,
} from './delegation-policy.js'
import type { BoundUsage } from './granted.js'

/**
 * The user side's own judgement of a policy: what a payload's bytes show, the time, and what this
 * lineage had signed. It knows no prices and no payees of before; those it leaves to the service.
 */

export class PolicyDenied extends Refusal {
  readonly denial: PolicyDenial

  constructor(denial: PolicyDenial) {
    super('POLICY_DENIED', `${denial.rule}: ${denial.field}`)
    this.denial = denial
  }
}

interface Compiled {
  readonly calls: CompiledPolicy
  readonly delegations: CompiledPolicy
  /** Of those that come with an approved call. */
  readonly approvedDelegations: CompiledPolicy
}

const compiled = new WeakMap<CompiledPolicy, Compiled>()

function compile(policy: Policy): Compiled {
  const calls = compiledOf(policy)
  const known = compiled.get(calls)
  if (known !== undefined) return known
  const made = {
    calls,
    delegations: compileForDelegations(policy),
    approvedDelegations: compileForApprovedDelegations(policy),
  }
  compiled.set(calls, made)
  return made
}

/**
 * @param policies that bind the key, at least one: its lineage's, and its own where it has a successor
 * @param usage of its lineage
 * @param standing of the approval that it rests on; null: it rests on none
 * @returns the usage with this payload; null where there is nothing to count
 * @throws PolicyDenied; Refusal APPROVAL_MISSING or APPROVAL_EARLY
 */
export function judgePolicies(
  policies: readonly Policy[],
  payload: DecodedPayload,
  usage: PolicyLedger,
  nowMs: number,
  standing: ApprovalStanding | null,
): PolicyLedger | null {
  return judgePath([{ policies, usage }], payload, nowMs, standing)[0] ?? null
}

/**
 * The same of a key that a key made: what binds it, and what binds those above. One reading of the
 * payload has to pass all of them.
 * @returns the usage of each with this payload; null where there is nothing to count
 * @throws PolicyDenied; Refusal APPROVAL_MISSING or APPROVAL_EARLY
 */
export function judgePath(
  path: readonly BoundUsage[],
  payload: DecodedPayload,
  nowMs: number,
  standing: ApprovalStanding | null,
): readonly (PolicyLedger | null)[] {
  const bound = path.map(({ policies, usage }) => ({
    all: policies.map(compile),
    usage,
    facts: factsOf(usage, nowMs),
  }))
  if (payload.kind === 'authorization') {
    for (const { all, facts } of bound) {
      judgeDelegation(all, payload, facts, standing)
    }
    return []
  }
  const readings = callsIn(payload)
  let denial: PolicyDenial | Refusal | null = null
  for (const call of readings) {
    denial = null
    for (const { all, facts, usage } of bound) {
      denial ??= denialOf(all, call, facts, usage, standing)
    }
    if (denial === null) return bound.map(({ all, usage }) => counted(all, call, usage, nowMs))
  }
  if (denial === null) throw new Error('a payload that shows no call')
  throw denial instanceof Refusal ? denial : new PolicyDenied(denial)
}

function factsOf(usage: PolicyLedger, nowMs: number): Facts {
  return {
    nowMs,
    spendMicros: ELSEWHERE,
    hasPaid: ELSEWHERE,
    within: (perSeconds) => countedWithin(usage, perSeconds, nowMs),
    countsUsd: false,
  }
}

/**
 * The usage with a payload that was approved before, as far as today's policies count it.
 * @returns null where there is nothing to count
 */
export function countApproved(
  policies: readonly Policy[],
  payload: DecodedPayload,
  usage: PolicyLedger,
  atMs: number,
): PolicyLedger | null {
  if (policies.length === 0 || payload.kind === 'authorization') return null
  const [call] = callsIn(payload)
  return call === undefined ? null : counted(policies.map(compile), call, usage, atMs)
}

function judgeDelegation(
  all: readonly Compiled[],
  { delegate, chainId }: Extract<DecodedPayload, { kind: 'authorization' }>,
  facts: Facts,
  standing: ApprovalStanding | null,
): void {
  // To take a delegation away opens nothing.
  if (isZero(delegate)) return
  const isAllowed = ({ delegations, approvedDelegations }: Compiled) =>
    allowsDelegation(standing === null ? delegations : approvedDelegations, chainId, facts)
  if (all.every(isAllowed)) return
  throw new PolicyDenied({
    rule: 'default',
    field: 'operations',
    observed: `a delegation on chain ${chainId}`,
    permitted: 'a delegation where some operation of the Router is allowed',
    retryAt: null,
    suggestion: 'Ask the owner to allow an operation of the Router on this chain.',
  })
}

function denialOf(
  all: readonly Compiled[],
  call: CallShown,
  facts: Facts,
  usage: PolicyLedger,
  standing: ApprovalStanding | null,
): PolicyDenial | Refusal | null {
  for (const { calls } of all) {
    const verdict = judge(calls, call, facts)
    if (verdict.effect === 'require_approval' && standing !== null) {
      const lacks = lackOf(approvalsPossible(calls, call, facts), standing)
      if (lacks !== null) return lacks
    } else if (verdict.effect !== 'allow') {
      const { heals, ...denial } = explain(calls, verdict, call, facts)
      const at = retryAt(heals, facts.nowMs, (of) =>
        freesAt(usage, [], of.perSeconds, ({ count, micros }) =>
          'countMax' in of ? count <= of.countMax : micros <= of.microsMax,
        ),
      )
      return { ...denial, retryAt: at }
    }
    const above = aboveCeiling(calls.policy, call, usage, facts.nowMs)
    if (above !== null) return above
  }
  return null
}

/** Why an approval is not enough for any of what the service may ask for; null where it is. */
function lackOf(
  possible: readonly ApprovalAsked[],
  { people, waitedMs }: ApprovalStanding,
): Refusal | null {
  const fewest = possible.filter(({ needed }) => needed <= people)
  if (fewest.some(({ delaySeconds }) => delaySeconds * 1_000 <= waitedMs)) return null
  if (fewest.length > 0) return tooEarly()
  return tooFew(people, Math.min(...possible.map(({ needed }) => needed)))
}

function aboveCeiling(
  policy: Policy,
  call: CallShown,
  usage: PolicyLedger,
  nowMs: number,
): PolicyDenial | null {
  const taken = unitsTaken(policy, call)
  if (taken === null) return UNREADABLE_UNITS
  const usedOf = (ceiling: Ceiling) => unitsUsed(usage, ceiling, nowMs)
  const breach = ceilingBreach(policy, taken, usedOf)
  return breach === null ? null : ceilingDenial(policy, breach, usedOf, nowMs)
}

function counted(
  all: readonly Compiled[],
  call: CallShown,
  usage: PolicyLedger,
  atMs: number,
): PolicyLedger | null {
  const [first, second] = all
  if (first === undefined) return null
  const { policy, windows } = first.calls
  if (second === undefined) {
    if (windows.length + policy.ceilings.length === 0) return null
    const use = { atMs, micros: 0n, taken: unitsTaken(policy, call) ?? [] }
    return addToLedger(usage, use, windows, policy.ceilings)
  }
  const allWindows = new Set(all.flatMap(({ calls }) => calls.windows))
  const ceilings = all.flatMap(({ calls }) => calls.policy.ceilings)
  if (allWindows.size + ceilings.length === 0) return null
  const taken = new Map<string, UnitsTaken>()
  for (const { calls } of all) {
    for (const units of unitsTaken(calls.policy, call) ?? []) {
      taken.set(`${units.chainId} ${units.token}`, units)
    }
  }
  const use = { atMs, micros: 0n, taken: [...taken.values()] }
  return addToLedger(usage, use, [...allWindows], ceilings)
}
