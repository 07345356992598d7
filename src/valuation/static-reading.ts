import type { SimulatedApproval } from '../chains/simulate/simulation.js'
import { CONTRACT_FUNCTIONS } from '../contracts/functions/all-functions.js'
import type { Approval, Outflow } from '../contracts/functions/contract-function.js'
import type { Address, Hex } from '../domain/ids.js'
import { FaultError, fault } from '../errors/fault.js'
import { addressOf, amountOf, argumentWord, digitsOf, selectorSearch } from './calldata.js'
import { type Claim, findClaims } from './claims.js'
import { opensToOthers } from './operator-calls.js'
import { PERMIT2 } from './well-known.js'

/**
 * What a call's own calldata takes out of the wallet, whatever a simulation shows. Only `to` sees
 * the wallet as its caller, so only its own function is read as the wallet's act; nested calldata
 * for others is searched for claims in the wallet's name.
 */
export interface StaticReading {
  /** Tokens that the function moves out of the wallet. */
  readonly outflows: readonly { readonly token: Address; readonly amount: bigint }[]
  readonly approvals: readonly (SimulatedApproval & { readonly tokenId?: bigint })[]
  readonly claims: readonly Claim[]
  /** True when the function moves tokens that have no amount: ERC-721 and ERC-1155. */
  readonly movesItems: boolean
  /** True when it lets others act in the wallet's name, or on what contracts hold for it. */
  readonly opensToOthers: boolean
  /** True when a configured token does nothing beyond what is listed here. */
  readonly complete: boolean
}

export interface ReadCall {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
}

const SELECTOR_DIGITS = 8

type FunctionOutcome = Omit<StaticReading, 'claims' | 'opensToOthers'>
type FunctionReading = Partial<FunctionOutcome>

const NOTHING: FunctionOutcome = { outflows: [], approvals: [], movesItems: false, complete: false }

/**
 * @param isConfigured whether a lower-case address is a token of the chain's configuration
 * @throws FaultError PRICE_UNAVAILABLE for a list of calls that is too long
 */
export function readStatically(
  call: ReadCall,
  isConfigured: (lowerCaseToken: string) => boolean,
): StaticReading {
  const digits = digitsOf(call.data)
  const claims = findClaims(digits, call.from)
  refuseMany(claims)
  const configured = isConfigured(call.to.toLowerCase())
  const table = call.to === PERMIT2 ? PERMIT2_FUNCTIONS : TOKEN_FUNCTIONS
  const readAt = (at: number): FunctionReading | null => {
    const read = table.get(digits.slice(at, at + SELECTOR_DIGITS))
    if (read === undefined) return null
    return read({ call, configured, words: (index) => argumentWord(digits, at, index) })
  }
  const own = readAt(0)
  // A configured token that does what its calldata says has no operators.
  const found = { claims, opensToOthers: own?.complete !== true && opensToOthers(call.data) }
  if (own !== null) return { ...NOTHING, ...own, ...found }
  if (!configured) return { ...NOTHING, ...found }
  const places = nestedIn(digits)
  refuseMany(places)
  return { ...together(places.map(readAt).filter((it) => it !== null)), ...found }
}

/** The same number as a simulation may move and approve. */
const NESTED_MAX = 1_024
const TOO_MANY = 'the call holds more calls than can be counted'

/**
 * Refuses long lists: each entry is valued, some against each token, and thousands would block the
 * thread.
 */
function refuseMany({ length }: readonly unknown[]): void {
  if (length > NESTED_MAX) throw new FaultError(fault('PRICE_UNAVAILABLE', { reason: TOO_MANY }))
}

/**
 * Combines the calls of a token that runs a list of calls on itself, which keeps the wallet as
 * their caller. It does not matter how the list is encoded or where in it the calls start:
 * hand-made offsets can point to any byte.
 */
function together(readings: readonly FunctionReading[]): FunctionOutcome {
  return {
    outflows: readings.flatMap(({ outflows = [] }) => outflows),
    approvals: readings.flatMap(({ approvals = [] }) => approvals),
    movesItems: readings.some(({ movesItems = false }) => movesItems),
    complete: false,
  }
}

interface Reading {
  readonly call: ReadCall
  readonly words: (index: number) => bigint
  /** Whether `to` is a configured token: an ERC-20 whose code the operator vouches for. */
  readonly configured: boolean
}

type FunctionReader = (reading: Reading) => FunctionReading

const TOKEN_FUNCTIONS = readersOf(undefined)
const PERMIT2_FUNCTIONS = readersOf('permit2')
const nestedIn = selectorSearch(new Set(TOKEN_FUNCTIONS.keys()))

/** The wallet's own acts, by selector: functions of Permit2, or of any other contract. */
function readersOf(of: 'permit2' | undefined): ReadonlyMap<string, FunctionReader> {
  const readers = new Map<string, FunctionReader>()
  for (const { selector, effect } of CONTRACT_FUNCTIONS) {
    if (effect.kind === 'items') {
      if (of === undefined) readers.set(selector, itemMove(effect.owner))
    } else if ((effect.kind === 'outflow' || effect.kind === 'approval') && effect.of === of) {
      readers.set(selector, effect.kind === 'outflow' ? outflow(effect) : approval(effect))
    }
  }
  return readers
}

function outflow(effect: Outflow): FunctionReader {
  return ofWallet(effect, ({ call, words }) => {
    const token = effect.token === undefined ? call.to : addressOf(words(effect.token))
    return { outflows: [{ token, amount: words(effect.amount) }] }
  })
}

function approval(effect: Approval): FunctionReader {
  return ofWallet(effect, ({ call, words, configured }) => {
    const token = effect.token === undefined ? call.to : addressOf(words(effect.token))
    const parties = { token, owner: call.from, spender: addressOf(words(effect.spender)) }
    const amount = amountOf(effect.amount, words)
    switch (effect.asset) {
      case 'collection':
        return {
          approvals: [{ ...parties, amount: amount === 0n ? 0n : 'all', kind: 'collection' }],
        }
      case 'permit2':
        return { approvals: [{ ...parties, amount, kind: 'permit2' }] }
      case 'token':
        return { approvals: [{ ...parties, amount, kind: 'erc20' }] }
      case 'token-or-item': {
        const one = { ...parties, amount, kind: 'erc20' } as const
        return { approvals: [configured ? one : { ...one, tokenId: amount }] }
      }
    }
  })
}

function itemMove(owner: number): FunctionReader {
  return ({ call, words }) => (addressOf(words(owner)) === call.from ? { movesItems: true } : {})
}

/** Reads nothing when an argument names an owner other than the wallet. */
function ofWallet({ owner, alone }: Outflow | Approval, read: FunctionReader): FunctionReader {
  return (reading) => {
    const { call, words, configured } = reading
    const found = owner === undefined || addressOf(words(owner)) === call.from ? read(reading) : {}
    return alone === true ? { ...found, complete: configured } : found
  }
}
