import { beforeEach, expect, test } from 'vitest'
import { laneOf, restoredEntry } from '../../actors/account/core/state.js'
import { decide } from '../../actors/gas-wallet/core/decide.js'
import type { PreparedJob } from '../../actors/gas-wallet/core/messages.js'
import type { GasAccountState, GasWalletState } from '../../actors/gas-wallet/core/state.js'
import { prepareJob } from '../../actors/gas-wallet/effects/prepare-job.js'
import type { GasWalletPorts } from '../../actors/gas-wallet/ports.js'
import { gasWalletId, gasWalletKey } from '../../src/domain/gas-wallets.js'
import type { AccountTransaction } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { ADDRESS, CHAIN_ID, LINEAGE_ID, START_MS, txIdOf, WALLET_ID } from './wallet-fixtures.js'

const GAS_LIMIT = 250_000n
const ROUTER = '0x3333333333333333333333333333333333333333'
const JAM_MS = 61_000

let state: GasWalletState

beforeEach(() => {
  const id = gasWalletId(CHAIN_ID, 0)
  const account: GasAccountState = {
    ...{ accountId: gasWalletKey(id, 0), lanes: new Map(), drafts: new Map() },
    ...{ open: new Map(), ended: new Map(), endsRead: new Set() },
    wallet: { walletId: gasWalletKey(id, 0), address: ADDRESS, epoch: 1 },
  }
  laneOf(account, CHAIN_ID).nextNonce = 0
  state = {
    ...{ gasWalletId: id, chainId: CHAIN_ID, account },
    ...{ jobs: new Map(), faults: new Map(), openers: [], freezingOf: () => null },
  }
})

function prepared(n: number, said: { balanceWei?: bigint; others?: number } = {}): PreparedJob {
  const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
  return {
    type: 'prepared-sponsor',
    job: {
      ...{ txId: txIdOf(n), subWalletId: WALLET_ID, chainId: CHAIN_ID, account: ADDRESS },
      lineageId: LINEAGE_ID,
      ...{ router: ROUTER, calldata: '0x', authorization: null, cancels: null },
    },
    others: said.others ?? 3,
    quote: {
      ...{ ok: true, gasLimit: GAS_LIMIT, fees, l1FeeWei: 0n },
      balanceWei: said.balanceWei ?? 10n ** 18n,
    },
    ...{ chainNonce: null, past: null, nowMs: START_MS },
  }
}

