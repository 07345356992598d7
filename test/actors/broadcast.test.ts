import { afterEach, describe, expect, test } from 'vitest'
import { broadcast } from '../../actors/sub-wallet/effects/broadcast.js'
import type { Outcome } from '../../actors/sub-wallet/messages.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { chainConfig } from '../support/chain-config.js'
import { NodeError, type Script, startScriptedNode } from '../support/scripted-node.js'
import { ATTEMPT, CHAIN_ID, transaction } from './wallet-fixtures.js'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const TX = transaction(7, { nonce: 7, attempts: [ATTEMPT] })

/** What becomes of a broadcast of `TX` when the chain's nodes, the preferred one first, say this. */
async function outcomeAt(...scripts: readonly Script[]): Promise<Outcome> {
  const endpoints: string[] = []
  for (const script of scripts) {
    const node = await startScriptedNode(CHAIN_ID, script)
    ends.push(() => node.close())
    endpoints.push(node.url)
  }
  const rpc = createRpcClient({ chainId: CHAIN_ID, endpoints })
  ends.push(() => rpc.close())
  const chain = { rpc, config: chainConfig(CHAIN_ID), fees: { latest: () => null } }
  return new Promise((resolve, reject) => {
    broadcast(
      { chains: new Map([[CHAIN_ID, chain]]), nowMs: () => 0, log: { warn: () => {} } },
      TX,
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
  ])('may be out all the same, after the words %i %s', async (code, message) => {
    expect(await outcomeAt(says(code, message))).toEqual({ kind: 'unsure', mayBeOut: true })
  })

  test('may be out when one node said what nobody knows, and another asks for a higher fee', async () => {
    const outcome = await outcomeAt(
      says(-32603, 'Internal error'),
      says(-32000, 'transaction underpriced'),
    )
    expect(outcome).toEqual({ kind: 'unsure', mayBeOut: true })
  })

  test('is not out when every node says in known words that it has not taken it', async () => {
    const outcome = await outcomeAt(says(-32000, 'txpool is full'), says(-32000, 'nonce too high'))
    expect(outcome).toEqual({ kind: 'unsure', mayBeOut: false })
  })
})
