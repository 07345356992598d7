import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { test } from 'vitest'
import type { Address, Hex } from '../../src/domain/ids.js'
import { judgePolicies, PolicyDenied } from '../../src/identity-provider/vault/judge-policy.js'
import {
  type CallShown,
  NATIVE_ADDRESS,
  showCall,
  showIntent,
} from '../../src/policy/call-shown.js'
import type { Operation } from '../../src/policy/call-terms.js'
import { ceilingBreach, unitsTaken } from '../../src/policy/ceilings.js'
import { ELSEWHERE, type Facts } from '../../src/policy/condition.js'
import { type CompiledPolicy, compilePolicy, judge } from '../../src/policy/judge-policy.js'
import {
  addToLedger,
  countedWithin,
  NO_POLICY_LEDGER,
  type PolicyLedger,
  unitsUsed,
} from '../../src/policy/policy-ledger.js'
import { decodePayload, encodePayload } from '../../src/quorum-protocol/payload.js'
import type { SignPayload } from '../../src/quorum-protocol/sign-payload.js'
import { PAYEES, POLICY, transferData, USDC, word } from './random-policies.js'

/** Calls in all; `npm run test:long -- policies` takes a million. */
const CALLS = Number(process.env.POLICY_AGREEMENT_CALLS ?? 6_000)
const CALLS_PER_POLICY = 20
const ROUTER: Address = '0x4444444444444444444444444444444444444444'
const VAULT: Address = PAYEES[0] ?? USDC

/** A call as the service has it, and the payload that it has signed for it. */
interface Asked {
  readonly shown: CallShown
  readonly payload: SignPayload
}

const ADDRESS = fc.constantFrom(USDC, ...PAYEES)
const TOKEN = fc.constantFrom<Address>(USDC, VAULT, NATIVE_ADDRESS)
const AMOUNT = fc.constantFrom(0n, 1n, 50n, 100n, 101n, 2n ** 256n - 1n)
const SELECTORS = [
  '0xa9059cbb',
  '0x095ea7b3',
  '0x23b872dd',
  '0xd505accf',
  '0xe3ee160e',
  '0xdeadbeef',
]

