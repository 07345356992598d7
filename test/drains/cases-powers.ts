import { actAs } from './attacker.js'
import { callTo } from './calls.js'
import { executed } from './cases-places.js'
import type { DrainCase, Scene } from './scene.js'

/** Ways of passing on an account that the wallet owns, by what it is called with. */
const HANDOVERS: readonly (readonly [string, (scene: Scene) => readonly unknown[]])[] = [
  ['changeOwner(address)', ({ attacker }) => [attacker]],
  ['transferAdmin(address)', ({ attacker }) => [attacker]],
  ['addOwner(address)', ({ attacker }) => [attacker]],
  ['grantRoles(address,uint256)', ({ attacker }) => [attacker, 1n]],
]

const handovers = HANDOVERS.map(
  ([signature, args]): DrainCase => ({
    title: `the wallet’s account is handed on by ${signature}`,
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: (scene) => scene.send(callTo(scene.account, signature, args(scene))),
  }),
)

/** Powers over what a wallet owns: nothing moves when they are passed on, and all may afterwards. */
export const POWERS: readonly DrainCase[] = [
  ...handovers,
  {
    title: 'the wallet’s account is handed on by a call of its own to itself',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: (scene) => {
      const { account, attacker, send } = scene
      return send(executed(scene, callTo(account, 'changeOwner(address)', [attacker])))
    },
  },
  {
    title: 'the wallet’s account is offered to a stranger, who accepts',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ send, account, attacker }) =>
      send(callTo(account, 'setPendingOwner(address)', [attacker])),
    followUp: ({ stage, account, attacker }) =>
      actAs(stage, attacker, callTo(account, 'acceptOwnership()')),
  },
  {
    title: 'the wallet’s account is given code that obeys anybody',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    async attack({ send, deploy, account }) {
      await send(callTo(account, 'upgradeTo(address)', [await deploy('FreeHand')]))
    },
    followUp: ({ stage, at, account, attacker }) =>
      actAs(stage, attacker, callTo(account, 'giveAway(address,address)', [at.usdc, attacker])),
  },
  {
    title: 'a position is sent away with its bytes',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send, wallet, attacker, positionId }) =>
      send(
        callTo(at.positions, 'safeTransferFrom(address,address,uint256,bytes)', [
          ...[wallet, attacker, positionId, '0x'],
        ]),
      ),
  },
]
