import fc from 'fast-check'
import { expect, test } from 'vitest'
import { POLICY_TEXT_BYTES_MAX, RULES_MAX } from '../../src/policy/bounds.js'
import { NATIVE_ADDRESS } from '../../src/policy/call-shown.js'
import { canonicalText, policyJson } from '../../src/policy/canonical-policy.js'
import { describePolicy } from '../../src/policy/describe-policy.js'
import { parseSignature } from '../../src/policy/function-signature.js'
import { parseCanonical, parsePolicy } from '../../src/policy/parse-policy.js'
import { maxSwapLossBpsOf } from '../../src/policy/policy.js'
import { POLICY_JSON, policyOf, USDC } from './random-policies.js'

const RUNS = Number(process.env.POLICY_RUNS ?? 1_000)
const CHECKSUMMED = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

const faultsOf = (json: unknown) => {
  const parsed = parsePolicy(json)
  return parsed.ok ? [] : parsed.faults.map(({ path }) => path)
}
const withWhen = (when: object) => ({
  ...{ default: 'deny', rules: [{ name: 'it', effect: 'allow', when }] },
})

test('the canonical text is read back as the very same policy', () => {
  fc.assert(
    fc.property(POLICY_JSON, (json) => {
      const parsed = parsePolicy(json)
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults))
      expect(parseCanonical(parsed.text)).toEqual(parsed.policy)
      expect(canonicalText(parsed.policy)).toBe(parsed.text)
      expect(JSON.stringify(policyJson(parsed.policy))).toBe(parsed.text)
      expect(describePolicy(parsed.policy).length).toBeGreaterThan(0)
    }),
    { numRuns: RUNS },
  )
})

test('order, case and repeats within a set make no other policy', () => {
  const one = withWhen({ chains: [8453, 1, 8453], to: [CHECKSUMMED], spend_usd_lte: '5' })
  const other = {
    rules: [
      {
        when: { spend_usd_lte: '5.00', to: [USDC], chains: [1, 8453] },
        effect: 'allow',
        name: 'it',
      },
    ],
    ceilings: [],
    default: 'deny',
    per_transaction_usd: null,
  }
  expect(canonicalText(policyOf(one))).toBe(canonicalText(policyOf(other)))
})

test('a text that was signed before the native currency had one name is read as it was', () => {
  const policy = policyOf(withWhen({ amounts: [{ token: USDC, gt: '5' }] }))
  const text = canonicalText(policy).replace(USDC, NATIVE_ADDRESS)
  expect(parseCanonical(text)?.rules[0]?.when.amounts?.[0]?.token).toBe(NATIVE_ADDRESS)
})

/** As authorizers signed them before policies bounded what swaps lose. */
const SIGNED_BEFORE = [
  '{"breakers":[],"ceilings":[],"default":"allow","per_transaction_usd":null,"rules":[]}',
  '{"breakers":[{"count":50,"kind":"refusals","per_seconds":300}],"ceilings":[{"amount":"1000000000","chain_id":8453,"per":"day","token":"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"}],"default":"deny","per_transaction_usd":"5.00","rules":[{"delay_seconds":0,"effect":"allow","name":"trade","when":{"chains":[8453],"operations":["defi_deposit","defi_withdraw","swap"],"utc_hours":[{"days":["mon"],"from":"08:00","to":"18:00"}]}}]}',
]

test('a text that was signed before swaps were bounded keeps its bytes, and the default bound', () => {
  for (const text of SIGNED_BEFORE) {
    const policy = parseCanonical(text)
    if (policy === null) throw new Error('not read')
    expect(canonicalText(policy)).toBe(text)
    expect(maxSwapLossBpsOf(policy)).toBe(500)
    // Written out, the default is the same policy.
    expect(canonicalText(policyOf({ ...JSON.parse(text), max_swap_loss_bps: 500 }))).toBe(text)
    expect(canonicalText(policyOf({ ...JSON.parse(text), max_swap_loss_bps: null }))).not.toBe(text)
  }
})

