import { decodeFunctionResult, encodeFunctionData } from 'viem'
import type { ChainAccess } from '../chains/access.js'
import { addressWord, uintAt } from '../chains/hex.js'
import { RpcShapeError } from '../chains/rpc/errors.js'
import { multicall3Abi } from '../contracts/abis/multicall3.js'
import type { Address, Hex } from '../domain/ids.js'
import { FaultError, fault } from '../errors/fault.js'
import { MULTICALL3, PERMIT2 } from './well-known.js'

/** What a wallet has of some tokens, and what some spenders could pull of it. Smallest units. */
export interface Holdings {
  /** Keys are lower-case token addresses. */
  readonly balances: ReadonlyMap<string, bigint>
  /**
   * By token, the most that all asked spenders could pull together, by their own allowances and
   * through Permit2; not bounded by the balance. Keys are lower-case token addresses.
   */
  readonly allowances: ReadonlyMap<string, bigint>
}

const BALANCE_OF = '0x70a08231'
const ALLOWANCE = '0xdd62ed3e'
/** Permit2 `allowance(owner, token, spender)` → (amount, expiration, nonce). */
const PERMIT2_ALLOWANCE = '0x927da105'

/** Sub-calls of one eth_call: at some 10,000 gas each, a tenth of what nodes allow a call. */
const SUBCALLS_PER_CALL_MAX = 400
/** A call that touches more than this many parties is refused rather than read for seconds. */
const SUBCALLS_MAX = 4_000

interface Read {
  readonly target: Address
  readonly data: Hex
}

/**
 * Reads balances and allowances in one RPC call for all but the largest sets.
 * @param tokens of the chain's configuration: their answers are trusted
 * @throws FaultError PRICE_UNAVAILABLE when there are too many to read, and what
 *   `RpcClient.request` throws; RpcShapeError when a configured token does not answer
 */
export async function readHoldings(
  chain: ChainAccess,
  wallet: Address,
  tokens: readonly Address[],
  spenders: readonly Address[],
): Promise<Holdings> {
  const count = tokens.length * (spenders.length === 0 ? 1 : 2 + 2 * spenders.length)
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
  for (const token of tokens) {
    reads.push({ target: token, data: `${BALANCE_OF}${owner}` })
    if (spenders.length === 0) continue
    for (const spender of [PERMIT2, ...spenders]) {
      reads.push({ target: token, data: `${ALLOWANCE}${owner}${addressWord(spender)}` })
    }
    for (const spender of spenders) {
      const data: Hex = `${PERMIT2_ALLOWANCE}${owner}${addressWord(token)}${addressWord(spender)}`
      reads.push({ target: PERMIT2, data })
    }
  }
  return assemble(tokens, spenders, await readAll(chain, reads))
}

function assemble(
  tokens: readonly Address[],
  spenders: readonly Address[],
  answers: readonly (bigint | null)[],
): Holdings {
  const balances = new Map<string, bigint>()
  const allowances = new Map<string, bigint>()
  let at = 0
  const next = () => answers[at++] ?? null
  const fromToken = () => {
    const value = next()
    if (value === null) throw new RpcShapeError('a configured token does not answer')
    return value
  }
  for (const token of tokens) {
    const key = token.toLowerCase()
    balances.set(key, fromToken())
    if (spenders.length === 0) continue
    const toPermit2 = fromToken()
    let direct = 0n
    for (let i = 0; i < spenders.length; i++) direct += fromToken()
    let throughPermit2 = 0n
    // An empty answer: Permit2 is not on this chain, so nobody can use it.
    for (let i = 0; i < spenders.length; i++) throughPermit2 += next() ?? 0n
    allowances.set(key, direct + (throughPermit2 < toPermit2 ? throughPermit2 : toPermit2))
  }
  return { balances, allowances }
}

async function readAll(
  chain: ChainAccess,
  reads: readonly Read[],
): Promise<readonly (bigint | null)[]> {
  if (reads.length === 0) return []
  const { kind } = await chain.reads.code(MULTICALL3)
  if (kind !== 'contract') {
    const answers = await chain.rpc.batch(reads.map(({ target, data }) => ethCall(target, data)))
    return answers.map((answer) => {
      if (!answer.ok) throw answer.error
      return firstWord(answer.value)
    })
  }
  const chunks: (readonly Read[])[] = []
  for (let i = 0; i < reads.length; i += SUBCALLS_PER_CALL_MAX) {
    chunks.push(reads.slice(i, i + SUBCALLS_PER_CALL_MAX))
  }
  const answers = await chain.rpc.batch(
    chunks.map((chunk) => ethCall(MULTICALL3, encodeAggregate(chunk))),
  )
  return answers.flatMap((answer, i) => {
    if (!answer.ok) throw answer.error
    return decodeAggregate(answer.value, chunks[i]?.length ?? 0)
  })
}

function encodeAggregate(reads: readonly Read[]): Hex {
  const calls = reads.map(({ target, data }) => ({ target, allowFailure: true, callData: data }))
  return encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] })
}

function decodeAggregate(value: unknown, expected: number): (bigint | null)[] {
  if (typeof value !== 'string') throw new RpcShapeError('aggregate3')
  const results = decodeFunctionResult({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    data: value as Hex,
  })
  if (results.length !== expected) throw new RpcShapeError('aggregate3')
  return results.map(({ success, returnData }) => {
    // An allowance that could not be read is not an allowance of nothing.
    if (!success) throw new RpcShapeError('a balance or an allowance could not be read')
    return firstWord(returnData)
  })
}

function firstWord(value: unknown): bigint | null {
  return typeof value === 'string' ? uintAt(value as Hex, 0) : null
}

function ethCall(to: Address, data: Hex) {
  return { method: 'eth_call', params: [{ to, data }, 'latest'] }
}
