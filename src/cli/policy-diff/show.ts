import { chainFacts } from '../../domain/chains.js'
import { formatUsd } from '../../domain/money.js'
import { describeBreaker } from '../../policy/describe-policy.js'
import { describeCircumstances, WEEKDAY } from '../../policy/example-words.js'
import type { Example, Judgement } from '../../policy/judged-call.js'
import type { Breaker, Policy } from '../../policy/policy.js'
import type { Io } from '../io.js'
import type { Row } from '../print.js'
import { type Difference, differenceOf } from './difference.js'
import { openSolver, SOLVER_PACKAGE } from './solver.js'

export const NO_SOLVER = `This needs z3: run npm install --no-save ${SOLVER_PACKAGE}`

/** @returns null without the solver */
export async function difference(
  before: Policy | null,
  next: Policy | null,
): Promise<Difference | null> {
  const solver = await openSolver()
  if (solver === null) return null
  try {
    return await differenceOf(solver, before, next)
  } finally {
    await solver.close()
  }
}

/** The form for programs; amounts and ids as on the wire. */
export function differenceView(
  { examples, isWhole }: Difference,
  before: Policy | null,
  next: Policy | null,
) {
  return {
    may_now: examples.map(exampleView),
    complete: isWhole,
    breakers_gone: breakersGone(before, next),
  }
}

/** Describes breakers that no longer freeze the key; no call can show that. */
function breakersGone(before: Policy | null, next: Policy | null): readonly string[] {
  const kept = next?.breakers ?? []
  return (before?.breakers ?? [])
    .filter((old) => !kept.some((one) => tripsNoLater(one, old)))
    .map(describeBreaker)
}

function tripsNoLater(one: Breaker, old: Breaker): boolean {
  if (one.kind !== old.kind || one.perSeconds !== old.perSeconds) return false
  return (one.count ?? 0) <= (old.count ?? 0) && (one.factor ?? 0) <= (old.factor ?? 0)
}

export function tellBreakersGone(io: Io, before: Policy | null, next: Policy | null): void {
  for (const words of breakersGone(before, next)) io.err(`It is no longer ${words}.\n`)
}

function exampleView({ call, circumstances, before, next }: Example) {
  const { operation, chainId, callee, selector, value, data, moves, tokenOut } = call
  const { nowMs, spendMicros, paid, counted, lossBps, used } = circumstances
  return {
    call: {
      ...{ operation, chain_id: chainId, to: callee, data, value: value.toString() },
      ...(operation === 'send' || moves === null
        ? {}
        : {
            takes: moves.map(({ token, amount }) => ({ token, amount: amount.toString() })),
            gives: tokenOut,
          }),
    },
    function: selector,
    when: WEEKDAY.format(nowMs),
    spend_usd: spendMicros === null ? null : formatUsd(spendMicros),
    loss_bps: lossBps,
    paid_before: paid,
    counted_before: [...counted].map(([per_seconds, { count, micros }]) => ({
      ...{ per_seconds, count, usd: formatUsd(micros) },
    })),
    used_before: Object.fromEntries([...used].map(([name, amount]) => [name, amount.toString()])),
    before: judgementView(before),
    now: judgementView(next),
  }
}

function judgementView({ effect, by, asks }: Judgement) {
  const waits = asks === null ? {} : { approvals: asks.needed, delay_seconds: asks.delaySeconds }
  return { effect, by, ...waits }
}

export const DIFFERENCE_COLUMNS = ['now', 'before', 'call', 'around']

/** The form for people. */
export function differenceRows({ examples }: Difference): Row[] {
  return examples.map((example) => ({
    now: judgementText(example.next),
    before: judgementText(example.before),
    call: callText(example),
    around: describeCircumstances(example.circumstances),
  }))
}

function judgementText({ effect, by, asks }: Judgement): string {
  const people = asks === null || asks.needed === 0 ? '' : ` by ${asks.needed}`
  const waits = asks === null || asks.delaySeconds === 0 ? '' : ` after ${asks.delaySeconds} s`
  return `${effect}${people}${waits} (${by})`
}

function callText({ call }: Example): string {
  const { operation, chainId, callee, value, data, moves, tokenOut } = call
  const chain = chainFacts(chainId)?.name ?? chainId
  const takes = moves === null || operation === 'send' ? [] : moves
  return [
    `${operation} on ${chain} to ${callee}`,
    ...(value === 0n ? [] : [`with ${value} wei`]),
    ...(data === '0x' ? [] : [`data ${data}`]),
    ...takes.map(({ token, amount }) => `taking ${amount} of ${token}`),
    ...(operation === 'send' || tokenOut === null ? [] : [`giving ${tokenOut}`]),
  ].join(', ')
}

/** Prints the difference before an authorizer signs the policy. */
export async function warnOfDifference(
  io: Io,
  before: Policy | null,
  next: Policy | null,
): Promise<void> {
  tellBreakersGone(io, before, next)
  const found = await difference(before, next)
  if (found === null) {
    io.err(`The difference to the key's present policy was not computed. ${NO_SOLVER}\n`)
    return
  }
  if (found.examples.length === 0) {
    io.err('This policy allows the key no new call.\n')
    return
  }
  io.err('This policy allows the key new calls, for example:\n')
  for (const { now, before: then, call, around } of differenceRows(found)) {
    io.err(`  ${now}, before ${then}: ${call}; ${around}\n`)
  }
}
