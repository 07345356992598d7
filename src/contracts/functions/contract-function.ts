/**
 * What is known of one function of other people's contracts, in one row: whom its calldata names,
 * which screening reads, and what it takes out of the wallet that calls it, which valuation reads.
 * No row has the one without the other, so no function is screened and not valued.
 */
export interface ContractFunction {
  /** 8 hex digits; a test compares them with the signature's hash. */
  readonly selector: string
  /**
   * Solidity's, with named arguments. A type may carry a reading after a colon, for addresses
   * that are not in an `address` and for bytes that hold more than themselves; which there are,
   * `src/screening/walk/abi-type.ts` says.
   */
  readonly signature: string
  /** Set where calldata holds what no signature can say. */
  readonly program: ProgramName | null
  /**
   * True where other functions share the selector: calldata that does not decode is then some
   * other call, not a refusal.
   */
  readonly shared: boolean
  readonly effect: Effect
}

/** Formats within calldata, each with a reader of its own in screening. */
export type ProgramName =
  | 'universal-router'
  | 'v4-actions'
  | 'execution'
  | 'bulker-actions'
  | 'taker-target'
  | 'commission-trailer'

/** What a function takes out of a wallet. Words are counted from 0 in the arguments' head. */
export type Effect = SimulatedEffect | Outflow | Approval | ItemMove | OperatorGrant

/** Nothing that its words bound: what it moves shows when it is run. */
interface SimulatedEffect {
  readonly kind: 'simulated'
}

interface Movement {
  /**
   * Word with the account whose tokens they are. Where it is the wallet's, the function also
   * claims them when somebody else is handed it as calldata. Absent: the caller's.
   */
  readonly owner?: number
  /** Word with the token; absent: the contract that is called. */
  readonly token?: number
  /** True when a configured token carries out this and nothing else: no callback, no second token. */
  readonly alone?: true
  /** Set for functions of one contract only: of others, the same selector says nothing. */
  readonly of?: 'permit2'
}

/** Moves an amount of a token out of the wallet. */
export interface Outflow extends Movement {
  readonly kind: 'outflow'
  /** Word with the amount, smallest units. */
  readonly amount: number
}

/** Lets a spender take an amount. */
export interface Approval extends Movement {
  readonly kind: 'approval'
  /**
   * `token-or-item`: the same selector approves one item of an ERC-721, by its id, of which only
   * configured tokens are known to be none. `collection`: all items, or none.
   */
  readonly asset: 'token' | 'token-or-item' | 'permit2' | 'collection'
  readonly spender: number
  /** Word with the amount; or with a flag, where it is everything or nothing; or everything. */
  readonly amount: number | { readonly flag: number } | 'all'
}

/** Moves items that have no amount: ERC-721 and ERC-1155. */
interface ItemMove {
  readonly kind: 'items'
  readonly owner: number
}

/**
 * Lets others act in the wallet's name, or hands on what a contract keeps for it in books of its
 * own: operators, managers, delegates, owners and modules, pre-signed orders, calls that wait for
 * somebody to execute them, claims moved within a contract. What they open up nobody here can price.
 */
export interface OperatorGrant {
  readonly kind: 'operator'
  /** Word that is zero when the call takes the power back; null where none says so. */
  readonly revokedByZeroAt: number | null
  /** True of arguments that open up nothing: what such a call moves shows when it is run. */
  readonly unless?: (word: (index: number) => bigint) => boolean
}

const SIMULATED: SimulatedEffect = { kind: 'simulated' }

export function simulated(
  selector: string,
  signature: string,
  program: ProgramName | null = null,
): ContractFunction {
  return { selector, signature, program, shared: false, effect: SIMULATED }
}

function row(selector: string, signature: string, effect: Effect): ContractFunction {
  return { selector, signature, program: null, shared: false, effect }
}

export function outflow(
  selector: string,
  signature: string,
  facts: Omit<Outflow, 'kind'>,
): ContractFunction {
  return row(selector, signature, { kind: 'outflow', ...facts })
}

export function approval(
  selector: string,
  signature: string,
  facts: Omit<Approval, 'kind'>,
): ContractFunction {
  return row(selector, signature, { kind: 'approval', ...facts })
}

export function items(selector: string, signature: string, owner: number): ContractFunction {
  return row(selector, signature, { kind: 'items', owner })
}

export function operator(
  selector: string,
  signature: string,
  revokedByZeroAt: number | null,
): ContractFunction {
  return row(selector, signature, { kind: 'operator', revokedByZeroAt })
}

/** A function that opens up something by some of its arguments alone. */
export function operatorUnless(
  selector: string,
  signature: string,
  unless: NonNullable<OperatorGrant['unless']>,
): ContractFunction {
  return row(selector, signature, { kind: 'operator', revokedByZeroAt: null, unless })
}

/** A function whose selector others use as well. */
export function shared(one: ContractFunction): ContractFunction {
  return { ...one, shared: true }
}
