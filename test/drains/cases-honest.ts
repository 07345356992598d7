import { PERMIT2 } from '../../src/valuation/well-known.js'
import { approve, callTo, ETHER, multicall, permit2Approve, transfer, USD } from './calls.js'
import { accountHasPlaces, asSafe } from './cases-accounts.js'
import { swapSponsored } from './cases-keys.js'
import { batchOf, closePosition, collect, executed } from './cases-places.js'
import { swap } from './cases-venues.js'
import type { DrainCase } from './scene.js'

const SOME = 100n * USD

/** What agents do all day: counted once, and no more than it moves. */
export const HONEST: readonly DrainCase[] = [
  {
    title: 'a transfer',
    expected: 'counted',
    dailyUsd: '110',
    countedAtMost: 101,
    attack: ({ at, send, attacker }) => send(transfer(at.usdc, attacker, SOME)),
  },
  {
    title: 'an exact approval and the swap that uses it',
    expected: 'counted',
    harmless: true,
    dailyUsd: '110',
    countedAtMost: 102,
    async attack({ at, send, wallet }) {
      await send(approve(at.usdc, at.swapRouter, SOME))
      const terms = { from: at.usdc, to: at.wrapped, fee: 500, recipient: wallet, amount: SOME }
      await send(swap(at.swapRouter, terms))
    },
  },
  {
    title: 'an approval for two swaps, and both of them',
    expected: 'counted',
    harmless: true,
    dailyUsd: '110',
    countedAtMost: 102,
    async attack({ at, send, wallet }) {
      await send(approve(at.usdc, at.swapRouter, SOME))
      const terms = { from: at.usdc, to: at.wrapped, fee: 500, recipient: wallet }
      for (let i = 0; i < 2; i++) await send(swap(at.swapRouter, { ...terms, amount: SOME / 2n }))
    },
  },
  {
    title: 'a swap of native currency',
    expected: 'counted',
    harmless: true,
    dailyUsd: '310',
    countedAtMost: 302,
    attack: ({ at, send, wallet }) => {
      const terms = { from: at.wrapped, to: at.usdc, fee: 500, recipient: wallet }
      return send(swap(at.swapRouter, { ...terms, amount: ETHER / 10n }, ETHER / 10n))
    },
  },
  {
    title: 'an exact approval of Permit2, and one by Permit2',
    expected: 'counted',
    dailyUsd: '210',
    countedAtMost: 202,
    async attack({ at, send }) {
      await send(approve(at.usdc, PERMIT2, SOME))
      await send(permit2Approve(at.usdc, at.Thief, SOME))
    },
  },
  {
    title: 'a deposit in a configured vault',
    expected: 'counted',
    harmless: true,
    dailyUsd: '110',
    countedAtMost: 102,
    async attack({ at, send, wallet }) {
      await send(approve(at.usdc, at.market, SOME))
      await send(callTo(at.market, 'deposit(uint256,address)', [SOME, wallet]))
    },
  },
  {
    title: 'a position that is opened in the wallet’s name',
    expected: 'counted',
    harmless: true,
    dailyUsd: '210',
    countedAtMost: 203,
    async attack({ at, send, wallet }) {
      await send(approve(at.usdc, at.positions, SOME))
      await send(approve(at.KitchenToken, at.positions, 50n * ETHER))
      const dollarsFirst = BigInt(at.usdc) < BigInt(at.KitchenToken)
      const [token0, token1] = dollarsFirst
        ? [at.usdc, at.KitchenToken]
        : [at.KitchenToken, at.usdc]
      const [amount0, amount1] = dollarsFirst ? [SOME, 50n * ETHER] : [50n * ETHER, SOME]
      const terms = [token0, token1, 3_000, -887_220, 887_220, amount0, amount1, 0n, 0n]
      await send(
        callTo(
          at.positions,
          'mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))',
          [[...terms, wallet, 2n ** 64n]],
        ),
      )
    },
  },
  {
    title: 'a position that is closed and collected to the wallet',
    expected: 'counted',
    harmless: true,
    dailyUsd: '5',
    countedAtMost: 2,
    async attack(scene) {
      const calls = [await closePosition(scene), collect(scene, scene.wallet)]
      await scene.send(multicall(scene.at.positions, calls))
    },
  },
  {
    title: 'a deposit in a market with receipts',
    expected: 'counted',
    harmless: true,
    dailyUsd: '110',
    countedAtMost: 102,
    async attack({ at, send, wallet }) {
      await send(approve(at.usdc, at.receipts, SOME))
      const args = [at.usdc, SOME, wallet, 0]
      await send(callTo(at.receipts, 'supply(address,uint256,address,uint16)', args))
    },
  },
  {
    title: 'a deposit in a market without receipts, and its way back',
    expected: 'counted',
    harmless: true,
    dailyUsd: '110',
    countedAtMost: 102,
    async attack({ at, send, wallet }) {
      await send(approve(at.usdc, at.BookMarket, SOME))
      await send(callTo(at.BookMarket, 'supply(address,uint256,address)', [at.usdc, SOME, wallet]))
      await send(
        callTo(at.BookMarket, 'withdraw(address,uint256,address,address)', [
          ...[at.usdc, SOME, wallet, wallet],
        ]),
      )
    },
  },
  {
    title: 'what the wallet’s account pays to the wallet',
    expected: 'counted',
    harmless: true,
    dailyUsd: '5',
    countedAtMost: 2,
    attack: (scene) => scene.send(executed(scene, transfer(scene.at.usdc, scene.wallet, SOME))),
  },
  {
    title: 'shares of an unknown vault that the wallet’s account hands to the wallet',
    expected: 'counted',
    harmless: true,
    dailyUsd: '5',
    countedAtMost: 3,
    given: accountHasPlaces,
    attack: (scene) => {
      const shares = transfer(scene.at.vault, scene.wallet, SOME * 10n ** 6n)
      return scene.send(asSafe(scene, shares, 0))
    },
  },
  {
    title: 'what the wallet’s account lends, by an exact approval that is used at once',
    expected: 'counted',
    harmless: true,
    dailyUsd: '110',
    countedAtMost: 102,
    attack: ({ at, account, send }) =>
      send(
        batchOf(account, [
          approve(at.usdc, at.BookMarket, SOME),
          callTo(at.BookMarket, 'supply(address,uint256,address)', [at.usdc, SOME, account]),
        ]),
      ),
  },
  {
    title: 'an approval that is taken back',
    expected: 'counted',
    harmless: true,
    dailyUsd: '110',
    countedAtMost: 102,
    async attack({ at, send }) {
      await send(approve(at.usdc, at.Thief, SOME))
      await send(approve(at.usdc, at.Thief, 0n))
    },
  },
  {
    title: 'a lockdown of Permit2',
    expected: 'counted',
    harmless: true,
    dailyUsd: '110',
    countedAtMost: 102,
    async attack({ at, send }) {
      await send(permit2Approve(at.usdc, at.Thief, SOME))
      const pairs = [[at.usdc, at.Thief]]
      await send(callTo(PERMIT2, 'lockdown((address,address)[])', [pairs]))
      await send(approve(at.usdc, PERMIT2, SOME))
    },
  },
  {
    title: 'shares of a configured vault that are redeemed to the wallet',
    expected: 'counted',
    harmless: true,
    dailyUsd: '110',
    countedAtMost: 102,
    attack: ({ at, send, wallet }) =>
      send(
        callTo(at.market, 'redeem(uint256,address,address)', [SOME * 10n ** 6n, wallet, wallet]),
      ),
  },
  {
    title: 'wrapping native currency, and unwrapping it',
    expected: 'counted',
    harmless: true,
    dailyUsd: '610',
    countedAtMost: 602,
    async attack({ at, send }) {
      await send(callTo(at.wrapped, 'deposit()', [], ETHER / 10n))
      await send(callTo(at.wrapped, 'withdraw(uint256)', [ETHER / 10n]))
    },
  },
  {
    title: 'a sponsored swap, which leaves no allowance behind',
    expected: 'counted',
    dailyUsd: '110',
    countedAtMost: 102,
    attack: (scene) => swapSponsored(scene, SOME),
    harmless: true,
  },
]
