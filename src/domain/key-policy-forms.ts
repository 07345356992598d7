import { policyJson } from '../policy/canonical-policy.js'
import { commonPolicy, LEAST_POLICY } from '../policy/common-policy.js'
import { describePolicy } from '../policy/describe-policy.js'
import { policyEnlarges } from '../policy/enlarges.js'
import { parsePolicy } from '../policy/parse-policy.js'
import type { Policy } from '../policy/policy.js'
import type { PolicyJson } from '../policy/policy-json.js'
import { chainFacts } from './chains.js'
import { formatUsd, parseUsd, type UsdMicros } from './money.js'

/**
 * The kinds of values in a key's policy. A form defines how two values compare and how people and
 * programs read one; the checks on the wire and the encoding in a grant's bytes are defined for
 * each `kind` in `src/api` and in the protocol of grants.
 */
export interface PolicyForm<Kind extends string, Value, Wire> {
  readonly kind: Kind
  /** The value that permits nothing. */
  readonly least: Value
  /** Whether `next` permits anything that `before` did not. */
  enlarges(before: Value, next: Value): boolean
  /** The value that permits what both permit. */
  common(one: Value, other: Value): Value
  /** The one form in which a value is signed and compared. */
  canonical(value: Value): Value
  /** The form in answers and in the audit trail. */
  toWire(value: Value): Wire
  /** @param wire a value that the schema accepted */
  fromWire(wire: Wire): Value
  describe(value: Value): string
}

/** A list of names; each permits everything that the ones before it do. */
export interface Choice<Option extends string> extends PolicyForm<'choice', Option, Option> {
  /** In ascending order of what they permit. */
  readonly options: readonly [Option, ...Option[]]
}

/** @param words texts for people by option; the option that permits least comes first */
export function choice<const Words extends Readonly<Record<string, string>>>(
  words: Words,
): Choice<keyof Words & string> {
  type Option = keyof Words & string
  const [least, ...others] = Object.keys(words) as Option[]
  if (least === undefined) throw new Error('a choice without options')
  const options = [least, ...others] as const
  return {
    kind: 'choice',
    options,
    least,
    enlarges: (before, next) => options.indexOf(next) > options.indexOf(before),
    common: (one, other) => (options.indexOf(one) <= options.indexOf(other) ? one : other),
    canonical: (value) => value,
    toWire: (value) => value,
    fromWire: (wire) => wire,
    describe: (value) => words[value] ?? value,
  }
}

/** Whether a key may do a thing at all. */
export type Flag = PolicyForm<'flag', boolean, boolean>

/** @param words texts for people */
export function flag(words: { readonly no: string; readonly yes: string }): Flag {
  return {
    kind: 'flag',
    least: false,
    enlarges: (before, next) => next && !before,
    common: (one, other) => one && other,
    canonical: (value) => value,
    toWire: (value) => value,
    fromWire: (wire) => wire,
    describe: (value) => (value ? words.yes : words.no),
  }
}

/** Micro-USD; null is unlimited, which has to be requested by name. */
export type UsdCap = PolicyForm<'usd-cap', UsdMicros | null, string>

const UNLIMITED = 'unlimited'

export const USD_CAP: UsdCap = {
  kind: 'usd-cap',
  least: 0n,
  enlarges: exceeds,
  common: lesser,
  canonical: (micros) => micros,
  toWire: (micros) => (micros === null ? UNLIMITED : formatUsd(micros)),
  fromWire(wire) {
    if (wire === UNLIMITED) return null
    const micros = parseUsd(wire)
    // Null means unlimited here, and an unreadable amount must not become unlimited.
    if (micros === null) throw new Error('not an amount of USD')
    return micros
  },
  describe: (micros) => (micros === null ? 'without limit' : `up to ${formatUsd(micros)} USD`),
}

/** Chain ids, in the order in which they were given. */
export type Chains = PolicyForm<'chains', readonly number[], number[]>

export const CHAINS: Chains = {
  kind: 'chains',
  least: [],
  enlarges: (before, next) => next.some((chain) => !before.includes(chain)),
  common: (one, other) => one.filter((chain) => other.includes(chain)),
  canonical: (chains) => [...new Set(chains)].sort((a, b) => a - b),
  toWire: (chains) => [...chains],
  fromWire: (wire) => [...new Set(wire)],
  describe: (chains) => chains.map((id) => chainFacts(id)?.name ?? `chain ${id}`).join(', '),
}

/** Which single calls are permitted; null means any. */
export type CallPolicy = PolicyForm<
  'call-policy',
  Policy | null,
  { readonly [name: string]: PolicyJson } | null
>

export const CALL_POLICY: CallPolicy = {
  kind: 'call-policy',
  least: LEAST_POLICY,
  enlarges: policyEnlarges,
  common: commonPolicy,
  canonical: (policy) => policy,
  toWire: (policy) => (policy === null ? null : policyJson(policy)),
  fromWire(wire) {
    if (wire === null) return null
    const parsed = parsePolicy(wire)
    if (!parsed.ok) throw new Error('not a policy')
    return parsed.policy
  },
  describe: describePolicy,
}

/** Null means unbounded. */
export function exceeds<T extends number | bigint>(before: T | null, next: T | null): boolean {
  return before !== null && (next === null || next > before)
}

/** Null means unbounded. */
export function lesser<T extends number | bigint>(one: T | null, other: T | null): T | null {
  if (one === null) return other
  return other === null || one < other ? one : other
}
