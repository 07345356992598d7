import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Io } from '../../src/cli/io.js'
import { differenceOf } from '../../src/cli/policy-diff/difference.js'
import { openSolver, type Solver } from '../../src/cli/policy-diff/solver.js'
import { runProgram } from '../../src/cli/program.js'
import type { CallShown } from '../../src/policy/call-shown.js'
import { canonicalText, policyJson } from '../../src/policy/canonical-policy.js'
import { type Circumstances, isFreer, judgeOf, usedName } from '../../src/policy/judged-call.js'
import type { Policy } from '../../src/policy/policy.js'
import { CALL, FACTS, PAYEES, POLICY, policyOf, transferData, USDC } from './random-policies.js'

/** Pairs of policies; `npm run test:long -- policies` takes more. */
const PAIRS = Number(process.env.POLICY_DIFF_PAIRS ?? 2)
/** Calls that none may let through where the solver says so. */
const CALLS = Number(process.env.POLICY_DIFF_CALLS ?? 1_000)
const [PAYEE = USDC, OTHER = USDC] = PAYEES

let solver: Solver

beforeAll(async () => {
  const opened = await openSolver()
  if (opened === null) throw new Error('z3-solver is not installed')
  solver = opened
})
afterAll(() => solver?.close())

const payees = (...beneficiaries: readonly string[]) =>
  policyOf({
    rules: [
      {
        name: 'pay suppliers',
        effect: 'allow',
        when: { functions: ['transfer(address,uint256)'], to: [USDC], beneficiaries },
      },
    ],
    default: 'deny',
  })

describe('what a policy lets through that the one before did not', () => {
  test('is shown by a call that the judge sees pass now, and not before', async () => {
    const { examples, isWhole } = await differenceOf(solver, payees(PAYEE), payees(PAYEE, OTHER))
    expect(isWhole).toBe(true)
    expect(examples).toHaveLength(1)
    const { call, before, next } = examples[0] as (typeof examples)[number]
    expect(call).toMatchObject({ operation: 'send', callee: USDC, beneficiaries: [OTHER] })
    expect(call.data).toBe(transferData(OTHER, BigInt(`0x${call.data.slice(74)}`)))
    expect(before).toMatchObject({ effect: 'deny', by: 'default' })
    expect(next).toMatchObject({ effect: 'allow', by: 'pay suppliers' })
  })

  test('is nothing where it only became less, and everything that was refused where it is gone', async () => {
    expect(await differenceOf(solver, payees(PAYEE, OTHER), payees(PAYEE))).toEqual({
      ...{ examples: [], isWhole: true },
    })
    const { examples } = await differenceOf(solver, payees(PAYEE), null)
    expect(examples.map(({ before, next }) => [before.by, next.effect])).toEqual([
      ['default', 'allow'],
    ])
    expect((await differenceOf(solver, null, payees(PAYEE))).examples).toEqual([])
  })

  test('is fewer people, less time to wait, a higher ceiling', async () => {
    const asked = (needed: number, seconds: number, amount: string) =>
      policyOf({
        rules: [
          {
            name: 'ask',
            effect: 'require_approval',
            approvals: { needed },
            delay_seconds: seconds,
          },
        ],
        default: 'deny',
        ceilings: [{ chain_id: 8453, token: USDC, per: 'day', amount }],
      })
    const of = async (before: Policy, next: Policy) =>
      (await differenceOf(solver, before, next)).examples.map((one) => [one.before.by, one.next.by])
    expect(await of(asked(2, 60, '5'), asked(2, 60, '5'))).toEqual([])
    expect(await of(asked(2, 60, '5'), asked(1, 60, '5'))).toEqual([['ask', 'ask']])
    expect(await of(asked(2, 60, '5'), asked(2, 30, '5'))).toEqual([['ask', 'ask']])
    expect(await of(asked(2, 60, '5'), asked(2, 60, '6'))).toEqual([['ceilings', 'ask']])
    expect(await of(asked(2, 60, '5'), asked(3, 90, '4'))).toEqual([])
  })

  test('is a call that the service pays for, and that only waits now', async () => {
    const when = { operations: ['swap', 'defi_deposit'] }
    const none = policyOf({ default: 'deny' })
    const later = { name: 'trade', effect: 'allow', when, delay_seconds: 60 }
    const asked = { name: 'trade', effect: 'require_approval', when }
    for (const rule of [later, asked]) {
      const next = policyOf({ default: 'deny', rules: [rule] })
      const { examples } = await differenceOf(solver, none, next)
      expect(examples.map(({ before, next: now }) => [before.by, now.effect, now.by])).toEqual([
        ['default', 'require_approval', 'trade'],
      ])
    }
  })
})

