import { approve, callTo, transfer, USD } from './calls.js'
import { closePosition, collect } from './cases-places.js'
import { swap } from './cases-venues.js'
import type { DrainCase, Scene } from './scene.js'

const SOME = 100n * USD

const swapOf = ({ at, wallet }: Scene, amount: bigint) => {
  const terms = { from: at.usdc, to: at.wrapped, fee: 500, recipient: wallet }
  return swap(at.swapRouter, { ...terms, amount })
}

/** Calls that are sent one right after the other, before a block has any of them. */
export const RACES: readonly DrainCase[] = [
  {
    title: 'a position is closed and collected to a stranger before a block has either',
    expected: 'counted',
    async attack(scene) {
      const closing = await closePosition(scene)
      await scene.sendWithin([closing, collect(scene, scene.attacker)])
    },
  },
  {
    title: 'a transfer goes between closing a position and collecting it',
    expected: 'counted',
    async attack(scene) {
      const paid = transfer(scene.at.usdc, scene.at.friend, USD)
      const closing = await closePosition(scene)
      await scene.sendWithin([closing, paid, collect(scene, scene.attacker)])
    },
  },
  {
    title: 'a deposit and its redemption to a stranger before a block has either',
    expected: 'counted',
    countsOnKey: 200,
    async attack({ at, sendWithin, wallet, attacker }) {
      const shares = SOME * 10n ** 6n
      await sendWithin([
        approve(at.usdc, at.market, SOME),
        callTo(at.market, 'deposit(uint256,address)', [SOME, wallet]),
        callTo(at.market, 'redeem(uint256,address,address)', [shares, attacker, wallet]),
      ])
    },
  },
  {
    title: 'an approval, two swaps that use it, and a third that has nothing left to use',
    expected: 'SIMULATION_REVERTED',
    harmless: true,
    countedAtMost: 103,
    async attack(scene) {
      const { at, sendWithin } = scene
      const half = swapOf(scene, SOME / 2n)
      await sendWithin([approve(at.usdc, at.swapRouter, SOME), half, half, half])
    },
  },
  {
    title: 'an exact approval and its swap, both sent at once',
    expected: 'counted',
    harmless: true,
    dailyUsd: '110',
    countedAtMost: 102,
    attack: (scene) =>
      scene.sendWithin([approve(scene.at.usdc, scene.at.swapRouter, SOME), swapOf(scene, SOME)]),
  },
  {
    title: 'a position that is closed and collected to the wallet at once',
    expected: 'counted',
    harmless: true,
    dailyUsd: '10',
    countedAtMost: 3,
    async attack(scene) {
      await scene.sendWithin([await closePosition(scene), collect(scene, scene.wallet)])
    },
  },
]
