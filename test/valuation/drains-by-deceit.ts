import { encodeFunctionData } from 'viem'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import devMulticall3 from '../../src/contracts/generated/dev-multicall3.json' with { type: 'json' }
import type { Address } from '../../src/domain/ids.js'
import { MULTICALL3, PERMIT2 } from '../../src/valuation/well-known.js'
import { callOf, FAR_AWAY, type Scenario, type Scene, thieving, UNLIMITED } from './scenario.js'
import { ETHER, itemsAbi, kitchenAbi, permit2Abi, stranger, thiefAbi } from './world.js'

const approving =
  (token: (scene: Scene) => Address, spender: Address, amount: bigint) => (scene: Scene) => [
    callOf(
      token(scene),
      encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] }),
    ),
  ]
const usdcOf = ({ world }: Scene) => world.usdc
const thiefMay = (amount: bigint) => (scene: Scene) =>
  approving(usdcOf, scene.world.thief, amount)(scene)
const pullAll = ({ world, wallet }: Scene) =>
  encodeFunctionData({
    abi: thiefAbi,
    functionName: 'pullAll',
    args: [world.usdc, wallet.address],
  })

/** Calls that use what was approved long ago, and contracts that behave when they are watched. */
export const DECEIT_DRAINS: readonly Scenario[] = [
  {
    title: 'a call without value that triggers a pull',
    expected: 'valued',
    given: thiefMay(350_000_000n),
    call: (scene) => callOf(scene.world.thief, pullAll(scene)),
  },
  {
    title: 'a multicall of pulls',
    expected: 'valued',
    given: thiefMay(UNLIMITED),
    call: (scene) => thieving(scene, 'multicall', [[pullAll(scene)]]),
  },
  {
    title: 'a contract that pulls only when nobody simulates',
    expected: 'valued',
    armed: true,
    given: thiefMay(UNLIMITED),
    call: (scene) => thieving(scene, 'claimRewards', [scene.world.usdc]),
  },
  {
    title: 'a contract that takes a little when watched, and all else',
    expected: 'valued',
    armed: true,
    given: thiefMay(900_000_000n),
    call: (scene) => thieving(scene, 'sip', [scene.world.usdc, 1n]),
  },
  {
    title: 'a contract that lets another one pull',
    expected: 'valued',
    armed: true,
    given: (scene) => approving(usdcOf, scene.world.friend, UNLIMITED)(scene),
    call: ({ world, wallet }) =>
      thieving({ world, wallet }, 'viaFriend', [world.friend, world.usdc]),
  },
  {
    title: 'a contract that pulls by Permit2 only when nobody simulates',
    expected: 'valued',
    armed: true,
    given: (scene) => [
      ...approving(usdcOf, PERMIT2, UNLIMITED)(scene),
      callOf(
        PERMIT2,
        encodeFunctionData({
          abi: permit2Abi,
          functionName: 'approve',
          args: [scene.world.usdc, scene.world.thief, 450_000_000n, Number(FAR_AWAY)],
        }),
      ),
    ],
    call: (scene) =>
      thieving(scene, 'claimRewardsByPermit2', [PERMIT2, scene.world.usdc, 450_000_000n]),
  },
  {
    title: 'allowances of several tokens to one deceiver',
    expected: 'valued',
    armed: true,
    given: (scene) => [
      ...thiefMay(UNLIMITED)(scene),
      ...approving(({ world }) => world.silent, scene.world.thief, UNLIMITED)(scene),
      ...approving(({ world }) => world.wrapped, scene.world.thief, UNLIMITED)(scene),
    ],
    call: (scene) => thieving(scene, 'claimRewards', [scene.world.silent]),
  },
  {
    title: 'transferFrom handed to a contract that is allowed',
    expected: 'valued',
    given: thiefMay(500_000_000n),
    call: (scene) =>
      thieving(scene, 'execute', [
        scene.world.usdc,
        encodeFunctionData({
          abi: erc20Abi,
          functionName: 'transferFrom',
          args: [scene.wallet.address, stranger, 500_000_000n],
        }),
      ]),
  },
  {
    title: 'transferFrom by way of Multicall3',
    expected: 'valued',
    given: approving(usdcOf, MULTICALL3, UNLIMITED),
    call: ({ world, wallet }) => {
      const callData = encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transferFrom',
        args: [wallet.address, stranger, 123_000_000n],
      })
      const calls = [{ target: world.usdc, allowFailure: true, callData }]
      return callOf(
        MULTICALL3,
        encodeFunctionData({ abi: devMulticall3.abi, functionName: 'aggregate3', args: [calls] }),
      )
    },
  },
  {
    title: 'native and a pull in one call',
    expected: 'valued',
    given: thiefMay(UNLIMITED),
    call: (scene) => thieving(scene, 'multicall', [[pullAll(scene)]], ETHER),
  },
  {
    title: 'a call that fails only when it is simulated',
    expected: 'SIMULATION_REVERTED',
    armed: true,
    given: thiefMay(UNLIMITED),
    call: (scene) => thieving(scene, 'failUnlessArmed', [scene.world.usdc]),
  },
  {
    title: 'a pull behind more events than anybody lists',
    expected: 'PRICE_UNAVAILABLE',
    given: thiefMay(UNLIMITED),
    call: (scene) => thieving(scene, 'babble', [scene.world.usdc, 1_000_000n]),
  },
  {
    title: 'a collectible by transferFrom',
    expected: 'unpriced',
    call: ({ world, wallet }) =>
      callOf(
        world.collectible,
        encodeFunctionData({
          abi: itemsAbi,
          functionName: 'transferFrom',
          args: [wallet.address, stranger, wallet.itemId],
        }),
      ),
  },
  {
    title: 'a collectible by safeTransferFrom',
    expected: 'unpriced',
    call: ({ world, wallet }) =>
      callOf(
        world.collectible,
        encodeFunctionData({
          abi: itemsAbi,
          functionName: 'safeTransferFrom',
          args: [wallet.address, stranger, wallet.itemId],
        }),
      ),
  },
  {
    title: 'approving a collectible',
    expected: 'unpriced',
    call: ({ world, wallet }) =>
      callOf(
        world.collectible,
        encodeFunctionData({
          abi: itemsAbi,
          functionName: 'approve',
          args: [world.thief, wallet.itemId],
        }),
      ),
  },
  {
    title: 'approving a whole collection',
    expected: 'unpriced',
    call: ({ world }) =>
      callOf(
        world.collectible,
        encodeFunctionData({
          abi: itemsAbi,
          functionName: 'setApprovalForAll',
          args: [world.thief, true],
        }),
      ),
  },
  {
    title: 'items of an ERC-1155',
    expected: 'unpriced',
    call: ({ world, wallet }) =>
      callOf(
        world.bundle,
        encodeFunctionData({
          abi: itemsAbi,
          functionName: 'safeTransferFrom',
          args: [wallet.address, stranger, wallet.itemId, 3n, '0x'],
        }),
      ),
  },
  {
    title: 'a batch of an ERC-1155',
    expected: 'unpriced',
    call: ({ world, wallet }) =>
      callOf(
        world.bundle,
        encodeFunctionData({
          abi: itemsAbi,
          functionName: 'safeBatchTransferFrom',
          args: [
            wallet.address,
            stranger,
            [wallet.itemId, wallet.itemId + 1_000_000n],
            [1n, 1n],
            '0x',
          ],
        }),
      ),
  },
  {
    title: 'approving a whole ERC-1155',
    expected: 'unpriced',
    call: ({ world }) =>
      callOf(
        world.bundle,
        encodeFunctionData({
          abi: itemsAbi,
          functionName: 'setApprovalForAll',
          args: [world.thief, true],
        }),
      ),
  },
  {
    title: 'a token that nobody configured',
    expected: 'unpriced',
    call: ({ world }) =>
      callOf(
        world.unknown,
        encodeFunctionData({ abi: kitchenAbi, functionName: 'transfer', args: [stranger, 7n] }),
      ),
  },
  {
    title: 'approving a token that nobody configured',
    expected: 'unpriced',
    call: ({ world }) =>
      callOf(
        world.unknown,
        encodeFunctionData({
          abi: kitchenAbi,
          functionName: 'approve',
          args: [world.thief, UNLIMITED],
        }),
      ),
  },
  {
    title: 'authorising an operator of a token that nobody configured',
    expected: 'unpriced',
    call: ({ world }) =>
      callOf(
        world.unknown,
        encodeFunctionData({
          abi: kitchenAbi,
          functionName: 'authorizeOperator',
          args: [world.thief],
        }),
      ),
  },
]
