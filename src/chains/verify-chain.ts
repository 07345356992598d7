import type { ChainConfig } from '../config/chains.js'
import { uintAt } from '../contracts/abi-words.js'
import { delegateCodeProblem, routerCodeProblem } from '../contracts/deployed-code.js'
import { feedCurrency } from '../contracts/feed-currency.js'
import { ASSET, DECIMALS, DESCRIPTION, LATEST_ROUND_DATA, SYMBOL } from '../contracts/selectors.js'
import { NATIVE_DECIMALS } from '../domain/chains.js'
import type { Address, Hex } from '../domain/ids.js'
import type { RpcCall, RpcClient, RpcResult } from './rpc/types.js'
import { decodeSymbol } from './token-metadata.js'

/** Checks at start whether the chain agrees with the operator's configuration of it. */
export interface ChainProblem {
  readonly chainId: number
  /** The place in `chains.json`, for example `tokens[2].decimals`. */
  readonly path: string
  readonly problem: string
}

interface Check {
  readonly path: string
  readonly call: RpcCall
  /** @returns the problem with the answer, or null */
  judge(answer: RpcResult): string | null
}

/** `isSanctioned(address)` with the zero address. */
const IS_SANCTIONED_ZERO: Hex = `0xdf592f7d${'0'.repeat(64)}`
const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'

/**
 * Reads every address of the chain's configuration, in one batch: code, decimals, symbols, feeds,
 * vaults, and the chain id.
 * @returns all problems found; empty when the chain can be used
 * @throws FaultError CHAIN_UNAVAILABLE when no endpoint answers
 */
export async function verifyChain(rpc: RpcClient, chain: ChainConfig): Promise<ChainProblem[]> {
  // A separate first request tells an unreachable chain from a wrong configuration.
  const chainId = await rpc.request<unknown>('eth_chainId', [])
  if (Number(chainId) !== chain.id) {
    const problem = `the endpoint serves chain ${String(chainId).slice(0, 32)}`
    return [{ chainId: chain.id, path: 'rpc_urls', problem }]
  }
  const checks = checksOf(chain)
  const answers = await rpc.batch(checks.map(({ call }) => call))
  const problems: ChainProblem[] = []
  checks.forEach(({ path, judge }, i) => {
    const answer = answers[i]
    const problem = answer === undefined ? 'no answer' : judge(answer)
    if (problem !== null) problems.push({ chainId: chain.id, path, problem })
  })
  return problems
}

function checksOf(chain: ChainConfig): Check[] {
  const { swap } = chain
  return [
    hasCode('wrapped_native', chain.wrapped_native),
    decimalsAre('wrapped_native', chain.wrapped_native, NATIVE_DECIMALS),
    ...feedChecks('native_feed', chain.native_feed.address),
    ...optional(chain.sequencer_uptime_feed, (at) => [
      hasCode('sequencer_uptime_feed', at),
      // Zero is a valid answer of an uptime feed, so only its shape is checked.
      answersWords('sequencer_uptime_feed', at, LATEST_ROUND_DATA, 5),
    ]),
    ...optional(chain.router, (at) => [codeIs('router', at, routerCodeProblem)]),
    ...optional(chain.delegate, (at) => [
      // A delegate that obeys another router would give that router our users' tokens.
      codeIs('delegate', at, (code) =>
        delegateCodeProblem(code, (chain.router ?? ZERO_ADDRESS) as Address),
      ),
    ]),
    ...(swap === null
      ? []
      : [
          hasCode('swap.factory', swap.factory),
          hasCode('swap.router', swap.router),
          hasCode('swap.quoter', swap.quoter),
        ]),
    ...chain.tokens.flatMap((token, i) => [
      hasCode(`tokens[${i}].address`, token.address),
      decimalsAre(`tokens[${i}].decimals`, token.address, token.decimals),
      symbolIs(`tokens[${i}].symbol`, token.address, token.symbol),
      ...optional(token.feed, (feed) => feedChecks(`tokens[${i}].feed`, feed.address)),
    ]),
    ...chain.markets.flatMap((market, i) => [
      hasCode(`markets[${i}].vault`, market.vault),
      answersWords(`markets[${i}].vault`, market.vault, ASSET, 1),
    ]),
    ...optional(chain.sanctions_oracle ?? null, ({ address }) => [
      hasCode('sanctions_oracle.address', address),
      answersWords('sanctions_oracle.address', address, IS_SANCTIONED_ZERO, 1),
    ]),
  ]
}

function optional<T>(value: T | null, checks: (value: T) => Check[]): Check[] {
  return value === null ? [] : checks(value)
}

function feedChecks(path: string, at: string): Check[] {
  return [
    hasCode(path, at),
    {
      path,
      call: ethCall(at, LATEST_ROUND_DATA),
      judge(answer) {
        const price = uint(answer, 1)
        if (price === null) return 'latestRoundData does not answer'
        return price > 0n && price < 1n << 255n ? null : 'the answer is not positive'
      },
    },
    {
      path,
      call: ethCall(at, DESCRIPTION),
      judge(answer) {
        const description = answer.ok ? decodeSymbol(answer.value) : ''
        const currency = feedCurrency(description)
        const isFit = currency === null || currency === 'USD'
        return isFit ? null : `described as "${description}", not … / USD`
      },
    },
  ]
}

function hasCode(path: string, at: string): Check {
  return {
    path,
    call: { method: 'eth_getCode', params: [at, 'latest'] },
    judge: (answer) =>
      answer.ok && typeof answer.value === 'string' && answer.value.length > 2
        ? null
        : 'no contract at this address',
  }
}

function codeIs(path: string, at: string, problemOf: (code: Hex) => string | null): Check {
  return {
    path,
    call: { method: 'eth_getCode', params: [at, 'latest'] },
    judge: (answer) =>
      answer.ok && typeof answer.value === 'string'
        ? problemOf(answer.value as Hex)
        : 'the code could not be read',
  }
}

function decimalsAre(path: string, at: string, decimals: number): Check {
  return {
    path,
    call: ethCall(at, DECIMALS),
    judge(answer) {
      const got = uint(answer, 0)
      if (got === BigInt(decimals)) return null
      return got === null ? 'decimals does not answer' : `decimals are ${got}, not ${decimals}`
    },
  }
}

function symbolIs(path: string, at: string, symbol: string): Check {
  return {
    path,
    call: ethCall(at, SYMBOL),
    judge(answer) {
      const got = answer.ok ? decodeSymbol(answer.value) : ''
      return got === symbol ? null : `the symbol is "${got}", not "${symbol}"`
    },
  }
}

function answersWords(path: string, at: string, selector: Hex, words: number): Check {
  return {
    path,
    call: ethCall(at, selector),
    judge: (answer) => (uint(answer, words - 1) === null ? 'does not answer as it should' : null),
  }
}

function uint(answer: RpcResult, index: number): bigint | null {
  return answer.ok && typeof answer.value === 'string' ? uintAt(answer.value as Hex, index) : null
}

function ethCall(to: string, data: Hex): RpcCall {
  return { method: 'eth_call', params: [{ to: to as Address, data }, 'latest'] }
}
