import type { Address } from '../../src/domain/ids.js'
import { actAs } from './attacker.js'
import {
  approve,
  type Call,
  callTo,
  ETHER,
  throughMulticall3,
  transfer,
  transferFrom,
  USD,
} from './calls.js'
import { executed } from './cases-places.js'
import type { DrainCase, Scene } from './scene.js'

const SOME = 400n * USD

/** By the numbers of Trickster.sol. */
const SIGNS = [
  'the gas left',
  'the gas price',
  'the base fee',
  'the parity of the time',
  'the parity of the block number',
  'a balance of its own',
  'the number of calls',
  'the coinbase',
  'the randomness of the block',
  'the hash of the block before',
  'the balance of the origin',
] as const

/** A Trickster that an elder key approved; it is none of the attacking key's spend yet. */
async function trusted({ at, send, deploy, elder }: Scene, name = 'Trickster'): Promise<Address> {
  const spender = await deploy(name)
  await send(approve(at.usdc, spender, SOME), elder)
  return spender
}

const lies = SIGNS.map(
  (sign, index): DrainCase => ({
    title: `a spender of another key that pulls by ${sign}`,
    expected: 'counted',
    countsOnKey: 400,
    given: async (scene) => {
      scene.notes.spender = await trusted(scene)
    },
    async attack({ at, send, notes, attacker, stage }) {
      await actAs(stage, attacker, { to: notes.spender, value: 1n, data: '0x' })
      const take = callTo(notes.spender, 'take(uint256,address)', [BigInt(index), at.usdc])
      await send(take)
    },
  }),
)

const refunds = [0, 1, 2, 6].map(
  (sign): DrainCase => ({
    title: `native currency that a contract gives back by ${SIGNS[sign]}`,
    expected: 'counted',
    async attack({ send, deploy }) {
      const trickster = await deploy('Trickster')
      await send(callTo(trickster, 'keep(uint256)', [BigInt(sign)], ETHER / 4n))
      await send(callTo(trickster, 'keep(uint256)', [BigInt(sign)], ETHER / 4n))
    },
  }),
)

/** Told by signs that no simulation shows. */
const unwatched = [0, 1].flatMap((sign): DrainCase[] => {
  const backTo = async (scene: Scene, back: Call) => {
    const trickster = await scene.deploy('Trickster')
    const args = [BigInt(sign), scene.account, back.data]
    const call = callTo(trickster, 'reenterIf(uint256,address,bytes)', args)
    return scene.send(executed(scene, call))
  }
  return [
    {
      title: `money that the wallet’s account pays a stranger by ${SIGNS[sign]}`,
      expected: 'counted',
      countsOnKey: 400,
      attack: (scene) => {
        const { at, account, attacker } = scene
        const pay = 'withdraw(address,uint256,address)'
        return backTo(scene, callTo(account, pay, [at.usdc, SOME, attacker]))
      },
    },
    {
      title: `a stranger whom the wallet’s account approves by ${SIGNS[sign]}`,
      expected: 'counted',
      countsOnKey: 400,
      attack: (scene) =>
        backTo(scene, executed(scene, approve(scene.at.usdc, scene.at.Thief, SOME))),
    },
  ]
})

