import { expect, test } from 'vitest'
import { toQuantity } from '../../src/chains/hex.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { startAnvil } from '../support/anvil.js'

const ADDRESS = '0x000000000000000000000000000000000000dEaD'
const STATES_KEPT = 4
const BLOCKS = 40

test('a real node that keeps a block and its state no more is heard to say so', async () => {
  const args = ['--no-mining', '--prune-history', `${STATES_KEPT}`]
  const anvil = await startAnvil({ chainId: 10, args })
  const rpc = createRpcClient({ chainId: 10, endpoints: [anvil.url] })
  try {
    await anvil.rpc('anvil_mine', [toQuantity(BLOCKS)])
    const seenAt = (number: number, mayBePruned?: true) => {
      const at = toQuantity(number)
      const nonce = { method: 'eth_getTransactionCount', params: [ADDRESS, at] }
      return rpc.views([
        { method: 'eth_getBlockByNumber', params: [at, false] },
        mayBePruned === undefined ? nonce : { ...nonce, mayBePruned },
      ])
    }
    expect(await seenAt(BLOCKS)).toEqual([[expect.any(Object), '0x0']])
    expect(await seenAt(1, true)).toEqual([[expect.any(Object), null]])
    // Of a block that it does not have it says the same: there is no block then, either.
    expect(await seenAt(BLOCKS + 1, true)).toEqual([[null, null]])
    expect(await seenAt(1)).toEqual([])
  } finally {
    await rpc.close()
    await anvil.stop()
  }
})
