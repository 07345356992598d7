import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type KeylessCount,
  type KeylessLedger,
  takeKeyless,
} from '../../src/identity-provider/vault/keyless.js'
import {
  decodeEntry,
  encodeEntry,
  entryOf,
  isCancel,
  keyedAs,
  type LedgerEntry,
} from '../../src/identity-provider/vault/nonce-ledger.js'
import { decodePayload, encodePayload } from '../../src/quorum-protocol/payload.js'
import type {
  AuthorizationPayload,
  TransactionPayload,
} from '../../src/quorum-protocol/sign-payload.js'
import { fromHex } from '../../src/quorum-protocol/transaction.js'
import { DELEGATE, STRANGER, transfer } from './harness.js'

/** Rules of what the user side approves without a key. Over real processes: keyless-signing.test.ts. */
const WALLET = randomBytes(16)
const SELF = '0x5555555555555555555555555555555555555555'
const GWEI = 1_000_000_000n
const NOW = Date.UTC(2026, 0, 5)

class Ledger implements KeylessLedger {
  readonly entries = new Map<string, LedgerEntry>()
  #count: KeylessCount = { day: 0, count: 0 }

  entry(_walletId: Uint8Array, chainId: number, nonce: number) {
    return this.entries.get(`${chainId}:${nonce}`) ?? null
  }
  keyless() {
    return this.#count
  }
  putKeyless(_walletId: Uint8Array, count: KeylessCount) {
    this.#count = count
  }
  /** @param keyedFeeWei null: no key asked for it */
  hold(nonce: number, feeWei: bigint, keyedFeeWei: bigint | null = feeWei, chainId = 8453) {
    const entry = {
      ...{ intentId: randomBytes(32), bodyHash: randomBytes(32), approval: null, keyedFeeWei },
      ...{ maxFeePerGasWei: feeWei, maxPriorityFeePerGasWei: 1n },
    }
    this.entries.set(`${chainId}:${nonce}`, entry)
  }
}

function decoded(payload: TransactionPayload | AuthorizationPayload) {
  const { type, bytes } = encodePayload(payload)
  const made = decodePayload(type, bytes)
  if (made.kind === 'router-intent') throw new Error('no nonce')
  return made
}

function cancelOf(nonce: number, maxFeePerGas: bigint, change: Partial<TransactionPayload> = {}) {
  const fees = { maxFeePerGas, maxPriorityFeePerGas: 1n }
  return transfer(nonce, { to: SELF, value: 0n, ...fees, ...change })
}

function takes(ledger: Ledger, nonce: number, feeWei: bigint, nowMs = NOW): boolean {
  const held = ledger.entry(WALLET, 8453, nonce)
  try {
    takeKeyless(WALLET, decoded(cancelOf(nonce, feeWei)), held, ledger, nowMs)
    return true
  } catch (error) {
    expect(String(error)).toContain('PAYLOAD_NOT_ALLOWED')
    return false
  }
}