/** Contracts and tokens that are not what they seem. */
export const DECEIT: readonly DrainCase[] = [
  ...lies,
  ...unwatched,
  ...refunds,
  {
    title: 'a proxy that becomes a thief after it was called by another key',
    expected: 'counted',
    countsOnKey: 400,
    given: async (scene) => {
      scene.notes.spender = await trusted(scene, 'Chameleon')
    },
    attack: ({ at, send, notes }) =>
      send(callTo(notes.spender, 'claimRewards(address)', [at.usdc])),
    async followUp({ stage, at, notes, attacker, wallet }) {
      await actAs(stage, attacker, callTo(notes.spender, 'become(address)', [at.Thief]))
      const pull = callTo(notes.spender, 'pullAll(address,address)', [at.usdc, wallet])
      await actAs(stage, attacker, pull)
    },
  },
  {
    title: 'a proxy that becomes a thief between two calls of the key that approved it',
    expected: 'counted',
    async attack({ stage, at, send, deploy, attacker }) {
      const proxy = await deploy('Chameleon')
      await send(approve(at.usdc, proxy, SOME))
      await send(callTo(proxy, 'claimRewards(address)', [at.usdc]))
      await actAs(stage, attacker, callTo(proxy, 'become(address)', [at.Thief]))
      await send(callTo(proxy, 'pullAll(address,address)', [at.usdc, attacker]))
    },
  },
  {
    title: 'a contract that burns more gas than it was seen to',
    expected: 'counted',
    harmless: true,
    async attack({ send, deploy }) {
      const trickster = await deploy('Trickster')
      await send(callTo(trickster, 'burnGas(uint256,uint256)', [1n, 100n]))
      await send(callTo(trickster, 'burnGas(uint256,uint256)', [10n, 100n]))
    },
  },
  {
    title: 'a token that pretends to pay while native currency leaves',
    expected: 'counted',
    attack: ({ at, send, wallet }) =>
      send(
        callTo(
          at.LyingToken,
          'pretendPayment(address,uint256)',
          [wallet, 2_000n * USD],
          ETHER / 2n,
        ),
      ),
  },
  {
    title: 'a token that pretends a refund around what it pulls',
    expected: 'counted',
    countsOnKey: 400,
    given: ({ at, send, elder }) => send(approve(at.usdc, at.LyingToken, SOME), elder),
    attack: ({ at, send, wallet, attacker }) =>
      send(
        callTo(at.LyingToken, 'pretendRefund(address,address,address,uint256)', [
          ...[wallet, at.usdc, attacker, SOME],
        ]),
      ),
  },
  {
    title: 'a token without a price that moves without an event',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    given: ({ stage, at, wallet, attacker }) =>
      actAs(stage, attacker, callTo(at.LyingToken, 'mint(address,uint256)', [wallet, SOME])),
    attack: ({ at, send, attacker }) => send(transfer(at.LyingToken, attacker, SOME)),
  },
  {
    title: 'a token that takes a fee on top of what is sent',
    expected: 'counted',
    given: ({ stage, at, wallet, attacker }) =>
      actAs(stage, attacker, callTo(at.feeToken, 'mint(address,uint256)', [wallet, 200n * ETHER])),
    attack: ({ at, send, attacker }) => send(transfer(at.feeToken, attacker, 100n * ETHER)),
  },
  {
    title: 'an approval of a token that takes a fee on top of what is pulled',
    expected: 'counted',
    given: ({ stage, at, wallet, attacker }) =>
      actAs(stage, attacker, callTo(at.feeToken, 'mint(address,uint256)', [wallet, 300n * ETHER])),
    attack: ({ at, send }) => send(approve(at.feeToken, at.Thief, 100n * ETHER)),
  },
  {
    title: 'shares of a rebasing token, which are worth more than their number',
    expected: 'counted',
    attack: ({ at, send, attacker }) =>
      send(callTo(at.RebasingToken, 'transferShares(address,uint256)', [attacker, SOME])),
  },
  {
    title: 'a pull handed to an approved contract that executes anything',
    expected: 'counted',
    given: ({ at, send, elder }) => send(approve(at.usdc, at.Thief, SOME), elder),
    attack: ({ at, send, wallet, attacker }) => {
      const pull = transferFrom(at.usdc, wallet, attacker, SOME)
      return send(callTo(at.Thief, 'execute(address,bytes)', [pull.to, pull.data]))
    },
    countsOnKey: 400,
  },
  {
    title: 'a pull behind two contracts, the second of which another key approved',
    expected: 'counted',
    countsOnKey: 400,
    given: ({ at, send, elder }) => send(approve(at.usdc, at.friend, SOME), elder),
    attack: ({ at, send, wallet }) => {
      const pull = callTo(at.friend, 'pullAll(address,address)', [at.usdc, wallet])
      return send(callTo(at.Thief, 'execute(address,bytes)', [pull.to, pull.data]))
    },
  },
  {
    title: 'transferAndCall to a receiver that pulls more by an old allowance',
    expected: 'counted',
    countsOnKey: 200,
    given: ({ at, send, elder }) => send(approve(at.KitchenToken, at.Thief, 90n * ETHER), elder),
    attack: ({ at, send }) =>
      send(
        callTo(at.KitchenToken, 'transferAndCall(address,uint256,bytes)', [
          ...[at.Thief, 10n * ETHER, '0x'],
        ]),
      ),
  },
  {
    title: 'native currency forwarded by a contract',
    expected: 'counted',
    attack: ({ at, send, attacker }) =>
      send(callTo(at.Thief, 'forward(address)', [attacker], ETHER / 2n)),
  },
  {
    title: 'native currency forwarded through two contracts',
    expected: 'counted',
    attack: ({ at, send, attacker }) => {
      const last = callTo(at.friend, 'forward(address)', [attacker])
      return send(callTo(at.Thief, 'execute(address,bytes)', [last.to, last.data], ETHER / 2n))
    },
  },
  {
    title: 'native currency split by Multicall3',
    expected: 'counted',
    attack: ({ send, attacker, at }) =>
      send(
        throughMulticall3([
          { to: attacker, value: ETHER / 4n, data: '0x' },
          { to: at.Thief, value: ETHER / 4n, data: '0x' },
        ]),
      ),
  },
  {
    title: 'native currency with a note in the calldata',
    expected: 'counted',
    attack: ({ send, attacker }) => send({ to: attacker, value: ETHER / 2n, data: '0x68656c6c6f' }),
  },
]
