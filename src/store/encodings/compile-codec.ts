/**
 * Generates, from a record's table, the functions that one would write by hand, so that they are as
 * fast. A loop over the names would read and create objects of every shape in one place. No
 * generated text comes from outside: names and places are those of the tables in this folder.
 */

/** The value is stored unchanged. */
export interface AsIs {
  readonly asIs: 'scalar' | 'named'
}

export interface Within<Sibling, C> {
  readonly sibling: Sibling
  readonly codec: C
}

/** A field of an object in the record, stored among the record's own fields. */
export interface Inside<Name, Field> {
  readonly inside: Name
  readonly field: Field
}

export interface Optional<Field> {
  readonly optional: Field
}

interface AnyCodec {
  readonly encode: unknown
  readonly decode: unknown
}

type RequiredField = AsIs | AnyCodec | Within<string, AnyCodec>

export type AnyField = RequiredField | Optional<RequiredField> | Inside<string, AsIs | AnyCodec>

type Table = readonly (readonly [name: string, field: AnyField])[]

interface Compiled {
  /** For each part, the function that turns a value into the stored list. */
  readonly encoders: readonly unknown[]
  /** For each part, whether two values have the same fields, including the given ones. */
  readonly comparers: readonly unknown[]
  /** Takes the stored parts, then the given fields. */
  readonly decode: unknown
}

const FIELD_NAME = /^[a-z]\w*$/i

/** @param given names of fields that are not stored */
export function compile(given: readonly string[], parts: readonly Table[]): Compiled {
  const codecs: AnyCodec[] = []
  const declared = new Set<string>()
  const objects = new Map<string, string[]>()
  for (const [name, field] of parts.flat()) {
    if (!('inside' in field)) continue
    const names = objects.get(field.inside)
    if (names === undefined) objects.set(field.inside, [name])
    else names.push(name)
  }
  for (const name of [...given, ...objects.keys(), ...parts.flat().map(([one]) => one)]) {
    if (!FIELD_NAME.test(name) || declared.has(name)) throw new Error(`"${name}" names no field`)
    declared.add(name)
  }
  const known = new Set(given)
  const decoding = given.map((name) => `const $${name} = given_${name}`)
  const optionals: string[] = []
  const literal = [...given]
  const encoders = parts.map((fields, part) => {
    const encoding = fields.map(([name, field], place) => {
      const stored = `part_${part}[${place}]`
      if ('inside' in field) {
        const [encode, decode] = expressions(field.field, `value.${field.inside}.${name}`, stored)
        decoding.push(`const $${name} = ${decode}`)
        return encode
      }
      const value = `value.${name}`
      const isOptional = 'optional' in field
      const [encode, decode] = expressions(isOptional ? field.optional : field, value, stored)
      if (isOptional) {
        // What was stored before the field was added has no such place.
        optionals.push(`if (${stored} != null) made.${name} = ${decode}`)
        return `${value} === undefined ? null : ${encode}`
      }
      known.add(name)
      literal.push(name)
      decoding.push(`const $${name} = ${decode}`)
      return encode
    })
    return `value => [${encoding.join(', ')}]`
  })
  const comparers = parts.map((fields) => {
    const own = fields.map(([name, field]) => ('inside' in field ? field.inside : name))
    const names = [...given, ...new Set(own)]
    return `(a, b) => ${names.map((name) => `a.${name} === b.${name}`).join(' && ')}`
  })
  const parameters = [
    ...parts.map((_, part) => `part_${part}`),
    ...given.map((it) => `given_${it}`),
  ]
  for (const [name, fields] of objects) {
    decoding.push(`const $${name} = { ${fields.map((it) => `${it}: $${it}`).join(', ')} }`)
    literal.push(name)
  }
  const made = `const made = { ${literal.map((name) => `${name}: $${name}`).join(', ')} }`
  const body = [...decoding, made, ...optionals, 'return made'].join('\n')
  const generated = (source: string) => evaluated(source, codecs)
  return {
    encoders: encoders.map(generated),
    comparers: comparers.map(generated),
    decode: generated(`(${parameters.join(', ')}) => {\n${body}\n}`),
  }

  function expressions(
    field: RequiredField,
    value: string,
    stored: string,
  ): [encode: string, decode: string] {
    if ('asIs' in field) return [value, stored]
    const isWithin = 'sibling' in field
    const at = codecs.push(isWithin ? field.codec : field) - 1
    if (!isWithin) return [`encode_${at}(${value}, null)`, `decode_${at}(${stored}, null)`]
    const { sibling } = field
    if (!known.has(sibling)) throw new Error(`"${sibling}" is no earlier field`)
    return [`encode_${at}(${value}, value.${sibling})`, `decode_${at}(${stored}, $${sibling})`]
  }
}

/** @returns the function in the source, which calls codecs by number */
function evaluated(source: string, codecs: readonly AnyCodec[]): unknown {
  const names = codecs.flatMap((_, at) => [`encode_${at}`, `decode_${at}`])
  const make = new Function(...names, `'use strict'; return ${source}`)
  return make(...codecs.flatMap(({ encode, decode }) => [encode, decode]))
}
