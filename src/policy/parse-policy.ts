import { MAX_SWAP_LOSS_BPS_DEFAULT } from '../domain/exchange.js'
import {
  APPROVAL_SECONDS_MAX,
  APPROVALS_NEEDED_MAX,
  BREAKER_FACTOR_MAX,
  BREAKERS_MAX,
  CEILINGS_MAX,
  COUNT_MAX,
  DELAY_SECONDS_MAX,
  PER_SECONDS_MAX,
  POLICY_TEXT_BYTES_MAX,
  RULE_NAME_CHARS_MAX,
  RULES_MAX,
  SWAP_LOSS_BPS_MAX,
  WINDOWS_MAX,
} from './bounds.js'
import { NATIVE_ADDRESS } from './call-shown.js'
import { canonicalText } from './canonical-policy.js'
import {
  CONDITION_FIELDS,
  CONDITIONS,
  type ConditionField,
  type Conditions,
  conditionsIn,
} from './conditions/index.js'
import { Faults, fieldPath, type JsonObject, type PolicyFault } from './json-reader.js'
import { readChain, readToken, readUint, readUsd } from './parse-values.js'
import { readWhen } from './parse-when.js'
import {
  type Approvals,
  type Breaker,
  type Ceiling,
  EFFECTS,
  type Policy,
  type PolicyEffect,
  RESERVED_RULE_NAMES,
  type Rule,
  windowsOf,
} from './policy.js'

type ParsedPolicy =
  | { readonly ok: true; readonly policy: Policy; readonly text: string }
  | { readonly ok: false; readonly faults: readonly PolicyFault[] }

/** Letters, digits and punctuation; no invisible characters, and none that reverse a line. */
const RULE_NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u
const NEEDED_DEFAULT = 1
const EXPIRES_SECONDS_DEFAULT = 3_600
const encoder = new TextEncoder()

/**
 * Reads a policy in the form that people write.
 * @param json parsed JSON
 * @returns the policy and its canonical text, or all its errors
 */
export function parsePolicy(json: unknown): ParsedPolicy {
  const faults = new Faults()
  const policy = readPolicy(json, faults)
  for (const path of policy === null ? [] : nativeByAddress(policy)) {
    // No call moves a token of that address, so the bound would never apply.
    faults.report(path, 'must name the native currency "native", and not by an address')
  }
  return parsedOf(policy, faults)
}

function parsedOf(policy: Policy | null, faults: Faults): ParsedPolicy {
  if (policy !== null && faults.found.length === 0) {
    const text = canonicalText(policy)
    if (encoder.encode(text).length <= POLICY_TEXT_BYTES_MAX) return { ok: true, policy, text }
    faults.report('', `must have at most ${POLICY_TEXT_BYTES_MAX} bytes in its canonical form`)
  }
  return { ok: false, faults: faults.found }
}

/**
 * Reads a signed policy's canonical text, byte for byte.
 * @returns null for any other text
 */
export function parseCanonical(text: string): Policy | null {
  if (text.length > POLICY_TEXT_BYTES_MAX) return null
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return null
  }
  const faults = new Faults()
  const parsed = parsedOf(readPolicy(json, faults), faults)
  return parsed.ok && parsed.text === text ? parsed.policy : null
}

/** The places where a policy names the native currency by the address that swaps use. */
function* nativeByAddress({ rules, ceilings }: Policy): Generator<string> {
  for (const [at, { when }] of rules.entries()) {
    for (const field of CONDITION_FIELDS) {
      const { wire } = CONDITIONS[field]
      if (namesItIn(when, field)) yield `rules[${at}].when.${wire}`
      if (when.not !== undefined && namesItIn(when.not, field)) {
        yield `rules[${at}].when.not.${wire}`
      }
    }
  }
  if (ceilings.some(({ token }) => token === NATIVE_ADDRESS)) yield 'ceilings'
}

