import type { ApiKey } from '../../../src/domain/api-key.js'
import type { Address } from '../../../src/domain/ids.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import { type ApprovalAsked, approvalAsked, stricter } from '../../../src/policy/approval-asked.js'
import { type CallShown, showCall, showIntent } from '../../../src/policy/call-shown.js'
import {
  type CeilingDenial,
  ceilingBreach,
  ceilingDenial,
  UNREADABLE_UNITS,
  unitsTaken,
} from '../../../src/policy/ceilings.js'
import { compiledOf } from '../../../src/policy/compiled-policies.js'
import { ELSEWHERE, type Facts } from '../../../src/policy/condition.js'
import {
  type Denial,
  explain,
  judge,
  retryAt,
  type Verdict,
} from '../../../src/policy/judge-policy.js'
import type { Ceiling, Policy } from '../../../src/policy/policy.js'
import {
  type CountedCall,
  countedWithin,
  freesAt,
  NO_POLICY_LEDGER,
  unitsUsed,
} from '../../../src/policy/policy-ledger.js'
import { reasonsOf } from '../../../src/policy/reasons.js'
import { type CallAtGates, keyOf } from './call-at-gates.js'
import { priceAtGates } from './cap-gate.js'
import { ancestorsOf } from './key-tree.js'
import { draftedCalls, usedOf } from './policy-ledgers.js'
import type { PredictedJudgement } from './replies.js'
import type { SubWalletState } from './state.js'
import type { Turn } from './turn.js'

/**
 * Checks a call against the policies of its key and of the keys above. The check and the
 * reservation happen in one step, so concurrent calls can never pass a count, a sum or a ceiling
 * together.
 */
export function passesPolicy(turn: Turn, asked: CallAtGates): boolean {
  const key = keyOf(asked)
  const bound = boundBy(turn.state, key, key.policy)
  if (bound.length === 0) return true
  const { quote, nowMs, intent, request } = asked
  const { kind, call } = request
  const { chainId, to, value, data } = call
  const shown =
    intent === null
      ? showCall({ operation: kind, chainId, to, value, data })
      : showIntent(kind, chainId, intent)
  // A call without a price is refused for that, unless the policy refuses it at any price.
  const spendMicros = quote.ok ? spendOf(turn, asked) : ELSEWHERE
  const gasWei = gasAtWorst(asked)
  for (const { key: node, policy } of bound) {
    const judged = judgeCall(turn.state, node, policy, { shown, spendMicros, gasWei, nowMs })
    if (judged.denied !== null) {
      turn.refuseSend(asked.token, judged.denied, request)
      return false
    }
    if (judged.asks !== null && !mayWait(turn.state)) {
      turn.refuseSend(asked.token, judged.notWaiting(), request)
      return false
    }
    asked.counted = countedByBoth(asked.counted, judged.counted)
    asked.asks = askedByBoth(asked.asks, judged.asks ?? undefined)
  }
  return true
}

/** Of what the wallet itself sends, as the identity provider counts it; others pay for sponsored calls. */
function gasAtWorst({ quote, intent }: CallAtGates): bigint {
  if (!quote.ok || intent !== null || quote.fees === undefined) return 0n
  return (quote.gasLimit ?? 0n) * quote.fees.maxFeePerGas
}

/** A policy that binds a call, with the key that counts the call for it. */
interface Bound {
  readonly key: ApiKey
  readonly policy: Policy
}

const UNBOUND: readonly Bound[] = []

/** @param policy the key's own, or one to try; the policies of the keys above bind as well */
function boundBy(state: SubWalletState, key: ApiKey, policy: Policy | null): readonly Bound[] {
  const above = ancestorsOf(state, key.lineageId)
  if (above.length === 0) return policy === null ? UNBOUND : [{ key, policy }]
  const bound: Bound[] = policy === null ? [] : [{ key, policy }]
  for (const head of above) if (head.policy !== null) bound.push({ key: head, policy: head.policy })
  return bound
}

