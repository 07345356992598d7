import { encodeAbiParameters, encodeFunctionData, keccak256 } from 'viem'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { PERMIT2 } from '../../src/valuation/well-known.js'
import {
  callOf,
  FAR_AWAY,
  parts,
  type Scenario,
  type Scene,
  thieving,
  UNLIMITED,
  usdcPermit,
} from './scenario.js'
import { ETHER, kitchenAbi, permit2Abi, thiefAbi } from './world.js'

const approve = (spender: Address, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] })
const increase = (spender: Address, added: bigint) =>
  encodeFunctionData({ abi: kitchenAbi, functionName: 'increaseAllowance', args: [spender, added] })
const operator = (account: Address) =>
  encodeFunctionData({ abi: kitchenAbi, functionName: 'authorizeOperator', args: [account] })
const batch = (calls: readonly Hex[]) =>
  encodeFunctionData({ abi: kitchenAbi, functionName: 'multicall', args: [calls] })
const bothTo = (account: Address) => [
  approve(account, 200n * ETHER),
  encodeFunctionData({ abi: kitchenAbi, functionName: 'transfer', args: [account, 200n * ETHER] }),
]
/** As `batch`, with each call one byte behind where the ABI would have it. */
const unaligned = (calls: readonly Hex[]): Hex => {
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const items = calls.map((call) => `00${word((call.length - 2) / 2)}${call.slice(2)}`)
  const starts = items.map((_, i) => items.slice(0, i).join('').length / 2 + 32 * items.length + 1)
  const list = `${word(32)}${word(items.length)}${starts.map(word).join('')}${items.join('')}`
  return `${batch([]).slice(0, 10) as Hex}${list}`
}
const permit2Approve = (token: Address, spender: Address, amount: bigint) =>
  encodeFunctionData({
    abi: permit2Abi,
    functionName: 'approve',
    args: [token, spender, amount, Number(FAR_AWAY)],
  })

async function daiPermit({ world, wallet }: Scene): Promise<Hex> {
  const types = ['address', 'address', 'uint256', 'uint256', 'bool'].map((type) => ({ type }))
  const fields = [wallet.address, world.thief, 0n, FAR_AWAY, true] as const
  const hash = keccak256(encodeAbiParameters(types, fields))
  const { r, s, v } = parts(await wallet.account.sign({ hash }))
  return encodeFunctionData({ abi: kitchenAbi, functionName: 'permit', args: [...fields, v, r, s] })
}

async function permit2Permit({ world, wallet }: Scene, amount: bigint): Promise<Hex> {
  const types = ['address', 'address', 'uint160', 'address'].map((type) => ({ type }))
  const hash = keccak256(
    encodeAbiParameters(types, [wallet.address, world.usdc, amount, world.thief]),
  )
  const { r, s, v } = parts(await wallet.account.sign({ hash }))
  const signature = encodeAbiParameters(
    ['bytes32', 'bytes32', 'uint8'].map((type) => ({ type })),
    [r, s, v],
  )
  const details = { token: world.usdc, amount, expiration: Number(FAR_AWAY), nonce: 0 }
  return encodeFunctionData({
    abi: permit2Abi,
    functionName: 'permit',
    args: [wallet.address, { details, spender: world.thief, sigDeadline: FAR_AWAY }, signature],
  })
}

const permit2Trusted = ({ world }: Scene) => [callOf(world.usdc, approve(PERMIT2, UNLIMITED))]

