import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ChainWriter, openChainWriter } from '../../scripts/contracts/chain-writer.js'
import { type ContractEvents, createContractEvents } from '../../src/chains/contract-events.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'
import devSanctionsOracle from '../../src/contracts/generated/dev-sanctions-oracle.json' with {
  type: 'json',
}
import type { Address, Hex } from '../../src/domain/ids.js'
import { importList } from '../../src/screening/lists/import-list.js'
import { protectAddresses } from '../../src/screening/lists/infrastructure.js'
import { createListOwner, type ListOwner } from '../../src/screening/lists/list-owner.js'
import { ListStore } from '../../src/screening/lists/list-store.js'
import { OracleMirror, type OracleSource } from '../../src/screening/providers/oracle-mirror.js'
import { ADDED_TOPIC, REMOVED_TOPIC } from '../../src/screening/providers/sanctions-oracle.js'
import { findEntry } from '../../src/screening/set/address-set.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { CLEAN, packed } from './fixtures.js'
import { recordingLog } from './recording-log.js'

const NAME = 'sanctions-oracle-8453'
const [first, second, third] = CLEAN as readonly [Address, Address, Address]
/** Blocks between what is listed: several ranges for a node that grants few blocks at once. */
const QUIET_BLOCKS = 400
const GRANTED_BLOCKS = 150

let anvil: Anvil
let rpc: RpcClient
let writer: ChainWriter
let directory: string
const log = recordingLog()
const owners: ListOwner[] = []

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453 })
  rpc = createRpcClient({ chainId: 8453, endpoints: [anvil.url] })
  const account = privateKeyToAccount(generatePrivateKey())
  await anvil.rpc('anvil_setBalance', [account.address, '0x56bc75e2d63100000'])
  writer = openChainWriter(anvil.url, 8453, account)
})
afterAll(async () => {
  await rpc?.close()
  await anvil?.stop()
})
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'oracle-'))
  log.lines.length = 0
})
afterEach(async () => {
  for (const owner of owners.splice(0)) owner.close()
  await rm(directory, { recursive: true, force: true })
})

const isProtected = protectAddresses([])
const mine = (blocks: number) => anvil.rpc('anvil_mine', [`0x${blocks.toString(16)}`])
const deployOracle = () =>
  writer.deploy(devSanctionsOracle.bytecode, ['address'], [writer.account.address])
const list = (oracle: Address, added: readonly Address[]) =>
  writer.write(oracle, devSanctionsOracle.abi, 'addToSanctionsList', [added])
const delist = (oracle: Address, removed: readonly Address[]) =>
  writer.write(oracle, devSanctionsOracle.abi, 'removeFromSanctionsList', [removed])
const eventsOf = (oracle: Address): ContractEvents =>
  createContractEvents(rpc, oracle, [ADDED_TOPIC as Hex, REMOVED_TOPIC as Hex])

/** A mirror as the service builds it; a second one of the same directory is one after a restart. */
function mirrorOf(
  oracle: Address,
  said: { source?: OracleSource; confirmations?: number; fromBlock?: number | null } = {},
): OracleMirror {
  return new OracleMirror({
    name: NAME,
    chainId: 8453,
    contract: oracle,
    fromBlock: 0,
    confirmations: 1,
    maxAgeSeconds: 86_400,
    source: eventsOf(oracle),
    store: new ListStore(directory, isProtected),
    isProtected,
    log,
    nowMs: Date.now,
    ...said,
  })
}

/** Notes every range that is asked for. */
function watched(oracle: Address, blocksMax = Number.POSITIVE_INFINITY) {
  const events = eventsOf(oracle)
  const ranges: [number, number][] = []
  const source: OracleSource = {
    ...events,
    range(from, to) {
      ranges.push([from, to])
      if (to - from + 1 > blocksMax) return Promise.reject(new Error('block range is too wide'))
      return events.range(from, to)
    },
  }
  return { source, ranges }
}

