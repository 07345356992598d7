import type { SimulatedApproval } from '../chains/simulate/simulation.js'
import type { Address, Hex } from '../domain/ids.js'
import { addressOf, argumentWord, digitsOf } from './calldata.js'
import { type Claim, findClaims } from './claims.js'
import { opensToOthers } from './operator-calls.js'
import { PERMIT2, UINT256_MAX } from './well-known.js'

/**
 * What a call's own words say it takes out of the wallet, whatever a simulation shows. Only `to`
 * sees the wallet as its caller, so only its own function is read as the wallet's act; calldata
 * for others inside it is searched for claims in the wallet's name.
 */
export interface StaticReading {
  /** Tokens that the function moves out of the wallet. */
  readonly outflows: readonly { readonly token: Address; readonly amount: bigint }[]
  readonly approvals: readonly (SimulatedApproval & { readonly tokenId?: bigint })[]
  readonly claims: readonly Claim[]
  /** True when the function moves items that have no amount: ERC-721 and ERC-1155. */
  readonly movesItems: boolean
  /** True when it lets others act in the wallet's name, or on what contracts keep for it. */
  readonly opensToOthers: boolean
  /** True when a configured token runs nothing beyond what is listed here. */
  readonly complete: boolean
}

export interface ReadCall {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
}

const SELECTOR_DIGITS = 8
const WORD_DIGITS = 64

type FunctionOutcome = Omit<StaticReading, 'claims' | 'opensToOthers'>
type FunctionReading = Partial<FunctionOutcome>

const NOTHING: FunctionOutcome = { outflows: [], approvals: [], movesItems: false, complete: false }

/** @param isConfigured whether a lower-case address is a token of the chain's configuration */
export function readStatically(
  call: ReadCall,
  isConfigured: (lowerCaseToken: string) => boolean,
): StaticReading {
  const digits = digitsOf(call.data)
  const claims = findClaims(digits, call.from)
  const configured = isConfigured(call.to.toLowerCase())
  const table = call.to === PERMIT2 ? PERMIT2_FUNCTIONS : TOKEN_FUNCTIONS
  const readAt = (at: number): FunctionReading | null => {
    const read = table[digits.slice(at, at + SELECTOR_DIGITS)]
    if (read === undefined) return null
    return read({ call, configured, words: (index) => argumentWord(digits, at, index) })
  }
  const own = readAt(0)
  // A configured token that does what its words say has no operators.
  const found = { claims, opensToOthers: own?.complete !== true && opensToOthers(call.data) }
  if (own !== null) return { ...NOTHING, ...own, ...found }
  if (!configured) return { ...NOTHING, ...found }
  const nested = range(SELECTOR_DIGITS, digits.length, WORD_DIGITS).map(readAt)
  return { ...together(nested.filter((it) => it !== null)), ...found }
}

/**
 * A token that runs a list of calls on itself keeps the wallet as their caller. Whatever the list
 * is called, its calls start where ABI-encoded bytes do: a multiple of 32 after the selector.
 */
function together(readings: readonly FunctionReading[]): FunctionOutcome {
  return {
    outflows: readings.flatMap(({ outflows = [] }) => outflows),
    approvals: readings.flatMap(({ approvals = [] }) => approvals),
    movesItems: readings.some(({ movesItems = false }) => movesItems),
    complete: false,
  }
}

function range(from: number, end: number, step: number): number[] {
  const values: number[] = []
  for (let at = from; at < end; at += step) values.push(at)
  return values
}

interface Reading {
  readonly call: ReadCall
  readonly words: (index: number) => bigint
  /** Whether `to` is a configured token: an ERC-20 whose code the operator vouches for. */
  readonly configured: boolean
}

type FunctionReader = (reading: Reading) => FunctionReading

function outflow(amountWord: number): FunctionReader {
  return ({ call, words }) => ({ outflows: [{ token: call.to, amount: words(amountWord) }] })
}

/** An outflow when word 0 names the wallet, else somebody else's. */
function outflowOfOwner(amountWord: number): FunctionReader {
  return (reading) =>
    addressOf(reading.words(0)) === reading.call.from ? outflow(amountWord)(reading) : {}
}

