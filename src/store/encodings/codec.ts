import {
  type AnyField,
  type AsIs,
  compile,
  type Inside,
  type Optional,
  type Within,
} from './compile-codec.js'

/**
 * Stores records as lists. A table declares once, by field name, the place of each field; encoder,
 * decoder and comparison are derived from it.
 *
 * A new field is a row of its table and raises the schema version, because stored records have no
 * such place. An optional field at the end of its table does not: those records read it as absent.
 */

type Scalar = string | number | bigint | boolean | null

/**
 * @template Context what is known besides the value, both when it is written and when it is read
 */
export interface Codec<T, Context = unknown> {
  readonly encode: (value: T, context: Context) => unknown
  readonly decode: (stored: unknown, context: Context) => T
}

type PlainField<V> =
  | ([V] extends [Scalar] ? typeof scalar : never)
  | ([V] extends [object | null] ? typeof named : never)
  | Codec<V>

/** @template Whole the record; a codec may see the value of one of its earlier fields */
type RequiredField<V, Whole> =
  | PlainField<V>
  | { [K in keyof Whole]-?: Within<K, Codec<V, Whole[K]>> }[keyof Whole]

/** Fields in the order of their places. A missing field does not compile. */
type Fields<T, Whole = T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? Optional<PlainField<Exclude<T[K], undefined>>>
    : RequiredField<T[K], Whole>
}

/** A string, number, bigint, boolean or null. */
export const scalar = { asIs: 'scalar' } as const satisfies AsIs

/** An object that is stored with the names of its fields. */
export const named = { asIs: 'named' } as const satisfies AsIs

/** An absent field is stored as null. */
export function optional<Field>(field: Field): Optional<Field> {
  return { optional: field }
}

/** A field whose codec gets the value of an earlier field of the same record. */
export function within<const Sibling extends string, C>(
  sibling: Sibling,
  codec: C,
): Within<Sibling, C> {
  return { sibling, codec }
}

/** A field of the record's object `name`, stored in a place of the record's own list. */
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

/** Codec of a record that is stored as the list of its fields. */
export function record<T>(fields: Fields<T>): Codec<T> {
  const { encoders, decode } = compile([], [table(fields)])
  return { encode: encoders[0], decode } as Codec<T>
}

interface RecordWithout<T, Given extends keyof T> {
  readonly encode: (value: T) => unknown
  readonly decode: (stored: unknown, given: T[Given]) => T
}

/** Codec of a record without a field that its key or another record holds. */
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
  /** Compares by identity, because parts of a record are replaced and never changed in place. */
  readonly isSameBody: (a: T, b: T) => boolean
}

type FieldsInside<T, Name extends keyof T> = {
  readonly [K in keyof T[Name]]-?: Inside<Name, PlainField<T[Name][K]>>
}

/**
 * A record that is stored in two parts: what never changes, and what does.
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
