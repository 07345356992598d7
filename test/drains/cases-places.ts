import {
  approve,
  type Call,
  callTo,
  ETHER,
  encode,
  multicall,
  transfer,
  transferFrom,
  UNLIMITED,
  USD,
} from './calls.js'
import type { DrainCase, Scene } from './scene.js'

const SOME = 400n * USD
const UINT128_MAX = 2n ** 128n - 1n
const NOWHERE = '0x0000000000000000000000000000000000000000'

export const closePosition = async ({ stage, at, positionId }: Scene): Promise<Call> => {
  const position = await stage.ask<readonly unknown[]>(
    at.positions,
    'positions(uint256) view returns (uint96, address, address, address, uint24, int24, int24, uint128, uint256, uint256, uint128, uint128)',
    [positionId],
  )
  return callTo(at.positions, 'decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))', [
    [positionId, position[7], 0n, 0n, 2n ** 64n],
  ])
}
export const collect = ({ at, positionId }: Scene, to: string): Call =>
  callTo(at.positions, 'collect((uint256,address,uint128,uint128))', [
    [positionId, to, UINT128_MAX, UINT128_MAX],
  ])
export const executed = ({ account }: Scene, { to, value, data }: Call): Call =>
  callTo(account, 'execute(address,uint256,bytes)', [to, value, data])

