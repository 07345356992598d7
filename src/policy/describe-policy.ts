import { chainFacts } from '../domain/chains.js'
import { formatUsd } from '../domain/money.js'
import { CONDITION_FIELDS, conditionsIn } from './conditions/index.js'
import type { Breaker, Ceiling, Policy, Rule, When } from './policy.js'
import { duration, tokenText } from './word-forms.js'

/** Describes a policy in words: people read it before they sign, and an agent reads its limits. */

const EFFECT = { allow: 'Allow', require_approval: 'Ask for approval of', deny: 'Refuse' } as const
const FALLBACK = {
  allow: 'all other calls are allowed',
  require_approval: 'all other calls need an approval',
  deny: 'all other calls are refused',
} as const

export function describePolicy(policy: Policy | null): string {
  if (policy === null) return 'none: any call within the caps'
  const { perTransactionMicros, maxSwapLossBps, rules, fallback, ceilings, breakers } = policy
  const parts = [
    ...(perTransactionMicros === null
      ? []
      : [`at most ${formatUsd(perTransactionMicros)} USD in one call`]),
    ...(maxSwapLossBps === undefined ? [] : [describeSwapLoss(maxSwapLossBps)]),
    ...rules.map((rule) => `rule ${quoted(rule.name)}: ${describeRule(rule)}`),
    FALLBACK[fallback],
    ...ceilings.map(describeCeiling),
    ...breakers.map(describeBreaker),
  ]
  return parts.join('; ')
}

/** @param bound basis points; null when unbounded */
export function describeSwapLoss(bound: number | null): string {
  const most = bound === null ? 'all of' : `at most ${formatBps(bound)} % of`
  return `swaps and deposits may lose ${most} what they take, by the service's prices`
}

/** Formats per cent: `0.05`, `12.5` */
function formatBps(bps: number): string {
  return String(bps / 100)
}

/**
 * Quotes a name, whose text is arbitrary: it ends at its quotes, so that it cannot pass for the
 * policy's own text.
 */
function quoted(name: string): string {
  return `"${name.replaceAll('"', "'")}"`
}

export function describeRule({ effect, when, approvals, delaySeconds }: Rule): string {
  const conditions = describeWhen(when)
  const people = approvals?.needed === 1 ? 'one person' : `${approvals?.needed} people`
  const asks =
    approvals === null ? '' : `, by ${people} within ${duration(approvals.expiresSeconds)}`
  const waits = delaySeconds === 0 ? '' : `, after ${duration(delaySeconds)}`
  return `${EFFECT[effect]} ${conditions === '' ? 'every call' : `calls ${conditions}`}${asks}${waits}`
}

export function describeBreaker({ kind, count, factor, perSeconds }: Breaker): string {
  return kind === 'spend_factor'
    ? `frozen once ${duration(perSeconds)} see more than ${factor} times the usual spend`
    : `frozen once ${duration(perSeconds)} see ${count} ${kind.replaceAll('_', ' ')}`
}

export function describeCeiling({ chainId, token, per, amount }: Ceiling): string {
  const chain = chainFacts(chainId)?.name ?? `chain ${chainId}`
  return `at most ${amount} smallest units of ${tokenText(token)} a ${per} on ${chain}`
}

/** The time ends the sentence. */
const AS_SPOKEN = [...CONDITION_FIELDS.filter((field) => field !== 'utcHours'), 'utcHours'] as const

function describeWhen(when: When): string {
  const parts = conditionsIn(when, AS_SPOKEN).map(({ row, value }) => row.words(value))
  if (when.not !== undefined) parts.push(`except those ${describeWhen(when.not)}`)
  return parts.join(', ')
}