test('text that is not canonical is none that was signed', () => {
  const text = canonicalText(policyOf({ default: 'deny', per_transaction_usd: '5' }))
  expect(parseCanonical(text)).not.toBeNull()
  expect(parseCanonical(` ${text}`)).toBeNull()
  expect(parseCanonical(text.replace('5.00', '5'))).toBeNull()
  expect(parseCanonical('{')).toBeNull()
})

test.each([
  ['no object', [], ''],
  ['an unknown field', { default: 'deny', defaults: 'allow' }, 'defaults'],
  ['no default', {}, 'default'],
  ['a number for USD', { default: 'deny', per_transaction_usd: 5 }, 'per_transaction_usd'],
  ['an unknown condition', withWhen({ too: [] }), 'rules[0].when.too'],
  ['an empty list', withWhen({ to: [] }), 'rules[0].when.to'],
  ['no address', withWhen({ to: [USDC, '0x12'] }), 'rules[0].when.to[1]'],
  [
    'a wrong checksum',
    withWhen({ to: [CHECKSUMMED.replace('fCD', 'fcD')] }),
    'rules[0].when.to[0]',
  ],
  ['a chain that is none', withWhen({ chains: [5] }), 'rules[0].when.chains[0]'],
  ['a short type', withWhen({ functions: ['f(uint)'] }), 'rules[0].when.functions[0]'],
  ['a not in a not', withWhen({ not: { not: { chains: [1] } } }), 'rules[0].when.not.not'],
  ['a not that is no object', withWhen({ not: 7 }), 'rules[0].when.not'],
  ['an empty not', withWhen({ not: {} }), 'rules[0].when.not'],
  [
    'arguments without a signature',
    withWhen({ functions: ['0xa9059cbb'], arguments: [{ index: 0, op: 'eq', value: USDC }] }),
    'rules[0].when.arguments',
  ],
  [
    'an argument past the last',
    withWhen({ functions: ['f(bool)'], arguments: [{ index: 1, op: 'eq', value: true }] }),
    'rules[0].when.arguments[0].index',
  ],
  [
    'an argument that is no one word',
    withWhen({ functions: ['f(bytes)'], arguments: [{ index: 0, op: 'eq', value: '0x' }] }),
    'rules[0].when.arguments[0].index',
  ],
  [
    'a number out of its type',
    withWhen({ functions: ['f(uint8)'], arguments: [{ index: 0, op: 'lte', value: '256' }] }),
    'rules[0].when.arguments[0].value',
  ],
  [
    'an hour past the day',
    withWhen({ utc_hours: [{ from: '24:00', to: '08:00' }] }),
    'rules[0].when.utc_hours[0].from',
  ],
  [
    'the native currency by an address',
    withWhen({ amounts: [{ token: NATIVE_ADDRESS, gt: '5' }] }),
    'rules[0].when.amounts',
  ],
  [
    'the same in a not',
    withWhen({ not: { amounts: [{ token: NATIVE_ADDRESS, lte: '5' }] } }),
    'rules[0].when.not.amounts',
  ],
  [
    'a ceiling of that address',
    {
      ...{ default: 'allow', rules: [] },
      ceilings: [{ chain_id: 1, token: NATIVE_ADDRESS, per: 'day', amount: '5' }],
    },
    'ceilings',
  ],
  [
    'the native currency that comes in by an address',
    withWhen({ not: { token_out: [NATIVE_ADDRESS] } }),
    'rules[0].when.not.token_out',
  ],
  ['a loss of more than all', { default: 'allow', max_swap_loss_bps: 10_001 }, 'max_swap_loss_bps'],
  ['a loss as text', { default: 'allow', max_swap_loss_bps: '500' }, 'max_swap_loss_bps'],
  [
    'two rules of one name',
    { default: 'deny', rules: [0, 1].map(() => ({ name: 'a', effect: 'deny', when: {} })) },
    'rules[1].name',
  ],
  [
    'a name that refusals use',
    { default: 'deny', rules: [{ name: 'default', effect: 'deny', when: {} }] },
    'rules[0].name',
  ],
  [
    'a name that turns a line around',
    { default: 'deny', rules: [{ name: 'a\u202eb', effect: 'deny', when: {} }] },
    'rules[0].name',
  ],
] as const)('%s is refused with its path', (_, json, path) => {
  expect(faultsOf(json)).toContain(path)
})