describe('a call that no key asks for', () => {
  const authorizations = [
    {
      ...{ chainId: 8453, address: DELEGATE, nonce: 0, yParity: 0 as const },
      ...{ r: `0x${'11'.repeat(32)}` as const, s: `0x${'11'.repeat(32)}` as const },
    },
  ]
  const forms: readonly (readonly [string, boolean, Partial<TransactionPayload>])[] = [
    ['a cancel', true, {}],
    ['a cancel on Arbitrum, which bills data as gas', true, { chainId: 42161, gasLimit: 100_000n }],
    ['less gas', false, { gasLimit: 20_999n }],
    ['more gas', false, { gasLimit: 21_001n }],
    ['more gas on Arbitrum', false, { chainId: 42161, gasLimit: 100_001n }],
    ['the gas of Arbitrum elsewhere', false, { gasLimit: 100_000n }],
    ['data', false, { data: '0x00' }],
    ['value', false, { value: 1n }],
    ['another payee', false, { to: STRANGER }],
    ['a type-4 transaction', false, { authorizationList: authorizations }],
  ]

  test.each(forms)('of the form "%s" is a cancel: %s', (_what, isOne, change) => {
    expect(isCancel(decoded(cancelOf(3, GWEI, change)), fromHex(SELF))).toBe(isOne)
  })

  test('an authorization is no cancel, to whomever', () => {
    const to = (delegate: AuthorizationPayload['delegate']) =>
      decoded({ type: 'authorization', chainId: 8453, nonce: 3, delegate })
    expect(isCancel(to(SELF), fromHex(SELF))).toBe(false)
  })

  test('gets no nonce of a wallet for which no key ever asked anything', () => {
    const ledger = new Ledger()
    for (const nonce of [0, 1, 7, 1_000, 2 ** 32]) expect(takes(ledger, nonce, 1n)).toBe(false)
    ledger.hold(0, GWEI, GWEI, 1)
    expect(takes(ledger, 0, 1n)).toBe(false)
  })

  test('gets the two nonces above the last that a key asked for, at its fee and one bump, once', () => {
    const ledger = new Ledger()
    ledger.hold(5, 2n * GWEI)
    expect([6, 7, 8, 9, 100, 2 ** 32].filter((nonce) => takes(ledger, nonce, GWEI))).toEqual([6, 7])
    const highest = (2n * GWEI * 9n) / 8n
    expect(takes(ledger, 6, highest + 1n)).toBe(false)
    expect(takes(ledger, 6, highest)).toBe(true)
    // Its own approval is no key's: neither nonces nor fees go on from it.
    ledger.hold(6, highest, null)
    ledger.hold(7, highest, null)
    expect(takes(ledger, 8, 1n)).toBe(false)
    expect(takes(ledger, 6, (highest * 9n) / 8n)).toBe(false)
  })

  test('takes no fee from a bump that no key asked for, at a nonce beside it', () => {
    const ledger = new Ledger()
    ledger.hold(5, 500n * GWEI, 2n * GWEI)
    expect(takes(ledger, 6, 3n * GWEI)).toBe(false)
    expect(takes(ledger, 6, 2n * GWEI)).toBe(true)
    // In its own place it has to outbid what is there.
    expect(takes(ledger, 5, 562n * GWEI)).toBe(true)
    expect(takes(ledger, 5, 563n * GWEI)).toBe(false)
  })

  test('closes holes below what keys asked for, also above an authorization, which has no fee', () => {
    const ledger = new Ledger()
    ledger.hold(9, 2n * GWEI)
    ledger.hold(3, 0n)
    for (const nonce of [3, 4, 8]) expect(takes(ledger, nonce, 2n * GWEI)).toBe(true)
    expect(takes(ledger, 4, 3n * GWEI)).toBe(false)
    // Replaced there once more, it goes up by a bump each time.
    ledger.hold(4, 2n * GWEI, null)
    expect(takes(ledger, 4, (2n * GWEI * 9n) / 8n)).toBe(true)
  })

  test('ends a delegation near what keys asked for, and far from it none', () => {
    const ledger = new Ledger()
    ledger.hold(5, 0n)
    const end = (nonce: number) =>
      decoded({
        ...{ type: 'authorization', chainId: 8453, nonce },
        delegate: '0x0000000000000000000000000000000000000000',
      })
    expect(() => takeKeyless(WALLET, end(6), null, ledger, NOW)).not.toThrow()
    for (const nonce of [8, 2 ** 32]) {
      expect(() => takeKeyless(WALLET, end(nonce), null, ledger, NOW)).toThrow('without a key')
    }
  })

  test('is bounded in a UTC day, and goes on in the next one', () => {
    const ledger = new Ledger()
    ledger.hold(1_000, GWEI)
    const signed = (from: number, nowMs: number) =>
      Array.from({ length: 200 }, (_, index) => takes(ledger, from, GWEI, nowMs + index)).filter(
        (ok) => ok,
      ).length
    expect(signed(990, NOW)).toBe(128)
    expect(signed(990, NOW + 86_400_000)).toBe(128)
  })

  test('burns, whatever is asked for in whatever order, no more than near fees pay for', () => {
    const wei = fc.bigInt({ min: 1n, max: 1_000n })
    const step = fc.tuple(fc.nat(20), wei)
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(12), wei), { maxLength: 4 }),
        fc.array(step),
        (keyed, asked) => {
          const ledger = new Ledger()
          for (const [nonce, fee] of keyed) ledger.hold(nonce, fee)
          const highestNonce = Math.max(-1, ...keyed.map(([nonce]) => nonce))
          let highestFee = 0n
          for (const [, fee] of keyed) if (fee > highestFee) highestFee = fee
          for (const [nonce, fee] of asked) {
            if (!takes(ledger, nonce, fee)) continue
            expect(nonce).toBeLessThanOrEqual(highestNonce + 2)
            const before = ledger.entry(WALLET, 8453, nonce)
            if (nonce > highestNonce) expect(fee).toBeLessThanOrEqual(bumped(highestFee))
            ledger.hold(nonce, fee, before?.keyedFeeWei ?? null)
          }
        },
      ),
    )
  })
})

function bumped(wei: bigint): bigint {
  const higher = (wei * 9n + 7n) / 8n
  return higher > wei ? higher : wei + 1n
}

describe('an entry of the ledger', () => {
  const approvals = [null, { approvalId: randomBytes(16), maxNativeWei: 5n }] as const

  test.each([0n, 7n, GWEI, null])('keeps what a key asked for there: %s', (keyedFeeWei) => {
    for (const approval of approvals) {
      const { type, bytes } = encodePayload(transfer(1))
      const fresh = entryOf(randomBytes(32), decodePayload(type, bytes), bytes, approval)
      const entry = keyedAs(fresh, keyedFeeWei)
      const read = decodeEntry(encodeEntry(entry))
      expect(read.keyedFeeWei).toBe(keyedFeeWei)
      expect(read.approval === null).toBe(approval === null)
      expect(Buffer.from(encodeEntry(read))).toEqual(encodeEntry(entry))
    }
  })

  test('of before, which did not say, counts as one that a key asked for', () => {
    const { type, bytes } = encodePayload(transfer(1))
    const fresh = entryOf(randomBytes(32), decodePayload(type, bytes), bytes, null)
    const stored = encodeEntry(fresh)
    expect(stored).toHaveLength(128)
    expect(decodeEntry(stored).keyedFeeWei).toBe(fresh.maxFeePerGasWei)
    const older = Buffer.concat([stored.subarray(0, 32), randomBytes(32), stored.subarray(32)])
    expect(decodeEntry(older)).toEqual(decodeEntry(stored))
  })
})
