import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createChainWatcherShell } from '../actors/chain-watcher/shell.js'
import { type Envelope, eraseShell } from '../actors/runtime/actor.js'
import { ShardHost } from '../actors/runtime/shard-host.js'
import { connectChains } from '../src/chains/access.js'
import { systemTimers } from '../src/clock/timers.js'
import type { ChainConfig } from '../src/config/chains.js'
import type { ChainId } from '../src/domain/chains.js'
import type {
  Address,
  Hex,
  KeyId,
  LineageId,
  SubWalletId,
  TxId,
  UserId,
} from '../src/domain/ids.js'
import { NO_METER } from '../src/domain/meter.js'
import type { Transaction } from '../src/domain/transaction.js'
import { type Environment, openEnvironment } from '../src/store/environment.js'
import {
  attachEventSequence,
  createEventSequenceBuffer,
  type EventSequence,
} from '../src/store/event-sequence.js'
import { localCommits } from '../src/store/local-commits.js'
import { createReader } from '../src/store/reader.js'
import { WriteBatch } from '../src/store/write-batch.js'
import { makeDirectory } from './temporary.js'
import { startWatchedChain, type WatchedChain } from './watched-chain.js'

/** The stored and open transactions while the watchers of several chains follow their blocks. */
export interface WatcherLoad {
  readonly chainIds: readonly ChainId[]
  /** Sub-wallets in the store. */
  readonly wallets: number
  /** Wallets among them that have open transactions. */
  readonly owners: number
  /** Open transactions over all chains, kept constant: each mined one is replaced. */
  readonly open: number
  /** Measured blocks of each chain. */
  readonly blocks: number
}

export interface WatcherFigures extends WatcherLoad {
  /** CPU of the process that runs the watchers, per block of one chain: JSON, HTTP and actor. */
  readonly cpuMicrosPerBlock: number
  readonly rpcCallsPerBlock: number
  readonly httpRequestsPerBlock: number
  /** Messages to sub-wallets. */
  readonly toldPerBlock: number
  readonly confirmed: number
  /** Time to read the open transactions at a start, for all chains. */
  readonly loadMs: number
  readonly callsPerBlock: Readonly<Record<string, number>>
}

const BLOCK_TIME_MS = 400
/** Share of a chain's open transactions that is mined per block. */
const MINED_PER_BLOCK = 20
const WARM_UP_BLOCKS = 6
const STORED_AT_ONCE = 5_000
const NOWHERE: Address = '0x1111111111111111111111111111111111111111'
const USER = 'user_bench' as UserId

export async function measureWatcher(load: WatcherLoad): Promise<WatcherFigures> {
  const directory = makeDirectory()
  const environment = openEnvironment(directory.path)
  const nodes = new Map<ChainId, WatchedChain>()
  try {
    for (const id of load.chainIds) nodes.set(id, await startWatchedChain(id))
    return await watch(load, environment, nodes)
  } finally {
    await Promise.all([...nodes.values()].map((node) => node.stop()))
    await environment.root.close()
    directory.remove()
  }
}

async function watch(
  load: WatcherLoad,
  environment: Environment,
  nodes: ReadonlyMap<ChainId, WatchedChain>,
): Promise<WatcherFigures> {
  const { chainIds, blocks, open } = load
  const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
  const waiting = await fill(load, environment, sequence)
  const configs = [...nodes].map(([id, { url }]) => chainConfig(id, url))
  const { chains, close } = connectChains(configs)
  let told = 0
  let confirmed = 0
  let over = false
  const watcher = createChainWatcherShell({
    reader: createReader(environment),
    chains,
    // The wallets' own work would begin here.
    tell({ command }) {
      told++
      if ((command as { type: string }).type === 'confirmed') confirmed++
    },
    announce() {},
    log: {
      warn(context, message) {
        if (!over) fail(context, message)
      },
    },
    timers: systemTimers(Date.now),
  })
  const host = new ShardHost({
    meter: NO_METER,
    timers: systemTimers(Date.now),
    commits: localCommits(environment, sequence),
    log: { error: fail },
    shells: [
      eraseShell({
        ...watcher,
        run(id, effect, self) {
          if (!over) watcher.run(id, effect, self)
        },
      }),
    ],
    reply() {},
    appended() {},
    fatal: (error) => fail({ err: error }, 'the store failed'),
  })
  const command = (id: ChainId, wanted: object): Envelope => {
    return { kind: 'chain-watcher', id: `${id}`, userId: null, command: wanted, token: null }
  }
  try {
    const loadedAt = performance.now()
    for (const id of chainIds) watcher.load(`${id}`)
    const loadMs = performance.now() - loadedAt
    for (const id of chainIds) host.deliver(command(id, { type: 'start' }))
    let next = open
    /** One block on each chain: some of the oldest are mined, and as many new ones are added. */
    const round = async () => {
      for (const [id, node] of nodes) {
        const queue = waiting.get(id) ?? []
        const mined = queue.splice(0, MINED_PER_BLOCK)
        node.mine(mined.map(({ hash }) => hash))
        for (const { owner } of mined) {
          const tx = sample(next++, owner, id)
          const [{ txHash }] = tx.attempts as [Transaction['attempts'][number]]
          const { txId, from, nonce } = tx
          const watched = { txId, from, nonce, hashes: [txHash], mined: null }
          host.deliver(command(id, { type: 'watch', owner: tx.subWalletId, ...watched }))
          queue.push({ hash: txHash, owner })
        }
      }
      await delay(BLOCK_TIME_MS)
    }
    for (let i = 0; i < WARM_UP_BLOCKS; i++) await round()
    const before = await counts(nodes)
    const toldBefore = told
    const cpuBefore = process.cpuUsage()
    for (let i = 0; i < blocks; i++) await round()
    const cpu = process.cpuUsage(cpuBefore)
    const after = await counts(nodes)
    const measured = blocks * chainIds.length
    const perBlock = (key: string) => ((after.get(key) ?? 0) - (before.get(key) ?? 0)) / measured
    const methods = [...after.keys()].filter((key) => key !== HTTP)
    return {
      ...load,
      cpuMicrosPerBlock: (cpu.user + cpu.system) / measured,
      rpcCallsPerBlock: methods.reduce((sum, method) => sum + perBlock(method), 0),
      httpRequestsPerBlock: perBlock(HTTP),
      toldPerBlock: (told - toldBefore) / measured,
      confirmed,
      loadMs,
      callsPerBlock: Object.fromEntries(methods.map((method) => [method, perBlock(method)])),
    }
  } finally {
    over = true
    await close()
  }
}

