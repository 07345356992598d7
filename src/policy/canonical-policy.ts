import { formatUsd } from '../domain/money.js'
import { conditionsIn } from './conditions/index.js'
import type { Breaker, Ceiling, Policy, Rule, When } from './policy.js'
import { type PolicyJson, sorted } from './policy-json.js'

/**
 * The canonical text of a policy: sorted keys, no spaces, addresses in lower case, amounts as
 * decimal strings, sets in order, and defaults written out, except for `max_swap_loss_bps`, which
 * policies signed before that field do not have. People sign this text, so two texts are two
 * policies.
 */
export function canonicalText(policy: Policy): string {
  return JSON.stringify(policyJson(policy))
}

/** The same as values. The keys are in order, and JSON keeps that order. */
export function policyJson(policy: Policy): { readonly [name: string]: PolicyJson } {
  const { perTransactionMicros, maxSwapLossBps, rules, fallback, ceilings, breakers } = policy
  return sorted({
    per_transaction_usd: perTransactionMicros === null ? null : formatUsd(perTransactionMicros),
    max_swap_loss_bps: maxSwapLossBps,
    rules: rules.map(ruleJson),
    default: fallback,
    ceilings: ceilings.map(ceilingJson),
    breakers: breakers.map(breakerJson),
  })
}

function ruleJson({ name, effect, when, approvals, delaySeconds }: Rule): PolicyJson {
  return sorted({
    ...{ name, effect, when: whenJson(when), delay_seconds: delaySeconds },
    ...(approvals === null
      ? {}
      : {
          approvals: sorted({
            needed: approvals.needed,
            expires_seconds: approvals.expiresSeconds,
          }),
        }),
  })
}

function whenJson(when: When): { readonly [name: string]: PolicyJson } {
  const fields: { [name: string]: PolicyJson | undefined } = {}
  for (const { row, value } of conditionsIn(when)) fields[row.wire] = row.write(value)
  return sorted({ ...fields, not: when.not && whenJson(when.not) })
}

function ceilingJson({ chainId, token, per, amount }: Ceiling): PolicyJson {
  return sorted({ chain_id: chainId, token, per, amount: amount.toString() })
}

function breakerJson({ kind, count, factor, perSeconds }: Breaker): PolicyJson {
  return sorted({
    kind,
    ...(count === null ? {} : { count }),
    ...(factor === null ? {} : { factor }),
    per_seconds: perSeconds,
  })
}
