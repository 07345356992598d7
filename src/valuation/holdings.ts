import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import type { ChainAccess } from '../chains/access.js'
import { RpcCallError, RpcShapeError } from '../chains/rpc/errors.js'
import type { RpcResult } from '../chains/rpc/types.js'
import type { StateAfter } from '../chains/simulate/simulation.js'
import { addressWord, uintAt } from '../contracts/abi-words.js'
import { multicall3Abi } from '../contracts/abis/multicall3.js'
import { ALLOWANCE, BALANCE_OF, PERMIT2_ALLOWANCE } from '../contracts/selectors.js'
import type { Address, Hex } from '../domain/ids.js'
import { powerOfTen } from '../domain/money.js'
import { FaultError, fault } from '../errors/fault.js'
import { MULTICALL3, PERMIT2 } from './well-known.js'

/**
 * A wallet's balances of some tokens, and what some spenders could take of them. In smallest units.
 */
export interface Holdings {
  /** Keys are lower-case token addresses, here and below. */
  readonly balances: ReadonlyMap<string, bigint>
  /** Total supplies; absent for a token that does not report one. */
  readonly supplies: ReadonlyMap<string, bigint>
  /** The amounts of each token that the given spenders could take; not bounded by the balance. */
  readonly standing: ReadonlyMap<string, readonly StandingAllowance[]>
  /** The value of vault shares: smallest units of the asset per whole share. */
  readonly assetsPerShare: ReadonlyMap<string, bigint>
}

interface StandingAllowance {
  readonly spender: Address
  /** `permit2`: through Permit2, and no more than Permit2 itself may take. */
  readonly kind: 'erc20' | 'permit2'
  readonly amount: bigint
}

export interface HeldToken {
  readonly address: Address
  readonly decimals: number
  /** Whether the token is the shares of a vault. */
  readonly isVault: boolean
}

const TOTAL_SUPPLY = '0x18160ddd'
/** ERC-4626 `convertToAssets(shares)`. */
const CONVERT_TO_ASSETS = '0x07a2d13a'

/** Subcalls of one eth_call: at about 10,000 gas each, a tenth of what nodes permit a call. */
const SUBCALLS_PER_CALL_MAX = 400
/** A call that involves more addresses is refused, because reading them would take seconds. */
const SUBCALLS_MAX = 4_000

interface Read {
  readonly target: Address
  readonly data: Hex
  /** True when a failing call is an answer. */
  readonly optional?: true
}

/**
 * Reads balances and allowances, in one RPC call for all but the largest sets.
 * @param tokens of the chain's configuration: their answers are trusted
 * @param after the wallet's own calls that come first, or null
 * @throws FaultError PRICE_UNAVAILABLE when there are too many to read, and what
 * `RpcClient.request` throws; RpcShapeError when a configured token does not answer
 */
export async function readHoldings(
  chain: ChainAccess,
  wallet: Address,
  tokens: readonly HeldToken[],
  spenders: readonly Address[],
  after: StateAfter | null = null,
): Promise<Holdings> {
  const count = tokens.length * (spenders.length === 0 ? 3 : 4 + 2 * spenders.length)
  if (count > SUBCALLS_MAX) {
    throw new FaultError(
      fault('PRICE_UNAVAILABLE', {
        chain_id: chain.config.id,
        reason: 'the call touches more contracts than can be checked for allowances',
      }),
    )
  }
  const reads: Read[] = []
  const owner = addressWord(wallet)
  for (const { address: token, decimals, isVault } of tokens) {
    reads.push({ target: token, data: `${BALANCE_OF}${owner}` })
    reads.push({ target: token, data: TOTAL_SUPPLY, optional: true })
    if (isVault) {
      const share = powerOfTen(decimals).toString(16).padStart(64, '0')
      reads.push({ target: token, data: `${CONVERT_TO_ASSETS}${share}` })
    }
    if (spenders.length === 0) continue
    for (const spender of [PERMIT2, ...spenders]) {
      reads.push({ target: token, data: `${ALLOWANCE}${owner}${addressWord(spender)}` })
    }
    for (const spender of spenders) {
      const data: Hex = `${PERMIT2_ALLOWANCE}${owner}${addressWord(token)}${addressWord(spender)}`
      reads.push({ target: PERMIT2, data })
    }
  }
  return assemble(tokens, spenders, await readAll(chain, reads, after))
}

