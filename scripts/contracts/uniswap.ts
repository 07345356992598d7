import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { resolveDevPackage } from '../dev/packages/dev-packages.js'
import type { ChainWriter } from './chain-writer.js'

/**
 * Uniswap v3 on a development chain, from Uniswap's published artifacts. They are GPL: a chain's
 * build loads them from the development dependencies, and they are never shipped.
 */
export interface Uniswap {
  readonly factory: Address
  readonly positionManager: Address
  /** SwapRouter02. */
  readonly router: Address
  /** QuoterV2. */
  readonly quoter: Address
}

export interface PoolSide {
  readonly token: Address
  /** Smallest units put into the pool. */
  readonly amount: bigint
}

const ZERO: Address = '0x0000000000000000000000000000000000000000'
const FULL_RANGE_TICK = 887_272

const positionManagerAbi = [
  {
    type: 'function',
    name: 'createAndInitializePoolIfNecessary',
    stateMutability: 'payable',
    inputs: [
      { name: 'token0', type: 'address' },
      { name: 'token1', type: 'address' },
      { name: 'fee', type: 'uint24' },
      { name: 'sqrtPriceX96', type: 'uint160' },
    ],
    outputs: [{ name: 'pool', type: 'address' }],
  },
  {
    type: 'function',
    name: 'mint',
    stateMutability: 'payable',
    inputs: [
      {
        name: 'params',
        type: 'tuple',
        components: [
          { name: 'token0', type: 'address' },
          { name: 'token1', type: 'address' },
          { name: 'fee', type: 'uint24' },
          { name: 'tickLower', type: 'int24' },
          { name: 'tickUpper', type: 'int24' },
          { name: 'amount0Desired', type: 'uint256' },
          { name: 'amount1Desired', type: 'uint256' },
          { name: 'amount0Min', type: 'uint256' },
          { name: 'amount1Min', type: 'uint256' },
          { name: 'recipient', type: 'address' },
          { name: 'deadline', type: 'uint256' },
        ],
      },
    ],
    outputs: [
      { name: 'tokenId', type: 'uint256' },
      { name: 'liquidity', type: 'uint128' },
      { name: 'amount0', type: 'uint256' },
      { name: 'amount1', type: 'uint256' },
    ],
  },
] as const

export async function deployUniswap(chain: ChainWriter, wrapped: Address): Promise<Uniswap> {
  const factory = await chain.deploy(
    bytecodeOf('@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json'),
  )
  // The descriptor only draws a position's picture, which nobody requests here.
  const positionManager = await chain.deploy(
    bytecodeOf(
      '@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json',
    ),
    ['address', 'address', 'address'],
    [factory, wrapped, ZERO],
  )
  // Without a v2 factory, only version 3 pools are quoted and used.
  const router = await chain.deploy(
    bytecodeOf(
      '@uniswap/swap-router-contracts/artifacts/contracts/SwapRouter02.sol/SwapRouter02.json',
    ),
    ['address', 'address', 'address', 'address'],
    [ZERO, factory, positionManager, wrapped],
  )
  const quoter = await chain.deploy(
    bytecodeOf(
      '@uniswap/swap-router-contracts/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json',
    ),
    ['address', 'address'],
    [factory, wrapped],
  )
  return { factory, positionManager, router, quoter }
}

/**
 * Creates a pool whose price is the ratio of the two amounts, and provides both over the full
 * range. The writer's account must hold them.
 * @param fee hundredths of a basis point: 500, 3000 or 10000
 */
export async function fundPool(
  chain: ChainWriter,
  uniswap: Uniswap,
  a: PoolSide,
  b: PoolSide,
  fee: 500 | 3000 | 10000,
): Promise<void> {
  const [side0, side1] = BigInt(a.token) < BigInt(b.token) ? [a, b] : [b, a]
  const sqrtPriceX96 = integerSqrt((side1.amount << 192n) / side0.amount)
  await chain.write(
    uniswap.positionManager,
    positionManagerAbi,
    'createAndInitializePoolIfNecessary',
    [side0.token, side1.token, fee, sqrtPriceX96],
  )
  for (const side of [side0, side1]) {
    await chain.write(side.token, erc20Abi, 'approve', [uniswap.positionManager, side.amount])
  }
  // Tick spacing is a fiftieth of the fee for each tier used here.
  const spacing = fee / 50
  const tickUpper = Math.floor(FULL_RANGE_TICK / spacing) * spacing
  const { timestamp } = await chain.client.getBlock()
  await chain.write(uniswap.positionManager, positionManagerAbi, 'mint', [
    {
      token0: side0.token,
      token1: side1.token,
      fee,
      tickLower: -tickUpper,
      tickUpper,
      amount0Desired: side0.amount,
      amount1Desired: side1.amount,
      amount0Min: 0n,
      amount1Min: 0n,
      recipient: chain.account.address,
      deadline: timestamp + 3_600n,
    },
  ])
}

const artifactFile = z.object({
  bytecode: z.string().regex(/^0x[0-9a-f]+$/, 'not linked bytecode'),
})

/** @throws ZodError when the artifact differs from what the package is known to ship */
function bytecodeOf(artifact: string): Hex {
  const text = readFileSync(resolveDevPackage(artifact), 'utf8')
  return artifactFile.parse(JSON.parse(text)).bytecode as Hex
}

/** Largest integer whose square is at most `value` (Newton). */
function integerSqrt(value: bigint): bigint {
  if (value < 2n) return value
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1)
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next >= root) return root
    root = next
  }
}