/** Calls that move what others hold for the wallet, none of whose tokens pass through it. */
export const PLACES: readonly DrainCase[] = [
  {
    title: 'a position is closed and collected to a stranger in one multicall',
    expected: 'counted',
    async attack(scene) {
      const calls = [await closePosition(scene), collect(scene, scene.attacker)]
      await scene.send(multicall(scene.at.positions, calls))
    },
  },
  {
    title: 'a position is closed first and collected to a stranger afterwards',
    expected: 'counted',
    async attack(scene) {
      await scene.send(await closePosition(scene))
      await scene.send(collect(scene, scene.attacker))
    },
  },
  {
    title: 'a position is collected to its manager, and swept from there to a stranger',
    expected: 'counted',
    async attack(scene) {
      const { at, attacker, send } = scene
      const sweep = (token: string) =>
        callTo(at.positions, 'sweepToken(address,uint256,address)', [token, 0n, attacker])
      const calls = [await closePosition(scene), collect(scene, NOWHERE), sweep(at.usdc)]
      await send(multicall(at.positions, [...calls, sweep(at.KitchenToken)]))
    },
  },
  {
    title: 'a position is sent away',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send, wallet, attacker, positionId }) =>
      send(transferFrom(at.positions, wallet, attacker, positionId)),
  },
  {
    title: 'a position is sent away within the manager’s multicall',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send, wallet, attacker, positionId }) =>
      send(multicall(at.positions, [transferFrom(at.positions, wallet, attacker, positionId)])),
  },
  {
    title: 'a position is approved',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send, attacker, positionId }) =>
      send(approve(at.positions, attacker, positionId)),
  },
  {
    title: 'all positions are approved',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send, attacker }) =>
      send(callTo(at.positions, 'setApprovalForAll(address,bool)', [attacker, true])),
  },
  {
    title: 'a market with receipts pays a stranger',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send, attacker }) =>
      send(callTo(at.receipts, 'withdraw(address,uint256,address)', [at.usdc, SOME, attacker])),
  },
  {
    title: 'a market’s receipts are sent away',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send, attacker }) => send(transfer(at.receipts, attacker, SOME)),
  },
  {
    title: 'a stranger may borrow in the wallet’s name',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send }) =>
      send(callTo(at.receipts, 'approveDelegation(address,uint256)', [at.Thief, SOME])),
  },
  {
    title: 'a market’s own borrowing, sent on to a stranger',
    expected: 'counted',
    async attack({ at, send, wallet, attacker }) {
      const args = [at.usdc, SOME, 2n, 0, wallet]
      await send(callTo(at.receipts, 'borrow(address,uint256,uint256,uint16,address)', args))
      await send(transfer(at.usdc, attacker, SOME))
    },
  },
  {
    title: 'a market without receipts pays a stranger',
    expected: 'counted',
    attack: ({ at, send, wallet, attacker }) =>
      send(
        callTo(at.BookMarket, 'withdraw(address,uint256,address,address)', [
          ...[at.usdc, SOME, wallet, attacker],
        ]),
      ),
  },
  {
    title: 'a market without receipts pays a stranger by Comet’s withdrawFrom',
    expected: 'counted',
    attack: ({ at, send, wallet, attacker }) =>
      send(
        callTo(at.BookMarket, 'withdrawFrom(address,address,address,uint256)', [
          ...[wallet, attacker, at.usdc, SOME],
        ]),
      ),
  },
  {
    title: 'a deposit changes hands in a market’s books alone',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send, attacker }) =>
      send(
        callTo(at.BookMarket, 'transferAsset(address,address,uint256)', [attacker, at.usdc, SOME]),
      ),
  },
  {
    title: 'a stranger is authorized in a market (Morpho’s setAuthorization)',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send }) =>
      send(callTo(at.BookMarket, 'setAuthorization(address,bool)', [at.Thief, true])),
  },
  {
    title: 'a stranger is allowed in a market (Comet’s allow, which logs nothing)',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send }) => send(callTo(at.BookMarket, 'allow(address,bool)', [at.Thief, true])),
  },
  {
    title: 'a configured vault redeems to a stranger',
    expected: 'counted',
    attack: ({ at, send, wallet, attacker }) =>
      send(
        callTo(at.market, 'redeem(uint256,address,address)', [SOME * 10n ** 6n, attacker, wallet]),
      ),
  },
  {
    title: 'a configured vault withdraws to a stranger',
    expected: 'counted',
    attack: ({ at, send, wallet, attacker }) =>
      send(callTo(at.market, 'withdraw(uint256,address,address)', [SOME, attacker, wallet])),
  },
  {
    title: 'a vault that nobody configured withdraws to a stranger',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send, wallet, attacker }) =>
      send(callTo(at.vault, 'withdraw(uint256,address,address)', [SOME, attacker, wallet])),
  },
  {
    title: 'shares of a vault are sent away',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send, attacker }) => send(transfer(at.vault, attacker, SOME * 10n ** 6n)),
  },
  {
    title: 'a deposit in a vault goes to a stranger’s name',
    expected: 'counted',
    async attack({ at, send, attacker }) {
      await send(approve(at.usdc, at.market, SOME))
      await send(callTo(at.market, 'deposit(uint256,address)', [SOME, attacker]))
    },
  },
  {
    title: 'ERC-6909 claims are sent away',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send, attacker }) =>
      send(
        callTo(at.Claims, 'transfer(address,uint256,uint256)', [attacker, BigInt(at.usdc), SOME]),
      ),
  },
  {
    title: 'ERC-6909 claims are paid out to a stranger',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send, attacker }) =>
      send(callTo(at.Claims, 'withdraw(address,uint256,address)', [at.usdc, SOME, attacker])),
  },
  {
    title: 'the wallet’s account pays a stranger',
    expected: 'counted',
    attack: ({ at, send, account, attacker }) =>
      send(callTo(account, 'withdraw(address,uint256,address)', [at.usdc, SOME, attacker])),
  },
  {
    title: 'the wallet’s account executes a transfer to a stranger',
    expected: 'counted',
    attack: (scene) => scene.send(executed(scene, transfer(scene.at.usdc, scene.attacker, SOME))),
  },
  {
    title: 'the wallet’s account executes transfers in a batch',
    expected: 'counted',
    attack: ({ at, send, account, attacker }) => {
      const paid = (amount: bigint) => [at.usdc, 0n, transfer(at.usdc, attacker, amount).data]
      const calls = [paid(100n * USD), paid(300n * USD)]
      return send(callTo(account, 'executeBatch((address,uint256,bytes)[])', [calls]))
    },
  },
  {
    title: 'the wallet’s account pays a stranger in native currency',
    expected: 'counted',
    attack: (scene) =>
      scene.send(executed(scene, { to: scene.attacker, value: ETHER / 2n, data: '0x' })),
  },
  {
    title: 'the wallet’s account approves a stranger',
    expected: 'counted',
    attack: (scene) => scene.send(executed(scene, approve(scene.at.usdc, scene.at.Thief, SOME))),
  },
  {
    title: 'the wallet’s account approves a stranger without limit',
    expected: 'LIMIT_EXCEEDED',
    harmless: true,
    attack: (scene) =>
      scene.send(executed(scene, approve(scene.at.usdc, scene.at.Thief, UNLIMITED))),
  },
  {
    title: 'the wallet’s account changes its owner',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ send, account, attacker }) =>
      send(callTo(account, 'transferOwnership(address)', [attacker])),
  },
  {
    title: 'the wallet’s account takes a stranger as its module',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ send, account, attacker }) =>
      send(callTo(account, 'enableModule(address)', [attacker])),
  },
  {
    title: 'a contract that the wallet’s account calls, calls it back for its money',
    expected: 'counted',
    async attack(scene) {
      const { at, attacker, account, send, deploy } = scene
      const trickster = await deploy('Trickster')
      const back = encode('withdraw(address,uint256,address)', [at.usdc, SOME, attacker])
      await send(executed(scene, callTo(trickster, 'reenter(address,bytes)', [account, back])))
    },
  },
  {
    title: 'an account’s deposit that comes back to its market in a stranger’s name',
    expected: 'counted',
    // Since long ago: the account lends what it has.
    given: ({ at, send, account, elder }) => {
      const calls = [
        approve(at.usdc, at.BookMarket, SOME),
        callTo(at.BookMarket, 'supply(address,uint256,address)', [at.usdc, SOME, account]),
      ]
      return send(batchOf(account, calls), elder)
    },
    attack: ({ at, send, account, attacker }) => {
      const back = [at.usdc, SOME, account, account]
      const calls = [
        callTo(at.BookMarket, 'withdraw(address,uint256,address,address)', back),
        approve(at.usdc, at.BookMarket, SOME),
        callTo(at.BookMarket, 'supply(address,uint256,address)', [at.usdc, SOME, attacker]),
      ]
      return send(batchOf(account, calls))
    },
  },
  {
    title: 'native currency behind a self-destruct',
    expected: 'counted',
    async attack({ stage, send, attacker }) {
      const bomb = await deployBomb(stage, attacker)
      await send({ to: bomb, value: ETHER / 2n, data: `0x${attacker.slice(2).padStart(64, '0')}` })
    },
  },
]

export function batchOf(account: Scene['account'], calls: readonly Call[]): Call {
  const batch = calls.map(({ to, value, data }) => [to, value, data])
  return callTo(account, 'executeBatch((address,uint256,bytes)[])', [batch])
}

/** PUSH0 CALLDATALOAD SELFDESTRUCT: the compiler refuses to write it. */
async function deployBomb({ chain }: Scene['stage'], near: string) {
  const address = `0x${(BigInt(near) ^ 1n).toString(16).padStart(40, '0')}` as const
  await chain.client.setCode({ address, bytecode: '0x5f35ff' })
  return address
}