/** One that was sent a while ago and is not mined. */
function unmined(ageMs: number): AccountTransaction {
  return {
    ...{
      txId: txIdOf(99),
      from: ADDRESS,
      call: { chainId: CHAIN_ID, to: ROUTER, value: 0n, data: '0x' },
      nonce: 0,
    },
    ...{ gasLimit: GAS_LIMIT, status: 'broadcast', mined: null, error: null, confirmedAtMs: null },
    attempts: [
      {
        ...{ txHash: '0x1', rawTransaction: '0x', intentId: '0x', signedAtMs: START_MS },
        ...{ maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
      },
    ],
    createdAtMs: START_MS - ageMs,
    updatedAtMs: START_MS - ageMs,
  }
}

function inFlight(tx: AccountTransaction): void {
  state.account.open.set(tx.txId, restoredEntry(tx, 'sent'))
  const lane = laneOf(state.account, CHAIN_ID)
  lane.flight.push(tx.txId)
  lane.nextNonce = tx.nonce + 1
}

function refusalOf(command: PreparedJob) {
  const { effects } = decide(state, command, null)
  const told = effects.find((effect) => effect.type === 'tell')
  return told?.type === 'tell' && 'refusal' in told.update ? told.update.refusal : null
}

function isTaken(command: PreparedJob): boolean {
  return decide(state, command, null).effects.some(({ type }) => type === 'sign-job')
}

test('a gas wallet that cannot pay is passed over, what it has committed counted in', () => {
  expect(refusalOf(prepared(1, { balanceWei: GAS_LIMIT - 1n }))).toMatchObject({
    of: 'gas-wallet',
    fault: { code: 'CHAIN_UNAVAILABLE' },
  })
  expect(isTaken(prepared(2, { balanceWei: 2n * GAS_LIMIT }))).toBe(true)
  expect(isTaken(prepared(3, { balanceWei: 2n * GAS_LIMIT }))).toBe(true)
  expect(refusalOf(prepared(4, { balanceWei: 2n * GAS_LIMIT }))?.of).toBe('gas-wallet')
  inFlight(unmined(0))
  expect(refusalOf(prepared(5, { balanceWei: 5n * GAS_LIMIT - 1n }))?.of).toBe('gas-wallet')
  expect(isTaken(prepared(6, { balanceWei: 5n * GAS_LIMIT }))).toBe(true)
})

test('a gas wallet that is jammed is passed over while another may do better', () => {
  inFlight(unmined(JAM_MS))
  expect(refusalOf(prepared(1))).toMatchObject({ of: 'gas-wallet', fault: { code: 'OVERLOADED' } })
  expect(isTaken(prepared(2, { others: 0 }))).toBe(true)
})

test.each([
  ['broadcast', []],
  ['failed', ['tell']],
] as const)(
  'of a job that ended here only what is on disk of its end is told: %s',
  async (status, told) => {
    const tx = { ...unmined(0), status }
    const transaction = () => ({ gasWalletId: state.gasWalletId, job: null, tx })
    const ports = { reader: { gas: { transaction } }, timers: new VirtualTimers(START_MS) }
    const { job, others } = prepared(99)
    const asked = { type: 'sponsor', job, others } as const
    const ready = await prepareJob(ports as unknown as GasWalletPorts, state, asked)
    expect(decide(state, ready, null).effects.map(({ type }) => type)).toEqual(told)
  },
)

test.each(['confirmed', 'failed', 'dropped'] as const)(
  'a job that is %s is told of, and never signed a second time',
  (status) => {
    const past = { ...unmined(0), txId: txIdOf(1), status }
    const { effects } = decide(state, { ...prepared(1), past }, null)
    expect(effects).toMatchObject([{ type: 'tell', update: { gas: { status }, flight: 'ended' } }])
    expect([state.account.drafts.size, state.jobs.size]).toEqual([0, 0])
  },
)

test('a job that is asked for again while it is being signed takes no second nonce', () => {
  expect(isTaken(prepared(1))).toBe(true)
  expect(decide(state, prepared(1), null)).toEqual({ events: [], effects: [], replies: [] })
  expect(laneOf(state.account, CHAIN_ID).signing).toEqual([txIdOf(1)])
})

test('what would fail by any gas wallet is refused for all', () => {
  const fault = { code: 'SLIPPAGE_EXCEEDED' } as never
  const command = { ...prepared(1), quote: { ok: false, refusal: { fault, of: 'call' } } } as const
  expect(refusalOf(command)).toMatchObject({ of: 'call', fault: { code: 'SLIPPAGE_EXCEEDED' } })
})

test('a gap that cannot be closed while the quorum is away leaves nothing in memory', () => {
  inFlight({ ...unmined(0), nonce: 1 })
  const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }
  const block = { blockNumber: 9, chainNonce: 0, fees, gasPriceWei: 1n, finalBlock: null }
  for (let nowMs = START_MS; nowMs < START_MS + 10; nowMs++) {
    const head = { type: 'head', chainId: CHAIN_ID, ...block, nowMs } as const
    const asked = decide(state, head, null).effects.find(({ type }) => type === 'sign-job')
    if (asked?.type !== 'sign-job') throw new Error('the gap is not being closed')
    const { txId } = asked.draft
    const away = fault('COSIGNER_UNAVAILABLE')
    decide(state, { type: 'sign-failed', txId, nonce: asked.nonce, fault: away, nowMs }, null)
  }
  expect([state.account.drafts.size, state.faults.size]).toEqual([0, 0])
})
