import { describe, expect, test } from 'vitest'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Claimed } from '../../actors/sub-wallet/core/grant-messages.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { countersOf, emptyState, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { KeyId } from '../../src/domain/ids.js'
import { preparedSwap } from '../core/wallet-world.js'
import {
  apiKey,
  CHAIN_ID,
  GAS_MICROS,
  KEY_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  txIdOf,
  WALLET_ID,
  WEI_PER_MICRO,
  wallet,
} from './wallet-fixtures.js'

const SUCCESSOR = 'key_00000000000000000000000002' as KeyId
const OTHER_CHAIN_ID = 10
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A wallet with one key; each send moves so much, gas included. */
class CappedWallet {
  readonly #state: SubWalletState = emptyState(WALLET_ID)
  #sends = 0

  constructor(key: Partial<ApiKey>) {
    decide(this.#state, { type: 'create-wallet', wallet }, null)
    decide(this.#state, { type: 'register-key', key: apiKey(key) }, null)
  }

  /** @returns the cap that is named in the refusal, or null when the send was admitted */
  send(micros: bigint, nowMs = START_MS, keyId: KeyId = KEY_ID, chainId = CHAIN_ID): unknown {
    const said = { nowMs, keyId, chainId }
    return this.#admit(preparedSend(++this.#sends, micros - GAS_MICROS, said))
  }

  swap(micros: bigint, nowMs: number): unknown {
    return this.#admit(preparedSwap(++this.#sends, micros, { nowMs }))
  }

  #admit(command: Command): unknown {
    const { replies } = decide(this.#state, command, 1)
    const result = replies[0]?.result
    if (result === undefined) return null
    if (result.ok || result.fault.code !== 'LIMIT_EXCEEDED') throw new Error('unexpected answer')
    return result.fault.details.period
  }

  /** Up to its signed bytes. */
  sendAndStore(micros: bigint, nowMs: number): void {
    expect(this.send(micros, nowMs)).toBeNull()
    this.store(this.#sends, nowMs)
  }

  /** Signed at last. */
  store(n: number, nowMs: number): void {
    const txId = txIdOf(n)
    const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
    decide(this.#state, { type: 'screened', txId, ...screened, nowMs }, null)
    const signed = { txHash: '0x01', rawTransaction: '0x01', intentId: '0x01' } as const
    const stored = { ...signed, signedAtMs: nowMs }
    decide(this.#state, { type: 'signed', txId, nonce: 0, signed: stored, nowMs }, null)
  }

  storeSwap(n: number, nowMs: number): void {
    const txId = txIdOf(n)
    const screened = { refusal: null, screenedAgainst: [], nowMs } as const
    decide(this.#state, { type: 'sponsored-screened', txId, ...screened }, null)
    const signed = { calldata: '0xcc', authorization: null, deadlineSeconds: 0 } as const
    decide(this.#state, { type: 'intent-signed', txId, signed, nowMs }, null)
  }

  /** The chain has taken it, for no gas. @param nowMs when the wallet is told */
  confirm(n: number, nowMs: number): void {
    const txId = txIdOf(n)
    const place = { txHash: '0x01', blockNumber: 1, blockHash: '0x0b' } as const
    const mined = { ...place, outcome: 'success', feeWei: 0n } as const
    decide(this.#state, { type: 'mined', txId, mined, nowMs }, null)
    decide(this.#state, { type: 'confirmed', txId, mined, nowMs }, null)
    if (this.#state.open.has(txId)) throw new Error('it has not ended')
  }

  patch(
    patch: Partial<Pick<ApiKey, 'dailyLimitMicros' | 'monthlyLimitMicros'>>,
    keyId = KEY_ID,
    nowMs = START_MS,
  ): void {
    const claimId = this.#claim({ keyId, rotatedFrom: null, patch })
    decide(this.#state, { type: 'patch-key', keyId, patch, claimId, nowMs }, null)
  }

  rotate(): void {
    const successor = {
      keyId: SUCCESSOR,
      secretHash: 'bb'.repeat(32),
      secretPrefix: 'sk_test_bbbb',
    }
    const claimId = this.#claim({ keyId: SUCCESSOR, rotatedFrom: KEY_ID, patch: null })
    const command = { type: 'rotate-key', keyId: KEY_ID, successor, claimId } as const
    decide(this.#state, { ...command, nowMs: START_MS }, null)
  }

  /** As if the identity provider had acknowledged all that came before. */
  #claim(of: Claimed): string {
    const claimId = `claim ${of.keyId}`
    for (const { change } of [...this.#state.grants.byKey.values()]) {
      const { keyId, version } = change
      decide(this.#state, { type: 'grant-answered', keyId, version, taken: true }, null)
    }
    decide(this.#state, { type: 'claim-grant', claimId, of, nowMs: START_MS }, 1)
    return claimId
  }
}

describe('a cap', () => {
  test.for(['dailyLimitMicros', 'monthlyLimitMicros'] as const)(
    'of nothing lets nothing out, not even gas (%s)',
    (which) => {
      const capped = new CappedWallet({
        dailyLimitMicros: null,
        monthlyLimitMicros: null,
        [which]: 0n,
      })
      expect(capped.send(GAS_MICROS)).toBe(which === 'dailyLimitMicros' ? 'daily' : 'monthly')
    },
  )

  test('that is raised in the middle of a window counts what is used already', () => {
    const capped = new CappedWallet({ dailyLimitMicros: 100n })
    expect(capped.send(100n)).toBeNull()
    expect(capped.send(GAS_MICROS)).toBe('daily')
    capped.patch({ dailyLimitMicros: 150n })
    expect(capped.send(51n)).toBe('daily')
    expect(capped.send(50n)).toBeNull()
  })

  test('that is lowered below what is used refuses all until the window closes', () => {
    const capped = new CappedWallet({ dailyLimitMicros: 100n, monthlyLimitMicros: 1_000n })
    expect(capped.send(80n)).toBeNull()
    capped.patch({ dailyLimitMicros: 50n })
    expect(capped.send(GAS_MICROS)).toBe('daily')
    expect(capped.send(50n, START_MS + DAY_MS)).toBeNull()
  })

  test('is shared by a key and its successor within a window', () => {
    const capped = new CappedWallet({ dailyLimitMicros: 100n })
    expect(capped.send(60n)).toBeNull()
    capped.rotate()
    expect(capped.send(41n, START_MS, SUCCESSOR)).toBe('daily')
    expect(capped.send(40n, START_MS, SUCCESSOR)).toBeNull()
    expect(capped.send(GAS_MICROS)).toBe('daily')
  })

  test('that is lowered holds of a key whose grace was over, when the clock steps back into it', () => {
    const capped = new CappedWallet({ dailyLimitMicros: 100n })
    capped.rotate()
    capped.patch({ dailyLimitMicros: 50n }, SUCCESSOR, START_MS + DAY_MS)
    expect(capped.send(51n, START_MS + DAY_MS - HOUR_MS)).toBe('daily')
    expect(capped.send(50n, START_MS + DAY_MS - HOUR_MS)).toBeNull()
  })

  test('is not handed out again by a clock that steps back, over midnight or the end of a month', () => {
    const firstOfMonthMs = Date.UTC(2028, 2, 1, 0, 0, 1)
    for (const stepMs of [2_000, DAY_MS, 40 * DAY_MS]) {
      const capped = new CappedWallet({ dailyLimitMicros: 100n, monthlyLimitMicros: 150n })
      expect(capped.send(100n, firstOfMonthMs)).toBeNull()
      expect(capped.send(GAS_MICROS, firstOfMonthMs - stepMs)).toBe('daily')
      expect(capped.send(51n, firstOfMonthMs + DAY_MS)).toBe('monthly')
      expect(capped.send(50n, firstOfMonthMs + DAY_MS)).toBeNull()
    }
  })
})

test('what ends by a time that is wrong closes no window: a spent cap stays spent', () => {
  for (const wrongMs of [-40 * DAY_MS, -DAY_MS, DAY_MS, 400 * DAY_MS]) {
    const capped = new CappedWallet({ dailyLimitMicros: 100n })
    capped.sendAndStore(60n, START_MS)
    capped.confirm(1, START_MS + wrongMs)
    expect(capped.send(100n - 60n + GAS_MICROS + 1n), `${wrongMs}`).toBe('daily')
    expect(capped.send(100n - 60n + GAS_MICROS), `${wrongMs}`).toBeNull()
  }
})

test('racing sends share a cap also after the clock has stepped back over midnight', () => {
  const capped = new CappedWallet({ dailyLimitMicros: 100n })
  const midnightMs = Math.ceil(START_MS / DAY_MS) * DAY_MS
  capped.sendAndStore(20n, midnightMs)
  expect(capped.send(80n, midnightMs - 1)).toBeNull()
  expect(capped.send(GAS_MICROS, midnightMs - 1)).toBe('daily')
})

test.each(['send', 'swap'] as const)(
  'a %s that is signed on the day after it was asked for gives back nothing of that day',
  (kind) => {
    const capped = new CappedWallet({
      ...{ dailyLimitMicros: 100n, monthlyLimitMicros: 150n },
      allowedChains: [CHAIN_ID, OTHER_CHAIN_ID],
    })
    const midnightMs = Date.UTC(2028, 2, 1)
    const beforeMs = midnightMs - HOUR_MS
    expect(kind === 'send' ? capped.send(50n, beforeMs) : capped.swap(50n, beforeMs)).toBeNull()
    expect(capped.send(100n, midnightMs, KEY_ID, OTHER_CHAIN_ID)).toBeNull()
    capped.store(2, midnightMs)
    if (kind === 'send') capped.store(1, midnightMs)
    else capped.storeSwap(1, midnightMs)
    expect(capped.send(GAS_MICROS, midnightMs)).toBe('daily')
    expect(capped.send(51n, midnightMs + DAY_MS)).toBe('monthly')
    expect(capped.send(50n, midnightMs + DAY_MS)).toBeNull()
  },
)

describe('a replacement with a higher fee', () => {
  const signed = {
    txHash: '0xaa',
    rawTransaction: '0xaa',
    intentId: '0xaa',
    signedAtMs: 0,
  } as const

  /** A send that is stored at a fee of one wei, and what its lineage has used since. */
  function stored(dailyLimitMicros: bigint) {
    const state = emptyState(WALLET_ID)
    const txId = txIdOf(1)
    const nowMs = START_MS
    decide(state, { type: 'create-wallet', wallet }, null)
    decide(state, { type: 'register-key', key: apiKey({ dailyLimitMicros }) }, null)
    decide(state, preparedSend(1, 5n), 1)
    decide(
      state,
      { type: 'screened', txId, refusal: null, screenedAgainst: [], requoted: null, nowMs },
      null,
    )
    decide(state, { type: 'signed', txId, nonce: 0, signed, nowMs }, null)
    const replaceAt = (maxFeePerGas: bigint, atMs = nowMs) => {
      const fees = { maxFeePerGas, maxPriorityFeePerGas: 1n }
      const command = { type: 'replacement-signed', txId, nonce: 0, purpose: 'bump' } as const
      const { effects } = decide(state, { ...command, fees, signed, nowMs: atMs }, null)
      return effects.some(({ type }) => type === 'watch')
    }
    const used = (atMs = nowMs) => countersOf(state, LINEAGE_ID, atMs).dayMicros
    return { replaceAt, used }
  }

  test('reserves what its gas may cost more, and does not go out past the cap', () => {
    const gasMicrosPerWei = (wei: bigint) => (wei * 21_000n + WEI_PER_MICRO - 1n) / WEI_PER_MICRO
    const { replaceAt, used } = stored(5n + GAS_MICROS + gasMicrosPerWei(100n))
    expect(used()).toBe(5n + GAS_MICROS)
    expect(replaceAt(51n)).toBe(true)
    expect(used()).toBe(5n + GAS_MICROS + gasMicrosPerWei(50n))
    expect(replaceAt(200n)).toBe(false)
    expect(used()).toBe(5n + GAS_MICROS + gasMicrosPerWei(50n))
    expect(replaceAt(101n)).toBe(true)
    expect(used()).toBe(5n + GAS_MICROS + gasMicrosPerWei(100n))
  })

  test('counts whole in the day in which it is made, and not in one that nobody looks at', () => {
    const gasMicrosPerWei = (wei: bigint) => (wei * 21_000n + WEI_PER_MICRO - 1n) / WEI_PER_MICRO
    const { replaceAt, used } = stored(5n + GAS_MICROS + gasMicrosPerWei(100n))
    const laterMs = START_MS + DAY_MS
    expect(replaceAt(200n, laterMs)).toBe(false)
    expect(used(laterMs)).toBe(0n)
    expect(replaceAt(51n, laterMs)).toBe(true)
    expect(used(laterMs)).toBe(5n + GAS_MICROS + gasMicrosPerWei(50n))
    expect(replaceAt(200n, laterMs)).toBe(false)
    expect(replaceAt(101n, laterMs)).toBe(true)
    expect(used(laterMs)).toBe(5n + GAS_MICROS + gasMicrosPerWei(100n))
  })
})
