import { formatUsd } from '../domain/money.js'
import { clockText } from './clock-text.js'
import type { Breaker, Ceiling, Hours, Policy, Rule, When } from './policy.js'

/** JSON as it goes over the wire. */
export type PolicyJson =
  | string
  | number
  | boolean
  | null
  | readonly PolicyJson[]
  | { readonly [name: string]: PolicyJson }

/**
 * The one text of a policy: sorted keys, no spaces, addresses in lower case, amounts as decimal
 * strings, sets in order, and what has a default written out. It is what people sign, so two texts
 * are two policies.
 */
export function canonicalText(policy: Policy): string {
  return JSON.stringify(policyJson(policy))
}

/** The same as values. Keys are in order: JSON keeps the order in which they are written. */
export function policyJson(policy: Policy): { readonly [name: string]: PolicyJson } {
  const { perTransactionMicros, rules, fallback, ceilings, breakers } = policy
  return sorted({
    per_transaction_usd: perTransactionMicros === null ? null : formatUsd(perTransactionMicros),
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
  return sorted({
    operations: when.operations,
    chains: when.chains,
    to: when.to,
    functions: when.functions,
    arguments: when.arguments?.map(({ index, op, value }) => sorted({ index, op, value })),
    beneficiaries: when.beneficiaries,
    value_native_lte: when.valueNativeLte?.toString(),
    value_native_gt: when.valueNativeGt?.toString(),
    amounts: when.amounts?.map(({ token, lte, gt }) =>
      sorted({ token, lte: lte?.toString(), gt: gt?.toString() }),
    ),
    spend_usd_lte: usd(when.spendUsdLte),
    spend_usd_gt: usd(when.spendUsdGt),
    new_beneficiary: when.newBeneficiary,
    count: when.count && sorted({ per_seconds: when.count.perSeconds, gt: when.count.gt }),
    sum_usd:
      when.sumUsd && sorted({ per_seconds: when.sumUsd.perSeconds, gt: formatUsd(when.sumUsd.gt) }),
    utc_hours: when.utcHours?.map(hoursJson),
    not: when.not && whenJson(when.not),
  })
}

function hoursJson({ days, fromMinute, toMinute }: Hours): PolicyJson {
  return sorted({ days, from: clockText(fromMinute), to: clockText(toMinute) })
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

function usd(micros: bigint | undefined): string | undefined {
  return micros === undefined ? undefined : formatUsd(micros)
}

/** Without what is absent. */
function sorted(fields: { readonly [name: string]: PolicyJson | undefined }): {
  readonly [name: string]: PolicyJson
} {
  const entries = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
