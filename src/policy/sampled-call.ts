import type { Address } from '../domain/ids.js'
import type { ArgumentValue, Operation, Token } from './call-terms.js'
import type { Counted } from './condition.js'
import type { CalledFunction } from './function-signature.js'
import { TOKEN_CALLS } from './token-calls.js'

/** One call and its circumstances, by the properties that conditions test. */
export interface Point {
  readonly operation: Operation
  readonly chainId: number
  readonly callee: Address
  readonly called: CalledFunction
  /** The values by argument; other arguments follow from `payee` and `amount`, or are empty. */
  readonly values: ReadonlyMap<number, ArgumentValue>
  readonly payee: Address
  /** The input of a sponsored call; for a call of a token the callee is the token. */
  readonly token: Token
  /** The output of a swap or a withdrawal; other operations determine theirs. */
  readonly tokenOut: Token
  /** The loss of a sponsored call, basis points. */
  readonly lossBps: number
  /** The amount of a token's call or of a sponsored one, in smallest units. */
  readonly amount: bigint
  /** Wei. */
  readonly value: bigint
  readonly spendMicros: bigint | null
  readonly isPayeeKnown: boolean
  /** The minute of a week that starts on a Monday. */
  readonly minute: number
  /** The counts by the length of the sliding window, seconds. */
  readonly counted: ReadonlyMap<number, Counted>
}

export const TRANSFER = 'transfer(address,uint256)'
const UNNAMED_FUNCTION = '0x5a5a5a5a'
const STRANGER: Address = '0x00000000000000000000000000000000005a5a5a'
const A_TOKEN: Address = '0x00000000000000000000000000000000005a5a5b'
const ANOTHER_TOKEN: Address = '0x00000000000000000000000000000000005a5a5c'

/** A payment of next to nothing, at noon on a Monday, with no history. */
export const USUAL: Point = {
  ...{ operation: 'send', chainId: 8453, callee: STRANGER, called: 'native', values: new Map() },
  ...{ payee: STRANGER, token: A_TOKEN, amount: 1n, value: 0n },
  ...{ tokenOut: ANOTHER_TOKEN, lossBps: 0 },
  ...{ spendMicros: 1_000_000n, isPayeeKnown: false, minute: 720, counted: new Map() },
}

/** The properties in which calls may differ, with what a call is given of each. */
export interface Properties {
  readonly operation: Operation
  readonly chain: number
  readonly function: CalledFunction
  readonly callee: Address
  readonly payee: Address
  readonly tokenOut: Token
  readonly lossBps: number
  readonly argument: { readonly index: number; readonly value: ArgumentValue }
  readonly amount: { readonly token: Token; readonly amount: bigint }
  readonly units: { readonly chainId: number; readonly token: Token; readonly amount: bigint }
  readonly value: bigint
  readonly spend: bigint | null
  readonly isPayeeKnown: boolean
  readonly minute: number
  readonly counted: Counted & { readonly perSeconds: number }
}

interface Property<Value> {
  /** The values that are tried whatever the policies name. */
  readonly always: readonly Value[]
  give(point: Point, value: Value): Point
}

/** In the order in which the search varies them. */
export const PROPERTIES: { readonly [Name in keyof Properties]: Property<Properties[Name]> } = {
  operation: {
    always: ['swap', 'send'],
    give: (point, operation) => ({ ...point, operation }),
  },
  chain: { always: [1, 8453], give: (point, chainId) => ({ ...point, chainId }) },
  function: {
    always: ['native', TRANSFER, UNNAMED_FUNCTION],
    give: (point, called) => ({ ...point, called, values: USUAL.values }),
  },
  callee: { always: [STRANGER], give: (point, callee) => ({ ...point, callee }) },
  payee: { always: [STRANGER], give: paying },
  tokenOut: { always: [ANOTHER_TOKEN], give: (point, tokenOut) => ({ ...point, tokenOut }) },
  lossBps: { always: [], give: (point, lossBps) => ({ ...point, lossBps }) },
  argument: {
    always: [],
    give: (point, { index, value }) => ({
      ...point,
      values: new Map([...point.values, [index, value]]),
    }),
  },
  amount: { always: [], give: (point, { token, amount }) => moving(point, token, amount) },
  units: {
    always: [],
    give: (point, { chainId, token, amount }) => moving({ ...point, chainId }, token, amount),
  },
  value: { always: [0n], give: (point, value) => ({ ...point, value }) },
  spend: { always: [null], give: (point, spendMicros) => ({ ...point, spendMicros }) },
  isPayeeKnown: {
    always: [true, false],
    give: (point, isPayeeKnown) => ({ ...point, isPayeeKnown }),
  },
  minute: { always: [USUAL.minute], give: (point, minute) => ({ ...point, minute }) },
  counted: {
    always: [],
    give: (point, { perSeconds, count, micros }) => ({
      ...point,
      counted: new Map([...point.counted, [perSeconds, { count, micros }]]),
    }),
  },
}

/** Sets the beneficiary; a payment in native currency goes to its callee. */
function paying(point: Point, payee: Address): Point {
  return point.called === 'native' ? { ...point, payee, callee: payee } : { ...point, payee }
}

function moving(point: Point, token: Token, amount: bigint): Point {
  if (point.operation !== 'send') return { ...point, token, amount }
  if (token === 'native') return { ...point, value: amount }
  const called = TOKEN_CALLS[point.called] === undefined ? TRANSFER : point.called
  return { ...point, called, callee: token, amount }
}

/** The greatest value within a bound, and the least beyond it. */
export function around(bound: bigint): bigint[] {
  return [bound, bound + 1n]
}
