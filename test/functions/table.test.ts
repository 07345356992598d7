import { describe, expect, test } from 'vitest'
import { CONTRACT_FUNCTIONS } from '../../src/contracts/functions/all-functions.js'
import type { ContractFunction, Effect } from '../../src/contracts/functions/contract-function.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { type AbiType, parseSignature } from '../../src/screening/walk/abi-type.js'
import { KNOWN_SHAPES } from '../../src/screening/walk/known-shapes.js'
import { walkCalldata } from '../../src/screening/walk/walker.js'
import { findClaims } from '../../src/valuation/claims.js'
import { opensToOthers } from '../../src/valuation/operator-calls.js'
import { readStatically } from '../../src/valuation/static-reading.js'
import { PERMIT2 } from '../../src/valuation/well-known.js'

const WALLET: Address = '0x1111111111111111111111111111111111111111'
const CONTRACT: Address = '0x2222222222222222222222222222222222222222'
const WORDS = 16

/** Words of the function: its number in each, but the wallet where its owner is. */
function calldataOf({ selector, effect }: ContractFunction): Hex {
  const words = Array.from({ length: WORDS }, (_, i) => BigInt(i + 1))
  if ('owner' in effect && effect.owner !== undefined) words[effect.owner] = BigInt(WALLET)
  return `0x${selector}${words.map((it) => it.toString(16).padStart(64, '0')).join('')}`
}

/** The reading of each word at the head of the arguments. */
function headOf(signature: string): string[] {
  return parseSignature(signature).inputs.fields.flatMap(({ type }) => wordsOf(type))
}

function wordsOf(type: AbiType): string[] {
  if (type.dynamic) return ['offset']
  if (type.kind === 'tuple') return type.fields.flatMap((field) => wordsOf(field.type))
  return [type.kind === 'word' ? type.reading : type.kind]
}

function wordsWithAddress(effect: Effect): number[] {
  switch (effect.kind) {
    case 'outflow':
      return [effect.owner, effect.token].filter((it) => it !== undefined)
    case 'approval':
      return [effect.owner, effect.token, effect.spender].filter((it) => it !== undefined)
    case 'items':
      return [effect.owner]
    default:
      return []
  }
}

describe.each(CONTRACT_FUNCTIONS)('$selector $signature', (row) => {
  const { effect } = row
  const data = calldataOf(row)
  const to = 'of' in effect && effect.of === 'permit2' ? PERMIT2 : CONTRACT
  const read = readStatically({ from: WALLET, to, data }, () => false)

  test('is known to screening, which names what it calls by it', () => {
    expect(KNOWN_SHAPES.get(Number.parseInt(row.selector, 16))?.selector).toBe(row.selector)
    const cut = Buffer.from(row.selector, 'hex')
    const { failure } = walkCalldata(KNOWN_SHAPES, cut, cut.length)
    expect(failure === null).toBe(row.shared)
  })

  test('is known to valuation by the words that its row names', () => {
    const amountAt = 'amount' in effect && typeof effect.amount === 'number' ? effect.amount : null
    const amount = amountAt === null ? expect.anything() : BigInt(amountAt + 1)
    expect(read.outflows).toHaveLength(effect.kind === 'outflow' ? 1 : 0)
    expect(read.approvals).toHaveLength(effect.kind === 'approval' ? 1 : 0)
    for (const found of [...read.outflows, ...read.approvals]) {
      expect(found.amount).toEqual(amount)
    }
    expect(read.movesItems).toBe(effect.kind === 'items')
    expect(read.opensToOthers).toBe(effect.kind === 'operator')
  })

  test('is a claim in the hands of others exactly when it names whose tokens it takes', () => {
    const nested = `cafecafe${data.slice(2)}`
    const owned = (effect.kind === 'outflow' || effect.kind === 'approval') && 'owner' in effect
    expect(findClaims(nested, WALLET)).toHaveLength(owned ? 1 : 0)
    expect(opensToOthers(`0x${nested}`)).toBe(effect.kind === 'operator')
  })

  test('has addresses where valuation reads addresses', () => {
    const head = headOf(row.signature)
    for (const at of wordsWithAddress(effect)) expect(head[at]).toBe('address')
    if (effect.kind === 'outflow') expect(head[effect.amount]).toBe('none')
  })
})