function approval(spenderWord: number, amountWord: number): FunctionReader {
  return ({ call, words, configured }) => {
    const amount = words(amountWord)
    // The same selector approves one item of an ERC-721, by its id; only configured tokens are
    // known to be ERC-20.
    const parties = { token: call.to, owner: call.from, spender: addressOf(words(spenderWord)) }
    return {
      approvals: [
        configured
          ? { ...parties, amount, kind: 'erc20' }
          : { ...parties, amount, kind: 'erc20', tokenId: amount },
      ],
    }
  }
}

function permit(amount: (words: Reading['words']) => bigint): FunctionReader {
  return ({ call, words }) => {
    if (addressOf(words(0)) !== call.from) return {}
    const parties = { token: call.to, owner: call.from, spender: addressOf(words(1)) }
    return { approvals: [{ ...parties, amount: amount(words), kind: 'erc20' }] }
  }
}

const itemsOfOwner: FunctionReader = ({ call, words }) =>
  addressOf(words(0)) === call.from ? { movesItems: true } : {}

const forAll: FunctionReader = ({ call, words }) => ({
  approvals: [
    {
      token: call.to,
      owner: call.from,
      spender: addressOf(words(0)),
      amount: words(1) === 0n ? 0n : 'all',
      kind: 'collection',
    },
  ],
})

/** Functions that a configured token carries out and nothing else: no callback, no second token. */
function complete(read: FunctionReader): FunctionReader {
  return (reading) => ({ ...read(reading), complete: reading.configured })
}

const TOKEN_FUNCTIONS: Readonly<Record<string, FunctionReader>> = {
  // ERC-20: transfer, transferFrom, approve; increaseAllowance of OpenZeppelin before 5
  a9059cbb: complete(outflow(1)),
  '23b872dd': complete(outflowOfOwner(2)),
  '095ea7b3': complete(approval(0, 1)),
  '39509351': complete(approval(0, 1)),
  // EIP-2612, and DAI's own permit, which allows everything or nothing
  d505accf: complete(permit((words) => words(2))),
  '8fcbaf0c': complete(permit((words) => (words(4) === 0n ? 0n : UINT256_MAX))),
  // EIP-3009: transfer- and receiveWithAuthorization, with v, r, s and with bytes
  e3ee160e: complete(outflowOfOwner(2)),
  cf092995: complete(outflowOfOwner(2)),
  ef55bec6: complete(outflowOfOwner(2)),
  '88b7ab63': complete(outflowOfOwner(2)),
  // ERC-677 and ERC-1363 call the receiver afterwards
  '4000aea0': outflow(1),
  '1296ee62': outflow(1),
  c1d34b89: outflowOfOwner(2),
  d8fbe994: outflowOfOwner(2),
  cae9ca51: approval(0, 1),
  '3177029f': approval(0, 1),
  // ERC-777: send, burn, authorizeOperator
  '9bd9bbc6': outflow(1),
  fe9d9303: outflow(0),
  '959b8c3f': ({ call, words }) => ({
    approvals: [
      {
        token: call.to,
        owner: call.from,
        spender: addressOf(words(0)),
        amount: UINT256_MAX,
        kind: 'erc20',
      },
    ],
  }),
  // burn, burnFrom; withdraw of wrapped native, withdrawTo of WETH10
  '42966c68': outflow(0),
  '79cc6790': outflowOfOwner(1),
  '205c2878': outflow(1),
  // ERC-721 and ERC-1155
  '42842e0e': itemsOfOwner,
  b88d4fde: itemsOfOwner,
  f242432a: itemsOfOwner,
  '2eb2c2d6': itemsOfOwner,
  a22cb465: forAll,
}

const PERMIT2_FUNCTIONS: Readonly<Record<string, FunctionReader>> = {
  // approve(token, spender, amount, expiration)
  '87517c45': ({ call, words }) => ({
    approvals: [
      {
        token: addressOf(words(0)),
        owner: call.from,
        spender: addressOf(words(1)),
        amount: words(2),
        kind: 'permit2',
      },
    ],
  }),
  // transferFrom(from, to, amount, token)
  '36c78516': ({ call, words }) =>
    addressOf(words(0)) === call.from
      ? { outflows: [{ token: addressOf(words(3)), amount: words(2) }] }
      : {},
  // permit(owner, ((token, amount, expiration, nonce), spender, deadline), signature)
  '2b67b570': ({ call, words }) =>
    addressOf(words(0)) === call.from
      ? {
          approvals: [
            {
              token: addressOf(words(1)),
              owner: call.from,
              spender: addressOf(words(5)),
              amount: words(2),
              kind: 'permit2',
            },
          ],
        }
      : {},
}
