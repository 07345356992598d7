import {
  type AbiFunction,
  concatHex,
  encodeAbiParameters,
  keccak256,
  parseAbiItem,
  toFunctionSelector,
} from 'viem'
import type { Address, Hex } from '../../src/domain/ids.js'
import { MULTICALL3, PERMIT2 } from '../../src/valuation/well-known.js'

/** What a key asks the service to send. */
export interface Call {
  readonly to: Address
  readonly value: bigint
  readonly data: Hex
}

/** What is asked of a contract; the signature says what comes back. */
export interface Question {
  readonly to: Address
  readonly signature: string
  readonly args: readonly unknown[]
}

export const UNLIMITED = 2n ** 256n - 1n
const FAR_AWAY = 2n ** 47n
export const ETHER = 10n ** 18n
/** One dollar of a token of six decimals. */
export const USD = 1_000_000n

/** @param signature without `function`, such as `approve(address,uint256)` */
export function callTo(
  to: Address,
  signature: string,
  args: readonly unknown[] = [],
  value = 0n,
): Call {
  return { to, value, data: encode(signature, args) }
}

export function encode(signature: string, args: readonly unknown[] = []): Hex {
  const { item, selector } = known(signature)
  return args.length === 0
    ? selector
    : concatHex([selector, encodeAbiParameters(item.inputs, args)])
}

export function functionOf(signature: string): AbiFunction {
  return known(signature).item
}

interface KnownFunction {
  readonly item: AbiFunction
  readonly selector: Hex
}

/** Parsing and hashing take longer than all else about a call; there are some hundred signatures. */
const functions = new Map<string, KnownFunction>()

function known(signature: string): KnownFunction {
  const before = functions.get(signature)
  if (before !== undefined) return before
  const item = parseAbiItem(`function ${signature}`) as AbiFunction
  const made = { item, selector: toFunctionSelector(item) }
  functions.set(signature, made)
  return made
}

export const approve = (token: Address, spender: Address, amount: bigint) =>
  callTo(token, 'approve(address,uint256)', [spender, amount])
export const transfer = (token: Address, to: Address, amount: bigint) =>
  callTo(token, 'transfer(address,uint256)', [to, amount])
export const transferFrom = (token: Address, from: Address, to: Address, amount: bigint) =>
  callTo(token, 'transferFrom(address,address,uint256)', [from, to, amount])

/** In the name of Multicall3; native goes along with the calls that have some. */
export function throughMulticall3(calls: readonly Call[]): Call {
  const args = calls.map(({ to, value, data }) => [to, false, value, data])
  const value = calls.reduce((sum, call) => sum + call.value, 0n)
  return callTo(MULTICALL3, 'aggregate3Value((address,bool,uint256,bytes)[])', [args], value)
}

/** The model of a signature of `SignedToken`. */
function signatureOf(signer: Address): Hex {
  return keccak256(encodeAbiParameters([{ type: 'address' }], [signer]))
}

const EMPTY_WORD: Hex = `0x${'0'.repeat(64)}`

export function permit(token: Address, owner: Address, spender: Address, amount: bigint): Call {
  return callTo(token, 'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)', [
    ...[owner, spender, amount, FAR_AWAY],
    ...[27, signatureOf(owner), EMPTY_WORD],
  ])
}

export function daiPermit(token: Address, holder: Address, spender: Address): Call {
  return callTo(token, 'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)', [
    ...[holder, spender, 0n, FAR_AWAY, true],
    ...[27, signatureOf(holder), EMPTY_WORD],
  ])
}

export function authorizedTransfer(
  token: Address,
  from: Address,
  to: Address,
  amount: bigint,
): Call {
  return callTo(
    token,
    'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
    [from, to, amount, 0n, FAR_AWAY, signatureOf(to), 27, signatureOf(from), EMPTY_WORD],
  )
}

export function permit2Approve(token: Address, spender: Address, amount: bigint): Call {
  const args = [token, spender, amount, Number(FAR_AWAY)]
  return callTo(PERMIT2, 'approve(address,address,uint160,uint48)', args)
}

export function permit2Permit(
  token: Address,
  owner: Address,
  spender: Address,
  amount: bigint,
): Call {
  const single = [[token, amount, Number(FAR_AWAY), 0], spender, FAR_AWAY]
  return callTo(
    PERMIT2,
    'permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)',
    [owner, single, signatureOf(owner)],
  )
}

export function permit2Transfer(token: Address, owner: Address, to: Address, amount: bigint): Call {
  return callTo(
    PERMIT2,
    'permitTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes)',
    [[[token, amount], BigInt(to), FAR_AWAY], [to, amount], owner, signatureOf(owner)],
  )
}

/** Adds up calldata of one contract's own multicall. */
export function multicall(to: Address, calls: readonly Call[], value = 0n): Call {
  return callTo(to, 'multicall(bytes[])', [calls.map(({ data }) => data)], value)
}
