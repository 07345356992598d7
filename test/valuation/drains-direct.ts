import { concatHex, encodeFunctionData, getAddress } from 'viem'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import devWrappedNative from '../../src/contracts/generated/dev-wrapped-native.json' with {
  type: 'json',
}
import type { Address } from '../../src/domain/ids.js'
import { transact } from '../support/deploy.js'
import { callOf, type Scenario, thieving, usdcAuthorization } from './scenario.js'
import { ETHER, kitchenAbi, stranger, thiefAbi } from './world.js'

const transfer = (to: Address, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
const kitchen = (functionName: 'burn', args: readonly [bigint]) =>
  encodeFunctionData({ abi: kitchenAbi, functionName, args })
const wrapping = (functionName: 'deposit' | 'withdraw', args: readonly bigint[] = []) =>
  encodeFunctionData({ abi: devWrappedNative.abi, functionName, args } as Parameters<
    typeof encodeFunctionData<typeof devWrappedNative.abi, 'deposit' | 'withdraw'>
  >[0])

/** Calls that move value at once. */
export const DIRECT_DRAINS: readonly Scenario[] = [
  { title: 'native to a stranger', expected: 'valued', call: () => callOf(stranger, '0x', ETHER) },
  {
    title: 'native to a stranger, with a note in the calldata',
    expected: 'valued',
    call: () => callOf(stranger, '0x68656c6c6f', ETHER),
  },
  {
    title: 'native to a contract',
    expected: 'valued',
    call: ({ world }) => callOf(world.thief, '0x', 2n * ETHER),
  },
  {
    title: 'native to a delegated account',
    expected: 'valued',
    call: async ({ world }) => {
      const delegated = getAddress('0x00000000000000000000000000000000000d0d0d')
      await world.anvil.rpc('anvil_setCode', [delegated, `0xef0100${world.thief.slice(2)}`])
      return callOf(delegated, '0x', ETHER)
    },
  },
  {
    title: 'native through a forwarder',
    expected: 'valued',
    call: (scene) => thieving(scene, 'forward', [stranger], 3n * ETHER),
  },
  {
    title: 'native through a multicall of delegated forwards',
    expected: 'valued',
    call: (scene) => {
      const forward = encodeFunctionData({
        abi: thiefAbi,
        functionName: 'forward',
        args: [stranger],
      })
      return thieving(scene, 'multicall', [[forward]], ETHER)
    },
  },
  {
    title: 'native through an execute of another contract',
    expected: 'valued',
    call: (scene) => thieving(scene, 'execute', [stranger, '0x'], ETHER),
  },
  {
    title: 'native that comes back only while it is simulated',
    expected: 'valued',
    armed: true,
    call: (scene) => thieving(scene, 'refundUnlessArmed', [], 4n * ETHER),
  },
  {
    title: 'wrapping native currency',
    expected: 'valued',
    call: ({ world }) => callOf(world.wrapped, wrapping('deposit'), ETHER),
  },
  {
    title: 'unwrapping',
    expected: 'valued',
    call: ({ world }) => callOf(world.wrapped, wrapping('withdraw', [ETHER / 2n])),
  },
  {
    title: 'wrapped native to a stranger',
    expected: 'valued',
    call: ({ world }) => callOf(world.wrapped, transfer(stranger, ETHER)),
  },
  {
    title: 'a token of 6 decimals',
    expected: 'valued',
    call: ({ world }) => callOf(world.usdc, transfer(stranger, 123_456_789n)),
  },
  {
    title: 'a token of 18 decimals',
    expected: 'valued',
    call: ({ world }) => callOf(world.kitchen, transfer(stranger, 123n * ETHER + 1n)),
  },
  {
    title: 'a token whose transfer returns nothing',
    expected: 'valued',
    call: ({ world }) => callOf(world.silent, transfer(stranger, 1_000_000_000n)),
  },
  {
    title: 'a token that takes a fee on top of the amount',
    expected: 'valued',
    call: async ({ world }) => {
      const data = encodeFunctionData({
        abi: kitchenAbi,
        functionName: 'setFeeBps',
        args: [1_000n],
      })
      await transact(world.anvil, { from: stranger, to: world.kitchen, data })
      return callOf(world.kitchen, transfer(stranger, 100n * ETHER))
    },
  },
  {
    title: 'a transfer with bytes behind its arguments',
    expected: 'valued',
    call: ({ world }) =>
      callOf(world.usdc, concatHex([transfer(stranger, 500_000_000n), '0xdeadbeef'])),
  },
  {
    title: 'transferFrom of the wallet by itself',
    expected: 'valued',
    call: ({ world, wallet }) =>
      callOf(
        world.kitchen,
        encodeFunctionData({
          abi: erc20Abi,
          functionName: 'transferFrom',
          args: [wallet.address, stranger, 40n * ETHER],
        }),
      ),
  },
  {
    title: 'burning',
    expected: 'valued',
    call: ({ world }) => callOf(world.kitchen, kitchen('burn', [7n * ETHER])),
  },
  {
    title: 'a token’s own multicall of transfers',
    expected: 'valued',
    call: ({ world }) => {
      const calls = [transfer(stranger, 100n * ETHER), transfer(world.thief, 50n * ETHER)]
      const data = encodeFunctionData({
        abi: kitchenAbi,
        functionName: 'multicall',
        args: [calls],
      })
      return callOf(world.kitchen, data)
    },
  },
  {
    title: 'transferAndCall to a receiver that pulls the rest by an old allowance',
    expected: 'valued',
    given: ({ world }) => [
      callOf(
        world.kitchen,
        encodeFunctionData({
          abi: erc20Abi,
          functionName: 'approve',
          args: [world.thief, 300n * ETHER],
        }),
      ),
    ],
    call: ({ world }) =>
      callOf(
        world.kitchen,
        encodeFunctionData({
          abi: kitchenAbi,
          functionName: 'transferAndCall',
          args: [world.thief, 10n * ETHER, '0x'],
        }),
      ),
  },
  {
    title: 'an EIP-3009 authorization that the wallet hands in itself',
    expected: 'valued',
    call: async (scene) =>
      callOf(scene.world.usdc, await usdcAuthorization(scene, stranger, 250_000_000n)),
  },
  {
    title: 'an EIP-3009 authorization inside a call of another contract',
    expected: 'valued',
    call: async (scene) => {
      const inner = await usdcAuthorization(scene, stranger, 250_000_000n)
      return thieving(scene, 'execute', [scene.world.usdc, inner])
    },
  },
  {
    title: 'a contract that burns gas',
    expected: 'valued',
    onlyGas: true,
    call: (scene) => thieving(scene, 'burnGas', [150n]),
  },
  {
    title: 'more native than there is',
    expected: 'INSUFFICIENT_FUNDS',
    call: () => callOf(stranger, '0x', 11n * ETHER),
  },
  {
    title: 'all native, nothing left for gas',
    expected: 'INSUFFICIENT_FUNDS',
    call: () => callOf(stranger, '0x', 10n * ETHER),
  },
  {
    title: 'more tokens than there are',
    expected: 'INSUFFICIENT_FUNDS',
    call: ({ world }) => callOf(world.usdc, transfer(stranger, 1_000_000_001n)),
  },
]
