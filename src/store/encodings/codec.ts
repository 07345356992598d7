import {
  type AnyField,
  type AsIs,
  compile,
  type Inside,
  type Optional,
  type Within,
} from './compile-codec.js'

/**
 * How records are stored: as lists, whose places are declared once, by the names of the fields.
 * Encoder, decoder and comparison are derived from that table.
 *
 * A new field is a row of its table and raises the schema's version, since what is stored already
 * has no such place.
 */

type Scalar = string | number | bigint | boolean | null

/** @template Context what is known besides the value, when it is put and when it is read */
export interface Codec<T, Context = unknown> {
  readonly encode: (value: T, context: Context) => unknown
  readonly decode: (stored: unknown, context: Context) => T
}

type PlainField<V> =
  | ([V] extends [Scalar] ? typeof scalar : never)
  | ([V] extends [object | null] ? typeof named : never)
  | Codec<V>

/** @template Whole the record, of whose earlier fields one may be looked at */
type RequiredField<V, Whole> =
  | PlainField<V>
  | { [K in keyof Whole]-?: Within<K, Codec<V, Whole[K]>> }[keyof Whole]

/** In the order of their places. A field that is left out does not compile. */
type Fields<T, Whole = T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? Optional<PlainField<Exclude<T[K], undefined>>>
    : RequiredField<T[K], Whole>
}

/** A text, a number, a bigint, a truth value or null. */
export const scalar = { asIs: 'scalar' } as const satisfies AsIs

/** An object that is stored with the names of its fields. */
export const named = { asIs: 'named' } as const satisfies AsIs

/** Stored as null where it is absent. */
export function optional<Field>(field: Field): Optional<Field> {
  return { optional: field }
}

/** A field whose codec is given the value of an earlier one of the same record. */
export function within<const Sibling extends string, C>(
  sibling: Sibling,
  codec: C,
): Within<Sibling, C> {
  return { sibling, codec }
}

/** A field of the object `name` of a record, which has places of the record's own list. */
export function inside<const Name extends string, Field>(
  name: Name,
  field: Field,
): Inside<Name, Field> {
  return { inside: name, field }
}

export function nullable<T, Context>({
  encode,
  decode,
}: Codec<T, Context>): Codec<T | null, Context> {
  return {
    encode: (value, context) => (value === null ? null : encode(value, context)),
    decode: (stored, context) => (stored === null ? null : decode(stored, context)),
  }
}

export function listOf<T>({ encode, decode }: Codec<T>): Codec<readonly T[]> {
  return {
    encode: (values) => values.map((value) => encode(value, null)),
    decode: (stored) => (stored as readonly unknown[]).map((one) => decode(one, null)),
  }
}

/** A list of the record's fields. */
export function record<T>(fields: Fields<T>): Codec<T> {
  const { encoders, decode } = compile([], [table(fields)])
  return { encode: encoders[0], decode } as Codec<T>
}

interface RecordWithout<T, Given extends keyof T> {
  readonly encode: (value: T) => unknown
  readonly decode: (stored: unknown, given: T[Given]) => T
}

/** The same without a field that its key says, or another record. */
export function recordWithout<T, const Given extends keyof T & string>(
  given: Given,
  fields: Fields<Omit<T, Given>, T>,
): RecordWithout<T, Given> {
  const { encoders, decode } = compile([given], [table(fields)])
  return { encode: encoders[0], decode } as RecordWithout<T, Given>
}

interface RecordInParts<T, Given extends keyof T> {
  readonly encodeBody: (value: T) => unknown
  readonly encodeState: (value: T) => unknown
  readonly decode: (body: unknown, state: unknown, given: T[Given]) => T
  /** By identity: parts of a record are replaced, never changed in place. */
  readonly isSameBody: (a: T, b: T) => boolean
}

type FieldsInside<T, Name extends keyof T> = {
  readonly [K in keyof T[Name]]-?: Inside<Name, PlainField<T[Name][K]>>
}

/**
 * A record whose parts are stored apart: what never changes, and what does.
 * @template Flat an object of the record whose fields are stored among the body's
 */
export function recordInParts<
  T,
  const Given extends keyof T & string,
  Later extends keyof T,
  Flat extends keyof T,
>(
  given: Given,
  body: Fields<Omit<T, Given | Later | Flat>, T> & FieldsInside<T, Flat>,
  state: Fields<Pick<T, Later>, T>,
): RecordInParts<T, Given> {
  const { encoders, comparers, decode } = compile([given], [table(body), table(state)])
  const [encodeBody, encodeState] = encoders
  const [isSameBody] = comparers
  return { encodeBody, encodeState, isSameBody, decode } as RecordInParts<T, Given>
}

function table(fields: object): readonly (readonly [name: string, field: AnyField])[] {
  return Object.entries(fields as Readonly<Record<string, AnyField>>)
}
