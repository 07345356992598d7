import type { TupleType } from './abi-type.js'
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

/**
 * Reads what no signature can express.
 * @returns false to end the walk, with the state's failure set
 */
export type FrameReader = (frame: Frame, walker: Walker) => boolean

/**
 * The functions that readers may call back; passed in, so that shapes and walker do not import each
 * other.
 */
export interface Walker {
  /** Reads values of `type` whose heads start at `base`. */
  tuple(frame: Frame, type: TupleType): boolean
  /** Reads the calldata of a call that will be made. */
  call(frame: Frame, start: number, length: number): boolean
  /** Reads bytes that may be calldata. */
  sniff(frame: Frame, start: number, length: number): boolean
}

/**
 * A row of `src/contracts/functions` in the form that the walk reads: a function and the places of
 * its parties.
 */
export interface Shape {
  /** 8 hex digits. */
  readonly selector: string
  readonly name: string
  readonly canonical: string
  readonly inputs: TupleType
  readonly also: FrameReader | null
  readonly shared: boolean
}
