import { Bench } from 'tinybench'
import { decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { Address, UserId } from '../src/domain/ids.js'
import type { ListsReader, OpenLists } from '../src/screening/lists/published-lists.js'
import { createScreener } from '../src/screening/local-screener.js'
import { buildAddressSet } from '../src/screening/set/address-set.js'
import { SCAN_TAIL_BYTES, scanCalldata } from '../src/screening/set/scan.js'
import { KNOWN_SHAPES } from '../src/screening/walk/known-shapes.js'
import { walkCalldata } from '../src/screening/walk/walker.js'
import { WalkPool } from '../src/screening/walk-pool.js'
import { table } from './figures.js'
import { readOptions } from './options.js'
import { publish } from './results-file.js'

/**
 * `npm run bench -- screening`: the cost of screening, beside viem's `decodeFunctionData` on the same
 * calldata in the same run.
 */
const run = readOptions({
  name: 'screening',
  takes: 'about 10 s',
  disk: 'none',
  results: 'screening.json',
  runsOn: 'any',
  options: {},
})

const ENTRIES = 100_000
const TASK_MS = 400
/** Microseconds that the design allows on one core. */
const BOUNDS_US: Readonly<Record<string, number>> = {
  'scan 200 B': 2,
  'scan 128 KiB': 3_000,
  'build a set of 100,000': 100_000,
  'walk a transfer': 5,
}

const abi = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function disperseEther(address[] recipients, uint256[] values)',
  'function multicall(bytes[] data)',
])
const party: Address = '0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984'
const transfer = encodeFunctionData({ abi, functionName: 'transfer', args: [party, 5n] })
const disperse = encodeFunctionData({
  abi,
  functionName: 'disperseEther',
  args: [Array<Address>(1_795).fill(party), Array<bigint>(1_795).fill(1n)],
})

/** 1,900 offsets to one blob; viem takes most of a minute for it, so only the walk is timed. */
function bomb(): Uint8Array {
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const blob = 'ff'.repeat(60_000)
  const offsets = word(1_900 * 32).repeat(1_900)
  return Buffer.from(`ac9650d8${word(32)}${word(1_900)}${offsets}${word(60_000)}${blob}`, 'hex')
}

/** xorshift32; each seed gives other bytes, so that the calldata contains no listed address. */
function pseudoRandom(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length + SCAN_TAIL_BYTES)
  let state = seed
  for (let i = 0; i < length; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[i] = state & 255
  }
  return bytes
}

function padded(hex: Hex): Buffer {
  return Buffer.concat([Buffer.from(hex.slice(2), 'hex'), Buffer.alloc(SCAN_TAIL_BYTES)])
}

const packed = pseudoRandom(ENTRIES * 20, 0x9e3779b9).subarray(0, ENTRIES * 20)
const set = buildAddressSet([{ packed, listIndex: 0 }])
const list = {
  list: 'bench',
  kind: 'sanctions',
  source: 'random',
  version: 'v1',
  entries: ENTRIES,
  checkedAtMs: 0,
  maxAgeMs: null,
} as const
const open: OpenLists = { sequence: 1, set, lists: [list], staleAtMs: null, unusable: null }
const lists: ListsReader = { current: () => open, close: () => {} }
const screener = createScreener({ lists, walkPool: new WalkPool() })
const call = { chainId: 1, userId: 'user_bench' as UserId, to: party } as const

const small = pseudoRandom(200, 0x85ebca6b)
const large = pseudoRandom(131_072, 0xc2b2ae35)
const hexRun = Buffer.concat([Buffer.alloc(131_072, 'a'), Buffer.alloc(SCAN_TAIL_BYTES)])
const counts = () => true
if (scanCalldata(set, large, 131_072, counts) !== null)
  throw new Error('the calldata holds an entry')
const transferBytes = padded(transfer)
const disperseBytes = padded(disperse)
const disperseLength = disperseBytes.length - SCAN_TAIL_BYTES
const bombBytes = bomb()

const bench = new Bench({ time: TASK_MS, warmupTime: 100 })
bench
  .add('scan 200 B', () => scanCalldata(set, small, 200, counts))
  .add('scan 128 KiB', () => scanCalldata(set, large, 131_072, counts))
  .add('scan 128 KiB of hex characters', () => scanCalldata(set, hexRun, 131_072, counts))
  .add('build a set of 100,000', () => buildAddressSet([{ packed, listIndex: 0 }]))
  .add('walk a transfer', () => walkCalldata(KNOWN_SHAPES, transferBytes, 68))
  .add('viem decodes a transfer', () => decodeFunctionData({ abi, data: transfer }))
  .add('walk a disperse of 115 kB', () => walkCalldata(KNOWN_SHAPES, disperseBytes, disperseLength))
  .add('viem decodes a disperse of 115 kB', () => decodeFunctionData({ abi, data: disperse }))
  .add('walk (and refuse) a bomb of 121 kB', () =>
    walkCalldata(KNOWN_SHAPES, bombBytes, bombBytes.length),
  )
  .add('screen a native send', () => screener.screen({ ...call, data: '0x' }))
  .add('screen a transfer', () => screener.screen({ ...call, data: transfer }))
  .add('screen a disperse of 115 kB (pool)', async () => {
    await screener.screen({ ...call, data: disperse })
  })

await bench.run()
await screener.close()

const parts = bench.tasks.map(({ name, result }) => {
  if (result.state !== 'completed') throw new Error(`${name}: ${result.state}`)
  return { name, p50Micros: result.latency.p50 * 1_000, bestMicros: result.latency.min * 1_000 }
})
const p50Of = (name: string) => parts.find((it) => it.name === name)?.p50Micros ?? 0
const ratios = {
  walk_transfer_vs_viem: p50Of('viem decodes a transfer') / p50Of('walk a transfer'),
  walk_disperse_vs_viem:
    p50Of('viem decodes a disperse of 115 kB') / p50Of('walk a disperse of 115 kB'),
}
const rows = parts.map(({ name, p50Micros, bestMicros }) => {
  const bound = BOUNDS_US[name]
  const verdict = bound === undefined ? '' : `${p50Micros <= bound ? '≤' : 'over'} ${bound}`
  return [name, p50Micros.toFixed(2), bestMicros.toFixed(2), verdict]
})
const setBytes = set.buffer.byteLength
publish(
  run,
  { ratios, parts, set: { addresses: set.size, bytes: setBytes } },
  `${table(['screening', 'p50 µs', 'best µs', 'bound'], rows)}

set of ${set.size} addresses: ${(setBytes / 1e6).toFixed(1)} MB, shared`,
)
