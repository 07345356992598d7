import { PERMIT2 } from '../../src/valuation/well-known.js'
import { give } from '../defi/sponsored-wallet.js'
import { actAs } from './attacker.js'
import {
  approve,
  authorizedTransfer,
  callTo,
  daiPermit,
  ETHER,
  multicall,
  permit,
  permit2Approve,
  permit2Permit,
  permit2Transfer,
  throughMulticall3,
  transferFrom,
  UNLIMITED,
  USD,
} from './calls.js'
import type { DrainCase, Scene } from './scene.js'

const SOME = 400n * USD
const PERMIT2_UNLIMITED = 2n ** 160n - 1n

const permit2MayPull = ({ at, send, elder }: Scene) => send(approve(at.usdc, PERMIT2, SOME), elder)

/** Calls that move nothing themselves, and let somebody else move it, also what comes in later. */
export const APPROVALS: readonly DrainCase[] = [
  {
    title: 'an exact approval, pulled on later days',
    expected: 'counted',
    attack: ({ at, send }) => send(approve(at.usdc, at.Thief, SOME)),
  },
  {
    title: 'an approval of ten times what there is, before money comes in',
    expected: 'counted',
    attack: ({ at, send }) => send(approve(at.usdc, at.Thief, 5_000n * USD)),
  },
  {
    title: 'an approval of a token of which there is nothing yet',
    expected: 'counted',
    attack: ({ at, send }) => send(approve(at.second, at.Thief, 100n * ETHER)),
    later: ({ stage, wallet }) => give(stage.stack, 8453, wallet, '150', 'CSDT'),
  },
  {
    title: 'an approval without limit',
    expected: 'LIMIT_EXCEEDED',
    harmless: true,
    attack: ({ at, send }) => send(approve(at.usdc, at.Thief, UNLIMITED)),
  },
  {
    title: 'an approval without limit of a token of which there is nothing yet',
    expected: 'LIMIT_EXCEEDED',
    harmless: true,
    attack: ({ at, send }) => send(approve(at.second, at.Thief, UNLIMITED)),
  },
  {
    title: 'an approval that is used up and given again',
    expected: 'counted',
    async attack({ stage, at, send, wallet, attacker }) {
      for (let i = 0; i < 3; i++) {
        await send(approve(at.usdc, attacker, 100n * USD))
        await actAs(stage, attacker, transferFrom(at.usdc, wallet, attacker, 100n * USD))
      }
    },
  },
  {
    title: 'an allowance that is raised step by step',
    expected: 'counted',
    async attack({ at, send }) {
      for (let i = 0; i < 3; i++) {
        await send(
          callTo(at.KitchenToken, 'increaseAllowance(address,uint256)', [at.Thief, 50n * ETHER]),
        )
      }
    },
  },
  {
    title: 'approvals of the same token to three spenders',
    expected: 'counted',
    async attack({ at, send, attacker }) {
      for (const spender of [at.Thief, at.friend, attacker]) {
        await send(approve(at.usdc, spender, SOME))
      }
    },
  },
  {
    title: 'an approval of a token whose functions return nothing',
    expected: 'counted',
    attack: ({ at, send }) => send(approve(at.SilentToken, at.Thief, SOME)),
  },
  {
    title: 'an approval of wrapped native currency',
    expected: 'counted',
    attack: ({ at, send }) => send(approve(at.wrapped, at.Thief, ETHER)),
  },
  {
    title: 'an approval of a rebasing token, whose balance grows',
    expected: 'counted',
    attack: ({ at, send }) => send(approve(at.RebasingToken, at.Thief, 900n * USD)),
  },
  {
    title: 'an approval within the token’s own multicall',
    expected: 'counted',
    attack: ({ at, send }) =>
      send(
        multicall(at.KitchenToken, [
          approve(at.KitchenToken, at.friend, 10n * ETHER),
          approve(at.KitchenToken, at.Thief, 90n * ETHER),
        ]),
      ),
  },
  {
    title: 'approveAndCall to a spender that pulls at once',
    expected: 'counted',
    attack: ({ at, send }) =>
      send(
        callTo(at.KitchenToken, 'approveAndCall(address,uint256,bytes)', [
          ...[at.Thief, 90n * ETHER, '0x'],
        ]),
      ),
  },
  {
    title: 'an ERC-777 operator, whom no event names',
    expected: 'LIMIT_EXCEEDED',
    harmless: true,
    attack: ({ at, send }) =>
      send(callTo(at.KitchenToken, 'authorizeOperator(address)', [at.Thief])),
  },
  {
    title: 'an EIP-2612 permit that the wallet hands in itself',
    expected: 'counted',
    attack: ({ at, send, wallet }) => send(permit(at.SignedToken, wallet, at.Thief, 3_000n * USD)),
  },
  {
    title: 'an EIP-2612 permit by way of Multicall3',
    expected: 'counted',
    attack: ({ at, send, wallet }) =>
      send(throughMulticall3([permit(at.SignedToken, wallet, at.Thief, 3_000n * USD)])),
  },
  {
    title: 'DAI’s permit, which allows everything',
    expected: 'LIMIT_EXCEEDED',
    harmless: true,
    attack: ({ at, send, wallet }) => send(daiPermit(at.SignedToken, wallet, at.Thief)),
  },
  {
    title: 'an EIP-3009 transfer that the wallet hands in itself',
    expected: 'counted',
    attack: ({ at, send, wallet, attacker }) =>
      send(authorizedTransfer(at.SignedToken, wallet, attacker, SOME)),
  },
  {
    title: 'an EIP-3009 transfer by way of Multicall3',
    expected: 'counted',
    attack: ({ at, send, wallet, attacker }) =>
      send(throughMulticall3([authorizedTransfer(at.SignedToken, wallet, attacker, SOME)])),
  },
  {
    title: 'an approval by Permit2',
    expected: 'counted',
    given: permit2MayPull,
    attack: ({ at, send }) => send(permit2Approve(at.usdc, at.Thief, SOME)),
  },
  {
    title: 'an approval by Permit2 without limit',
    expected: 'LIMIT_EXCEEDED',
    harmless: true,
    given: permit2MayPull,
    attack: ({ at, send }) => send(permit2Approve(at.usdc, at.Thief, PERMIT2_UNLIMITED)),
  },
  {
    title: 'an approval by Permit2 before the one of Permit2 itself',
    expected: 'counted',
    async attack({ at, send }) {
      await send(permit2Approve(at.usdc, at.Thief, SOME))
      await send(approve(at.usdc, PERMIT2, SOME))
    },
  },
  {
    title: 'a Permit2 permit that the wallet hands in itself',
    expected: 'counted',
    given: permit2MayPull,
    attack: ({ at, send, wallet }) => send(permit2Permit(at.usdc, wallet, at.Thief, SOME)),
  },
  {
    title: 'a Permit2 transfer by signature',
    expected: 'counted',
    given: permit2MayPull,
    attack: ({ at, send, wallet, attacker }) =>
      send(permit2Transfer(at.usdc, wallet, attacker, SOME)),
  },
  {
    title: 'a Permit2 transfer by signature, by way of Multicall3',
    expected: 'counted',
    given: permit2MayPull,
    attack: ({ at, send, wallet, attacker }) =>
      send(throughMulticall3([permit2Transfer(at.usdc, wallet, attacker, SOME)])),
  },
  {
    title: 'an approval of shares in a vault that nobody configured',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send }) => send(approve(at.vault, at.Thief, UNLIMITED)),
  },
  {
    title: 'an approval of all shares in a configured vault',
    expected: 'LIMIT_EXCEEDED',
    harmless: true,
    attack: ({ at, send }) => send(approve(at.market, at.Thief, UNLIMITED)),
  },
  {
    title: 'an approval of a market’s receipts',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send }) => send(approve(at.receipts, at.Thief, SOME)),
  },
  {
    title: 'an ERC-6909 operator',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send }) =>
      send(callTo(at.Claims, 'setOperator(address,bool)', [at.Thief, true])),
  },
  {
    title: 'an ERC-6909 approval',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send }) =>
      send(
        callTo(at.Claims, 'approve(address,uint256,uint256)', [at.Thief, BigInt(at.usdc), SOME]),
      ),
  },
  {
    title: 'an ERC-1155 operator',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send }) =>
      send(callTo(at.Bundle, 'setApprovalForAll(address,bool)', [at.Thief, true])),
  },
  {
    title: 'an ERC-721 operator',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: ({ at, send }) =>
      send(callTo(at.Collectible, 'setApprovalForAll(address,bool)', [at.Thief, true])),
  },
]
