import type { Address } from '../../src/domain/ids.js'
import { PERMIT2 } from '../../src/valuation/well-known.js'
import type { Spoils } from './attacker.js'
import { type Call, callTo, type Question, transferFrom } from './calls.js'
import type { Places } from './stage.js'

/** A right that somebody may have, and how it is used up. */
export interface Grasp extends Question {
  /** @returns null where the answer gives no right */
  readonly use: (answer: unknown) => { readonly from: Address; readonly call: Call } | null
}

const ALLOWANCE = 'allowance(address,address) view returns (uint256)'

/** Every right in the wallet's money that `party` may have. */
export function graspsOf(
  at: Places,
  spoils: Spoils,
  party: Address,
  into: Address,
): readonly Grasp[] {
  return [
    ...tokenGrasps(at, spoils, party, into),
    ...placeGrasps(at, spoils, party, into),
    ...accountGrasps(at, spoils, party, into),
    ...positionGrasps(at, spoils, party, into),
  ]
}

const some = (from: Address, amount: bigint, call: Call) => (amount > 0n ? { from, call } : null)
const when = (from: Address, right: unknown, call: Call) => (right === true ? { from, call } : null)

function atMost(most: bigint, allowed: unknown): bigint {
  const amount = BigInt(String(allowed))
  return amount < most ? amount : most
}

function tokenGrasps(at: Places, { balances }: Spoils, party: Address, into: Address): Grasp[] {
  return balances.flatMap(({ token, holder, amount: balance }) => {
    const grasps: Grasp[] = [
      {
        to: token,
        signature: ALLOWANCE,
        args: [holder, party],
        use(allowed) {
          const amount = atMost(balance, allowed)
          return some(party, amount, transferFrom(token, holder, into, amount))
        },
      },
      {
        to: PERMIT2,
        signature: 'allowance(address,address,address) view returns (uint160, uint48, uint48)',
        args: [holder, token, party],
        use(entry) {
          const amount = atMost(balance, (entry as readonly unknown[])[0])
          const args = [holder, into, amount, token]
          const call = callTo(PERMIT2, 'transferFrom(address,address,uint160,address)', args)
          return some(party, amount, call)
        },
      },
    ]
    if (token !== at.KitchenToken) return grasps
    grasps.push({
      to: token,
      signature: 'isOperatorFor(address,address) view returns (bool)',
      args: [party, holder],
      use: (may) => when(party, may, transferFrom(token, holder, into, balance)),
    })
    return grasps
  })
}

function placeGrasps(
  at: Places,
  { owner, receipts, deposit, claim }: Spoils,
  party: Address,
  into: Address,
): Grasp[] {
  const wallet = owner.address
  const grasps: Grasp[] = [
    {
      to: at.BookMarket,
      signature: 'depositOf(address,address) view returns (uint256)',
      args: [party, at.usdc],
      use(answer) {
        const args = [at.usdc, answer, party, into]
        const call = callTo(at.BookMarket, 'withdraw(address,uint256,address,address)', args)
        return some(party, BigInt(String(answer)), call)
      },
    },
  ]
  if (receipts > 0n) {
    grasps.push({
      to: at.receipts,
      signature: 'borrowAllowance(address,address) view returns (uint256)',
      args: [wallet, party],
      use(allowed) {
        const amount = atMost(receipts, allowed)
        const args = [at.usdc, amount, 2n, 0, wallet]
        const call = callTo(at.receipts, 'borrow(address,uint256,uint256,uint16,address)', args)
        return some(party, amount, call)
      },
    })
  }
  if (deposit > 0n) {
    const args = [wallet, into, at.usdc, deposit]
    const call = callTo(at.BookMarket, 'withdrawFrom(address,address,address,uint256)', args)
    grasps.push({
      to: at.BookMarket,
      signature: 'isAuthorized(address,address) view returns (bool)',
      args: [wallet, party],
      use: (may) => when(party, may, call),
    })
  }
  if (claim === 0n) return grasps
  const id = BigInt(at.usdc)
  const moved = (amount: bigint) =>
    callTo(at.Claims, 'transferFrom(address,address,uint256,uint256)', [wallet, into, id, amount])
  grasps.push(
    {
      to: at.Claims,
      signature: 'isOperator(address,address) view returns (bool)',
      args: [wallet, party],
      use: (may) => when(party, may, moved(claim)),
    },
    {
      to: at.Claims,
      signature: 'allowance(address,address,uint256) view returns (uint256)',
      args: [wallet, party, id],
      use: (allowed) => some(party, atMost(claim, allowed), moved(atMost(claim, allowed))),
    },
  )
  return grasps
}

function accountGrasps(
  at: Places,
  { owner, inAccount }: Spoils,
  party: Address,
  into: Address,
): Grasp[] {
  if (inAccount === 0n) return []
  const to = owner.account
  const emptied = callTo(to, 'withdraw(address,uint256,address)', [at.usdc, inAccount, into])
  return [
    {
      to,
      signature: 'owner() view returns (address)',
      args: [],
      use: (now) => when(party, now === party, emptied),
    },
    {
      to,
      signature: 'isModule(address) view returns (bool)',
      args: [party],
      use: (may) => when(party, may, emptied),
    },
  ]
}

function positionGrasps(
  { positions }: Places,
  { owner, positionId }: Spoils,
  party: Address,
  into: Address,
): Grasp[] {
  if (positionId === null) return []
  const call = transferFrom(positions, owner.address, into, positionId)
  return [
    {
      to: positions,
      signature: 'isApprovedForAll(address,address) view returns (bool)',
      args: [owner.address, party],
      use: (may) => when(party, may, call),
    },
    {
      to: positions,
      signature: 'getApproved(uint256) view returns (address)',
      args: [positionId],
      use: (approved) => when(party, approved === party, call),
    },
  ]
}