async function stored(): Promise<{ entries: readonly string[]; through: number } | null> {
  const store = new ListStore(directory, isProtected)
  await store.refresh()
  const [mirrored] = store.lists
  if (mirrored === undefined) return null
  const count = mirrored.packed.length / 20
  const entries = Array.from(
    { length: count },
    (_, i) => `0x${Buffer.from(mirrored.packed.subarray(i * 20, i * 20 + 20)).toString('hex')}`,
  )
  return { entries, through: mirrored.header.cursor?.through_block ?? -1 }
}

const lower = (...addresses: string[]) => addresses.map((one) => one.toLowerCase()).sort()

describe('a mirrored oracle', () => {
  it('has what its events listed and not what they removed, from the block it was deployed in', async () => {
    await mine(20)
    const oracle = await deployOracle()
    const deployedIn = Number(await anvil.rpc('eth_blockNumber'))
    await list(oracle, [first, second])
    await mine(50)
    await list(oracle, [third])
    await delist(oracle, [second])
    const { source, ranges } = watched(oracle)
    await mirrorOf(oracle, { source, fromBlock: null }).advance()
    expect((await stored())?.entries).toEqual(lower(first, third))
    expect(ranges[0]?.[0]).toBe(deployedIn)
  })

  it('goes on after a restart where it stood, and catches up what it missed', async () => {
    const oracle = await deployOracle()
    await list(oracle, [first])
    await mirrorOf(oracle).advance()
    const before = await stored()
    await list(oracle, [second])
    await mine(QUIET_BLOCKS)
    await delist(oracle, [first])
    const { source, ranges } = watched(oracle)
    await mirrorOf(oracle, { source }).advance()
    expect((await stored())?.entries).toEqual(lower(second))
    expect(ranges[0]?.[0]).toBe((before?.through ?? Number.NaN) + 1)
  })

  it('reads smaller ranges where a node grants no large ones', async () => {
    const oracle = await deployOracle()
    await mine(QUIET_BLOCKS)
    await list(oracle, [first])
    const { source, ranges } = watched(oracle, GRANTED_BLOCKS)
    await mirrorOf(oracle, { source }).advance()
    expect((await stored())?.entries).toEqual(lower(first))
    expect(ranges.filter(([from, to]) => to - from < GRANTED_BLOCKS).length).toBeGreaterThan(2)
  })

  it.each([1, 3, 10])('catches up where a node grants %i blocks at a time', async (granted) => {
    const oracle = await deployOracle()
    await list(oracle, [first])
    await mine(40)
    const { source, ranges } = watched(oracle, granted)
    const mirror = mirrorOf(oracle, { source })
    let behind = true
    while (behind) behind = (await mirror.advance()).behind
    expect((await stored())?.entries).toEqual(lower(first))
    // A refused size is remembered: most calls are granted.
    const refused = ranges.filter(([from, to]) => to - from + 1 > granted).length
    expect(refused).toBeLessThan(ranges.length / 2)
  })

  it('takes nothing from blocks above the confirmation depth', async () => {
    const oracle = await deployOracle()
    await mine(5)
    const mirror = mirrorOf(oracle, { confirmations: 4 })
    await list(oracle, [first])
    await mine(2)
    await mirror.advance()
    expect((await stored())?.entries).toEqual([])
    await mine(1)
    await mirror.advance()
    expect((await stored())?.entries).toEqual(lower(first))
  })

  it('is read again after a reorganisation past its depth, and holds its list meanwhile', async () => {
    const oracle = await deployOracle()
    await list(oracle, [first])
    const snapshot = await anvil.rpc('evm_snapshot')
    await list(oracle, [second])
    const mirror = mirrorOf(oracle)
    await mirror.advance()
    expect((await stored())?.entries).toEqual(lower(first, second))
    await anvil.rpc('evm_revert', [snapshot])
    await list(oracle, [third])
    await mine(3)
    await mirror.advance()
    expect((await stored())?.entries).toEqual(lower(first, third))
    expect(log.at('error').join()).toContain('reorganised')
  })

  it('keeps its list when the chain answers no more, and says so', async () => {
    const oracle = await deployOracle()
    await list(oracle, [first])
    await mirrorOf(oracle).advance()
    const gone = createRpcClient({ chainId: 8453, endpoints: ['http://127.0.0.1:1'] })
    try {
      const source = createContractEvents(gone, oracle, [ADDED_TOPIC as Hex])
      await expect(mirrorOf(oracle, { source }).advance()).rejects.toThrow()
    } finally {
      await gone.close()
    }
    expect((await stored())?.entries).toEqual(lower(first))
  })

  it('refuses an address without a contract', async () => {
    await expect(mirrorOf(first, { fromBlock: null }).advance()).rejects.toThrow('no contract')
  })
})

