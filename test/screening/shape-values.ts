/**
 * Makes calldata for any row of the shape table with viem's encoder: the canonical types come from
 * viem's parser, the readings from the row, so the two sides share nothing but the row's text.
 */
import { type AbiFunction, type AbiParameter, encodeFunctionData, parseAbiItem } from 'viem'
import type { Address, Hex } from '../../src/domain/ids.js'
import type { AbiType } from '../../src/screening/walk/abi-type.js'
import type { Shape } from '../../src/screening/walk/shape.js'
import { CLEAN } from './fixtures.js'

/** Rows whose bytes are read by code of their own: their values are built in their own tests. */
export const PROGRAM_ROWS: ReadonlySet<string> = new Set([
  '3593564c',
  '24856bc3',
  'dd46508f',
  'e9ae5c53',
  'd691c964',
  '555029a6',
])

/** A place in a shape where an address can stand, and the path a hit there must show. */
export interface Place {
  readonly path: string
}

type Put = (path: string) => Address

/** Calldata of the row with `put(path)` wherever an address is; visits every place. */
export function calldataOf(row: Shape, put: Put): Hex {
  const item = parseAbiItem(`function ${row.canonical}`) as AbiFunction
  const args = row.inputs.fields.map(({ name, type }, i) =>
    abiValue(type, parameterAt(item.inputs, i), under(row.name, name), put),
  )
  return encodeFunctionData({ abi: [item], functionName: row.name, args })
}

/** Every place of the row, in the order of the signature. */
export function placesOf(row: Shape): readonly Place[] {
  const places: Place[] = []
  calldataOf(row, (path) => {
    places.push({ path })
    return cleanAt(places.length)
  })
  return places
}

export function cleanAt(index: number): Address {
  return CLEAN[index % CLEAN.length] ?? '0x'
}

function under(path: string, name: string): string {
  return name === '_' ? path : `${path}.${name}`
}

function parameterAt(parameters: readonly AbiParameter[], index: number): AbiParameter {
  const parameter = parameters[index]
  if (parameter === undefined) throw new Error('the row and its canonical form differ')
  return parameter
}

function abiValue(type: AbiType, parameter: AbiParameter, path: string, put: Put): unknown {
  switch (type.kind) {
    case 'word':
      return wordOf(type.reading, parameter.type, path, put)
    case 'bytes':
      return bytesOf(type.reading, path, put)
    case 'tuple': {
      const components = 'components' in parameter ? parameter.components : []
      return type.fields.map((field, i) =>
        abiValue(field.type, parameterAt(components, i), under(path, field.name), put),
      )
    }
    case 'array': {
      const element = { ...parameter, type: parameter.type.replace(/\[\d*\]$/, '') }
      const count = type.length ?? 2
      return Array.from({ length: count }, (_, i) =>
        abiValue(type.element, element, `${path}[${i}]`, put),
      )
    }
  }
}

function wordOf(reading: string, type: string, path: string, put: Put): unknown {
  if (reading === 'none') {
    if (type === 'bool') return true
    if (type === 'address') throw new Error('an address that is not read')
    return type.startsWith('bytes') ? `0x${'00'.repeat(Number(type.slice(5)))}` : wordNumber(type)
  }
  const address = put(path)
  if (type === 'address') return address
  const hex = address.slice(2)
  const word = reading === 'high' ? `0x${hex}${'00'.repeat(12)}` : `0x${'00'.repeat(12)}${hex}`
  return type === 'bytes32' ? word : BigInt(word)
}

function wordNumber(type: string): bigint | number {
  const bits = Number(/\d+/.exec(type)?.[0] ?? 256)
  return bits > 48 ? 7n : 7
}

function bytesOf(reading: string, path: string, put: Put): unknown {
  switch (reading) {
    case 'opaque':
      return '0x'
    case 'call':
    case 'sniff': {
      const to = put(`${path} → transfer.to`).slice(2)
      return `0xa9059cbb${'00'.repeat(12)}${to}${'00'.repeat(31)}05`
    }
    case 'prefix':
      return `${put(path)}0102`
    case 'path':
      return `${put(`${path}[0]`)}000bb8${put(`${path}[1]`).slice(2)}`
    case 'orderuid':
      return `0x${'11'.repeat(32)}${put(path).slice(2)}65000000`
    case 'ascii':
      return `=:ETH.ETH:${put(path)}:0/1/0`
    case 'multisend': {
      const first = put(`${path}[0].to`).slice(2)
      const second = `a9059cbb${'00'.repeat(12)}${put(`${path}[1] → transfer.to`).slice(2)}${'00'.repeat(31)}05`
      const header = (to: string, length: number) =>
        `00${to}${'00'.repeat(32)}${length.toString(16).padStart(64, '0')}`
      return `0x${header(first, 0)}${header(cleanAt(9).slice(2), 68)}${second}`
    }
    default:
      throw new Error(`no value for reading ${reading}`)
  }
}
