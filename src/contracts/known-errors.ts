import type { Hex } from '../domain/ids.js'
import { keccak256 } from '../domain/keccak.js'
import { uintAt, wordAt } from './abi-words.js'
import { KNOWN_ERRORS } from './errors.js'
import agentDelegate from './generated/agent-delegate.json' with { type: 'json' }
import agentRouter from './generated/agent-router.json' with { type: 'json' }

/**
 * Custom errors by name and values: those of our own contracts and those in the table of other
 * contracts' errors.
 */

interface Parameter {
  readonly name: string
  readonly type: string
}

interface ErrorShape {
  readonly name: string
  readonly parameters: readonly Parameter[]
}

interface KnownError {
  readonly name: string
  /** The values that have one word, in order, in readable form. */
  readonly values: ReadonlyMap<string, string>
}

const DECLARATION = /^(\w+)\((.*)\)$/
const SELECTOR_CHARS = 10

const shapes: ReadonlyMap<string, ErrorShape> = new Map(
  [...KNOWN_ERRORS.map(shapeOf), ...errorsOf(agentDelegate.abi), ...errorsOf(agentRouter.abi)].map(
    (shape) => [selectorOf(shape), shape],
  ),
)

/**
 * @param data the revert data of a call
 * @returns null when its selector is unknown, or its values are cut short
 */
export function decodeKnownError(data: unknown): KnownError | null {
  if (typeof data !== 'string') return null
  const shape = shapes.get(data.slice(0, SELECTOR_CHARS).toLowerCase())
  if (shape === undefined) return null
  const values = new Map<string, string>()
  const body = `0x${data.slice(SELECTOR_CHARS)}` as Hex
  for (const [index, { name, type }] of shape.parameters.entries()) {
    const value = valueAt(body, index, type)
    if (value === null) return null
    if (value !== '') values.set(name, value)
  }
  return { name: shape.name, values }
}

/** Formats an error, for example `ERC20InsufficientBalance: sender 0x…, balance 5, needed 7`. */
export function describeKnownError({ name, values }: KnownError): string {
  const shown = [...values].map(([parameter, value]) => `${parameter} ${value}`)
  return shown.length === 0 ? name : `${name}: ${shown.join(', ')}`
}

/** Null when the word is missing; empty for a value that is not one word. */
function valueAt(body: Hex, index: number, type: string): string | null {
  const number = uintAt(body, index)
  const word = wordAt(body, index)
  if (number === null || word === null) return null
  if (type === 'address') return `0x${word.slice(24).toLowerCase()}`
  if (type === 'bytes4') return `0x${word.slice(0, 8)}`
  if (type === 'bytes32') return `0x${word}`
  return type.startsWith('uint') ? number.toString() : ''
}

function shapeOf(declaration: string): ErrorShape {
  const [, name, list] = DECLARATION.exec(declaration) ?? []
  if (name === undefined || list === undefined)
    throw new Error(`not an error declaration: ${declaration}`)
  const parameters = list
    .split(', ')
    .filter((parameter) => parameter !== '')
    .map((parameter) => {
      const [type = '', named = ''] = parameter.split(' ')
      return { type, name: named }
    })
  return { name, parameters }
}

/** The errors in the ABI of one of our contracts. */
function errorsOf(
  abi: readonly { readonly type: string; readonly name?: string; readonly inputs?: unknown }[],
): ErrorShape[] {
  return abi
    .filter(({ type }) => type === 'error')
    .map(({ name = '', inputs }) => ({ name, parameters: inputs as readonly Parameter[] }))
}

function selectorOf({ name, parameters }: ErrorShape): string {
  const signature = `${name}(${parameters.map(({ type }) => type).join(',')})`
  const hash = Buffer.from(keccak256(Buffer.from(signature)))
  return `0x${hash.toString('hex', 0, 4)}`
}
