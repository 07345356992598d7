import { encodeAbiParameters, keccak256 } from 'viem'
import type { Address, Hex } from '../../src/domain/ids.js'
import { MULTICALL3 } from '../../src/valuation/well-known.js'
import { fillOrder } from './attacker.js'
import {
  approve,
  type Call,
  callTo,
  ETHER,
  multicall,
  throughMulticall3,
  transfer,
  transferFrom,
  USD,
} from './calls.js'
import type { DrainCase, Scene } from './scene.js'

const SOME = 400n * USD
const HALF_ETHER = ETHER / 2n
/** SwapRouter02 keeps what a swap brings when the recipient is 2. */
const ROUTER_ITSELF: Address = '0x0000000000000000000000000000000000000002'

/** Exact input over one pool, with no bound on what comes out. */
export function swap(
  router: Address,
  terms: {
    readonly from: Address
    readonly to: Address
    readonly fee: number
    readonly recipient: Address
    readonly amount: bigint
  },
  value = 0n,
): Call {
  const { from, to, fee, recipient, amount } = terms
  const signature = 'exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))'
  return callTo(router, signature, [[from, to, fee, recipient, amount, 0n, 0n]], value)
}

const orderOf = ({ at, attacker }: Scene): Hex =>
  encodeAbiParameters(
    [{ type: 'address' }, { type: 'uint256' }, { type: 'address' }],
    [at.usdc, SOME, attacker],
  )
/** The exchange may pull since long ago; what it lacks is an order. */
const exchangeMayPull = ({ at, send, elder }: Scene) =>
  send(approve(at.usdc, at.OrderBook, SOME), elder)
const fill = (scene: Scene) => fillOrder(scene.stage, scene.attacker, scene.wallet, orderOf(scene))

