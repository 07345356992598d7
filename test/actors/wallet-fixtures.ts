import type { PreparedSend } from '../../actors/sub-wallet/core/messages.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { Call } from '../../src/domain/call.js'
import type { Address, KeyId, LineageId, SubWalletId, TxId, UserId } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import type { Transaction } from '../../src/domain/transaction.js'
import type { SubWallet } from '../../src/domain/wallet.js'

export const CHAIN_ID = 8453
export const START_MS = Date.UTC(2025, 5, 15, 12)
export const WALLET_ID = 'sw_00000000000000000000000001' as SubWalletId
export const USER_ID = 'user_00000000000000000000000001' as UserId
export const LINEAGE_ID = 'key_00000000000000000000000001' as LineageId
export const KEY_ID = 'key_00000000000000000000000001' as KeyId
export const ADDRESS: Address = '0x1111111111111111111111111111111111111111'

/** Chosen so that 100,000 wei, the gas of a self-send at a wei each, are a micro-dollar. */
export const NATIVE_PRICE = 10n ** 12n
const NATIVE_PRICE_DECIMALS = 5
export const WEI_PER_MICRO = 100_000n
/** What a send reserves for gas, micro-USD. */
export const GAS_MICROS = 10n

export const wallet: SubWallet = {
  subWalletId: WALLET_ID,
  userId: USER_ID,
  name: 'model',
  address: ADDRESS,
  epoch: 0,
  createdAtMs: START_MS,
}

export function apiKey(said: Partial<ApiKey> = {}): ApiKey {
  return {
    ...INITIAL_POLICY,
    keyId: KEY_ID,
    lineageId: LINEAGE_ID,
    subWalletId: WALLET_ID,
    userId: USER_ID,
    name: 'model',
    permission: 'trade',
    dailyLimitMicros: 1_000n,
    allowedChains: [CHAIN_ID],
    environment: 'test',
    secretHash: 'aa'.repeat(32),
    secretPrefix: 'sk_test_aaaa',
    createdAtMs: START_MS,
    rotatedFrom: null,
    rotatedAtMs: null,
    revokedAtMs: null,
    ...said,
  }
}

export function txIdOf(n: number): TxId {
  return `tx_${String(n).padStart(26, '0')}` as TxId
}

export const ATTEMPT = {
  txHash: '0x01',
  rawTransaction: '0x02',
  maxFeePerGas: 2n,
  maxPriorityFeePerGas: 1n,
  intentId: '0x03',
  signedAtMs: 1_750_000_000_000,
} as const

/** Fields of its call may be said one by one. */
export type Flat<T extends { readonly call: Call }> = Omit<T, 'call'> & Call

/** As the store holds one that is signed. The value is the widest there is. */
export function transaction(n: number, said: Partial<Flat<Transaction>> = {}): Transaction {
  const { chainId, to, value, data, ...rest } = said
  return {
    txId: txIdOf(n),
    subWalletId: WALLET_ID,
    userId: USER_ID,
    keyId: KEY_ID,
    lineageId: LINEAGE_ID,
    requestId: `request-${n}`,
    kind: 'send',
    from: ADDRESS,
    call: {
      chainId: chainId ?? CHAIN_ID,
      to: to ?? ADDRESS,
      value: value ?? 2n ** 255n,
      data: data ?? '0x',
    },
    nonce: n,
    gasLimit: 21_000n,
    status: 'signed',
    attempts: [],
    valuation: { valueMicros: 1n, gasMicros: 0n, nativePrice: 1n, nativePriceDecimals: 8 },
    reservation: { micros: 1n, day: 20_000, month: 24_305 },
    spentMicros: 1n,
    mined: null,
    error: null,
    createdAtMs: START_MS,
    updatedAtMs: START_MS,
    confirmedAtMs: null,
    ...rest,
  }
}

/** A send as it reaches the mailbox. @param micros what it moves, micro-USD */
export function preparedSend(
  n: number,
  micros: bigint,
  said: Partial<Flat<PreparedSend>> = {},
): PreparedSend {
  const { chainId, to, value, data, ...rest } = said
  return {
    type: 'prepared-send',
    txId: txIdOf(n),
    requestId: `request-${n}`,
    keyId: KEY_ID,
    kind: 'send',
    call: {
      chainId: chainId ?? CHAIN_ID,
      to: to ?? '0x2222222222222222222222222222222222222222',
      value: value ?? micros,
      data: data ?? '0x',
    },
    proofKey: new Uint8Array(32),
    idempotency: null,
    guardsDuplicates: false,
    nowMs: START_MS,
    first: null,
    quote: {
      ok: true,
      gasLimit: 21_000n,
      fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
      valuation: {
        valueMicros: micros,
        gasMicros: GAS_MICROS,
        nativePrice: NATIVE_PRICE,
        nativePriceDecimals: NATIVE_PRICE_DECIMALS,
      },
      unpriced: false,
      problem: null,
      accountHasCode: false,
      basis: {
        simulated: false,
        quotedAtBlock: 1,
        prices: [],
        movements: [],
        approvals: [],
        recipients: [],
        gasUsed: null,
        maxFeeWei: GAS_MICROS,
      },
    },
    chainNonce: 0,
    ...rest,
  }
}
