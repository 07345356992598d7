import type { Address } from '../../src/domain/ids.js'
import { valueUsdMicros } from '../../src/domain/money.js'
import { callTo, functionOf, type Question } from './calls.js'
import { askAll, SHARES_PRICED, type Stage } from './stage.js'

/** Who is looked after: a wallet, and the contract account that it owns. */
export interface Owner {
  readonly address: Address
  readonly account: Address
}

interface Asset extends Question {
  /** Micro-USD of what the contract answers. */
  readonly worth: (answer: bigint) => bigint
}

const NATIVE_USD = 3_000n

/**
 * All that a wallet can call its own, micro-USD at the prices of the feeds: native currency and
 * tokens, its own and in its account; deposits and receipts less debts; claims; shares; positions
 * with their fees. Asks the chain alone.
 */
export async function wealthOf(stage: Stage, owner: Owner): Promise<bigint> {
  const { client } = stage.chain
  const { address, account } = owner
  const accountOwner = await stage.ask<Address>(account, 'owner() view returns (address)')
  const holders = accountOwner === address ? [address, account] : [address]
  const listed = assetsOf(stage, owner, holders)
  const [native, answers, positions] = await Promise.all([
    Promise.all(holders.map((holder) => client.getBalance({ address: holder }))),
    askAll(stage, listed),
    Promise.all(holders.map((holder) => positionsWorth(stage, holder))),
  ])
  let sum = positions.reduce((all, worth) => all + worth, 0n)
  for (const balance of native) sum += valueUsdMicros(balance, 18, NATIVE_USD, 0)
  listed.forEach(({ worth }, i) => {
    const answer = answers[i]
    if (typeof answer !== 'bigint') throw new Error('a place does not say what it holds')
    sum += worth(answer)
  })
  return sum
}

function assetsOf(stage: Stage, { address }: Owner, holders: readonly Address[]): Asset[] {
  const { at, priced, sharePrices } = stage
  const balance = 'balanceOf(address) view returns (uint256)'
  const dollars = (amount: bigint) => amount
  const assets: Asset[] = priced.flatMap((token) =>
    holders.map((holder) => ({
      to: token.address,
      signature: balance,
      args: [holder],
      worth: (amount: bigint) => valueUsdMicros(amount, token.decimals, token.dollars, 0),
    })),
  )
  for (const [vault, assetsOfShares] of sharePrices) {
    const worth = (shares: bigint) => (shares * assetsOfShares) / SHARES_PRICED
    for (const holder of holders) {
      assets.push({ to: vault, signature: balance, args: [holder], worth })
    }
  }
  const deposit = 'depositOf(address,address) view returns (uint256)'
  const claim = 'balanceOf(address,uint256) view returns (uint256)'
  const debt = 'debtOf(address) view returns (uint256)'
  return [
    ...assets,
    ...holders.map((holder) => ({
      ...{ to: at.receipts, signature: balance, args: [holder], worth: dollars },
    })),
    { to: at.receipts, signature: debt, args: [address], worth: (owed) => -owed },
    ...holders.map((holder) => ({
      to: at.BookMarket,
      signature: deposit,
      args: [holder, at.usdc],
      worth: dollars,
    })),
    { to: at.Claims, signature: claim, args: [address, BigInt(at.usdc)], worth: dollars },
  ]
}

/** What closing every Uniswap position would bring, fees included: the node runs it, nobody sends it. */
async function positionsWorth(stage: Stage, owner: Address): Promise<bigint> {
  const { at, ask } = stage
  const count = await ask<bigint>(at.positions, 'balanceOf(address) view returns (uint256)', [
    owner,
  ])
  let sum = 0n
  for (let index = 0n; index < count; index++) {
    const id = await ask<bigint>(
      at.positions,
      'tokenOfOwnerByIndex(address,uint256) view returns (uint256)',
      [owner, index],
    )
    sum += await positionWorth(stage, owner, id)
  }
  return sum
}

const POSITION =
  'positions(uint256) view returns (uint96, address, address, address, uint24, int24, int24, uint128, uint256, uint256, uint128, uint128)'
const DECREASE = 'decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))'
const COLLECT = 'collect((uint256,address,uint128,uint128))'
const UINT128_MAX = 2n ** 128n - 1n

async function positionWorth(stage: Stage, owner: Address, id: bigint): Promise<bigint> {
  const { at, ask, chain, priced } = stage
  const position = await ask<readonly unknown[]>(at.positions, POSITION, [id])
  const liquidity = BigInt(String(position[7]))
  const closing = [callTo(at.positions, COLLECT, [[id, owner, UINT128_MAX, UINT128_MAX]]).data]
  if (liquidity > 0n) {
    const terms = [id, liquidity, 0n, 0n, 2n ** 64n]
    closing.unshift(callTo(at.positions, DECREASE, [terms]).data)
  }
  const item = functionOf('multicall(bytes[]) returns (bytes[])')
  const { result } = await chain.client.simulateContract({
    address: at.positions,
    abi: [item],
    functionName: item.name,
    args: [closing],
    account: owner,
  })
  const collected = String((result as readonly string[]).at(-1))
  return [position[2], position[3]].reduce<bigint>((sum, token, i) => {
    const price = priced.find(({ address }) => address === token)
    if (price === undefined) return sum
    const amount = BigInt(`0x${collected.slice(2 + i * 64, 2 + (i + 1) * 64)}`)
    return sum + valueUsdMicros(amount, price.decimals, price.dollars, 0)
  }, 0n)
}