/** Exchanges, routers and batches that everybody uses, to a stranger's good. */
export const VENUES: readonly DrainCase[] = [
  {
    title: 'a swap whose proceeds go to a stranger',
    expected: 'counted',
    async attack({ at, send, attacker }) {
      await send(approve(at.usdc, at.swapRouter, SOME))
      const terms = { from: at.usdc, to: at.wrapped, fee: 500, recipient: attacker, amount: SOME }
      await send(swap(at.swapRouter, terms))
    },
  },
  {
    title: 'a swap of native currency whose proceeds go to a stranger',
    expected: 'counted',
    attack: ({ at, send, attacker }) =>
      send(
        swap(
          at.swapRouter,
          { from: at.wrapped, to: at.usdc, fee: 500, recipient: attacker, amount: HALF_ETHER },
          HALF_ETHER,
        ),
      ),
  },
  {
    title: 'a swap without a bound in the attacker’s own pool',
    expected: 'counted',
    async attack({ at, send, wallet }) {
      await send(approve(at.usdc, at.swapRouter, SOME))
      const terms = { from: at.usdc, to: at.scam, fee: 10_000, recipient: wallet, amount: SOME }
      await send(swap(at.swapRouter, terms))
    },
  },
  {
    title: 'a swap kept by the router, and swept to a stranger in the same multicall',
    expected: 'counted',
    async attack({ at, send, attacker }) {
      await send(approve(at.KitchenToken, at.swapRouter, 100n * ETHER))
      const amount = 100n * ETHER
      const kept = { from: at.KitchenToken, to: at.usdc, fee: 10_000, recipient: ROUTER_ITSELF }
      const sweep = callTo(at.swapRouter, 'sweepToken(address,uint256,address)', [
        ...[at.usdc, 0n, attacker],
      ])
      await send(multicall(at.swapRouter, [swap(at.swapRouter, { ...kept, amount }), sweep]))
    },
  },
  {
    title: 'a swap kept by the router, and unwrapped to a stranger in the same multicall',
    expected: 'counted',
    async attack({ at, send, attacker }) {
      await send(approve(at.usdc, at.swapRouter, SOME))
      const kept = { from: at.usdc, to: at.wrapped, fee: 500, recipient: ROUTER_ITSELF }
      const unwrap = callTo(at.swapRouter, 'unwrapWETH9(uint256,address)', [0n, attacker])
      const swapped = swap(at.swapRouter, { ...kept, amount: SOME })
      await send(multicall(at.swapRouter, [swapped, unwrap]))
    },
  },
  {
    title: 'native currency left with the router, where anybody may take it',
    expected: 'counted',
    attack: ({ at, send, attacker }) => {
      const wrap = callTo(at.swapRouter, 'wrapETH(uint256)', [HALF_ETHER])
      const out = callTo(at.swapRouter, 'sweepToken(address,uint256,address)', [
        ...[at.wrapped, 0n, attacker],
      ])
      return send(multicall(at.swapRouter, [wrap, out], HALF_ETHER))
    },
  },
  {
    title: 'wrapping native currency, and sending what it became',
    expected: 'counted',
    async attack({ at, send, attacker }) {
      await send(callTo(at.wrapped, 'deposit()', [], HALF_ETHER))
      await send(transfer(at.wrapped, attacker, HALF_ETHER))
    },
  },
  {
    title: 'unwrapping, and sending what it became',
    expected: 'counted',
    async attack({ at, send, attacker }) {
      await send(callTo(at.wrapped, 'withdraw(uint256)', [ETHER / 8n]))
      await send({ to: attacker, value: ETHER / 8n, data: '0x' })
    },
  },
  {
    title: 'native currency wrapped in a stranger’s name',
    expected: 'counted',
    attack: async ({ send, deploy, attacker }) => {
      const elsewhere = await deploy('WrappedElsewhere')
      await send(callTo(elsewhere, 'depositTo(address)', [attacker], HALF_ETHER))
    },
  },
  {
    title: 'native currency unwrapped into a stranger’s hands',
    expected: 'PRICE_UNAVAILABLE',
    attack: async ({ send, deploy, wallet, attacker }) => {
      const elsewhere = await deploy('WrappedElsewhere')
      await send(callTo(elsewhere, 'depositTo(address)', [wallet], HALF_ETHER))
      await send(callTo(elsewhere, 'withdrawTo(address,uint256)', [attacker, HALF_ETHER]))
    },
  },
  {
    title: 'a token parked in Multicall3, and passed on from there',
    expected: 'counted',
    async attack({ at, send, attacker }) {
      await send(transfer(at.SilentToken, MULTICALL3, SOME))
      await send(throughMulticall3([transfer(at.SilentToken, attacker, SOME)]))
    },
  },
  {
    title: 'a token that Multicall3 may pull since long ago',
    expected: 'counted',
    countsOnKey: 400,
    given: ({ at, send, elder }) => send(approve(at.usdc, MULTICALL3, SOME), elder),
    attack: ({ at, send, wallet, attacker }) =>
      send(throughMulticall3([transferFrom(at.usdc, wallet, attacker, SOME)])),
  },
  {
    title: 'an order signed by a call (CoW’s setPreSignature)',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    given: exchangeMayPull,
    attack: (scene) =>
      scene.send(callTo(scene.at.OrderBook, 'setPreSignature(bytes,bool)', [orderOf(scene), true])),
    followUp: fill,
  },
  {
    title: 'an order signed by a call that logs nothing (0x’s preSign)',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    given: exchangeMayPull,
    attack: (scene) =>
      scene.send(callTo(scene.at.OrderBook, 'preSign(bytes32)', [keccak256(orderOf(scene))])),
    followUp: fill,
  },
  {
    title: 'a stranger who may sign orders (0x’s registerAllowedOrderSigner)',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    given: exchangeMayPull,
    attack: ({ at, send, attacker }) =>
      send(callTo(at.OrderBook, 'registerAllowedOrderSigner(address,bool)', [attacker, true])),
    followUp: fill,
  },
  {
    title: 'an order signed by the key that approved the exchange',
    expected: 'PRICE_UNAVAILABLE',
    attack: async (scene) => {
      const { at, send } = scene
      await send(approve(at.usdc, at.OrderBook, SOME))
      await send(callTo(at.OrderBook, 'preSign(bytes32)', [keccak256(orderOf(scene))]))
    },
    followUp: fill,
  },
]