/** Calls that move nothing themselves, and let somebody else move it later. */
export const APPROVAL_DRAINS: readonly Scenario[] = [
  {
    title: 'approving an amount',
    expected: 'valued',
    call: ({ world }) => callOf(world.usdc, approve(world.thief, 400_000_000n)),
  },
  {
    title: 'approving without limit',
    expected: 'valued',
    call: ({ world }) => callOf(world.usdc, approve(world.thief, UNLIMITED)),
  },
  {
    title: 'approving more than there is',
    expected: 'valued',
    call: ({ world }) => callOf(world.usdc, approve(world.thief, 5_000_000_000n)),
  },
  {
    title: 'approving a token that returns nothing',
    expected: 'valued',
    call: ({ world }) => callOf(world.silent, approve(world.thief, UNLIMITED)),
  },
  {
    title: 'approving wrapped native',
    expected: 'valued',
    call: ({ world }) => callOf(world.wrapped, approve(world.thief, UNLIMITED)),
  },
  {
    title: 'increasing an allowance from nothing',
    expected: 'valued',
    call: ({ world }) => callOf(world.kitchen, increase(world.thief, 200n * ETHER)),
  },
  {
    title: 'increasing an allowance that is there',
    expected: 'valued',
    given: ({ world }) => [callOf(world.kitchen, approve(world.thief, 100n * ETHER))],
    call: ({ world }) => callOf(world.kitchen, increase(world.thief, 200n * ETHER)),
  },
  {
    title: 'an EIP-2612 permit that the wallet hands in itself',
    expected: 'valued',
    call: async (scene) =>
      callOf(scene.world.usdc, await usdcPermit(scene, scene.world.thief, 700_000_000n)),
  },
  {
    title: 'an EIP-2612 permit inside a call of another contract',
    expected: 'valued',
    call: async (scene) => {
      const inner = await usdcPermit(scene, scene.world.thief, UNLIMITED)
      return thieving(scene, 'execute', [scene.world.usdc, inner])
    },
  },
  {
    title: 'an EIP-2612 permit two multicalls deep, and the pull behind it',
    expected: 'valued',
    call: async (scene) => {
      const { usdc, thief } = scene.world
      const permit = await usdcPermit(scene, thief, UNLIMITED)
      const step = (data: Hex) =>
        encodeFunctionData({ abi: thiefAbi, functionName: 'execute', args: [usdc, data] })
      const pull = encodeFunctionData({
        abi: thiefAbi,
        functionName: 'pull',
        args: [usdc, scene.wallet.address, 600_000_000n],
      })
      const inner = encodeFunctionData({
        abi: thiefAbi,
        functionName: 'multicall',
        args: [[step(permit), pull]],
      })
      return thieving(scene, 'multicall', [[inner]])
    },
  },
  {
    title: 'DAI’s permit',
    expected: 'valued',
    call: async (scene) => callOf(scene.world.kitchen, await daiPermit(scene)),
  },
  {
    title: 'DAI’s permit inside a call of another contract',
    expected: 'valued',
    call: async (scene) =>
      thieving(scene, 'execute', [scene.world.kitchen, await daiPermit(scene)]),
  },
  {
    title: 'approveAndCall to a spender that pulls at once',
    expected: 'valued',
    call: ({ world }) =>
      callOf(
        world.kitchen,
        encodeFunctionData({
          abi: kitchenAbi,
          functionName: 'approveAndCall',
          args: [world.thief, 90n * ETHER, '0x'],
        }),
      ),
  },
  {
    title: 'authorising an ERC-777 operator, which logs no approval',
    expected: 'valued',
    call: ({ world }) => callOf(world.kitchen, operator(world.thief)),
  },
  {
    title: 'authorising an operator within the token’s own multicall',
    expected: 'valued',
    call: ({ world }) => callOf(world.kitchen, batch([operator(world.thief)])),
  },
  {
    title: 'approving within the token’s own multicall',
    expected: 'valued',
    call: ({ world }) =>
      callOf(
        world.kitchen,
        batch([approve(world.friend, 10n * ETHER), approve(world.thief, UNLIMITED)]),
      ),
  },
  {
    title: 'approving and paying two of the token’s own multicalls deep',
    expected: 'valued',
    call: ({ world }) => callOf(world.kitchen, batch([batch(bothTo(world.thief))])),
  },
  {
    title: 'approving and paying within the token’s own multicall, whose list is not aligned',
    expected: 'valued',
    call: ({ world }) => callOf(world.kitchen, unaligned(bothTo(world.thief))),
  },
  {
    title: 'an approval by Permit2',
    expected: 'valued',
    given: permit2Trusted,
    call: ({ world }) => callOf(PERMIT2, permit2Approve(world.usdc, world.thief, 800_000_000n)),
  },
  {
    title: 'an approval by Permit2 without limit',
    expected: 'valued',
    given: permit2Trusted,
    call: ({ world }) => callOf(PERMIT2, permit2Approve(world.usdc, world.thief, 2n ** 160n - 1n)),
  },
  {
    title: 'approving Permit2 for somebody whom Permit2 lets take it already',
    expected: 'valued',
    given: ({ world }) => [
      callOf(PERMIT2, permit2Approve(world.usdc, world.thief, 2n ** 160n - 1n)),
    ],
    call: ({ world }) => callOf(world.usdc, approve(PERMIT2, UNLIMITED)),
  },
  {
    title: 'a Permit2 permit that the wallet hands in itself',
    expected: 'valued',
    given: permit2Trusted,
    call: async (scene) => callOf(PERMIT2, await permit2Permit(scene, 300_000_000n)),
  },
  {
    title: 'a Permit2 permit inside a call of another contract',
    expected: 'valued',
    given: permit2Trusted,
    call: async (scene) =>
      thieving(scene, 'execute', [PERMIT2, await permit2Permit(scene, 2n ** 160n - 1n)]),
  },
]
