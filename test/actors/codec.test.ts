import fc from 'fast-check'
import { Packr } from 'msgpackr'
import { describe, expect, test } from 'vitest'
import type { AllowedVerdict } from '../../src/store/allowed-entry.js'
import {
  type Codec,
  inside,
  listOf,
  named,
  nullable,
  optional,
  record,
  recordInParts,
  recordWithout,
  scalar,
  within,
} from '../../src/store/encodings/codec.js'
import { hexText } from '../../src/store/encodings/packing.js'

interface Leaf {
  readonly hash: `0x${string}`
  readonly cancels?: true
}

interface Whole {
  readonly id: string
  readonly owner: string
  readonly payer: string
  readonly amount: bigint
  readonly box: { readonly width: number; readonly hash: `0x${string}` }
  readonly leaves: readonly Leaf[]
  readonly last: Leaf | null
  readonly details: { readonly note: string } | null
  readonly memo?: string
  readonly status: 'open' | 'done'
  readonly atMs: number
}

/** Null where the payer is the owner. */
const PAYER: Codec<string, string> = {
  encode: (payer, owner) => (payer === owner ? null : payer),
  decode: (stored, owner) => (stored as string | null) ?? owner,
}
const LEAF = record<Leaf>({ hash: hexText, cancels: optional(scalar) })
const WHOLE = recordInParts<Whole, 'id', 'status' | 'atMs', 'box'>(
  'id',
  {
    owner: scalar,
    width: inside('box', scalar),
    payer: within('owner', PAYER),
    amount: scalar,
    hash: inside('box', hexText),
    leaves: listOf(LEAF),
    last: nullable(LEAF),
    details: named,
    memo: optional(scalar),
  },
  { status: scalar, atMs: scalar },
)

const packr = new Packr({ useRecords: false, useBigIntExtension: true, int64AsType: 'bigint' })
const stored = (value: unknown): unknown => packr.unpack(packr.pack(value))

const leaf: fc.Arbitrary<Leaf> = fc
  .tuple(fc.uint8Array({ maxLength: 40 }), fc.boolean())
  .map(([bytes, cancels]) => {
    const hash = `0x${Buffer.from(bytes).toString('hex')}` as const
    return cancels ? { hash, cancels: true } : { hash }
  })
const whole: fc.Arbitrary<Whole> = fc
  .record({
    id: fc.string(),
    owner: fc.constantFrom('a', 'b'),
    payer: fc.constantFrom('a', 'b', 'c'),
    amount: fc.bigInt({ min: -(2n ** 255n), max: 2n ** 256n }),
    box: fc.nat().map((width) => ({ width, hash: '0x0a' as const })),
    leaves: fc.array(leaf, { maxLength: 4 }),
    last: fc.option(leaf),
    details: fc.option(fc.string().map((note) => ({ note }))),
    status: fc.constantFrom<Whole['status'][]>('open', 'done'),
    atMs: fc.nat(),
  })
  .chain((one) => fc.constantFrom<Whole[]>({ ...one }, { ...one, memo: '' }, { ...one, memo: 'x' }))

describe('a record declared as a table of fields', () => {
  test('comes back with each of its fields, and with none that was absent', () => {
    fc.assert(
      fc.property(whole, (one) => {
        const parts = [stored(WHOLE.encodeBody(one)), stored(WHOLE.encodeState(one))] as const
        expect(WHOLE.decode(...parts, one.id)).toStrictEqual(one)
      }),
    )
  })

  test('takes its state from what was put last', () => {
    fc.assert(
      fc.property(whole, whole, (one, other) => {
        const read = WHOLE.decode(WHOLE.encodeBody(one), WHOLE.encodeState(other), one.id)
        expect(read).toStrictEqual({ ...one, status: other.status, atMs: other.atMs })
      }),
    )
  })

  test('has the same body as another when no field of it differs, whatever its state', () => {
    const one = fc.sample(whole, 1)[0]
    if (one === undefined) throw new Error('there is no sample')
    expect(WHOLE.isSameBody(one, { ...one, status: 'done', atMs: -1 })).toBe(true)
    const others: Partial<Whole>[] = [
      ...[{ id: 'other' }, { owner: 'other' }, { payer: 'other' }, { amount: one.amount + 1n }],
      ...[{ leaves: [] }, { last: { hash: '0x' } }, { details: { note: '' } }, { memo: 'other' }],
      { box: { ...one.box } },
    ] as Partial<Whole>[]
    for (const other of others) expect(WHOLE.isSameBody(one, { ...one, ...other })).toBe(false)
  })

  test('lies in the order of its table, without names', () => {
    const one: Whole = {
      ...{ id: 'i', owner: 'o', payer: 'o', amount: 1n, leaves: [], last: null },
      ...{ box: { width: 7, hash: '0x0a' }, details: { note: 'n' }, status: 'open', atMs: 5 },
    }
    const hash = hexText.encode('0x0a', null)
    const own = ['o', 7, null, 1n, hash, [], null, { note: 'n' }, null]
    expect(WHOLE.encodeBody(one)).toEqual(own)
    expect(WHOLE.encodeState(one)).toEqual(['open', 5])
  })

  test('names a field that its key says, and does not store it', () => {
    const verdict = recordWithout<Omit<AllowedVerdict, 'predicted'>, 'lists'>('lists', {
      atMs: scalar,
      reservedMicros: scalar,
    })
    expect(verdict.encode({ atMs: 1, reservedMicros: 2n, lists: [] })).toEqual([1, 2n])
    expect(verdict.decode([1, 2n], null)).toEqual({ atMs: 1, reservedMicros: 2n, lists: null })
  })

  test('does not compile with a field left out, or one that is no field of it', () => {
    // @ts-expect-error its hash is not stored
    record<Leaf>({ cancels: optional(scalar) })
    // @ts-expect-error it is absent at times
    record<Leaf>({ hash: hexText, cancels: scalar })
    // @ts-expect-error it has no such field
    record<Leaf>({ hash: hexText, cancels: optional(scalar), other: scalar })
    // @ts-expect-error an object is not a scalar
    record<{ readonly leaf: Leaf }>({ leaf: scalar })
    expect(record<{ readonly leaf: Leaf }>({ leaf: LEAF }).encode).toBeTypeOf('function')
  })

  test('is refused where a name is no name, or a field looks at a later one', () => {
    expect(() => record<Record<'a;b', string>>({ 'a;b': scalar })).toThrow('names no field')
    const early = { payer: within('owner', PAYER), owner: scalar }
    expect(() => record<Pick<Whole, 'payer' | 'owner'>>(early)).toThrow('is no earlier field')
  })
})