function assemble(
  tokens: readonly HeldToken[],
  spenders: readonly Address[],
  answers: readonly (bigint | null)[],
): Holdings {
  const balances = new Map<string, bigint>()
  const supplies = new Map<string, bigint>()
  const standing = new Map<string, readonly StandingAllowance[]>()
  const assetsPerShare = new Map<string, bigint>()
  let at = 0
  const next = () => answers[at++] ?? null
  const fromToken = () => {
    const value = next()
    if (value === null) throw new RpcShapeError('a configured token does not answer')
    return value
  }
  for (const { address, isVault } of tokens) {
    const key = address.toLowerCase()
    balances.set(key, fromToken())
    const supply = next()
    if (supply !== null) supplies.set(key, supply)
    // Redeeming rounds down, but spend is rounded up.
    if (isVault) assetsPerShare.set(key, fromToken() + 1n)
    if (spenders.length === 0) continue
    const toPermit2 = fromToken()
    const found: StandingAllowance[] = []
    for (const spender of spenders) {
      const amount = fromToken()
      if (amount > 0n) found.push({ spender, kind: 'erc20', amount })
    }
    for (const spender of spenders) {
      // An empty answer: Permit2 is not deployed on this chain, so no spender can use it.
      const inside = next() ?? 0n
      const amount = inside < toPermit2 ? inside : toPermit2
      if (amount > 0n) found.push({ spender, kind: 'permit2', amount })
    }
    if (found.length > 0) standing.set(key, found)
  }
  return { balances, supplies, standing, assetsPerShare }
}

async function readAll(
  chain: ChainAccess,
  reads: readonly Read[],
  after: StateAfter | null,
): Promise<readonly (bigint | null)[]> {
  if (reads.length === 0) return []
  const { kind } = await chain.reads.code(MULTICALL3)
  if (kind !== 'contract') {
    const answers = await askAll(
      chain,
      reads.map(({ target, data }) => ({ to: target, data })),
      after,
    )
    return answers.map((answer, i) => {
      if (answer.ok) return firstWord(answer.value)
      if (reads[i]?.optional === true && answer.error instanceof RpcCallError) return null
      throw answer.error
    })
  }
  const chunks: (readonly Read[])[] = []
  for (let i = 0; i < reads.length; i += SUBCALLS_PER_CALL_MAX) {
    chunks.push(reads.slice(i, i + SUBCALLS_PER_CALL_MAX))
  }
  const answers = await askAll(
    chain,
    chunks.map((chunk) => ({ to: MULTICALL3, data: encodeAggregate(chunk) })),
    after,
  )
  return answers.flatMap((answer, i) => {
    if (!answer.ok) throw answer.error
    return decodeAggregate(answer.value, chunks[i] ?? [])
  })
}

function encodeAggregate(reads: readonly Read[]): Hex {
  const calls = reads.map(({ target, data }) => ({ target, allowFailure: true, callData: data }))
  return encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] })
}

function decodeAggregate(value: unknown, reads: readonly Read[]): (bigint | null)[] {
  if (typeof value !== 'string') throw new RpcShapeError('aggregate3')
  const results = decodeFunctionResult({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    data: value as Hex,
  })
  if (results.length !== reads.length) throw new RpcShapeError('aggregate3')
  return results.map(({ success, returnData }, i) => {
    if (!success && reads[i]?.optional === true) return null
    // An allowance that could not be read must not count as zero.
    if (!success) throw new RpcShapeError('a balance or an allowance could not be read')
    return firstWord(returnData)
  })
}

function firstWord(value: unknown): bigint | null {
  return typeof value === 'string' ? uintAt(value as Hex, 0) : null
}

/** Reads at the newest block, or after the wallet's own calls that are not mined. */
async function askAll(
  { rpc, simulator, config }: ChainAccess,
  reads: readonly { readonly to: Address; readonly data: Hex }[],
  after: StateAfter | null,
): Promise<readonly RpcResult[]> {
  if (after === null) {
    return rpc.batch(reads.map((read) => ({ method: 'eth_call', params: [read, 'latest'] })))
  }
  const answers = await simulator.readAfter(after, reads)
  if (answers === null) throw new FaultError(fault('CHAIN_UNAVAILABLE', { chain_id: config.id }))
  return answers.map((value) =>
    value === null
      ? { ok: false, error: new RpcCallError(-32_000, 'the read fails') }
      : { ok: true, value },
  )
}
