import type { Address, Hex } from '../domain/ids.js'
import type { UsdMicros } from '../domain/money.js'

/**
 * What a key may do with single calls, as its owner wrote it: conditions over what a call shows,
 * what follows where they hold, and how many units may go in a day or month. Its canonical text is
 * what the owner's authorizer signs, so both domains read exactly the same policy.
 */
export interface Policy {
  /** Micro-USD; null is no bound beyond the caps. */
  readonly perTransactionMicros: UsdMicros | null
  readonly rules: readonly Rule[]
  /** Where no rule matches. `default` on the wire. */
  readonly fallback: PolicyEffect
  readonly ceilings: readonly Ceiling[]
  readonly breakers: readonly Breaker[]
}

export type PolicyEffect = 'allow' | 'require_approval' | 'deny'
/** Ascending by what they let through. */
export const EFFECTS = ['deny', 'require_approval', 'allow'] as const satisfies PolicyEffect[]

/** The kinds of transactions (`TxKind`). */
export const OPERATIONS = ['send', 'swap', 'defi_deposit', 'defi_withdraw', 'gas_swap'] as const
export type Operation = (typeof OPERATIONS)[number]

export interface Rule {
  readonly name: string
  readonly effect: PolicyEffect
  readonly when: When
  /** Who must confirm; null of rules that ask for no approval. */
  readonly approvals: Approvals | null
  /** How long a call must wait before it may be sent; 0 for rules that deny. */
  readonly delaySeconds: number
}

export interface Approvals {
  readonly needed: number
  readonly expiresSeconds: number
}

/** All that is present must hold; what is absent asks nothing. Lists are sorted, without repeats. */
export interface When {
  readonly operations?: readonly Operation[]
  readonly chains?: readonly number[]
  /** Callees. */
  readonly to?: readonly Address[]
  readonly functions?: readonly CalledFunction[]
  readonly arguments?: readonly ArgumentTest[]
  readonly beneficiaries?: readonly Address[]
  /** Wei. */
  readonly valueNativeLte?: bigint
  readonly valueNativeGt?: bigint
  readonly amounts?: readonly AmountTest[]
  readonly spendUsdLte?: UsdMicros
  readonly spendUsdGt?: UsdMicros
  readonly newBeneficiary?: boolean
  readonly count?: { readonly perSeconds: number; readonly gt: number }
  readonly sumUsd?: { readonly perSeconds: number; readonly gt: UsdMicros }
  readonly utcHours?: readonly Hours[]
  /** Has no `not` of its own. */
  readonly not?: When
}

/** Solidity's signature, a selector, or `native`: no calldata at all. */
export type CalledFunction = string

export type ArgumentTest = { readonly index: number } & (
  | { readonly op: 'eq' | 'lte' | 'gte'; readonly value: ArgumentValue }
  | { readonly op: 'in'; readonly value: readonly ArgumentValue[] }
)

/** A decimal, an address in lower case, bytes in lower-case hex, or a bool. */
export type ArgumentValue = string | boolean

export type Token = Address | 'native'

/** Of what a call moves or lets others take; smallest units. */
export interface AmountTest {
  readonly token: Token
  readonly lte: bigint | null
  readonly gt: bigint | null
}

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** Minutes of the UTC day. Where `to` is not after `from` it is the next day's. */
export interface Hours {
  readonly days: readonly Weekday[]
  readonly fromMinute: number
  readonly toMinute: number
}

/** So many units may leave in a UTC day or calendar month. */
export interface Ceiling {
  readonly chainId: number
  readonly token: Token
  readonly per: 'day' | 'month'
  /** Smallest units. */
  readonly amount: bigint
}

export interface Breaker {
  readonly kind: 'refusals' | 'new_beneficiaries' | 'spend_factor'
  /** Of `refusals` and `new_beneficiaries`. */
  readonly count: number | null
  /** Of `spend_factor`. */
  readonly factor: number | null
  readonly perSeconds: number
}

/** A call's calldata as it is written in logs and policies; `native` has none. */
export type Selector = Hex | 'native'

/** More rules than people keep in mind; at 64 the judge still takes microseconds. */
export const RULES_MAX = 64
/** Shown in one line. */
export const RULE_NAME_CHARS_MAX = 64
/** Payees and callees of one condition; the text's bound ends most policies earlier. */
export const ADDRESSES_MAX = 256
export const FUNCTIONS_MAX = 64
export const FUNCTION_CHARS_MAX = 256
export const ARGUMENT_TESTS_MAX = 16
export const ARGUMENT_VALUES_MAX = 64
export const AMOUNTS_MAX = 32
export const HOURS_MAX = 16
export const CEILINGS_MAX = 16
export const BREAKERS_MAX = 8
/** Of the sliding times a policy names, each is counted apart. */
export const WINDOWS_MAX = 8
/** A month: what is counted longer ago is the caps' and ceilings' subject. */
export const PER_SECONDS_MAX = 31 * 86_400
export const COUNT_MAX = 1_000_000
export const APPROVALS_NEEDED_MAX = 10
/** Seven days. */
export const APPROVAL_SECONDS_MAX = 7 * 86_400
export const DELAY_SECONDS_MAX = 7 * 86_400
export const BREAKER_FACTOR_MAX = 1_000
/** It is in each grant's bytes, which people sign and both domains keep. */
export const POLICY_TEXT_BYTES_MAX = 16 * 1024
export const UINT256_MAX = 2n ** 256n - 1n

/** Names that refusals use for what is no rule. */
export const RESERVED_RULE_NAMES = ['default', 'per_transaction_usd', 'ceilings'] as const

/** Every `when` of a policy, nested ones too. */
export function* conditionsOf({ rules }: Policy): Generator<When> {
  for (const { when } of rules) {
    yield when
    if (when.not !== undefined) yield when.not
  }
}

/** The sliding times that it counts in, seconds, ascending. */
export function windowsOf(policy: Policy): number[] {
  const found = new Set<number>()
  for (const { count, sumUsd } of conditionsOf(policy)) {
    if (count !== undefined) found.add(count.perSeconds)
    if (sumUsd !== undefined) found.add(sumUsd.perSeconds)
  }
  return [...found].sort((a, b) => a - b)
}

export function asksForNewBeneficiaries(policy: Policy): boolean {
  if (policy.breakers.some(({ kind }) => kind === 'new_beneficiaries')) return true
  for (const { newBeneficiary } of conditionsOf(policy)) {
    if (newBeneficiary !== undefined) return true
  }
  return false
}