describe('the lists of a live service with an oracle', () => {
  const options = (nowMs: () => number) => ({
    mode: 'live' as const,
    textListsDirectory: join(directory, 'texts'),
    storeDirectory: directory,
    protectedAddresses: [],
    mirrors: [NAME],
    log,
    nowMs,
  })

  it('are unusable before it is mirrored, hold it afterwards, and go stale with its chain', async () => {
    await importOne()
    let nowMs = Date.now()
    const owner = await createListOwner(options(() => nowMs))
    owners.push(owner)
    expect(owner.status()).toMatchObject({ ready: false, reason: `${NAME} is not mirrored yet` })

    const oracle = await deployOracle()
    await list(oracle, [first])
    await mirrorOf(oracle).advance()
    await owner.refresh()
    expect(owner.status()).toMatchObject({ ready: true })
    const open = owner.current()
    expect(open !== null && findEntry(open.set, packed([first]), 0) >= 0).toBe(true)
    const mirrored = owner.status().lists.find((one) => one.list === NAME)
    expect(mirrored).toMatchObject({ kind: 'sanctions', entries: 1, stale: false })
    expect(mirrored?.source).toContain(oracle.toLowerCase())

    nowMs = Date.now() + 86_400_000
    expect(owner.status()).toMatchObject({ ready: false, reason: 'a list is stale' })
  })

  it('are usable as soon as a mirror past its age has caught up', async () => {
    const oracle = await deployOracle()
    await list(oracle, [first])
    await mirrorOf(oracle).advance()
    await importOne()
    // As a home that waited for longer than that: nobody was listed meanwhile.
    const dayAgo = new Date(Date.now() - 86_400_000).toISOString()
    await new ListStore(directory, isProtected).markChecked(NAME, dayAgo)
    const owner = await createListOwner(options(Date.now))
    owners.push(owner)
    expect(owner.status()).toMatchObject({ ready: false, reason: 'a list is stale' })
    await mine(QUIET_BLOCKS)
    const { source, ranges } = watched(oracle, GRANTED_BLOCKS)
    const mirror = mirrorOf(oracle, { source })
    expect(await mirror.advance()).toEqual({ stored: true, behind: false })
    await owner.refresh()
    expect(owner.status()).toMatchObject({ ready: true, reason: null })
    expect(ranges.length).toBeGreaterThan(2)
    // And not with each look from then on.
    await mine(1)
    expect(await mirror.advance()).toEqual({ stored: false, behind: false })
  })

  it('forget the mirror of an oracle that is no longer configured', async () => {
    const oracle = await deployOracle()
    await list(oracle, [first])
    await mirrorOf(oracle).advance()
    await importOne()
    const owner = await createListOwner({ ...options(Date.now), mirrors: [] })
    owners.push(owner)
    expect(owner.status().lists.map((one) => one.list)).toEqual(['operators'])
  })

  it('do not start on a mirror alone', async () => {
    const oracle = await deployOracle()
    await list(oracle, [first])
    await mirrorOf(oracle).advance()
    await expect(createListOwner(options(Date.now))).rejects.toThrow('no sanctions list')
  })

  async function importOne(): Promise<void> {
    const file = join(directory, 'operators.txt')
    await writeFile(file, `${second}\n`)
    await importList(
      { source: 'plain', name: 'operators', file },
      { storeDirectory: directory, protectedAddresses: [] },
    )
  }
})
