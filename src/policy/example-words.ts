import { chainFacts } from '../domain/chains.js'
import { formatUsd } from '../domain/money.js'
import type { CallShown } from './call-shown.js'
import { selectorOf } from './function-signature.js'
import type { Circumstances, Judgement } from './judged-call.js'
import { TOKEN_CALLS } from './token-calls.js'

/** Describes a call that two policies judge differently, for people. */

export const WEEKDAY = new Intl.DateTimeFormat('en-GB', {
  ...{ weekday: 'long', hour: '2-digit', minute: '2-digit', timeZone: 'UTC' },
})

const PASSED = {
  allow: 'allowed',
  require_approval: 'waits for an approval',
  deny: 'refused',
} as const

/**
 * For example `waits for an approval of 2 people`. The deciding rule's name is left out, because
 * its text is arbitrary.
 */
export function describeJudgement({ effect, asks }: Judgement): string {
  const people = asks === null || asks.needed < 2 ? '' : ` of ${asks.needed} people`
  const waits = asks === null || asks.delaySeconds === 0 ? '' : ` and ${asks.delaySeconds} s`
  return asks?.needed === 0
    ? `waits for ${asks.delaySeconds} s`
    : `${PASSED[effect]}${people}${waits}`
}

const TOKEN_FUNCTIONS: ReadonlyMap<string, string> = new Map(
  Object.keys(TOKEN_CALLS).map((signature) => [selectorOf(signature), signature]),
)

/**
 * Its function, what it moves and whom it pays as far as its bytes show them; otherwise its
 * calldata.
 */
export function describeCall(call: CallShown): string {
  const { operation, chainId, callee, selector, value, data, moves, beneficiaries, tokenOut } = call
  const chain = chainFacts(chainId)?.name ?? chainId
  const parts = [`${(operation ?? 'call').replaceAll('_', ' ')} on ${chain} to ${callee}`]
  const called = selector === null ? undefined : TOKEN_FUNCTIONS.get(selector)
  if (called !== undefined) parts.push(`calling ${called}`)
  if (moves === null) {
    if (value > 0n) parts.push(`with ${value} wei`)
    if (data !== '0x') parts.push(`with the calldata ${data}`)
    return parts.join(', ')
  }
  if (called === undefined && data !== '0x') parts.push(`calling ${selector ?? data}`)
  const moved = moves.map(({ token, amount }) =>
    token === 'native' ? `${amount} wei` : `${amount} smallest units of ${token}`,
  )
  if (moved.length > 0) parts.push(`moving ${moved.join(' and ')}`)
  if (tokenOut !== null && tokenOut !== 'none') parts.push(`giving the wallet ${tokenOut}`)
  const payees = beneficiaries?.filter((address) => address !== callee) ?? []
  if (payees.length > 0) parts.push(`for ${payees.join(' and ')}`)
  return parts.join(', ')
}

/** Its time, its value and what went before it. */
export function describeCircumstances(circumstances: Circumstances): string {
  const { nowMs, spendMicros, paid, counted, lossBps, used } = circumstances
  const price = spendMicros === null ? 'without a price' : `for ${formatUsd(spendMicros)} USD`
  return [
    `${WEEKDAY.format(nowMs)} UTC`,
    price,
    ...(paid.length === 0 ? [] : [`paid before: ${paid.join(' ')}`]),
    ...(lossBps === 0 ? [] : [`losing ${lossBps / 100} % of its worth`]),
    ...[...counted].flatMap(([seconds, { count, micros }]) =>
      count === 0 ? [] : [`after ${count} calls for ${formatUsd(micros)} USD in ${seconds} s`],
    ),
    ...[...used].flatMap(([name, amount]) =>
      amount === 0n ? [] : [`after ${amount} of ${name.replace('used_', '').replaceAll('_', ' ')}`],
    ),
  ].join('; ')
}
