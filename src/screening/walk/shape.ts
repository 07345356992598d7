import { parseSignature, type TupleType } from './abi-type.js'
import type { PathNode, WalkState } from './walk-state.js'

/** The arguments of one call, already checked against its signature. */
export interface Frame {
  readonly state: WalkState
  /** Offset of the first argument's head. */
  readonly base: number
  /** End of the call's bytes. */
  readonly end: number
  readonly path: PathNode
  readonly depth: number
}

/** Reads what no signature can say. @returns false to end the walk, with the state's failure set */
export type FrameReader = (frame: Frame, walker: Walker) => boolean

/** What readers may call back; handed in, so that shapes and walker do not import each other. */
export interface Walker {
  /** Values of `type` whose heads start at `base`. */
  tuple(frame: Frame, type: TupleType): boolean
  /** Calldata of a call that will be made. */
  call(frame: Frame, start: number, length: number): boolean
  /** Bytes that may be calldata. */
  sniff(frame: Frame, start: number, length: number): boolean
}

/** One row of the table: a function and where its parties stand. */
export interface Shape {
  /** 8 hex digits, as the table of facts and block explorers show it. */
  readonly selector: string
  readonly name: string
  readonly canonical: string
  readonly inputs: TupleType
  readonly also: FrameReader | null
  /**
   * True where other functions share the selector: calldata that does not decode is then some
   * other call, not a refusal.
   */
  readonly shared: boolean
}

/**
 * @param selector 8 hex digits; a test compares them with the signature's hash
 * @param signature see `parseSignature`
 */
export function shape(selector: string, signature: string, also: FrameReader | null = null): Shape {
  return { selector, ...parseSignature(signature), also, shared: false }
}

/** A shape whose selector other functions use as well. */
export function sharedShape(selector: string, signature: string): Shape {
  return { ...shape(selector, signature), shared: true }
}
