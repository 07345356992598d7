import { describe, expect, test } from 'vitest'
import { decide } from '../../actors/gas-wallet/core/decide.js'
import type { GasWalletEffect } from '../../actors/gas-wallet/core/messages.js'
import type { GasWalletState } from '../../actors/gas-wallet/core/state.js'
import { loadGasWallet } from '../../actors/gas-wallet/record.js'
import { submitJob as envelopeOf } from '../../actors/sub-wallet/effects/gas-jobs.js'
import type { Freezing } from '../../src/domain/freeze.js'
import { gasWalletKey } from '../../src/domain/gas-wallets.js'
import type { GasJob } from '../../src/domain/sponsorship.js'
import { ADDRESS, START_MS, txIdOf, USER_ID } from '../actors/wallet-fixtures.js'
import {
  FIRST_GAS_WALLET,
  openWallet,
  preparedSwap,
  spentBy,
  submitJob,
  type WalletWorld,
} from './wallet-world.js'

const FROZEN: Freezing = { scope: 'user', sinceMs: START_MS, reason: 'lost', by: 'user' }
const FEES = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }

function gasWallet(world: WalletWorld, freezingOf: () => Freezing | null): GasWalletState {
  const state = loadGasWallet(world.reader, FIRST_GAS_WALLET, 0)
  state.account.wallet = { walletId: gasWalletKey(FIRST_GAS_WALLET, 0), address: ADDRESS, epoch: 1 }
  state.freezingOf = freezingOf
  return state
}

/** The last job that the sub-wallet asked for. */
function handed({ pending }: WalletWorld): GasJob {
  const effect = pending.findLast((it) => it.type === 'submit-job')
  if (effect?.type !== 'submit-job') throw new Error('nothing was handed over')
  return (envelopeOf(effect).command as { readonly job: GasJob }).job
}

function carry(state: GasWalletState, job: GasJob): readonly GasWalletEffect[] {
  return decide(
    state,
    {
      ...{ type: 'prepared-sponsor', job, others: 3, past: null, chainNonce: 0, nowMs: START_MS },
      quote: { ok: true, gasLimit: 250_000n, fees: FEES, l1FeeWei: 0n, balanceWei: 10n ** 18n },
    },
    null,
  ).effects
}

async function tell(world: WalletWorld, effects: readonly GasWalletEffect[]): Promise<void> {
  for (const effect of effects) if (effect.type === 'tell') await world.handle(effect.update)
}

describe('a signed intent that no gas wallet has signed for', () => {
  test('is withdrawn by a freeze, though the service was killed in between', async () => {
    const world = await openWallet(1_000n)
    await submitJob(world, 1, 400n)
    // The freeze is stored, the job was on its way: kill -9.
    world.restart()
    await world.handle({ type: 'resume-sponsored' })
    expect(spentBy(world).reservedMicros).toBe(400n)
    const effects = carry(
      gasWallet(world, () => FROZEN),
      handed(world),
    )
    expect(effects.map(({ type }) => type)).toEqual(['tell'])
    await tell(world, effects)
    expect(spentBy(world).reservedMicros).toBe(0n)
    expect(world.loaded().sponsored.size).toBe(0)
    const refused = world.pending.find(({ type }) => type === 'refused')
    expect(refused).toMatchObject({ fault: { code: 'FROZEN', details: { reason: 'lost' } } })
  })

  test('is withdrawn while it waits for a place at its gas wallet', async () => {
    const world = await openWallet(1_000n)
    let freezing: Freezing | null = null
    const state = gasWallet(world, () => freezing)
    const waiting: GasJob[] = []
    // As many as are signed at once, and one more.
    for (let n = 1; waiting.length === 0; n++) {
      await submitJob(world, n, 1n)
      const job = handed(world)
      if (!carry(state, job).some(({ type }) => type === 'sign-job')) waiting.push(job)
    }
    const [job] = waiting
    if (job === undefined) throw new Error('none waits')
    freezing = FROZEN
    const [first] = state.account.lanes.values()
    const txId = first?.signing[0] ?? txIdOf(0)
    const signed = { txHash: '0x01', rawTransaction: '0x01', intentId: '0x01' } as const
    const { effects } = decide(
      state,
      {
        ...{ type: 'signed', txId, nonce: 0, nowMs: START_MS },
        signed: { ...signed, signedAtMs: START_MS },
      },
      null,
    )
    const told = effects.filter((it) => it.type === 'tell' && it.update.txId === job.txId)
    expect(told).toMatchObject([{ update: { gas: null, refusal: { fault: { code: 'FROZEN' } } } }])
    await tell(world, told)
    expect(world.state.sponsored.has(job.txId)).toBe(false)
    // What it had signed goes its way.
    expect(effects).toContainEqual(
      expect.objectContaining({ type: 'broadcast', tx: expect.objectContaining({ txId }) }),
    )
  })

  test('is not handed over at all where the freeze came while it was signed', async () => {
    const world = await openWallet(1_000n)
    const txId = txIdOf(1)
    const nowMs = START_MS
    await world.handle(preparedSwap(1, 400n), 1)
    const screened = { refusal: null, screenedAgainst: [] } as const
    await world.handle({ type: 'sponsored-screened', txId, ...screened, nowMs })
    const user = { ...FROZEN, scope: 'user', userId: USER_ID } as const
    world.state.freezes = { instance: null, user, wallets: new Map(), lineages: new Map() }
    const signed = { calldata: '0x', authorization: null, deadlineSeconds: 1 } as const
    await world.handle({ type: 'intent-signed', txId, signed, nowMs })
    expect(world.pending.map(({ type }) => type)).not.toContain('submit-job')
    expect(world.replies.at(-1)).toMatchObject({ result: { fault: { code: 'FROZEN' } } })
    expect(spentBy(world).reservedMicros).toBe(0n)
    expect(world.loaded().sponsored.size).toBe(0)
  })
})

test('what ends a failed intent on chain is sent while its user is frozen', async () => {
  const world = await openWallet(1_000n)
  await submitJob(world, 1, 400n)
  const cancel = { ...handed(world), txId: txIdOf(2), cancels: txIdOf(1) }
  const effects = carry(
    gasWallet(world, () => FROZEN),
    cancel,
  )
  expect(effects.map(({ type }) => type)).toContain('sign-job')
})
