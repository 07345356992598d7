import { describe, expect, test } from 'vitest'
import { RECENT_BLOCKS_MAX } from '../../actors/chain-watcher/core/state.js'
import { WatchedChain } from './chain-simulation.js'
import { txIdOf } from './wallet-fixtures.js'

const TX = 7
const CONFIRMATIONS = 3

function grow(chain: WatchedChain, blocks: number): void {
  for (let i = 0; i < blocks; i++) {
    chain.extend([])
    chain.poll()
  }
}

const toldOf = (chain: WatchedChain) => chain.told.get(txIdOf(TX))

/** A transaction whose nonce something else had used, as nodes said, by the newest final block. */
function givenUp(): WatchedChain {
  const chain = new WatchedChain(CONFIRMATIONS)
  chain.watch(TX)
  grow(chain, 8)
  chain.giveUp(TX, chain.height - CONFIRMATIONS)
  return chain
}

/** Its wallet hears of it, and has it watched from then on. */
function confirms(chain: WatchedChain): void {
  expect(toldOf(chain)).toBe('unmined')
  chain.takeUp(TX)
  grow(chain, 8)
  expect(toldOf(chain)).toBe('confirmed')
}

describe('a transaction that was given up', () => {
  test.each([
    ['in one run of the process', false],
    ['after a restart', true],
  ])('is taken up again when a later block has it, %s', (_, restarts) => {
    const chain = givenUp()
    if (restarts) chain.restart()
    grow(chain, 20)
    expect(toldOf(chain)).toBe('nothing')
    chain.extend([TX])
    chain.poll()
    confirms(chain)
  })

  test.each([false, true])(
    'is taken up again when a block of before has it, as nodes had not said (restart: %s)',
    (restarts) => {
      const chain = new WatchedChain(CONFIRMATIONS)
      chain.receiptsLost = true
      chain.watch(TX)
      grow(chain, 3)
      chain.extend([TX])
      chain.poll()
      grow(chain, 4)
      chain.giveUp(TX, chain.height - CONFIRMATIONS)
      chain.receiptsLost = false
      if (restarts) chain.restart()
      grow(chain, 17)
      confirms(chain)
    },
  )

  test('is taken up again when a reorg deeper than confirmations lets it land', () => {
    const chain = givenUp()
    chain.fork(CONFIRMATIONS + 2)
    chain.extend([TX])
    for (let i = 0; i < CONFIRMATIONS + 3; i++) chain.extend([])
    chain.poll()
    confirms(chain)
  })

  test('is forgotten once no reorg reaches the block by which its nonce was used', () => {
    const chain = givenUp()
    grow(chain, RECENT_BLOCKS_MAX - 1)
    chain.restart()
    grow(chain, 8)
    chain.extend([TX])
    chain.poll()
    expect(toldOf(chain)).toBe('nothing')
  })
})
