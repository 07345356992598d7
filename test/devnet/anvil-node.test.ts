import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type AnvilNode, startAnvil } from '../../scripts/dev/chains/anvil-node.js'
import { stateFiles } from '../../scripts/dev/chains/chain-state.js'
import { rpc } from '../../scripts/dev/chains/json-rpc.js'
import { freePort } from '../support/ports.js'
import { isAlive, type Recorder, recorder, scratchDir } from './support/observer.js'

/** A busy machine takes seconds for what takes milliseconds. */
const WAIT = { timeout: 60_000, interval: 50 }
const SENDER = '0x00000000000000000000000000000000000fa0ce'
const RECEIVER = '0x000000000000000000000000000000000000dEaD'

describe('a development chain', () => {
  let scratch: ReturnType<typeof scratchDir>
  let seen: Recorder
  let nodes: AnvilNode[]
  let claimedPorts: Set<number>
  /** Of this test alone: another run alongside it must not take it while a node is down. */
  let portFirst: number

  beforeEach(async () => {
    portFirst = await freePort()
    scratch = scratchDir()
    seen = recorder()
    nodes = []
    claimedPorts = new Set()
  })
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    scratch.dispose()
  })

  async function start(dir = 'chain', claimed = claimedPorts): Promise<AnvilNode> {
    const node = await startAnvil({
      chainId: 8453,
      name: 'chain 8453',
      dir: join(scratch.path, dir),
      logPath: join(scratch.path, `${dir}.log`),
      preferredPort: portFirst,
      claimedPorts: claimed,
      observer: seen,
    })
    nodes.push(node)
    return node
  }

  async function pay(node: AnvilNode, wei: number): Promise<string> {
    await rpc(node.rpcUrl, 'anvil_impersonateAccount', [SENDER])
    await rpc(node.rpcUrl, 'anvil_setBalance', [SENDER, '0xde0b6b3a7640000'])
    const transaction = { from: SENDER, to: RECEIVER, value: `0x${wei.toString(16)}` }
    const hash = String(await rpc(node.rpcUrl, 'eth_sendTransaction', [transaction]))
    // The node answers when the transaction is in its pool; its miner is another task.
    await vi.waitFor(
      async () =>
        expect(await rpc(node.rpcUrl, 'eth_getTransactionReceipt', [hash])).toMatchObject({
          status: '0x1',
        }),
      WAIT,
    )
    return hash
  }
  const balance = async (node: AnvilNode) =>
    Number(await rpc(node.rpcUrl, 'eth_getBalance', [RECEIVER, 'latest']))

  test('serves its chain id, mines at once, and ticks', async () => {
    const node = await start()
    expect(Number(await rpc(node.rpcUrl, 'eth_chainId'))).toBe(8453)
    await pay(node, 5)
    expect(await balance(node)).toBe(5)
    const head = Number(await rpc(node.rpcUrl, 'eth_blockNumber'))
    await vi.waitFor(
      async () => expect(Number(await rpc(node.rpcUrl, 'eth_blockNumber'))).toBeGreaterThan(head),
      WAIT,
    )
  })

  test('keeps its state and its receipts over a stop and a start', async () => {
    const before = await start()
    const hash = await pay(before, 7)
    await before.stop()
    const after = await start('chain', new Set())
    expect(await balance(after)).toBe(7)
    expect(await rpc(after.rpcUrl, 'eth_getTransactionReceipt', [hash])).not.toBeNull()
  })

  test('has a clock of today after a start from an old state', async () => {
    const before = await start()
    await before.stop()
    const after = await start('chain', new Set())
    const head = (await rpc(after.rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as {
      timestamp: string
    }
    expect(Math.abs(Number(head.timestamp) - Date.now() / 1000)).toBeLessThan(60)
  })

  test('comes back on its port with its state when it is killed', async () => {
    const node = await start()
    await pay(node, 9)
    // The next snapshot is at most a second or so away.
    await vi.waitFor(() => node.snapshots.save(), WAIT)
    const pid = Number(node.process.pid)
    process.kill(pid, 'SIGKILL')
    await vi.waitFor(() => expect(seen.restarts).toBe(1), WAIT)
    expect(isAlive(pid)).toBe(false)
    expect(await balance(node)).toBe(9)
  })

  test('loses no more than the last moments when everything is killed at once', async () => {
    const node = await start()
    const { snapshot } = stateFiles(join(scratch.path, 'chain'))
    const hash = await pay(node, 11)
    // Not the head, which ticks on: blocks without a change are not worth a snapshot.
    const receipt = await rpc(node.rpcUrl, 'eth_getTransactionReceipt', [hash])
    const paidInBlock = Number((receipt as { blockNumber: string }).blockNumber)
    // Written after the payment is not enough: the state may have been taken before it.
    const savedBlock = () =>
      existsSync(snapshot)
        ? Number(JSON.parse(gunzipSync(readFileSync(snapshot)).toString()).best_block_number)
        : 0
    await expect.poll(savedBlock, WAIT).toBeGreaterThanOrEqual(paidInBlock)
    // What the node saved by itself is all there is: no save is asked for on the way out.
    process.kill(Number(node.process.pid), 'SIGKILL')
    // Its supervisor goes with it: a second node of the same folder would take over its files.
    await node.process.stop()
    const after = await start('chain', new Set([node.port]))
    expect(await balance(after)).toBe(11)
  })

  test('steps over a taken port', async () => {
    const squatter = createServer()
    const taken = await new Promise<boolean>((resolve) => {
      squatter.once('error', () => resolve(true))
      squatter.listen(portFirst, '127.0.0.1', () => resolve(false))
    })
    try {
      const node = await start()
      expect(node.port).toBeGreaterThan(portFirst)
      expect(Number(await rpc(node.rpcUrl, 'eth_chainId'))).toBe(8453)
    } finally {
      if (!taken) squatter.close()
    }
  })

  test('runs alongside another of the same chain id, each with its own state', async () => {
    // Separate sets of claims, as two instances that know nothing of each other have.
    const [one, other] = await Promise.all([start('one', new Set()), start('other', new Set())])
    expect(one.port).not.toBe(other.port)
    await pay(one, 13)
    expect(await balance(one)).toBe(13)
    expect(await balance(other)).toBe(0)
  })
})
