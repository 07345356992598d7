import fc from 'fast-check'
import type { Address, Hex } from '../../src/domain/ids.js'
import {
  type CallShown,
  NATIVE_ADDRESS,
  showCall,
  showIntent,
} from '../../src/policy/call-shown.js'
import { OPERATIONS } from '../../src/policy/call-terms.js'
import type { Facts } from '../../src/policy/condition.js'
import { selectorOf } from '../../src/policy/function-signature.js'
import { parsePolicy } from '../../src/policy/parse-policy.js'
import type { Policy } from '../../src/policy/policy.js'

/** Few values of each kind, so that policies and calls meet. */
export const USDC: Address = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
export const PAYEES: readonly Address[] = [
  '0x1111111111111111111111111111111111111111',
  '0x2222222222222222222222222222222222222222',
]
const PLACES: readonly Address[] = [USDC, ...PAYEES]
const FUNCTIONS = [
  'transfer(address,uint256)',
  'approve(address,uint256)',
  'setOwner(address,bool)',
  '0xa9059cbb',
  'native',
]
const AMOUNTS = ['0', '1', '50', '100', '101']
const USD = ['0.00', '1.00', '50.00', '100.50']

function listOf<T>(values: readonly T[], maxLength = 3) {
  return fc.array(fc.constantFrom(...values), { minLength: 1, maxLength })
}

const TEST_OF_TRANSFER = fc.oneof(
  fc.record({ index: fc.constant(0), op: fc.constant('eq'), value: fc.constantFrom(...PAYEES) }),
  fc.record({ index: fc.constant(0), op: fc.constant('in'), value: listOf(PAYEES) }),
  fc.record({
    index: fc.constant(1),
    op: fc.constantFrom('lte', 'gte', 'eq'),
    value: fc.constantFrom(...AMOUNTS),
  }),
)

const AMOUNT_TEST = fc
  .uniqueArray(fc.constantFrom(USDC, 'native'), { minLength: 1, maxLength: 2 })
  .chain((tokens) =>
    fc.tuple(
      ...tokens.map((token) =>
        fc.oneof(
          fc.record({ token: fc.constant(token), lte: fc.constantFrom(...AMOUNTS) }),
          fc.record({ token: fc.constant(token), gt: fc.constantFrom(...AMOUNTS) }),
        ),
      ),
    ),
  )

const FIELDS = {
  operations: listOf(OPERATIONS),
  chains: listOf([1, 8453]),
  to: listOf(PLACES),
  functions: listOf(FUNCTIONS),
  beneficiaries: listOf(PAYEES),
  value_native_lte: fc.constantFrom(...AMOUNTS),
  value_native_gt: fc.constantFrom(...AMOUNTS),
  amounts: AMOUNT_TEST,
  spend_usd_lte: fc.constantFrom(...USD),
  spend_usd_gt: fc.constantFrom(...USD),
  new_beneficiary: fc.boolean(),
  count: fc.record({ per_seconds: fc.constantFrom(60, 3600), gt: fc.nat(4) }),
  sum_usd: fc.record({
    per_seconds: fc.constantFrom(60, 3600),
    gt: fc.constantFrom(...USD),
  }),
  utc_hours: fc.constantFrom(
    [{ days: ['mon', 'tue'], from: '08:00', to: '18:00' }],
    [{ from: '22:00', to: '06:00' }],
  ),
  token_out: listOf([...PLACES, 'native']),
}

export const FLAT_WHEN = fc.oneof(
  fc.record(FIELDS, { requiredKeys: [] }).map((when) => thinned(when)),
  fc.record({
    functions: fc.constant(['transfer(address,uint256)']),
    arguments: fc.array(TEST_OF_TRANSFER, { minLength: 1, maxLength: 2 }),
  }),
)

/** All conditions at once hold of nothing. */
function thinned(when: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(when)
  const kept = names.filter((name, at) => (name.length * 7 + at * 5 + names.length) % 4 === 0)
  return Object.fromEntries(kept.map((name) => [name, when[name]]))
}

const WHEN = fc
  .tuple(FLAT_WHEN, fc.option(FLAT_WHEN, { nil: undefined, freq: 3 }))
  .map(([when, not]) => {
    const hasNot = not !== undefined && Object.keys(not).length > 0
    return hasNot ? { ...when, not } : when
  })

