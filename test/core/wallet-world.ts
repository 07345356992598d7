import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command, Effect, Event } from '../../actors/sub-wallet/core/messages.js'
import type { PreparedSponsored } from '../../actors/sub-wallet/core/sponsored-messages.js'
import { countersOf, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { loadState, recordEvents } from '../../actors/sub-wallet/record.js'
import type { Exchange } from '../../src/domain/exchange.js'
import { gasWalletsFor } from '../../src/domain/gas-wallets.js'
import type { Address, Hex, TxId } from '../../src/domain/ids.js'
import type { SpendCounters } from '../../src/domain/spend.js'
import {
  ADDRESS,
  apiKey,
  CHAIN_ID,
  KEY_ID,
  LINEAGE_ID,
  START_MS,
  txIdOf,
  WALLET_ID,
  wallet,
} from '../actors/wallet-fixtures.js'
import { World } from './world.js'

export type WalletWorld = World<SubWalletState, Command, Event, Effect>

export const ROUTER: Address = '0x3333333333333333333333333333333333333333'
/** The one that the wallet asks first. */
export const FIRST_GAS_WALLET = gasWalletsFor(CHAIN_ID, WALLET_ID)[0] ?? missing()

function missing(): never {
  throw new Error('a chain has gas wallets')
}

/** A wallet with one key; in a month it may use three times what it may in a day. */
export async function openWallet(dailyLimitMicros: bigint): Promise<WalletWorld> {
  const world: WalletWorld = new World({
    load: (reader) => loadState(reader, WALLET_ID),
    decide,
    record: recordEvents,
  })
  await world.handle({ type: 'create-wallet', wallet })
  const monthlyLimitMicros = dailyLimitMicros * 3n
  await world.handle({
    type: 'register-key',
    key: apiKey({ dailyLimitMicros, monthlyLimitMicros }),
  })
  return world
}

export function spentBy({ state }: WalletWorld, nowMs = START_MS): SpendCounters {
  return countersOf(state, LINEAGE_ID, nowMs)
}

const NO_WORTH = { numerator: 0n, denominator: 1n }
/** By whose prices nothing is ever lost. */
export const LOSSLESS: Exchange = { netIn: 1n, unitIn: NO_WORTH, unitOut: NO_WORTH }

/** A swap as it reaches the mailbox. @param micros what it moves, micro-USD */
export function preparedSwap(
  n: number,
  micros: bigint,
  said: Partial<PreparedSponsored> = {},
): PreparedSponsored {
  return {
    type: 'prepared-sponsor-call',
    txId: txIdOf(n),
    requestId: `request-${n}`,
    keyId: KEY_ID,
    kind: 'swap',
    chainId: CHAIN_ID,
    router: ROUTER,
    delegate: ROUTER,
    proofKey: new Uint8Array(32),
    idempotency: null,
    guardsDuplicates: false,
    fingerprint: `swap-${n}`,
    nowMs: START_MS,
    first: null,
    executed: null,
    delegated: true,
    chainNonce: null,
    gasMicros: 1n,
    quote: {
      ok: true,
      unpriced: false,
      parties: [],
      valuation: {
        valueMicros: micros,
        gasMicros: 0n,
        nativePrice: 1n,
        nativePriceDecimals: 8,
      },
      offered: 1n,
      exchange: LOSSLESS,
      terms: {
        ok: true,
        value: {
          tokenIn: ADDRESS,
          amountIn: micros,
          feeBps: 0,
          tokenOut: ROUTER,
          minOut: 1n,
          target: ROUTER,
          data: '0x',
        },
      },
    },
    ...said,
  }
}

/** How long a signed intent lives. */
export const INTENT_SECONDS = 180

/** A swap whose intent is signed and stored, and that a gas wallet was asked to carry. */
export async function submitJob(
  world: WalletWorld,
  n: number,
  micros: bigint,
  calldata: Hex = '0x',
): Promise<void> {
  const txId = txIdOf(n)
  const nowMs = START_MS
  await world.handle(preparedSwap(n, micros), n)
  await world.handle({
    type: 'sponsored-screened',
    txId,
    refusal: null,
    screenedAgainst: [],
    nowMs,
  })
  const deadlineSeconds = nowMs / 1_000 + INTENT_SECONDS
  const signed = { calldata, authorization: null, deadlineSeconds }
  await world.handle({ type: 'intent-signed', txId, signed, nowMs })
}

/** A reorg takes a transaction's block. @param meanwhile until the record of one that had ended is read */
export async function unmined(
  world: WalletWorld,
  txId: TxId,
  nowMs: number,
  meanwhile = () => Promise.resolve(),
): Promise<void> {
  const { effects } = await world.handle({ type: 'unmined', txId, nowMs })
  await meanwhile()
  if (!effects.some(({ type }) => type === 'read-end')) return
  const stored = world.reader.transactions.byId(txId) ?? null
  await world.handle({ type: 'end-read', txId, stored, nowMs })
}
