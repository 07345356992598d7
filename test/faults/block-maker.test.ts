import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { checkWhole, createBlockMaker } from './block-maker.js'

let anvil: Anvil

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453, args: ['--no-mining'] })
  await anvil.rpc('anvil_mine', ['0x10'])
})
afterAll(async () => {
  await anvil.stop()
})

test('a chain whose blocks are made and taken back by one keeps each of them', async () => {
  const maker = createBlockMaker('chain 8453', anvil.rpc)
  const changes = Array.from({ length: 30 }, (_, turn) =>
    turn % 2 === 0 ? maker.mine(2) : maker.reorg(1 + (turn % 3)),
  )
  await Promise.all(changes)
  expect(Number(await anvil.rpc('eth_blockNumber'))).toBe(16 + 30)
})

test('a block that is lost in a reorg is named', async () => {
  const head = Number(await anvil.rpc('eth_blockNumber'))
  const lost = `0x${(head - 1).toString(16)}`
  const lacking = async (method: string, params: readonly unknown[]) =>
    params[0] === lost ? null : anvil.rpc(method, params)
  await expect(checkWhole('chain 8453', lacking)).rejects.toThrow(`block ${head - 1} was lost`)
})
