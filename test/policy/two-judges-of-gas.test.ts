import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import {
  countRaisedFee,
  judgePolicies,
  PolicyDenied,
} from '../../src/identity-provider/vault/judge-policy.js'
import { NO_POLICY_LEDGER, type PolicyLedger } from '../../src/policy/policy-ledger.js'
import { decodePayload, encodePayload } from '../../src/quorum-protocol/payload.js'
import {
  ATTEMPT,
  apiKey,
  CHAIN_ID,
  preparedSend,
  START_MS,
  txIdOf,
} from '../actors/wallet-fixtures.js'
import { openWallet, type WalletWorld } from '../core/wallet-world.js'
import { policyOf } from './random-policies.js'

const KEY = 'key_gas' as KeyId
const LINEAGE = 'lin_gas' as LineageId
const GAS_LIMIT = 21_000n
const DAY_MS = 86_400_000
const HIGH_MICROS = 10n ** 15n

interface Step {
  /** Raises the fee of the latest call, or sends another. */
  readonly raises: boolean
  readonly value: bigint
  readonly fee: bigint
  readonly laterMs: number
}

const STEP: fc.Arbitrary<Step> = fc.record({
  raises: fc.boolean(),
  value: fc.bigInt(0n, 60_000n),
  fee: fc.bigInt(1n, 6n),
  laterMs: fc.constantFrom(0, 0, 1_000, DAY_MS),
})

/** The service's actor, with what its gates and its bids make of a ceiling of native coin. */
class Service {
  readonly #world: WalletWorld
  #n = 0
  fee = 0n

  constructor(world: WalletWorld) {
    this.#world = world
  }

  async sends(value: bigint, fee: bigint, nowMs: number): Promise<boolean> {
    const n = ++this.#n
    const sent = preparedSend(n, value, { nowMs, chainNonce: 0, keyId: KEY })
    if (!sent.quote.ok) throw new Error('no quote')
    const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: 1n }
    await this.#world.handle({ ...sent, quote: { ...sent.quote, gasLimit: GAS_LIMIT, fees } }, n)
    if (this.#world.replies.some(({ token, result }) => token === n && !result.ok)) {
      this.#n--
      this.#world.replies.splice(0)
      return false
    }
    const txId = txIdOf(n)
    const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
    await this.#world.handle({ type: 'screened', txId, ...screened, nowMs })
    const signed = { ...ATTEMPT, txHash: `0x${n}${fee}` as const, signedAtMs: nowMs }
    await this.#world.handle({ type: 'signed', txId, nonce: n - 1, signed, nowMs })
    this.fee = fee
    return true
  }

  async raises(fee: bigint, nowMs: number): Promise<boolean> {
    const txId = txIdOf(this.#n)
    const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: 1n }
    const signed = { ...ATTEMPT, txHash: `0x${this.#n}${fee}` as const, signedAtMs: nowMs }
    await this.#world.handle({
      ...{ type: 'replacement-signed', txId, nonce: this.#n - 1, purpose: 'bump', fees },
      ...{ signed, nowMs },
    })
    const highest = this.#world.state.open.get(txId)?.tx.attempts.at(-1)?.maxFeePerGas
    if (highest !== fee) return false
    this.fee = fee
    return true
  }

  /** As it is in memory, and as a restart would find it. */
  usages(): (PolicyLedger['units'] | undefined)[] {
    const units = (state: WalletWorld['state']) => state.policyLedgers.get(LINEAGE)?.units
    return [units(this.#world.state), units(this.#world.loaded())]
  }
}

test('both domains count gas in ceilings of native coin alike, when it is first and when it is raised', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.bigInt(21_000n, 600_000n),
      fc.constantFrom('day', 'month'),
      fc.array(STEP, { minLength: 4, maxLength: 16 }),
      async (amount, per, steps) => {
        const ceilings = [{ chain_id: CHAIN_ID, token: 'native', per, amount: String(amount) }]
        const policy = policyOf({ default: 'allow', ceilings })
        const world = await openWallet(HIGH_MICROS)
        const limits = { dailyLimitMicros: null, monthlyLimitMicros: null }
        const key = apiKey({ ...limits, keyId: KEY, lineageId: LINEAGE, policy })
        await world.handle({ type: 'register-key', key })
        const service = new Service(world)
        let usage = NO_POLICY_LEDGER
        let sent = 0
        let nowMs = START_MS
        for (const { raises, value, fee, laterMs } of steps) {
          nowMs += laterMs
          if (raises) {
            if (sent === 0) continue
            const extraWei = GAS_LIMIT * fee
            const path = [{ policies: [policy], usage }]
            const higher = service.fee + fee
            const after = deniedOr(() => countRaisedFee(path, CHAIN_ID, extraWei, nowMs)[0])
            expect(await service.raises(higher, nowMs)).toBe(after !== null)
            usage = after ?? usage
          } else {
            const payload = payloadOf(sent, value, fee)
            const after = deniedOr(() => judgePolicies([policy], payload, usage, nowMs, null))
            expect(await service.sends(value, fee, nowMs)).toBe(after !== null)
            if (after !== null) sent++
            usage = after ?? usage
          }
          const units = usage.units.length === 0 ? undefined : usage.units
          for (const counted of service.usages()) expect(counted ?? undefined).toEqual(units)
        }
      },
    ),
    { numRuns: 60 },
  )
})

function deniedOr(judge: () => PolicyLedger | null | undefined): PolicyLedger | null {
  try {
    return judge() ?? null
  } catch (error) {
    if (error instanceof PolicyDenied) return null
    throw error
  }
}

function payloadOf(nonce: number, value: bigint, fee: bigint) {
  const { to } = preparedSend(1, value).call
  const { type, bytes } = encodePayload({
    ...{ type: 'transaction', chainId: CHAIN_ID, nonce, to, value, data: '0x' },
    ...{ gasLimit: GAS_LIMIT, maxFeePerGas: fee, maxPriorityFeePerGas: 1n },
  })
  return decodePayload(type, bytes)
}
