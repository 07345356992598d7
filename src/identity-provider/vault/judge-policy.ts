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
  takeUnits,
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
 * The identity provider's own judgement of a policy, by the payload's bytes, the time and what this
 * lineage had signed. It knows neither prices nor earlier beneficiaries; the service judges those.
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
  /** The policy for delegations that come with an approved call. */
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
 * Judges one payload by a key's own policies.
 * @param policies the policies that bind the key, at least one: its lineage's, and its own when it
 * has a successor
 * @param usage the lineage's usage
 * @param standing the standing of its approval; null without one
 * @returns the usage including this payload; null when there is nothing to count
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
 * Judges a key that a key made, by what binds it and what binds those above. One reading of the
 * payload has to pass all of them.
 * @returns the usage of each including this payload; null when there is nothing to count
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
  const gasWei = gasAtWorst(payload)
  let denial: PolicyDenial | Refusal | null = null
  for (const call of readings) {
    denial = null
    for (const { all, facts, usage } of bound) {
      denial ??= denialOf(all, { call, gasWei }, facts, usage, standing)
    }
    if (denial === null)
      return bound.map(({ all, usage }) => counted(all, { call, gasWei }, usage, nowMs))
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
 * Returns the usage including an earlier approved payload, as far as the present policies count it.
 * @returns null when there is nothing to count
 */
export function countApproved(
  policies: readonly Policy[],
  payload: DecodedPayload,
  usage: PolicyLedger,
  atMs: number,
): PolicyLedger | null {
  if (policies.length === 0 || payload.kind === 'authorization') return null
  const [call] = callsIn(payload)
  if (call === undefined) return null
  return counted(policies.map(compile), { call, gasWei: gasAtWorst(payload) }, usage, atMs)
}

/** Whether any of the policies bounds native coin on a chain, in which gas counts. */
export function hasNativeCeiling(policies: readonly Policy[], chainId: number): boolean {
  return policies.some(({ ceilings }) => nativeOn(ceilings, chainId))
}

/**
 * What a higher fee may cost beyond what was counted when the call was approved: ceilings of native
 * coin count it as they count the rest of its gas, on the day on which it is raised.
 * @returns the usage of each with it; null where nothing counts it
 * @throws PolicyDenied
 */
export function countRaisedFee(
  path: readonly BoundUsage[],
  chainId: number,
  extraWei: bigint,
  nowMs: number,
): readonly (PolicyLedger | null)[] {
  const taken = [{ chainId, token: 'native', amount: extraWei }] as const
  for (const { policies, usage } of path) {
    const usedOf = (ceiling: Ceiling) => unitsUsed(usage, ceiling, nowMs)
    for (const policy of policies) {
      const breach = ceilingBreach(policy, taken, usedOf)
      if (breach !== null) throw new PolicyDenied(ceilingDenial(policy, breach, usedOf, nowMs))
    }
  }
  return path.map((bound) => withRaisedFee(bound, chainId, extraWei, nowMs))
}

/** The same of a fee that was raised before, whatever today's ceilings are; null: they count nothing. */
export function withRaisedFee(
  { policies, usage }: BoundUsage,
  chainId: number,
  extraWei: bigint,
  atMs: number,
): PolicyLedger | null {
  if (!hasNativeCeiling(policies, chainId)) return null
  return takeUnits(usage, atMs, [{ chainId, token: 'native', amount: extraWei }])
}

function nativeOn(ceilings: Policy['ceilings'], chainId: number): boolean {
  return ceilings.some((one) => one.chainId === chainId && one.token === 'native')
}

/**
 * A call, and the gas that it may cost its wallet besides what it moves: native ceilings count
 * both.
 */
interface CallWithGas {
  readonly call: CallShown
  readonly gasWei: bigint
}

/** The wallet pays gas only for what it sends itself; a gas wallet sends a Router intent. */
function gasAtWorst(payload: DecodedPayload): bigint {
  return payload.kind === 'transaction' ? payload.gasLimit * payload.maxFeePerGasWei : 0n
}

function judgeDelegation(
  all: readonly Compiled[],
  { delegate, chainId }: Extract<DecodedPayload, { kind: 'authorization' }>,
  facts: Facts,
  standing: ApprovalStanding | null,
): void {
  // Ending a delegation enables nothing.
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
  asked: CallWithGas,
  facts: Facts,
  usage: PolicyLedger,
  standing: ApprovalStanding | null,
): PolicyDenial | Refusal | null {
  const { call } = asked
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
    const above = aboveCeiling(calls.policy, asked, usage, facts.nowMs)
    if (above !== null) return above
  }
  return null
}

/**
 * Tells why an approval satisfies none of the requirements that the service may have; null when it
 * satisfies one.
 */
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
  { call, gasWei }: CallWithGas,
  usage: PolicyLedger,
  nowMs: number,
): PolicyDenial | null {
  const taken = unitsTaken(policy, call, gasWei)
  if (taken === null) return UNREADABLE_UNITS
  const usedOf = (ceiling: Ceiling) => unitsUsed(usage, ceiling, nowMs)
  const breach = ceilingBreach(policy, taken, usedOf)
  return breach === null ? null : ceilingDenial(policy, breach, usedOf, nowMs)
}

function counted(
  all: readonly Compiled[],
  { call, gasWei }: CallWithGas,
  usage: PolicyLedger,
  atMs: number,
): PolicyLedger | null {
  const [first, second] = all
  if (first === undefined) return null
  const { policy, windows } = first.calls
  if (second === undefined) {
    if (windows.length + policy.ceilings.length === 0) return null
    const use = { atMs, micros: 0n, taken: unitsTaken(policy, call, gasWei) ?? [] }
    return addToLedger(usage, use, windows, policy.ceilings)
  }
  const allWindows = new Set(all.flatMap(({ calls }) => calls.windows))
  const ceilings = all.flatMap(({ calls }) => calls.policy.ceilings)
  if (allWindows.size + ceilings.length === 0) return null
  const taken = new Map<string, UnitsTaken>()
  for (const { calls } of all) {
    for (const units of unitsTaken(calls.policy, call, gasWei) ?? []) {
      taken.set(`${units.chainId} ${units.token}`, units)
    }
  }
  const use = { atMs, micros: 0n, taken: [...taken.values()] }
  return addToLedger(usage, use, [...allWindows], ceilings)
}
