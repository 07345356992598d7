import { afterEach, describe, expect, test } from 'vitest'
import type { Outcome } from '../../actors/account/core/messages.js'
import { broadcast } from '../../actors/account/effects/broadcast.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { systemTimers } from '../../src/clock/timers.js'
import type { BlockRef } from '../../src/domain/transaction.js'
import { NodeError, type Script, startScriptedNode } from '../support/scripted-node.js'
import { ATTEMPT, CHAIN_ID, transaction } from './wallet-fixtures.js'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const OURS = `0x${'ab'.repeat(32)}` as const
const FINAL_HASH = `0x${'f1'.repeat(32)}` as const
const FINAL: BlockRef = { blockNumber: 97, blockHash: FINAL_HASH }
const TX = transaction(7, { nonce: 7, attempts: [{ ...ATTEMPT, txHash: OURS }] })

/** What becomes of a broadcast of `TX` when the chain's nodes, the preferred one first, say this. */
function outcomeAt(...scripts: readonly Script[]): Promise<Outcome> {
  return outcomeOf('first-node', FINAL, scripts)
}

/** The same of a transaction that goes out again. */
function outcomeAgain(...scripts: readonly Script[]): Promise<Outcome> {
  return outcomeOf('all-nodes', FINAL, scripts)
}

async function outcomeOf(
  reach: 'first-node' | 'all-nodes',
  finalBlock: BlockRef | null,
  scripts: readonly Script[],
): Promise<Outcome> {
  const endpoints: string[] = []
  for (const script of scripts) {
    const node = await startScriptedNode(CHAIN_ID, script)
    ends.push(() => node.close())
    endpoints.push(node.url)
  }
  const rpc = createRpcClient({ chainId: CHAIN_ID, endpoints })
  ends.push(() => rpc.close())
  const chain = { rpc, fees: { latest: () => null } }
  return new Promise((resolve, reject) => {
    broadcast(
      {
        chains: new Map([[CHAIN_ID, chain]]),
        timers: systemTimers(() => 0),
        log: { warn: () => {} },
      },
      { tx: TX, reach, finalBlock },
      (command) => {
        if (command.type === 'broadcast-outcome') resolve(command.outcome)
        else reject(new Error(command.type))
      },
    )
  })
}

const says =
  (code: number, message: string): Script =>
  () => {
    throw new NodeError(code, message)
  }

describe('a broadcast that was not taken', () => {
  test.each([
    [-32603, 'Internal error'],
    [-32005, 'limit exceeded'],
    [-32000, 'ERR 4711 module not ready'],
  ])('may be out anyway, after the words %i %s', async (code, message) => {
    expect(await outcomeAt(says(code, message))).toEqual({
      kind: 'indeterminate',
      maybeBroadcast: true,
    })
  })

  test('may be out when one node said what nobody knows, and another asks for a higher fee', async () => {
    const outcome = await outcomeAt(
      says(-32603, 'Internal error'),
      says(-32000, 'transaction underpriced'),
    )
    expect(outcome).toEqual({ kind: 'indeterminate', maybeBroadcast: true })
  })

  test.each([
    'invalid sender',
    'intrinsic gas too low',
    'insufficient funds for gas * price + value: balance 1',
    'execution reverted',
  ])('may be out when one node does not answer and another says %s', async (words) => {
    const silent: Script = () => {
      throw new NodeError(-32603, 'Internal error')
    }
    const refusing = says(-32000, words)
    const unclear = { kind: 'indeterminate', maybeBroadcast: true }
    expect(await outcomeAt(silent, refusing)).toEqual(unclear)
    expect(await outcomeAt(refusing, silent)).toEqual(unclear)
    expect(await outcomeAgain(refusing, silent)).toEqual(unclear)
  })

  test.each([
    'invalid sender',
    'intrinsic gas too low',
    'insufficient funds for gas * price + value: balance 1',
    'execution reverted',
  ])('is refused, and not rejected for good, when every node says %s', async (words) => {
    const refusing = says(-32000, words)
    expect(await outcomeAt(refusing)).toEqual({ kind: 'refused' })
    expect(await outcomeAt(refusing, refusing)).toEqual({ kind: 'refused' })
    expect(await outcomeAgain(refusing, refusing)).toEqual({ kind: 'refused' })
  })

  test('is not out when every node says in known words that it has not taken it', async () => {
    const outcome = await outcomeAt(says(-32000, 'txpool is full'), says(-32000, 'nonce too high'))
    expect(outcome).toEqual({ kind: 'indeterminate', maybeBroadcast: false })
  })
})