function namesItIn(when: Conditions, field: ConditionField): boolean {
  return conditionsIn(when, [field]).some(
    ({ row, value }) => row.tokens?.(value).includes(NATIVE_ADDRESS) === true,
  )
}

function readPolicy(json: unknown, faults: Faults): Policy | null {
  const fields = [
    ...['per_transaction_usd', 'max_swap_loss_bps', 'rules', 'default', 'ceilings', 'breakers'],
  ]
  const object = faults.object(json, '', fields)
  if (object === null) return null
  const { per_transaction_usd: perTransaction = null } = object
  const perTransactionMicros =
    perTransaction === null ? null : readUsd(perTransaction, 'per_transaction_usd', faults)
  const lossBound = readLossBound(object.max_swap_loss_bps, faults)
  const rules = readRules(object.rules ?? [], faults)
  // Spec silent: the effect on all other calls must be given, so that nobody has to guess it.
  const fallback = faults.oneOf<PolicyEffect>(object.default, 'default', EFFECTS)
  const ceilings = readCeilings(object.ceilings ?? [], faults)
  const breakers = readBreakers(object.breakers ?? [], faults)
  if (rules === null || fallback === null || ceilings === null || breakers === null) return null
  const policy = { perTransactionMicros, ...lossBound, rules, fallback, ceilings, breakers }
  if (windowsOf(policy).length > WINDOWS_MAX) {
    faults.report('rules', `must count in at most ${WINDOWS_MAX} different times (per_seconds)`)
  }
  return policy
}

/** The default is left out, as in policies that were signed before the field existed. */
function readLossBound(value: unknown, faults: Faults): Pick<Policy, 'maxSwapLossBps'> {
  if (value === undefined) return {}
  if (value === null) return { maxSwapLossBps: null }
  const bound = faults.integer(value, 'max_swap_loss_bps', 0, SWAP_LOSS_BPS_MAX)
  return bound === null || bound === MAX_SWAP_LOSS_BPS_DEFAULT ? {} : { maxSwapLossBps: bound }
}

function readRules(value: unknown, faults: Faults): Rule[] | null {
  const names = new Set<string>()
  return faults.list(value, 'rules', { min: 0, max: RULES_MAX }, (element, path) => {
    const rule = readRule(element, path, faults)
    if (rule === null) return null
    if (names.has(rule.name)) return faults.report(`${path}.name`, 'is the name of another rule')
    names.add(rule.name)
    return rule
  })
}

function readRule(value: unknown, path: string, faults: Faults): Rule | null {
  const object = faults.object(value, path, [
    'name',
    'effect',
    'when',
    'approvals',
    'delay_seconds',
  ])
  if (object === null) return null
  const name = readName(object.name, `${path}.name`, faults)
  const effect = faults.oneOf<PolicyEffect>(object.effect, `${path}.effect`, EFFECTS)
  const when = readWhen(object.when ?? {}, `${path}.when`, faults)
  const approvals = readApprovals(object.approvals ?? {}, `${path}.approvals`, faults)
  const delay = object.delay_seconds ?? 0
  const delaySeconds = faults.integer(delay, `${path}.delay_seconds`, 0, DELAY_SECONDS_MAX)
  if (name === null || effect === null || when === null) return null
  if (approvals === null || delaySeconds === null) return null
  // Spec silent: a field that an effect does not use may be written with its default, and is not
  // signed. Any other value is refused, because its author relies on people who would not be asked.
  if (effect !== 'require_approval' && !isDefault(approvals)) {
    return faults.report(`${path}.approvals`, 'is only for the effect require_approval')
  }
  if (effect === 'deny' && delaySeconds !== 0) {
    return faults.report(`${path}.delay_seconds`, 'is for calls that go ahead, not for deny')
  }
  return {
    ...{ name, effect, when },
    approvals: effect === 'require_approval' ? approvals : null,
    delaySeconds: effect === 'deny' ? 0 : delaySeconds,
  }
}