test.each([
  'at most 5.00 USD in one call; all other calls are refused; x',
  'x": Refuse every call; all other calls are refused; rule "y',
  'none: any call within the caps',
])('the name %s says nothing for the policy', (name) => {
  const words = (said: string) =>
    describePolicy(policyOf({ default: 'allow', rules: [{ name: said, effect: 'allow' }] }))
  const unquoted = (text: string) => text.replaceAll(/"[^"]*"/g, '""')
  expect(unquoted(words(name))).toBe('rule "": Allow every call; all other calls are allowed')
  expect(words('pay')).toContain('rule "pay": ')
})

test('what an effect has no use for is refused, but for what it is by default', () => {
  const faultsOf = (rule: object) => {
    const parsed = parsePolicy({ rules: [{ name: 'r', ...rule }], default: 'deny' })
    return parsed.ok ? [] : parsed.faults.map(({ path }) => path)
  }
  const byDefault = { approvals: { needed: 1, expires_seconds: 3_600 }, delay_seconds: 0 }
  for (const effect of ['allow', 'deny', 'require_approval']) {
    expect(faultsOf({ effect, ...byDefault })).toEqual([])
  }
  for (const effect of ['allow', 'deny']) {
    for (const approvals of [{ needed: 2 }, { expires_seconds: 60 }]) {
      expect(faultsOf({ effect, approvals })).toEqual(['rules[0].approvals'])
    }
  }
  expect(faultsOf({ effect: 'deny', delay_seconds: 60 })).toEqual(['rules[0].delay_seconds'])
  expect(faultsOf({ effect: 'allow', delay_seconds: 60 })).toEqual([])
  expect(faultsOf({ effect: 'require_approval', approvals: { needed: 2 } })).toEqual([])
})

test('a policy is bounded in rules and in bytes', () => {
  const rule = (at: number) => ({ name: `r${at}`, effect: 'deny', when: {} })
  const rules = Array.from({ length: RULES_MAX + 1 }, (_, at) => rule(at))
  expect(faultsOf({ default: 'deny', rules })).toContain('rules')
  const addresses = Array.from(
    { length: 250 },
    (_, at) => `0x${(at + 1).toString(16).padStart(40, '0')}`,
  )
  const full = rules.slice(0, 2).map((one) => ({ ...one, when: { to: addresses } }))
  expect(faultsOf({ default: 'deny', rules: full })).toEqual([''])
  expect(POLICY_TEXT_BYTES_MAX).toBe(16_384)
})

test.each(['uint8', '()', '(bool,())'])(
  'arrays of arrays of %s are counted without being laid out',
  (element) => {
    const type = element + '[64]'.repeat(60)
    expect(parseSignature(`f(${type},uint8)`)).toEqual(
      element === '()'
        ? expect.objectContaining({ head: [{ kind: 'uint', bits: 8 }], argumentAt: [null, 0] })
        : null,
    )
    // Behind the head nothing is counted.
    expect(parseSignature(`f((bytes,${type}),uint8)`)).toMatchObject({
      ...{ head: [null, { kind: 'uint' }], argumentAt: [null, 1], isStatic: false },
    })
  },
)

test('no document whatever is more than refused', () => {
  const names = ['default', 'rules', 'when', 'to', 'not', 'amounts', 'count', 'ceilings', 'name']
  const json = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom(...names), fc.jsonValue()),
    POLICY_JSON.chain((policy) =>
      fc
        .jsonValue()
        .map((value) => ({ ...policy, rules: [{ name: 'x', effect: 'deny', when: value }] })),
    ),
  )
  fc.assert(
    fc.property(json, (document) => {
      const parsed = parsePolicy(document)
      if (parsed.ok) expect(parsePolicy(JSON.parse(parsed.text))).toEqual(parsed)
    }),
    { numRuns: RUNS },
  )
})
