import type { ChainAccess } from '../chains/access.js'
import { delegationCode } from '../contracts/delegation.js'
import { decodeKnownError } from '../contracts/known-errors.js'
import { decodeRevertReason } from '../contracts/revert-reason.js'
import type { Address, Hex } from '../domain/ids.js'
import { printable } from '../domain/printable.js'
import type { Authorization } from '../domain/sponsorship.js'
import { type Fault, fault, ok, type Result, refuse } from '../errors/fault.js'

/** The port that estimates the gas of an execution by running it on a node. */
export interface ExecutionGas {
  /**
   * @returns the gas limit to sign, or why the call would revert: `SLIPPAGE_EXCEEDED`,
   * `INSUFFICIENT_FUNDS`, `SIMULATION_REVERTED`
   * @throws FaultError CHAIN_UNAVAILABLE, and the node's own error otherwise
   */
  estimate(chain: ChainAccess, call: ExecutionCall): Promise<Result<bigint>>
}

interface ExecutionCall {
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

/** A node's answer that the call fails; `data` is its revert data. */
export interface CallError extends Error {
  readonly data: unknown
}

/** @param isCallError tells a node's answer about the call from a failure to answer */
export function createExecutionGas(
  isCallError: (error: unknown) => error is CallError,
): ExecutionGas {
  return {
    async estimate(chain, { relayer, account, router, calldata, authorization }) {
      const call = { from: relayer, to: router, data: calldata }
      // Simulates the account as delegated: nodes differ in whether an estimate accepts
      // authorizations.
      const overrides =
        authorization === null || BigInt(authorization.address) === 0n
          ? []
          : [{ [account]: { code: delegationCode(authorization.address) } }]
      try {
        const answer = await chain.rpc.request<unknown>('eth_estimateGas', [
          call,
          'latest',
          ...overrides,
        ])
        if (typeof answer !== 'string')
          throw new Error('the answer of eth_estimateGas is not a quantity')
        const needed = BigInt(answer) + (authorization === null ? 0n : AUTHORIZATION_GAS)
        return ok((needed * ESTIMATE_NUMERATOR) / ESTIMATE_DENOMINATOR)
      } catch (error) {
        if (!isCallError(error)) throw error
        return refuse(executionFault(error.data, error.message))
      }
    },
  }
}

/** The texts of tokens without custom errors. */
const NO_BALANCE = /exceeds balance|insufficient balance|transfer amount exceeds/i
/** Uniswap's SwapRouter02 and its peripheral contracts. */
const TOO_LITTLE = /too little received|insufficient WETH9|insufficient token/i
/** `Error(string)`: the contract chooses the text. */
const ERROR_SELECTOR = '0x08c379a0'
const REASON_CHARS_MAX = 200

/** Translates a revert of `execute` for the caller. */
function executionFault(data: unknown, message: string): Fault {
  const known = decodeKnownError(data)
  switch (known?.name) {
    case 'SlippageExceeded':
    case 'V3TooLittleReceived':
      return fault('SLIPPAGE_EXCEEDED')
    case 'ERC20InsufficientBalance':
      return insufficient(known.values)
    case 'NativeTransferFailed':
      return insufficient(NOTHING_KNOWN)
    case 'NotRelayer':
      return fault(
        'CHAIN_UNAVAILABLE',
        {},
        'The service cannot send sponsored transactions on this chain at the moment.',
        'a gas wallet is not a relayer of the Router',
      )
    case undefined:
      break
    default:
      return fault('SIMULATION_REVERTED', { reason: decodeRevertReason(data) })
  }
  const isWords = typeof data === 'string' && data.startsWith(ERROR_SELECTOR)
  const words = isWords ? decodeRevertReason(data) : message
  if (TOO_LITTLE.test(words)) return fault('SLIPPAGE_EXCEEDED')
  if (NO_BALANCE.test(words)) return insufficient(NOTHING_KNOWN)
  return fault('SIMULATION_REVERTED', { reason: printable(words).slice(0, REASON_CHARS_MAX) })
}

const NOTHING_KNOWN: ReadonlyMap<string, string> = new Map()

function insufficient(values: ReadonlyMap<string, string>): Fault {
  const have = values.get('balance')
  const need = values.get('needed')
  return fault(
    'INSUFFICIENT_FUNDS',
    have === undefined || need === undefined ? {} : { have, need },
    'The sub-wallet does not hold the amount that this call takes.',
  )
}