const RULE = fc
  .record({
    effect: fc.constantFrom('allow', 'require_approval', 'deny'),
    when: WHEN,
    delay_seconds: fc.constantFrom(0, 0, 0, 60),
    approvals: fc.record({
      needed: fc.constantFrom(1, 1, 2),
      expires_seconds: fc.constantFrom(60, 3_600, 7_200),
    }),
  })
  // With what its effect has a use for.
  .map(({ effect, when, delay_seconds, approvals }) => ({
    ...{ effect, when },
    ...(effect === 'deny' ? {} : { delay_seconds }),
    ...(effect === 'require_approval' ? { approvals } : {}),
  }))

/** A policy as people write it. */
export const POLICY_JSON = fc
  .record({
    per_transaction_usd: fc.constantFrom(null, null, ...USD),
    max_swap_loss_bps: fc.constantFrom(undefined, undefined, 500, 0, 100, 9_999, 10_000, null),
    rules: fc.array(RULE, { maxLength: 4 }),
    default: fc.constantFrom('allow', 'deny', 'require_approval'),
    ceilings: fc.uniqueArray(
      fc.record({
        chain_id: fc.constantFrom(1, 8453),
        token: fc.constantFrom(USDC, 'native'),
        per: fc.constantFrom('day', 'month'),
        amount: fc.constantFrom(...AMOUNTS),
      }),
      { maxLength: 3, selector: ({ chain_id, token, per }) => `${chain_id}${token}${per}` },
    ),
  })
  .map((policy) => ({
    ...policy,
    rules: policy.rules.map((rule, at) => ({ name: `rule ${at}`, ...rule })),
  }))

export const POLICY = POLICY_JSON.map(policyOf)

export function policyOf(json: unknown): Policy {
  const parsed = parsePolicy(json)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults))
  return parsed.policy
}

export function word(value: bigint | string): string {
  const digits = typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()
  return digits.padStart(64, '0')
}

export function transferData(to: Address, amount: bigint): Hex {
  return `0xa9059cbb${word(to)}${word(amount)}`
}

const DATA: fc.Arbitrary<Hex> = fc.oneof(
  fc.constant<Hex>('0x'),
  fc
    .tuple(fc.constantFrom('0xa9059cbb', '0x095ea7b3'), fc.constantFrom(...PAYEES), fc.nat(120))
    .map(([selector, to, amount]): Hex => `${selector}${word(to)}${word(BigInt(amount))}` as Hex),
  fc.constantFrom<Hex>(
    '0xa9059cbb',
    `0xa9059cbb${'f'.repeat(64)}${word(1n)}`,
    `${transferData(USDC, 1n)}00`,
    '0x1234',
    `0xdeadbeef${word(7n)}`,
    `${selectorOf('setOwner(address,bool)')}${word(USDC)}${word(2n)}`,
    `${selectorOf('setOwner(address,bool)')}${word(USDC)}${word(1n)}`,
  ),
)

export const CALL: fc.Arbitrary<CallShown> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        operation: fc.constant('send' as const),
        chainId: fc.constantFrom(1, 8453),
        to: fc.constantFrom(...PLACES),
        value: fc.constantFrom(0n, 0n, 1n, 60n),
        data: DATA,
      })
      .map(showCall),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        ...([
          fc.constantFrom(...OPERATIONS),
          fc.constantFrom(...PLACES),
          fc.nat(120),
          DATA,
        ] as const),
        fc.constantFrom(...PLACES, NATIVE_ADDRESS),
      )
      .map(([operation, target, amountIn, data, other]) => {
        const gives = { defi_deposit: target, gas_swap: NATIVE_ADDRESS } as const
        const tokenOut = operation in gives ? gives[operation as keyof typeof gives] : other
        const terms = { tokenIn: USDC, tokenOut, amountIn: BigInt(amountIn), target, data }
        return showIntent(operation, 8453, terms)
      }),
  },
)

export const FACTS: fc.Arbitrary<Facts> = fc
  .record({
    nowMs: fc.nat(14 * 86_400_000),
    spendMicros: fc.option(fc.bigInt(0n, 200_000_000n)),
    paid: fc.option(fc.subarray([...PAYEES])),
    count: fc.nat(5),
    micros: fc.bigInt(0n, 200_000_000n),
  })
  .map(({ nowMs, spendMicros, paid, count, micros }) => ({
    nowMs,
    spendMicros,
    hasPaid: paid === null ? null : (address: Address) => paid.includes(address),
    within: (perSeconds: number) => ({
      count: perSeconds > 60 ? count : count >> 1,
      micros: perSeconds > 60 ? micros : micros / 2n,
    }),
    countsUsd: true,
  }))