const DATA: fc.Arbitrary<Hex> = fc.oneof(
  fc.constant<Hex>('0x'),
  fc.tuple(ADDRESS, AMOUNT).map(([to, amount]) => transferData(to, amount)),
  fc
    .tuple(fc.constantFrom(...SELECTORS), ADDRESS, AMOUNT, fc.nat(5))
    .map(
      ([selector, to, amount, more]) =>
        `${selector}${word(to)}${word(amount)}${word(amount).repeat(more)}` as Hex,
    ),
  // Some bits or bytes that are not as they must be.
  fc
    .tuple(ADDRESS, AMOUNT, fc.nat(135), fc.constantFrom('1', 'f', ''))
    .map(([to, amount, at, digit]) => {
      const data = transferData(to, amount)
      const spoiled = `${data.slice(0, 2 + at)}${digit}${data.slice(3 + at)}`
      return (spoiled.length % 2 === 0 ? spoiled : `${spoiled}0`) as Hex
    }),
  fc.uint8Array({ maxLength: 8 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`),
)

const SENT: fc.Arbitrary<Asked> = fc
  .record({
    chainId: fc.constantFrom(1, 8453),
    to: ADDRESS,
    value: fc.constantFrom(0n, 0n, 0n, 1n, 100n),
    data: DATA,
  })
  .map((call) => ({
    shown: showCall({ operation: 'send', ...call }),
    payload: {
      ...{ type: 'transaction', nonce: 0, gasLimit: 100_000n, ...call },
      ...{ maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
    },
  }))

/** As the service makes them: what each operation asks its venue for. */
const SPONSORED: fc.Arbitrary<Asked> = fc
  .record({
    operation: fc.constantFrom<Operation>('swap', 'defi_deposit', 'defi_withdraw', 'gas_swap'),
    venue: fc.constantFrom(...PAYEES),
    tokenIn: TOKEN,
    amountIn: AMOUNT,
    tokenOut: TOKEN,
  })
  .map(({ operation, venue, ...traded }) => {
    const made = {
      swap: { data: '0x04e45aaf' as Hex },
      gas_swap: { data: '0xac9650d8' as Hex, tokenOut: NATIVE_ADDRESS as Address },
      defi_deposit: { data: `0x6e553f65${word(1n)}${word(USDC)}` as Hex, tokenOut: venue },
      defi_withdraw: { data: `0xba087652${word(1n)}` as Hex, tokenIn: venue },
      send: { data: '0x' as Hex },
    }[operation]
    const terms = { ...traded, ...made, target: venue }
    const intent = {
      ...{ account: USDC, feeBps: 30, minOut: 1n, nonce: 1n, deadline: 2_000_000_000 },
      ...terms,
    }
    return {
      shown: showIntent(operation, 8453, terms),
      payload: { type: 'router-intent', chainId: 8453, verifyingContract: ROUTER, intent },
    }
  })

const ASKED = fc.oneof({ weight: 3, arbitrary: SENT }, { weight: 1, arbitrary: SPONSORED })

const KNOWN = fc.record({
  spendMicros: fc.option(fc.bigInt(0n, 200_000_000n)),
  paid: fc.subarray([...PAYEES]),
})

/** As the service judges: of the call that it was asked for, with what it knows. */
function allowedBy(
  compiled: CompiledPolicy,
  call: CallShown,
  usage: PolicyLedger,
  facts: Pick<Facts, 'nowMs' | 'spendMicros' | 'hasPaid' | 'countsUsd'>,
  gasWei: bigint,
): boolean {
  const within = (perSeconds: number) => countedWithin(usage, perSeconds, facts.nowMs)
  if (judge(compiled, call, { ...facts, within }).effect !== 'allow') return false
  const taken = unitsTaken(compiled.policy, call, gasWei)
  const usedOf = (ceiling: Parameters<typeof unitsUsed>[1]) =>
    unitsUsed(usage, ceiling, facts.nowMs)
  return taken !== null && ceilingBreach(compiled.policy, taken, usedOf) === null
}

test('both domains come to the same on what a call shows, each by its own bytes', () => {
  fc.assert(
    fc.property(
      POLICY,
      fc.array(fc.tuple(ASKED, KNOWN, fc.nat(3_600_000)), {
        minLength: CALLS_PER_POLICY,
        maxLength: CALLS_PER_POLICY,
      }),
      fc.nat(14 * 86_400_000),
      (policy, asked, startMs) => {
        const compiled = compilePolicy(policy)
        let usage = NO_POLICY_LEDGER
        let nowMs = startMs
        for (const [{ shown, payload }, { spendMicros, paid }, laterMs] of asked) {
          nowMs += laterMs
          const { type, bytes } = encodePayload(payload)
          // Only the user side sees the fees that are signed, and counts them in native ceilings.
          const gasWei =
            payload.type === 'transaction' ? payload.gasLimit * payload.maxFeePerGas : 0n
          const open = {
            nowMs,
            spendMicros: ELSEWHERE,
            hasPaid: ELSEWHERE,
            countsUsd: false,
          } as const
          // Bytes do not say whether native currency is bought for gas.
          const mayBeGas =
            payload.type === 'router-intent' && payload.intent.tokenOut === NATIVE_ADDRESS
          const readings =
            mayBeGas && (shown.operation === 'swap' || shown.operation === 'gas_swap')
              ? (['swap', 'gas_swap'] as const).map((operation) => ({ ...shown, operation }))
              : [shown]
          const allowed = readings.some((call) => allowedBy(compiled, call, usage, open, gasWei))
          const judged = judgedByUserSide(policy, decodePayload(type, bytes), usage, nowMs)
          same(judged.allowed, allowed)
          const known = {
            ...{ nowMs, spendMicros, countsUsd: true },
            hasPaid: (address: Address) => paid.includes(address),
          }
          if (allowedBy(compiled, shown, usage, known, gasWei)) same(judged.allowed, true)
          if (!allowed) continue
          const counts = compiled.windows.length + policy.ceilings.length > 0
          const taken = unitsTaken(policy, shown, gasWei) ?? []
          const use = { atMs: nowMs, micros: 0n, taken }
          const after = addToLedger(usage, use, compiled.windows, policy.ceilings)
          same(judged.usage, counts ? after : null)
          usage = judged.usage ?? usage
        }
      },
    ),
    { numRuns: Math.ceil(CALLS / CALLS_PER_POLICY) },
  )
}, 21_600_000)

/** `expect` takes longer than both judges together. */
function same(judgedByUserSide: unknown, byService: unknown): void {
  if (isDeepStrictEqual(judgedByUserSide, byService)) return
  throw new Error(`user side ${show(judgedByUserSide)}, service ${show(byService)}`)
}

const show = (value: unknown) =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))

function judgedByUserSide(...[policy, payload, usage, nowMs]: JudgedParameters) {
  try {
    return { allowed: true, usage: judgePolicies([policy], payload, usage, nowMs, null) }
  } catch (error) {
    if (error instanceof PolicyDenied) return { allowed: false, usage: null }
    throw error
  }
}

type JudgedParameters = [
  policy: Parameters<typeof judgePolicies>[0][number],
  payload: Parameters<typeof judgePolicies>[1],
  usage: PolicyLedger,
  nowMs: number,
]