/** Combines both requirements so that meeting the result meets each of them. */
function askedByBoth(
  one: ApprovalAsked | undefined,
  other: ApprovalAsked | undefined,
): ApprovalAsked | undefined {
  return one === undefined || other === undefined ? (one ?? other) : stricter(one, other)
}

/** Merges the units that both policies count for the same call. */
function countedByBoth(
  one: CountedCall | undefined,
  other: CountedCall | undefined,
): CountedCall | undefined {
  if (one === undefined || other === undefined) return one ?? other
  const others = other.taken.filter(
    ({ chainId, token }) =>
      !one.taken.some((units) => units.chainId === chainId && units.token === token),
  )
  return others.length === 0 ? one : { ...one, taken: [...one.taken, ...others] }
}

/** A call with what is known about it, ready to be judged. */
interface CallToJudge {
  readonly shown: CallShown
  readonly spendMicros: Facts['spendMicros']
  /** Gas limit × highest fee, which counts in ceilings of native coin. */
  readonly gasWei: bigint
  readonly nowMs: number
}

interface Judged {
  readonly denied: Fault | null
  /** The part of the policy that decided; null when no rule did and nothing refused the call. */
  readonly verdict: Verdict
  /** Explains each rule's result; computed on demand. */
  readonly reasons: () => string[]
  /**
   * The approval or delay that it needs before signing when it is allowed; null when it needs
   * nothing.
   */
  readonly asks: ApprovalAsked | null
  /** The refusal for a call that cannot wait. */
  readonly notWaiting: () => Fault
  /** The units that the call counts when it is allowed. */
  readonly counted: CountedCall | undefined
}

function judgeCall(
  state: SubWalletState,
  { lineageId }: ApiKey,
  policy: Policy,
  { shown, spendMicros, gasWei, nowMs }: CallToJudge,
): Judged {
  const compiled = compiledOf(policy)
  const ledger = state.policyLedgers.get(lineageId) ?? NO_POLICY_LEDGER
  const counts = compiled.windows.length > 0 || policy.ceilings.length > 0
  const drafted = counts ? draftedCalls(state, lineageId) : NONE_DRAFTED
  const { payees } = state
  const facts: Facts = {
    nowMs,
    spendMicros,
    hasPaid: payees === null ? null : (address: Address) => payees.has(address),
    within: (perSeconds) => {
      const stored = countedWithin(ledger, perSeconds, nowMs)
      const sinceMs = nowMs - perSeconds * SECOND_MS
      let { count, micros } = stored
      for (const one of drafted) {
        if (one.atMs <= sinceMs) continue
        count += 1
        micros += one.micros
      }
      return { count, micros }
    },
    countsUsd: true,
  }
  const verdict = judge(compiled, shown, facts)
  const reasons = () => reasonsOf(compiled, shown, facts)
  const refusal = () => {
    const denial = explain(compiled, verdict, shown, facts)
    const heals = retryAt(denial.heals, nowMs, (what) =>
      freesAt(ledger, drafted, what.perSeconds, ({ count, micros }) =>
        'countMax' in what
          ? count <= what.countMax
          : micros + (typeof spendMicros === 'bigint' ? spendMicros : 0n) <= what.microsMax,
      ),
    )
    return policyFault(denial, heals, verdict.effect === 'require_approval')
  }
  const notWaiting = refusal
  if (verdict.effect === 'deny') {
    return { verdict, reasons, notWaiting, denied: refusal(), asks: null, counted: undefined }
  }
  const known = { spendMicros, gasWei, nowMs, counts }
  const { denied, counted } = underCeilings(state, lineageId, policy, shown, drafted, known)
  const isAskedAbout = verdict.effect === 'require_approval' && denied === null
  const asks = isAskedAbout ? approvalAsked(compiled, shown, facts) : null
  return { verdict, reasons, notWaiting, denied, asks, counted }
}

/**
 * Judges a call that is not sent, as a policy and those of the keys above would now.
 * @param policy the key's own, or one to try; null for no policy
 * @returns null when no policy binds it
 */