interface Ledger {
  /** The block at the height of the final one; null when the node has none there. */
  readonly block?: string | null
  /** The account's nonce there. */
  readonly nonce?: number
  /** The block in which the last nonce was used. */
  readonly usedIn?: number
  /** What that block has; null: what it has is not said. */
  readonly transactions?: readonly string[] | null
  /** The first block whose state is kept. */
  readonly keptFrom?: number
  /** What it says of the state of an earlier one. */
  readonly pruned?: NodeError
  readonly mined?: boolean
  /** It knows our transaction by its hash, though no receipt of it. */
  readonly isKnown?: boolean
  readonly toSends?: string
}

/** A node that refuses sends, and that has these things to say of its chain. */
function nodeWith({
  block = FINAL_HASH,
  nonce = 8,
  usedIn = 90,
  transactions = ['0xe1'],
  keptFrom = 0,
  pruned = new NodeError(-32000, 'missing trie node e1 (path )'),
  mined = false,
  isKnown = false,
  toSends = 'nonce too low: next nonce 8, tx nonce 7',
}: Ledger): Script {
  return (method, [first, second]) => {
    switch (method) {
      case 'eth_getBlockByNumber': {
        const number = Number(first)
        if (block === null) return null
        const hash = number === FINAL.blockNumber ? block : `0x${number}`
        if (transactions === null) return { hash }
        return { hash, transactions: number === usedIn ? transactions : [] }
      }
      case 'eth_getTransactionCount': {
        const number = Number(second)
        if (block === null) throw new NodeError(-32000, 'header not found')
        if (number < keptFrom) throw pruned
        return `0x${(number < usedIn ? nonce - 1 : nonce).toString(16)}`
      }
      case 'eth_getTransactionReceipt':
        return mined ? { transactionHash: OURS } : null
      case 'eth_getTransactionByHash':
        return isKnown ? { hash: OURS } : null
      default:
        throw new NodeError(-32000, toSends)
    }
  }
}

const UNCLEAR = { kind: 'indeterminate', maybeBroadcast: true }

