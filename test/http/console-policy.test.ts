import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  argumentJson,
  argumentText,
  coinsOf,
  isAllOf,
  weiOf,
  withOperator,
} from '../../src/console/policy/condition-values.js'
import {
  describePath,
  field,
  type Json,
  type JsonObject,
  moved,
  type Path,
  readDraft,
  withField,
  writeDraft,
} from '../../src/console/policy/draft.js'
import { differences } from '../../src/console/policy/rules-compared.js'
import { callOf } from '../../src/console/policy/tested-call.js'
import { NATIVE_TOKEN } from '../../src/domain/chains.js'
import { policyJson } from '../../src/policy/canonical-policy.js'
import { parsePolicy } from '../../src/policy/parse-policy.js'
import { POLICY_TEMPLATES } from '../../src/policy/templates.js'

/** What the console's policy editor makes of a text before the service sees it. */

const TERMS = {
  ...{ chainId: 8453, token: 'native', payees: [`0x${'ab'.repeat(20)}`] },
  ...{ tokensOut: ['native'], perDay: '1' },
}
const TEMPLATES = Object.entries(POLICY_TEMPLATES).map(
  ([name, { write }]) => [name, JSON.parse(JSON.stringify(write(TERMS))) as JsonObject] as const,
)

const json = fc.jsonValue() as fc.Arbitrary<Json>
/** A field that the form has, of a policy with whatever else. */
const FORM_FIELDS: readonly Path[] = [
  ['default'],
  ['per_transaction_usd'],
  ['rules', 1, 'name'],
  ['rules', 0, 'when', 'spend_usd_gt'],
  ['rules', 0, 'approvals', 'needed'],
  ['rules', 0, 'when', 'count', 'per_seconds'],
  ['rules', 1, 'when', 'not', 'arguments', 0, 'value'],
  ['ceilings', 0, 'amount'],
  ['breakers', 0, 'per_seconds'],
]
const policy = fc.record({
  rules: fc.array(fc.record({ name: json, when: fc.dictionary(fc.string(), json), odd: json }), {
    minLength: 2,
    maxLength: 4,
  }),
  ceilings: fc.array(fc.dictionary(fc.string(), json), { minLength: 1, maxLength: 2 }),
  breakers: fc.array(fc.dictionary(fc.string(), json), { minLength: 1, maxLength: 2 }),
  unheard_of: json,
}) as unknown as fc.Arbitrary<JsonObject>

describe('a condition in the form', () => {
  test('shows wei as coins with every digit, and writes the same wei back', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 47n }), (wei) => {
        expect(weiOf(coinsOf(String(wei)))).toBe(String(wei))
      }),
    )
    expect(coinsOf('1050000000000000000')).toBe('1.05')
    // What is no amount is the service's to refuse, as it was typed.
    for (const text of ['1.', 'two', '0.1234567890123456789', '']) {
      expect(weiOf(text)).toBe(text)
      expect(coinsOf(text)).toBe(text)
    }
  })

  test('keeps the value of an argument as far as its operator takes it', () => {
    const one = { index: 1, op: 'eq', value: '7' }
    const several = withOperator(one, 'in')
    expect(several).toEqual({ index: 1, op: 'in', value: ['7'] })
    expect(withOperator(several, 'lte')).toEqual({ index: 1, op: 'lte', value: '7' })
    expect(withOperator({ op: 'in', value: [] }, 'eq')).toEqual({ op: 'eq', value: '' })
    expect([argumentJson('true'), argumentJson(' 0x12 ')]).toEqual([true, '0x12'])
    expect([argumentText(false), argumentText(['7'])]).toEqual(['false', ''])
  })

  test('that is left with nothing is left out', () => {
    const root = { when: { count: { gt: 3 }, sum_usd: { gt: '3', per_seconds: 60 } } }
    expect(isAllOf(root, ['when', 'count'], ['when', 'count', 'gt'])).toBe(true)
    expect(isAllOf(root, ['when', 'sum_usd'], ['when', 'sum_usd', 'gt'])).toBe(false)
    expect(isAllOf(root, ['when', 'none'], ['when', 'none', 'gt'])).toBe(false)
  })

  test('of every kind makes a policy that the service takes', () => {
    const when = {
      functions: ['set(address,uint256,bool)'],
      arguments: [
        withOperator({ index: 0, op: 'eq', value: `0x${'ab'.repeat(20)}` }, 'in'),
        { index: 1, op: 'lte', value: argumentJson('500') },
        { index: 2, op: 'eq', value: argumentJson('true') },
      ],
      value_native_gt: weiOf('0.5'),
      amounts: [{ token: 'native', gt: '1', lte: '2' }],
      count: { gt: 3, per_seconds: 60 },
      sum_usd: { gt: '100', per_seconds: 3_600 },
      utc_hours: [{ days: ['mon'], from: '08:00', to: '18:00' }],
      not: { value_native_lte: weiOf('0.01') },
    }
    const parsed = parsePolicy({ rules: [{ name: 'r', effect: 'deny', when }], default: 'allow' })
    expect(parsed.ok ? [] : parsed.faults).toEqual([])
  })
})