export function predictJudgement(
  state: SubWalletState,
  key: ApiKey,
  policy: Policy | null,
  call: CallToJudge,
): PredictedJudgement | null {
  let first: PredictedJudgement | null = null
  for (const bound of boundBy(state, key, policy)) {
    const predicted = predictByKey(state, bound.key, bound.policy, call)
    if (predicted.denied !== null || predicted.effect !== 'allow') return predicted
    first ??= predicted
  }
  return first
}

function predictByKey(
  state: SubWalletState,
  key: ApiKey,
  policy: Policy,
  call: CallToJudge,
): PredictedJudgement {
  const judged = judgeCall(state, key, policy, call)
  const { verdict, reasons } = judged
  const waits = judged.asks !== null && mayWait(state)
  const asks = waits ? judged.asks : null
  const denied = judged.asks === null || waits ? judged.denied : judged.notWaiting()
  const isUnderCeilings = judged.denied === null || verdict.effect === 'deny'
  return {
    denied,
    asks,
    effect: isUnderCeilings ? verdict.effect : 'deny',
    rule: isUnderCeilings ? (verdict.rule?.rule.name ?? verdict.by) : 'ceilings',
    reasons: denied === null ? reasons() : [denied.message, ...reasons()],
  }
}

function mayWait({ waiting }: SubWalletState): boolean {
  return waiting.isOpen
}

/**
 * The public form of a refusal.
 * @param asks whether a person could approve such a call
 */
function policyFault(denial: Omit<Denial, 'heals'>, retry: string | null, asks: boolean): Fault {
  const { rule, field, observed, permitted, suggestion } = denial
  return fault(
    'POLICY_DENIED',
    {
      ...{ rule, field, observed, permitted, retry_at: retry },
      suggestion: asks ? NO_APPROVALS : suggestion,
    },
    asks
      ? `The policy of this API key requires an approval of this call (${rule}: ${field}), and it cannot wait for one.`
      : `The policy of this API key does not let this call through (${rule}: ${field} is ${observed}, permitted is ${permitted}).`,
  )
}

const NO_APPROVALS =
  'Approvals are off, so no call can wait: ask the owner for a rule that allows this call.'
const SECOND_MS = 1_000
const NONE_DRAFTED: readonly CountedCall[] = []

/** The micro-USD that count against the caps; null when an asset has no price. */
function spendOf(turn: Turn, asked: CallAtGates): bigint | null {
  const { quote } = asked
  if (!quote.ok || quote.unpriced) return null
  return priceAtGates(turn, asked).micros
}

interface Counting {
  readonly spendMicros: Facts['spendMicros']
  readonly gasWei: bigint
  readonly nowMs: number
  readonly counts: boolean
}

function underCeilings(
  state: SubWalletState,
  lineageId: ApiKey['lineageId'],
  policy: Policy,
  shown: CallShown,
  drafted: readonly CountedCall[],
  { spendMicros, gasWei, nowMs, counts }: Counting,
): Pick<Judged, 'denied' | 'counted'> {
  if (!counts) return { denied: null, counted: undefined }
  const taken = unitsTaken(policy, shown, gasWei)
  if (taken === null) return { denied: unitsFault(UNREADABLE_UNITS), counted: undefined }
  const ledger = state.policyLedgers.get(lineageId) ?? NO_POLICY_LEDGER
  const used = (ceiling: Ceiling) =>
    usedOf(ceiling, unitsUsed(ledger, ceiling, nowMs), drafted, nowMs)
  const breach = ceilingBreach(policy, taken, used)
  if (breach !== null) {
    const denied = unitsFault(ceilingDenial(policy, breach, used, nowMs))
    return { denied, counted: undefined }
  }
  const micros = typeof spendMicros === 'bigint' ? spendMicros : 0n
  return { denied: null, counted: { atMs: nowMs, micros, taken } }
}

function unitsFault(denial: CeilingDenial): Fault {
  return policyFault(denial, denial.retryAt, false)
}
