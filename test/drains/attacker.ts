import { setTimeout as delay } from 'node:timers/promises'
import { numberToHex } from 'viem'
import type { Address } from '../../src/domain/ids.js'
import { type Call, callTo, type Question } from './calls.js'
import { graspsOf } from './grasps.js'
import { askAll, type Stage } from './stage.js'
import type { Owner } from './wealth.js'

const TEN_ETHER = '0x8ac7230489e80000'
const GAS = '0x989680'
const TRIES_MAX = 40
const RETRY_MS = 25
const NONCE_TAKEN = /nonce too low|already (?:known|imported)|replacement transaction underpriced/i

/**
 * Sends as any account: the attacker owns every third party's, so the node signs for it.
 * @returns false when it reverted
 */
export async function actAs({ chain }: Stage, from: Address, call: Call): Promise<boolean> {
  const request = (method: string, params: readonly unknown[]) =>
    chain.client.request({ method, params } as never) as Promise<unknown>
  await request('anvil_impersonateAccount', [from])
  await request('anvil_setBalance', [from, TEN_ETHER])
  const tx = { from, to: call.to, data: call.data, value: numberToHex(call.value), gas: GAS }
  for (let tries = 1; ; tries++) {
    try {
      const receipt = await request('eth_sendTransactionSync', [tx])
      return (receipt as { status?: unknown }).status === '0x1'
    } catch (error) {
      // Of two that act for one account at once the node may give both the same nonce.
      const text = error instanceof Error ? error.message : String(error)
      if (tries === TRIES_MAX || !NONCE_TAKEN.test(text)) throw error
      await delay(RETRY_MS)
    }
  }
}

/** What the wallet and its account have that others could be let take. */
export interface Spoils {
  readonly owner: Owner
  /** By token, of the wallet and of the account; nothing where there is nothing. */
  readonly balances: readonly {
    readonly token: Address
    readonly holder: Address
    readonly amount: bigint
  }[]
  readonly receipts: bigint
  readonly deposit: bigint
  readonly claim: bigint
  readonly inAccount: bigint
  readonly positionId: bigint | null
}

const ROUNDS_MAX = 4
const BALANCE = 'balanceOf(address) view returns (uint256)'

/**
 * Takes all that any of `parties` may take from the wallet, by allowances, by Permit2, as operator,
 * delegate, module or owner, until a round brings nothing more.
 * @param into who gets it
 */
export async function loot(
  stage: Stage,
  owner: Owner,
  parties: readonly Address[],
  into: Address,
): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const spoils = await spoilsOf(stage, owner)
    const grasps = parties.flatMap((party) => graspsOf(stage.at, spoils, party, into))
    const answers = await askAll(stage, grasps)
    let taken = 0
    for (const [i, { use }] of grasps.entries()) {
      const used = answers[i] === null ? null : use(answers[i])
      if (used !== null && (await actAs(stage, used.from, used.call))) taken++
    }
    if (taken === 0) return
  }
}

async function spoilsOf(stage: Stage, owner: Owner): Promise<Spoils> {
  const { at, priced } = stage
  const { address, account } = owner
  const tokens = [...priced.map((it) => it.address), at.market, at.vault, at.receipts]
  const held = tokens.flatMap((token) => [address, account].map((holder) => ({ token, holder })))
  const questions: Question[] = [
    { to: at.receipts, signature: BALANCE, args: [address] },
    {
      to: at.BookMarket,
      signature: 'depositOf(address,address) view returns (uint256)',
      args: [address, at.usdc],
    },
    {
      to: at.Claims,
      signature: 'balanceOf(address,uint256) view returns (uint256)',
      args: [address, BigInt(at.usdc)],
    },
    { to: at.usdc, signature: BALANCE, args: [account] },
    {
      to: at.positions,
      signature: 'tokenOfOwnerByIndex(address,uint256) view returns (uint256)',
      args: [address, 0n],
    },
    ...held.map(({ token, holder }) => ({ to: token, signature: BALANCE, args: [holder] })),
  ]
  const [receipts, deposit, claim, inAccount, positionId, ...amounts] = await askAll(
    stage,
    questions,
  )
  const number = (answer: unknown) => BigInt(String(answer ?? 0))
  return {
    owner,
    balances: held
      .map((it, i) => ({ ...it, amount: number(amounts[i]) }))
      .filter(({ amount }) => amount > 0n),
    receipts: number(receipts),
    deposit: number(deposit),
    claim: number(claim),
    inAccount: number(inAccount),
    positionId: typeof positionId === 'bigint' ? positionId : null,
  }
}

/** An order that was signed by a call, filled by whoever likes to. */
export function fillOrder(stage: Stage, by: Address, owner: Address, order: string) {
  return actAs(stage, by, callTo(stage.at.OrderBook, 'fill(address,bytes)', [owner, order]))
}
