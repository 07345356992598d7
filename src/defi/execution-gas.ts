import { decodeErrorResult } from 'viem'
import type { ChainAccess } from '../chains/access.js'
import { delegationCode } from '../contracts/delegation.js'
import agentDelegate from '../contracts/generated/agent-delegate.json' with { type: 'json' }
import agentRouter from '../contracts/generated/agent-router.json' with { type: 'json' }
import type { Address, Hex } from '../domain/ids.js'
import type { Authorization } from '../domain/sponsorship.js'
import { type Fault, fault, ok, type Result, refuse } from '../errors/fault.js'

/** The port that says how much gas an execution needs, by running it on a node. */
export interface ExecutionGas {
  /**
   * @returns the gas limit to sign; or why the call would revert: `SLIPPAGE_EXCEEDED`,
   *   `INSUFFICIENT_FUNDS`, `SIMULATION_REVERTED`
   * @throws FaultError CHAIN_UNAVAILABLE, and the node's own error otherwise
   */
  estimate(chain: ChainAccess, call: ExecutionCall): Promise<Result<bigint>>
}

export interface ExecutionCall {
  readonly relayer: Address
  readonly account: Address
  readonly router: Address
  readonly calldata: Hex
  readonly authorization: Authorization | null
}

/** EIP-7702, PER_EMPTY_ACCOUNT_COST: charged for each authorization before anything runs. */
const AUTHORIZATION_GAS = 25_000n
/** Exact estimates ran out of gas intermittently (a fresh oracle slot of a pool); × 1.3 did not. */
const ESTIMATE_NUMERATOR = 13n
const ESTIMATE_DENOMINATOR = 10n

/** A node's answer that the call fails; `data` is what it reverted with. */
export interface CallError extends Error {
  readonly data: unknown
}

/** @param isCallError tells a node's answer about the call from a node that does not answer */
export function createExecutionGas(
  isCallError: (error: unknown) => error is CallError,
): ExecutionGas {
  return {
    async estimate(chain, { relayer, account, router, calldata, authorization }) {
      const call = { from: relayer, to: router, data: calldata }
      // As if it had delegated already: nodes differ in whether an estimate takes authorizations.
      const overrides =
        authorization === null
          ? []
          : [{ [account]: { code: delegationCode(authorization.address) } }]
      try {
        const answer = await chain.rpc.request<unknown>('eth_estimateGas', [
          call,
          'latest',
          ...overrides,
        ])
        if (typeof answer !== 'string') throw new Error('eth_estimateGas answered no quantity')
        const needed = BigInt(answer) + (authorization === null ? 0n : AUTHORIZATION_GAS)
        return ok((needed * ESTIMATE_NUMERATOR) / ESTIMATE_DENOMINATOR)
      } catch (error) {
        if (!isCallError(error)) throw error
        return refuse(executionFault(error.data, error.message))
      }
    },
  }
}

/** OpenZeppelin's ERC20InsufficientBalance, and the words of older tokens. */
const ERC20_INSUFFICIENT_BALANCE = '0xe450d38c'
const NO_BALANCE = /exceeds balance|insufficient balance|transfer amount exceeds/i
/** Uniswap's SwapRouter02 and its peripheral contracts. */
const TOO_LITTLE = /too little received|insufficient WETH9|insufficient token/i

/** What a revert of `execute` means to whoever asked for it. */
export function executionFault(data: unknown, message: string): Fault {
  const decoded = errorNameOf(data)
  switch (decoded) {
    case 'SlippageExceeded':
      return fault('SLIPPAGE_EXCEEDED')
    case 'NativeTransferFailed':
      return insufficient()
    case 'NotRelayer':
      return fault(
        'CHAIN_UNAVAILABLE',
        {},
        'The service cannot send sponsored transactions on this chain at the moment.',
        'a gas wallet is no relayer of the Router',
      )
    case null:
      break
    default:
      return fault('SIMULATION_REVERTED', { reason: decoded })
  }
  const words = errorString(data) ?? message
  if (typeof data === 'string' && data.startsWith(ERC20_INSUFFICIENT_BALANCE)) return insufficient()
  if (TOO_LITTLE.test(words)) return fault('SLIPPAGE_EXCEEDED')
  if (NO_BALANCE.test(words)) return insufficient()
  return fault('SIMULATION_REVERTED', { reason: printableReason(words) })
}

function insufficient(): Fault {
  return fault(
    'INSUFFICIENT_FUNDS',
    {},
    'The sub-wallet does not hold the amount that this call takes.',
  )
}

/** The name of an error of Router or delegate; null for others. */
function errorNameOf(data: unknown): string | null {
  if (typeof data !== 'string' || data.length < 10) return null
  for (const abi of [agentRouter.abi, agentDelegate.abi]) {
    try {
      // viem knows Error and Panic with any ABI; those say nothing about us.
      const errorName: string = decodeErrorResult({ abi, data: data as Hex }).errorName
      if (errorName !== 'Error' && errorName !== 'Panic') return errorName
    } catch {
      // Of another contract.
    }
  }
  return null
}

const ERROR_ABI = [
  { type: 'error', name: 'Error', inputs: [{ name: 'message', type: 'string' }] },
] as const

function errorString(data: unknown): string | null {
  if (typeof data !== 'string' || !data.startsWith('0x08c379a0')) return null
  try {
    return decodeErrorResult({ abi: ERROR_ABI, data: data as Hex }).args[0]
  } catch {
    return null
  }
}

const REASON_CHARS_MAX = 200

/** A contract chooses its words. */
function printableReason(words: string): string {
  return words.replace(/[^\x20-\x7e]/g, '?').slice(0, REASON_CHARS_MAX)
}
