import { serializeTransaction } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import type { Hex } from '../../src/domain/ids.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import { ADDRESS, CHAIN_ID, preparedSend, START_MS, txIdOf } from '../actors/wallet-fixtures.js'
import { openWallet, spentBy, type WalletWorld } from './wallet-world.js'

const nowMs = START_MS
const MICROS = 50n
const FINAL = { blockNumber: 9, blockHash: '0xb9' } as const
const MINED: MinedIn = {
  ...{ txHash: '0x1', blockNumber: 12, blockHash: '0xbc', outcome: 'success', feeWei: 1n },
}
const txId = txIdOf(1)

function bytes(nonce: number, name: Hex) {
  const rawTransaction = serializeTransaction({
    ...{ type: 'eip1559', chainId: CHAIN_ID, nonce, to: ADDRESS, value: 1n },
  })
  return { txHash: name, rawTransaction, intentId: name, signedAtMs: nowMs }
}

const head = (blockNumber: number, chainNonce: number | null = null): Command => ({
  ...{ type: 'head', chainId: CHAIN_ID, blockNumber, gasPriceWei: 1n, chainNonce, nowMs },
  ...{ fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }, finalBlock: FINAL },
})

let world: WalletWorld

/** Something else had used its nonce, and after a restart nothing allows to sign it again. */
beforeEach(async () => {
  world = await openWallet(2_000n)
  await world.handle(preparedSend(1, MICROS), 1)
  const clean = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', txId, ...clean, nowMs })
  await world.handle({ type: 'signed', txId, nonce: 0, signed: bytes(0, '0x1'), nowMs })
  world.restart()
  await world.handle(head(11))
  world.pending = []
  const outcome = { kind: 'nonce-lost', chainNonce: 1 } as const
  await world.handle({
    ...{ type: 'broadcast-outcome', txId, txHash: '0x1', outcome, blockNumber: 11, nowMs },
  })
})

const stored = () => world.reader.transactions.byId(txId)

/** As the watcher has it taken up again, once a block has one of its hashes. */
async function takenUp(): Promise<void> {
  await world.handle({ type: 'unmined', txId, nowMs })
  await world.handle({ type: 'end-read', txId, stored: stored() ?? null, nowMs })
}

describe('a send that was given up', () => {
  test('stays on watch, after a restart too, until no reorg reaches the block that proved it', async () => {
    expect(stored()).toMatchObject({ status: 'dropped', spentMicros: 0n })
    expect(world.pending.map(({ type }) => type)).toContain('give-up')
    const given = () => [...world.reader.fresh().transactions.givenUp(CHAIN_ID)]
    expect(given()).toEqual([{ txId, height: FINAL.blockNumber }])
    expect([...world.reader.transactions.settledBlocks(CHAIN_ID)]).toEqual([])
  })

  test.each([false, true])(
    'and was mined after all has its record, spend and events put right (restart: %s)',
    async (restarts) => {
      if (restarts) world.restart()
      await takenUp()
      expect(world.pending.at(-1)).toMatchObject({ type: 'watch' })
      expect(spentBy(world)).toMatchObject({ reservedMicros: stored()?.reservation.micros })
      if (restarts) world.restart()
      await world.handle({ type: 'mined', txId, mined: MINED, nowMs })
      await world.handle({ type: 'confirmed', txId, mined: MINED, nowMs })
      const shown = { shownMicros: MICROS, unvalued: null }
      const { blockHash } = MINED
      await world.handle({ type: 'receipt-valued', txId, blockHash, ...shown, nowMs })
      expect(stored()).toMatchObject({ status: 'confirmed', error: null })
      const { dayMicros, reservedMicros } = spentBy(world)
      expect({ dayMicros, reservedMicros }).toEqual({
        dayMicros: stored()?.spentMicros,
        reservedMicros: 0n,
      })
      expect(dayMicros).toBeGreaterThanOrEqual(MICROS)
      const told = world.logged.map(({ type }) => type)
      expect(told.slice(-2)).toEqual(['transaction.dropped', 'transaction.confirmed'])
    },
  )

  test('and is free to land is cancelled, since its caller was told that nothing was sent', async () => {
    await takenUp()
    world.pending = []
    await world.handle(head(13))
    const asked = world.pending.filter(({ type }) => type === 'replace' || type === 'broadcast')
    expect(asked).toMatchObject([{ type: 'replace', purpose: 'cancel' }])
  })
})
