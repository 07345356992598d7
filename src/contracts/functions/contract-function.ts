/**
 * One function of other people's contracts, in one row: the addresses in its calldata, which
 * screening reads, and what it takes out of the calling wallet, which valuation reads. Every row
 * has both, so no function is screened and not valued.
 */
export interface ContractFunction {
  /** 8 hex digits; a test compares them with the signature's hash. */
  readonly selector: string
  /**
   * The Solidity signature, with named arguments. A type may have a reading after a colon, for
   * addresses that are not in an `address` and for bytes with nested content;
   * `src/screening/walk/abi-type.ts` lists the readings.
   */
  readonly signature: string
  /** Set when the calldata contains something that no signature can express. */
  readonly program: ProgramName | null
  /**
   * True when other functions share the selector: calldata that does not decode is then another
   * call, and not refused.
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

/**
 * The effect of a function on the wallet that calls it. Words are counted from 0 in the arguments'
 * head.
 */
export type Effect = SimulatedEffect | Outflow | Approval | ItemMove | OperatorGrant

/** The arguments bound nothing: a simulation shows what it moves. */
interface SimulatedEffect {
  readonly kind: 'simulated'
}

interface Movement {
  /**
   * The word with the account whose tokens they are. When that is the wallet, the function also
   * counts as a claim in calldata that is handed to another contract. Absent: the caller's tokens.
   */
  readonly owner?: number
  /** The word with the token; absent: the contract that is called. */
  readonly token?: number
  /** True when a configured token does exactly this: no callback, no second token. */
  readonly alone?: true
  /**
   * Set for functions of one contract only: in other contracts the same selector has no known
   * meaning.
   */
  readonly of?: 'permit2'
}

/** Moves an amount of a token out of the wallet. */
export interface Outflow extends Movement {
  readonly kind: 'outflow'
  /** The word with the amount, in smallest units. */
  readonly amount: number
}

/** Permits a spender to take an amount. */
export interface Approval extends Movement {
  readonly kind: 'approval'
  /**
   * `token-or-item`: the same selector approves one token of an ERC-721 contract by its id; only
   * configured tokens are known not to be one. `collection`: all tokens of a collection, or none.
   */
  readonly asset: 'token' | 'token-or-item' | 'permit2' | 'collection'
  readonly spender: number
  /**
   * The word with the amount, or with a flag for everything or nothing; or `all` for everything.
   */
  readonly amount: number | { readonly flag: number } | 'all'
}

/** Moves tokens that have no amount: ERC-721 and ERC-1155. */
interface ItemMove {
  readonly kind: 'items'
  readonly owner: number
}

/**
 * Lets others act in the wallet's name, or transfers what a contract keeps for it in its own books:
 * operators, managers, delegates, owners and modules, pre-signed orders, calls that wait for anyone
 * to execute them, claims moved within a contract. Their value is unknown here.
 */
export interface OperatorGrant {
  readonly kind: 'operator'
  /** The word that is zero when the call removes the power; null when no word does. */
  readonly revokedByZeroAt: number | null
  /** True for arguments that give no power: a simulation shows what such a call moves. */
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

/** A function that gives power only with some arguments. */
export function operatorUnless(
  selector: string,
  signature: string,
  unless: NonNullable<OperatorGrant['unless']>,
): ContractFunction {
  return row(selector, signature, { kind: 'operator', revokedByZeroAt: null, unless })
}

/** A function whose selector other functions share. */
export function shared(one: ContractFunction): ContractFunction {
  return { ...one, shared: true }
}