describe('a nonce that is used', () => {
  test('went to a stranger when a node of our chain has it used in a final block, and not by us', async () => {
    expect(await outcomeAt(nodeWith({}))).toEqual({ kind: 'nonce-lost', chainNonce: 8 })
  })

  test('is not a stranger’s because a node that lags has no receipt and another has the nonce', async () => {
    const lagging = nodeWith({ block: null, toSends: 'txpool is full' })
    const synced = nodeWith({ mined: true })
    expect(await outcomeAt(lagging, synced)).toEqual({ kind: 'accepted' })
    expect(await outcomeAt(nodeWith({ block: null }), nodeWith({ nonce: 7 }))).toEqual(UNCLEAR)
  })

  test('is not a stranger’s because the preferred node lies, as long as another tells the truth', async () => {
    expect(await outcomeAt(nodeWith({}), nodeWith({ mined: true }))).toEqual({ kind: 'accepted' })
    expect(await outcomeAt(nodeWith({}), nodeWith({ nonce: 7 }))).toEqual(UNCLEAR)
  })

  test.each([1, 2, 89, 90, 96, 97])(
    'is ours when block %i has it and no index does',
    async (usedIn) => {
      const landed = { usedIn, transactions: ['0xe1', OURS, '0xe2'] }
      expect(await outcomeAt(nodeWith(landed))).toEqual({ kind: 'accepted' })
      expect(await outcomeAt(nodeWith({ usedIn }), nodeWith(landed))).toEqual({ kind: 'accepted' })
      expect(await outcomeAt(nodeWith({ usedIn }))).toEqual({ kind: 'nonce-lost', chainNonce: 8 })
    },
  )

  test.each([84, 86, 88, 97])(
    'is found in block %i though nodes have none below the 83rd',
    async (usedIn) => {
      const ownChain = (options: Parameters<typeof nodeWith>[0]): Script => {
        const node = nodeWith(options)
        return (method, params) => {
          const isBlock = method === 'eth_getBlockByNumber'
          const isOfHeight = isBlock || method === 'eth_getTransactionCount'
          if (!isOfHeight || Number(params[isBlock ? 0 : 1]) >= 83) return node(method, params)
          if (isBlock) return null
          throw new NodeError(-32000, 'header not found')
        }
      }
      expect(await outcomeAt(ownChain({ usedIn }))).toEqual({ kind: 'nonce-lost', chainNonce: 8 })
      const landed = { usedIn, transactions: [OURS] }
      expect(await outcomeAt(ownChain(landed))).toEqual({ kind: 'accepted' })
      // They forget states sooner than blocks: that they know of none of ours proves nothing.
      expect(await outcomeAt(ownChain({ usedIn: 70, keptFrom: 87 }))).toEqual(UNCLEAR)
      // What used it may lie below all that they have.
      expect(await outcomeAt(ownChain({ usedIn: 83 }))).toEqual(UNCLEAR)
    },
  )

  test('is indeterminate when the block that used it is not shown whole', async () => {
    expect(await outcomeAt(nodeWith({ transactions: null }))).toEqual(UNCLEAR)
    expect(await outcomeAt(nodeWith({}), nodeWith({ transactions: null }))).toEqual(UNCLEAR)
  })

  test.each([
    [-32000, 'missing trie node e1 (path )'],
    [-32602, 'BlockOutOfRangeError: block height is 97 but requested was 90'],
  ])(
    'went to a stranger by receipts alone where a node keeps no state of that time, and says %i %s',
    async (code, words) => {
      const pruned = new NodeError(code, words)
      expect(await outcomeAt(nodeWith({ keptFrom: 92, pruned }))).toEqual({
        ...{ kind: 'nonce-lost', chainNonce: 8 },
      })
      // Some forget receipts with states, and not which block has a transaction.
      const forgetful = nodeWith({ keptFrom: 92, pruned, isKnown: true })
      expect(await outcomeAt(forgetful)).toEqual({ kind: 'accepted' })
      expect(await outcomeAt(nodeWith({ keptFrom: 92, pruned }), forgetful)).toEqual({
        kind: 'accepted',
      })
    },
  )

  test.each([
    [-32005, 'limit exceeded: archive state is not available'],
    [-32603, 'Internal error'],
    [-32000, 'header not found'],
  ])('is indeterminate when a node is asked of the past and says %i %s', async (code, words) => {
    const node = nodeWith({})
    const busy: Script = (method, params) => {
      if (method === 'eth_getTransactionCount' && Number(params[1]) < FINAL.blockNumber) {
        throw new NodeError(code, words)
      }
      return node(method, params)
    }
    expect(await outcomeAt(busy)).toEqual(UNCLEAR)
  })

  test('is indeterminate while no block is final that we have followed', async () => {
    expect(await outcomeOf('first-node', null, [nodeWith({})])).toEqual(UNCLEAR)
  })

  test('is indeterminate when the node follows another chain than we did', async () => {
    expect(await outcomeAt(nodeWith({ block: `0x${'f2'.repeat(32)}` }))).toEqual(UNCLEAR)
  })

  test.each([
    ['the block', { block: null }],
    ['the receipts', null],
  ])('is indeterminate when a node does not answer for %s', async (_, ledger) => {
    const node = nodeWith(ledger ?? {})
    const script: Script = (method, params) => {
      if (ledger === null && method === 'eth_getTransactionReceipt') {
        throw new NodeError(-32005, 'limit exceeded')
      }
      return node(method, params)
    }
    expect(await outcomeAt(script)).toEqual(UNCLEAR)
  })
})

describe('a transaction that goes out again', () => {
  test('reaches every node: one that takes it and passes nothing on does not hold it up', async () => {
    const seen: number[] = []
    const taking =
      (n: number): Script =>
      (method) => {
        if (method === 'eth_sendRawTransaction') seen.push(n)
        return OURS
      }
    expect(await outcomeAgain(taking(1), taking(2), taking(3))).toEqual({ kind: 'accepted' })
    expect(seen.sort()).toEqual([1, 2, 3])
  })

  test('is out when one node holds it, whatever the others say', async () => {
    const holding: Script = () => OURS
    expect(await outcomeAgain(says(-32000, 'nonce too high'), holding)).toEqual({
      kind: 'accepted',
    })
  })

  test('is proved lost although the preferred node claims to hold it', async () => {
    const lying: Script = (method) => {
      if (method === 'eth_sendRawTransaction') return OURS
      throw new NodeError(-32000, 'header not found')
    }
    expect(await outcomeAgain(lying, nodeWith({}))).toEqual({ kind: 'nonce-lost', chainNonce: 8 })
  })

  test('is not called lost because a node lies, while another holds it', async () => {
    const holding = nodeWith({ nonce: 7 })
    const honest: Script = (method, params) =>
      method === 'eth_sendRawTransaction' ? OURS : holding(method, params)
    expect(await outcomeAgain(nodeWith({}), honest)).toEqual({ kind: 'accepted' })
  })

  test('may be out when all that nodes say is what nobody knows', async () => {
    expect(await outcomeAgain(says(-32603, 'Internal error'))).toEqual(UNCLEAR)
  })
})