function readName(value: unknown, path: string, faults: Faults): string | null {
  const isName =
    typeof value === 'string' &&
    value.length <= RULE_NAME_CHARS_MAX &&
    RULE_NAME.test(value) &&
    value.trim() === value
  if (!isName)
    return faults.report(path, `must be 1 to ${RULE_NAME_CHARS_MAX} printable characters`)
  const isReserved = RESERVED_RULE_NAMES.some((name) => name === value)
  return isReserved ? faults.report(path, `must not be ${RESERVED_RULE_NAMES.join(', ')}`) : value
}

function readApprovals(value: unknown, path: string, faults: Faults): Approvals | null {
  const object = faults.object(value, path, ['needed', 'expires_seconds'])
  if (object === null) return null
  const { needed: asked = NEEDED_DEFAULT, expires_seconds: expires = EXPIRES_SECONDS_DEFAULT } =
    object
  const needed = faults.integer(asked, `${path}.needed`, 1, APPROVALS_NEEDED_MAX)
  const expiresSeconds = faults.integer(expires, `${path}.expires_seconds`, 1, APPROVAL_SECONDS_MAX)
  return needed === null || expiresSeconds === null ? null : { needed, expiresSeconds }
}

function isDefault({ needed, expiresSeconds }: Approvals): boolean {
  return needed === NEEDED_DEFAULT && expiresSeconds === EXPIRES_SECONDS_DEFAULT
}

function readCeilings(value: unknown, faults: Faults): Ceiling[] | null {
  const seen = new Set<string>()
  const ceilings = faults.list(
    value,
    'ceilings',
    { min: 0, max: CEILINGS_MAX },
    (element, path) => {
      const object = faults.object(element, path, ['chain_id', 'token', 'per', 'amount'])
      if (object === null) return null
      const chainId = readChain(object.chain_id, `${path}.chain_id`, faults)
      const token = readToken(object.token, `${path}.token`, faults)
      const per = faults.oneOf(object.per, `${path}.per`, ['day', 'month'] as const)
      const amount = readUint(object.amount, `${path}.amount`, faults)
      if (chainId === null || token === null || per === null || amount === null) return null
      const name = `${chainId}:${token}:${per}`
      if (seen.has(name)) return faults.report(path, 'is the ceiling of another entry')
      seen.add(name)
      return { chainId, token, per, amount }
    },
  )
  return ceilings?.sort(byCeiling) ?? null
}

function byCeiling(a: Ceiling, b: Ceiling): number {
  return a.chainId - b.chainId || compareText(a.token, b.token) || compareText(a.per, b.per)
}

function readBreakers(value: unknown, faults: Faults): Breaker[] | null {
  const kinds = ['refusals', 'new_beneficiaries', 'spend_factor'] as const
  const read = (element: unknown, path: string): Breaker | null => {
    const object = faults.object(element, path, ['kind', 'count', 'factor', 'per_seconds'])
    if (object === null) return null
    const kind = faults.oneOf(object.kind, `${path}.kind`, kinds)
    const time = `${path}.per_seconds`
    const perSeconds = faults.integer(object.per_seconds, time, 1, PER_SECONDS_MAX)
    if (kind === null || perSeconds === null) return null
    const isFactor = kind === 'spend_factor'
    const count = isFactor ? null : readOf(object, 'count', path, COUNT_MAX, faults)
    const factor = isFactor ? readOf(object, 'factor', path, BREAKER_FACTOR_MAX, faults) : null
    return { kind, count, factor, perSeconds }
  }
  const text = ({ kind, count, factor, perSeconds }: Breaker) =>
    `${kind}:${perSeconds}:${count ?? factor}`
  return (
    faults
      .list(value, 'breakers', { min: 0, max: BREAKERS_MAX }, read)
      ?.sort((a, b) => compareText(text(a), text(b))) ?? null
  )
}

function readOf(
  object: JsonObject,
  name: string,
  path: string,
  max: number,
  faults: Faults,
): number | null {
  return faults.integer(object[name], fieldPath(path, name), 1, max)
}

/** Compares by code units: the same on every machine, whatever its language. */
function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
