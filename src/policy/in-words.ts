import { chainFacts } from '../domain/chains.js'
import { formatUsd } from '../domain/money.js'
import { hoursText } from './clock-text.js'
import type { ArgumentTest, Breaker, Ceiling, Policy, Rule, Token, When } from './policy.js'

/** A policy for people: what they read before they sign, and what an agent sees of its limits. */

const EFFECT = { allow: 'Allow', require_approval: 'Ask for approval of', deny: 'Refuse' } as const
const FALLBACK = {
  allow: 'all other calls are allowed',
  require_approval: 'all other calls need an approval',
  deny: 'all other calls are refused',
} as const

export function policyInWords(policy: Policy | null): string {
  if (policy === null) return 'none: any call within the caps'
  const { perTransactionMicros, rules, fallback, ceilings, breakers } = policy
  const parts = [
    ...(perTransactionMicros === null
      ? []
      : [`at most ${formatUsd(perTransactionMicros)} USD in one call`]),
    ...rules.map((rule) => `rule ${quoted(rule.name)}: ${ruleInWords(rule)}`),
    FALLBACK[fallback],
    ...ceilings.map(ceilingInWords),
    ...breakers.map(breakerInWords),
  ]
  return parts.join('; ')
}

/** A name is anybody's words: it ends where its quotes do, so that it says nothing for the policy. */
function quoted(name: string): string {
  return `"${name.replaceAll('"', "'")}"`
}

export function ruleInWords({ effect, when, approvals, delaySeconds }: Rule): string {
  const conditions = whenInWords(when)
  const people = approvals?.needed === 1 ? 'one person' : `${approvals?.needed} people`
  const asks =
    approvals === null ? '' : `, by ${people} within ${duration(approvals.expiresSeconds)}`
  const waits = delaySeconds === 0 ? '' : `, after ${duration(delaySeconds)}`
  return `${EFFECT[effect]} ${conditions === '' ? 'every call' : `calls ${conditions}`}${asks}${waits}`
}

export function breakerInWords({ kind, count, factor, perSeconds }: Breaker): string {
  return kind === 'spend_factor'
    ? `frozen once ${duration(perSeconds)} see more than ${factor} times the usual spend`
    : `frozen once ${duration(perSeconds)} see ${count} ${kind.replaceAll('_', ' ')}`
}

export function ceilingInWords({ chainId, token, per, amount }: Ceiling): string {
  const chain = chainFacts(chainId)?.name ?? `chain ${chainId}`
  return `at most ${amount} smallest units of ${tokenText(token)} a ${per} on ${chain}`
}

function whenInWords(when: When): string {
  const parts: string[] = []
  const say = <T>(value: T | undefined, words: (value: T) => string) => {
    if (value !== undefined) parts.push(words(value))
  }
  say(when.operations, (names) => `of ${names.join(', ')}`)
  say(when.chains, (ids) => `on ${ids.map((id) => chainFacts(id)?.name ?? id).join(', ')}`)
  say(when.to, (to) => `to ${to.join(', ')}`)
  say(when.functions, (functions) => `of the functions ${functions.join(', ')}`)
  say(when.arguments, (tests) => `where ${tests.map(argumentText).join(' and ')}`)
  say(when.beneficiaries, (payees) => `that pay only ${payees.join(', ')}`)
  say(when.valueNativeLte, (wei) => `with at most ${wei} wei`)
  say(when.valueNativeGt, (wei) => `with more than ${wei} wei`)
  say(when.amounts, (tests) =>
    tests
      .map(({ token, lte, gt }) => {
        const bounds = [lte === null ? [] : `at most ${lte}`, gt === null ? [] : `more than ${gt}`]
        return `that move ${bounds.flat().join(' and ')} of ${tokenText(token)}`
      })
      .join(' or '),
  )
  say(when.spendUsdLte, (micros) => `worth at most ${formatUsd(micros)} USD`)
  say(when.spendUsdGt, (micros) => `worth more than ${formatUsd(micros)} USD`)
  say(when.newBeneficiary, (isNew) => (isNew ? 'that pay somebody new' : 'that pay nobody new'))
  say(when.count, ({ perSeconds, gt }) => `beyond ${gt} in ${duration(perSeconds)}`)
  say(when.sumUsd, ({ perSeconds, gt }) => `beyond ${formatUsd(gt)} USD in ${duration(perSeconds)}`)
  say(when.utcHours, (hours) => `at ${hours.map(hoursText).join(', ')} UTC`)
  say(when.not, (not) => `except those ${whenInWords(not)}`)
  return parts.join(', ')
}

function argumentText({ index, op, value }: ArgumentTest): string {
  const OPS = { eq: 'is', in: 'is one of', lte: 'is at most', gte: 'is at least' }
  const text = typeof value === 'object' ? value.join(', ') : String(value)
  return `argument ${index} ${OPS[op]} ${text}`
}

function tokenText(token: Token): string {
  return token === 'native' ? 'the native currency' : token
}

function duration(seconds: number): string {
  const units = [
    [86_400, 'day'],
    [3_600, 'hour'],
    [60, 'minute'],
  ] as const
  for (const [size, name] of units) {
    if (seconds % size === 0) return count(seconds / size, name)
  }
  return count(seconds, 'second')
}

function count(number: number, name: string): string {
  return number === 1 ? `1 ${name}` : `${number} ${name}s`
}