describe('the form of a policy', () => {
  test('changes the field it is of, and loses nothing that it has no field for', () => {
    fc.assert(
      fc.property(policy, fc.constantFrom(...FORM_FIELDS), fc.string(), (root, path, value) => {
        const before = JSON.stringify(root)
        const after = withField(root, path, value) as JsonObject
        expect(field(after, path)).toBe(value)
        expect(JSON.stringify(root), 'what was there is not written to').toBe(before)
        // Put back, all is as it was: nothing else was touched.
        const back = withField(after, path, field(root, path))
        expect(differencesBeyond(root, back, path)).toEqual([])
      }),
    )
  })

  test.each(TEMPLATES)('the template %s is a policy still after each edit', (_name, template) => {
    const edited = withField(template, ['default'], 'require_approval') as JsonObject
    expect(parsePolicy(edited)).toMatchObject({ ok: true })
    expect(differences(template, edited).map(({ what }) => what)).toEqual(['default'])
  })

  test('the text of a draft is the draft; what is no policy at all says so', () => {
    fc.assert(
      fc.property(policy, (value) => {
        const again = readDraft(writeDraft(value))
        expect(again.ok && JSON.stringify(again.value)).toBe(JSON.stringify(value))
      }),
    )
    expect(readDraft('null')).toEqual({ ok: true, value: null })
    for (const text of ['', '{', '[]', '"a"', '7']) expect(readDraft(text).ok).toBe(false)
  })

  test('a rule changes places with its neighbour, and stays where it has none', () => {
    expect(moved(['a', 'b', 'c'], 1, -1)).toEqual(['b', 'a', 'c'])
    expect(moved(['a', 'b', 'c'], 2, 1)).toEqual(['a', 'b', 'c'])
    expect(withField({ rules: ['a', 'b'] }, ['rules', 0], undefined)).toEqual({ rules: ['b'] })
  })

  test('a name of a prototype is no field', () => {
    expect(field({}, ['constructor'])).toBeUndefined()
    expect(field({}, ['toString'])).toBeUndefined()
  })

  test('a place is named as people write it', () => {
    expect(describePath('policy.rules.0.when.to.12')).toBe('rules[0].when.to[12]')
    expect(describePath('policy')).toBe('the policy')
  })
})

describe('what two policies say differently', () => {
  test.each(TEMPLATES)('nothing, of %s and its canonical form', (_name, template) => {
    const parsed = parsePolicy(template)
    if (!parsed.ok) throw new Error('a template is a policy')
    const typed = JSON.parse(JSON.stringify(template).replaceAll('abab', 'aBab')) as JsonObject
    expect(differences(typed, policyJson(parsed.policy) as JsonObject)).toEqual([])
  })

  test('each rule by its name, and their order', () => {
    const rule = (name: string, effect: string) => ({ name, effect })
    const before = { rules: [rule('a', 'deny'), rule('b', 'deny')], default: 'allow' }
    const after = { rules: [rule('b', 'deny'), rule('a', 'allow'), rule('c', 'deny')] }
    expect(differences(before, after).map(({ what }) => what)).toEqual([
      'rule a',
      'rule c',
      'order of the rules',
      'default',
    ])
    expect(differences(null, before)).toHaveLength(1)
    expect(differences(null, null)).toEqual([])
  })
})

/** Paths of all leaves that differ, but for those at or below one. */
function differencesBeyond(a: Json, b: Json, path: Path): string[] {
  const leaves = (root: Json) => new Map(leavesOf(root, []))
  const [before, after] = [leaves(a), leaves(b)]
  const own = JSON.stringify(path).slice(0, -1)
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((at) => before.get(at) !== after.get(at))
    .filter((at) => !own.startsWith(at.slice(0, -1)))
}

function leavesOf(value: Json, at: Path): [string, string][] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    return [[JSON.stringify(at), JSON.stringify(value)]]
  }
  const isList = Array.isArray(value)
  return Object.entries(value).flatMap(([name, one]) =>
    leavesOf(one as Json, [...at, isList ? Number(name) : name]),
  )
}

describe('the form "Test a call"', () => {
  const typed = (fields: Readonly<Record<string, string>>) => {
    const form = new FormData()
    for (const [name, text] of Object.entries(fields)) form.set(name, text)
    return callOf(form)
  }
  const to = `0x${'ab'.repeat(20)}`

  test('gives the token that a call gives the wallet, native coins too', () => {
    const swap = { operation: 'swap', chain: '8453', to, value: '', data: '' }
    const call = { operation: 'swap', chain_id: 8453, to, value: '0', data: '0x' }
    expect(typed({ ...swap, token_out: to })).toEqual({ ...call, token_out: to })
    expect(typed({ ...swap, token_out: ' native ' })).toEqual({ ...call, token_out: NATIVE_TOKEN })
    expect(typed({ ...swap, token_out: '' })).toEqual(call)
  })
})
