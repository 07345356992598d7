import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RECENT_BLOCKS_MAX } from '../../actors/chain-watcher/core/state.js'
import { POLL_MS, type Told, WatchedChain } from './chain-simulation.js'
import { txIdOf } from './wallet-fixtures.js'

const TX = 7
const TWIN = 8
const DEPTHS = [1, 2, 3, 4, 5]
const MINUTE_POLLS = 60_000 / POLL_MS

function grow(chain: WatchedChain, blocks: number): void {
  for (let i = 0; i < blocks; i++) {
    chain.extend([])
    chain.poll()
  }
}

const toldOf = (chain: WatchedChain, n = TX) => chain.told.get(txIdOf(n))

/** Of two confirmations: one transaction is confirmed, in the sixth block. */
function confirmedChain(): WatchedChain {
  const chain = new WatchedChain(2)
  chain.watch(TX)
  grow(chain, 5)
  chain.extend([TX])
  chain.poll()
  grow(chain, 3)
  return chain
}

describe('the chain watcher', () => {
  test('tells of a block with the transaction at once, and of its confirmation at its depth', () => {
    const chain = new WatchedChain(3)
    chain.watch(TX)
    grow(chain, 2)
    expect(toldOf(chain)).toBe('nothing')
    chain.extend([TX])
    chain.poll()
    expect(toldOf(chain)).toBe('mined')
    grow(chain, 1)
    expect(toldOf(chain)).toBe('mined')
    grow(chain, 1)
    expect(toldOf(chain)).toBe('confirmed')
  })

  test.for(DEPTHS)(
    'a reorg of depth %i that drops a transaction takes its outcome back',
    (depth) => {
      const chain = new WatchedChain(10)
      chain.watch(TX)
      grow(chain, 5)
      chain.extend([TX])
      chain.poll()
      grow(chain, depth - 1)
      chain.fork(depth)
      for (let i = 0; i <= depth; i++) chain.extend([])
      chain.poll()
      expect(toldOf(chain)).toBe('unmined')
      chain.extend([TX])
      chain.poll()
      expect(toldOf(chain)).toBe('mined')
      grow(chain, 9)
      expect(toldOf(chain)).toBe('confirmed')
    },
  )

  test.for([0, 1, 2])(
    'a reorg takes back what its wallet signed again as it was confirmed, %i blocks later',
    (later) => {
      const chain = new WatchedChain(2)
      chain.watch(TX)
      grow(chain, 3)
      chain.extend([TX])
      chain.extend([])
      chain.poll()
      expect(toldOf(chain)).toBe('confirmed')
      chain.watchReplaced(TX, TX + 1)
      grow(chain, later)
      chain.fork(3 + later)
      for (let i = 0; i < 3 + later; i++) chain.extend([])
      chain.poll()
      expect(toldOf(chain)).toBe('unmined')
      chain.extend([TX + 1])
      grow(chain, 1)
      expect(toldOf(chain)).toBe('confirmed')
    },
  )

  test.for(DEPTHS)(
    'a reorg of depth %i that moves a transaction counts from its new block',
    (depth) => {
      const chain = new WatchedChain(6)
      chain.watch(TX)
      grow(chain, 3)
      chain.extend([TX])
      chain.poll()
      grow(chain, depth - 1)
      chain.fork(depth)
      for (let i = 0; i < depth; i++) chain.extend([])
      chain.extend([TX])
      chain.poll()
      expect(toldOf(chain)).toBe('mined')
      grow(chain, 4)
      expect(toldOf(chain)).toBe('mined')
      grow(chain, 1)
      expect(toldOf(chain)).toBe('confirmed')
    },
  )

  test('blocks that went by between two polls are read one by one', () => {
    const chain = new WatchedChain(2)
    chain.watch(TX)
    grow(chain, 1)
    chain.extend([TX])
    for (let i = 0; i < 40; i++) chain.extend([])
    chain.poll()
    expect(toldOf(chain)).toBe('confirmed')
  })

  test('after a long pause receipts are asked for by hash instead', () => {
    const chain = new WatchedChain(2)
    chain.watch(TX)
    grow(chain, 1)
    chain.extend([TX])
    for (let i = 0; i < 1_000; i++) chain.extend([])
    const before = chain.requests
    chain.poll()
    expect(toldOf(chain)).toBe('confirmed')
    expect(chain.requests - before).toBeLessThan(5)
  })

  test('what was confirmed in a long pause stays so when the blocks after it are read', () => {
    const chain = new WatchedChain(2)
    chain.watch(TX)
    grow(chain, 1)
    for (let i = 0; i < 1_000; i++) chain.extend([])
    chain.extend([TX])
    chain.extend([])
    chain.poll()
    expect(toldOf(chain)).toBe('confirmed')
    for (let i = 0; i < 3; i++) chain.extend([])
    chain.poll()
    expect(toldOf(chain)).toBe('confirmed')
    expect(chain.takenBack).toBe(0)
  })

  test('a receipt that no node gave is asked for again, and its wallet hears of blocks', () => {
    const chain = new WatchedChain(1)
    chain.watch(TX)
    chain.receiptsLost = true
    chain.extend([TX])
    chain.poll()
    grow(chain, 2)
    expect(toldOf(chain)).toBe('nothing')
    expect(chain.heads.length).toBeGreaterThan(0)
    chain.receiptsLost = false
    grow(chain, 3)
    expect(toldOf(chain)).toBe('confirmed')
  })

  test('a block is final once it is as deep in the blocks that were followed as the chain wants', () => {
    const chain = new WatchedChain(3)
    chain.watch(TX)
    grow(chain, 2)
    expect(chain.finalBlock).toBeNull()
    grow(chain, 1)
    expect(chain.finalBlock?.blockNumber).toBe(chain.height - 3)
    for (let i = 0; i < 1_000; i++) chain.extend([])
    chain.poll()
    expect(chain.finalBlock).toBeNull()
  })

  test('a receipt from a branch that loses is taken back', () => {
    const chain = new WatchedChain(3)
    chain.watch(TX)
    grow(chain, 2)
    chain.showReceipt(TX, chain.height + 1, 99)
    expect(toldOf(chain)).toBe('mined')
    grow(chain, 5)
    expect(toldOf(chain)).toBe('unmined')
  })

  test('a receipt from a branch that has lost already is taken back, though its height was not seen', () => {
    const chain = new WatchedChain(3)
    chain.watch(TX)
    grow(chain, 6)
    chain.restart()
    chain.poll()
    chain.showReceipt(TX, chain.height - 4, 99)
    grow(chain, 1)
    expect(toldOf(chain)).toBe('unmined')
    chain.extend([TX])
    grow(chain, 3)
    expect(toldOf(chain)).toBe('confirmed')
  })

  test('an end in a branch that has lost is taken back, though its wallet names another block', () => {
    const chain = new WatchedChain(3)
    chain.watch(TX)
    grow(chain, 6)
    chain.extend([TX])
    chain.poll()
    chain.receiptsLost = true
    chain.blocksLost = true
    chain.restart()
    chain.poll()
    chain.watchAgain(TX, () => {
      chain.showReceipt(TX, chain.height - 4, 99)
      expect(toldOf(chain)).toBe('confirmed')
    })
    chain.receiptsLost = false
    chain.blocksLost = false
    grow(chain, 1)
    expect(chain.takenBack).toBe(1)
    expect(toldOf(chain)).toBe('mined')
    grow(chain, 1)
    expect(toldOf(chain)).toBe('confirmed')
  })

  test.for(['before', 'after'])('what had ended is taken back by a reorg %s a start', (when) => {
    const chain = confirmedChain()
    expect(toldOf(chain)).toBe('confirmed')
    const reorg = () => {
      chain.fork(6)
      for (let i = 0; i < 8; i++) chain.extend([])
    }
    if (when === 'before') reorg()
    chain.restart()
    if (when === 'after') reorg()
    chain.poll()
    expect(toldOf(chain)).toBe('unmined')
    chain.extend([TX])
    chain.poll()
    grow(chain, 1)
    expect(toldOf(chain)).toBe('confirmed')
  })

  test('what had ended is taken back though a node has the branch that lost when it is first asked', () => {
    const chain = confirmedChain()
    chain.comparedWith = chain.branch
    chain.fork(6)
    for (let i = 0; i < 8; i++) chain.extend([])
    chain.restart()
    chain.poll()
    expect(toldOf(chain)).toBe('confirmed')
    chain.comparedWith = null
    grow(chain, 2)
    expect(toldOf(chain)).toBe('unmined')
  })

  test('what is told again from the branch that lost is taken back, though that was compared before', () => {
    const chain = confirmedChain()
    const lost = chain.branch
    const at = chain.blockOf(TX) ?? expect.unreachable()
    chain.fork(6)
    for (let i = 0; i < 8; i++) chain.extend([])
    chain.restart()
    chain.poll()
    expect(toldOf(chain)).toBe('unmined')
    // The next node to answer does not know yet.
    chain.comparedWith = lost
    chain.showReceipt(TX, at, 0)
    expect(toldOf(chain)).toBe('confirmed')
    chain.comparedWith = null
    grow(chain, 2)
    expect(toldOf(chain)).toBe('unmined')
  })

  test('two that are the same bytes are both told of them', () => {
    const chain = new WatchedChain(2)
    chain.watch(TX)
    chain.watch(TWIN)
    // Outbid by what are the other's bytes.
    chain.watchReplaced(TWIN, TX)
    grow(chain, 2)
    chain.extend([TX])
    chain.poll()
    expect([toldOf(chain), toldOf(chain, TWIN)]).toEqual(['mined', 'mined'])
    grow(chain, 1)
    expect([toldOf(chain), toldOf(chain, TWIN)]).toEqual(['confirmed', 'confirmed'])
  })

  test('what ended before a start and is still there stays as it is', () => {
    const chain = new WatchedChain(2)
    chain.watch(TX)
    chain.extend([TX])
    chain.poll()
    grow(chain, 4)
    chain.restart()
    grow(chain, 4)
    chain.fork(3)
    for (let i = 0; i < 4; i++) chain.extend([])
    chain.poll()
    expect(toldOf(chain)).toBe('confirmed')
    expect(chain.takenBack).toBe(0)
  })

  test('what ended right before a long pause is taken back when its block is gone', () => {
    const chain = new WatchedChain(2)
    chain.watch(TX)
    chain.extend([TX])
    chain.poll()
    grow(chain, 1)
    expect(toldOf(chain)).toBe('confirmed')
    chain.fork(2)
    for (let i = 0; i < 1_000; i++) chain.extend([])
    chain.poll()
    expect(toldOf(chain)).toBe('unmined')
  })

  test('where something ended is stored until it was compared with the chain, and out of reach', () => {
    const chain = new WatchedChain(2)
    chain.watch(TX)
    chain.extend([TX])
    chain.poll()
    grow(chain, 1)
    chain.restart()
    for (let i = 0; i < 2 * RECENT_BLOCKS_MAX; i++) chain.extend([])
    chain.blocksLost = true
    grow(chain, 3)
    expect(chain.forgottenBelow).toBe(0)
    chain.blocksLost = false
    grow(chain, 2)
    expect(chain.forgottenBelow).toBeGreaterThan(RECENT_BLOCKS_MAX)
    expect(chain.forgottenBelow).toBeLessThanOrEqual(chain.height - RECENT_BLOCKS_MAX)
    expect(toldOf(chain)).toBe('confirmed')
  })

  const LAGS = [5, 60, RECENT_BLOCKS_MAX - 6, RECENT_BLOCKS_MAX + 10, 2 * RECENT_BLOCKS_MAX]
  test.for(LAGS)('a node %i blocks behind on the same chain un-mines nothing', (lag) => {
    const chain = new WatchedChain(3)
    chain.watch(TX)
    grow(chain, 2 * RECENT_BLOCKS_MAX + 20)
    chain.extend([TX])
    chain.poll()
    grow(chain, 4)
    expect(toldOf(chain)).toBe('confirmed')
    chain.lag = lag
    grow(chain, 2 * MINUTE_POLLS)
    chain.lag = 0
    grow(chain, 4)
    expect(toldOf(chain)).toBe('confirmed')
    expect(chain.takenBack).toBe(0)
  })

  test.for(LAGS)('what is mined stays so when only a node %i blocks behind is left', (lag) => {
    const chain = new WatchedChain(3)
    chain.watch(TX)
    grow(chain, 2 * RECENT_BLOCKS_MAX + 20)
    chain.extend([TX])
    chain.poll()
    chain.restart()
    chain.lag = lag
    for (let poll = 0; poll < 2 * MINUTE_POLLS; poll++) chain.poll()
    expect(toldOf(chain)).toBe('mined')
    chain.lag = 0
    grow(chain, 4)
    expect(toldOf(chain)).toBe('confirmed')
    expect(chain.takenBack).toBe(0)
  })

  test('wallets hear of the chain by the clock while a node that came back is behind', () => {
    const chain = new WatchedChain(3)
    chain.watch(TX)
    grow(chain, 120)
    chain.lag = 97
    const before = chain.heads.length
    for (let second = 0; second < 20; second++) for (let i = 0; i < 4; i++) chain.poll()
    expect(chain.heads.length - before).toBeGreaterThanOrEqual(9)
  })

  test('a receipt is found although all that answer are behind the newest block that was seen', () => {
    const chain = new WatchedChain(3)
    chain.watch(TX)
    grow(chain, 80)
    chain.receiptsLost = true
    chain.extend([TX])
    chain.poll()
    grow(chain, 20)
    chain.receiptsLost = false
    chain.lag = 10
    for (let i = 0; i < 40; i++) chain.poll()
    expect(toldOf(chain)).toBe('confirmed')
  })

  test('a chain that goes on from far below is followed after a while, and takes back what it lost', () => {
    const chain = new WatchedChain(3)
    chain.watch(TX)
    grow(chain, 400)
    chain.extend([TX])
    chain.poll()
    grow(chain, 3)
    chain.fork(300)
    grow(chain, 2 * MINUTE_POLLS)
    expect(chain.height).toBeGreaterThan(404)
    expect(toldOf(chain)).toBe('unmined')
    chain.extend([TX])
    chain.poll()
    grow(chain, 3)
    expect(toldOf(chain)).toBe('confirmed')
  })

  test('whatever nodes of one chain lag, and whatever restarts, nothing is un-mined', () => {
    const lag = fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      fc.integer({ min: 1, max: 2 * RECENT_BLOCKS_MAX }),
    )
    const step = fc.record({
      txs: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 2 }),
      empty: fc.oneof({ weight: 9, arbitrary: fc.nat(3) }, fc.constantFrom(70, 300)),
      lag,
      polls: fc.oneof({ weight: 9, arbitrary: fc.nat(4) }, fc.constant(MINUTE_POLLS)),
      restarts: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
        const chain = new WatchedChain(2)
        for (let n = 1; n <= 5; n++) chain.watch(n)
        for (const { txs, empty, polls, restarts, ...node } of steps) {
          chain.extend(txs.filter((n) => chain.blockOf(n) === null))
          for (let i = 0; i < empty; i++) chain.extend([])
          chain.lag = node.lag
          if (restarts) chain.restart()
          for (let i = 0; i < polls; i++) chain.poll()
        }
        chain.lag = 0
        grow(chain, 12)
        for (let n = 1; n <= 5; n++) {
          expect(toldOf(chain, n)).toBe(chain.blockOf(n) === null ? 'nothing' : 'confirmed')
        }
        expect(chain.takenBack).toBe(0)
      }),
      { numRuns: 150 },
    )
  })

  test('whatever the chain and the process do, the last update is the truth', () => {
    const step = fc.record({
      txs: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 2 }),
      empty: fc.oneof({ weight: 9, arbitrary: fc.nat(3) }, fc.constantFrom(70, 300)),
      forkDepth: fc.oneof(
        { weight: 3, arbitrary: fc.constant(0) },
        fc.integer({ min: 1, max: 20 }),
      ),
      lag: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 400 })),
      after: fc.constantFrom('poll', 'poll', 'nothing', 'restart', 'restart and poll'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const chain = new WatchedChain(2)
        for (let n = 1; n <= 5; n++) chain.watch(n)
        for (const { txs, empty, forkDepth, lag, after } of steps) {
          const former = chain.height
          const depth = Math.min(forkDepth, chain.height)
          if (depth > 0) chain.fork(depth)
          chain.extend(txs.filter((n) => chain.blockOf(n) === null))
          for (let i = 0; i < empty; i++) chain.extend([])
          // A branch wins by being longer.
          while (chain.height <= former) chain.extend([])
          chain.lag = lag
          if (after.startsWith('restart')) chain.restart()
          if (after.endsWith('poll')) chain.poll()
        }
        chain.lag = 0
        grow(chain, 12)
        for (let n = 1; n <= 5; n++) {
          const wanted: readonly (Told | undefined)[] =
            chain.blockOf(n) === null ? ['nothing', 'unmined'] : ['confirmed']
          expect(wanted).toContain(toldOf(chain, n))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('whatever the chain does above the confirmed depth, the last update is the truth', () => {
    const confirmations = 6
    const step = fc.record({
      txs: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 2 }),
      forkDepth: fc.nat(confirmations - 1),
      forks: fc.nat(3),
      polls: fc.boolean(),
      signedAgain: fc.option(fc.integer({ min: 1, max: 5 })),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const chain = new WatchedChain(confirmations)
        for (let n = 1; n <= 5; n++) chain.watch(n)
        let safe = 0
        for (const { txs, forkDepth, forks, polls, signedAgain } of steps) {
          // Deeper than the confirmed depth of any height seen, no chain is rewritten.
          const depth = forks === 0 ? Math.min(forkDepth, chain.height - safe) : 0
          const former = chain.height
          if (depth > 0) chain.fork(depth)
          chain.extend(txs.filter((n) => chain.blockOf(n) === null))
          // A branch wins by being longer.
          while (chain.height <= former) chain.extend([])
          safe = Math.max(safe, chain.height - confirmations + 1)
          if (polls) chain.poll()
          if (signedAgain !== null) chain.watchReplaced(signedAgain, signedAgain + 10)
          for (let n = 1; n <= 5; n++) {
            if (toldOf(chain, n) === 'confirmed') expect(chain.blockOf(n)).not.toBeNull()
          }
        }
        grow(chain, confirmations + 4)
        for (let n = 1; n <= 5; n++) {
          const wanted: readonly (Told | undefined)[] =
            chain.blockOf(n) === null ? ['nothing', 'unmined'] : ['confirmed']
          expect(wanted).toContain(toldOf(chain, n))
        }
      }),
      { numRuns: 200 },
    )
  })
})
