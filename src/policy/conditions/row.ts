import type { Token } from '../call-terms.js'
import type { Condition } from '../condition.js'
import type { CalledFunction } from '../function-signature.js'
import type { Faults } from '../json-reader.js'
import type { PolicyJson } from '../policy-json.js'
import type { Point, Properties } from '../sampled-call.js'
import type { WireForm } from '../wire-form.js'

/** All that belongs to one kind of condition; `index.ts` has the table of them. */
export interface ConditionRow<Value> {
  /** The field on the wire. */
  readonly wire: string
  /** The form on the wire, for documents; `read` validates it. */
  readonly form: WireForm
  /** True when `read` uses other conditions, which are then read first. */
  readonly readsOthers?: true
  /** @returns null when the value has faults, which it reports */
  read(value: unknown, path: string, faults: Faults, others: OtherConditions): Value | null
  /** Formats the value for the canonical text. */
  write(value: Value): PolicyJson
  /** Formats the value for people, as a part of "calls …". */
  words(value: Value): string
  /** Compiles the value for the judge. */
  compile(value: Value, others: OtherConditions): Condition
  /** True when the call itself and the clock always decide it. */
  readonly isAlwaysJudged?: true
  /** True when a delegation shows what decides it. */
  readonly isOfDelegations?: true
  /**
   * Whether `outer` matches whatever `inner` matches, and fails only where `inner` fails, for every
   * value of what cannot be judged.
   */
  liesWithin(inner: Value, outer: Value, around: Around): boolean
  /** True when the judge needs to know which addresses the wallet has paid. */
  readonly readsPayees?: true
  /** The calls around its bounds, at which two policies may differ. */
  readonly sample: Sample<Value>
  /** The sliding window that it counts in, seconds. */
  window?(value: Value): number
  /** The tokens that it names. */
  tokens?(value: Value): readonly Token[]
}

/** The other conditions of both, in a comparison. */
interface Around {
  readonly inner: OtherConditions
  readonly outer: OtherConditions
}

/** What a condition may read of the other conditions in its `when`. */
export interface OtherConditions {
  readonly functions?: readonly CalledFunction[]
}

/** How the search for examples varies calls around a value: by one property of calls. */
type Sample<Value> = {
  [Name in keyof Properties]: {
    readonly of: Name
    /** What the property is given: a call within the value first, then one beyond it. */
    values(value: Value): readonly Properties[Name][]
    /** Makes a call meet the value; absent when the first of `values` does. */
    meet?(point: Point, value: Value, others: OtherConditions): Point
  }
}[keyof Properties]