const HTTP = 'HTTP requests'

async function counts(nodes: ReadonlyMap<ChainId, WatchedChain>): Promise<Map<string, number>> {
  const sums = new Map<string, number>()
  const add = (key: string, count: number) => sums.set(key, (sums.get(key) ?? 0) + count)
  for (const node of nodes.values()) {
    const { httpRequests, calls } = await node.counts()
    add(HTTP, httpRequests)
    for (const [method, count] of Object.entries(calls)) add(method, count)
  }
  return sums
}

/** @returns the open transactions by chain, oldest first */
async function fill(
  { wallets, owners, open, chainIds }: WatcherLoad,
  environment: Environment,
  sequence: EventSequence,
): Promise<Map<ChainId, { hash: Hex; owner: number }[]>> {
  let batch = new WriteBatch()
  let size = 0
  const flush = async () => {
    await localCommits(environment, sequence).commit(batch)
    batch = new WriteBatch()
    size = 0
  }
  for (let i = 0; i < wallets; i++) {
    const wallet = {
      subWalletId: walletId(i),
      userId: USER,
      name: `bench ${i}`,
      address: addressOf(i),
      epoch: 0,
      createdAtMs: 0,
    }
    batch.addSubWallet({ wallet, lanes: [], spend: [], open: [] })
    if (++size === STORED_AT_ONCE) await flush()
  }
  const waiting = new Map(chainIds.map((id) => [id, [] as { hash: Hex; owner: number }[]]))
  for (let i = 0; i < open; i++) {
    const chainId = chainIds[i % chainIds.length] as ChainId
    const tx = sample(i, i % owners, chainId)
    batch.addTransaction(tx, null)
    batch.markOpen(tx.subWalletId, tx.txId)
    const [{ txHash }] = tx.attempts as [Transaction['attempts'][number]]
    waiting.get(chainId)?.push({ hash: txHash, owner: i % owners })
    if (++size === STORED_AT_ONCE) await flush()
  }
  await flush()
  return waiting
}

function sample(n: number, owner: number, chainId: ChainId): Transaction {
  return {
    txId: `tx_${String(n).padStart(26, '0')}` as TxId,
    subWalletId: walletId(owner),
    userId: USER,
    keyId: 'key_bench' as KeyId,
    lineageId: 'key_bench' as LineageId,
    requestId: 'bench',
    kind: 'send',
    from: addressOf(owner),
    call: { chainId, to: NOWHERE, value: 1n, data: '0x' },
    nonce: n,
    gasLimit: 21_000n,
    status: 'broadcast',
    attempts: [
      {
        txHash: `0x${createHash('sha256').update(`tx ${n}`).digest('hex')}`,
        rawTransaction: '0x',
        maxFeePerGas: 1n,
        maxPriorityFeePerGas: 1n,
        intentId: '0x',
        signedAtMs: 0,
      },
    ],
    valuation: {
      valueMicros: 0n,
      gasMicros: 0n,
      nativePrice: 1n,
      nativePriceDecimals: 0,
    } as Transaction['valuation'],
    reservation: { micros: 0n, day: 0, month: 0 },
    spentMicros: 0n,
    mined: null,
    error: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    confirmedAtMs: null,
  }
}

function walletId(n: number): SubWalletId {
  return `sw_${String(n).padStart(26, '0')}` as SubWalletId
}

function addressOf(n: number): Address {
  return `0x${(n + 1).toString(16).padStart(40, '0')}`
}

function chainConfig(id: ChainId, url: string): ChainConfig {
  return {
    id,
    name: `chain ${id}`,
    native_symbol: 'ETH',
    rpc_urls: [url],
    confirmations: 3,
    block_time_ms: BLOCK_TIME_MS,
    max_fee_per_gas_ceiling_wei: '1000000000000',
    wrapped_native: NOWHERE,
    native_feed: { address: NOWHERE, max_age_seconds: 3_600 },
    sequencer_uptime_feed: null,
    router: null,
    delegate: null,
    swap: null,
    tokens: [],
    markets: [],
  }
}

function fail(context: object, message: string): void {
  throw new Error(message, { cause: (context as { err?: unknown }).err })
}
