import { expectBytes, expectInteger, expectList } from '../bytes.js'
import { Refusal } from '../refusal.js'

/** How one value of a call is packed and read. */
export interface Codec<T> {
  /** Returns what MessagePack packs. */
  encode(value: T): unknown
  /** @throws Refusal MALFORMED */
  decode(packed: unknown): T
}

export interface ListCodec<T> extends Codec<T> {
  encode(value: T): readonly unknown[]
}

export type ValueOf<C> = C extends Codec<infer T> ? T : never

type Fields = Readonly<Record<string, Codec<unknown>>>
type ValuesOf<F extends Fields> = { readonly [Name in keyof F]: ValueOf<F[Name]> }

/**
 * Named fields, which travel as a list without their names.
 * @param fields in their order on the wire, which never changes; new fields follow at the end
 * @param lengthMax a longer list is refused; the default ignores fields of later builds
 */
export function positional<F extends Fields>(
  fields: F,
  lengthMax = Number.MAX_SAFE_INTEGER,
): ListCodec<ValuesOf<F>> {
  const parts = Object.entries(fields)
  return {
    encode(values) {
      const packed = parts.map(([name, codec]) => codec.encode(values[name as keyof F]))
      while (packed.length > 0 && packed.at(-1) === undefined) packed.pop()
      return packed
    },
    decode(packed) {
      const given = expectList(packed, lengthMax)
      const values = parts.map(([name, codec], at) => [name, codec.decode(given[at])])
      return Object.fromEntries(values) as ValuesOf<F>
    },
  }
}

export function list<T>(item: Codec<T>, lengthMax: number): ListCodec<readonly T[]> {
  return {
    encode: (values) => values.map((value) => item.encode(value)),
    decode: (packed) => expectList(packed, lengthMax).map((one) => item.decode(one)),
  }
}

/** @param length the default accepts any length */
export function bytes(length?: number): Codec<Uint8Array> {
  return { encode: unchanged, decode: (packed) => expectBytes(packed, length) }
}

/** @param detail of the refusal; the same for the codecs below */
export function bytesUpTo(lengthMax: number, detail: string): Codec<Uint8Array> {
  return guarded(
    (packed): packed is Uint8Array => packed instanceof Uint8Array && packed.length <= lengthMax,
    detail,
  )
}

export const integer: Codec<number> = { encode: unchanged, decode: expectInteger }

export function integerUpTo(max: number, detail: string): Codec<number> {
  return guarded((packed): packed is number => expectInteger(packed) <= max, detail)
}

export function flag(detail: string): Codec<boolean> {
  return guarded((packed): packed is boolean => typeof packed === 'boolean', detail)
}

export function text(charsMax: number, detail: string): Codec<string> {
  return guarded(
    (packed): packed is string => typeof packed === 'string' && packed.length <= charsMax,
    detail,
  )
}

/** Text for people, without control characters. */
export function line(charsMax: number, detail: string): Codec<string> {
  const { encode, decode } = text(charsMax, detail)
  return {
    encode,
    decode(packed) {
      const read = decode(packed)
      if (/\p{Cc}/u.test(read)) throw new Refusal('MALFORMED', detail)
      return read
    },
  }
}

export function choice<T extends string>(options: readonly T[], detail: string): Codec<T> {
  return guarded((packed): packed is T => options.some((option) => option === packed), detail)
}

export function orNull<T>(codec: Codec<T>): Codec<T | null> {
  return {
    encode: (value) => (value === null ? null : codec.encode(value)),
    decode: (packed) => (packed === null ? null : codec.decode(packed)),
  }
}

/** Like `orNull`, and null when an earlier build omits the field. */
export function orNullLater<T>(codec: Codec<T>): Codec<T | null> {
  const { encode, decode } = orNull(codec)
  return { encode, decode: (packed) => decode(packed ?? null) }
}

/** Null only when the field is omitted. */
export function orOmitted<T>(codec: Codec<T>): Codec<T | null> {
  return {
    encode: (value) => (value === null ? undefined : codec.encode(value)),
    decode: (packed) => (packed === undefined ? null : codec.decode(packed)),
  }
}

/** The result of a method that returns no value. */
export const nothing: Codec<null> = { encode: () => null, decode: () => null }

function guarded<T>(isValid: (packed: unknown) => packed is T, detail: string): Codec<T> {
  return {
    encode: unchanged,
    decode(packed) {
      if (!isValid(packed)) throw new Refusal('MALFORMED', detail)
      return packed
    },
  }
}

function unchanged(value: unknown): unknown {
  return value
}