test('is told on the command line, for people and for programs', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'policy-diff-'))
  const files = [payees(PAYEE), payees(PAYEE, OTHER)].map((policy, at) => {
    const file = join(directory, `${at}.json`)
    writeFileSync(file, canonicalText(policy))
    return file
  })
  const run = async (...args: readonly string[]) => {
    const out: string[] = []
    const err: string[] = []
    const io: Io = {
      env: {},
      out: (text) => void out.push(text),
      err: (text) => void err.push(text),
      isInteractive: false,
    }
    const code = await runProgram(io, ['policy', 'diff', ...args])
    return { code, out: out.join(''), err: err.join('') }
  }
  const told = await run(...files, '--json')
  expect(told.code).toBe(0)
  expect(JSON.parse(told.out)).toMatchObject({
    ...{ complete: true, may_now: [{ now: { by: 'pay suppliers' }, before: { by: 'default' } }] },
  })
  expect((await run(files[0] ?? '')).code).toBe(2)
  const watched = join(directory, 'watched.json')
  const breakers = [{ kind: 'refusals', count: 20, per_seconds: 300 }]
  writeFileSync(watched, JSON.stringify({ ...policyJson(payees(PAYEE)), breakers }))
  const gone = await run(watched, files[0] ?? '')
  expect(gone.err).toContain('It is no longer frozen once 5 minutes see 20 refusals.')
  expect(gone.err).toContain('It allows no new call.')
  expect((await run(files[0] ?? '', watched)).err).not.toContain('no longer')
  rmSync(directory, { recursive: true })
})

const ENOUGH = fc.record({
  call: CALL,
  facts: FACTS,
  used: fc.array(fc.constantFrom(0n, 1n, 49n, 50n, 100n), { minLength: 8, maxLength: 8 }),
})

test('no random call passes where the solver says that none does, and each example is one', async () => {
  const drawn = fc.sample(fc.tuple(POLICY, POLICY), { numRuns: PAIRS, seed: 7 })
  for (const [at, [before, other]] of drawn.entries()) {
    // A policy and one like it: two of their own are rarely one within the other.
    const next = at % 3 === 0 ? other : nearly(before, at)
    // `differenceOf` throws where the judge does not see the difference that it found.
    const { examples, isWhole } = await differenceOf(solver, before, next)
    expect(isWhole || examples.length > 0).toBe(true)
    const pairs = new Set(examples.map((one) => `${one.before.by} ${one.next.by}`))
    if (!isWhole) continue
    const [judgeBefore, judgeNext] = [judgeOf(before), judgeOf(next)]
    for (const { call, facts, used } of fc.sample(ENOUGH, { numRuns: CALLS, seed: at })) {
      const around = circumstances(before, next, call, facts, used)
      const judged = [judgeBefore(call, around), judgeNext(call, around)] as const
      if (!isFreer(...judged)) continue
      expect([...pairs]).toContain(`${judged[0].by} ${judged[1].by}`)
    }
  }
}, 21_600_000)

function nearly(policy: Policy, at: number): Policy {
  const { rules, ceilings } = policy
  const changed = at % rules.length
  switch (at % 4) {
    case 0:
      return { ...policy, rules: rules.filter((_, index) => index !== changed) }
    case 1:
      return { ...policy, perTransactionMicros: (policy.perTransactionMicros ?? 9n) + 1n }
    case 2:
      return { ...policy, ceilings: ceilings.slice(1) }
    default:
      return {
        ...policy,
        rules: rules.map((rule, index) =>
          index === changed ? { ...rule, when: { ...rule.when, chains: [1] } } : rule,
        ),
      }
  }
}

type Facts = typeof FACTS extends fc.Arbitrary<infer Known> ? Known : never

function circumstances(
  before: Policy,
  next: Policy,
  { beneficiaries }: CallShown,
  { nowMs, spendMicros, hasPaid, within }: Facts,
  used: readonly bigint[],
): Circumstances {
  const ceilings = [...before.ceilings, ...next.ceilings]
  const byName = new Map(ceilings.map((one, at) => [usedName(one), used[at] ?? 0n]))
  for (const one of ceilings) {
    const monthly = usedName({ ...one, per: 'month' })
    const most = byName.get(monthly)
    if (most !== undefined && (byName.get(usedName(one)) ?? 0n) > most) byName.set(monthly, 200n)
  }
  const known = typeof hasPaid === 'function' ? hasPaid : () => false
  return {
    nowMs,
    spendMicros: typeof spendMicros === 'bigint' ? spendMicros : null,
    paid: (beneficiaries ?? []).filter(known),
    lossBps: nowMs % 10_001,
    counted: new Map([60, 3600].map((seconds) => [seconds, within(seconds) ?? NOTHING])),
    used: byName,
  }
}

const NOTHING = { count: 0, micros: 0n }
